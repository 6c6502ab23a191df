import { REST, tableOf, under, type Variant } from '../behavior/deviation.ts';
import { TRANSPORT_SECURITY } from '../behavior/handling.ts';
import { signing } from '../behavior/patches/parts.ts';
import { onFinished } from '../behavior/patches/patch.ts';
import { having } from '../http/answer-changes.ts';
import { fieldValue, withFields, withoutField } from '../http/message.ts';
import { derivedOf, digestOf, fieldsOf, KEY_ID, SHARED_KEY, seconds, signed } from '../http/signature.ts';

export const MESSAGE_SIGNATURE_VARIANTS = tableOf<Variant>(REST, {
  'signs-answers': {
    summary: 'signs what it sends and what it was asked, for five minutes',
    changes: ['headers.signature-coverage'],
    patch: signing((now, answer, request) => ({
      covered: [
        ...derivedOf(answer, request),
        ['"@query";req', `?${request.query ?? ''}`],
        ['"@request-target";req', request.target],
        ...fieldsOf(answer, 'content-digest', 'content-type', 'cache-control', 'date'),
      ],
      parameters: `;created=${now};expires=${now + 300};keyid="${KEY_ID}";alg="ed25519";nonce="a\\"b";tag="x"`,
    })),
  },
  'signs-answers-several-times': {
    summary: 'signs each answer with several keys, in forms that are seldom',
    setting: 'signed responses',
    patch: onFinished('every', (answer, request, { clock }) => {
      const now = seconds(clock.now());
      const cache = fieldValue(answer, 'cache-control') ?? '';
      const once = signed(answer, {
        label: 'a*.b-1',
        covered: [
          ['"@status"', String(answer.status)],
          ['"cache-control";bs', `:${Buffer.from(cache).toString('base64')}:`],
          ['"cache-control";sf', cache],
          [`"cache-control";key="${cache.startsWith('no') ? 'no-store' : 'private'}"`, '?1'],
          ['"host";req', fieldValue(request, 'host') ?? ''],
        ],
        parameters: `;created=${now};alg="ml-dsa-65";keyid="of somebody else";x=1.5`,
      });
      return signed(once, { label: 'b', covered: [], parameters: '' });
    }),
  },
  'signs-answers-by-shared-secret': {
    summary: 'signs each answer with a secret that the client has as well',
    setting: 'responses signed by secret',
    patch: signing((now, answer, request) => ({
      covered: [...derivedOf(answer, request), ...fieldsOf(answer, 'content-digest')],
      parameters: `;created=${now};keyid="${KEY_ID}";alg="hmac-sha256"`,
      key: SHARED_KEY,
    })),
  },
  'tells-digests': {
    summary: 'tells digests of what it sends, by several algorithms',
    patch: onFinished('every', (answer) => {
      const digests = `${digestOf(answer.body)}, ${digestOf(answer.body, 'sha-512')}, crc32c=:AAAAAA==:`;
      return withFields(answer, { 'Content-Digest': digests, 'Repr-Digest': digests });
    }),
  },
  'asks-for-signatures': {
    summary: 'asks clients to sign their requests, and tells what with',
    patch: onFinished(
      'every',
      having(
        'Accept-Signature',
        'sig1=("@method" "@target-uri" "content-digest");keyid="a";created;expires;tag="app", sig2=()',
      ),
    ),
  },
  'signs-in-the-older-way': {
    summary: 'signs answers as in the drafts before RFC 9421',
    patch: onFinished(
      'every',
      having('Signature', 'keyId="a",algorithm="hs2019",headers="date (request-target)",signature="AAAA"'),
    ),
  },
});

export const TRANSPORT_SECURITY_VARIANTS = tableOf<Variant>(under('over TLS'), {
  'transport-security-in-other-words': {
    summary:
      'writes Strict-Transport-Security in other letter case, in quotes and with directives of its own',
    patch: onFinished(
      'every',
      having(TRANSPORT_SECURITY, ' Preload;MAX-AGE = "63072000" ; includesubdomains;; x=y'),
    ),
  },
  'transport-security-of-what-it-serves': {
    summary: 'sends Strict-Transport-Security with what it serves, and not with errors',
    patch: onFinished('every', (answer) =>
      answer.responseKind === 'served' ? answer : withoutField(answer, TRANSPORT_SECURITY),
    ),
  },
});

import { createSecretKey } from 'node:crypto';
import { type Defect, REST, tableOf, under } from '../behavior/deviation.ts';
import { TRANSPORT_SECURITY } from '../behavior/handling.ts';
import { signing } from '../behavior/patches/parts.ts';
import { onAnswer, onFinished, type Patch, together } from '../behavior/patches/patch.ts';
import { acceptsGzip, compressing } from '../behavior/patches/representations.ts';
import type { HttpAnswer } from '../http/answer.ts';
import { having } from '../http/answer-changes.ts';
import { fieldValue, withField, withoutField } from '../http/message.ts';
import {
  digestOf,
  fieldsOf,
  KEY_ID,
  OTHER_KEY,
  PUBLIC_KEY,
  SHARED_KEY,
  SHARED_SECRET,
  type Signing,
  seconds,
  signed,
  withDigest,
} from '../http/signature.ts';

const covering = (covered: Signing['covered']): Patch => signing(() => ({ covered }));
const saying = (parameters: (now: number) => string): Patch =>
  signing((now) => ({ parameters: parameters(now) }));
const onEvery = (name: string, value: (answer: HttpAnswer) => string): Patch =>
  onFinished('every', (answer) => withField(answer, name, value(answer)));

/** Signatures of answers (RFC 9421) that cannot be verified, and digests (RFC 9530) of something else. */
export const MESSAGE_SIGNATURE_DEFECTS = tableOf<Defect>(REST, {
  'content-digest-in-hex': {
    cause: 'Content-Digest is written in hexadecimal digits',
    fails: ['headers.digest-form'],
    patch: onEvery('Content-Digest', ({ body }) =>
      digestOf(body).replace(/:(.*):/, (_, base64) => `"${Buffer.from(base64, 'base64').toString('hex')}"`),
    ),
  },
  'repr-digest-without-colons': {
    // RFC 3230
    cause: 'Repr-Digest has no colons around the digest',
    fails: ['headers.digest-form'],
    patch: onEvery('Repr-Digest', ({ body }) => digestOf(body).replaceAll(':', '').replace('sha', 'SHA')),
  },
  'content-digest-of-nothing': {
    cause: 'Content-Digest is that of an empty body',
    fails: ['headers.content-digest'],
    patch: onEvery('Content-Digest', () => digestOf(Buffer.alloc(0))),
  },
  'content-digest-before-compression': {
    cause: 'Content-Digest is that of the body before compression',
    fails: ['headers.content-digest'],
    patch: together(
      onAnswer('every', withDigest),
      compressing((request) => (acceptsGzip(request) ? 'gzip' : null)),
    ),
  },
  'repr-digest-of-another-body': {
    cause: 'Repr-Digest is that of another body',
    fails: ['headers.repr-digest'],
    patch: (behavior) => {
      let first: string | null = null;
      return onEvery('Repr-Digest', ({ body }) => {
        first ??= digestOf(body, 'sha-512');
        return first;
      })(behavior);
    },
  },
  'signs-a-weak-digest': {
    cause: 'The signature covers the body only by an MD5 digest',
    fails: ['headers.signed-digest'],
    patch: onFinished('every', (answer, _, { clock }) => {
      const digested = withField(answer, 'Content-Digest', digestOf(answer.body, 'md5'));
      const covered = fieldsOf(digested, 'content-digest');
      return signed(digested, { covered, parameters: `;created=${seconds(clock.now())}` });
    }),
  },
  'signature-under-another-label': {
    cause: 'Signature and Signature-Input have different labels',
    fails: ['headers.signature-form'],
    patch: together(
      signing(() => ({})),
      onEvery('Signature', (answer) => fieldValue(answer, 'signature')?.replace('sig1', 'sig2') ?? ''),
    ),
  },
  'signature-without-colons': {
    cause: 'Signature has no colons around the signature',
    fails: ['headers.signature-form'],
    patch: signing(() => ({ written: (octets) => `"${octets.toString('base64')}"` })),
  },
  'signature-input-without-signature': {
    cause: 'Signature-Input comes without Signature',
    fails: ['headers.signature-form'],
    patch: onEvery('Signature-Input', () => 'sig1=("@status");created=1700000000'),
  },
  'signature-input-as-in-drafts': {
    cause: 'Signature-Input has names without quotes',
    fails: ['headers.signature-form'],
    patch: signing((_, answer) => ({
      covered: fieldsOf(answer, 'content-type').map(([name, value]) => [name.replaceAll('"', ''), value]),
    })),
  },
  'signature-of-capital-names': {
    cause: 'The signature names headers in capital letters',
    fails: ['headers.signature-form'],
    patch: signing((_, answer) => ({ covered: [['"Date"', fieldValue(answer, 'date') ?? '']] })),
  },
  'signature-of-one-thing-twice': {
    cause: 'The signature covers the same header twice',
    fails: ['headers.signature-form'],
    patch: signing((_, answer) => ({ covered: [...fieldsOf(answer, 'date'), ...fieldsOf(answer, 'date')] })),
  },
  'signature-of-a-method': {
    cause: 'The signature covers a method, and does not say that it is that of the request',
    fails: ['headers.signature-form'],
    patch: signing((_, __, { method }) => ({ covered: [['"@method"', method]] })),
  },
  'signature-of-its-parameters': {
    cause: 'The signature covers "@signature-params", which goes without saying',
    fails: ['headers.signature-form'],
    patch: signing((_, answer) => ({ covered: [...fieldsOf(answer, 'date'), ['"@signature-params"', '']] })),
  },
  'signature-times-in-quotes': {
    cause: 'The time of the signature stands in quotes',
    fails: ['headers.signature-form'],
    patch: saying((now) => `;created="${now}"`),
  },
  'signature-key-without-quotes': {
    cause: 'The name of the key of the signature has no quotes',
    fails: ['headers.signature-form'],
    patch: saying((now) => `;created=${now};keyid=example`),
  },
  'signature-of-lost-header': {
    cause: 'The signature covers a header that does not come',
    fails: ['headers.signature-components'],
    patch: signing((_, answer) => ({
      covered: [...fieldsOf(answer, 'date'), ['"x-served-by"', 'search-7']],
    })),
  },
  'signature-of-lost-member': {
    // RFC 9421 §2.1.2
    cause: 'The signature covers a part of Cache-Control that is not there',
    fails: ['headers.signature-components'],
    patch: covering([['"cache-control";key="max-age"', '60']]),
  },
  'signature-of-forwarded-host': {
    // RFC 9421 §2.4
    cause: 'The signature covers a header that the client has not sent',
    fails: ['headers.signature-components'],
    patch: covering([
      ['"@status"', '200'],
      ['"x-forwarded-host";req', 'search.example'],
    ]),
  },
  'signature-in-milliseconds': {
    cause: 'The time of the signature is in milliseconds',
    fails: ['headers.signature-time'],
    patch: saying((now) => `;created=${now}000;keyid="${KEY_ID}"`),
  },
  'signature-kept-too-long': {
    cause: 'Signatures have expired when they come',
    fails: ['headers.signature-time'],
    patch: saying((now) => `;created=${now - 7_200};expires=${now - 3_600}`),
  },
  'signature-expires-first': {
    cause: 'A signature expires before it is made',
    fails: ['headers.signature-time'],
    patch: saying((now) => `;created=${now};expires=300`),
  },
  'asks-for-signature-with-time': {
    cause: 'Accept-Signature gives a time, where it only asks for one',
    fails: ['headers.accept-signature-form'],
    patch: onEvery('Accept-Signature', () => 'sig1=("@method" "@target-uri");created=1700000000'),
  },
  'asks-for-signature-of-status': {
    cause: 'Accept-Signature asks clients to sign the status of a request',
    fails: ['headers.accept-signature-form'],
    patch: onEvery('Accept-Signature', () => 'sig1=("@method" "@status");created'),
  },
});

const INVALID = { ...under('signed responses'), fails: ['headers.signature-valid'] };

/** Signatures that are well formed, and do not hold (RFC 9421 §3.2). */
export const WRONG_SIGNATURE_DEFECTS = tableOf<Defect>(INVALID, {
  'unsigned-responses': { cause: 'Responses are not signed', patch: (behavior) => behavior },
  'signed-by-another-key': {
    cause: 'Responses are signed with another key than the published one',
    patch: signing(() => ({ key: OTHER_KEY })),
  },
  'signed-before-a-change': {
    cause: 'A signed header is changed behind the signature',
    patch: together(
      signing((_, answer) => ({ covered: fieldsOf(answer, 'cache-control', 'content-digest') })),
      onEvery('Cache-Control', (answer) => `${fieldValue(answer, 'cache-control')}, no-transform`),
    ),
  },
  'signed-with-other-line-ends': {
    // RFC 9421 §2.5
    cause: 'What is signed has other line ends than it should',
    patch: signing(() => ({ signs: (base) => base.replaceAll('\n', '\r\n') })),
  },
  'signed-without-parameters': {
    // RFC 9421 §2.3
    cause: 'What is signed lacks its last line, "@signature-params"',
    patch: signing(() => ({ signs: (base) => base.slice(0, base.lastIndexOf('\n')) })),
  },
  'signed-for-its-backend': {
    cause: 'The path that is signed is not the one that was asked for',
    patch: signing((_, __, { path }) => ({ covered: [['"@path";req', `/internal${path}`]] })),
  },
  'signed-by-text-of-the-secret': {
    setting: 'responses signed by secret',
    cause: 'Responses are signed with the text of the secret in place of what it encodes',
    patch: signing(() => ({ key: createSecretKey(SHARED_SECRET, 'utf8') })),
  },
  'signed-by-secret-before-a-change': {
    setting: 'responses signed by secret',
    cause: 'A header that is signed with the shared secret is changed behind the signature',
    patch: together(
      signing((_, answer) => ({ covered: fieldsOf(answer, 'cache-control'), key: SHARED_KEY })),
      onEvery('Cache-Control', (answer) => `${fieldValue(answer, 'cache-control')}, no-transform`),
    ),
  },
  'signed-by-public-key-as-secret': {
    cause: 'Responses are signed with a published key as if it were a secret',
    patch: signing((now) => ({
      parameters: `;created=${now};keyid="${KEY_ID}";alg="hmac-sha256"`,
      key: createSecretKey(PUBLIC_KEY, 'utf8'),
    })),
  },
  'signed-by-algorithm-of-other-keys': {
    cause: 'The signature names an algorithm of other keys',
    patch: saying((now) => `;created=${now};keyid="${KEY_ID}";alg="rsa-pss-sha512"`),
  },
});

/** Ways to keep browsers on TLS (RFC 6797) that do not. */
export const TRANSPORT_SECURITY_DEFECTS = tableOf<Defect>(under('over TLS'), {
  'transport-security-without-tls-alone': {
    cause: 'Responses over TLS have no Strict-Transport-Security',
    fails: ['headers.transport-security'],
    patch: onFinished('every', (answer, _request, { overTls }) =>
      overTls
        ? withoutField(answer, TRANSPORT_SECURITY)
        : withField(answer, TRANSPORT_SECURITY, 'max-age=31536000'),
    ),
  },
  'transport-security-ended': {
    // RFC 6797 §6.1.1
    cause: 'Strict-Transport-Security says max-age=0, which switches it off',
    fails: ['headers.transport-security'],
    patch: onFinished('every', having(TRANSPORT_SECURITY, 'max-age=0; includeSubDomains')),
  },
  'transport-security-with-commas': {
    cause: 'Strict-Transport-Security has commas between its directives',
    fails: ['headers.transport-security-form'],
    patch: onFinished('every', having(TRANSPORT_SECURITY, 'max-age=31536000, includeSubDomains')),
  },
  'transport-security-without-time': {
    cause: 'Strict-Transport-Security has no max-age',
    fails: ['headers.transport-security-form'],
    patch: onFinished('every', having(TRANSPORT_SECURITY, 'includeSubDomains; preload')),
  },
  'transport-security-twice': {
    // RFC 6797 §7.1
    cause: 'The header Strict-Transport-Security comes twice',
    fails: ['headers.single-fields'],
    patch: onFinished('every', (answer) => ({
      ...answer,
      fields: [...answer.fields, [TRANSPORT_SECURITY, 'max-age=600']],
    })),
  },
});

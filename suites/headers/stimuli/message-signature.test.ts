import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { Reply } from '../../../harness/wire/exchange/reply.ts';
import type { FieldLine } from '../../../harness/wire/exchange.ts';
import {
  exampleBody,
  exampleExchange,
  exampleRequest,
  exampleResponse,
} from '../../../harness/wire/fixtures/example-evidence.ts';
import {
  digestFault,
  hasDigestOfContent,
  timeFault,
  verdictOn,
  weakSignedDigest,
  wrongDigestOf,
} from './message-signature.ts';

const NOW = Date.UTC(2026, 10, 21, 12) / 1_000;
const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

interface Answer {
  readonly fields?: readonly FieldLine[];
  readonly date?: boolean;
  readonly status?: number;
  readonly method?: string;
  readonly content?: string | Uint8Array;
}

function replyWith({
  fields = [],
  date = true,
  status = 200,
  method = 'GET',
  content = '{}',
}: Answer): Reply {
  const dated: readonly FieldLine[] = date ? [['Date', new Date(NOW * 1_000).toUTCString()]] : [];
  return new Reply(
    exampleExchange({
      request: exampleRequest({ method }),
      response: exampleResponse({ status, fields: [...dated, ...fields], body: exampleBody(content) }),
    }),
  );
}

describe('the time of a signature', () => {
  const faultOf = (parameters: string, { date = true, age }: { date?: boolean; age?: string } = {}) =>
    timeFault(
      replyWith({
        date,
        fields: [
          ['Signature-Input', `sig=("@status");${parameters}`],
          ['Signature', 'sig=:AAAA:'],
          ...(age === undefined ? [] : ([['Age', age]] as const)),
        ],
      }),
    );

  it.each<[string, string | null]>([
    [`created=${NOW + MINUTE}`, null],
    [`created=${NOW + MINUTE + 1}`, 'sig, created minutes after it'],
    [`created=${NOW + HOUR}`, 'sig, created minutes after it'],
    [`created=${NOW + HOUR + 1}`, 'sig, created hours after it'],
    [`created=${NOW + DAY}`, 'sig, created hours after it'],
    [`created=${NOW + DAY + 1}`, 'sig, created days after it'],
    [`created=${NOW + YEAR}`, 'sig, created days after it'],
    [`created=${NOW + YEAR + 1}`, 'sig, created years after it'],
    [`created=${NOW};expires=${NOW}`, null],
    [`created=${NOW};expires=${NOW - 1}`, 'sig, which expires before it is created'],
    [`expires=${NOW - MINUTE}`, null],
    [`expires=${NOW - MINUTE - 1}`, 'sig, expired minutes before it'],
    ['keyid="a"', null],
    // Numbers in quotes are malformed, which has a rule of its own.
    [`created="${NOW + HOUR}"`, null],
    [`expires="${NOW - HOUR}"`, null],
    [`created="${NOW}";expires=${NOW - 1}`, null],
  ])('beside a Date is %s', (parameters, fault) => {
    expect(faultOf(parameters)).toBe(fault);
  });

  it.each<[string | undefined, string | null]>([
    ['600', null],
    ['599', 'sig, expired minutes before it'],
    ['600s', 'sig, expired minutes before it'],
    ['about 600', 'sig, expired minutes before it'],
    [undefined, 'sig, expired minutes before it'],
  ])('may be past in a cache for its Age %s', (age, fault) => {
    expect(faultOf(`expires=${NOW - 11 * MINUTE}`, age === undefined ? {} : { age })).toBe(fault);
  });

  it('without a Date allows for another clock', () => {
    const receivedAt = Date.parse('2026-11-21T12:00:00.010Z') / 1_000;
    const [early, late] = [Math.floor(receivedAt) + 25 * MINUTE, Math.floor(receivedAt) + 25 * MINUTE + 1];
    expect(faultOf(`created=${early}`, { date: false })).toBeNull();
    expect(faultOf(`created=${late}`, { date: false })).toBe('sig, created minutes after it');
  });
});

describe('a digest', () => {
  const sha = (content: string | Uint8Array) =>
    `sha-256=:${createHash('sha256').update(content).digest('base64')}:`;

  it.each<[Answer, 'Content-Digest' | 'Repr-Digest', boolean]>([
    [{}, 'Content-Digest', true],
    [{}, 'Repr-Digest', true],
    [{ method: 'HEAD' }, 'Content-Digest', false],
    [{ status: 304 }, 'Content-Digest', false],
    [{ status: 206 }, 'Content-Digest', true],
    [{ status: 206 }, 'Repr-Digest', false],
    [{ method: 'POST' }, 'Content-Digest', true],
    [{ method: 'POST' }, 'Repr-Digest', false],
  ])('of %j in %s is that of its content: %s', (answer, name, isOfContent) => {
    expect(hasDigestOfContent(replyWith({ ...answer, fields: [[name, sha('{}')]] }), name)).toBe(isOfContent);
    expect(hasDigestOfContent(replyWith(answer), name)).toBe(false);
  });

  it('is that of the body as it was sent', () => {
    const wrongOf = (content: string | Uint8Array, digest: string, ...coding: readonly FieldLine[]) =>
      wrongDigestOf(
        replyWith({ content, fields: [['Content-Digest', digest], ...coding] }),
        'Content-Digest',
      );
    const gzip: FieldLine = ['Content-Encoding', 'gzip'];
    expect(wrongOf('{}', sha('{}'))).toBeNull();
    expect(wrongOf('{}', sha('[]'))).toBe('another sha-256');
    expect(wrongOf(gzipSync('{}'), sha(gzipSync('{}')), gzip)).toBeNull();
    expect(wrongOf(gzipSync('{}'), sha('{}'), gzip)).toBe('the sha-256 of the body before it was compressed');
    expect(wrongOf(gzipSync('{}'), sha('[]'), gzip)).toBe('another sha-256');
  });

  it('is malformed in the one field or the other', () => {
    const faultOf = (name: string, value: string) => digestFault(replyWith({ fields: [[name, value]] }));
    expect(faultOf('Content-Digest', 'sha-256=abc')).toMatch(/^Content-Digest with /);
    expect(faultOf('Repr-Digest', 'sha-256=abc')).toMatch(/^Repr-Digest with /);
    expect(faultOf('Repr-Digest', sha('{}'))).toBeNull();
  });

  it.each<[string, string, string | null]>([
    ['"content-digest"', 'md5=:AAAA:', 'md5 in content-digest'],
    ['"repr-digest"', 'md5=:AAAA:', 'md5 in repr-digest'],
    ['"content-type"', 'md5=:AAAA:', null],
    ['"content-digest";req', 'md5=:AAAA:', null],
    ['"content-digest";tr', 'md5=:AAAA:', null],
    ['"content-digest"', 'md5=:AAAA:, sha-256=:AAAA:', null],
    ['"x-sums"', 'md5=:AAAA:', null],
  ])('that is weak counts if it is signed: %s with %s', (covered, digest, weak) => {
    const reply = replyWith({
      fields: [
        ['Content-Type', 'application/json'],
        ['Content-Digest', digest],
        ['Repr-Digest', digest],
        ['X-Sums', digest],
        ['Signature-Input', `sig=(${covered})`],
        ['Signature', 'sig=:AAAA:'],
      ],
    });
    expect(weakSignedDigest(reply)).toBe(weak);
  });
});

describe('the verdict on the signatures of an answer', () => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const keys = { ours: { pem: publicKey.export({ type: 'spki', format: 'pem' }).toString() } };

  /** Each signature is right, wrong or of an unknown algorithm, by the key of this name. */
  const verdictFor = (
    made: readonly (readonly [how: 'right' | 'wrong' | 'odd', keyid: string | null])[],
    status = 200,
  ) => {
    const signatures = made.map(([how, keyid], at) => {
      const name = keyid === null ? '' : `;keyid="${keyid}"`;
      const parameters = `("@status")${name}${how === 'odd' ? ';alg="of-ours"' : ''}`;
      const base = `"@status": ${how === 'wrong' ? 500 : status}\n"@signature-params": ${parameters}`;
      return {
        label: `s${at + 1}`,
        parameters,
        value: sign(null, Buffer.from(base), privateKey).toString('base64'),
      };
    });
    const fields = signatures.flatMap(({ label, parameters, value }): FieldLine[] => [
      ['Signature-Input', `${label}=${parameters}`],
      ['Signature', `${label}=:${value}:`],
    ]);
    const verdict = verdictOn(replyWith({ status, fields }), keys);
    return 'got' in verdict ? verdict.got : 'why' in verdict ? verdict.why : verdict.is;
  };
  const NONE = 'none by a key of the config';

  it.each<[Parameters<typeof verdictFor>[0], string]>([
    [[['right', 'ours']], 'valid'],
    [[['right', null]], 'valid'],
    [[['wrong', 'ours']], 's1, which does not hold'],
    [[['wrong', null]], 's1, which does not hold'],
    [
      [
        ['right', 'ours'],
        ['wrong', 'ours'],
      ],
      's2, which does not hold',
    ],
    [
      [
        ['wrong', 'ours'],
        ['wrong', 'ours'],
      ],
      's1, which does not hold',
    ],
    [
      [
        ['odd', 'ours'],
        ['right', 'ours'],
      ],
      'valid',
    ],
    [
      [
        ['odd', 'ours'],
        ['odd', 'ours'],
      ],
      'the algorithm of s1 is unknown here',
    ],
    [[['right', 'theirs']], NONE],
    [
      [
        ['wrong', 'theirs'],
        ['right', 'ours'],
      ],
      'valid',
    ],
    [[], NONE],
  ])('%j: %s', (made, verdict) => {
    expect(verdictFor(made)).toBe(verdict);
  });

  it('is none on a refusal that is not signed', () => {
    expect(verdictFor([], 404)).toBe('valid');
    expect(verdictFor([['wrong', 'ours']], 404)).toBe('s1, which does not hold');
  });
});

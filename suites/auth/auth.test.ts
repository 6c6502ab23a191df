import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { bearer, header } from '../../harness/config/credential/schemes.ts';
import type { Exchange } from '../../harness/wire/exchange.ts';
import { KEY, saidOf } from '../tests/fixtures/judged.ts';
import { auth } from './auth.suite.ts';
import {
  type Answer,
  type Asked,
  type Differing,
  judgedOf,
  LIST,
  type Row,
  type Setting,
  secret,
} from './fixtures/keyed-service.ts';

const to =
  (isMeant: (asked: Asked) => boolean, answer: Answer): Differing =>
  (asked) =>
    isMeant(asked) ? answer : null;
const either =
  (...all: readonly Differing[]): Differing =>
  (asked) =>
    all.reduce<Answer | null>((found, each) => found ?? each(asked), null);
const withKey = (key: string | null) => (asked: Asked) => asked.key === key;
const SERVED: Answer = { status: 200, fields: { 'WWW-Authenticate': null }, body: LIST };

const SECOND = 'another-key-for-tests';
const TWO: Setting = {
  credentials: bearer.of({ key: secret(KEY), secondKey: secret(SECOND) }),
  keys: [SECOND],
};
const REFUSED: Setting = {
  credentials: bearer.of({
    key: secret(KEY),
    refused: [{ key: secret('an-old-key-for-tests'), because: 'revoked', position: 1 }],
  }),
};
const FIELD: Setting = { credentials: header.of({ name: 'X-API-Key', key: secret(KEY) }) };

const MINUTE = 60_000;
/** A signed token that ends in this time. */
function tokenOf(minutes: number): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const exp = Math.floor((Date.now() + minutes * MINUTE) / 1000);
  const signed = `${part({ alg: 'HS256' })}.${part({ sub: 'tests', exp })}`;
  return `${signed}.${createHmac('sha256', 'a-secret-for-tests').update(signed).digest('base64url')}`;
}
const lasting = (minutes: number): Setting => {
  const token = tokenOf(minutes);
  return { credentials: bearer.of({ key: secret(token) }), keys: [token] };
};

const cached = (value: string, vary: string | null = null): Differing =>
  to(({ method, target }) => method === 'GET' && target === '/v1/resources', {
    fields: { 'Cache-Control': value, Vary: vary },
  });
const numbered =
  (idOf: (asked: Asked) => string): Differing =>
  (asked) => ({ fields: { 'X-Request-Id': idOf(asked) } });
const challenging = (...challenges: readonly string[]): Differing =>
  to(({ isIn }) => !isIn, { fields: { 'WWW-Authenticate': challenges } });
const naming = (address: string): Differing =>
  challenging('Bearer realm="a"', `Bearer resource_metadata="${address}"`);
const METADATA = '/.well-known/oauth-protected-resource';
const describing =
  (answer: (host: string) => Answer): Differing =>
  (asked) => {
    const host = String(asked.headers.host);
    if (asked.target === METADATA) return { status: 200, ...answer(host) };
    return asked.isIn
      ? null
      : { fields: { 'WWW-Authenticate': `Bearer resource_metadata="http://${host}${METADATA}"` } };
  };

const SAID: Readonly<Record<string, readonly Row[]>> = {
  'auth.key-in-query': [
    ['is not taken', () => null, /^pass/],
    [
      'from one parameter',
      to(({ key, target }) => key === null && /[?&]apikey=example-key/.test(target), SERVED),
      /served in the query as well, as apikey$|as apikey \[/,
    ],
    [
      'from several at once',
      to(({ target }) => /[?&]apikey=.*&key=/.test(target), SERVED),
      /as one of several parameters/,
    ],
  ],
  'auth.refused-keys': [
    ['are refused', () => null, /^pass/, REFUSED],
    ['one is served', to(withKey('an-old-key-for-tests'), SERVED), /got status 200/, REFUSED],
    ['one is not found', to(withKey('an-old-key-for-tests'), { status: 404 }), /^pass/, REFUSED],
    ['one is an error', to(withKey('an-old-key-for-tests'), { status: 405 }), /got status 405/, REFUSED],
    ['there are none', () => null, /^skipped: no key is configured that must be refused/],
  ],
  'auth.wrong-credential': [
    ['is refused', () => null, /^pass/],
    [
      'as documented',
      to(({ isIn, key }) => !isIn && key !== null, { status: 403 }),
      /^pass/,
      { facts: { 'errors.codes': { wrongCredential: 403 } } },
    ],
    [
      'otherwise than documented',
      () => null,
      /expected status 403, got status 401/,
      { facts: { 'errors.codes': { wrongCredential: 403 } } },
    ],
  ],
  'auth.altered-credential': [
    ...[401, 403].map(
      (status): Row => [
        `the key gets ${status} after all the wrong ones`,
        (asked) => (asked.isIn && asked.at > 12 ? { status } : null),
        /^blocked: (?:the right credential is refused too|.*key)/,
        { waits: true },
      ],
    ),
    ...[402, 404].map(
      (status): Row => [
        `the key gets ${status} after all the wrong ones`,
        (asked) => (asked.isIn && asked.at > 12 ? { status } : null),
        /^pass/,
      ],
    ),
  ],
  'auth.scheme-case': [
    ['is taken', () => null, /^pass/],
    [
      'is refused',
      to(({ headers }) => /^(?:bearer|BEARER|bEARER) /.test(String(headers.authorization)), { status: 401 }),
      /got status 401/,
    ],
    [
      'fails for another reason',
      to(
        ({ headers }) =>
          !/^(?:Bearer )/.test(String(headers.authorization)) && headers.authorization !== undefined,
        { status: 500 },
      ),
      /^blocked: the request failed for another reason/,
    ],
    [
      'gets no answer',
      to(
        ({ headers }) =>
          !/^(?:Bearer )/.test(String(headers.authorization)) && headers.authorization !== undefined,
        { isLost: true },
      ),
      /expected status 2xx, got no whole response/,
    ],
  ],
  'auth.expired-token': [
    ['no token', () => null, /^skipped: the key is no token/],
    ['one that lasts', () => null, /^pass/, lasting(5)],
    ['one that ended within the leeway of clocks', () => null, /^pass/, lasting(-9)],
    ['one that ended before', () => null, /accepted more than 10 minutes later/, lasting(-11)],
  ],
  'auth.challenge-scheme': [
    ['the same', challenging('Basic realm="a", bearer realm="b"'), /^pass/],
    ['another', challenging('Basic realm="a"'), /got basic/],
    ['another that cannot be read', challenging('Basic realm="a"', '"'), /^blocked/],
    ['none', challenging(), /^(?:skipped|blocked)/],
  ],
  'auth.key-not-echoed': [
    ['is kept', () => null, /^pass/],
    [
      'by TRACE, which another check finds',
      to(({ method }) => method === 'TRACE', { status: 200, body: `{"a":"Bearer ${KEY}"}` }),
      /^pass/,
    ],
    [
      'in a refusal',
      to(({ method, isIn, target }) => isIn && method === 'GET' && target !== '/v1/resources', {
        body: `{"a":"${KEY}"}`,
      }),
      /^(?:warning|fail)/,
    ],
  ],
  'auth.private-key-answer': [
    ['named in Vary', cached('max-age=60', 'x-api-key'), /^pass/, FIELD],
    ['everything in Vary', cached('max-age=60', '*'), /^pass/, FIELD],
    ['another field in Vary', cached('max-age=60', 'X-API-Keys'), /got Cache-Control: max-age=60/, FIELD],
    ['of its holder alone', cached('private, max-age=60', 'Accept'), /^pass/, FIELD],
  ],
  'auth.answer-of-another': [
    ['has its own', numbered(({ at }) => `request-${at}`), /^pass/, TWO],
    [
      'has that of the first',
      either(
        to(({ key }) => key === SECOND, { fields: { 'X-Request-Id': 'request-0' } }),
        numbered(({ at }) => `request-${at}`),
      ),
      /got the request id x-request-id of the first/i,
      TWO,
    ],
    [
      'all have the same',
      numbered(() => 'request'),
      /^skipped: its request ids tell no answer from another/,
      TWO,
    ],
    [
      'of successes all have the same',
      numbered(({ target, at }) => (target === '/v1/resources' ? 'request' : `request-${at}`)),
      /of the first/,
      TWO,
    ],
    [
      'the second key is refused',
      either(
        to(({ key }) => key === SECOND, { status: 401, fields: { 'X-Request-Id': 'request-0' } }),
        numbered(({ at }) => `request-${at}`),
      ),
      /^blocked/,
      TWO,
    ],
    ['there are none', () => null, /^skipped: its answers have no request id/, TWO],
  ],
  'auth.metadata-address': [
    ['https', naming('https://auth.example/meta'), /^pass/],
    [
      'http elsewhere',
      naming('http://auth.example/meta'),
      /got http:\/\/auth.example\/meta, which is not https/,
    ],
    ['http on this machine', naming('http://localhost:1/meta'), /^pass/],
    ['another scheme on this machine', naming('ftp://localhost/meta'), /which is not https/],
    ['no absolute URL', naming('/meta'), /which is no absolute URL/],
    [
      'of several the first',
      challenging(
        'Bearer resource_metadata="https://a.example/"',
        'Bearer resource_metadata="http://b.example/"',
      ),
      /^pass/,
    ],
    ['none', () => null, /^skipped: no challenge names resource_metadata/],
  ],
  'auth.resource-metadata': [
    ['of this service', describing((host) => ({ body: `{"resource":"http://${host}/v1"}` })), /^pass/],
    [
      'of another',
      describing(() => ({ body: '{"resource":"https://other.example"}' })),
      /got the resource https:\/\/other.example/,
    ],
    ['of nothing', describing(() => ({ body: '{"resource":7}' })), /got no resource in it/],
    ['no object', describing(() => ({ body: '[]' })), /got no JSON object/],
    ['not there', describing(() => ({ status: 404 })), /got status 404/],
    ['elsewhere', naming('https://auth.example/meta'), /^skipped: its metadata lie at another origin/],
  ],
  'auth.method-override': [
    ['is refused as well', () => null, /^pass/],
    [
      'opens it',
      to(({ headers, key }) => key === null && headers['x-method-override'] === 'GET', SERVED),
      /got status 200/,
    ],
    [
      'all odd headers at once are refused',
      to(({ headers }) => headers['x-webauth-user'] !== undefined, { status: 400 }),
      /^pass/,
    ],
    [
      'is never served',
      to(({ headers }) => headers['x-method-override'] !== undefined, { status: 400 }),
      /^skipped: such a request is not served/,
    ],
  ],
};

describe.concurrent.each(Object.entries(SAID))('%s', (id, cases) => {
  it.each(cases.map((row) => ({ row })))('$row.0', async ({ row: [, differing, said, setting] }) => {
    expect(
      saidOf(
        await judgedOf(differing, [id, ...(id === 'auth.key-not-echoed' ? ['status.trace'] : [])], setting),
        id,
      ),
    ).toMatch(said);
  });
});

it.each([
  ['auth.wrong-credential', 'refuses a wrong key'],
  ['auth.empty-credential', 'refuses an empty key cleanly'],
])('%s %s', (id, title) => {
  expect(auth.checks.find((each) => each.id === id)?.title).toBe(title);
});

const exchangesOf = (events: Awaited<ReturnType<typeof judgedOf>>['events']) =>
  events.flatMap((event) => (event.type === 'evidence' ? [event.value as Exchange] : []));

it('sends the right key once more after all wrong ones', async () => {
  const { events } = await judgedOf(() => null, ['auth.altered-credential'], REFUSED);
  const all = exchangesOf(events).map(({ purpose, credential }) => [credential, purpose]);
  const last = all.findIndex(([, purpose]) => purpose === 'as documented, after all the wrong credentials');
  const wrong = all.slice(0, last).filter(([credential]) => credential !== 'right');
  expect(wrong.map(([, purpose]) => purpose)).toEqual(
    expect.arrayContaining([
      'without a credential',
      'with a wrong key',
      'with an empty key',
      'with the key cut short',
      'with the key and a suffix',
      'with the key in other letter case',
      'with another key of the same length',
      'with something before the key',
      'with null for a key',
      'with refused key 1 (revoked)',
    ]),
  );
  expect(wrong.map(([, purpose]) => purpose)).not.toContain('with a non-ASCII key');
});

it('looks for metadata below the base address alone', async () => {
  const below =
    (prefix: string): Differing =>
    (asked) =>
      asked.isIn
        ? null
        : {
            fields: {
              'WWW-Authenticate': `Bearer resource_metadata="http://${asked.headers.host}${prefix}/meta?a=1"`,
            },
          };
  const said = async (prefix: string) =>
    saidOf(
      await judgedOf(below(prefix), ['auth.resource-metadata'], { base: '/base' }),
      'auth.resource-metadata',
    );
  expect(await said('/base')).toMatch(/got status 401/);
  expect(await said('/other')).toMatch(/^skipped: its metadata lie above the base address/);
  expect(await said('/other/base')).toMatch(/^skipped: its metadata lie above the base address/);
});

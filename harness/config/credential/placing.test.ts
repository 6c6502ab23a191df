import { describe, expect, it } from 'vitest';
import { HarnessError } from '../../base/exit.ts';
import { Secret } from '../../base/secret.ts';
import { NotApplicable } from '../../base/verdict.ts';
import { inHandshakes } from '../../engine/session/websocket/handshake-stimulus.ts';
import { splitTarget } from '../../reference/http/message.ts';
import { createRedaction } from '../../wire/redaction/redaction.ts';
import { type HttpRequest, queryOf } from '../../wire/request.ts';
import {
  type CredentialChoice,
  credentialUse,
  derivedSecrets,
  placeCredential,
  type WrongCredential,
} from './placing.ts';
import type { Credentials } from './scheme.ts';
import { basic, bearer, cookie, header, none, query, signed } from './schemes.ts';

const KEY = 'Example-Key-For-Tests';
const key = new Secret('SEARCH_API_KEY', KEY);
const secondKey = new Secret('SEARCH_API_KEY_2', 'second-key-for-tests');
const app = { id: '7', key: 'app-key', secret: new Secret('APP_SECRET', 'App-Secret-For-Tests') };
const shipped = bearer.of({ key, secondKey, app });
const basic64 = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;

const WAYS = {
  bearer: bearer.of({ key, secondKey }),
  header: header.of({ name: 'X-API-Key', key }),
  query: query.of({ name: 'api key', key }),
  cookie: cookie.of({ name: 'sid', key }),
  basic: basic.of({ username: 'user', password: key }),
  signed: signed.of({ app }),
  none: none.of({}),
};
type Way = keyof typeof WAYS;

const GET: HttpRequest = {
  method: 'GET',
  target: '/v1/resources?x=1',
  fields: [
    ['Accept', '*/*'],
    ['authorization', 'Bearer <API_KEY>'],
  ],
};
const at = new Date('2026-01-01T00:00:00Z');
const placed = (credentials: Credentials, choice: CredentialChoice, request = GET) =>
  placeCredential(request, choice, credentials, { at });

/** What a request shows where the credential stands. */
function shown({ target, fields }: HttpRequest): string | undefined {
  const signature = new Map(queryOf(target)).get('auth_signature');
  return signature ?? (target === GET.target ? fields.slice(1).join('\n') : target);
}

// That each is let in or refused where it should be, with every scheme, the proof shows.
describe('the configured credential', () => {
  it.each<[Way, string]>([
    ['bearer', `Authorization,Bearer ${KEY}`],
    ['header', `X-API-Key,${KEY}`],
    ['query', `/v1/resources?x=1&api%20key=${KEY}`],
    ['cookie', `Cookie,sid=${KEY}`],
    ['basic', `Authorization,${basic64(`user:${KEY}`)}`],
    ['none', ''],
  ])('takes the place of the sample for scheme %s', (way, expected) => {
    expect(shown(placed(WAYS[way], 'right'))).toBe(expected);
  });

  it('stands beside other cookies, and takes the place of one of its name', () => {
    const fields: HttpRequest['fields'] = [['cookie', 'lang=en; sid=old;theme=dark']];
    const request = { ...GET, fields };
    expect(placed(WAYS.cookie, 'right', request).fields).toEqual([
      ['Cookie', `lang=en; theme=dark; sid=${KEY}`],
    ]);
    expect(placed(WAYS.cookie, 'none', request).fields).toEqual([['Cookie', 'lang=en; theme=dark']]);
  });

  it('signs for scheme signed, or where an application is to sign in place of a key', () => {
    for (const request of [placed(WAYS.signed, 'right'), placed(shipped, 'signed')]) {
      expect(queryOf(request.target).map(([name]) => name)).toEqual([
        'x',
        'auth_key',
        'auth_timestamp',
        'auth_version',
        'auth_signature',
      ]);
      expect(request.fields).toEqual([['Accept', '*/*']]);
    }
    expect(() => placed(WAYS.bearer, 'signed')).toThrow(NotApplicable);
  });

  it('is the second one on demand, where there is one', () => {
    expect(shown(placed(WAYS.bearer, 'second'))).toBe('Authorization,Bearer second-key-for-tests');
    expect(() => placed(WAYS.header, 'second')).toThrow(HarnessError);
  });

  it('stands in all places of the caller’s choice, and not in its own', () => {
    const request = placed(WAYS.bearer, {
      placed: [
        { in: 'query', name: 'token' },
        { in: 'header', name: 'X-Key' },
        { in: 'authorization', name: 'Authorization' },
      ],
    });
    expect(request.target).toBe(`/v1/resources?x=1&token=${KEY}`);
    expect(request.fields.slice(1)).toEqual([
      ['X-Key', KEY],
      ['Authorization', `Bearer ${KEY}`],
    ]);
  });

  it.each(Object.entries(WAYS))('is taken away again for scheme %s', (_, credentials) => {
    const gone = placed(credentials, 'none', placed(credentials, 'right'));
    expect(gone).toMatchObject({ target: GET.target, fields: [['Accept', '*/*']] });
  });

  it('stays as it is where the request holds one already', () => {
    expect(placed(WAYS.bearer, 'held')).toBe(GET);
    expect(placed(WAYS.bearer, { recorded: 'wrong' })).toBe(GET);
  });
});

describe('a wrong credential', () => {
  it.each<[WrongCredential, string]>([
    ['wrong', 'Bearer conform-sends-no-valid-key-here'],
    ['empty', 'Bearer '],
    ['truncated', 'Bearer Example-Key-For-Tes'],
    ['extended', 'Bearer Example-Key-For-Testsaa'],
    ['case-flipped', 'Bearer eXAMPLE-kEY-fOR-tESTS'],
    ['altered', 'Bearer xxample-Key-For-Tests'],
    ['prefixed', `Bearer aa${KEY}`],
    ['null', 'Bearer null'],
    ['template', 'Bearer {token}'],
    ['non-ascii', `Bearer ${Buffer.from('schlüssel-鍵-ключ').toString('latin1')}`],
    ['quoted', `Bearer '"--conform`],
    ['oversized', `Bearer ${'k'.repeat(9216)}`],
    ['other-scheme', `Basic ${KEY}`],
  ])('%s', (wrong, value) => {
    expect(shown(placed(WAYS.bearer, { wrong }))).toBe(`Authorization,${value}`);
  });

  it('stands in the configured place', () => {
    expect(shown(placed(WAYS.header, { wrong: 'extended' }))).toBe(`X-API-Key,${KEY}aa`);
    expect(shown(placed(WAYS.query, { wrong: 'quoted' }))).toBe(`/v1/resources?x=1&api%20key='%22--conform`);
    expect(shown(placed(WAYS.basic, { wrong: 'extended' }))).toBe(
      `Authorization,${basic64(`user:${KEY}aa`)}`,
    );
  });

  it('is a wrong secret or a hostile signature for signed requests', () => {
    expect(shown(placed(WAYS.signed, { wrong: 'truncated' }))).toMatch(/^[0-9a-f]{64}$/);
    expect(shown(placed(WAYS.signed, { wrong: 'empty' }))).toBe('');
    expect(shown(placed(WAYS.signed, { wrong: 'oversized' }))).toHaveLength(9216);
  });

  it.each([
    '1234567890',
    '0123456789abcdef0123456789abcdef',
    '9b2d6c1e-3f7a-4c58-8f0e-1a2b3c4d5e6f',
    'MFRGGZDFMZTWQ2LKNNWG23TPOA======',
    '01ARZ3NDEKTSV4RRFFQ69G5FAV',
  ])('does not exist where it would not be wrong: in other letter case, of %s', (text) => {
    const key = bearer.of({ key: new Secret('K', text) });
    expect(() => placed(key, { wrong: 'case-flipped' })).toThrow(NotApplicable);
  });

  // RFC 4648: padding and what is less than an octet count for nothing, and some decoders stop at what is no digit.
  it.each<[BufferEncoding, string]>([
    ['hex', '0123456789abcdef0123456789abcdef'],
    ['base64', 'U2VjcmV0LWtleS1mb3ItdGVzdHM='],
    ['base64', 'U2VjcmV0LWtleS1mb3ItdGVzdA=='],
    ['base64', 'U2VjcmV0LWtleS1mb3ItdGVz'],
    ['base64url', 'U2VjcmV0LWtleS1mb3ItdGVzdHM'],
    ['base64', 'example-search-key-not-secret'],
  ])('stands for other octets in %s than %s', (encoding, text) => {
    const key = bearer.of({ key: new Secret('K', text) });
    const octets = (wrong: WrongCredential) =>
      Buffer.from(String(shown(placed(key, { wrong }))).replace(/^.*Bearer /, ''), encoding).toString('hex');
    const right = Buffer.from(text, encoding).toString('hex');
    expect(octets('truncated')).not.toBe(right);
    expect(octets('extended')).not.toBe(right);
  });

  it.each<WrongCredential>(['truncated', 'extended', 'case-flipped', 'altered'])(
    'made of the right one is a secret like it: %s',
    (wrong) => {
      const told = createRedaction([key, ...derivedSecrets(key)]);
      const { fields } = placed(WAYS.bearer, { wrong });
      expect(told.fields(fields).at(-1)?.[1]).toBe(`Bearer [redacted:SEARCH_API_KEY.${wrong}]`);
      expect(told.text(`Bearer ${KEY}`)).toBe('Bearer [redacted:SEARCH_API_KEY]');
    },
  );
});

describe('another spelling of the right credential', () => {
  const lines = (way: Way, spelled: 'other-case-scheme' | 'right-then-wrong' | 'wrong-then-right') =>
    placed(WAYS[way], { spelled })
      .fields.slice(1)
      .map(([, value]) => value);

  it('has a lower-case scheme, or several lines', () => {
    const wrong = 'Bearer conform-sends-no-valid-key-here';
    expect(lines('bearer', 'other-case-scheme')).toEqual([`bearer ${KEY}`]);
    expect(lines('basic', 'other-case-scheme')).toEqual([basic64(`user:${KEY}`).replace('B', 'b')]);
    expect(lines('bearer', 'right-then-wrong')).toEqual([`Bearer ${KEY}`, wrong]);
    expect(lines('bearer', 'wrong-then-right')).toEqual([wrong, `Bearer ${KEY}`]);
    expect(lines('header', 'right-then-wrong')).toEqual([KEY, 'conform-sends-no-valid-key-here']);
  });

  it('does not exist where the credential is in no field, or has no scheme', () => {
    for (const way of ['none', 'query', 'signed'] as const) {
      expect(() => lines(way, 'right-then-wrong')).toThrow(NotApplicable);
    }
    expect(() => lines('header', 'other-case-scheme')).toThrow(NotApplicable);
  });
});

describe('a flawed signature', () => {
  const EVENT: HttpRequest = { ...GET, method: 'POST', target: '/events', body: Buffer.from('{"data":"x"}') };

  it.each([
    ['other-method', GET],
    ['other-path', GET],
    ['other-query', GET],
    ['other-content', EVENT],
    ['stale', GET],
  ] as const)('%s goes with a request of the same method, path and size', (flawed, request) => {
    const spoiled = placed(WAYS.signed, { flawed }, request);
    expect(spoiled).not.toEqual(placed(WAYS.signed, 'right', request));
    expect([spoiled.method, splitTarget(spoiled.target).path, spoiled.body?.length]).toEqual([
      request.method,
      splitTarget(request.target).path,
      request.body?.length,
    ]);
  });

  it('leaves altered content JSON', () => {
    const { body } = placed(WAYS.signed, { flawed: 'other-content' }, EVENT);
    expect(JSON.parse(Buffer.from(body ?? '').toString())).toEqual({ data: 'y' });
  });

  it('does not exist where nothing is signed', () => {
    expect(() => placed(shipped, { flawed: 'stale' })).toThrow(NotApplicable);
  });
});

describe('whatever carries a credential', () => {
  // What is used as `none` may go over plain http to anybody; nothing else may (`refusePlainHttp`).
  it.each<CredentialChoice>([
    'right',
    'second',
    'signed',
    'held',
    { wrong: 'wrong' },
    { wrong: 'truncated' },
    { spelled: 'other-case-scheme' },
    { placed: { in: 'query', name: 'api_key' } },
    { placed: [{ in: 'header', name: 'X-API-Key' }] },
    { flawed: 'stale' },
  ])('is never taken for a request without one: %j', (choice) => {
    expect(credentialUse(choice)).not.toBe('none');
  });
});

describe('the key of a handshake', () => {
  const BARE = { method: 'GET', target: '/ws', fields: [['Sec-WebSocket-Protocol', 'echo.v1']] } as const;
  const socket = { url: '/ws', dialect: 'raw', echo: false, origin: null, subprotocols: [] } as const;
  const base64url = Buffer.from(KEY).toString('base64url');

  it.each([
    [{ in: 'header', name: 'X-Key' }, '/ws', [...BARE.fields, ['X-Key', KEY]]],
    [{ in: 'query', name: 'token' }, `/ws?token=${KEY}`, BARE.fields],
    [
      { in: 'subprotocol', prefix: 'bearer.', encoding: 'base64url' },
      '/ws',
      [['Sec-WebSocket-Protocol', `echo.v1, bearer.${base64url}`]],
    ],
    [
      { in: 'subprotocol', prefix: '', encoding: 'plain' },
      '/ws',
      [['Sec-WebSocket-Protocol', `echo.v1, ${KEY}`]],
    ],
  ] as const)('stands where the config says: %o', (credential, target, fields) => {
    const there = inHandshakes(WAYS.bearer, { ...socket, credential });
    expect(placed(there, 'right', BARE)).toEqual({ method: 'GET', target, fields });
    expect(placed(there, 'none', BARE)).toEqual(BARE);
    const wrong = placed(there, { wrong: 'wrong' }, BARE);
    expect(JSON.stringify(wrong)).not.toContain(KEY);
    expect(wrong).not.toEqual(BARE);
  });

  it('goes elsewhere when a probe says so', () => {
    const there = inHandshakes(WAYS.bearer, { ...socket, credential: { in: 'query', name: 'token' } });
    const choice = { placed: { in: 'header', name: 'X-Key' } } as const;
    expect(placed(there, choice, BARE)).toEqual({ ...BARE, fields: [...BARE.fields, ['X-Key', KEY]] });
  });
});

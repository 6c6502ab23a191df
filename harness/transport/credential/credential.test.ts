import { describe, expect, it } from 'vitest';
import type { Credentials } from '../../config/service.ts';
import { type HttpRequest, queryOf } from '../../credential/request.ts';
import { Secret } from '../../credential/secret.ts';
import { createRedaction } from '../../evidence/redaction/redaction.ts';
import { HarnessError } from '../../exit.ts';
import { answerEach, listen } from '../fixtures/loopback.ts';
import { about, setting } from '../fixtures/setting.ts';
import { openHttp } from '../http/http.ts';
import { placeCredential, withCredentialValue, withKeyAt } from './credential.ts';
import {
  type CredentialSpelling,
  placeSpelledCredential,
  placeWrongCredential,
  type WrongCredential,
} from './wrong-credential.ts';

const KEY = 'Example-Key-For-Tests';
const key = new Secret('SEARCH_API_KEY', KEY);
const secondKey = new Secret('SEARCH_API_KEY_2', 'second-key-for-tests');
const app = { id: '7', key: 'app-key', secret: new Secret('APP_SECRET', 'App-Secret-For-Tests') };
const bearer: Credentials = { scheme: 'bearer', key, secondKey, app: null };
const header: Credentials = { scheme: 'header', name: 'X-API-Key', key, secondKey: null, app: null };
const query: Credentials = { scheme: 'query', name: 'api key', key, secondKey: null, app: null };
const basic: Credentials = { scheme: 'basic', username: 'user', password: key, secondKey: null, app: null };
const signed: Credentials = { scheme: 'signed', secondKey: null, app };
const none: Credentials = { scheme: 'none' };

const GET: HttpRequest = {
  method: 'GET',
  target: '/v1/resources?x=1',
  fields: [
    ['Accept', '*/*'],
    ['authorization', 'Bearer <API_KEY>'],
    ['x-api-key', 'sample'],
  ],
};
const moment = { at: new Date('2026-01-01T00:00:00Z') };
const base64 = (text: string) => Buffer.from(text).toString('base64');

describe('the configured credential', () => {
  it.each<[string, Credentials, Partial<HttpRequest>]>([
    [
      'bearer',
      bearer,
      {
        fields: [
          ['Accept', '*/*'],
          ['x-api-key', 'sample'],
          ['Authorization', `Bearer ${KEY}`],
        ],
      },
    ],
    [
      'header',
      header,
      {
        fields: [
          ['Accept', '*/*'],
          ['X-API-Key', KEY],
        ],
      },
    ],
    [
      'query',
      query,
      {
        target: `/v1/resources?x=1&api%20key=${KEY}`,
        fields: [
          ['Accept', '*/*'],
          ['x-api-key', 'sample'],
        ],
      },
    ],
    [
      'basic',
      basic,
      {
        fields: [
          ['Accept', '*/*'],
          ['x-api-key', 'sample'],
          ['Authorization', `Basic ${base64(`user:${KEY}`)}`],
        ],
      },
    ],
    [
      'none',
      none,
      {
        target: '/v1/resources?x=1',
        fields: [
          ['Accept', '*/*'],
          ['x-api-key', 'sample'],
        ],
      },
    ],
  ])('takes the place of the sample for scheme %s', (_scheme, credentials, expected) => {
    expect(placeCredential(credentials, 'right', GET, moment)).toMatchObject(expected);
  });

  it('signs for scheme signed', () => {
    const names = queryOf(placeCredential(signed, 'right', GET, moment).target).map(([name]) => name);
    expect(names).toEqual(['x', 'auth_key', 'auth_timestamp', 'auth_version', 'auth_signature']);
  });

  it('is the second one on demand, where there is one', () => {
    expect(placeCredential(bearer, 'second', GET, moment).fields).toContainEqual([
      'Authorization',
      'Bearer second-key-for-tests',
    ]);
    expect(() => placeCredential(header, 'second', GET, moment)).toThrow(HarnessError);
  });

  it.each([bearer, header, query, basic, signed])('is taken away again: %o', (credentials) => {
    const there = placeCredential(credentials, 'right', GET, moment);
    const gone = placeCredential(credentials, 'none', there, moment);
    expect(gone.target).toBe('/v1/resources?x=1');
    expect(JSON.stringify(gone)).not.toMatch(/example-key|app-secret|authorization/i);
  });

  it('may be put into another place', () => {
    expect(withKeyAt({ in: 'query', name: 'api_key' }, 'a b&c', GET).target).toBe(
      '/v1/resources?x=1&api_key=a%20b%26c',
    );
    expect(withKeyAt({ in: 'header', name: 'X-Key' }, 'k', GET).fields.at(-1)).toEqual(['X-Key', 'k']);
  });

  it('is sent as UTF-8 when it is not ASCII', async () => {
    const heads: string[] = [];
    const server = await listen(
      answerEach('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n', (head) => heads.push(head)),
    );
    const http = openHttp(setting(server.url));
    await http.send(withCredentialValue(bearer, 'schlüssel', GET, moment), about());
    await http.close();
    await server.close();
    expect(Buffer.from(heads[0] ?? '', 'latin1').toString()).toContain('Authorization: Bearer schlüssel\r\n');
  });
});

describe('a wrong credential', () => {
  const wrong = (credentials: Credentials, kind: WrongCredential, redaction = createRedaction()) =>
    placeWrongCredential(credentials, kind, GET, moment, redaction);
  const authorization = (request: HttpRequest | null) => request?.fields.at(-1)?.[1];

  it.each<[WrongCredential, string]>([
    ['wrong', 'Bearer conform-sends-no-valid-key-here'],
    ['empty', 'Bearer '],
    ['truncated', 'Bearer Example-Key-For-Test'],
    ['extended', 'Bearer Example-Key-For-Testsx'],
    ['case-flipped', 'Bearer eXAMPLE-kEY-fOR-tESTS'],
    ['non-ascii', `Bearer ${Buffer.from('schlüssel-鍵-ключ').toString('latin1')}`],
    ['quoted', `Bearer '"--conform`],
    ['oversized', `Bearer ${'k'.repeat(9216)}`],
    ['other-scheme', `Basic ${KEY}`],
  ])('%s', (kind, value) => {
    expect(authorization(wrong(bearer, kind))).toBe(value);
  });

  it('stands in the configured place', () => {
    expect(wrong(header, 'extended')?.fields.at(-1)).toEqual(['X-API-Key', `${KEY}x`]);
    expect(wrong(query, 'quoted')?.target).toBe(`/v1/resources?x=1&api%20key='%22--conform`);
    expect(authorization(wrong(basic, 'extended'))).toBe(`Basic ${base64(`user:${KEY}x`)}`);
    expect(authorization(wrong(basic, 'other-scheme'))).toBe(`Bearer ${base64(`user:${KEY}`)}`);
  });

  it('is a wrong secret or a hostile signature for signed requests', () => {
    const signature = (request: HttpRequest | null) =>
      new Map(queryOf(request?.target ?? '')).get('auth_signature');
    const right = signature(placeCredential(signed, 'right', GET, moment));
    expect(signature(wrong(signed, 'truncated'))).toMatch(/^[0-9a-f]{64}$/);
    expect(signature(wrong(signed, 'truncated'))).not.toBe(right);
    expect(signature(wrong(signed, 'empty'))).toBe('');
    expect(signature(wrong(signed, 'oversized'))).toHaveLength(9216);
  });

  it('does not exist where it would not be wrong', () => {
    const digits: Credentials = {
      scheme: 'bearer',
      key: new Secret('K', '1234567890'),
      secondKey: null,
      app: null,
    };
    expect(wrong(digits, 'case-flipped')).toBeNull();
    expect(wrong(header, 'other-scheme')).toBeNull();
    expect(wrong(none, 'wrong')).toBeNull();
  });

  it.each<[WrongCredential, string]>([
    ['truncated', 'Bearer [redacted:SEARCH_API_KEY.truncated]'],
    ['extended', 'Bearer [redacted:SEARCH_API_KEY.extended]'],
    ['case-flipped', 'Bearer [redacted:SEARCH_API_KEY.case-flipped]'],
  ])('made of the right one is known to the redaction: %s', (kind, expected) => {
    const redaction = createRedaction();
    redaction.add(key.name, KEY);
    wrong(bearer, kind, redaction);
    const request = wrong(bearer, kind, redaction);
    expect(redaction.fields(request?.fields ?? []).at(-1)?.[1]).toBe(expected);
    expect(redaction.text(`Bearer ${KEY}`)).toBe('Bearer [redacted:SEARCH_API_KEY]');
  });
});

describe('another spelling of the right credential', () => {
  const spelled = (credentials: Credentials, spelling: CredentialSpelling) =>
    placeSpelledCredential(credentials, spelling, GET, moment)
      ?.fields.filter(([name]) => /authorization|x-api-key/i.test(name) && name !== 'x-api-key')
      .map(([, value]) => value);

  it('has a lower-case scheme, or several lines', () => {
    expect(spelled(bearer, 'other-case-scheme')).toEqual([`bearer ${KEY}`]);
    expect(spelled(bearer, 'twice')).toEqual([`Bearer ${KEY}`, `Bearer ${KEY}`]);
    expect(spelled(bearer, 'right-then-wrong')).toEqual([
      `Bearer ${KEY}`,
      'Bearer conform-sends-no-valid-key-here',
    ]);
    expect(spelled(bearer, 'wrong-then-right')).toEqual([
      'Bearer conform-sends-no-valid-key-here',
      `Bearer ${KEY}`,
    ]);
    expect(spelled(basic, 'other-case-scheme')).toEqual([`basic ${base64(`user:${KEY}`)}`]);
    expect(spelled(header, 'twice')).toEqual([KEY, KEY]);
  });

  it('does not exist where the credential is in no field', () => {
    for (const credentials of [none, query, signed]) expect(spelled(credentials, 'twice')).toBeUndefined();
    expect(spelled(header, 'other-case-scheme')).toBeUndefined();
  });
});

import { createHash, createHmac } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { Secret } from '../base/secret.ts';
import { basic, query } from '../config/credential/schemes.ts';
import { signatureOf } from './credentials.ts';
import { APP, ask, KEY, type Seen, started, VirtualClock } from './fixtures/http-client.ts';
import type { RunningReference } from './reference.ts';

// That each opens and shuts, the proof shows under its setting.
describe('schemes other than bearer', () => {
  const key = new Secret('KEY', KEY);

  it('take the key in the query, however it is encoded, once', async () => {
    const provider = await started('search', { credentials: query.of({ name: 'api_key', key }) });
    const status = async (query: string): Promise<number> =>
      (await ask(provider, { authorization: null, target: `/v1/resources?${query}` })).status;
    expect(await status(`x=1&api_key=${KEY.replace('-', '%2d')}`)).toBe(200);
    expect(await status(`api_key=${KEY}&api_key=${KEY}`)).toBe(401);
  });

  it('take a password with a colon', async () => {
    const password = new Secret('PASSWORD', 'example:password');
    const provider = await started('messaging', { credentials: basic.of({ username: 'tester', password }) });
    const token = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;
    const status = async (authorization: string): Promise<number> =>
      (await ask(provider, { authorization })).status;
    expect(await status(token('tester:example:password'))).toBe(200);
    expect(await status('Basic ???')).toBe(401);
  });
});

const NOW_S = 1_772_445_600;

let provider: RunningReference;

beforeEach(async () => {
  provider = await started('realtime', { clock: new VirtualClock(NOW_S * 1000) });
});

interface Call {
  readonly method?: string;
  readonly path?: string;
  readonly body?: string;
  readonly secret?: string;
  readonly parameters?: Readonly<Record<string, string>>;
  /** Changes the target after it was signed. */
  readonly tamper?: (target: string) => string;
}

/** Signs by hand, by the published rules, and asks. */
function askSigned({
  method = 'GET',
  path = '/',
  body = '',
  secret = APP.secret,
  parameters = {},
  tamper,
}: Call): Promise<Seen> {
  const all: Record<string, string> = {
    auth_key: APP.key,
    auth_timestamp: String(NOW_S),
    auth_version: '1.0',
    ...(body === '' ? {} : { body_md5: createHash('md5').update(body).digest('hex') }),
    ...parameters,
  };
  const query = Object.keys(all)
    .sort()
    .map((name) => `${name}=${all[name]}`)
    .join('&');
  const signature = createHmac('sha256', secret).update(`${method}\n${path}\n${query}`).digest('hex');
  const target = `${path}?${query}&auth_signature=${signature}`;
  return ask(provider, { method, target: tamper?.(target) ?? target, body, authorization: null });
}

describe('signatures', () => {
  it('are those of the published example', () => {
    const parameters = Object.entries({
      auth_key: '278d425bdf160c739803',
      auth_timestamp: '1353088179',
      auth_version: '1.0',
      body_md5: 'ec365a775a4cd0599faeb73354201b6f',
    });
    expect(signatureOf('7ad3773142a6692b25b8', 'POST', '/apps/3/events', parameters)).toBe(
      'da454824c97ba181a32ccc17a72625ba02771f50b50e1e7430e47a1f3f457e6c',
    );
  });

  it('open what a bearer key opens', async () => {
    expect((await askSigned({})).status).toBe(200);
    expect(
      (await askSigned({ parameters: { zeta: 'b c', Alpha: 'a' }, tamper: (t) => t.replace(' ', '%20') }))
        .status,
    ).toBe(401);
    expect(
      (await askSigned({ parameters: { alpha: 'b c' }, tamper: (t) => t.replace(' ', '%20') })).status,
    ).toBe(200);
  });

  it.each<[string, Call]>([
    ['another secret', { secret: 'wrong' }],
    ['another key', { parameters: { auth_key: 'wrong' } }],
    ['another version', { parameters: { auth_version: '2.0' } }],
    ['a timestamp 601 s old', { parameters: { auth_timestamp: String(NOW_S - 601) } }],
    ['a timestamp 601 s ahead', { parameters: { auth_timestamp: String(NOW_S + 601) } }],
    ['a timestamp that is none', { parameters: { auth_timestamp: 'now' } }],
    [
      'an altered path',
      { path: '/apps/77/channels', tamper: (target) => target.replace('channels', 'events') },
    ],
    ['an added parameter', { tamper: (target) => `${target}&info=user_count` }],
    ['a doubled parameter', { tamper: (target) => `${target}&auth_key=${APP.key}` }],
    ['no signature', { tamper: (target) => target.replace(/&auth_signature=.*/, '') }],
  ])('do not open with %s', async (_, call) => {
    const seen = await askSigned(call);
    expect(seen.status).toBe(401);
    expect(seen.all('www-authenticate').at(-1)).toBe('AppSignature realm="realtime"');
  });

  it('are good for 600 s either way', async () => {
    expect((await askSigned({ parameters: { auth_timestamp: String(NOW_S - 600) } })).status).toBe(200);
    expect((await askSigned({ parameters: { auth_timestamp: String(NOW_S + 600) } })).status).toBe(200);
  });

  it('are the only way to the HTTP API', async () => {
    const bearer = await ask(provider, { target: '/apps/77/channels' });
    expect([bearer.status, bearer.all('www-authenticate')]).toEqual([401, ['AppSignature realm="realtime"']]);
    expect((await askSigned({ path: '/apps/77/channels' })).json).toEqual({ channels: {} });
    expect((await askSigned({ path: '/apps/78/channels' })).status).toBe(404);
  });

  it('cover the content', async () => {
    const body = JSON.stringify({ name: 'greeting', channel: 'news', data: '"hello"' });
    const post: Call = { method: 'POST', path: '/apps/77/events', body };
    expect((await askSigned(post)).json).toEqual({});
    expect((await askSigned({ ...post, parameters: { body_md5: '0'.repeat(32) } })).status).toBe(401);
  });

  it.each([
    ['no JSON', 'nonsense', 400],
    ['no channel', '{"name":"x","data":"x"}', 400],
    ['a bad channel name', '{"name":"x","channel":"a b","data":"x"}', 400],
    ['data that is no text', '{"name":"x","channel":"a","data":{}}', 400],
    ['too many channels', JSON.stringify({ name: 'x', channels: Array(101).fill('a'), data: 'x' }), 400],
    ['too much data', JSON.stringify({ name: 'x', channel: 'a', data: 'x'.repeat(10_241) }), 413],
  ])('do not help an event with %s', async (_, body, status) => {
    expect((await askSigned({ method: 'POST', path: '/apps/77/events', body })).status).toBe(status);
  });

  it('do not excuse a wrong key beside them', async () => {
    const query = `auth_key=${APP.key}&auth_timestamp=${NOW_S}&auth_version=1.0`;
    const target = `/?${query}&auth_signature=${createHmac('sha256', APP.secret).update(`GET\n/\n${query}`).digest('hex')}`;
    expect((await ask(provider, { target, authorization: `Bearer ${KEY}` })).status).toBe(200);
    expect((await ask(provider, { target, authorization: 'Bearer wrong' })).status).toBe(401);
  });
});

import { createServer, type RequestListener } from 'node:http';
import { describe, expect, it } from 'vitest';
import { configFor } from '../../../../suites/tests/fixtures/judged.ts';
import { served } from '../../../base/fixtures/server.ts';
import { Secret } from '../../../base/secret.ts';
import { sessionAt } from '../../../engine/session/fixtures/session.ts';
import { ask, started, VirtualClock } from '../../../reference/fixtures/http-client.ts';
import type { SecurityScheme } from '../scheme.ts';
import { login } from './login.ts';

const PASSWORD = 's3cr"t+with=odd%characters';
const USER = {
  loginUrl: '/login',
  username: 'anna',
  password: new Secret('ORDERS_PASSWORD', PASSWORD),
  take: 'json:/token',
};
type User = Partial<Parameters<typeof login.of>[0]>;

const KEY = 'session-key-of-a-test';

interface Received {
  readonly type: string;
  readonly body: string;
}

/** A service whose login answers so, and that is open to requests with `carried`. */
async function service(answer: RequestListener, carried: (headers: Record<string, unknown>) => boolean) {
  const logins: Received[] = [];
  const url = await served(
    createServer(async (request, response) => {
      if (request.url === '/login') {
        const pieces: Uint8Array[] = [];
        for await (const piece of request) pieces.push(piece);
        const type = request.headers['content-type'] ?? '';
        logins.push({ type, body: Buffer.concat(pieces).toString() });
        return answer(request, response);
      }
      response.statusCode = carried(request.headers) ? 200 : 401;
      response.end('{}');
    }),
  );
  return { url, logins };
}

/** Sends requests to a service that is opened by a login. */
async function session(url: string, user: User = {}, requests = 1) {
  const {
    session: opened,
    asked,
    evidence,
    journal,
  } = sessionAt(url, {
    ...(await configFor(url)),
    credentials: login.of({ ...USER, ...user }),
  });
  const said: unknown[] = [];
  for (let sent = 0; sent < requests; sent++) {
    const answer = await asked(({ http }) => http.send({ purpose: `number ${sent}` }));
    said.push('value' in answer ? answer.value.exchange.response?.status : String(answer.failed));
  }
  await opened.close();
  return { said, journal: journal(), purposes: evidence().map(({ purpose }) => purpose) };
}

describe('a login', () => {
  it.each<[string, User, RequestListener, (headers: Record<string, unknown>) => boolean]>([
    [
      'a member of its JSON',
      { take: 'json:/data/a~1b/0' },
      (_, response) => void response.end(JSON.stringify({ data: { 'a/b': [KEY] } })),
      ({ authorization }) => authorization === `Bearer ${KEY}`,
    ],
    [
      'a cookie, which is sent as that',
      { take: 'cookie:sid' },
      (_, response) =>
        void response
          .writeHead(303, { location: '/', 'set-cookie': ['lang=en', `sid=${KEY}; Path=/; HttpOnly`] })
          .end(),
      ({ cookie }) => cookie === `sid=${KEY}`,
    ],
    [
      'a header, which goes into another one',
      { take: 'header:X-Session', send: 'header:X-Auth' },
      (_, response) => void response.writeHead(204, { 'x-session': KEY }).end(),
      ({ 'x-auth': given }) => given === KEY,
    ],
    [
      'a cookie next to content that cannot be decoded',
      { take: 'cookie:sid' },
      (_, response) =>
        void response.writeHead(200, { 'content-encoding': 'gzip', 'set-cookie': `sid=${KEY}` }).end('none'),
      ({ cookie }) => cookie === `sid=${KEY}`,
    ],
  ])('gives a key in %s, and no report has it', async (_, user, answer, carried) => {
    const { url, logins } = await service(answer, carried);
    const { said, purposes, journal } = await session(url, user, 2);
    expect(said).toEqual([200, 200]);
    expect(purposes).toEqual(['to log in', 'number 0', 'number 1']);
    expect(logins).toEqual([
      { type: 'application/json', body: JSON.stringify({ username: 'anna', password: PASSWORD }) },
    ]);
    expect(journal).toContain('[redacted:SESSION_KEY]');
    expect(journal).not.toMatch(/session-key-of-a-test|s3cr/);
  });

  it('is a form where the body is one', async () => {
    const { url, logins } = await service(
      (_, response) => void response.end(JSON.stringify({ token: KEY })),
      () => true,
    );
    await session(url, { body: 'user={username}&pass={password}' });
    expect(logins).toEqual([
      {
        type: 'application/x-www-form-urlencoded',
        body: new URLSearchParams({ user: 'anna', pass: PASSWORD }).toString(),
      },
    ]);
  });

  it('is repeated once when its key is refused', async () => {
    let issued = 0;
    const { url, logins } = await service(
      (_, response) => void response.end(JSON.stringify({ token: `${KEY}-${++issued}` })),
      ({ authorization }) => authorization === `Bearer ${KEY}-2`,
    );
    expect((await session(url, {}, 2)).said).toEqual([200, 200]);
    expect(logins).toHaveLength(2);
  });

  it.each<[string, User, RequestListener, RegExp]>([
    [
      'the password is refused',
      {},
      (_, response) => void response.writeHead(401).end(PASSWORD),
      /the password in ORDERS_PASSWORD is refused by \/login \(401\)/,
    ],
    [
      'its answer has no key',
      { take: 'cookie:sid' },
      (_, response) => void response.writeHead(200, { 'set-cookie': 'other=one' }).end(),
      /its answer \(200\) has no cookie:sid \(credentials\.take\)/,
    ],
    [
      'its answer is an error',
      {},
      (_, response) => void response.writeHead(503).end(),
      /no key could be had from \/login \(credentials\.loginUrl\): it answered 503/,
    ],
    [
      'its key is short',
      {},
      (_, response) => void response.end('{"token":"abc"}'),
      /its key has 3 characters/,
    ],
  ])('leaves requests blocked if %s, and is not repeated', async (_, user, answer, reason) => {
    const { url, logins } = await service(answer, () => true);
    const { said, journal } = await session(url, user, 2);
    expect(said).toEqual([expect.stringMatching(reason), expect.stringMatching(reason)]);
    expect(logins).toHaveLength(1);
    expect(journal).not.toContain('s3cr');
  });
});

describe('what a key of a login opens', () => {
  const demand = (part: Partial<SecurityScheme>): SecurityScheme => {
    return { type: 'apiKey', scheme: '', in: '', name: '', tokenUrl: '', openIdConnectUrl: '', ...part };
  };
  it('follows from where it is sent', () => {
    const bearer = demand({ type: 'http', scheme: 'bearer' });
    const cookie = demand({ in: 'cookie', name: 'sid' });
    const header = demand({ in: 'header', name: 'x-auth' });
    const opened = (take: string, send?: string) =>
      [bearer, cookie, header].map((each) => login.opens(each, { take, send }));
    expect(opened('json:/token')).toEqual([true, false, false]);
    expect(opened('cookie:sid')).toEqual([false, true, false]);
    expect(opened('cookie:sid', 'header:X-Auth')).toEqual([false, false, true]);
  });
});

describe('the reference provider', () => {
  it.each([
    ['json:/session/token', /"token":"([\w-]+)"/],
    ['cookie:sid', /sid=([\w-]+)/],
    ['header:X-Auth-Token', /([\w-]{32})/],
  ])('lets a user in by %s until the key ends', async (take, pattern) => {
    const clock = new VirtualClock(0);
    const provider = await started('search', {
      credentials: login.of({ ...USER, take, send: 'bearer' }),
      clock,
    });
    const asked = (password: string) =>
      ask(provider, {
        method: 'POST',
        target: '/login',
        authorization: null,
        body: JSON.stringify({ username: 'anna', password }),
      });
    expect((await asked('another')).status).toBe(401);
    const given = await asked(PASSWORD);
    const shown = [JSON.stringify(given.json), given.field('set-cookie'), given.field('x-auth-token')].join();
    const [, key] = pattern.exec(shown) ?? [];
    const status = async () => (await ask(provider, { authorization: `Bearer ${key}` })).status;
    expect(await status()).toBe(200);
    clock.advance(120_000);
    expect(await status()).toBe(401);
  });
});

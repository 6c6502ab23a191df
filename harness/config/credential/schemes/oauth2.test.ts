import { createServer, type RequestListener } from 'node:http';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { configFor } from '../../../../suites/tests/fixtures/judged.ts';
import { served } from '../../../base/fixtures/server.ts';
import { Secret } from '../../../base/secret.ts';
import { sessionAt } from '../../../engine/session/fixtures/session.ts';
import { ask, started, VirtualClock } from '../../../reference/fixtures/http-client.ts';
import { exampleExchange } from '../../../wire/fixtures/example-evidence.ts';
import type { KeyRequest } from '../scheme.ts';
import { oauth2 } from './oauth2.ts';

const SECRET = 's3cr+t/with=odd%characters';
const CLIENT = {
  tokenUrl: '/oauth/token',
  clientId: 'client:1',
  clientSecret: new Secret('CLIENT_SECRET', SECRET),
};
const json = (content: object) => JSON.stringify(content);
const token = (access_token: string, more = {}) => json({ access_token, token_type: 'bearer', ...more });

describe('the request for a token', () => {
  async function asked(more: Partial<Parameters<typeof oauth2.of>[0]>): Promise<KeyRequest> {
    const requests: KeyRequest[] = [];
    const port = {
      async post(request: KeyRequest, secretsIn: (content: string, fields: readonly []) => unknown) {
        requests.push(request);
        secretsIn(token('token-of-a-test'), []);
        return exampleExchange();
      },
    };
    await oauth2.of({ ...CLIENT, ...more }).obtain?.(port);
    const [request] = requests;
    if (!request) throw new Error('nothing was asked');
    return request;
  }

  it('names the client in Authorization, form-encoded', async () => {
    const { url, fields, body } = await asked({});
    const pair = `client%3A1:${encodeURIComponent(SECRET)}`;
    expect(fields).toContainEqual(['Authorization', `Basic ${Buffer.from(pair).toString('base64')}`]);
    expect([url, body]).toEqual(['/oauth/token', 'grant_type=client_credentials']);
  });

  it('names it in the body where that is configured, and what the token is for', async () => {
    const { fields, body } = await asked({
      clientAuthentication: 'post',
      scope: 'read write',
      audience: 'orders',
      resource: 'https://api.example/',
    });
    expect(fields.map(([name]) => name)).not.toContain('Authorization');
    expect(Object.fromEntries(new URLSearchParams(body))).toEqual({
      grant_type: 'client_credentials',
      scope: 'read write',
      audience: 'orders',
      resource: 'https://api.example/',
      client_id: 'client:1',
      client_secret: SECRET,
    });
  });
});

const serve = (listener: RequestListener) => served(createServer(listener));

/** What becomes of one request to a service whose tokens come from there. */
async function session(url: string, { tokenUrl = '/oauth/token', responseMs = 60_000 } = {}) {
  const {
    session: opened,
    asked,
    evidence,
    journal,
  } = sessionAt(url, {
    ...(await configFor(url)),
    credentials: oauth2.of({ ...CLIENT, tokenUrl }),
    timeouts: { connectMs: 60_000, responseMs },
  });
  const answer = await asked(({ http }) => http.send({ purpose: 'as documented' }));
  const { requestsSent } = await opened.close();
  return {
    requestsSent,
    journal: journal(),
    exchanges: evidence(),
    status: 'value' in answer ? answer.value.exchange.response?.status : null,
    failed: 'failed' in answer ? String(answer.failed) : null,
  };
}

describe('a session', () => {
  it('lets itself in, and keeps the exchange without its secrets', async () => {
    const content = token('access-token-of-a-test', { refresh_token: 'refresh-token-of-a-test' });
    const url = await serve((request, response) => {
      if (request.url === '/oauth/token') return void response.end(content);
      response.statusCode = request.headers.authorization === 'Bearer access-token-of-a-test' ? 200 : 401;
      response.end('{}');
    });
    const { status, exchanges, journal, requestsSent } = await session(url);
    expect(status).toBe(200);
    expect(requestsSent).toBe(2);
    expect(exchanges.map(({ purpose, requests }) => [purpose, requests])).toEqual([
      ['for an access token', 1],
      ['as documented', 1],
    ]);
    expect(journal).not.toMatch(/-token-of-a-test|s3cr/);
    const encoded = Buffer.from(`client%3A1:${encodeURIComponent(SECRET)}`).toString('base64');
    expect(journal).not.toContain(encoded.slice(-20));
    expect(journal).toContain('Bearer [redacted:ACCESS_TOKEN]');
  });

  it('tries wrong requests for tokens with a secret that is made up, and records no token that they get', async () => {
    const sent: string[] = [];
    const url = await serve((request, response) => {
      const [, pair = ''] = /^Basic (.+)$/.exec(request.headers.authorization ?? '') ?? [];
      sent.push(`${request.method} ${request.url} ${Buffer.from(pair, 'base64')}`);
      response.end(token('access-token-of-a-test'));
    });
    const config = { ...(await configFor(url)), credentials: oauth2.of(CLIENT) };
    const { asked, journal } = sessionAt(url, config);
    const trials = ['wrong-secret', 'wrong-client', 'unknown-scope', 'by-get'] as const;
    for (const each of trials) await asked(({ askIssuer }) => askIssuer(each));
    const real = `client%3A1:${encodeURIComponent(SECRET)}`;
    expect(sent).toEqual([
      'POST /oauth/token client%3A1:conform-sends-a-wrong-secret',
      'POST /oauth/token conform-no-such-client:conform-sends-a-wrong-secret',
      `POST /oauth/token ${real}`,
      `GET /oauth/token?grant_type=client_credentials ${real}`,
    ]);
    expect(journal()).not.toMatch(/-token-of-a-test|s3cr/);
    expect(journal()).not.toContain(Buffer.from(real).toString('base64').slice(-20));
  });

  it('asks for a new token, and once more, when the service refuses the one it has', async () => {
    let issued = 0;
    const issuer = await serve((_, response) => void response.end(token(`token-number-${++issued}`)));
    const url = await serve((request, response) => {
      response.statusCode = request.headers.authorization === 'Bearer token-number-2' ? 200 : 401;
      response.end('{}');
    });
    const { status, exchanges, requestsSent } = await session(url, { tokenUrl: `${issuer}/token` });
    expect([status, issued]).toEqual([200, 2]);
    // What is asked of others counts as no request to the service.
    expect([requestsSent, exchanges.map(({ requests }) => requests)]).toEqual([2, [0, 1, 0, 1]]);
  });

  it('takes a service at its word that refuses the new one as well', async () => {
    const url = await serve((request, response) => {
      response.statusCode = request.url === '/oauth/token' ? 200 : 401;
      response.end(token('token-that-opens-nothing'));
    });
    expect(await session(url)).toMatchObject({
      failed: 'Blocked: the token that was obtained with the client secret in CLIENT_SECRET is refused (401)',
      requestsSent: 5,
    });
  });

  it('tells a client that the issuer refuses as that, once', async () => {
    let asked = 0;
    const refused = json({ error: 'invalid_client', error_description: `who is ${SECRET}?` });
    const url = await serve((_, response) => {
      asked += 1;
      response.writeHead(400).end(refused);
    });
    const { failed, journal } = await session(url);
    expect(failed).toBe(
      'Blocked: the client secret in CLIENT_SECRET is refused by /oauth/token (400, invalid_client); check credentials.clientId as well',
    );
    expect(journal).not.toContain('s3cr');
    expect(asked).toBe(1);
  });

  it.each<[string, RequestListener, string, number?]>([
    [
      'refuses the scope',
      (_, response) =>
        void response
          .writeHead(400)
          .end(json({ error: 'invalid_scope', error_description: `what is ${SECRET}?` })),
      'it answered 400, invalid_scope, what is [redacted:CLIENT_SECRET]?; check credentials.scope',
    ],
    [
      'sends clients elsewhere',
      (_, response) => void response.writeHead(302, { location: '/login' }).end(),
      'it answered 302, /login',
    ],
    ['answers no JSON', (_, response) => void response.end('<html>'), 'its answer is no JSON object'],
    ['has no token', (_, response) => void response.end('{}'), 'its answer has no access_token'],
    [
      'has a token of another type',
      (_, response) => void response.end(json({ access_token: 'token-of-a-test', token_type: 'mac' })),
      'its answer has the token_type "mac", and only Bearer can be sent',
    ],
    [
      'has a short token',
      (_, response) => void response.end(token('short')),
      'its access_token has 5 characters',
    ],
    [
      'has a token that no header can carry',
      (_, response) => void response.end(token('token-of\r\na-test')),
      'its access_token holds characters that no header can carry',
    ],
    [
      'has no end',
      (_, response) => void response.end(token('token-of-a-test', { padding: 'x'.repeat(100_000) })),
      'the body goes on after 65536 octets',
    ],
    ['does not answer', () => undefined, 'no status line and fields within 200 ms', 200],
    ['hangs up', (request) => void request.socket.destroy(), 'the connection was closed'],
    [
      'breaks off',
      (_, response) => {
        response.writeHead(200, { 'content-length': 100 });
        response.write('{"access_token":"token-of-a-test', () => response.destroy());
      },
      'the connection was closed within the body',
    ],
  ])('is blocked where the issuer %s', async (_, listener, why, responseMs) => {
    let asked = 0;
    const url = await serve((request, response) => {
      asked += 1;
      listener(request, response);
    });
    const { failed, journal } = await session(url, responseMs === undefined ? {} : { responseMs });
    expect(failed).toContain(
      'Blocked: no access token could be had from /oauth/token (credentials.tokenUrl): ',
    );
    expect(failed).toContain(why);
    expect(journal + failed).not.toMatch(/token-of-a-test|"short"|s3cr/);
    expect(asked).toBe(1);
  });

  it('is blocked where nobody issues tokens', async () => {
    const { failed } = await session('http://127.0.0.1:9', { tokenUrl: 'http://127.0.0.1:9/token' });
    expect(failed).toMatch(/\(credentials\.tokenUrl\): .*ECONNREFUSED/);
  });

  it('sends no client secret readable to another machine', async () => {
    const { failed } = await session('http://127.0.0.1:9', { tokenUrl: 'http://192.0.2.1/token' });
    expect(failed).toMatch(/a secret is not sent over plain http to 192\.0\.2\.1/);
  });

  it('reads a token that is compressed, and keeps no content that it cannot read', async () => {
    const codings: readonly string[] = ['gzip', 'unknown'];
    for (const coding of codings) {
      const url = await serve((request, response) => {
        response.setHeader('content-encoding', coding);
        const content = token('token-of-a-test');
        response.end(request.url !== '/oauth/token' || coding !== 'gzip' ? content : gzipSync(content));
      });
      const { journal, status } = await session(url);
      expect(status).toBe(coding === 'gzip' ? 200 : null);
      expect(journal).not.toContain('token-of-a-test');
      expect(journal).not.toContain(Buffer.from('token-of-a-test').toString('base64'));
    }
  });
});

describe('the reference provider', () => {
  it('gives out tokens that open it until they end', async () => {
    const clock = new VirtualClock(0);
    const provider = await started('search', { credentials: oauth2.of(CLIENT), clock });
    const asked = (body: string, authorization: string | null = null) =>
      ask(provider, { method: 'POST', target: '/oauth/token', authorization, body });
    const form = `grant_type=client_credentials&client_id=client%3A1&client_secret=${encodeURIComponent(SECRET)}`;
    const given = await asked(form);
    expect([given.status, given.field('cache-control')]).toEqual([200, 'no-store']);
    const { access_token } = given.json as { readonly access_token: string };
    const status = async () => (await ask(provider, { authorization: `Bearer ${access_token}` })).status;
    expect(await status()).toBe(200);
    clock.advance(119_999);
    expect(await status()).toBe(200);
    clock.advance(1);
    expect(await status()).toBe(401);
    expect((await asked(form.replace('s3cr', 'x'))).json).toEqual({ error: 'invalid_client' });
    expect((await asked(form.replace('client_credentials', 'password'))).status).toBe(400);
    expect((await ask(provider, { target: '/oauth/token' })).status).toBe(405);
  });
});

import type { IncomingMessage, RequestListener } from 'node:http';
import { createServer } from 'node:http';
import { describe, expect, it } from 'vitest';
import { WebSocketServer } from 'ws';
import { sample } from '../../../suites/stimuli/sample.ts';
import { opening } from '../../../suites/websocket/stimuli/ordinary-client.ts';
import { served as listening } from '../../base/fixtures/server.ts';
import { Blocked } from '../../base/verdict.ts';
import { loadOrders, ORDERS_CONTRACT } from '../../config/fixtures/config-folder.ts';
import { echoing } from '../../wire/fixtures/ws-endpoint.ts';
import { sessionAt } from './fixtures/session.ts';
import type { Probe } from './probe.ts';

const KEY = 'example-key-for-orders';
const EXPIRED = 'key-that-has-expired';

const hasKey = ({ headers }: IncomingMessage) => headers.authorization === `Bearer ${KEY}`;

function answers(status: (request: IncomingMessage) => number): RequestListener {
  return (request, response) => {
    const code = status(request);
    response.writeHead(code, code === 401 ? { 'WWW-Authenticate': 'Bearer realm="orders"' } : {}).end('{}');
  };
}

/** Who is let in meets an echo at `/ws`; `late`: everybody is, and who has no key is closed with 4401. */
async function served(listener: RequestListener, late = false): Promise<string> {
  const server = createServer(listener);
  const sockets = new WebSocketServer({
    server,
    verifyClient: ({ req }: { readonly req: IncomingMessage }) => late || hasKey(req),
  });
  sockets.on('connection', (client, request) => {
    client.on('error', () => undefined);
    if (hasKey(request)) echoing(client);
    else client.close(4401);
  });
  return listening(server);
}

interface Asked {
  readonly listener: RequestListener;
  readonly config: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly first?: Probe<unknown>;
  readonly late?: boolean;
}

/** What becomes of a session whose first request is this, and of the next one. */
async function asked({ listener, config, files = {}, env = {}, first = sample, late = false }: Asked) {
  const url = await served(listener, late);
  const text = `service: orders\ncontract: orders\nprovider: { url: '${url}' }\n${config}\n`;
  const { config: loaded } = await loadOrders(text, { env: { PATH: process.env.PATH, ...env } }, files);
  const { session, remarks, journal } = sessionAt(url, loaded);
  const answer = await session.ask(first, AbortSignal.timeout(170_000));
  const { outage } = session;
  const { requestsSent } = await session.close();
  expect(journal() + outage).not.toContain(EXPIRED);
  return {
    failed: 'failed' in answer ? answer.failed : null,
    outage,
    requestsSent,
    remarks: remarks(),
  };
}

const BEARER = `credentials: { scheme: bearer, key: "\${env:ORDERS_API_KEY}" }`;
const refusing = answers((request) => (hasKey(request) ? 200 : 401));

describe('a key of the run that the service refuses', () => {
  it.each<[credentials: string, reason: string, requests: number]>([
    [`scheme: bearer, key: "\${env:SECRET}"`, 'the key in SECRET is refused (401)', 2],
    [
      `scheme: header, name: X-Key, key: "\${file:key.txt}"`,
      'the key in the file key.txt is refused (401)',
      2,
    ],
    [
      `scheme: query, name: key, key: "\${exec:echo ${EXPIRED}}"`,
      'the key in the output of the command of credentials.key is refused (401)',
      2,
    ],
    [`scheme: bearer, key: ${EXPIRED}`, 'the key in credentials.key is refused (401)', 2],
    [`scheme: basic, username: me, password: "\${env:SECRET}"`, 'the password in SECRET is refused (401)', 2],
    [
      `scheme: signed, app: { id: "1", key: "2", secret: "\${env:SECRET}" }`,
      'the secret in SECRET is refused (401)',
      2,
    ],
    [
      `scheme: oauth2, tokenUrl: /token, clientId: me, clientSecret: "\${env:SECRET}"`,
      'the client secret in SECRET is refused by /token (401); check credentials.clientId as well',
      1,
    ],
  ])('is named by its place, and nothing more is sent: %s', async (credentials, reason, requests) => {
    const config = `credentials: { ${credentials} }`;
    const files = { 'services/key.txt': EXPIRED };
    const told = await asked({ listener: refusing, config, files, env: { SECRET: EXPIRED } });
    expect(told).toEqual({
      failed: new Blocked(reason),
      outage: reason,
      requestsSent: requests,
      remarks: [],
    });
  });

  it.each([
    ['the answer to the handshake', false, '401'],
    ['the documented close code', true, 'close code 4401'],
  ])('is told of a WebSocket by %s', async (_, late, as) => {
    const told = await asked({
      listener: answers(() => 404),
      config: `${BEARER}\nwebsocket: { url: /ws, echo: true, refusalCode: 4401 }`,
      files: {
        'contracts/orders.yaml': ORDERS_CONTRACT.replace(/ {2}- key: endpoint\.sample[\s\S]*?row: 1 }\n/, ''),
      },
      env: { ORDERS_API_KEY: EXPIRED },
      first: opening,
      late,
    });
    expect([told.outage, told.requestsSent]).toEqual([`the key in ORDERS_API_KEY is refused (${as})`, 2]);
  });

  it('is told where anybody may read without one', async () => {
    const listener = answers(({ headers }) => (headers.authorization === undefined ? 200 : 401));
    const told = await asked({ listener, config: BEARER, env: { ORDERS_API_KEY: EXPIRED } });
    expect(told.outage).toBe('the key in ORDERS_API_KEY is refused (401)');
  });
});

describe('what may have another cause', () => {
  const scoped: RequestListener = (_, response) =>
    void response.writeHead(401, { 'WWW-Authenticate': 'Bearer error="insufficient_scope"' }).end();
  const once = () => {
    let count = 0;
    return answers(() => (++count === 1 ? 401 : 200));
  };
  it.each<[what: string, listener: RequestListener, remark: string | null]>([
    ['403: the account, or the path', answers(() => 403), 'it was answered 403'],
    [
      'an operation is served',
      answers(({ url }) => (url === '/orders' ? 401 : 200)),
      'it was answered 401 once, and GET /items is served with it, the handshake at /ws is served with it',
    ],
    [
      'the WebSocket is served, and the operation is not there',
      answers(({ url }) => (url === '/orders' ? 401 : 404)),
      'it was answered 401 once, and GET /items is answered 404, the handshake at /ws is served with it',
    ],
    [
      'the same request is served a moment later',
      once(),
      'it was answered 401 once, and GET /orders is served with it, GET /items is served with it, the handshake at /ws is served with it',
    ],
    ['the token is good, and not for this', scoped, null],
  ])('is said, and the run goes on: %s', async (_, listener, remark) => {
    const told = await asked({
      listener,
      config: `${BEARER}\nwebsocket: { url: /ws }\noperations: [{ id: items, method: GET, path: /items }]`,
      env: { ORDERS_API_KEY: KEY },
    });
    const expected = remark && `whether the key in ORDERS_API_KEY is refused is not certain: ${remark}`;
    expect(told).toMatchObject({ failed: null, outage: null, remarks: expected === null ? [] : [expected] });
  });
});

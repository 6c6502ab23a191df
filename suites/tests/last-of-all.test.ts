import { createServer, type IncomingMessage } from 'node:http';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { WebSocketServer } from 'ws';
import { serving } from '../../harness/base/fixtures/server.ts';
import { loadOrders } from '../../harness/config/fixtures/config-folder.ts';
import { suitesFor } from '../../harness/engine/check/check.ts';
import { echoing } from '../../harness/wire/fixtures/ws-endpoint.ts';
import { suites } from '../catalogue.ts';
import { configFor, type Judged, judgedInTurn, KEY } from './fixtures/judged.ts';

/** What a service may fall over is sent after everything else: whatever it does to the service, the rest is known by then. */

type Fatal = (request: IncomingMessage) => boolean;

/** How it falls: the process ends, or hangs and answers nobody from then on. */
type Fall = 'ends' | 'hangs';

/** `GET /v1/resources` with a key; falls upon what is fatal. */
async function fragile(isFatal: Fatal, fall: Fall): Promise<Judged> {
  let hasFallen = false;
  const server = createServer({ maxHeaderSize: 64 * 1024 }, (request, response) => {
    hasFallen ||= isFatal(request);
    if (hasFallen && fall === 'hangs') return;
    if (hasFallen) {
      server.close();
      server.closeAllConnections();
      return;
    }
    const answer = (status: number, content: unknown) =>
      response
        .writeHead(status, {
          'Content-Type': 'application/json',
          'WWW-Authenticate': 'Bearer realm="orders"',
        })
        .end(JSON.stringify(content));
    if (request.headers.authorization !== `Bearer ${KEY}`) return answer(401, { error: 'who are you?' });
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    if (pathname !== '/v1/resources') return answer(404, { error: 'not found' });
    if (request.method !== 'GET' && request.method !== 'HEAD') return answer(405, { error: 'not allowed' });
    return answer(200, { resources: [], total: 0 });
  });
  const { url, stop } = await serving(server);
  const { pacts: _, ...config } = await configFor(url);
  const safety = { ...config.safety, exceedRateLimit: false, unsafeMethods: false };
  const timeouts = { connectMs: 1_000, responseMs: 400 };
  return judgedInTurn({ ...config, operations: [], safety, timeouts }, suites).finally(stop);
}

const FATAL: Readonly<Record<string, Fatal>> = {
  'with malformed percent-encoding in the path': ({ url }) => url?.includes('%zz') ?? false,
  'with a 12,000-octet query': ({ url }) => (url?.length ?? 0) > 10_000,
  'with quotes, brackets and markup in the query': ({ url }) => url?.includes('__proto__') ?? false,
  'with a 20,000-octet header field': ({ headers }) =>
    String(headers['x-conform-long'] ?? '').length > 15_000,
};

/** Of everything that was judged or is blocked, without the services that nothing is configured of. */
function told({ outcomes, messages, unconfigured }: Judged) {
  const ids = Object.keys(outcomes).filter((id) => outcomes[id] !== 'skipped' && !unconfigured.has(id));
  return ids.map((id) => ({ id, outcome: outcomes[id], message: messages[id] ?? '' }));
}

describe.each<Fall>(['ends', 'hangs'])('a service that %s', (fall) => {
  let whole: ReturnType<typeof told>;
  beforeAll(async () => {
    whole = told(await fragile(() => false, fall));
  });

  it.each(Object.keys(FATAL))(
    'upon a request %s: is told with it, and all else is known',
    async (purpose) => {
      const isFatal = FATAL[purpose] ?? (() => false);
      const fallen = told(await fragile(isFatal, fall));
      const blocked = fallen.filter(({ outcome }) => outcome === 'blocked');
      const before = fallen.filter(({ outcome }) => outcome !== 'blocked');
      // The checks that need nothing risky say what they say of a service that stands.
      const alike = before.filter(
        ({ id, outcome }) => whole.find((each) => each.id === id)?.outcome === outcome,
      );
      expect(alike.length).toBeGreaterThan(40);
      const reasons = [...new Set(blocked.map(({ message }) => message))];
      expect(reasons).toHaveLength(1);
      expect(reasons[0]).toMatch(new RegExp(`; it stopped answering after GET ${purpose}.* \\(e\\d+\\)$`));
      const others = before.filter((each) => !alike.includes(each));
      expect(others.map(({ message }) => message).join()).toContain('and nothing has been served since');
      expect(others).toHaveLength(1);
    },
  );
});

it('what may be fatal comes all together, and behind it only what uses up the quota', async () => {
  const seen: IncomingMessage[] = [];
  await fragile((request) => {
    seen.push(request);
    return false;
  }, 'ends');
  const isRisky = ({ url = '', rawHeaders, headers }: IncomingMessage) =>
    /%zz|__proto__/.test(url) ||
    url.length > 2_000 ||
    rawHeaders.some((text) => text.length > 2_000) ||
    rawHeaders.filter((name) => /^host$/i.test(name)).length !== 1 ||
    /[^\x20-\x7e]/.test(headers.authorization ?? '');
  const first = seen.findIndex(isRisky);
  expect(first).toBeGreaterThan(30);
  const between = seen.slice(first, seen.findLastIndex(isRisky)).filter((request) => !isRisky(request));
  expect(between.map(({ method, url }) => `${method} ${url}`)).toEqual([]);
});

it('a WebSocket endpoint that falls over a broken frame is known as far as whole ones show it', async () => {
  const server = createServer((_, response) => void response.writeHead(426).end());
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket) => {
    socket.on('error', () => {
      server.close();
      for (const each of sockets.clients) each.terminate();
    });
    echoing(socket);
  });
  const { url, stop } = await serving(server);
  onTestFinished(stop);
  const text = `service: orders
contract: orders
provider: { url: '${url}' }
credentials: { scheme: none }
websocket: { url: /ws, echo: true }
`;
  const { config } = await loadOrders(text);
  const all = await judgedInTurn(
    config,
    suitesFor(
      suites.filter(({ name }) => name === 'websocket'),
      config,
    ),
  );
  const said = told(all);
  expect(said.filter(({ outcome }) => outcome === 'pass').length).toBeGreaterThan(20);
  const reasons = new Set(said.filter(({ outcome }) => outcome === 'blocked').map(({ message }) => message));
  const [upon = ''] = [...reasons].flatMap(
    (reason) => /; it stopped answering after (a WebSocket.*) \(e\d+\)$/.exec(reason)?.[1] ?? [],
  );
  expect(
    [...reasons].filter((reason) => reason.includes('stopped answering after a WebSocket')),
  ).toHaveLength(1);
  expect(said.find(({ id }) => id === 'websocket.others-kept')).toMatchObject({
    outcome: 'warning',
    message: expect.stringContaining(`on another one for ${upon}, and nothing has been served since`),
  });
});

import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { WebSocketServer } from 'ws';
import type { Files } from '../../base/fixtures/folder.ts';
import { serving } from '../../base/fixtures/server.ts';
import { ORDERS_CONTRACT } from '../../config/fixtures/config-folder.ts';
import { conformOver, lastReports, unbroken } from '../../engine/fixtures/conform-process.ts';
import { echoing, startWsEndpoint } from '../../wire/fixtures/ws-endpoint.ts';
import { readJournal } from '../../wire/record/journal.ts';

/** What is the run's own matter, or the config's, is told as that: the exit code and the first line. */

const KEY = 'example-key-for-orders';
const stops: (() => Promise<void>)[] = [];
afterAll(() => Promise.all(stops.map((stop) => stop())));

/** A server on this machine with a WebSocket echo at `/ws` for whoever is let in. */
async function served(listener: RequestListener, letsIn: (request: IncomingMessage) => boolean) {
  const server = createServer(listener);
  const sockets = new WebSocketServer({
    server,
    verifyClient: ({ req }: { readonly req: IncomingMessage }) => letsIn(req),
  });
  sockets.on('connection', echoing);
  const { url, stop } = await serving(server);
  stops.push(stop);
  return url;
}

const hasKey = ({ headers }: IncomingMessage) => headers.authorization === `Bearer ${KEY}`;

function answers(status: (request: IncomingMessage) => number): RequestListener {
  return (request, response) => {
    const code = status(request);
    const challenge = code === 401 ? { 'WWW-Authenticate': 'Bearer realm="orders"' } : {};
    response.writeHead(code, { 'Content-Type': 'application/json', ...challenge });
    response.end('{}');
  };
}

const refusing = answers((request) => (hasKey(request) ? 200 : 401));

/** The config of a service `orders`, and of others at the same place. */
function configOf(url: string, config: string, others: Files = {}): Files {
  const service = `service: orders\ncontract: orders\nprovider: { url: '${url}' }\n${config}\n`;
  return { 'contracts/orders.yaml': ORDERS_CONTRACT, 'services/orders.yaml': service, ...others };
}

async function judged(files: Files, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const told = await conformOver(files, args, env);
  // The block on top, as one line.
  const first = unbroken(told.stdout.split('\n\n')[0] ?? '');
  return { ...told, first, service: told.results().services[0] };
}

const BEARER = `credentials: { scheme: bearer, key: "\${env:ORDERS_API_KEY}" }`;
const RIGHT = { ORDERS_API_KEY: KEY };

describe.concurrent('a key of the run that the service refuses', () => {
  it('is told by its place, and keeps no other service from its verdict', async () => {
    const url = await served(refusing, hasKey);
    const stock = `service: stock\ncontract: orders\nprovider: { url: '${url}' }\n${BEARER.replace('ORDERS', 'STOCK')}\n`;
    const files = configOf(url, BEARER, { 'services/stock.yaml': stock });
    const env = { ORDERS_API_KEY: 'key-that-has-expired', STOCK_API_KEY: KEY };
    const { code, stdout } = await conformOver(files, ['--check', 'status.sample'], env);
    expect(code).toBe(3);
    expect(stdout).toMatch(
      /^⊘ orders {2}inconclusive: the key in ORDERS_API_KEY is refused \(401\) \(fault\s+of\s+conform's\s+config\):\s+1 blocked · /m,
    );
    expect(stdout).toMatch(/^◐ stock {3}1 of \d+ checks were selected: 1 passed · /m);
  });
});

describe.concurrent('an endpoint that the config calls an echo', () => {
  it('and that speaks something else, is told as that', async () => {
    const { url, stop } = await startWsEndpoint((socket) => {
      socket.send('welcome');
      socket.on('message', () => socket.send('{"error":"subscribe first"}'));
    });
    stops.push(stop);
    const files = configOf(url, 'credentials: { scheme: none }\nwebsocket: { url: /ws, echo: true }');
    const { code, first } = await judged(files, ['--check', 'websocket.echo-*']);
    expect([code, first]).toEqual([
      3,
      expect.stringMatching(
        /^⊘ orders inconclusive: websocket\.echo is set, and the endpoint does not echo: it answers with a text message/,
      ),
    ]);
  });
});

describe.concurrent('what the run itself has done', () => {
  it('is said where it came back after 429 that named no time', async () => {
    let count = 0;
    const url = await served(
      answers(() => (++count <= 2 ? 429 : 200)),
      hasKey,
    );
    const files = configOf(url, `${BEARER}\nplan: { requests: 10, window: 1s }`);
    const told = await judged(files, ['--check', 'status.sample'], RIGHT);
    expect([told.code, told.first]).toEqual([
      0,
      expect.stringMatching(/^◐ orders 1 of \d+ checks were selected: 1 passed · /),
    ]);
    const remark = expect.stringMatching(
      /^2 answers 429 without Retry-After: the run waited \d s of its own accord and came back$/,
    );
    expect(told.service?.remarks).toEqual([remark]);
    for (const said of [told.stdout, told.report('index.html'), told.report('summary.md')])
      expect(unbroken(said)).toContain('2 answers 429 without Retry-After');
  });

  it('is counted once, and each request is called what it is', async () => {
    const token = { access_token: KEY, token_type: 'bearer' };
    const url = await served(
      (request, response) =>
        request.url === '/token' ? void response.end(JSON.stringify(token)) : refusing(request, response),
      hasKey,
    );
    const files = configOf(
      url,
      `credentials: { scheme: oauth2, tokenUrl: /token, clientId: me, clientSecret: "\${env:ORDERS_API_KEY}" }
websocket: { url: /ws, echo: true }`,
    );
    const args = ['--check', 'status.sample', 'websocket.echo-text'];
    const told = await judged(files, args, { ORDERS_API_KEY: 'secret-of-a-client' });
    const words = '4 requests (2 WebSocket handshakes, 1 for a token)';
    expect(told.stdout).toContain(`  ${words}, `);
    expect(told.report('index.html')).toContain('<dt>Requests</dt><dd>4</dd>');
    expect(told.report('summary.md')).toMatch(/\| 2 \| 4 \|$/m);
    const { requestsSent = 0, ledger = [] } = told.service ?? {};
    expect([requestsSent, ledger.map(({ kind }) => kind)]).toEqual([
      4,
      ['token', undefined, 'handshake', 'handshake'],
    ]);
    const { entries } = readJournal(join(lastReports(told.reports), 'journal.ndjson'));
    const counts = (entries as Record<string, unknown>[]).flatMap(({ type, requests, requestsSent: sent }) =>
      type === 'evidence' ? [requests] : type === 'service-finished' ? [sent] : [],
    );
    expect(counts).toEqual([1, 1, 1, 1, 4]);
  });
});

describe.concurrent('operations beyond those that fit into a few minutes', () => {
  const contract = readFileSync(new URL('../../../config/contracts/search.yaml', import.meta.url), 'utf8');
  const operations = Array.from(
    { length: 500 },
    (_, page) => `  - { id: page-${page}, method: GET, path: "/v1/resources?page=${page}" }`,
  );
  const files = {
    'contracts/search.yaml': contract,
    'services/orders.yaml': `service: orders
contract: search
provider: { reference: search }
credentials: { scheme: bearer, key: ${KEY} }
plan: { requests: 534, window: 1h }
safety: { exceedRateLimit: false }
operations:
${operations.join('\n')}
`,
  };
  // Half of what nine tenths of the plan admit.
  const EXERCISED = '120 of 500 operations were exercised';

  it('are not exercised, and told everywhere', async () => {
    const told = await judged(files, ['--real-time']);
    expect([told.code, told.first]).toEqual([0, expect.stringContaining(`◐ orders ${EXERCISED} (`)]);
    expect(unbroken(told.stdout)).toContain(`Only ${EXERCISED} (`);
    expect(told.stderr.split('\n')[0]).toMatch(/, only 120 of 500 operations would be exercised$/);
    for (const name of ['index.html', 'summary.md', 'junit.xml'])
      expect(told.report(name)).toContain(EXERCISED);
    expect(told.service?.coverage).toContainEqual({ request: 'call', sent: 120, capped: 380 });
  });

  it('are told before anything is sent', async () => {
    const { stdout } = await conformOver(files, ['--dry-run']);
    expect(stdout).toContain(
      '\n  only 120 of 500 operations would be exercised (safety.operationRequests)\n',
    );
  });
});

describe.concurrent('what a run would do', () => {
  it('is told before anything is sent, and is what the run says first', async () => {
    let asked = 0;
    const url = await served((request, response) => {
      asked += 1;
      refusing(request, response);
    }, hasKey);
    const files = configOf(url, BEARER);
    const dry = await conformOver(files, ['--suite', 'auth', '--dry-run'], RIGHT);
    expect([dry.code, asked]).toEqual([0, 0]);
    const [, cost = '', usual = '', most = ''] =
      /^orders {2}(about (\d+) requests, at most (\d+), in [\d.]+ m?s(?: to [\d.]+ m?s)?), to http/.exec(
        dry.stdout,
      ) ?? [];
    expect(dry.stdout).toContain(`, to ${url}\n`);
    expect(dry.stdout).toMatch(/^ {4}auth +\d+ checks +\d+ requests$/m);
    expect(dry.stdout).toMatch(/^ {4}\d+ requests with a wrong credential, which may lock an account$/m);
    expect(dry.stdout).toMatch(/\nNothing was sent\.\n$/);
    const { service, stderr } = await judged(files, ['--suite', 'auth'], RIGHT);
    expect(stderr.split('\n')[0]).toBe(`orders: started ${service?.checks.length} checks, ${cost}`);
    expect(asked).toBeLessThanOrEqual(Number(most));
    expect(asked).toBeGreaterThan(0.8 * Number(usual));
  });
});

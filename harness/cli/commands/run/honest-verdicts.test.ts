import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { WebSocketServer } from 'ws';
import { temporaryFolder } from '../../../base/fixtures/folder.ts';
import { serving } from '../../../base/fixtures/server.ts';
import { ORDERS_CONTRACT } from '../../../config/fixtures/config-folder.ts';
import { readJournal } from '../../../evidence/record/journal.ts';
import { readResults } from '../../../report/results/read-results.ts';
import { conform, lastReports } from '../../../run/fixtures/conform-process.ts';
import { echoing, startWsEndpoint } from '../../../transport/fixtures/ws-endpoint.ts';

/** What is the run's own matter, or the config's, is told as that: the exit code and the first line. */

const KEY = 'example-key-for-orders';
const stops: (() => Promise<void>)[] = [];
afterAll(() => Promise.all(stops.map((stop) => stop())));

/** A server on this machine with a WebSocket echo at `/ws` for whoever is let in. */
async function served(listener: RequestListener, letsIn: (request: IncomingMessage) => boolean) {
  const server = createServer(listener);
  const sockets = new WebSocketServer({ noServer: true });
  server.on('upgrade', (request, socket, head) => {
    if (!letsIn(request)) {
      return void socket.end(
        'HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Bearer\r\nContent-Length: 0\r\n\r\n',
      );
    }
    sockets.handleUpgrade(request, socket, head, (client) => {
      client.on('error', () => undefined);
      echoing(client);
    });
  });
  const { url, stop } = await serving(server);
  stops.push(stop);
  return url;
}

const hasKey = ({ headers }: IncomingMessage) => headers.authorization === `Bearer ${KEY}`;

function answers(status: (request: IncomingMessage) => number, content: object = {}): RequestListener {
  return (request, response) => {
    const code = status(request);
    const challenge = code === 401 ? { 'WWW-Authenticate': 'Bearer realm="orders"' } : {};
    response.writeHead(code, { 'Content-Type': 'application/json', ...challenge });
    response.end(JSON.stringify(content));
  };
}

const refusing = answers((request) => (hasKey(request) ? 200 : 401));

interface Told {
  readonly code: number | null;
  /** The block on top, as one line. */
  readonly first: string;
  readonly stdout: string;
  readonly stderr: string;
  readonly html: string;
  readonly summary: string;
  readonly junit: string;
  readonly journal: readonly Readonly<Record<string, unknown>>[];
  readonly service: ReturnType<typeof readResults>['services'][number] | undefined;
}

interface Run {
  readonly url: string;
  /** What stands below `service:`, `contract:` and `provider:`. */
  readonly config: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

function inOrders<T>({ url, config, files = {} }: Run, use: (folder: string) => Promise<T>): Promise<T> {
  const service = `service: orders\ncontract: orders\nprovider: { url: '${url}' }\n${config}\n`;
  const written = { 'contracts/orders.yaml': ORDERS_CONTRACT, 'services/orders.yaml': service, ...files };
  return use(temporaryFolder(written));
}

function told(run: Run): ReturnType<typeof conform>['ended'] {
  return inOrders(
    run,
    (folder) => conform(['run', 'orders', '--config', folder, ...(run.args ?? [])], run.env ?? {}).ended,
  );
}

function judged(run: Run): Promise<Told> {
  return inOrders(run, (folder) => judgedIn(folder, run.args, run.env));
}

async function judgedIn(folder: string, more: Run['args'] = [], env: Run['env'] = {}): Promise<Told> {
  const reports = join(folder, 'reports');
  const args = ['run', 'orders', '--config', folder, '--reports', reports, ...more];
  const { code, stdout, stderr } = await conform(args, env).ended;
  const at = (file: string) => join(lastReports(reports), file);
  const [first] = readResults(at('results.json')).services;
  return {
    code,
    first: (stdout.split('\n\n')[0] ?? '').replaceAll(/\s+/g, ' '),
    stdout,
    stderr,
    html: readFileSync(at('index.html'), 'utf8'),
    summary: readFileSync(at('summary.md'), 'utf8'),
    junit: readFileSync(at('junit.xml'), 'utf8'),
    journal: readJournal(at('journal.ndjson')).entries as Told['journal'],
    service: first,
  };
}

const BEARER = `credentials: { scheme: bearer, key: "\${env:ORDERS_API_KEY}" }`;
const EXPIRED = { ORDERS_API_KEY: 'key-that-has-expired' };

describe.concurrent('a key of the run that the service refuses', () => {
  it('is told at once, by its place, and held against nothing', async () => {
    const url = await served(refusing, hasKey);
    const told = await judged({ url, config: BEARER, env: EXPIRED });
    expect([told.code, told.first]).toEqual([
      3,
      expect.stringMatching(
        /^⊘ orders inconclusive: the key in ORDERS_API_KEY is refused \(401\): \d+ blocked/,
      ),
    ]);
    expect(told.service?.requestsSent).toBe(2);
    const outcomes = new Set(told.service?.checks.map(({ outcome }) => outcome));
    expect([...outcomes].sort()).toEqual(['blocked', 'skipped']);
  });

  it('is no more than a remark where that is not certain', async () => {
    const url = await served(
      answers(() => 403),
      hasKey,
    );
    const told = await judged({
      url,
      config: BEARER,
      args: ['--suite', 'status'],
      env: { ORDERS_API_KEY: KEY },
    });
    const remark = 'whether the key in ORDERS_API_KEY is refused is not certain: it was answered 403';
    expect(told.service).toMatchObject({ trouble: null, remarks: [remark] });
    expect(told.stdout.replaceAll(/\s+/g, ' ')).toContain(` note: ${remark} `);
  });

  it('keeps no other service from its verdict', async () => {
    const url = await served(refusing, hasKey);
    const folder = temporaryFolder({
      'contracts/orders.yaml': ORDERS_CONTRACT,
      'services/orders.yaml': `service: orders\ncontract: orders\nprovider: { url: '${url}' }\n${BEARER}\n`,
      'services/stock.yaml': `service: stock\ncontract: orders\nprovider: { url: '${url}' }\n${BEARER.replace('ORDERS', 'STOCK')}\n`,
    });
    const reports = join(folder, 'reports');
    const args = ['run', '--config', folder, '--reports', reports, '--check', 'status.sample'];
    const { code, stdout } = await conform(args, { ...EXPIRED, STOCK_API_KEY: KEY }).ended;
    expect(code).toBe(3);
    expect(stdout).toMatch(
      /^⊘ orders {2}inconclusive: the key in ORDERS_API_KEY is refused \(401\): 1 blocked$/m,
    );
    expect(stdout).toMatch(/^◐ stock {3}1 of \d+ checks were selected: 1 passed · /m);
  });
});

describe.concurrent('a run of some checks', () => {
  it.each([
    [[], 0, /^◐ orders 1 of \d+ checks were selected: 1 passed · /],
    [['--strict'], 3, /^⊘ orders inconclusive: 1 passed · /],
    [['--strict', '--partial'], 0, /^◐ orders 1 of \d+ checks were selected: 1 passed · /],
  ])('never conforms, and is no release: %j', async (more, code, first) => {
    const url = await served(refusing, hasKey);
    const told = await judged({
      url,
      config: BEARER,
      args: ['--check', 'status.sample', ...more],
      env: { ORDERS_API_KEY: KEY },
    });
    expect(told.code).toBe(code);
    expect(told.first).toMatch(first);
    expect(told.stdout).not.toMatch(/orders conforms/);
  });
});

describe.concurrent('what is wrong with the config', () => {
  it('is told of all files at once, before anything is sent', async () => {
    const unset = (name: string) =>
      `service: ${name}\ncontract: orders\nprovider: { url: "\${env:URL_OF_${name}}" }\n${BEARER.replace('ORDERS', name)}\n`;
    const folder = temporaryFolder({
      'contracts/orders.yaml': ORDERS_CONTRACT,
      'services/orders.yaml': unset('orders'),
      'services/stock.yaml': `${unset('stock')}plam: 3\n`,
    });
    const { code, stderr } = await conform(['run', '--config', folder], {}).ended;
    expect([code, stderr.split('\n')[0]]).toEqual([2, 'conform: 5 things are wrong']);
    for (const name of ['URL_OF_orders', 'orders_API_KEY', 'URL_OF_stock', 'stock_API_KEY'])
      expect(stderr).toContain(`the environment variable ${name} is not set`);
  });
});

describe.concurrent('an endpoint that the config calls an echo', () => {
  it('and that speaks something else, is told as that', async () => {
    const { url, stop } = await startWsEndpoint((socket) => {
      socket.send('welcome');
      socket.on('message', () => socket.send('{"error":"subscribe first"}'));
    });
    stops.push(stop);
    const { code, first } = await judged({
      url,
      config: 'credentials: { scheme: none }\nwebsocket: { url: /ws, echo: true }',
      args: ['--check', 'websocket.echo-*'],
    });
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
    const told = await judged({
      url,
      config: `${BEARER}\nplan: { requests: 10, window: 1s }`,
      args: ['--check', 'status.sample'],
      env: { ORDERS_API_KEY: KEY },
    });
    expect([told.code, told.first]).toEqual([
      0,
      expect.stringMatching(/^◐ orders 1 of \d+ checks were selected: 1 passed · /),
    ]);
    const remark = expect.stringMatching(
      /^2 answers 429 without Retry-After: the run waited \d s of its own accord and came back$/,
    );
    expect(told.service?.remarks).toEqual([remark]);
    for (const report of [told.stdout, told.html, told.summary]) {
      expect(report.replaceAll(/\s+/g, ' ')).toContain('2 answers 429 without Retry-After');
    }
  });

  it('is counted once, and each request is called what it is', async () => {
    const token = { access_token: KEY, token_type: 'bearer' };
    const url = await served(
      (request, response) =>
        request.url === '/token' ? void response.end(JSON.stringify(token)) : refusing(request, response),
      hasKey,
    );
    const told = await judged({
      url,
      config: `credentials: { scheme: oauth2, tokenUrl: /token, clientId: me, clientSecret: "\${env:ORDERS_API_KEY}" }
websocket: { url: /ws, echo: true }`,
      args: ['--check', 'status.sample', 'websocket.echo-text'],
      env: { ORDERS_API_KEY: 'secret-of-a-client' },
    });
    const words = '4 requests (2 WebSocket handshakes, 1 for a token)';
    expect(told.stdout).toContain(`  ${words}, `);
    expect(told.html).toContain('<dt>Requests</dt><dd>4</dd>');
    expect(told.summary).toMatch(/\| 2 \| 4 \|$/m);
    const { requestsSent = 0, ledger = [] } = told.service ?? {};
    expect([requestsSent, ledger.map(({ kind }) => kind)]).toEqual([
      4,
      ['token', undefined, 'handshake', 'handshake'],
    ]);
    const counts = told.journal.flatMap(({ type, requests, requestsSent: sent }) =>
      type === 'evidence' ? [requests] : type === 'service-finished' ? [sent] : [],
    );
    expect(counts).toEqual([1, 1, 1, 1, 4]);
  });
});

describe.concurrent('operations beyond those that fit into a few minutes', () => {
  const contract = readFileSync(new URL('../../../../config/contracts/search.yaml', import.meta.url), 'utf8');
  const operations = Array.from(
    { length: 500 },
    (_, page) => `  - { id: page-${page}, method: GET, path: "/v1/resources?page=${page}" }`,
  );
  const capped = (more: string) => ({
    'contracts/search.yaml': contract,
    'services/orders.yaml': `service: orders
contract: search
provider: { reference: search }
credentials: { scheme: bearer, key: ${KEY} }
${more}
operations:
${operations.join('\n')}
`,
  });
  const EXERCISED = '120 of 500 operations were exercised';
  // Half of what nine tenths of it admit.
  const byPlan = capped('plan: { requests: 534, window: 1h }\nsafety: { exceedRateLimit: false }');
  const byUser = capped(
    'plan: { requests: 1000, window: 1h }\nsafety: { exceedRateLimit: false, operationRequests: 240 }',
  );

  it.each([
    ['for the plan', byPlan, [], 0, `◐ orders ${EXERCISED}: `, `Only ${EXERCISED}; nothing failed.`],
    [
      'for the user, in a strict run',
      byUser,
      ['--strict'],
      3,
      '⊘ orders inconclusive: ',
      `A strict run leaves nothing out, and only ${EXERCISED} (--partial allows that).`,
    ],
  ])('are not exercised, and told everywhere: %s', async (_, files, args, code, first, sentence) => {
    const told = await judgedIn(temporaryFolder(files), ['--real-time', ...args]);
    expect([told.code, told.first]).toEqual([code, expect.stringContaining(first)]);
    expect(told.stdout.replaceAll(/\s+/g, ' ')).toContain(sentence);
    expect(told.stderr.split('\n')[0]).toMatch(/, only 120 of 500 operations would be exercised$/);
    for (const report of [told.html, told.summary, told.junit]) expect(report).toContain(EXERCISED);
    expect(told.service?.coverage).toContainEqual({ request: 'call', sent: 120, capped: 380 });
  });

  it('are told before anything is sent', async () => {
    const args = ['run', 'orders', '--config', temporaryFolder(byPlan), '--dry-run'];
    const { stdout } = await conform(args, {}).ended;
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
    const run = {
      url,
      config: BEARER,
      args: ['--suite', 'auth'],
      env: { ORDERS_API_KEY: KEY },
    };
    const dry = await told({ ...run, args: [...run.args, '--dry-run'] });
    expect([dry.code, asked]).toEqual([0, 0]);
    const [, cost = '', requests = ''] =
      /^orders {2}(about (\d+) requests in [\d.]+ m?s), to http/.exec(dry.stdout) ?? [];
    expect(dry.stdout).toContain(`, to ${url}\n`);
    expect(dry.stdout).toMatch(/^ {4}auth +\d+ checks +\d+ requests$/m);
    expect(dry.stdout).toMatch(/^ {4}\d+ requests with a wrong credential, which may lock an account$/m);
    expect(dry.stdout).toMatch(/\nNothing was sent\.\n$/);
    const { service, stderr } = await judged(run);
    expect(stderr.split('\n')[0]).toBe(`orders: started ${service?.checks.length} checks, ${cost}`);
    expect(Math.abs(Number(requests) - asked)).toBeLessThanOrEqual(asked / 10);
  });
});

import { createServer } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { suites } from '../../suites/catalogue.ts';
import { echoByWs } from '../../suites/tests/fixtures/echo-servers.ts';
import { HTTP_SERVERS } from '../../suites/tests/fixtures/http-servers.ts';
import { configFor, inTurn, judged } from '../../suites/tests/fixtures/judged.ts';
import { served } from '../base/fixtures/server.ts';
import { withPlan } from '../config/blocks/facts.ts';
import { loadOrders, ORDERS_CONTRACT } from '../config/fixtures/config-folder.ts';
import type { ServiceConfig } from '../config/service.ts';
import { proofConfigs } from '../proof/cases.ts';
import { estimatesText } from '../report/terminal/estimate.ts';
import { type Suite, suitesFor } from './check/check.ts';
import { estimate } from './estimate.ts';
import { startProvider } from './provider/start.ts';
import { selectChecks } from './selection/selection.ts';
import { simulatedClock } from './simulation/clock.ts';

/**
 * What is told before a run, next to what the run then sends. Where a
 * plan is to be kept to, `suites/tests/limits/schedule.test.ts` holds one to the other.
 */

interface Costs {
  readonly told: number;
  /** Told as usual. */
  readonly usual: number;
  readonly sent: number;
}

function toldOf(config: ServiceConfig, chosen: readonly Suite[]): Pick<Costs, 'told' | 'usual'> {
  const { requests: told, usual } = estimate(config, { suites: chosen, catalogue: 0 });
  return { told, usual };
}

/** The service runs at this URL, in this process. */
async function costsAt(url: string, config: ServiceConfig, chosen = suites): Promise<Costs> {
  const told = toldOf(config, chosen);
  const { requests: sent } = await inTurn((clock) =>
    judged(config, suitesFor(chosen, config), { url, clock }),
  );
  return { ...told, sent };
}

/** The service is a reference provider, met in its own time. */
async function costsOf(config: ServiceConfig, chosen = suites): Promise<Costs> {
  const clock = simulatedClock();
  const provider = await startProvider(config, { clock });
  onTestFinished(async () => {
    await provider.stop();
    clock.stop();
  });
  const told = toldOf(config, chosen);
  const { requests: sent } = await judged(config, suitesFor(chosen, config), {
    url: provider.url,
    clock,
  });
  return { ...told, sent };
}

/** Never more is sent than was told, and not much less than what was told as usual. */
function expectAtMost({ told, usual, sent }: Costs, least = 0.8): void {
  expect(sent).toBeGreaterThan(0);
  expect(sent).toBeLessThanOrEqual(told);
  expect(sent, `told ${usual} to ${told}, sent ${sent}`).toBeGreaterThanOrEqual(least * usual);
}

async function shipped(name: string): Promise<ServiceConfig> {
  const config = (await proofConfigs()).shipped.get(name);
  if (config === undefined) throw new Error(`${name} is not shipped`);
  // Pact is a program of its own, and one request for each interaction.
  const { pacts: _, ...rest } = config;
  return rest;
}

function selected(config: ServiceConfig, chosen: readonly string[], checks: readonly string[]) {
  return selectChecks(suites, { suites: chosen, checks }, [config]).selected(config);
}

const named = (...names: readonly string[]) => suites.filter(({ name }) => names.includes(name));

const GONE = { 204: { description: 'gone' } };

/** 120 collections; items of every third can be created and removed. */
const MANY_OPERATIONS = JSON.stringify({
  openapi: '3.1.0',
  info: { title: 'orders', version: '1' },
  paths: Object.fromEntries(
    Array.from({ length: 120 }, (_, at) => {
      const path = `/collections/c${at}`;
      const limit = { name: 'limit', in: 'query', schema: { type: 'integer', minimum: 1, maximum: 100 } };
      const id = { name: 'id', in: 'path', required: true, schema: { type: 'string' }, example: 'a' };
      const item = { type: 'object', required: ['id'], properties: { id: { type: 'string' } } };
      const one = { description: 'an item', content: { 'application/json': { schema: item } } };
      const list = { get: { parameters: [limit], responses: { 200: { description: 'a list' } } } };
      if (at % 3 > 0) return [[path, list]];
      const content = { 'application/json': { schema: item, example: { id: 'a' } } };
      return [
        [path, { ...list, post: { requestBody: { content }, responses: { 201: one } } }],
        [`${path}/{id}`, { parameters: [id], get: { responses: { 200: one } }, delete: { responses: GONE } }],
      ];
    }).flat(),
  ),
});

const OF_MANY_OPERATIONS = `service: orders
contract: orders
provider: { url: 'http://127.0.0.1:1' }
credentials: { scheme: none }
openapi: ../openapi.json
plan: { requests: 100000, window: 1s }
safety: { unsafeMethods: true, maxRequests: 5000, operationRequests: 3000 }
`;

describe('an estimate is what is sent at most', () => {
  it.each(['express', 'fastify'] as const)('of a REST service without limits: %s', async (name) => {
    const server = await HTTP_SERVERS[name]();
    onTestFinished(() => server.stop());
    const config = await configFor(server.url);
    const safety = { ...config.safety, exceedRateLimit: false, findSizeLimits: false };
    const { pacts: _, ...rest } = config;
    expectAtMost(await costsAt(server.url, { ...rest, plan: null, safety }));
  });

  it.each([true, false])('of a service that is a WebSocket alone, compressing: %s', async (compresses) => {
    const { url, stop } = await echoByWs({ perMessageDeflate: compresses });
    onTestFinished(stop);
    const contract = ORDERS_CONTRACT.replace(/ {2}- key: endpoint\.sample[\s\S]*?row: 1 }\n/, '');
    const text = `service: orders
contract: orders
provider: { url: '${url}' }
credentials: { scheme: none }
websocket: { url: /ws, echo: true }
`;
    const { config } = await loadOrders(text, {}, { 'contracts/orders.yaml': contract });
    expectAtMost(await costsAt(url, config), compresses ? 0.6 : 0.5);
  });

  it('of a service whose items are created and removed', async () => {
    const { stored } = await proofConfigs();
    const { pacts: _, ...config } = { ...stored, plan: null };
    const costs = await costsOf(config, named('operations'));
    expect(costs.sent).toBeGreaterThan(40);
    expectAtMost(costs);
  });

  it.each([1_500, 12])(
    'of a service with operations, of which %i requests are for them',
    async (operationRequests) => {
      const { operations, definitions = {} } = (await proofConfigs()).described;
      const config = { ...(await shipped('search')), operations, definitions };
      const polite = { ...config, safety: { ...config.safety, exceedRateLimit: false, operationRequests } };
      expectAtMost(
        await costsOf(withPlan(polite, { name: null, requests: 1_000, windowMs: 60_000 }, 'the test')),
      );
    },
  );

  it('of a service with many operations of several sorts', async () => {
    const { config } = await loadOrders(OF_MANY_OPERATIONS, {}, { 'openapi.json': MANY_OPERATIONS });
    const chosen = { suites: named('operations', 'status'), catalogue: 0 };
    const { requests, exercised } = estimate(config, chosen);
    expect(requests).toBeGreaterThan(500);
    expect(exercised).toBeNull();
    const { safety } = config;
    const capped = estimate({ ...config, safety: { ...safety, operationRequests: 50 } }, chosen);
    expect(capped.exercised).toMatch(/^\d+ of \d+ operations would be exercised$/);
    const scarce = withPlan(config, { name: null, requests: 100, windowMs: 60_000 }, 'the test');
    expect(estimate(scarce, chosen).longestMs).toBeGreaterThan(60_000);
  });

  it.each([
    [['auth', 'json'], []],
    [['status'], ['status.s*']],
    [[], ['status.sample']],
  ])('of a selection: --suite %j --check %j', async (chosen, checks) => {
    const config = { ...(await shipped('search')), plan: null };
    expectAtMost(await costsOf(config, selected(config, chosen, checks)));
  });
});

describe('an estimate', () => {
  it('says what is risky of it, as far as the config allows it', async () => {
    const config = await shipped('realtime');
    const all = estimate(config, { suites, catalogue: 303 });
    const text = all.risks.join('\n');
    expect(text).toMatch(/^\d+ requests? that may change something$/m);
    expect(text).toMatch(/^\d+ requests with a wrong credential, which may lock an account$/m);
    expect(text).toMatch(/^\d+ requests with a head of more than 8 KiB$/m);
    expect(text).toMatch(
      /^\d+ WebSocket connections, up to 10 at the same time, \d+ of them broken on purpose$/m,
    );
    const safety = { ...config.safety, unsafeMethods: false, findSizeLimits: false };
    const some = { suites: named('status', 'webhooks'), catalogue: 303 };
    const careful = estimate({ ...config, safety }, some);
    expect(careful.risks.join('\n')).not.toMatch(/change|WebSocket/);
  });

  it.each([
    [{ kind: 'url', url: 'https://api.example/v1' }, 'to https://api.example/v1'],
    [{ kind: 'unixSocket', path: '/run/search.sock' }, 'to /run/search.sock'],
    [
      { kind: 'reference', name: 'search', defects: [], variant: null },
      'to a reference that is started for it',
    ],
  ] as const)('says where the requests go: %j', async (provider, told) => {
    const config = { ...(await shipped('search')), provider };
    expect(estimate(config, { suites: [], catalogue: 303 }).at).toBe(told);
  });

  it('tells the time of what is waited for on purpose', async () => {
    const plan = { name: null, requests: 40, windowMs: 60_000 };
    const search = withPlan(await shipped('search'), plan, 'the test');
    const { durationMs, risks } = estimate(search, { suites, catalogue: 303 });
    // The 60 requests that come before the limit is met take two windows, and so does the limit.
    expect(durationMs).toBeGreaterThan(120_000);
    expect(durationMs).toBeLessThan(480_000);
    expect(risks.join('\n')).toMatch(/bursts past the plan until the service refuses, many at the same time/);
  });

  it('tells two times where it hangs on whether the service tells what remains of its quota', async () => {
    const plan = { name: null, requests: 20, windowMs: 60_000 };
    const search = withPlan(await shipped('search'), plan, 'the test');
    const auth = { suites: named('auth'), catalogue: 303 };
    const unknown = estimate({ ...search, provider: { kind: 'url', url: 'http://127.0.0.1:1' } }, auth);
    // Refused keys spend nothing, and where nobody tells that, they are waited for.
    expect(unknown.longestMs - unknown.durationMs).toBeGreaterThan(plan.windowMs);
    expect(estimatesText([unknown])).toMatch(
      /^search {2}about \d+ requests, at most \d+, in .+ to (\d+ min(?: \d+ s)?), to http[\s\S]*\n {2}\1 if the service does not tell what remains of its quota$/m,
    );
    const known = estimate(search, auth);
    expect(known.longestMs).toBe(known.durationMs);
    expect(estimatesText([known])).not.toContain('what remains');
  });

  it('sends nothing to any address of the config', async () => {
    const connected = vi.fn();
    const url = await served(createServer(connected));
    const text = `service: orders
contract: orders
provider: { url: '${url}' }
credentials: { scheme: oauth2, tokenUrl: '${url}/token', clientId: me, clientSecret: secret-of-a-test }
websocket: { url: '${url.replace('http', 'ws')}/ws', echo: true }
webhooks: { url: '${url}', trigger: { path: /hooks, body: { url: "\${WEBHOOK_URL}" } } }
safety: { unsafeMethods: true }
`;
    const { config } = await loadOrders(text);
    const { requests } = estimate(config, { suites, catalogue: 303 });
    expect(requests).toBeGreaterThan(100);
    expect(connected).not.toHaveBeenCalled();
  });
});

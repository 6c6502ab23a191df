import { type Contract, findClause } from '../../contract/clause.ts';
import type { Draft } from '../draft.ts';
import type { Operation, Plan, ProviderConfig, Safety, ServiceConfig } from '../service.ts';
import { duration, flag, mapping, needed, text, whole } from '../shape/kinds.ts';
import { parseDuration } from '../shape/units.ts';

export const PLAN = mapping(
  "The quota of the account under test. Without it the contract's rate applies, where it states one.",
  { expected: 'a mapping such as { requests: 100, window: 60s }', nullable: true, def: 'plan' },
  {
    name: text('Name of the plan, for people.', { default: null }),
    requests: needed(
      whole('How many requests are admitted per window.', {
        minimum: 1,
        maximum: 1_000_000,
        expected: 'a whole number of requests, at least 1',
      }),
    ),
    // A longer window cannot be waited for in one run.
    window: needed(duration('Length of the window.', { atMost: '24h' })),
  },
);

export const SAFETY = mapping(
  'What may be done to the service.',
  { expected: 'a mapping such as { exceedRateLimit: false }', default: {}, def: 'safety' },
  {
    exceedRateLimit: flag(
      'Send more than the plan admits, to see the refusal. Default: true for reference providers, else false.',
    ),
    unsafeMethods: flag(
      'Send requests with unsafe methods (POST, PUT, PATCH, DELETE). Default: true for reference providers, else false.',
    ),
    findSizeLimits: flag(
      'Send requests of up to 32 KiB, to find how long a target and a header may be. Default: true for reference providers, else false.',
    ),
    operationRequests: whole(
      'The most requests that the operations suite sends. What it leaves out is reported.',
      { minimum: 1, maximum: 100_000, default: 200, expected: 'a whole number of requests, at least 1' },
    ),
    maxConnections: whole(
      'WebSocket connections that are opened at the same time, to see whether many are served.',
      { minimum: 1, maximum: 1_000, default: 10, expected: 'a whole number of connections, at least 1' },
    ),
    maxRequests: whole(
      'The most requests of the whole run of this service. Default: 500, and more where the plan may be exceeded or operations are configured.',
      { minimum: 1, maximum: 10_000_000, expected: 'a whole number of requests, at least 1' },
    ),
    plainHttp: flag('Send credentials over plain http to a host that is not this machine.', {
      default: false,
    }),
  },
);

export const TIMEOUTS = mapping(
  'How long to wait.',
  { expected: 'a mapping such as { connect: 5s, response: 10s }', default: {}, def: 'timeouts' },
  {
    connect: duration('Until the connection stands.', { default: '5s', atMost: '10m' }),
    response: duration('Until the response is whole.', { default: '10s', atMost: '10m' }),
  },
);

const DEFAULT_MAX_REQUESTS = 500;
/** WebSocket connections at the same time. */
const DEFAULT_MAX_CONNECTIONS = 10;
/** What the operations suite may send, unless the config says otherwise. */
const DEFAULT_OPERATION_REQUESTS = 200;
/** A longer window cannot be waited for in one run. */
const MAX_WINDOW_MS = 24 * 3_600_000;
const MAX_TIMEOUT_MS = 10 * 60_000;

/** The configured plan; without one the rate that the contract states; without that none. */
export function buildPlan(draft: Draft, contract: Contract): Plan | null {
  const { faultAt, origins } = draft;
  const { plan } = draft.blocks;
  if (plan) {
    const { name, requests, window } = plan;
    if (requests === undefined) throw faultAt('plan.requests', 'is missing', 'add `requests:`');
    if (window === undefined) throw faultAt('plan.window', 'is missing', 'add `window:`, such as 60s');
    return {
      name: name ?? null,
      requests,
      windowMs: readDuration(draft, 'plan.window', window, MAX_WINDOW_MS),
    };
  }
  const rate = statedRate(contract);
  if (!rate) return null;
  const origin = { kind: 'contract', place: rate.place } as const;
  for (const key of ['plan', 'plan.requests', 'plan.window']) origins.set(key, origin);
  return { name: null, requests: rate.requests, windowMs: rate.windowMs };
}

interface StatedRate {
  readonly requests: number;
  readonly windowMs: number;
  readonly place: string;
}

function statedRate(contract: Contract): StatedRate | null {
  const clause = findClause(contract, 'limits.rate');
  if (clause?.standing !== 'stated' || typeof clause.value !== 'object' || clause.value === null) return null;
  if (!('requests' in clause.value) || !('window' in clause.value)) return null;
  const { requests, window } = clause.value;
  const windowMs = typeof window === 'string' ? parseDuration(window) : null;
  if (typeof requests !== 'number' || windowMs === null) return null;
  const { section, row } = clause.place;
  return { requests, windowMs, place: `${contract.source.document}, ${section}, row ${row}` };
}

/** `safety`: where the config is silent, the embedded reference provider may be asked anything and others little. */
export function buildSafety(
  draft: Draft,
  provider: ProviderConfig,
  plan: Plan | null,
  operations: readonly Operation[],
): Safety {
  const { faultAt, origins } = draft;
  const given = draft.blocks.safety ?? {};
  const exceedRateLimit = given.exceedRateLimit ?? provider.kind === 'reference';
  // A burst that finds the limit, one that finds it restored, and what the other suites send.
  const burst = exceedRateLimit && plan ? 2 * plan.requests + 200 : 0;
  if (
    plan &&
    exceedRateLimit &&
    given.maxRequests !== undefined &&
    given.maxRequests < 2 * plan.requests + 20
  ) {
    throw faultAt(
      'safety.maxRequests',
      `${given.maxRequests} requests cannot exceed a limit of ${plan.requests}`,
      `allow at least ${2 * plan.requests + 20}, leave it out, or set \`exceedRateLimit: false\``,
    );
  }
  const operationRequests = given.operationRequests ?? DEFAULT_OPERATION_REQUESTS;
  const documented = operations.length === 0 ? 0 : operationRequests;
  const safety: Safety = {
    exceedRateLimit,
    // An embedded provider has nothing to lose.
    unsafeMethods: given.unsafeMethods ?? provider.kind === 'reference',
    findSizeLimits: given.findSizeLimits ?? provider.kind === 'reference',
    maxRequests: given.maxRequests ?? Math.max(DEFAULT_MAX_REQUESTS, burst) + documented,
    maxConnections: given.maxConnections ?? DEFAULT_MAX_CONNECTIONS,
    operationRequests,
    plainHttp: given.plainHttp ?? false,
  };
  for (const key of Object.keys(safety)) {
    if (!(key in given)) origins.set(`safety.${key}`, { kind: 'default' });
  }
  return safety;
}

/** `timeouts`, in ms. */
export function buildTimeouts(draft: Draft): ServiceConfig['timeouts'] {
  const given = draft.blocks.timeouts ?? {};
  const read = (key: 'connect' | 'response', fallbackMs: number) => {
    const text = given[key];
    if (text === undefined) {
      draft.origins.set(`timeouts.${key}`, { kind: 'default' });
      return fallbackMs;
    }
    return readDuration(draft, `timeouts.${key}`, text, MAX_TIMEOUT_MS);
  };
  return { connectMs: read('connect', 5_000), responseMs: read('response', 10_000) };
}

/** @throws UsageError when it is none, or not within 1 ms and `maxMs`. */
export function readDuration({ faultAt }: Draft, key: string, text: string, maxMs: number): number {
  const ms = parseDuration(text);
  if (ms === null) throw faultAt(key, 'is not a duration', 'write a number and its unit: 60s, 5m or 250ms');
  if (ms < 1) throw faultAt(key, 'is zero', 'write a duration of at least 1ms');
  if (ms > maxMs) throw faultAt(key, 'is too long', `write at most ${maxMs / 60_000}m`);
  return ms;
}

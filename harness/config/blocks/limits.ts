import { type ClauseValue, type Contract, findClause, placeOfClause } from '../../base/clause.ts';
import { isJsonObject } from '../../base/json-text.ts';
import { LIMIT_SCOPES, type LimitScope } from '../../base/vocabulary.ts';
import { type Rate, requestsToOperations } from '../../wire/pace/weighing.ts';
import type { Draft } from '../draft/draft.ts';
import type { Operation } from '../operation/call/call.ts';
import { isBuiltIn, type ProviderConfig } from '../provider/provider.ts';
import { choice, duration, flag, list, mapping, needed, text, whole } from '../shape/kinds.ts';
import type { Loaded } from '../shape/loaded.ts';
import { formatDuration, parseDuration } from '../shape/text-forms.ts';

const COUNT = { minimum: 1, maximum: 1_000_000, expected: 'a whole number of requests, at least 1' };
const REQUESTS = whole('How many requests the window allows.', COUNT);
// A longer window cannot be waited for in one run.
const WINDOW = duration('Length of the window.', { atMost: '24h' });
const SCOPE = choice(
  'Whose requests are counted together: those with one key, with the keys of one account, or from one address.',
  LIMIT_SCOPES,
);

export const PLAN = mapping(
  'The rate limit of your account: how many requests in how much time. Without it, the rate of the contract applies, if it states one.',
  { expected: 'a mapping such as { requests: 100, window: 60s }', nullable: true, def: 'plan' },
  {
    name: text('Name of the plan, for people.', { default: null }),
    requests: needed(REQUESTS),
    window: needed(WINDOW),
    burst: whole(
      'How many requests are served at once. They come back one by one, at the rate of `requests` in each `window`.',
      COUNT,
    ),
    per: SCOPE,
    further: list(
      'Limits that apply at the same time, such as 10 requests a second next to 100 a minute. The shortest one is measured; the others are judged by the requests of the run.',
      { minItems: 1, maxItems: 10, expected: 'a list of limits such as [{ requests: 10, window: 1s }]' },
      mapping(
        'A further limit.',
        { expected: 'a mapping such as { requests: 10, window: 1s }' },
        { requests: needed(REQUESTS), window: needed(WINDOW), per: SCOPE },
      ),
    ),
  },
);

export const SAFETY = mapping(
  'What conform may do to the service.',
  { expected: 'a mapping such as { exceedRateLimit: false }', default: {}, def: 'safety' },
  {
    exceedRateLimit: flag(
      'Send more requests than the plan allows, to see the refusal. Default: true for reference providers, else false.',
    ),
    unsafeMethods: flag(
      'Send requests with unsafe methods (POST, PUT, PATCH, DELETE) to items that the run creates. Default: true for reference providers, else false.',
    ),
    leaveItems: flag(
      'With unsafeMethods: send POST requests to collections as well when the document has no way to remove what they create. Default: true for reference providers, else false.',
    ),
    findSizeLimits: flag(
      'Send requests of up to 32 KiB, to find how long a URL and a header may be. Default: true for reference providers, else false.',
    ),
    operationRequests: whole(
      'The most requests that the operations suite sends. A run that leaves operations out never says "conforms". Default: as many as the plan and the speed of the service allow in about 5 minutes.',
      { minimum: 1, maximum: 100_000, expected: 'a whole number of requests, at least 1' },
    ),
    maxConnections: whole(
      'Number of WebSocket connections to open at the same time, to see whether the service accepts them.',
      { minimum: 1, maximum: 1_000, default: 10, expected: 'a whole number of connections, at least 1' },
    ),
    maxRequests: whole(
      'The most requests that a run sends to this service. Default: 500, and more if the plan may be exceeded or operations are configured.',
      { minimum: 1, maximum: 10_000_000, expected: 'a whole number of requests, at least 1' },
    ),
    plainHttp: flag('Send credentials over plain http to another machine.', { default: false }),
  },
);

export const TIMEOUTS = mapping(
  'How long to wait.',
  { expected: 'a mapping such as { connect: 5s, response: 10s }', default: {}, def: 'timeouts' },
  {
    connect: duration('Until the connection is open.', { default: '5s', atMost: '10m' }),
    response: duration('Until the response is complete.', { default: '10s', atMost: '10m' }),
    // What `timeouts.run` cuts short is blocked: it says nothing against the service.
    run: duration(
      'How long the run of this service may take. Checks that are left then are blocked. With freshForEachSuite it counts from each start. Default: much longer than the plan, maxRequests and the response times require, but 110 s beside the waits for quota if each response takes 2 s or more.',
      { atMost: '24h' },
    ),
  },
);

/** The quota of the account under test: a number of requests, all available again after the window. */
export interface Plan extends Rate {
  readonly name: string | null;
  /** The rate that is documented beside a burst: then the requests are the burst, and come back one by one. */
  readonly rate?: Rate;
  /** Absent if it is unknown which requests are counted together. */
  readonly per?: LimitScope;
  readonly further?: readonly FurtherLimit[];
}

export interface FurtherLimit extends Rate {
  readonly per?: LimitScope;
}

type PlanBlock = Loaded<typeof PLAN>;

export type Safety = Required<Loaded<typeof SAFETY>>;

export type Timeouts = Loaded<typeof TIMEOUTS>;

/** What of a window a bucket may take until it is full again, in ms: as long as a window at most. */
const LONGEST_MS = 24 * 60 * 60_000;

/** The configured plan; without one the rate that the contract states; without that none. */
export function planOf(draft: Draft, written: PlanBlock | undefined, contract: Contract): Plan | null {
  if (written) {
    const plan = quotaOf(written);
    if (plan.windowMs <= LONGEST_MS) return plan;
    const problem = `${written.burst} requests take longer than 24 hours to come back at this rate`;
    throw draft.faultAt('plan.burst', problem, 'correct one of the two, or leave the burst out');
  }
  const rate = statedRate(contract);
  if (!rate) return null;
  const { place, ...stated } = rate;
  const origin = { kind: 'contract', place } as const;
  draft.show('plan', rateOf(stated), origin);
  return quotaOf({ name: null, ...stated });
}

function quotaOf({ burst, ...plan }: PlanBlock): Plan {
  if (burst === undefined) return plan;
  const { requests, windowMs } = plan;
  return { ...plan, requests: burst, windowMs: (burst * windowMs) / requests, rate: { requests, windowMs } };
}

/** The value of `limits.rate` that says the same. */
export function rateOf({ requests, windowMs, burst, per, further }: Omit<PlanBlock, 'name'>): ClauseValue {
  return {
    requests,
    window: formatDuration(windowMs),
    ...(burst === undefined ? {} : { burst }),
    ...(per === undefined ? {} : { per }),
    ...(further === undefined ? {} : { further: further.map(rateOf) }),
  };
}

interface StatedRate extends Omit<PlanBlock, 'name'> {
  readonly place: string;
}

function statedRate(contract: Contract): StatedRate | null {
  const clause = findClause(contract, 'limits.rate');
  if (clause?.standing !== 'stated' || !isJsonObject(clause.value)) return null;
  const { burst, further } = clause.value;
  const stated = statedLimit(clause.value);
  if (stated === null) return null;
  return {
    ...stated,
    ...(typeof burst === 'number' ? { burst } : {}),
    ...(Array.isArray(further) ? { further: further.flatMap((each) => statedLimit(each) ?? []) } : {}),
    place: placeOfClause(contract, clause),
  };
}

function statedLimit(value: unknown): FurtherLimit | null {
  if (!isJsonObject(value)) return null;
  const { requests, window, per } = value;
  const windowMs = typeof window === 'string' ? parseDuration(window) : null;
  if (typeof requests !== 'number' || windowMs === null) return null;
  const scope = LIMIT_SCOPES.find((each) => each === per);
  return { requests, windowMs, ...(scope ? { per: scope } : {}) };
}

const DEFAULT_MAX_REQUESTS = 500;
/** Number of times that the quota is spent at most, whatever the limiter does: to meet it, to see it back, and to count it. */
const MOST_TIMES_SPENT = 8;

/** Where the config is silent, a built-in provider may be asked anything and others little. */
export function safetyOf(
  draft: Draft,
  written: Loaded<typeof SAFETY>,
  provider: ProviderConfig,
  plan: Plan | null,
  operations: readonly Operation[],
): Safety {
  // It has nothing to lose.
  const mayBeAskedAnything = isBuiltIn(provider);
  const exceedRateLimit = written.exceedRateLimit ?? mayBeAskedAnything;
  const bursts = exceedRateLimit && plan ? MOST_TIMES_SPENT * plan.requests : 0;
  const least = exceedRateLimit && plan ? 2 * plan.requests + 20 : 0;
  if (plan && written.maxRequests !== undefined && written.maxRequests < least) {
    const problem = `${written.maxRequests} requests cannot exceed a limit of ${plan.requests}`;
    const remedy = `allow at least ${least}, leave it out, or set \`exceedRateLimit: false\``;
    throw draft.faultAt('safety.maxRequests', problem, remedy);
  }
  const operationRequests = written.operationRequests ?? requestsToOperations(plan);
  const documented = operations.length === 0 ? 0 : operationRequests;
  const safety: Safety = {
    exceedRateLimit,
    unsafeMethods: mayBeAskedAnything,
    leaveItems: mayBeAskedAnything,
    findSizeLimits: mayBeAskedAnything,
    operationRequests,
    maxRequests: DEFAULT_MAX_REQUESTS + bursts + documented,
    ...written,
  };
  for (const [key, value] of Object.entries(safety)) {
    if (!(key in written)) draft.show(`safety.${key}`, value);
  }
  return safety;
}

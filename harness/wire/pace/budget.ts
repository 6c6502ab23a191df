import { AsyncLocalStorage } from 'node:async_hooks';
import pLimit, { type LimitFunction } from 'p-limit';
import { InconclusiveError } from '../../base/exit.ts';
import { countBelow } from '../limit/model/fit.ts';
import type { Clock } from './clock.ts';
import { heaviestWeight, keptRate, type Rate, roomFrom } from './weighing.ts';

export interface BudgetWait {
  /** For a person, without a full stop. */
  readonly reason: string;
  /** When the wait is over, on the clock's monotonic scale. */
  readonly untilMs: number;
  /** The same on the wall clock. */
  readonly until: Date;
}

export interface BudgetOptions {
  /** The quota of the account under test; null when nobody knows it. */
  readonly plan: Rate | null;
  /** Limits that apply at the same time. */
  readonly further?: readonly Rate[];
  /** Ceiling over the whole run of this service. */
  readonly maxRequests: number;
  /** So many requests of the run were sent earlier, by somebody else. Default: 0. */
  readonly before?: number | undefined;
  readonly clock: Clock;
  /** Requests under way at the same time, outside `exceed`. */
  readonly concurrency: number;
  /** Told before each wait, so that a terminal can show a countdown. */
  readonly waiting?: (wait: BudgetWait) => void;
}

/** Finds out, before a wait, what requests of some kinds cost; it may send one that cannot wait. */
export type FindCosts = (wait: {
  readonly forMs: number;
  readonly signal: AbortSignal | undefined;
}) => Promise<Costs>;

/** By kind: requests of others may be free, or counted. */
type Costs = ReadonlyMap<string, 'free' | 'counted'>;

/** One request that was sent. */
export interface Spent {
  readonly atMs: number;
  /** Of what kind it was, told when it is answered. What is of a kind that spends nothing is not held against the rate. */
  kind: string | null;
}

/** What one service may still be sent. Every request to it takes from here first. */
export interface Budget {
  /** The quota of the account under test; null when nobody knows it. */
  readonly plan: Rate | null;
  /** What is kept to outside `exceed`. */
  readonly rate: Rate;
  /** So many requests are others', and are kept clear of for that long, in ms: until the quota is renewed. */
  setAside(requests: number, forMs: number): void;
  /** The service has told what remains of the plan behind a request that was sent then. */
  told(remaining: number, sentMs: number): void;
  /**
   * Whether that many requests can be sent without a long wait for what earlier ones may have spent, while nothing tells
   * how much remains. Once there was no room there is none for any before something tells.
   */
  hasRoomFor(requests: number, signal: AbortSignal): Promise<boolean>;
  /** There was no room for something, and nothing has told since how much remains. */
  readonly isAwaited: boolean;
  /** Before each wait these costs are found so; until then they are unknown. */
  findCostsBy(find: FindCosts): void;
  /** The service counts by windows of which each forgets the one before. */
  forgets(): void;
  /** Whether the service admits one more, by what it has told, or told so long ago that one more keeps to the rate. */
  hasRoom(): boolean;
  /** Whether what it has told is old. */
  readonly isToldLongAgo: boolean;
  /**
   * Counts one request, as late as the rate demands, in the order of asking.
   * @throws BudgetExhausted at the ceiling, and the signal's reason when it is aborted.
   */
  take(signal?: AbortSignal): Promise<Spent>;
  /** Counts one request that cannot wait: those that can wait for it. @throws BudgetExhausted at the ceiling. */
  count(): Spent;
  /** Takes, then sends, with at most `concurrency` under way. */
  run<T>(send: (spent: Spent) => Promise<T>, signal?: AbortSignal): Promise<T>;
  /**
   * Runs a section whose own requests are counted but not held back, for meeting a rate limit on purpose; nobody
   * else sends meanwhile. `concurrency` holds for the section's requests; serial when left out.
   */
  exceed<T>(section: () => Promise<T>, concurrency?: number): Promise<T>;
  /** Requests so far, with those that were sent earlier. */
  spent(): number;
  /** Whether what was sent here may have used the plan up, by whatever limiter. */
  isSpent(): boolean;
}

/** The ceiling of `safety.maxRequests` is reached: what is still unasked stays so. */
export class BudgetExhausted extends InconclusiveError {
  constructor(maxRequests: number) {
    super(`the budget of ${maxRequests} requests is spent (safety.maxRequests)`);
    this.name = 'BudgetExhausted';
  }
}

/** Of what is kept in reserve, so much is left to a limiter that weighs the window before as well. */
const SHARE_OF_RESERVE = 0.5;
/** So many requests are kept in reserve where the service tells what remains. */
const TOLD_RESERVE = 1;
/** What can come later waits no longer than that for what may have cost nothing. */
const LONG_MS = 5_000;
/** Requests may arrive closer together than they were sent; a window is that much longer here. */
const ARRIVAL_JITTER_MS = 100;

/** Requests by the plan, or at a courteous rate where none is known, and never more than `maxRequests`. */
export function openBudget(options: BudgetOptions): Budget {
  const { clock, maxRequests, before = 0, plan, further = [] } = options;
  const rate = keptRate(plan);
  /** In the order of sending. */
  const spendings: Spent[] = [];
  let costs: Costs = new Map();
  let findCosts: FindCosts = async () => costs;
  /** When requests of others were sent, as far as their end is known; one entry each. */
  let others: readonly number[] = [];
  const sections = new AsyncLocalStorage<LimitFunction>();
  const oneByOne = pLimit(1);
  const ordinary = pLimit(options.concurrency);

  function checkCeiling(): void {
    if (before + spendings.length >= maxRequests) throw new BudgetExhausted(maxRequests);
  }

  function count(): Spent {
    checkCeiling();
    const spent: Spent = { atMs: clock.now(), kind: null };
    spendings.push(spent);
    return spent;
  }

  const windowMs = rate.windowMs + ARRIVAL_JITTER_MS;
  let isAwaited = false;
  let weighed = plan && rate.requests + SHARE_OF_RESERVE * (plan.requests - rate.requests);

  let told: { readonly remaining: number; readonly sentMs: number } | null = null;

  function costOf({ kind }: Spent): 'free' | 'counted' | 'unknown' {
    return (kind !== null && costs.get(kind)) || 'unknown';
  }

  /** So many more requests the service admits, by what it has told. */
  function toldRoom(): number {
    if (told === null) return 0;
    const { remaining, sentMs } = told;
    return remaining - spendings.filter((spent) => spent.atMs > sentMs && costOf(spent) !== 'free').length;
  }

  /**
   * Everything that a limiter may still remember, ours and that of others. Of requests of unknown cost only those from
   * `toldMs` on: what the service has told behind the others has them in already.
   */
  function remembered(toldMs = Number.NEGATIVE_INFINITY): readonly number[] {
    const now = clock.now();
    others = others.filter((atMs) => atMs + windowMs > now);
    const first = spendings.findLastIndex(({ atMs }) => atMs + 2 * windowMs <= now) + 1;
    const held = spendings.slice(first).filter((spent) => {
      const cost = costOf(spent);
      return cost === 'counted' || (cost === 'unknown' && spent.atMs >= toldMs);
    });
    return [...held.map(({ atMs }) => atMs), ...others].toSorted((a, b) => a - b);
  }

  /**
   * When the next request keeps to the rate: the oldest that would be one too many has left the window, and a counter
   * that weighs the window before has room for it, wherever its windows begin. Where the service tells that it has, no
   * such counter need be feared.
   */
  function nextFreeMs(further = 0): number {
    const { all, freeMs, hasToldRoom } = kept(further);
    if (weighed === null || hasToldRoom) return freeMs;
    return roomFrom(all, { fromMs: freeMs, windowMs, most: weighed - 1 });
  }

  /** `further`: requests before it that are yet to be sent. What is held against the next request, and when it is not one too many of any window. */
  function kept(further = 0) {
    const hasToldRoom = told !== null && toldRoom() > TOLD_RESERVE;
    const held = remembered(hasToldRoom ? told?.sentMs : undefined);
    const all = [...held, ...Array.from({ length: further }, () => clock.now())];
    const most = plan === null || told === null ? 0 : plan.requests - TOLD_RESERVE;
    const tooMany = all.at(-Math.max(rate.requests, most));
    const freeMs = tooMany === undefined ? clock.now() : Math.max(clock.now(), tooMany + windowMs);
    return { all, freeMs, hasToldRoom };
  }

  function isToldLongAgo(): boolean {
    return told !== null && told.sentMs <= clock.now() - windowMs / 2;
  }

  /** When the next request keeps to each further limit, wherever its windows begin. */
  function furtherFreeMs(): number {
    const fromMs = clock.now();
    if (further.length === 0) return fromMs;
    const counted = spendings.filter((spent) => costOf(spent) !== 'free').map(({ atMs }) => atMs);
    const freeMs = further.map((limit) => {
      const windowMs = limit.windowMs + ARRIVAL_JITTER_MS;
      const recent = counted.slice(countBelow(counted, fromMs - 2 * windowMs));
      return roomFrom(recent, { fromMs, windowMs, most: keptRate(limit).requests - 1 });
    });
    return Math.max(fromMs, ...freeMs);
  }

  /** How long has to be waited until something may be another, in ms: a request may be sent, or the service asked again. */
  async function waitMs(signal: AbortSignal | undefined): Promise<number> {
    const dueMs = nextFreeMs() - clock.now();
    if (dueMs <= 0) return furtherFreeMs() - clock.now();
    costs = await findCosts({ forMs: dueMs, signal });
    const freeMs = nextFreeMs();
    const toAskMs = told === null ? freeMs : kept().freeMs;
    return (toAskMs > clock.now() ? Math.min(toAskMs, freeMs) : freeMs) - clock.now();
  }

  async function hasRoomFor(requests: number, signal: AbortSignal): Promise<boolean> {
    if (plan === null || told !== null || requests === 0) return true;
    if (isAwaited) return false;
    const waitsMs = () => nextFreeMs(requests - 1) - clock.now();
    if (waitsMs() > 0) costs = await findCosts({ forMs: waitsMs(), signal });
    isAwaited = told === null && waitsMs() > LONG_MS;
    return !isAwaited;
  }

  async function paced(signal: AbortSignal | undefined): Promise<Spent> {
    for (;;) {
      signal?.throwIfAborted();
      checkCeiling();
      const forMs = await waitMs(signal);
      if (forMs <= 0) return count();
      options.waiting?.({
        reason: nextFreeMs() > clock.now() ? waitReason(rate, plan) : 'a further limit leaves no room',
        untilMs: clock.now() + forMs,
        until: new Date(clock.wallNow().getTime() + forMs),
      });
      await clock.sleep(forMs, signal);
    }
  }

  async function take(isExceeding: boolean, signal: AbortSignal | undefined): Promise<Spent> {
    signal?.throwIfAborted();
    if (isExceeding) return count();
    return orAborted(
      oneByOne(() => paced(signal)),
      signal,
    );
  }

  return {
    plan,
    rate,
    setAside(requests, forMs) {
      const atMs = clock.now() + forMs - rate.windowMs;
      others = Array.from({ length: Math.min(requests, rate.requests) }, () => atMs);
    },
    told(remaining, sentMs) {
      if (told === null || sentMs >= told.sentMs) told = { remaining, sentMs };
    },
    hasRoomFor,
    get isAwaited() {
      return isAwaited && told === null;
    },
    findCostsBy(find) {
      findCosts = find;
    },
    forgets() {
      weighed = null;
    },
    hasRoom: () => toldRoom() > 0 || (isToldLongAgo() && kept().freeMs <= clock.now()),
    get isToldLongAgo() {
      return isToldLongAgo();
    },
    take: (signal) => take(sections.getStore() !== undefined, signal),
    count,
    run(send, signal) {
      const limit = sections.getStore();
      return (limit ?? ordinary)(async () => send(await take(limit !== undefined, signal)));
    },
    exceed(section, concurrency = 1) {
      const run = () => sections.run(pLimit(concurrency), section);
      // A section within a section is one with it.
      return sections.getStore() ? run() : oneByOne(run);
    },
    spent: () => before + spendings.length,
    isSpent: () => plan !== null && heaviestWeight(remembered(), clock.now(), windowMs) >= plan.requests,
  };
}

function waitReason(rate: Rate, plan: Rate | null): string {
  const seconds = (windowMs: number) => `${windowMs / 1000} s`;
  return plan
    ? `the plan allows ${plan.requests} requests in ${seconds(plan.windowMs)}, of which ${rate.requests} are used at most`
    : `no plan is configured; at most ${rate.requests} requests are sent in ${seconds(rate.windowMs)}`;
}

/** Settles as `work` does, or rejects at once when the signal is aborted. */
function orAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work;
  // A signal of our own, so that many who wait do not gather as listeners of the one they share.
  const own = AbortSignal.any([signal]);
  return new Promise((resolve, reject) => {
    const aborted = () => reject(own.reason);
    own.addEventListener('abort', aborted, { once: true });
    work.then(resolve, reject).finally(() => own.removeEventListener('abort', aborted));
  });
}

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
  /** The quota of the account under test; null if unknown. */
  readonly plan: Rate | null;
  /** Limits that apply at the same time. */
  readonly further?: readonly Rate[];
  /** Ceiling over the whole run of this service. */
  readonly maxRequests: number;
  /** Requests of the run that an earlier session sent. Default: 0. */
  readonly before?: number | undefined;
  readonly clock: Clock;
  /** Requests under way at the same time, outside `exceed`. */
  readonly concurrency: number;
  /** Called before each wait, so that a terminal can show a countdown. */
  readonly waiting?: (wait: BudgetWait) => void;
}

/** Finds out, before a wait, what requests of some kinds cost; it may send one that cannot wait. */
type FindCosts = (wait: {
  readonly forMs: number;
  readonly signal: AbortSignal | undefined;
}) => Promise<Costs>;

/** By kind: requests of others may be free, or counted. */
type Costs = ReadonlyMap<string, 'free' | 'counted'>;

/** One request that was sent. */
export interface Spent {
  readonly atMs: number;
  /** Its kind, known when it is answered. A request of a kind that spends nothing is not held against the rate. */
  kind: string | null;
}

/** What one service may still be sent. Every request to it takes from here first. */
export interface Budget {
  /** The quota of the account under test; null if unknown. */
  readonly plan: Rate | null;
  /** The rate outside `exceed`. */
  readonly rate: Rate;
  /** `requests` of others are kept clear of for that long, in ms: until the quota is renewed. */
  setAside(requests: number, forMs: number): void;
  /** The service has reported the rest of the plan behind a request that was sent then. */
  reportRemaining(remaining: number, sentMs: number): void;
  /**
   * Whether that many requests can be sent without a long wait for what earlier ones may have spent, while nothing tells
   * how much remains. Once there was no room there is none for any before something tells.
   */
  hasRoomFor(requests: number, signal: AbortSignal): Promise<boolean>;
  /** There was no room for something, and the service has reported no rest of the plan since. */
  readonly isAwaited: boolean;
  /** Before each wait these costs are found so; until then they are unknown. */
  findCostsBy(find: FindCosts): void;
  /** The service counts by windows of which each forgets the one before. */
  forgets(): void;
  /** Whether the service admits one more, by its last report, or by the rate if that is old. */
  hasRoom(): boolean;
  /** Whether its last report is old. */
  readonly isReportOld: boolean;
  /**
   * Counts one request, as late as the rate demands, in the order of asking.
   * @throws BudgetExhausted at the ceiling, and the signal's reason when it is aborted.
   */
  take(signal?: AbortSignal): Promise<Spent>;
  /** Keeps one request below the ceiling back, until the returned function is called. */
  reserve(): () => void;
  /** Number of requests below the ceiling that are neither sent nor kept back. */
  left(): number;
  /** Counts one request that cannot wait: those that can wait for it. @throws BudgetExhausted at the ceiling. */
  count(): Spent;
  /** Takes, then sends, with at most `concurrency` under way. */
  run<T>(send: (spent: Spent) => Promise<T>, signal?: AbortSignal): Promise<T>;
  /**
   * Runs a section whose own requests are counted but not held back, for meeting a rate limit on purpose; no
   * other request is sent meanwhile. `concurrency` holds for the section's requests; serial when left out.
   */
  exceed<T>(section: () => Promise<T>, concurrency?: number): Promise<T>;
  /** Requests so far, with those that were sent earlier. */
  spent(): number;
  /** Whether requests from here may have used the plan up, by whatever limiter. */
  isSpent(): boolean;
}

/** The ceiling of `safety.maxRequests` is reached: no further request is sent. */
export class BudgetExhausted extends InconclusiveError {
  constructor(maxRequests: number) {
    super(`the budget of ${maxRequests} requests is spent (safety.maxRequests)`);
    this.name = 'BudgetExhausted';
  }
}

/** Of the reserve, the part that is left to a limiter that weighs the window before as well. */
const SHARE_OF_RESERVE = 0.5;
/** Requests that are kept in reserve if the service reports the rest of the plan. */
const REPORTED_RESERVE = 1;
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
  let reserved = 0;
  let costs: Costs = new Map();
  let findCosts: FindCosts = async () => costs;
  /** When requests of others were sent, as far as their end is known; one entry each. */
  let others: readonly number[] = [];
  const sections = new AsyncLocalStorage<LimitFunction>();
  const oneByOne = pLimit(1);
  const ordinary = pLimit(options.concurrency);

  function left(): number {
    return maxRequests - before - spendings.length - reserved;
  }

  function checkCeiling(): void {
    if (left() <= 0) throw new BudgetExhausted(maxRequests);
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

  let report: { readonly remaining: number; readonly sentMs: number } | null = null;

  function costOf({ kind }: Spent): 'free' | 'counted' | 'unknown' {
    return (kind !== null && costs.get(kind)) || 'unknown';
  }

  /** Index of the first that a limiter may still remember: it only grows. */
  let firstRecent = 0;
  function recentSpendings(): number {
    while ((spendings[firstRecent]?.atMs ?? Number.POSITIVE_INFINITY) + 2 * windowMs <= clock.now())
      firstRecent += 1;
    return firstRecent;
  }

  /** Whether the next request cannot be one too many, whatever those before it have cost. */
  function hasPlentyOfRoom(further: number): boolean {
    const all = spendings.length - recentSpendings() + others.length + further;
    return all < Math.min(rate.requests, weighed ?? rate.requests);
  }

  /** Number of further requests that the service admits, by its last report. */
  function reportedRoom(): number {
    if (report === null) return 0;
    const { remaining, sentMs } = report;
    return remaining - spendings.filter((spent) => spent.atMs > sentMs && costOf(spent) !== 'free').length;
  }

  /**
   * Everything that a limiter may still remember, ours and that of others. Of requests of unknown cost only those from
   * `reportMs` on: the last report of the service has the others in already.
   */
  function remembered(reportMs = Number.NEGATIVE_INFINITY): readonly number[] {
    const now = clock.now();
    others = others.filter((atMs) => atMs + windowMs > now);
    const held = spendings.slice(recentSpendings()).filter((spent) => {
      const cost = costOf(spent);
      return cost === 'counted' || (cost === 'unknown' && spent.atMs >= reportMs);
    });
    const ours = held.map(({ atMs }) => atMs);
    return others.length === 0 ? ours : [...ours, ...others].toSorted((a, b) => a - b);
  }

  /**
   * When the next request keeps to the rate: the oldest that would be one too many has left the window, and a counter
   * that weighs the window before has room for it, wherever its windows begin. Where the service tells that it has, no
   * such counter need be feared.
   */
  function nextFreeMs(further = 0): number {
    if (hasPlentyOfRoom(further)) return clock.now();
    const { all, freeMs, hasReportedRoom } = kept(further);
    if (weighed === null || hasReportedRoom) return freeMs;
    return roomFrom(all, { fromMs: freeMs, windowMs, most: weighed - 1 });
  }

  /** `further`: requests before it that are yet to be sent. The moments that are held against the next request, and when it is not one too many of any window. */
  function kept(further = 0) {
    const hasReportedRoom = report !== null && reportedRoom() > REPORTED_RESERVE;
    const held = remembered(hasReportedRoom ? report?.sentMs : undefined);
    const all = [...held, ...Array.from({ length: further }, () => clock.now())];
    const most = plan === null || report === null ? 0 : plan.requests - REPORTED_RESERVE;
    const tooMany = all.at(-Math.max(rate.requests, most));
    const freeMs = tooMany === undefined ? clock.now() : Math.max(clock.now(), tooMany + windowMs);
    return { all, freeMs, hasReportedRoom };
  }

  function isReportOld(): boolean {
    return report !== null && report.sentMs <= clock.now() - windowMs / 2;
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
    const toAskMs = report === null ? freeMs : kept().freeMs;
    return (toAskMs > clock.now() ? Math.min(toAskMs, freeMs) : freeMs) - clock.now();
  }

  async function hasRoomFor(requests: number, signal: AbortSignal): Promise<boolean> {
    if (plan === null || report !== null || requests === 0) return true;
    if (isAwaited) return false;
    const waitsMs = () => nextFreeMs(requests - 1) - clock.now();
    if (waitsMs() > 0) costs = await findCosts({ forMs: waitsMs(), signal });
    isAwaited = report === null && waitsMs() > LONG_MS;
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
    const isFirst = oneByOne.activeCount + oneByOne.pendingCount === 0;
    const turn = oneByOne(() => paced(signal));
    // Its own waits end with the signal.
    return isFirst ? turn : orAborted(turn, signal);
  }

  return {
    plan,
    rate,
    setAside(requests, forMs) {
      const atMs = clock.now() + forMs - rate.windowMs;
      others = Array.from({ length: Math.min(requests, rate.requests) }, () => atMs);
    },
    reportRemaining(remaining, sentMs) {
      if (report === null || sentMs >= report.sentMs) report = { remaining, sentMs };
    },
    hasRoomFor,
    get isAwaited() {
      return isAwaited && report === null;
    },
    findCostsBy(find) {
      findCosts = find;
    },
    forgets() {
      weighed = null;
    },
    hasRoom: () => reportedRoom() > 0 || (isReportOld() && kept().freeMs <= clock.now()),
    get isReportOld() {
      return isReportOld();
    },
    left,
    reserve() {
      let isHeld = true;
      reserved += 1;
      return () => {
        if (isHeld) reserved -= 1;
        isHeld = false;
      };
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

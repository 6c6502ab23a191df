import { AsyncLocalStorage } from 'node:async_hooks';
import pLimit, { type LimitFunction } from 'p-limit';
import { InconclusiveError } from '../../base/exit.ts';
import { keptRate, type Rate } from '../../config/blocks/pace.ts';
import type { Clock } from './clock.ts';
import { heaviestWeight, roomFrom } from './weighing.ts';

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
  /** Ceiling over the whole run of this service. */
  readonly maxRequests: number;
  readonly clock: Clock;
  /** Requests under way at the same time, outside `exceed`. */
  readonly concurrency: number;
  /** Told before each wait, so that a terminal can show a countdown. */
  readonly waiting?: (wait: BudgetWait) => void;
}

/** What one service may still be sent. Every request to it takes from here first. */
export interface Budget {
  /** The quota of the account under test; null when nobody knows it. */
  readonly plan: Rate | null;
  /** What is kept to outside `exceed`. */
  readonly rate: Rate;
  /** So many requests are others', and are kept clear of for that long, in ms: until the quota is renewed. */
  setAside(requests: number, forMs: number): void;
  /**
   * Counts one request, as late as the rate demands, in the order of asking.
   * @throws BudgetExhausted at the ceiling, and the signal's reason when it is aborted.
   */
  take(signal?: AbortSignal): Promise<void>;
  /** Counts one request that cannot wait: those that can wait for it. @throws BudgetExhausted at the ceiling. */
  count(): void;
  /** Takes, then sends, with at most `concurrency` under way. */
  run<T>(send: () => Promise<T>, signal?: AbortSignal): Promise<T>;
  /**
   * Runs a section whose own requests are counted but not held back, for meeting a rate limit on purpose; nobody
   * else sends meanwhile. `concurrency` holds for the section's requests; serial when left out.
   */
  exceed<T>(section: () => Promise<T>, concurrency?: number): Promise<T>;
  /** Requests so far. */
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
/** Requests may arrive closer together than they were sent; a window is that much longer here. */
const ARRIVAL_JITTER_MS = 100;

interface Section {
  readonly limit: LimitFunction;
}

/** Requests by the plan, or at a courteous rate where none is known, and never more than `maxRequests`. */
export function openBudget(options: BudgetOptions): Budget {
  const { clock, maxRequests, plan } = options;
  const rate = keptRate(plan);
  /** When each request was sent. */
  const spendings: number[] = [];
  /** When requests of others were sent, as far as their end is known; one entry each. */
  let others: readonly number[] = [];
  const sections = new AsyncLocalStorage<Section>();
  const oneByOne = pLimit(1);
  const ordinary = pLimit(options.concurrency);

  function checkCeiling(): void {
    if (spendings.length >= maxRequests) throw new BudgetExhausted(maxRequests);
  }

  function spend(): void {
    checkCeiling();
    spendings.push(clock.now());
  }

  const windowMs = rate.windowMs + ARRIVAL_JITTER_MS;
  const weighed = plan && rate.requests + SHARE_OF_RESERVE * (plan.requests - rate.requests);

  /** Everything that a limiter may still remember, ours and that of others. */
  function remembered(): readonly number[] {
    const now = clock.now();
    others = others.filter((atMs) => atMs + windowMs > now);
    const first = spendings.findLastIndex((atMs) => atMs + 2 * windowMs <= now) + 1;
    return [...spendings.slice(first), ...others].toSorted((a, b) => a - b);
  }

  /**
   * When the next request keeps to the rate: the oldest that would be one too many has left the window, and a counter
   * that weighs the window before has room for it, wherever its windows begin.
   */
  function nextFreeMs(): number {
    const all = remembered();
    const tooMany = all.at(-rate.requests);
    const freeMs = tooMany === undefined ? clock.now() : Math.max(clock.now(), tooMany + windowMs);
    return weighed === null ? freeMs : roomFrom(all, { fromMs: freeMs, windowMs, most: weighed - 1 });
  }

  async function paced(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    checkCeiling();
    const untilMs = nextFreeMs();
    const forMs = untilMs - clock.now();
    if (forMs > 0) {
      options.waiting?.({
        reason: waitReason(rate, plan),
        untilMs,
        until: new Date(clock.wallNow().getTime() + forMs),
      });
      await clock.sleep(forMs, signal);
    }
    spend();
  }

  async function take(section: Section | undefined, signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    if (section) spend();
    else
      await orAborted(
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
    take: (signal) => take(sections.getStore(), signal),
    count: spend,
    run(send, signal) {
      const section = sections.getStore();
      return (section?.limit ?? ordinary)(async () => {
        await take(section, signal);
        return send();
      });
    },
    exceed(section, concurrency = 1) {
      const limit = pLimit(concurrency);
      // A section within a section is one with it.
      if (sections.getStore()) return sections.run({ limit }, section);
      return oneByOne(() => sections.run({ limit }, section));
    },
    spent: () => spendings.length,
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

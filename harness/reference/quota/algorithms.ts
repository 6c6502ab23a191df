import type { Admission, Limiter, LimiterAlgorithm, QuotaPlan } from './limiter.ts';

/** How the requests of a key are counted, by a state of type `S`. */
interface Counting<S> {
  /** The state now, from that after the last request; undefined before the first. */
  readonly current: (last: S | undefined, nowMs: number) => S;
  readonly admits: (state: S, nowMs: number) => boolean;
  /** The state after one more admitted request. */
  readonly counted: (state: S, nowMs: number) => S;
  /** The state after a refused request; the same if left out. */
  readonly refused?: (state: S, nowMs: number) => S;
  /** The state after the answer to an admitted request; the same if left out. */
  readonly released?: (state: S) => S;
  readonly told: (state: S, nowMs: number) => Pick<Admission, 'remaining' | 'renewsInMs'>;
  /** Milliseconds for which a request that is admitted in this state is held back. */
  readonly delayMs?: (state: S, nowMs: number) => number;
}

function countingBy<S>(counting: Counting<S>): Limiter {
  const { current, admits, counted, refused = (state) => state, released, told, delayMs } = counting;
  const states = new Map<string, S>();
  return {
    take(key, nowMs) {
      const before = current(states.get(key), nowMs);
      const admitted = admits(before, nowMs);
      const after = admitted ? counted(before, nowMs) : refused(before, nowMs);
      states.set(key, after);
      const held = admitted && delayMs ? { delayMs: delayMs(before, nowMs) } : {};
      return { admitted, ...told(after, nowMs), ...held };
    },
    peek(key, nowMs) {
      const state = current(states.get(key), nowMs);
      return { admitted: admits(state, nowMs), ...told(state, nowMs) };
    },
    release(key, nowMs) {
      if (released) states.set(key, released(current(states.get(key), nowMs)));
    },
  };
}

interface Window {
  readonly endsAt: number;
  readonly used: number;
  readonly isRefusing: boolean;
}

/**
 * A counter per key that starts anew when its window ends. `endOf` says when a window opened now will end, `isExtending`
 * whether a request that is admitted, or refused, has the window end as if it had opened it.
 */
function windowed(
  plan: QuotaPlan,
  endOf: (nowMs: number) => number,
  isExtending: (admitted: boolean, window: Window) => boolean = () => false,
): Limiter {
  const endAfter = (window: Window, admitted: boolean, nowMs: number): number =>
    isExtending(admitted, window) ? endOf(nowMs) : window.endsAt;
  return countingBy<Window>({
    current: (last, nowMs) =>
      last && nowMs < last.endsAt ? last : { endsAt: endOf(nowMs), used: 0, isRefusing: false },
    admits: ({ used }) => used < plan.requests,
    counted: (window, nowMs) => ({
      ...window,
      used: window.used + 1,
      endsAt: endAfter(window, true, nowMs),
    }),
    refused: (window, nowMs) => ({ ...window, isRefusing: true, endsAt: endAfter(window, false, nowMs) }),
    told: ({ used, endsAt }, nowMs) => ({
      remaining: plan.requests - used,
      renewsInMs: used === 0 ? 0 : endsAt - nowMs,
    }),
  });
}

/** A window that certain requests open anew: a client that goes on sending them waits for ever. */
export const extendedWindow =
  (isExtending: (admitted: boolean, window: Window) => boolean): LimiterAlgorithm =>
  (plan) =>
    windowed(plan, (nowMs) => nowMs + plan.windowMs, isExtending);

/** Windows run from the first request of a key. */
export const fixedWindow: LimiterAlgorithm = extendedWindow(() => false);

/** Windows are those of the clock: they end at multiples of the window since the epoch. */
export const fixedWindowAligned: LimiterAlgorithm = (plan) =>
  windowed(plan, (nowMs) => (Math.floor(nowMs / plan.windowMs) + 1) * plan.windowMs);

/** A fixed window whose first refusal blocks the key for one window more, counted from the refusal. */
export const penaltyBlock = extendedWindow((admitted, { isRefusing }) => !admitted && !isRefusing);

/**
 * Any stretch of one window's length holds at most the plan's requests: each is remembered until it is that old.
 * `countsRefusals`: those that it refuses, too.
 */
const logged =
  (countsRefusals: boolean): LimiterAlgorithm =>
  ({ requests, windowMs }) =>
    countingBy<readonly number[]>({
      current: (log = [], nowMs) => log.filter((at) => nowMs - at < windowMs),
      admits: (log) => log.length < requests,
      counted: (log, nowMs) => [...log, nowMs],
      refused: (log, nowMs) => (countsRefusals ? [...log, nowMs] : log),
      told(log, nowMs) {
        const next = log[Math.max(0, log.length - requests)];
        return {
          remaining: Math.max(0, requests - log.length),
          renewsInMs: next === undefined ? 0 : next + windowMs - nowMs,
        };
      },
    });
export const slidingLog = logged(false);
/** A client that asks more often than it may is never served again. */
export const slidingLogOfAll = logged(true);

interface WindowCounters {
  readonly window: number;
  readonly current: number;
  readonly previous: number;
}

/**
 * Two counters per key, of the clock's window and the one before; the older one weighs as much as of it still lies
 * within the last window's length.
 */
export const slidingCounter: LimiterAlgorithm = ({ requests, windowMs }) => {
  const roomIn = ({ window, current, previous }: WindowCounters, nowMs: number): number =>
    Math.max(0, requests - previous * (window + 1 - nowMs / windowMs) - current);
  return countingBy<WindowCounters>({
    current(last, nowMs) {
      const window = Math.floor(nowMs / windowMs);
      if (last === undefined || last.window < window - 1) return { window, current: 0, previous: 0 };
      return last.window === window ? last : { window, current: 0, previous: last.current };
    },
    admits: (counters, nowMs) => roomIn(counters, nowMs) >= 1,
    counted: (counters) => ({ ...counters, current: counters.current + 1 }),
    told(counters, nowMs) {
      const { window, current, previous } = counters;
      const room = roomIn(counters, nowMs);
      if (previous === 0 && current === 0) return { remaining: Math.floor(room), renewsInMs: 0 };
      const endsInMs = (window + 1) * windowMs - nowMs;
      // One more than now: by the older counter losing weight, else by the newer one in the next window.
      const wanted = Math.floor(room) + 1;
      const soonMs = previous === 0 ? Number.POSITIVE_INFINITY : ((wanted - room) * windowMs) / previous;
      const over = current === 0 ? 0 : Math.max(0, 1 - (requests - wanted) / current);
      const renewsInMs = soonMs < endsInMs ? soonMs : endsInMs + over * windowMs;
      return { remaining: Math.floor(room), renewsInMs };
    },
  });
};

/** The same, but windows begin later by this share of a window. */
export const shiftedSlidingCounter =
  (share: number): LimiterAlgorithm =>
  (plan) => {
    const { take, peek } = slidingCounter(plan);
    const shiftMs = share * plan.windowMs;
    return { take: (key, atMs) => take(key, atMs - shiftMs), peek: (key, atMs) => peek(key, atMs - shiftMs) };
  };

/** A bucket of this size per key, refilled evenly, in one window by as much as the plan allows. */
export const smallBucket =
  (size: number): LimiterAlgorithm =>
  ({ requests, windowMs }) => {
    const msPerToken = windowMs / requests;
    return countingBy<{ readonly tokens: number; readonly at: number }>({
      current: (last, nowMs) => ({
        tokens: last ? Math.min(size, last.tokens + (nowMs - last.at) / msPerToken) : size,
        at: nowMs,
      }),
      admits: ({ tokens }) => tokens >= 1,
      counted: ({ tokens, at }) => ({ tokens: tokens - 1, at }),
      told: ({ tokens }) => ({
        remaining: Math.floor(tokens),
        renewsInMs: tokens >= size ? 0 : (1 - (tokens % 1)) * msPerToken,
      }),
    });
  };

/** A bucket of the plan's size. */
export const tokenBucket: LimiterAlgorithm = (plan) => smallBucket(plan.requests)(plan);

/**
 * Requests wait in a queue that is served evenly, one window for the plan's number; a request that finds it full is refused.
 * Sequential requests are never refused: each waits for its turn.
 */
export const leakyQueue =
  (room: number): LimiterAlgorithm =>
  ({ requests, windowMs }) => {
    const slotMs = windowMs / requests;
    // The state is the time of the next turn.
    return countingBy<number>({
      current: (turn, nowMs) => Math.max(turn ?? nowMs, nowMs),
      admits: (turn, nowMs) => turn - nowMs <= room * slotMs,
      counted: (turn) => turn + slotMs,
      told(turn, nowMs) {
        const waitMs = turn - nowMs;
        return {
          remaining: Math.max(0, room - Math.ceil(waitMs / slotMs)),
          renewsInMs: waitMs === 0 ? 0 : waitMs % slotMs || slotMs,
        };
      },
      delayMs: (turn, nowMs) => turn - nowMs,
    });
  };

/** Number of requests of a key that may be under way together; each takes `workMs`. */
export const concurrencyLimit =
  (together: number, workMs: number): LimiterAlgorithm =>
  () =>
    countingBy<number>({
      current: (count = 0) => count,
      admits: (count) => count < together,
      counted: (count) => count + 1,
      released: (count) => Math.max(0, count - 1),
      told: (count) => ({ remaining: Math.max(0, together - count), renewsInMs: count === 0 ? 0 : workMs }),
      delayMs: () => workMs,
    });

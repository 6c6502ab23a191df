import type { Admission, Limiter, LimiterAlgorithm, QuotaPlan } from './limiter.ts';

interface Window {
  endsAt: number;
  used: number;
}

/**
 * A counter per key that starts anew when its window ends. `endOf` says when a window opened now will end, `isExtending`
 * whether a request that is admitted, or refused, has the window end as if it had opened it.
 */
function windowed(
  plan: QuotaPlan,
  endOf: (nowMs: number) => number,
  isExtending: (admitted: boolean) => boolean = () => false,
): Limiter {
  const windows = new Map<string, Window>();

  const current = (key: string, nowMs: number): Window => {
    const window = windows.get(key);
    return window !== undefined && nowMs < window.endsAt ? window : { endsAt: endOf(nowMs), used: 0 };
  };
  const admission = (window: Window, admitted: boolean, nowMs: number): Admission => ({
    admitted,
    remaining: plan.requests - window.used,
    renewsInMs: window.used === 0 ? 0 : window.endsAt - nowMs,
  });

  return {
    take(key, nowMs) {
      const window = current(key, nowMs);
      const admitted = window.used < plan.requests;
      if (admitted) {
        window.used += 1;
        windows.set(key, window);
      }
      if (isExtending(admitted)) window.endsAt = endOf(nowMs);
      return admission(window, admitted, nowMs);
    },
    peek(key, nowMs) {
      const window = current(key, nowMs);
      return admission(window, window.used < plan.requests, nowMs);
    },
  };
}

/** Windows run from the first request of a key. */
export const fixedWindow: LimiterAlgorithm = (plan) => windowed(plan, (nowMs) => nowMs + plan.windowMs);

/** A window that certain requests open anew: a client that goes on sending them waits for ever. */
export const extendedWindow =
  (isExtending: (admitted: boolean) => boolean): LimiterAlgorithm =>
  (plan) =>
    windowed(plan, (nowMs) => nowMs + plan.windowMs, isExtending);

/** Windows are those of the clock: they end at multiples of the window since the epoch. */
export const fixedWindowAligned: LimiterAlgorithm = (plan) =>
  windowed(plan, (nowMs) => (Math.floor(nowMs / plan.windowMs) + 1) * plan.windowMs);

/** A fixed window whose first refusal blocks the key for one window more, counted from the refusal. */
export const penaltyBlock: LimiterAlgorithm = (plan) => {
  const limiters = new Map<string, Limiter>();
  const blockedUntil = new Map<string, number>();

  const limiterOf = (key: string, nowMs: number): Limiter => {
    const until = blockedUntil.get(key);
    if (until !== undefined && nowMs >= until) {
      blockedUntil.delete(key);
      limiters.delete(key);
    }
    const limiter = limiters.get(key) ?? fixedWindow(plan);
    limiters.set(key, limiter);
    return limiter;
  };
  const ask =
    (how: 'take' | 'peek'): Limiter['take'] =>
    (key, nowMs) => {
      const limiter = limiterOf(key, nowMs);
      const admission = blockedUntil.has(key) ? limiter.peek(key, nowMs) : limiter[how](key, nowMs);
      if (how === 'take' && !admission.admitted && !blockedUntil.has(key)) {
        blockedUntil.set(key, nowMs + plan.windowMs);
      }
      const until = blockedUntil.get(key);
      return until === undefined ? admission : { admitted: false, remaining: 0, renewsInMs: until - nowMs };
    };
  return { take: ask('take'), peek: ask('peek') };
};

/** Any stretch of one window's length holds at most the plan's requests: each is remembered until it is that old. */
export const slidingLog: LimiterAlgorithm = (plan) => {
  const logs = new Map<string, number[]>();

  const recent = (key: string, nowMs: number): number[] =>
    (logs.get(key) ?? []).filter((at) => nowMs - at < plan.windowMs);
  const admission = (log: readonly number[], admitted: boolean, nowMs: number): Admission => {
    const [oldest] = log;
    return {
      admitted,
      remaining: plan.requests - log.length,
      renewsInMs: oldest === undefined ? 0 : oldest + plan.windowMs - nowMs,
    };
  };

  return {
    take(key, nowMs) {
      const log = recent(key, nowMs);
      const admitted = log.length < plan.requests;
      if (admitted) log.push(nowMs);
      logs.set(key, log);
      return admission(log, admitted, nowMs);
    },
    peek(key, nowMs) {
      const log = recent(key, nowMs);
      return admission(log, log.length < plan.requests, nowMs);
    },
  };
};

interface WindowCounters {
  readonly window: number;
  readonly current: number;
  readonly previous: number;
}

/**
 * Two counters per key, of the clock's window and the one before; the older one weighs as much as of it still lies
 * within the last window's length.
 */
export const slidingCounter: LimiterAlgorithm = (plan) => weighed(plan, 0);

/** The same, but windows begin later by this share of a window. */
export const shiftedSlidingCounter =
  (share: number): LimiterAlgorithm =>
  (plan) =>
    weighed(plan, share * plan.windowMs);

function weighed(plan: QuotaPlan, shiftMs: number): Limiter {
  const counters = new Map<string, WindowCounters>();

  const current = (key: string, nowMs: number): WindowCounters => {
    const window = Math.floor(nowMs / plan.windowMs);
    const known = counters.get(key);
    if (known === undefined || known.window < window - 1) return { window, current: 0, previous: 0 };
    return known.window === window ? known : { window, current: 0, previous: known.current };
  };
  const admission = (of: WindowCounters, room: number, admitted: boolean, nowMs: number): Admission => {
    const endsInMs = (of.window + 1) * plan.windowMs - nowMs;
    // One more than now: by the older counter losing weight, else by the newer one in the next window.
    const wanted = Math.floor(room) + 1;
    const soonMs =
      of.previous === 0 ? Number.POSITIVE_INFINITY : ((wanted - room) * plan.windowMs) / of.previous;
    const over = of.current === 0 ? 0 : Math.max(0, 1 - (plan.requests - wanted) / of.current);
    const renewsInMs = soonMs < endsInMs ? soonMs : endsInMs + over * plan.windowMs;
    const whole = of.previous === 0 && of.current === 0;
    return { admitted, remaining: Math.floor(room), renewsInMs: whole ? 0 : renewsInMs };
  };
  const roomIn = (of: WindowCounters, nowMs: number): number => {
    const share = of.window + 1 - nowMs / plan.windowMs;
    return Math.max(0, plan.requests - of.previous * share - of.current);
  };

  return {
    take(key, atMs) {
      const nowMs = atMs - shiftMs;
      const before = current(key, nowMs);
      const room = roomIn(before, nowMs);
      const admitted = room >= 1;
      const after = admitted ? { ...before, current: before.current + 1 } : before;
      counters.set(key, after);
      return admission(after, roomIn(after, nowMs), admitted, nowMs);
    },
    peek(key, atMs) {
      const nowMs = atMs - shiftMs;
      const of = current(key, nowMs);
      const room = roomIn(of, nowMs);
      return admission(of, room, room >= 1, nowMs);
    },
  };
}

interface Bucket {
  readonly tokens: number;
  readonly at: number;
}

/** A bucket of the plan's size per key, refilled evenly, one window for a whole bucket. */
export const tokenBucket: LimiterAlgorithm = (plan) => bucketOf(plan, plan.requests);

/** A bucket refilled as fast, but of another size: requests beyond it are refused however few came before. */
export const smallBucket =
  (size: number): LimiterAlgorithm =>
  (plan) =>
    bucketOf(plan, size);

function bucketOf(plan: QuotaPlan, size: number): Limiter {
  const buckets = new Map<string, Bucket>();
  const msPerToken = plan.windowMs / plan.requests;

  const filled = (key: string, nowMs: number): number => {
    const bucket = buckets.get(key);
    if (bucket === undefined) return size;
    return Math.min(size, bucket.tokens + (nowMs - bucket.at) / msPerToken);
  };
  const admission = (tokens: number, admitted: boolean): Admission => ({
    admitted,
    remaining: Math.floor(tokens),
    renewsInMs: tokens >= size ? 0 : (1 - (tokens % 1)) * msPerToken,
  });

  return {
    take(key, nowMs) {
      const tokens = filled(key, nowMs);
      const admitted = tokens >= 1;
      const left = admitted ? tokens - 1 : tokens;
      buckets.set(key, { tokens: left, at: nowMs });
      return admission(left, admitted);
    },
    peek(key, nowMs) {
      const tokens = filled(key, nowMs);
      return admission(tokens, tokens >= 1);
    },
  };
}

/**
 * Requests wait in a queue that is served evenly, one window for the plan's number; a request that finds it full is refused.
 * Sequential requests are never refused: each waits for its turn.
 */
export const leakyQueue =
  (room: number): LimiterAlgorithm =>
  (plan) => {
    const turns = new Map<string, number>();
    const slotMs = plan.windowMs / plan.requests;

    const waitOf = (key: string, nowMs: number): number => Math.max(0, (turns.get(key) ?? nowMs) - nowMs);
    const admission = (waitMs: number, admitted: boolean): Admission => {
      const waiting = Math.ceil(waitMs / slotMs);
      return {
        admitted,
        remaining: Math.max(0, room - waiting),
        renewsInMs: waitMs === 0 ? 0 : waitMs % slotMs || slotMs,
      };
    };

    return {
      take(key, nowMs) {
        const waitMs = waitOf(key, nowMs);
        const admitted = waitMs <= room * slotMs;
        if (admitted) turns.set(key, nowMs + waitMs + slotMs);
        return { ...admission(waitOf(key, nowMs), admitted), delayMs: admitted ? waitMs : 0 };
      },
      peek(key, nowMs) {
        const waitMs = waitOf(key, nowMs);
        return admission(waitMs, waitMs <= room * slotMs);
      },
    };
  };

/** Number of requests of a key that may be under way together; each takes `workMs`. */
export const concurrencyLimit =
  (together: number, workMs: number): LimiterAlgorithm =>
  () => {
    const underWay = new Map<string, number>();
    const admission = (count: number, admitted: boolean): Admission => ({
      admitted,
      remaining: Math.max(0, together - count),
      renewsInMs: count === 0 ? 0 : workMs,
    });
    return {
      take(key) {
        const count = underWay.get(key) ?? 0;
        const admitted = count < together;
        if (admitted) underWay.set(key, count + 1);
        return { ...admission(admitted ? count + 1 : count, admitted), delayMs: admitted ? workMs : 0 };
      },
      peek(key) {
        const count = underWay.get(key) ?? 0;
        return admission(count, count < together);
      },
      release(key) {
        underWay.set(key, Math.max(0, (underWay.get(key) ?? 0) - 1));
      },
    };
  };

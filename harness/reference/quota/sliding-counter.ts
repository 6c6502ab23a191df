import type { Admission, Limiter, LimiterAlgorithm, QuotaPlan } from './limiter.ts';

interface Counters {
  readonly window: number;
  readonly current: number;
  readonly previous: number;
}

/**
 * Two counters per key, of the clock's window and the one before; the older one weighs as much as of it still lies
 * within the last window's length.
 */
export const slidingCounter: LimiterAlgorithm = (plan) => weighed(plan, 0);

/** The same, by a clock of its own: its windows begin so much later, as a share of one. */
export const shiftedSlidingCounter =
  (share: number): LimiterAlgorithm =>
  (plan) =>
    weighed(plan, share * plan.windowMs);

function weighed(plan: QuotaPlan, shiftMs: number): Limiter {
  const counters = new Map<string, Counters>();

  const current = (key: string, nowMs: number): Counters => {
    const window = Math.floor(nowMs / plan.windowMs);
    const known = counters.get(key);
    if (known === undefined || known.window < window - 1) return { window, current: 0, previous: 0 };
    return known.window === window ? known : { window, current: 0, previous: known.current };
  };
  const admission = (of: Counters, room: number, admitted: boolean, nowMs: number): Admission => {
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
  const roomIn = (of: Counters, nowMs: number): number => {
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

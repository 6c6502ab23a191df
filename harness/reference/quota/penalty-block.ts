import { fixedWindow } from './fixed-window.ts';
import type { Limiter, LimiterAlgorithm } from './limiter.ts';

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

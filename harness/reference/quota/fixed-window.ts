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

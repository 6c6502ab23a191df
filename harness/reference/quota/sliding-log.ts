import type { Admission, LimiterAlgorithm } from './limiter.ts';

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

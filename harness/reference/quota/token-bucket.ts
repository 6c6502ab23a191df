import type { Admission, Limiter, LimiterAlgorithm, QuotaPlan } from './limiter.ts';

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

import type { Admission, LimiterAlgorithm } from './limiter.ts';

/** So many requests of a key may be under way together, however many follow one another; each takes `workMs`. */
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

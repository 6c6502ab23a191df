import { describe, expect, it } from 'vitest';
import fc from '../../base/fixtures/properties.ts';
import { fixedWindow, fixedWindowAligned, slidingCounter, slidingLog, tokenBucket } from './algorithms.ts';
import type { LimiterAlgorithm, QuotaPlan } from './limiter.ts';

const PLAN: QuotaPlan = { requests: 20, windowMs: 3_000 };
/** A moment at 70 % of a clock-aligned window. */
const START = 3_000_000 + 2_100;

const ALGORITHMS: Readonly<Record<string, LimiterAlgorithm>> = {
  fixedWindow,
  fixedWindowAligned,
  slidingLog,
  tokenBucket,
  slidingCounter,
};

/** How many of the requests at these times after the start are admitted. */
function admitted(
  algorithm: LimiterAlgorithm,
  times: readonly (readonly [afterMs: number, requests: number])[],
): number[] {
  const limiter = algorithm(PLAN);
  return times.map(([afterMs, requests]) => {
    const admissions = Array.from({ length: requests }, () => limiter.take('key', START + afterMs));
    return admissions.filter((admission) => admission.admitted).length;
  });
}

// That each admits the plan, and counts every key apart, the proof of the variants shows.
describe.each(Object.entries(ALGORITHMS))('%s', (_, algorithm) => {
  it('tells how a key stands without counting anything', () => {
    const limiter = algorithm(PLAN);
    expect(limiter.peek('key', START)).toEqual({ admitted: true, remaining: 20, renewsInMs: 0 });
    const taken = limiter.take('key', START);
    expect(taken.remaining).toBe(19);
    expect(limiter.peek('key', START)).toEqual(taken);
  });

  it('admits again when it said, and not before', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 1, maxLength: 60 }), (pauses) => {
        const limiter = algorithm({ requests: 5, windowMs: 1_000 });
        let nowMs = START;
        for (const pause of pauses) {
          nowMs += pause;
          const admission = limiter.take('key', nowMs);
          if (admission.admitted) continue;
          expect(admission.remaining).toBe(0);
          expect(admission.renewsInMs).toBeGreaterThan(0);
          expect(limiter.peek('key', nowMs + admission.renewsInMs + 1e-6).admitted).toBe(true);
          expect(limiter.peek('key', nowMs + admission.renewsInMs - 1).admitted).toBe(false);
        }
      }),
    );
  });
});

describe('the algorithms, seen from outside', () => {
  // Half the quota at once, half at 0.6 W, more than the quota just after W.
  const probe = [
    [0, 10],
    [1_800, 10],
    [3_100, 25],
  ] as const;

  it.each([
    ['fixedWindow', [10, 10, 20]],
    ['fixedWindowAligned', [10, 10, 10]],
    ['slidingLog', [10, 10, 10]],
    ['tokenBucket', [10, 10, 18]],
    ['slidingCounter', [10, 10, 7]],
  ])('%s is told by what it admits around a window’s end', (name, expected) => {
    expect(admitted(ALGORITHMS[name] ?? fixedWindow, probe)).toEqual(expected);
  });

  it('a clock-aligned window ends on the clock, an anchored one with its own length', () => {
    const after = [
      [0, 20],
      [901, 20],
    ] as const;
    expect(admitted(fixedWindowAligned, after)).toEqual([20, 20]);
    expect(admitted(fixedWindow, after)).toEqual([20, 0]);
  });

  it('a bucket gives one request back after one slot', () => {
    const after = [
      [0, 20],
      [149, 1],
      [151, 2],
    ] as const;
    expect(admitted(tokenBucket, after)).toEqual([20, 0, 1]);
  });
});

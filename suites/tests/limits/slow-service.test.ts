import { describe, expect, it } from 'vitest';
import { simulatedClock } from '../../../harness/engine/simulation/clock.ts';
import { epochClock } from '../../../harness/reference/behavior/clock.ts';
import { limits } from '../../limits/limits.suite.ts';
import { status } from '../../status/status.suite.ts';
import { amiss, findings, judgedServed, saidOf } from '../fixtures/judged.ts';
import { limited, limitedConfig, simulated } from '../fixtures/limited-service.ts';

/** A service, or a machine, that takes so long for each answer that a window ends while it is being spent. */

const PLAN = { requests: 100, windowMs: 60_000 };
const ANSWER_MS = 400;
const FURTHER = { requests: 10, windowMs: 1_000 };

interface Shorter {
  readonly limit: typeof FURTHER;
  readonly kind?: string;
  /** It is asked behind the main one, which has counted what it refuses. */
  readonly isSecond: boolean;
  /** Whether refusals tell when to come back; if left out, those of a first one do. */
  readonly isTold?: boolean;
}

/** What is found where both limits are kept, or the main one alone. */
async function withFurther(
  answerMs: number,
  isKept: boolean,
  kind = 'fixed-window',
  stated = PLAN,
  shorter: Shorter = { limit: FURTHER, isSecond: false },
) {
  const { limit, kind: furtherKind = kind, isSecond, isTold = !isSecond } = shorter;
  const clock = simulatedClock();
  const { serve } = limited({
    make: () => {
      const [main, further] = [simulated(kind, stated), simulated(furtherKind, limit)];
      let by = main;
      const admits = (limiter: typeof main, atMs: number) => {
        by = limiter;
        return limiter.decide(atMs, 0) !== null;
      };
      return {
        decide: (atMs) => {
          const inOrder = [...(isKept ? [further] : []), main];
          if (isSecond) inOrder.reverse();
          return inOrder.every((limiter) => admits(limiter, atMs)) ? 0 : null;
        },
        retryAfterMs: (atMs) => by.retryAfterMs(atMs),
      };
    },
    now: epochClock(clock).now,
    admitted: () => clock.sleep(answerMs).then(() => false),
    refuse({ answer, response, limiter, atMs }) {
      if (isTold) response.setHeader('Retry-After', Math.ceil(limiter.retryAfterMs(atMs) / 1_000));
      answer(429, { error: 'too many requests' });
    },
  });
  const config = await limitedConfig(stated);
  const plan = config.plan && { ...config.plan, further: [limit] };
  return judgedServed(serve, { ...config, plan }, [limits], { clock }).finally(clock.stop);
}

/** What the exact count comes to. */
async function exactCount(limit: number): Promise<string> {
  const clock = simulatedClock();
  const { serve } = limited({
    make: () => simulated('fixed-window', { ...PLAN, requests: limit }),
    now: epochClock(clock).now,
    admitted: () => clock.sleep(ANSWER_MS).then(() => false),
  });
  const setting = { clock };
  const all = await judgedServed(serve, await limitedConfig(PLAN), [status, limits], setting);
  clock.stop();
  return saidOf(all, 'limits.exact');
}

describe('a service that answers slowly, so that the window ends within the burst', () => {
  it.each([
    ['as many as documented', 100, /^pass: request 101 is the first refused/],
    ['one less', 99, /^fail: .*got request 100/],
    ['one more', 101, /^fail: .*got request 102/],
  ])('and admits %s: is counted again', async (_, limit, wanted) => {
    expect(await exactCount(limit)).toMatch(wanted);
  });
});

describe('a further limit that is stated', () => {
  it.each([20, 150])('is judged by requests together where answers take %d ms each', async (answerMs) => {
    expect(findings(await withFurther(answerMs, true))).toEqual([]);
    expect(saidOf(await withFurther(answerMs, true), 'limits.further')).toMatch(/^pass: 10 requests in 1 s/);
    expect(findings(await withFurther(answerMs, false))).toEqual(['fail limits.further']);
  });

  it('is counted once more where a window may have ended among the first that were too many', async () => {
    const few = { requests: 20, windowMs: 60_000 };
    const missing = await withFurther(150, false, 'fixed-window', few);
    expect(saidOf(missing, 'limits.further')).toMatch(/^fail: .* none refused of 17/);
    expect(amiss(await withFurther(150, true, 'fixed-window', few))).toEqual([]);
  });

  it.each([
    ['token-bucket', 2],
    ['token-bucket', 20],
    ['token-bucket', 60],
    ['token-bucket', 150],
    ['sliding-log', 60],
    ['sliding-counter', 60],
  ])(
    'is not taken for the main one where both are a %s, and answers take %d ms each',
    async (kind, answerMs) => {
      expect(amiss(await withFurther(answerMs, true, kind))).toEqual([]);
    },
  );

  it.each([
    [20, 5, 'sliding-log', 'sliding-log'],
    [60, 8, 'fixed-window', 'sliding-log'],
    [20, 5, 'token-bucket', 'token-bucket'],
    [60, 5, 'sliding-log', 'fixed-window-aligned'],
    [20, 19, 'token-bucket', 'sliding-log'],
    [100, 5, 'fixed-window-aligned', 'sliding-counter on the clock'],
  ])(
    'may refuse what the main one of %d has counted: %d in a second, a %s and a %s',
    async (requests, further, kind, furtherKind) => {
      const stated = { ...PLAN, requests };
      const shorter = { limit: { ...FURTHER, requests: further }, kind: furtherKind, isSecond: true };
      expect(findings(await withFurther(60, true, kind, stated, shorter))).toEqual([
        'warning limits.retry-after',
      ]);
    },
  );

  it.each([
    [100, 'sliding-counter', 10, 5_000, 'token-bucket', 60, { isSecond: false, isTold: false }],
    [100, 'sliding-counter', 3, 1_000, 'sliding-log', 2, { isSecond: true, isTold: true }],
    [20, 'sliding-counter on the clock', 8, 10_000, 'sliding-log', 150, { isSecond: true, isTold: true }],
  ])(
    'may make a count of %d by a %s so long that a window ends within it: %d in %d ms, a %s',
    async (requests, kind, further, windowMs, furtherKind, answerMs, order) => {
      const shorter = { limit: { requests: further, windowMs }, kind: furtherKind, ...order };
      const { outcomes } = await withFurther(answerMs, true, kind, { ...PLAN, requests }, shorter);
      expect(outcomes['limits.exact']).toBe('skipped');
    },
  );

  it('is found to be missing where an answer takes longer than its window', async () => {
    expect(saidOf(await withFurther(1_200, false), 'limits.further')).toMatch(/^fail: .* served within 2/);
  });
});

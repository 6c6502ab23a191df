import type { RequestListener } from 'node:http';
import { describe, expect, it } from 'vitest';
import { limits } from '../../limits/limits.suite.ts';
import { exact } from '../../limits/measurement.ts';
import { judgedServed, saidOf } from '../fixtures/judged.ts';
import { limited, limitedConfig, simulated } from '../fixtures/limited-service.ts';
import { weather } from '../fixtures/weather.ts';

/**
 * A machine that stands still for a moment, at each place of a measurement in turn: a window may have ended meanwhile,
 * and what nobody saw decides nothing.
 */

const PLAN = { requests: 6, windowMs: 3_000 };
const SEED = Number(process.env.CONFORM_SEED ?? 1);
const STALL_MS = 1_100;
const ANSWER_MS = 10;
/** Into a window of the clock: whichever request is held up, the window ends meanwhile on one of these days. */
const STARTS_MS = [0, 1_000, 2_000];
/** Every fourth of the 24 requests of the measurement and of the counts after it; `CONFORM_SEED` tries others. */
const placesFrom = (first: number) => Array.from({ length: 6 }, (_, at) => 1 + 4 * at + ((first + SEED) % 4));

const LIMITERS = [
  ...['fixed-window', 'sliding-log'].map((name) => ({ name, startMs: 0 })),
  ...STARTS_MS.map((startMs) => ({ name: 'fixed-window-aligned', startMs })),
];

const config = await limitedConfig(PLAN);
const suites = [{ ...limits, checks: limits.checks.filter(({ id }) => id === exact.id) }];

/** What is said of the limit where the request of that number, from 1, is held up on its way. */
async function said({ name, startMs }: (typeof LIMITERS)[number], requests: number, place: number) {
  const { clock, random, pass } = weather(1, Date.UTC(2026, 0, 1) + startMs);
  const { serve } = limited({
    make: () => simulated(name, { ...PLAN, requests }),
    now: () => clock.wallNow().getTime(),
  });
  let sent = 0;
  const late: RequestListener = (request, response) => {
    sent += 1;
    pass(ANSWER_MS + (sent === place ? STALL_MS : 0));
    serve(request, response);
  };
  return saidOf(await judgedServed(late, config, suites, { clock, random }), exact.id);
}

describe.each(LIMITERS)('of a $name that is asked $startMs ms into a window of the clock', (limiter) => {
  it.each([
    ['the documented number', 0, /^(?:pass|blocked): /, /^pass: /],
    ['one less', -1, /^(?:fail: .*got request 6 |blocked: )/, /^fail: /],
    ['one more', 1, /^(?:fail: .*got request 8 |blocked: )/, /^fail: /],
  ])('with %s, nothing wrong is said wherever it is held up', async (_number, more, lawful, wanted) => {
    const all = [];
    for (const place of placesFrom(2 + more + limiter.startMs / 1_000))
      all.push(await said(limiter, PLAN.requests + more, place));
    expect(all.filter((each) => !lawful.test(each))).toEqual([]);
    expect(all.some((each) => wanted.test(each))).toBe(true);
  });
});

import { describe, expect, it } from 'vitest';
import { judgedRun, MATRIX, type MatrixRun, misjudged } from '../fixtures/limit-matrix.ts';

/** A part of what `npm run benchmark:limits` tries. `CONFORM_SEED` tries other runs. */
const FIRST = Number(process.env.CONFORM_SEED ?? 1);
const PLANS = [
  { requests: 20, windowMs: 2_000 },
  { requests: 60, windowMs: 60_000 },
  { requests: 100, windowMs: 10_000 },
];

describe('a limiter, with the default budget, on an idle and on a busy machine', () => {
  it.each(Object.keys(MATRIX))('%s: its faults are found, and no other', async (name) => {
    for (const plan of PLANS) {
      for (const load of ['quiet', 'busy'] as const) {
        const run = { name, plan, load, seed: FIRST };
        expect(await misjudged(run), JSON.stringify(run)).toEqual([]);
      }
    }
  });
});

/** Runs whose chances hide the fault from one burst, or let another limiter explain it. */
const HARD: readonly (readonly [string, number, MatrixRun['load'], number])[] = [
  ['refusals at random', 20, 'quiet', 13],
  ['refusals at random', 20, 'busy', 8],
  ['refusals at random', 20, 'busy', 34],
  ['answers held back', 20, 'busy', 3],
  ['answers held back', 1_000, 'quiet', 1],
  ['answers held back', 1_000, 'busy', 3],
  ['window, and a limit of concurrent requests', 100, 'busy', 1],
  ['bucket without burst', 100, 'busy', 1],
  ['bucket without burst', 60, 'busy', 5],
  ['bucket without burst', 60, 'busy', 15],
  ['only a limit of concurrent requests', 60, 'busy', 3],
  ['only a limit of concurrent requests', 60, 'busy', 12],
  ['only a limit of concurrent requests', 100, 'busy', 1],
  ['cluster with a count for each worker', 20, 'quiet', 7],
  ['cluster with a count for each worker', 60, 'quiet', 14],
  ['cluster with a count for each worker', 60, 'busy', 23],
  ['a quarter of the window', 100, 'busy', 1],
  ['half the window, by the clock', 100, 'busy', 7],
  ['token bucket', 1_000, 'busy', 2],
  ['documented burst, empty at first', 100, 'busy', 1],
  ['documented burst, empty at first', 1_000, 'quiet', 5],
  ['log of refusals as well', 20, 'quiet', 4],
  ['log of refusals as well', 60, 'quiet', 40],
  ['log of refusals as well', 100, 'busy', 3],
  ['answers held back', 100, 'busy', 23],
  ['half the window', 100, 'busy', 24],
  ['half the window', 100, 'busy', 35],
  ['only a limit of concurrent requests', 100, 'busy', 38],
  ['bucket without burst', 1_000, 'quiet', 1],
  ['bucket without burst', 100, 'busy', 16],
  ['half the window, by the clock', 20, 'busy', 20],
  ['half the window', 100, 'busy', 45],
  ['one too many', 1_000, 'busy', 3],
  ['one too many, by the clock', 1_000, 'busy', 3],
  ['sliding counter of a clock of its own', 1_000, 'busy', 8],
  ['half the wait in Retry-After', 100, 'busy', 20],
  ['sliding counter', 100, 'busy', 8],
  ['half the window', 100, 'busy', 27],
  ['half the window', 100, 'busy', 28],
  ['half the window, by the clock', 100, 'busy', 24],
  ['half the window, by the clock', 1_000, 'quiet', 1],
  ['a quarter of the window', 1_000, 'busy', 2],
  ['a quarter of the window', 1_000, 'busy', 11],
  ['fixed window', 1_000, 'busy', 23],
  ['a quarter of the window', 1_000, 'busy', 17],
  ['half the window, by the clock', 1_000, 'busy', 48],
  ['half the window, by the clock', 1_000, 'busy', 33],
  ['window, and a limit of concurrent requests', 1_000, 'busy', 3],
  ['only a limit of concurrent requests', 1_000, 'quiet', 1],
  ['window that refusals extend', 1_000, 'busy', 3],
  ['log of refusals as well', 1_000, 'busy', 1],
  ['half the wait in Retry-After', 1_000, 'busy', 3],
];

describe('a limiter with a window of a second', () => {
  it.each(HARD)('%s, %d requests, %s run %d: is judged right', async (name, requests, load, seed) => {
    expect(await misjudged({ name, plan: { requests, windowMs: 1_000 }, load, seed })).toEqual([]);
  });
});

/** The same with longer windows. */
const HARD_LONG: readonly (readonly [string, number, number, MatrixRun['load'], number])[] = [
  ['bucket without burst', 100, 10, 'busy', 6],
  ['bucket without burst', 1_000, 10, 'quiet', 1],
  ['block of two windows', 100, 10, 'busy', 42],
  ['a fifth more together', 100, 10, 'busy', 28],
  ['sliding counter of a clock of its own', 1_000, 60, 'busy', 4],
];

it.each(HARD_LONG)(
  '%s, %d requests in %d s, %s run %d: is judged right',
  async (name, requests, seconds, load, seed) => {
    const run: MatrixRun = { name, plan: { requests, windowMs: seconds * 1_000 }, load, seed };
    expect(await misjudged(run)).toEqual([]);
  },
);

describe('a service that no client from there can ask faster than documented', () => {
  it.each([
    ['answers held back, and refusals of many together', 'quiet'],
    ['only a limit of concurrent requests', 'busy'],
  ] as const)('%s, %s: is not judged by those refused of many together', async (name, load) => {
    const plan = { requests: 1_000, windowMs: 1_000 };
    const { messages } = await judgedRun({ name, plan, load, seed: 2 });
    expect(messages['limits.exact']).toContain(
      'as many at a time as are served are hardly more than documented',
    );
  });
});

describe('a window, and a limit of concurrent requests', () => {
  it('is named a window, and those refused together are told', async () => {
    const name = 'window, and a limit of concurrent requests';
    const plan = { requests: 60, windowMs: 3_000 };
    const { observations, messages } = await judgedRun({ name, plan, load: 'quiet', seed: 5 });
    expect(observations['limits.algorithm']).toBe('fixed-window');
    expect(messages['limits.algorithm']).toContain('as by a limit of concurrent requests');
  });
});

import { describe, expect, it } from 'vitest';
import { MATRIX, misjudged } from '../fixtures/limit-matrix.ts';

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
        for (const seed of [FIRST, FIRST + 1_000]) {
          const run = { name, plan, load, seed };
          expect(await misjudged(run), JSON.stringify(run)).toEqual([]);
        }
      }
    }
  });
});

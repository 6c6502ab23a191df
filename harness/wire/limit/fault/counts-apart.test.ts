import { describe, expect, it } from 'vitest';
import { at, ofQuota } from '../fixtures/observed.ts';
import { countsApart } from './counts-apart.ts';

const PLAN = { requests: 6, windowMs: 60_000 };

/** Requests sent one after the other, with what each answer told. */
function told(
  answers: readonly (readonly [limit: number, remaining: number, reset?: number | null])[],
  everyMs = 10,
) {
  return answers.map(([limit, remaining, resetSeconds = null], index) =>
    at(index * everyMs, 'admitted', { part: 'serial', quota: ofQuota(remaining, limit, { resetSeconds }) }),
  );
}

const all = (remaining: readonly number[], everyMs?: number) =>
  told(
    remaining.map((each) => [6, each] as const),
    everyMs,
  );

/** A limit of 6 and one of 3 by turns, each with the reset that its answers tell. */
const byTurns = (reset: number | null, other: number | null) =>
  told([5, 4, 3].flatMap((left) => [[6, left, reset] as const, [3, left - 3, other] as const]));

describe('counts of several instances', () => {
  it.each([
    ['take turns in order', all([5, 5, 4, 4, 3, 3, 2, 2]), 'at least 2 counts that go down by turns'],
    ['take turns at random', all([5, 5, 4, 3, 4, 5, 2, 4, 3]), 'at least 2 counts that go down by turns'],
    ['have other limits', byTurns(60, 59), 'limits of 6 and 3 by turns'],
  ])('are told when they %s', (_, observations, fault) => {
    expect(countsApart(observations, PLAN)).toBe(fault);
  });

  it.each([
    ['one count', all([5, 4, 3, 2, 1, 0])],
    ['one count of which others spend', all([5, 3, 2, 0])],
    ['a window that ends meanwhile', all([2, 1, 0, 5, 4, 3, 2, 1, 0])],
    ['a count that is told late', all([5, 5, 5, 2, 2, 2, 0, 0])],
    ['a limit that is kept', all([5, 5, 4, 4, 3, 3])],
    ['what flows back meanwhile', all([5, 5, 4, 4, 3, 3, 2, 2], 5_000)],
    [
      'a limit that was changed',
      told([
        [6, 5, 60],
        [6, 4, 60],
        [3, 2, 60],
        [3, 1, 60],
      ]),
    ],
    ['limits for several windows', byTurns(60, 1)],
    ['limits without a reset', byTurns(null, null)],
    ['nothing', []],
  ])('are not seen in %s', (_, observations) => {
    expect(countsApart(observations, PLAN)).toBeNull();
  });
});

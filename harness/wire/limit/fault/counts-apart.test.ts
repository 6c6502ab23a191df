import { describe, expect, it } from 'vitest';
import { UNKNOWN_POLICY } from '../../quota/dialect.ts';
import { at, ofQuota } from '../fixtures/observed.ts';
import type { LimitObservation } from '../observed/observation.ts';
import { countsApart, isApart, sharingFault } from './counts-apart.ts';

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
  ])('are not seen in %s', (_, observations) => {
    expect(countsApart(observations, PLAN)).toBeNull();
  });

  it.each([
    ['nothing', []],
    ['two reports', all([5, 4])],
    ['answers without reports', all([5, 4, 3]).map((each) => ({ ...each, quota: null }))],
  ])('cannot be seen in %s', (_, observations) => {
    expect(countsApart(observations, PLAN)).toBeUndefined();
  });
});

describe('the bounds of counts that take turns', () => {
  const turns = [5, 5, 4, 4, 3, 3, 2, 2];
  const found = (observations: readonly LimitObservation[]) => countsApart(observations, PLAN);
  const text = 'at least 2 counts that go down by turns';

  it('are those of requests in turn that were surely served', () => {
    const seen = all(turns);
    expect(found(seen)).toBe(text);
    expect(found(seen.map((each) => ({ ...each, counted: 'maybe' })))).toBeUndefined();
    expect(found(seen.map((each) => ({ ...each, part: 'probe' })))).toBeUndefined();
    expect(found(seen.map((each) => ({ ...each, part: 'before' })))).toBeUndefined();
    expect(found(seen.map((each) => ({ ...each, part: 'parallel' })))).toBeUndefined();
    expect(found(seen.map((each) => ({ ...each, fate: 'refused' })))).toBeUndefined();
    expect(
      found([...seen, ...seen.slice(0, 2).map((each) => ({ ...each, part: 'probe' as const, sentMs: 90 }))]),
    ).toBe(text);
  });

  it('are those of one window', () => {
    const later = all(turns).map((each, index) =>
      index < 4 ? each : { ...each, sentMs: each.sentMs + 60_000 },
    );
    expect(found(later)).toBeNull();
  });

  it('are more than the limit admits, in less time than one of it flows back', () => {
    // One each 10 s.
    expect(found(all(turns, 1_428))).toBe(text);
    expect(found(all(turns, 1_429))).toBeNull();
    expect(found(all([5, 5, 4, 4, 3, 3]))).toBeNull();
    expect(found(all([5, 5, 4, 4, 3, 3, 2]))).toBe(text);
    const sooner = at(-5, 'admitted', { part: 'before' });
    expect(found([sooner, ...all([5, 5, 4, 4, 3, 3])])).toBe(text);
    expect(found([{ ...sooner, sentMs: -59_950 }, ...all([5, 5, 4, 4, 3, 3])])).toBeNull();
    expect(found([{ ...sooner, sentMs: -59_949 }, ...all([5, 5, 4, 4, 3, 3])])).toBe(text);
  });

  it('are of three answers each, and go on four times', () => {
    expect(found(all([5, 5, 4, 4, 3, 2, 1]))).toBeNull();
    expect(found(all([5, 4, 3, 5, 4, 3, 2]))).toBeNull();
    expect(found(all([5, 5, 5, 4, 4, 4, 3, 3, 3]))).toBe('at least 3 counts that go down by turns');
  });
});

describe('the bounds of limits that take turns', () => {
  const alternating = (resets: readonly number[], everyMs = 10) =>
    countsApart(
      told(
        resets.map((reset, index) => [index % 2 === 0 ? 6 : 3, 5 - Math.floor(index / 2), reset] as const),
        everyMs,
      ),
      PLAN,
    );

  it('are four turns, with resets within two seconds', () => {
    expect(alternating([60, 60, 60, 60])).toBeNull();
    expect(alternating([60, 60, 60, 60, 60])).toBe('limits of 6 and 3 by turns');
    expect(alternating([60, 58, 60, 58, 60], 1)).toBeNull();
    expect(alternating([60, 58.1, 60, 58.1, 60], 1)).toBe('limits of 6 and 3 by turns');
    expect(alternating([60, 60, 60, 60, 50])).toBeNull();
    expect(alternating([60, 50, 40, 30, 20], 10_000)).toBe('limits of 6 and 3 by turns');
  });

  it('are told with the greatest first', () => {
    const seen = told([
      [3, 2, 60],
      [9, 8, 60],
      [6, 5, 60],
      [3, 1, 60],
      [9, 7, 60],
    ]);
    expect(countsApart(seen, PLAN)).toBe('limits of 9 and 6 and 3 by turns');
    expect(
      countsApart(
        told([
          [6, 5, 60],
          [6, 4, 60],
          [6, 3, 60],
          [6, 2, 60],
          [3, 2, 60],
        ]),
        PLAN,
      ),
    ).toBeNull();
  });
});

describe('the rest that two keys are told', () => {
  const limit = { requests: 20, windowMs: 60_000 };
  const policy = (remaining: number) => ({ ...UNKNOWN_POLICY, quota: 20, windowSeconds: 60, remaining });
  const first = (sentMs: number, left: number, more: Partial<LimitObservation> = {}) =>
    at(sentMs, 'admitted', {
      finishedMs: sentMs,
      part: 'serial',
      quota: ofQuota(left, 20, { policies: [policy(left)] }),
      ...more,
    });
  const second = (sentMs: number, remaining: number) => ({ sentMs, finishedMs: sentMs, remaining });
  const shared = (
    ...[observations, reports]: readonly [readonly LimitObservation[], readonly ReturnType<typeof second>[]]
  ) => sharingFault(observations, reports, limit, true);
  const apart = (
    ...[observations, reports]: readonly [readonly LimitObservation[], readonly ReturnType<typeof second>[]]
  ) => sharingFault(observations, reports, limit, false);

  it('show two counts if the second has more left than one and what flows back', () => {
    const seen = [first(0, 15), first(20, 14)];
    // One flows back in 3 s.
    expect(shared(seen, [second(10, 16)])).toBeNull();
    expect(shared(seen, [second(10, 17)])).toBe('17 left for the second key behind 15 for the first');
    expect(shared([first(0, 15), first(2_970, 14)], [second(2_960, 17)])).toBeNull();
    expect(shared([first(0, 15), first(2_970, 14)], [second(2_959, 17)])).not.toBeNull();
    expect(shared(seen, [second(10, 18), second(15, 17)])).toMatch(/^18 left/);
    // Fewer than five are gone.
    expect(shared([first(0, 16), first(20, 15)], [second(10, 20)])).toBeUndefined();
    // A window has ended.
    expect(shared([first(0, 15), first(20, 16)], [second(10, 20)])).toBeUndefined();
    expect(shared([first(0, 15), first(20, 15)], [second(10, 20)])).not.toBeUndefined();
    // At the same moment, and before the first.
    expect(shared([first(0, 15), first(10, 14)], [second(10, 20)])).not.toBeUndefined();
    expect(shared([first(11, 15), first(20, 14)], [second(10, 20)])).toBeUndefined();
    expect(shared([first(0, 15), first(9, 14)], [second(10, 20)])).toBeUndefined();
  });

  it('show one count if the first finds that one more is gone', () => {
    const seen = [first(0, 15), first(20, 13)];
    expect(apart(seen, [second(10, 14)])).toBe('14 left for the second key right behind 15 for the first');
    expect(apart(seen, [second(10, 13)])).toBeNull();
    expect(apart([first(0, 15), first(20, 14)], [second(10, 14)])).toBeNull();
    expect(apart([first(0, 15), first(20, 12)], [second(10, 14)])).toBeNull();
    const refused = at(12, 'refused', { part: 'serial' });
    expect(apart([first(0, 15), refused, first(20, 13)], [second(10, 14)])).not.toBeNull();
    const free = at(12, 'admitted', { counted: 'maybe' });
    expect(apart([first(0, 15), free, first(20, 13)], [second(10, 14)])).toBeUndefined();
    const silent = at(12, 'admitted');
    expect(apart([first(0, 15), silent, first(20, 12)], [second(10, 14)])).not.toBeNull();
    expect(apart([first(0, 15), silent, free, first(20, 12)], [second(10, 14)])).toBeUndefined();
    // Before and after those two it says nothing.
    expect(
      apart([at(-5, 'admitted', { counted: 'maybe' }), ...seen, at(30, 'admitted')], [second(10, 14)]),
    ).not.toBeNull();
    // The answer right behind it.
    expect(apart([...seen, first(30, 12)], [second(10, 14)])).not.toBeNull();
    expect(apart([first(0, 15), first(20, 13), first(40, 11)], [second(10, 14), second(30, 12)])).toMatch(
      /^14 left/,
    );
  });

  it.each([
    [0, 0, false],
    [100, 500, true],
    // The second begins when the first ends, or ends when it begins.
    [100, 100, false],
    [100, 101, true],
    [100, 899, true],
    [100, 900, false],
    [100, 1_500, true],
    [100, -500, true],
    [100, -2_950, false],
  ])('no window ends within two spans of %i ms, %i ms apart: %s', (lengthMs, apartMs, isIt) => {
    const span = (fromMs: number) => ({ fromMs, toMs: fromMs + lengthMs });
    expect(isApart(span(7_000), span(7_000 + apartMs), 1_000)).toBe(isIt);
  });
});

import { describe, expect, it } from 'vitest';
import { at, ofQuota } from '../fixtures/observed.ts';
import type { LimitObservation } from '../observed/observation.ts';
import { isSlowInTurn, isWindowShown, windowFault } from './honesty.ts';

const PLAN = { requests: 10, windowMs: 60_000 };

const told = (resetSeconds: number) => ({
  quota: ofQuota(0, PLAN.requests, { resetSeconds, windowSeconds: null }),
});

const spent = (resetSeconds: number): readonly LimitObservation[] => [
  ...Array.from({ length: 10 }, (_, index) => at(index * 100, 'admitted', { part: 'serial' })),
  at(1_000, 'refused', { part: 'serial', retryAfterMs: resetSeconds * 1000, ...told(resetSeconds) }),
];

const backWith = (ms: number, resetSeconds: number): readonly LimitObservation[] => [
  at(ms, 'admitted', { part: 'probe', ...told(resetSeconds) }),
  ...Array.from({ length: 9 }, () => at(ms + 100, 'admitted', { part: 'parallel', ...told(resetSeconds) })),
  at(ms + 100, 'refused', { part: 'parallel', ...told(resetSeconds) }),
];

describe('the window of a limit, held against the documented one', () => {
  it.each<readonly [string, readonly LimitObservation[], RegExp | null]>([
    ['as documented', [...spent(59), at(59_900, 'refused'), ...backWith(60_100, 60)], null],
    ['one of a clock that ends soon', [...spent(20), at(20_900, 'refused'), ...backWith(21_100, 60)], null],
    ['half as long', [...spent(29), at(29_900, 'refused'), ...backWith(30_100, 30)], /ends at most 30 s/],
    [
      'half as long, as far as one can see, and nothing says so',
      [...spent(29), at(29_900, 'refused'), at(30_100, 'admitted', { part: 'probe' })],
      null,
    ],
    [
      'twice as long, as it says',
      [...spent(119), at(75_000, 'refused'), at(120_100, 'admitted', { part: 'probe' })],
      /a refusal 74 s after the first one/,
    ],
    [
      'spent by somebody else in the next window',
      [...spent(59), at(75_000, 'refused'), at(120_100, 'admitted', { part: 'probe' })],
      null,
    ],
    ['generous with its advice alone', [...spent(119), at(60_100, 'admitted', { part: 'probe' })], null],
  ])('%s', (_, observations, fault) => {
    const found = windowFault(observations, PLAN, true);
    if (fault === null) expect(found).toBeNull();
    else expect(found).toMatch(fault);
  });

  it('takes no reset for the truth that was found to be wrong', () => {
    const seen = [...spent(29), at(29_900, 'refused'), ...backWith(30_100, 30)];
    expect(windowFault(seen, PLAN, false)).toBeNull();
  });
});

describe('more than two windows admit', () => {
  const served = (count: number, spanMs: number, from = 0) =>
    Array.from({ length: count }, (_, index) =>
      at(from + (index * spanMs) / (count - 1), 'admitted', {
        part: 'before',
        finishedMs: from + (index * spanMs) / (count - 1),
      }),
    );
  const fast = { requests: 100, windowMs: 1_000 };

  it.each<readonly [string, readonly LimitObservation[], string | null]>([
    ['21 within 0.2 s', served(21, 200), 'one in which 21 were served within 0.2 s'],
    ['in any order', served(21, 200).toReversed(), 'one in which 21 were served within 0.2 s'],
    [
      'after others long ago',
      [...served(5, 100, -900_000), ...served(21, 200)],
      'one in which 21 were served within 0.2 s',
    ],
    ['20', served(20, 200), null],
    ['21 of which one may be free', served(21, 200).with(3, at(30, 'admitted', { counted: 'maybe' })), null],
    ['21 of which one was refused', served(21, 200).with(3, at(30, 'refused')), null],
    // Nine flow back in that time.
    ['21 within 54 s', served(21, 54_000), 'one in which 21 were served within 54 s'],
    ['21 within more', served(21, 54_100), null],
  ])('%s', (_, observations, fault) => {
    expect(windowFault(observations, PLAN, false)).toBe(fault);
  });

  it('shows nothing near the end of a window', () => {
    expect(windowFault(served(201, 970), fast, false)).toBe('one in which 201 were served within 1.0 s');
    expect(windowFault(served(201, 980), fast, false)).toBeNull();
    expect(windowFault(served(201, 985), fast, false)).toBeNull();
  });
});

describe('a quota that was spent twice in one window', () => {
  const turn = (ms: number, fate: LimitObservation['fate'], more: Partial<LimitObservation> = {}) =>
    at(ms, fate, { part: 'serial', ...more });
  const ten = (ms: number, more: Partial<LimitObservation> = {}) =>
    Array.from({ length: 10 }, (_, index) => turn(ms + index * 10, 'admitted', more));
  const text = 'one that ends at most 29 s after it began';
  const probe = at(30_000, 'admitted');
  const spent = turn(1_000, 'refused');
  const anew = turn(20_200, 'refused');

  it.each<readonly [string, readonly LimitObservation[], string | null]>([
    ['and served again', [spent, ...ten(20_000), anew, probe], text],
    ['in any order', [probe, anew, ...ten(20_000), spent], text],
    ['by requests together', [spent, ...ten(20_000, { part: 'parallel' }), anew, probe], text],
    ['and not served again', [spent, ...ten(20_000), anew], null],
    ['and served again in turn', [spent, ...ten(20_000), anew, turn(30_000, 'admitted')], null],
    [
      'and served again, perhaps for free',
      [spent, ...ten(20_000), anew, { ...probe, counted: 'maybe' }],
      null,
    ],
    [
      'with one that may be free',
      [spent, ...ten(20_000).with(2, turn(20_020, 'admitted', { counted: 'maybe' })), anew, probe],
      null,
    ],
    ['with one less', [spent, ...ten(20_000).slice(1), anew, probe], null],
    ['without a refusal after that', [spent, ...ten(20_000), probe], null],
    [
      'with a refusal before the tenth',
      [spent, ...ten(20_000), turn(20_050, 'refused', { finishedMs: 20_055 }), probe],
      null,
    ],
    ['with a refusal after the last', [spent, ...ten(20_000), probe, turn(30_100, 'refused')], null],
    [
      'refused by a longer limit',
      [turn(1_000, 'refused', { retryAfterMs: 200_000 }), ...ten(20_000), anew, probe],
      null,
    ],
    ['refused before the measurement', [{ ...spent, part: 'before' }, ...ten(20_000), anew, probe], null],
    [
      'in a window of the documented length',
      [spent, ...ten(20_000), anew, { ...probe, sentMs: 60_980, finishedMs: 60_980 }],
      null,
    ],
    [
      'just before its end',
      [spent, ...ten(20_000), anew, { ...probe, sentMs: 60_979, finishedMs: 60_979 }],
      null,
    ],
  ])('%s', (_, observations, fault) => {
    expect(windowFault(observations, PLAN, false)).toBe(fault);
  });
});

describe('a whole quota that is back at one moment', () => {
  const last = at(29_900, 'refused', told(0));
  const back = at(30_100, 'admitted', { part: 'probe', ...told(30) });
  const together = (count: number, ms: number, resetSeconds = 30) => [
    ...Array.from({ length: count }, () => at(ms, 'admitted', { part: 'parallel', ...told(resetSeconds) })),
    ...Array.from({ length: 10 - count }, () =>
      at(ms, 'refused', { part: 'parallel', ...told(resetSeconds) }),
    ),
  ];
  const found = (observations: readonly LimitObservation[]) =>
    windowFault([...spent(29), ...observations], PLAN, true);

  it.each<readonly [string, readonly LimitObservation[], RegExp | null]>([
    ['and ends soon', [last, back, ...together(9, 30_200)], /^one that ends at most 30 s after it began$/],
    ['by less than nine tenths', [last, back, ...together(8, 30_200)], null],
    [
      'by requests that were sent a twentieth of the window later',
      [last, back, ...together(9, 33_105)],
      /at most 33 s/,
    ],
    ['by requests that were sent later than that', [last, back, ...together(9, 33_106)], null],
    ['by requests that were sent before', [...together(9, 20_000), last, back], null],
    [
      'by requests that tell no reset',
      [last, back, ...together(9, 30_200).map((each) => ({ ...each, quota: null }))],
      null,
    ],
    [
      'by requests that tell of another limit',
      [
        last,
        back,
        ...together(9, 30_200).map((each) => ({ ...each, quota: ofQuota(0, 99, { resetSeconds: 30 }) })),
      ],
      null,
    ],
    ['and ends two seconds early', [last, back, ...together(9, 30_200, 57)], /at most 57 s/],
    ['and ends less early', [last, back, ...together(9, 30_200, 58)], null],
    [
      'and one of them says that it ends later',
      [last, back, ...together(9, 30_200), at(30_200, 'refused', { part: 'parallel', ...told(59) })],
      null,
    ],
    [
      'without a refusal right before it',
      [last, at(30_000, 'admitted', { part: 'probe' }), ...together(9, 30_200)],
      /at most 30 s/,
    ],
    [
      'after a long silence, with a refusal that said when',
      [at(10_000, 'refused', told(20)), back, ...together(9, 30_200)],
      /at most 32 s/,
    ],
    [
      'after a long silence, with a refusal that did not say',
      [at(10_000, 'refused'), back, ...together(9, 30_200)],
      /at most 50 s/,
    ],
  ])('%s', (_, observations, fault) => {
    if (fault === null) expect(found(observations)).toBeNull();
    else expect(found(observations)).toMatch(fault);
  });
});

describe('windows of half the length', () => {
  const served = (ms: number, count: number) =>
    Array.from({ length: count }, (_, index) => at(ms + index, 'admitted', { part: 'parallel' }));

  it.each<readonly [string, readonly LimitObservation[]]>([
    [
      'a refusal more than half a window behind the last request served',
      [...spent(59), at(31_000, 'refused')],
    ],
    ['few served between two refusals', [...spent(59), at(7_000, 'admitted'), at(7_100, 'refused')]],
  ])('are ruled out by %s', (_, observations) => {
    expect(isWindowShown(observations, PLAN)).toBe(true);
  });

  it.each<readonly [string, readonly LimitObservation[]]>([
    ['nothing refused', served(0, 30)],
    ['a refusal within half a window', [...spent(59), at(30_000, 'refused')]],
    ['a whole quota between two refusals', [...spent(59), ...served(31_000, 10), at(31_100, 'refused')]],
    ['a refusal of requests that were under way together', [...served(0, 10), at(5, 'refused')]],
  ])('are not ruled out by %s', (_, observations) => {
    expect(isWindowShown(observations, PLAN)).toBe(false);
  });

  const inTurn = (ms: number, count: number, apartMs: number) =>
    Array.from({ length: count }, (_, index) => at(ms + index * apartMs, 'admitted', { part: 'serial' }));

  it.each<readonly [string, boolean, readonly LimitObservation[]]>([
    ['no request in turn', false, served(0, 10)],
    ['requests within half a window', false, inTurn(0, 10, 3_000)],
    ['requests of more than half a window', true, inTurn(0, 12, 3_000)],
    ['those of a second burst as well', false, [...spent(59), ...inTurn(40_000, 10, 100)]],
  ])('may end among %s: %s', (_, isSlow, observations) => {
    expect(isSlowInTurn(observations, PLAN)).toBe(isSlow);
  });
});

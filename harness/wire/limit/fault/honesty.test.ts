import { describe, expect, it } from 'vitest';
import { at, ofQuota } from '../fixtures/observed.ts';
import type { LimitObservation } from '../observed/observation.ts';
import { meaningOfReset, resetFault, retryAfterFault, servedResetFault } from './honesty.ts';

describe('Retry-After, held against what happened', () => {
  it.each([
    ['honest', 57_000, null],
    ['rounded up by almost a second', 58_000, null],
    ['generous: the whole window instead of what is left', 60_000, null],
    ['generous: a minute more than is needed', 117_000, null],
    ['grossly late', 200_000, /tell the time left/],
    ['milliseconds', 57_000_000, /tell the time left/],
    ['too early', 20_000, /got a refusal/],
    ['zero', 0, /got a refusal/],
  ])('%s', (_, retryAfterMs, fault) => {
    const seen = [
      at(0, 'admitted'),
      at(3_100, 'refused', { retryAfterMs }),
      at(30_000, 'refused', { retryAfterMs: null }),
      at(60_070, 'admitted'),
    ];
    const found = retryAfterFault(seen, 60_000);
    if (fault === null) expect(found).toBeNull();
    else expect(`${found?.expected}, got ${found?.got}`).toMatch(fault);
  });

  it('allows a shorter limit its own wait where the documented one is spent as well', () => {
    const both = (shorterWaitMs: number, waitMs: number | null) => [
      at(100, 'refused', { retryAfterMs: shorterWaitMs }),
      at(1_200, 'refused', { retryAfterMs: waitMs }),
      at(60_070, 'admitted'),
    ];
    expect(retryAfterFault(both(1_000, 58_000), 60_000)).not.toBeNull();
    expect(retryAfterFault(both(1_000, 58_000), 60_000, 1_000)).toBeNull();
    expect(retryAfterFault(both(1_000, 2_000), 60_000, 1_000)).toBeNull();
    expect(retryAfterFault(both(1_000, null), 60_000, 1_000)).toBeNull();
    expect(retryAfterFault(both(1_000, 1_000), 60_000, 1_000)).not.toBeNull();
    const longer = [
      at(100, 'refused', { retryAfterMs: 3_000 }),
      at(3_200, 'refused'),
      at(60_070, 'admitted'),
    ];
    expect(retryAfterFault(longer, 60_000, 1_000)).not.toBeNull();
  });

  it('allows a date the second by which Date is cut', () => {
    const late = { retryAfterMs: 58_500, retryAfterIsDate: true };
    expect(retryAfterFault([at(3_100, 'refused', late), at(60_070, 'admitted')], 60_000)).toBeNull();
  });

  it('calls no whole window too late where the quota flows back bit by bit', () => {
    const seen = [at(100, 'refused', { retryAfterMs: 60_000 }), at(1_000, 'admitted')];
    expect(retryAfterFault(seen, 60_000)).toBeNull();
  });

  it('calls none too late that was not waited for', () => {
    const seen = [at(100, 'refused', { retryAfterMs: 600_000 }), at(60_070, 'refused')];
    expect(retryAfterFault(seen, 60_000)).toBeNull();
  });
});

describe('the reset of served answers, held against what happened', () => {
  const FIXED = { algorithm: 'fixed-window-aligned' } as const;
  const told = (remaining: number, resetSeconds: number) =>
    ofQuota(remaining, 10, { resetSeconds, windowSeconds: null });
  const TEN = { requests: 10, windowMs: 10_000 };

  /** Served one after the other, each told when the window ends; then refused, and served again. */
  function seen(sentMs: readonly number[], endMsOf: (sentMs: number) => number, refusedMs: number) {
    const served = sentMs.map((each, index) => {
      const resetSeconds = Math.ceil((endMsOf(each) - each) / 1000);
      return at(each, 'admitted', { part: 'serial', quota: told(Math.max(0, 9 - index), resetSeconds) });
    });
    return [...served, at(refusedMs, 'refused', { part: 'serial' }), at(20_010, 'admitted')];
  }

  it('is too early where a refusal of the same window comes after it', () => {
    const early = seen(every(100, 10), (ms) => ms + 1_000, 5_000);
    expect(servedResetFault(early, TEN, FIXED)).toBe(
      'a reset 1 s after an answer, and a refusal 5.0 s after it',
    );
  });

  it('is true where the window ended within the burst, and the next one was spent as well', () => {
    const sentMs = [9_000, 9_900, ...every(100, 10).map((ms) => ms + 10_000)];
    const endMs = (ms: number) => (ms < 10_000 ? 10_000 : 20_000);
    expect(servedResetFault(seen(sentMs, endMs, 18_500), TEN, FIXED)).toBeNull();
  });

  it('is not held against a window that has ended before it', () => {
    const spent = seen(every(100, 10), () => 10_000, 1_000).slice(0, -1);
    const again = [at(10_500, 'admitted', { part: 'serial', quota: told(9, 10) }), at(11_500, 'refused')];
    expect(servedResetFault([...spent, ...again, at(20_600, 'admitted')], TEN, FIXED)).toBeNull();
  });

  it('is too early where the next window cannot have been spent', () => {
    const sentMs = [9_000, 9_900, ...every(100, 5).map((ms) => ms + 10_000)];
    const endMs = (ms: number) => (ms < 10_000 ? 10_000 : 20_000);
    expect(servedResetFault(seen(sentMs, endMs, 18_500), TEN, FIXED)).toMatch(/and a refusal/);
  });
});

function every(ms: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index * ms);
}

describe('the bounds of a promise', () => {
  const refusal = (retryAfterMs: number, more: Partial<LimitObservation> = {}) =>
    at(0, 'refused', { finishedMs: 100, retryAfterMs, ...more });
  const fault = (...seen: readonly LimitObservation[]) => retryAfterFault(seen, 60_000);

  it('are the tick of a clock for a refusal after it', () => {
    expect(fault(refusal(5_000), at(5_119, 'refused'))).toBeNull();
    expect(fault(refusal(5_000), at(5_120, 'refused'))).toEqual({
      expected: 'service after Retry-After (5 s)',
      got: 'a refusal 5.0 s after it',
    });
    expect(fault(refusal(9_500), at(12_100, 'refused'))?.expected).toBe('service after Retry-After (9.5 s)');
    expect(fault(refusal(10_500), at(12_100, 'refused'))?.expected).toBe('service after Retry-After (11 s)');
  });

  it('are two windows and a second more than was needed', () => {
    expect(fault(refusal(131_100), at(10_100, 'admitted'))).toBeNull();
    expect(fault(refusal(131_101), at(10_100, 'admitted'))).toEqual({
      expected: 'Retry-After to tell the time left',
      got: '131 s, and service 10 s after the refusal',
    });
    const date = { retryAfterIsDate: true };
    expect(fault(refusal(132_100, date), at(10_100, 'admitted'))).toBeNull();
    expect(fault(refusal(132_101, date), at(10_100, 'admitted'))).not.toBeNull();
  });

  it('are ten seconds for short windows', () => {
    const short = (retryAfterMs: number) =>
      retryAfterFault([refusal(retryAfterMs), at(100, 'admitted')], 1_000);
    expect(short(11_100)).toBeNull();
    expect(short(11_101)).not.toBeNull();
  });

  it('are held against the first request that surely counted', () => {
    const free = at(10_100, 'admitted', { counted: 'maybe' });
    expect(fault(refusal(200_000), free)).toBeNull();
    expect(fault(refusal(200_000), free, at(100_100, 'admitted'))).toBeNull();
    expect(fault(refusal(200_000), at(10_100, 'admitted'), at(100_100, 'admitted'))?.got).toMatch(
      /service 10 s/,
    );
    expect(fault(at(0, 'admitted', { retryAfterMs: 500_000 }), at(10, 'admitted'))).toBeNull();
  });
});

describe('the reset of a refusal', () => {
  const seen = (resetSeconds: number) => [
    at(0, 'refused', { finishedMs: 0, quota: ofQuota(0, 10, { resetSeconds }) }),
    at(10_000, 'admitted'),
  ];
  const fault = (resetSeconds: number, algorithm: Parameters<typeof resetFault>[2]['algorithm']) =>
    resetFault(seen(resetSeconds), 60_000, { algorithm });

  it('is no later than service, give or take its rounding, for windows and blocks', () => {
    expect(fault(12.05, 'fixed-window')).toBeNull();
    expect(fault(12.06, 'fixed-window')).toEqual({
      expected: 'the reset to tell the time left',
      got: '12 s, and service 10 s after the refusal',
    });
    expect(fault(60, 'fixed-window-aligned')).not.toBeNull();
    expect(fault(60, 'penalty')).not.toBeNull();
  });

  it('counts from the request, since a refusal that is held back may have been written at once', () => {
    const heldBack = (finishedMs: number) => {
      const quota = ofQuota(0, 10, { resetSeconds: 14 });
      const seen = [at(0, 'refused', { finishedMs, quota }), at(12_000, 'admitted')];
      return resetFault(seen, 60_000, { algorithm: 'fixed-window' });
    };
    expect(heldBack(10)).toBeNull();
    expect(heldBack(1_500)).toBeNull();
  });

  it.each(['sliding-log', 'sliding-counter', 'token-bucket', 'unknown', 'queue'] as const)(
    'means something else for a %s',
    (kind) => {
      expect(fault(60, kind)).toBeNull();
      expect(meaningOfReset({ algorithm: kind })).toBe(kind === 'unknown' ? 'unknown' : 'open');
    },
  );

  it.each(['fixed-window', 'fixed-window-aligned', 'penalty'] as const)(
    'has a known meaning for a %s',
    (algorithm) => {
      expect(meaningOfReset({ algorithm })).toBe('known');
    },
  );
});

describe('the bounds of a reset in served answers', () => {
  const TEN = { requests: 10, windowMs: 10_000 };
  const answer = (resetSeconds: number, more: Partial<LimitObservation> = {}) =>
    at(0, 'admitted', { finishedMs: 0, part: 'serial', quota: ofQuota(5, 10, { resetSeconds }), ...more });
  const fault = (algorithm: 'fixed-window' | 'penalty', ...seen: readonly LimitObservation[]) =>
    servedResetFault(seen, TEN, { algorithm });
  const [refused, back] = [at(3_000, 'refused'), at(9_000, 'admitted')];

  it('are a second before a refusal', () => {
    expect(fault('fixed-window', answer(2), refused, back)).toBe(
      'a reset 2 s after an answer, and a refusal 3 s after it',
    );
    expect(fault('fixed-window', answer(2.001), refused, back)).toBeNull();
  });

  it('are two seconds and a tick after service', () => {
    expect(fault('fixed-window', answer(11.05), refused, back)).toBeNull();
    expect(fault('fixed-window', answer(11.06), refused, back)).toBe(
      'a reset 11 s after an answer, and service 9 s after it',
    );
  });

  it.each<readonly [string, readonly LimitObservation[]]>([
    ['of another kind of limiter', []],
    ['of another limit', [answer(30, { quota: ofQuota(5, 99, { resetSeconds: 30 }) }), refused, back]],
    ['of a request that was not sent in turn', [answer(30, { part: 'probe' }), refused, back]],
    [
      'of a request after that',
      [at(0, 'admitted'), refused, back, { ...answer(30), sentMs: 9_500, finishedMs: 9_500 }],
    ],
    ['without one', [answer(30, { quota: null }), refused, back]],
    ['where service never came', [answer(30), refused]],
    ['where service may have been free', [answer(30), refused, { ...back, counted: 'maybe' }]],
  ])('are not held against one %s', (_, seen) => {
    expect(fault('fixed-window', ...seen)).toBeUndefined();
    expect(fault('penalty', answer(30), refused, back)).toBeUndefined();
  });
});

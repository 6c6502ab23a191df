import { describe, expect, it } from 'vitest';
import { at, ofQuota } from '../fixtures/observed.ts';
import { retryAfterFault, servedResetFault } from './honesty.ts';

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

import { describe, expect, it } from 'vitest';
import { at } from '../fixtures/observed.ts';
import { retryAfterFault } from './honesty.ts';

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
    else expect(found).toMatch(fault);
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

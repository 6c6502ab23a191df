import { describe, expect, it } from 'vitest';
import { at, ofQuota } from '../fixtures/observed.ts';
import type { FirstRefusedBounds } from '../infer.ts';
import type { LimitAlgorithm } from '../model/models.ts';
import type { LimitObservation } from '../observed/observation.ts';
import { documentedWithin, remainingFault } from './honesty.ts';

const PLAN = { requests: 10, windowMs: 60_000 };

/** Requests in turn that were served, with the rest that each told; then one that was refused. */
function told(
  remaining: readonly (number | null)[],
  { everyMs = 10, unsure = [] as readonly number[], refusal = {} as Partial<LimitObservation> } = {},
): readonly LimitObservation[] {
  const served = remaining.map((left, index) =>
    at(index * everyMs, 'admitted', {
      part: 'serial',
      quota: left === null ? null : ofQuota(left, 10),
      counted: unsure.includes(index) ? 'maybe' : 'surely',
    }),
  );
  return [...served, at(remaining.length * everyMs, 'refused', { part: 'serial', ...refusal })];
}

const down = (from: number, count: number) => Array.from({ length: count }, (_, index) => from - index);
const FIXED: { readonly compatible: readonly LimitAlgorithm[] } = { compatible: ['fixed-window'] };

describe('the rest that answers tell, and the requests that were then served', () => {
  it.each<readonly [string, readonly LimitObservation[], string | null | undefined]>([
    ['true', told(down(9, 10)), null],
    ['one more', told(down(10, 10)), '1 told, and 0 more served'],
    ['one less', told(down(8, 10).map((left) => Math.max(0, left))), null],
    ['too little', told([2, 1, 0, 0, 0]), '0 told, and 2 more served'],
    ['wrong once, and told last', told([9, 8, 7, 6, 5, 4, 3, 2, 1, 1]), '1 told, and 0 more served'],
    ['that stays', told([9, 8, 7, 7, 7, 7]), '7 told, and 0 more served'],
    ['not told at all', told(down(9, 10).map(() => null)), undefined],
    ['after the window was renewed', told([2, 1, 9, 8, 7]), undefined],
    ['above the limit at first', told([11, 5, 4, 3, 2, 1, 0]), undefined],
    ['of which others have spent', told([9, 8, 6, 5, 4, 2, 1, 0]), undefined],
    ['too little, but for one that may be free', told([2, 1, 0, 0, 0], { unsure: [4] }), null],
    [
      'too little after one that may be free',
      told([2, 1, 0, 0, 0], { unsure: [2] }),
      '0 told, and 2 more served',
    ],
    ['too little, but for what flows back', told([2, 1, 0, 0, 0], { everyMs: 3_000 }), null],
    ['refused by another limit', told(down(8, 3), { refusal: { retryAfterMs: 200_000 } }), undefined],
    [
      'refused by this limit',
      told(down(8, 3), { refusal: { retryAfterMs: 180_000 } }),
      '6 told, and 0 more served',
    ],
    ['without a refusal', told(down(9, 3)).slice(0, -1), undefined],
    ['of another limit', told(down(8, 3)).map((each) => ({ ...each, quota: ofQuota(50, 100) })), undefined],
  ])('%s', (_, observations, fault) => {
    expect(remainingFault(observations, PLAN, FIXED)).toBe(fault);
  });

  it('may be one more, if the quota may flow back', () => {
    const more = told(down(10, 10));
    const fault = (...compatible: readonly LimitAlgorithm[]) => remainingFault(more, PLAN, { compatible });
    expect(fault('token-bucket')).toBeNull();
    expect(fault('fixed-window', 'sliding-counter')).toBeNull();
    expect(fault()).toBeNull();
    expect(fault('fixed-window', 'sliding-log')).toBe('1 told, and 0 more served');
    expect(remainingFault(told([10, 9, 9, 8]), PLAN, { compatible: [] })).toBe('8 told, and 0 more served');
  });

  it('is that of requests in turn alone', () => {
    const beside = at(35, 'refused', { part: 'parallel' });
    expect(remainingFault([...told(down(9, 10)), beside], PLAN, FIXED)).toBeNull();
    expect(remainingFault([beside, ...told(down(10, 10))], PLAN, FIXED)).not.toBeNull();
  });
});

describe('the documented number', () => {
  it.each<readonly [number, number, FirstRefusedBounds['whole'], string | null | undefined]>([
    [101, 101, null, null],
    [101, 101, { least: 101, most: 101 }, null],
    [100, 110, { least: 101, most: 101 }, 'between 100 and 110'],
    [101, 103, null, 'between 101 and 103'],
    [99, 101, null, 'between 99 and 101'],
    [100, 111, null, undefined],
    [102, 103, null, undefined],
    [98, 100, null, undefined],
    [100, 103, { least: 101, most: 102 }, undefined],
    [100, 103, { least: 100, most: 101 }, undefined],
  ])('100 lies between %i and %i, whole %j: %j', (least, most, whole, uncertainty) => {
    const expected = uncertainty === undefined ? null : { at: 101, uncertainty };
    expect(documentedWithin({ least, most, whole }, { requests: 100 })).toEqual(expected);
  });

  it('of a small limit lies within one more', () => {
    expect(documentedWithin({ least: 5, most: 6, whole: null }, { requests: 5 })?.at).toBe(6);
    expect(documentedWithin({ least: 5, most: 7, whole: null }, { requests: 5 })).toBeNull();
  });
});

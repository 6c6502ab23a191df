import { describe, expect, it } from 'vitest';
import { UNKNOWN_POLICY } from '../../quota/dialect.ts';
import { at, group, ofQuota } from '../fixtures/observed.ts';
import type { LimitObservation } from '../observed/observation.ts';
import { isOfAnother, longerLimitMet, secondLimitOf, waitForMore } from './longer-limit.ts';

const DOCUMENTED = { requests: 20, windowMs: 60_000 };

describe('a refusal that comes early', () => {
  it('is waited for where it says that it is over soon, or does not say', () => {
    expect(waitForMore([group(0, 8, 1_000)], 0, DOCUMENTED)).toBe(1_050);
    expect(waitForMore([group(0, 8, null)], 0, DOCUMENTED)).toBe(1_050);
  });

  it.each([
    ['lasts as long as the window', [group(0, 8, 59_000)]],
    ['comes when the documented number was admitted', [group(0, 20, 1_000)]],
    ['comes after one request', [group(0, 1, 1_000)]],
    ['was followed by no more than flows back', [group(0, 8, 3_000), group(3_130, 1, 3_000)]],
    ['was followed by another that lasts', [group(0, 8, 1_000), group(1_130, 8, 58_000)]],
    ['comes late in the window', [group(0, 8, 1_000), group(30_000, 8, 1_000)]],
  ])('is taken as it is where it %s', (_, groups) => {
    expect(waitForMore(groups, 0, DOCUMENTED)).toBeNull();
  });

  it('was of a second limit where as many are served again at once', () => {
    const groups = [group(0, 8, 1_000), group(1_130, 8, 1_000), group(2_260, 4, 57_000)];
    expect(secondLimitOf(groups, 0, DOCUMENTED)).toEqual({ requests: 8, backMs: 1_040 });
  });

  it('was of the documented limit where one after the other flows back, or a window has ended', () => {
    expect(secondLimitOf([group(0, 18, 3_000), group(3_240, 1, 3_000)], 0, DOCUMENTED)).toBeNull();
    expect(secondLimitOf([group(0, 19, 1_000), group(1_250, 19, 60_000)], 0, DOCUMENTED)).toBeNull();
  });
});

it('a second limit that the documents state shows by the few that are served again before the main limit', () => {
  const groups = [group(0, 8, 1_000), group(1_050, 2, 54_000)];
  expect(secondLimitOf(groups, 10, DOCUMENTED)).toBeNull();
  expect(secondLimitOf(groups, 10, DOCUMENTED, { requests: 8, windowMs: 1_000 })).toMatchObject({
    requests: 8,
  });
});

describe('another limit than the documented one', () => {
  const refused = (over: Partial<LimitObservation>) => at(0, 'refused', { part: 'serial', ...over });

  it('asks for a wait of several windows', () => {
    expect(isOfAnother(refused({ retryAfterMs: 3_600_000 }), DOCUMENTED)).toBe(true);
    expect(isOfAnother(refused({ retryAfterMs: 120_000 }), DOCUMENTED)).toBe(false);
  });

  it('is met by requests sent together where those before them met the documented one', () => {
    const together = refused({ part: 'parallel', retryAfterMs: 3_600_000 });
    expect(longerLimitMet([refused({ retryAfterMs: 50_000 }), together], DOCUMENTED)).toBe(true);
    expect(longerLimitMet([refused({ retryAfterMs: 3_600_000 }), together], DOCUMENTED)).toBe(false);
  });
});

describe('the wait for more after a refusal', () => {
  const STATED = { requests: 8, windowMs: 2_000 };

  it.each<readonly [string, Parameters<typeof waitForMore>[0], number, number | null]>([
    // A quarter of the window, and what flows back meanwhile.
    ['a quarter of the window', [group(0, 8, 15_000)], 0, 15_050],
    ['more than a quarter', [group(0, 8, 15_001)], 0, null],
    ['the time of as many requests', [group(0, 2, 6_000)], 0, 6_050],
    ['more than that time', [group(0, 2, 6_001)], 0, null],
    ['the tick of a clock', [group(0, 8, 5)], 0, 70],
    ['with eleven before it', [group(0, 8)], 11, 1_050],
    ['with twelve before it', [group(0, 8)], 12, null],
    ['until half of the window', [group(5_000, 8, 12_000, 2_000)], 0, 12_050],
    ['after half of the window', [group(5_000, 8, 12_001, 2_000)], 0, null],
    ['of more than the documented number, in two groups', [group(0, 12), group(1_130, 12)], 0, 1_050],
    ['of twice what flows back', [group(0, 8), group(3_040, 4)], 0, 1_050],
    ['of less than that', [group(0, 8), group(3_050, 4)], 0, null],
    ['without a refusal', [{ ...group(0, 8), refusal: null }], 0, null],
    ['of nothing', [], 0, null],
    ['of 99 groups', Array.from({ length: 99 }, (_, at) => group(at * 200, 8)), 0, 1_050],
    ['of 100 groups', Array.from({ length: 100 }, (_, at) => group(at * 200, 8)), 0, null],
  ])('%s', (_, groups, before, waitMs) => {
    expect(waitForMore(groups, before, DOCUMENTED)).toBe(waitMs);
  });

  it('is that of the second limit that the documents state', () => {
    expect(waitForMore([group(0, 8, null)], 0, DOCUMENTED, STATED)).toBe(2_050);
    expect(waitForMore([group(0, 8, 500)], 0, DOCUMENTED, STATED)).toBe(550);
    expect(waitForMore([group(0, 8, 9_000, 5_000)], 0, DOCUMENTED, STATED)).toBe(9_050);
    expect(waitForMore([group(0, 8, 9_001, 5_000)], 0, DOCUMENTED, STATED)).toBeNull();
    // Once what flows back is enough.
    expect(waitForMore([group(0, 8), group(1_130, 2)], 0, DOCUMENTED, STATED)).toBe(1_050);
    expect(waitForMore([group(0, 8), group(1_130, 2)], 0, DOCUMENTED)).toBeNull();
    expect(waitForMore([group(0, 8), group(1_130, 1)], 0, DOCUMENTED, STATED)).toBeNull();
  });
});

describe('the second limit of some groups', () => {
  it('is the most that were served at once, and is back after the shortest time', () => {
    const groups = [group(0, 6), group(1_110, 8), group(2_200, 5)];
    expect(secondLimitOf(groups, 0, DOCUMENTED)).toEqual({ requests: 8, backMs: 1_000 });
  });

  it('is none if one more than documented was served in all, and then another', () => {
    expect(secondLimitOf([group(0, 12), group(1_200, 9)], 0, DOCUMENTED)).not.toBeNull();
    expect(secondLimitOf([group(0, 12), group(1_200, 9)], 1, DOCUMENTED)).toBeNull();
    expect(secondLimitOf([group(0, 8), { ...group(1_200, 8), refusal: null }], 0, DOCUMENTED)).toBeNull();
    expect(secondLimitOf([], 0, DOCUMENTED)).toBeNull();
    expect(secondLimitOf([group(0, 8)], 0, DOCUMENTED)).toBeNull();
  });
});

describe('a refusal of another limit', () => {
  const told = (...rest: readonly (readonly [number, number | null])[]) =>
    at(0, 'refused', {
      quota: ofQuota(0, 20, {
        policies: rest.map(([quota, remaining]) => ({ ...UNKNOWN_POLICY, quota, remaining })),
      }),
    });

  it.each<readonly [string, LimitObservation, boolean]>([
    ['three windows', at(0, 'refused', { retryAfterMs: 180_000 }), false],
    ['more than three windows', at(0, 'refused', { retryAfterMs: 180_001 }), true],
    ['left of the documented one, and none of another', told([20, 5], [100, 0]), true],
    ['none left of both', told([20, 0], [100, 0]), false],
    ['left of both', told([20, 5], [100, 1]), false],
    ['none left of another alone', told([100, 0]), false],
    ['none left of the documented one alone', told([20, 0]), false],
    ['unknown what is left', told([20, null], [100, 0]), false],
    ['unknown what is left of the other', told([20, 5], [100, null]), false],
    ['nothing told', told(), false],
  ])('%s', (_, refusal, isAnother) => {
    expect(isOfAnother(refusal, DOCUMENTED)).toBe(isAnother);
  });

  it('is met by requests together after the documented one was met in turn', () => {
    const long = { retryAfterMs: 3_600_000 };
    const [inTurn, together] = [{ part: 'serial' }, { part: 'parallel' }] as const;
    const met = (...all: readonly LimitObservation[]) => longerLimitMet(all, DOCUMENTED);
    const refused = at(10, 'refused', inTurn);
    expect(met(at(0, 'admitted', together), refused, at(20, 'refused', { ...together, ...long }))).toBe(true);
    expect(met(refused, at(20, 'refused', { ...inTurn, ...long }))).toBe(false);
    expect(met(refused, at(20, 'refused', together))).toBe(false);
    expect(met(refused, at(20, 'admitted', { ...together, ...long }))).toBe(false);
    expect(met(at(5, 'refused', together), at(20, 'refused', { ...together, ...long }))).toBe(false);
    expect(met()).toBe(false);
  });
});

import { describe, expect, it } from 'vitest';
import { requestsOfOthers, spentBefore } from './fault/remaining.ts';
import { at, ofQuota } from './fixtures/observed.ts';
import type { LimitObservation } from './observed/observation.ts';
import { countingOnly } from './pacing.ts';

describe('the requests of others', () => {
  const falling = (remaining: readonly number[], part: LimitObservation['part'] = 'serial') =>
    remaining.map((left, index) => at(index * 10, 'admitted', { part, quota: ofQuota(left) }));

  it('are told by a quota that falls by more than one now and then', () => {
    expect(requestsOfOthers(falling([90, 89, 87, 86, 83, 82, 81]))).toBe(3);
  });

  it('are none where each request of ours takes two, or the quota is renewed', () => {
    expect(requestsOfOthers(falling([90, 88, 86, 84]))).toBe(0);
    expect(requestsOfOthers(falling([2, 1, 99, 98, 97]))).toBe(0);
  });

  it.each([
    ['none', [99, 98, 97], 0],
    ['some', [69, 68, 67], 30],
    ['none, counted from the next request on', [100, 99, 98], 0],
    ['nobody knows, for each of ours takes two', [98, 96, 94], 0],
    ['nobody knows, for ours take none', [5, 5, 5], 0],
    ['some, and then the quota was renewed', [3, 2, 99, 98], 96],
  ])('before ours were %s', (_, remaining, spent) => {
    expect(spentBefore(falling(remaining, 'before'), { requests: 100 })).toBe(spent);
  });

  it('are not told by the fields of another quota, nor by none', () => {
    const daily = at(0, 'admitted', { part: 'before', quota: ofQuota(5_000, 10_000) });
    const silent = at(10, 'admitted', { part: 'before' });
    expect(spentBefore([daily, silent], { requests: 100 })).toBe(0);
    expect(spentBefore([], { requests: 100 })).toBe(0);
  });
});

describe('what can still count', () => {
  const sent = (observations: readonly LimitObservation[]) =>
    countingOnly(observations, 1_000).map(({ sentMs }) => sentMs);

  it('is nothing before the first admission', () => {
    expect(sent([at(0, 'refused'), at(500, 'refused'), at(900, 'admitted')])).toEqual([900]);
  });

  it('is nothing before a whole window of silence', () => {
    const early = (ms: number) => at(ms, 'admitted', { part: 'before' });
    expect(sent([early(0), early(10), early(1_200), at(1_300, 'admitted', { part: 'serial' })])).toEqual([
      1_200, 1_300,
    ]);
  });

  it('is everything from the first burst on', () => {
    const serial = (ms: number) => at(ms, 'admitted', { part: 'serial' });
    expect(sent([serial(0), serial(10), serial(5_000)])).toEqual([0, 10, 5_000]);
  });

  it('is nothing while everything was refused', () => {
    expect(sent([at(0, 'refused', { part: 'before' }), at(10, 'refused', { part: 'before' })])).toEqual([]);
  });
});

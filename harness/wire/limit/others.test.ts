import { describe, expect, it } from 'vitest';
import { requestsOfOthers, spentBefore, tellingMoment } from './fault/remaining.ts';
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

describe('the bounds of what others have spent', () => {
  const told = (sentMs: number, left: number, more: Partial<LimitObservation> = {}) =>
    at(sentMs, 'admitted', { part: 'serial', quota: ofQuota(left, 10), ...more });
  const spent = (...observations: readonly LimitObservation[]) => spentBefore(observations, { requests: 10 });

  it('before ours are told by the first answer that tells of the documented quota', () => {
    expect(spent(told(0, 5), told(10, 4))).toBe(4);
    expect(spent(told(0, 10), told(10, 9))).toBe(0);
    expect(spent(told(0, 11), told(10, 5), told(20, 4))).toBe(3);
    expect(spent({ ...told(0, 2), fate: 'refused' }, told(10, 5), told(20, 4))).toBe(3);
    expect(spent(told(0, 2, { quota: ofQuota(2, 20) }), told(10, 5), told(20, 4))).toBe(3);
    expect(spent(told(0, 5), told(10, 3), told(20, 3))).toBe(4);
    expect(spent(told(0, 5), told(10, 3))).toBe(0);
    // Sent while the first one was under way.
    expect(spent(told(0, 5), told(4, 4), told(5, 3))).toBe(3);
    expect(spent(told(0, 5))).toBe(0);
  });

  it('within a burst are told by its served requests alone', () => {
    const burst = [9, 8, 6, 5, 4].map((left, index) => told(index * 10, left));
    expect(requestsOfOthers(burst)).toBe(1);
    expect(requestsOfOthers([told(-10, 30, { part: 'before' }), ...burst])).toBe(1);
    expect(requestsOfOthers([{ ...told(-10, 30), fate: 'refused' }, ...burst])).toBe(1);
    expect(requestsOfOthers([9, 9, 8, 6].map((left, index) => told(index * 10, left)))).toBe(0);
    expect(requestsOfOthers([9, 9, 8, 6, 5].map((left, index) => told(index * 10, left)))).toBe(1);
    expect(requestsOfOthers([9, 8, 6, 5, 3, 2].map((left, index) => told(index * 10, left)))).toBe(2);
  });
});

describe('the moment at which one request tells the most', () => {
  const documented = { requests: 3, windowMs: 60_000 };
  const serial = (sentMs: number, fate: LimitObservation['fate']) =>
    at(sentMs, fate, { part: 'serial', finishedMs: sentMs });
  const spent = [
    serial(30_000, 'admitted'),
    serial(30_010, 'admitted'),
    serial(30_020, 'admitted'),
    serial(30_030, 'refused'),
  ];
  const moment = (fromMs: number, toMs: number) => tellingMoment(spent, documented, 0, { fromMs, toMs });

  it('is the first one that does', () => {
    // After a third of the window a bucket has one to give; windows of the clock begin at 60 s.
    expect(moment(32_000, 92_000)).toBe(62_000);
    expect(moment(30_040, 30_100)).toBeNull();
    expect(moment(40_000, 40_000)).toBeNull();
  });

  it('is none once one kind is left', () => {
    expect(tellingMoment([], documented, 0, { fromMs: 0, toMs: 0 })).toBeNull();
  });
});

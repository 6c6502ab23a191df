import { describe, expect, it } from 'vitest';
import { at, ofQuota } from '../../../harness/wire/limit/fixtures/observed.ts';
import type { LimitObservation } from '../../../harness/wire/limit/observed/observation.ts';
import { moved, probe, retryAt, said, schedule, served, spent, together } from './fixtures/planned-steps.ts';

// The first request was answered at 10 ms, the refusal at 110 ms. A promise is tried 50 ms later, all else 70 ms.
describe('a spent quota', () => {
  it('is asked whether it is back when some kind of limiter serves again, and at no other moment', () => {
    expect(schedule(7)).toEqual([
      '9110: refill',
      '15080 further: shorter',
      '20090: clock',
      '30080: extended',
      '56930 further: shorter',
      '60080: window',
      '70110: back',
    ]);
  });

  it('is not asked for shorter windows where such a request could not be sent', () => {
    const moments = schedule(5, { isFurtherLeftOut: true });
    expect(moments).toEqual([
      '9110: refill',
      '20090: clock',
      '30080: extended',
      '60080: window',
      '70110: back',
    ]);
  });

  it('that requests in turn did not meet is asked a quarter and half of a window after the refusal too', () => {
    const met = [
      ...served(13),
      ...together(5_000, 10, 7),
      ...[5_020, 5_030, 5_040].map((sentMs) => probe(sentMs, 'refused')),
    ];
    // A window of the clock ends at 45,000 ms.
    expect(schedule(6, { ownOffsetMs: 15_000 }, met)).toEqual([
      '14010: refill',
      '15080 further: shorter',
      '20080 further: shorter',
      '30080: extended',
      '35080 further: shorter',
      '45090: clock',
    ]);
  });

  it('is asked when the first window ends, and when the first ends that surely counts', () => {
    const maybe = moved(at(-10_000, 'admitted', { part: 'before', counted: 'maybe' }));
    expect(schedule(9, {}, [maybe, ...spent()])).toEqual([
      '5075 further: shorter',
      '9110: refill',
      '20090: clock',
      '46930 further: shorter',
      '50075: window',
      '60080: sure window',
      '70110: back',
      '131115: silence',
      '192120: silence',
    ]);
  });

  it('begins anew with a request of another check that was served meanwhile, not with one that was refused', () => {
    const ofAnother = (fate: LimitObservation['fate']) => probe(3_000, fate, { part: 'before' });
    expect(said([...spent(), ofAnother('admitted')], 3_010)).toMatch(/^wait until 12005: a bucket/);
    expect(said([...spent(), ofAnother('refused')], 3_010)).toMatch(/^wait until 9110: a bucket/);
  });

  it('is given up after twelve refusals', () => {
    const refused = Array.from({ length: 12 }, (_, index) => probe(1_000 + index, 'refused'));
    expect(said([...spent(), ...refused.slice(1)], 2_000)).toMatch(/^wait until 9110/);
    expect(said([...spent(), ...refused], 2_000)).toBe('stop: 12 requests over the time were refused');
  });
});

describe('the moment that a refusal promises', () => {
  it('is tried, by Retry-After or by the quota headers', () => {
    expect(schedule(2, {}, spent({ retryAfterMs: 5_000 }))).toEqual(['5160: Retry-After', '9110: refill']);
    const quota = ofQuota(0, 10, { resetSeconds: 7 });
    expect(schedule(2, {}, spent({ quota }))).toEqual(['7160: reset', '9110: refill']);
  });

  it('takes the place of one close before it', () => {
    expect(schedule(4, {}, spent({ retryAfterMs: 30_000 }), retryAt(30_110))).toEqual([
      '9110: refill',
      '15080 further: shorter',
      '20090: clock',
      '30160: Retry-After',
    ]);
  });

  it('is a moment of its own for a plan of many requests, whose slot is shorter than that', () => {
    const documented = { requests: 200, windowMs: 60_000 };
    const moments = schedule(5, { documented }, spent({ retryAfterMs: 29_520 }), retryAt(29_630));
    expect(moments.slice(3)).toEqual(['29680: Retry-After', '30080: extended']);
  });

  it('right before the window ends is tried in place of a moment of ours, and not beside it', () => {
    const early = schedule(6, {}, spent({ retryAfterMs: 54_890 }), retryAt(55_000));
    expect(early.slice(4)).toEqual(['55050: Retry-After', '56930 further: shorter']);
    const late = schedule(6, {}, spent({ retryAfterMs: 57_890 }), retryAt(58_000));
    expect(late.slice(3)).toEqual(['30080: extended', '58050: Retry-After', '60080: window']);
  });

  it('within the second by which it is rounded is tried with the end of the window', () => {
    const rounded = schedule(6, {}, spent({ retryAfterMs: 59_920 }), retryAt(60_030));
    expect(rounded.slice(4)).toEqual(['56930 further: shorter', '60080: window']);
    const sooner = schedule(5, {}, spent({ retryAfterMs: 59_919 }), retryAt(60_029));
    expect(sooner.slice(4)).toEqual(['60080: window']);
  });

  it('is not tried again within a tenth of the window, by a limiter that always says the same', () => {
    // Promised for 7,050 ms and for 7,049 ms; a probe at 1,000 ms tried the promise before.
    const last = (retryAfterMs: number) => probe(1_000, 'refused', { retryAfterMs });
    expect(said([...spent(), last(5_945)], 1_010)).toMatch(/^wait until 7000: Retry-After/);
    expect(said([...spent(), last(5_944)], 1_010)).toMatch(/^wait until 9110: /);
  });

  it('was not tried by a request right behind the refusal', () => {
    const last = (sentMs: number) => probe(sentMs, 'refused', { retryAfterMs: 1_000 });
    expect(said([...spent(), last(159)], 170)).toMatch(/^wait until 1214: Retry-After/);
    expect(said([...spent(), last(160)], 170)).toMatch(/^wait until 9110: /);
  });

  it('is not waited for where it is more than a window and a second away', () => {
    const last = (retryAfterMs: number) => [...spent(), probe(70_110, 'refused', { retryAfterMs })];
    expect(said(last(61_000), 70_120)).toBe('wait until 131165: Retry-After says that it is served again');
    expect(said(last(61_001), 70_120)).toBe('wait until 131115: one window of silence');
  });
});

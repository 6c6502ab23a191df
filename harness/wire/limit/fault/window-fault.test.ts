import { describe, expect, it } from 'vitest';
import { at, ofQuota } from '../fixtures/observed.ts';
import type { LimitObservation } from '../observed/observation.ts';
import { windowFault } from './honesty.ts';

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

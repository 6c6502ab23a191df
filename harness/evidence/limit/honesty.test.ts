import { describe, expect, it } from 'vitest';
import { requestsOfOthers, retryAfterFault } from './honesty.ts';
import type { LimitObservation } from './observation.ts';

const FIXED = { algorithm: 'fixed-window' } as const;

function at(
  sentMs: number,
  fate: LimitObservation['fate'],
  more: Partial<LimitObservation> = {},
): LimitObservation {
  return {
    sentMs,
    finishedMs: sentMs + 5,
    fate,
    counted: 'surely',
    part: 'probe',
    status: fate === 'refused' ? 429 : 200,
    quota: null,
    retryAfterMs: null,
    retryAfterIsDate: false,
    dateMs: null,
    ...more,
  };
}

describe('Retry-After, held against what happened', () => {
  it.each([
    ['honest', 57_000, null],
    ['rounded up by almost a second', 58_000, null],
    ['the whole window instead of what is left', 60_000, /tell the time left/],
    ['milliseconds', 57_000_000, /within the window/],
    ['too early', 20_000, /got a refusal/],
    ['zero', 0, /got a refusal/],
  ])('%s', (_, retryAfterMs, fault) => {
    const seen = [
      at(0, 'admitted'),
      at(3_100, 'refused', { retryAfterMs }),
      at(30_000, 'refused', { retryAfterMs: null }),
      at(60_070, 'admitted'),
    ];
    const found = retryAfterFault(seen, 60_000, FIXED);
    if (fault === null) expect(found).toBeNull();
    else expect(found).toMatch(fault);
  });

  it('allows a date the second by which Date is cut', () => {
    const late = { retryAfterMs: 58_500, retryAfterIsDate: true };
    expect(retryAfterFault([at(3_100, 'refused', late), at(60_070, 'admitted')], 60_000, FIXED)).toBeNull();
  });

  it('calls nothing too late where the quota flows back bit by bit', () => {
    const seen = [at(100, 'refused', { retryAfterMs: 60_000 }), at(1_000, 'admitted')];
    expect(retryAfterFault(seen, 60_000, { algorithm: 'token-bucket' })).toBeNull();
  });
});

describe('the requests of others', () => {
  const falling = (remaining: readonly number[]) =>
    remaining.map((left, index) =>
      at(index * 10, 'admitted', {
        part: 'serial',
        quota: {
          dialect: 'ratelimit-draft-08',
          limit: 100,
          remaining: left,
          resetSeconds: 60,
          windowSeconds: 60,
          policies: [],
          faults: [],
          contradictions: [],
          others: [],
        },
      }),
    );

  it('are told by a quota that falls by more than one now and then', () => {
    expect(requestsOfOthers(falling([90, 89, 87, 86, 83, 82, 81]))).toBe(3);
  });

  it('are none where each request of ours takes two, or the quota is renewed', () => {
    expect(requestsOfOthers(falling([90, 88, 86, 84]))).toBe(0);
    expect(requestsOfOthers(falling([2, 1, 99, 98, 97]))).toBe(0);
  });
});

import { describe, expect, it } from 'vitest';
import { UNKNOWN_POLICY } from '../../quota/dialect.ts';
import type { QuotaReading } from '../../quota/quota.ts';
import { at, ofQuota } from '../fixtures/observed.ts';
import type { LimitObservation } from '../observed/observation.ts';
import { sharingFault } from './counts-apart.ts';
import { keptAnyway } from './longer-limit.ts';
import { fallFault } from './remaining.ts';

const MAIN = { requests: 20, windowMs: 60_000 };
const LIMIT = { requests: 100, windowMs: 3_600_000 };

/** What an answer tells of both limits. */
function telling(remaining: number): QuotaReading {
  const policies = [
    { ...UNKNOWN_POLICY, quota: 20, windowSeconds: 60, remaining: 10, resetSeconds: 60 },
    { ...UNKNOWN_POLICY, quota: 100, windowSeconds: 3_600, remaining, resetSeconds: 3_000 },
  ];
  return ofQuota(10, 20, { policies });
}

/** So many served requests, one each 10 ms, of which each tells what `told` says; nothing where it is null. */
function served(count: number, told: (sent: number) => number | null, fromMs = 0): LimitObservation[] {
  return Array.from({ length: count }, (_, index) => {
    const remaining = told(index + 1);
    const quota = remaining === null ? null : telling(remaining);
    return at(fromMs + 10 * index, 'admitted', { part: 'serial', quota });
  });
}

const silent = () => null;
const byOne = (sent: number) => 100 - sent;

describe('a limit for which nothing is sent', () => {
  it('is not judged while fewer are served than it takes', () => {
    expect(keptAnyway(served(60, silent), LIMIT, MAIN)).toEqual({
      kind: 'unmet',
      reason: '60 were served in this run, and it takes 101',
    });
  });

  it('is broken where more are served than a window that ends meanwhile explains', () => {
    expect(keptAnyway(served(190, silent), LIMIT, MAIN).kind).toBe('unmet');
    expect(keptAnyway(served(210, silent), LIMIT, MAIN)).toEqual({ kind: 'broken', got: '201 served' });
  });

  it('is broken by one more, where its window was told to last', () => {
    expect(keptAnyway(served(101, byOne), LIMIT, MAIN)).toEqual({ kind: 'broken', got: '101 served' });
  });

  it('is broken where it refuses while much is told to remain, and kept where nothing is', () => {
    const refusal = at(1_000, 'refused', { part: 'serial', quota: telling(0) });
    expect(keptAnyway([...served(40, byOne), refusal], LIMIT, MAIN)).toEqual({
      kind: 'broken',
      got: 'a refusal while 60 were told to remain',
    });
    expect(keptAnyway([...served(99, byOne), refusal], LIMIT, MAIN)).toEqual({ kind: 'kept' });
  });

  it('is broken where two stretches each have too many, in which no window can have ended both times', () => {
    const short = { requests: 10, windowMs: 1_000 };
    const both = [...served(12, silent), ...served(12, silent, 5_500)];
    expect(keptAnyway(both, short, MAIN).kind).toBe('broken');
    expect(keptAnyway(served(12, silent), short, MAIN).kind).toBe('unmet');
  });
});

describe('what is told to remain of it', () => {
  it('falls by what is served, or by more', () => {
    expect(fallFault(served(20, byOne), LIMIT)).toBeNull();
    const withOthers = served(20, (sent) => 100 - sent - (sent > 9 ? 30 : 0));
    expect(fallFault(withOthers, LIMIT)).toBeNull();
  });

  it('is wrong where it stays, or falls by two each time', () => {
    const [still, twice] = [served(20, () => 100), served(20, (sent) => 100 - 2 * sent)];
    expect(fallFault(still, LIMIT)).toBe('0 fewer after 19 requests');
    expect(fallFault(twice, LIMIT)).toBe('2 fewer after each request');
  });

  it('shows nothing where it rises, for a window has ended, and where it is not told', () => {
    const renewed = served(8, (sent) => (sent > 5 ? byOne(sent - 5) : byOne(sent)));
    expect(fallFault(renewed, LIMIT)).toBeUndefined();
    expect(fallFault(served(20, silent), LIMIT)).toBeUndefined();
  });
});

describe('the second key', () => {
  const first = [...served(20, byOne), ...served(2, (sent) => 80 - sent, 1_000)];
  const told = (remaining: number) => [{ sentMs: 500, finishedMs: 505, remaining }];

  it('has a count of its own where an address has one together', () => {
    expect(sharingFault(first, told(99), LIMIT, true)).toBe(
      '99 left for the second key behind 80 for the first',
    );
    expect(sharingFault(first, told(79), LIMIT, true)).toBeNull();
  });

  it('shares the count of the first where each key has its own', () => {
    const shared = [...served(20, byOne), ...served(2, (sent) => 79 - sent, 1_000)];
    expect(sharingFault(shared, told(79), LIMIT, false)).toBe(
      '79 left for the second key right behind 80 for the first',
    );
    expect(sharingFault(first, told(79), LIMIT, false)).toBeNull();
    expect(sharingFault(first, told(99), LIMIT, false)).toBeNull();
  });

  it('shows nothing where it is told nothing', () => {
    expect(sharingFault(first, [], LIMIT, false)).toBeUndefined();
    expect(sharingFault(first, [], LIMIT, true)).toBeUndefined();
  });
});

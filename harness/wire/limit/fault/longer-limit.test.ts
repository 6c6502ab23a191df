import { describe, expect, it } from 'vitest';
import { UNKNOWN_POLICY } from '../../quota/dialect.ts';
import type { QuotaReading } from '../../quota/quota.ts';
import { at, ofQuota } from '../fixtures/observed.ts';
import type { LimitObservation } from '../observed/observation.ts';
import { sharingFault } from './counts-apart.ts';
import { keptAnyway } from './longer-limit.ts';
import { fallFault, flowedIn, remainingOf, resetOf } from './remaining.ts';

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

describe('the requests of a limit for which nothing is sent', () => {
  const reason = (observations: readonly LimitObservation[]) => {
    const kept = keptAnyway(observations, LIMIT, MAIN);
    return kept.kind === 'unmet' ? kept.reason : kept.kind;
  };

  it('are those that were surely served, in one window', () => {
    const others = [at(9_000, 'refused'), at(9_010, 'admitted', { counted: 'maybe' }), at(9_020, 'lost')];
    expect(reason([...served(60, silent), ...others])).toMatch(/^60 were served/);
    const later = served(40, silent, 4_000_000);
    expect(reason([...served(60, silent), ...later])).toMatch(/^60 were served/);
    expect(reason([...later.slice(0, 2), ...served(60, silent, 9_000_000)])).toMatch(/^60 were served/);
    expect(reason([])).toMatch(/^0 were served/);
    expect(reason([at(0, 'admitted'), at(3_599_990, 'admitted'), at(3_600_000, 'admitted')])).toMatch(
      /^2 were/,
    );
    // Answered after 5 ms.
    expect(reason([at(0, 'admitted'), at(3_599_995, 'admitted')])).toMatch(/^1 were/);
    expect(reason([at(0, 'admitted'), at(3_599_994, 'admitted')])).toMatch(/^2 were/);
  });

  it('are refused by it if nothing is left of it, and by another otherwise', () => {
    const refusal = (left: number, more: Partial<LimitObservation> = {}) =>
      at(1_000, 'refused', { part: 'serial', quota: telling(left), ...more });
    const refusedAfter = (left: number, refused: LimitObservation) =>
      keptAnyway([...served(1, () => left), refused], LIMIT, MAIN);
    expect(refusedAfter(3, refusal(0))).toEqual({
      kind: 'broken',
      got: 'a refusal while 3 were told to remain',
    });
    expect(refusedAfter(2, refusal(0))).toEqual({ kind: 'kept' });
    expect(refusedAfter(60, refusal(0, { part: 'parallel' }))).toEqual({ kind: 'kept' });
    expect(refusedAfter(60, refusal(1)).kind).toBe('unmet');
    expect(refusedAfter(60, refusal(1, { retryAfterMs: 3_600_000 })).kind).toBe('unmet');
    expect(refusedAfter(60, { ...refusal(0), fate: 'admitted' }).kind).toBe('unmet');
    expect(keptAnyway([...served(1, silent), refusal(0)], LIMIT, MAIN)).toEqual({ kind: 'kept' });
    // The main limit is spent as well.
    const both = telling(0).policies.map((each) => ({ ...each, remaining: 0 }));
    expect(refusedAfter(60, refusal(0, { quota: ofQuota(0, 20, { policies: both }) })).kind).toBe('unmet');
  });

  it('are beyond it as soon as more than flow back were served', () => {
    const short = { requests: 10, windowMs: 1_000 };
    const kept = (...observations: readonly LimitObservation[]) => keptAnyway(observations, short, MAIN);
    const lasting = (count: number, resetSeconds: number) =>
      served(count, silent).map((each) => ({
        ...each,
        quota: ofQuota(5, 10, {
          policies: [{ ...UNKNOWN_POLICY, quota: 10, windowSeconds: 1, remaining: 5, resetSeconds }],
        }),
      }));
    // One each 100 ms; 12 within 115 ms.
    expect(kept(...lasting(11, 2)).kind).toBe('unmet');
    expect(kept(...lasting(12, 2))).toEqual({ kind: 'broken', got: '12 served' });
    // The reset may be rounded by a second.
    expect(kept(...lasting(12, 1)).kind).toBe('unmet');
    expect(kept(...lasting(12, 1.115)).kind).toBe('unmet');
    expect(kept(...lasting(12, 1.116)).kind).toBe('broken');
    expect(kept(...served(22, silent)).kind).toBe('unmet');
    expect(kept(...served(23, silent))).toEqual({ kind: 'broken', got: '23 served' });
    // Ends of a window fit both.
    expect(kept(...served(12, silent), ...served(12, silent, 5_050)).kind).toBe('unmet');
    expect(kept(...served(2, silent, -9_000), ...served(12, silent), ...served(12, silent, 5_500))).toEqual({
      kind: 'broken',
      got: '12 served',
    });
  });
});

describe('the course of the rest', () => {
  it('is that of requests in turn that surely counted', () => {
    const all = served(20, () => 100);
    const fault = (change: (each: LimitObservation) => LimitObservation) => fallFault(all.map(change), LIMIT);
    expect(fault((each) => each)).toBe('0 fewer after 19 requests');
    expect(fault((each) => ({ ...each, part: 'parallel' }))).toBeUndefined();
    expect(fault((each) => ({ ...each, counted: 'maybe' }))).toBeUndefined();
    expect(fault((each) => ({ ...each, status: 101 }))).toBeUndefined();
    expect(fault((each) => ({ ...each, status: 102 }))).toBe('0 fewer after 19 requests');
    expect(fault((each) => ({ ...each, fate: 'refused' }))).toBeUndefined();
    const between = at(1_000, 'admitted', { part: 'parallel' });
    expect(fallFault([...all.slice(0, 10), { ...between, sentMs: 95 }, ...all.slice(10)], LIMIT)).toBe(
      '0 fewer after 20 requests',
    );
    expect(fallFault([...all, between], LIMIT)).toBe('0 fewer after 19 requests');
  });

  it('needs five answers, and as many steps', () => {
    expect(
      fallFault(
        served(4, () => 100),
        LIMIT,
      ),
    ).toBeUndefined();
    expect(
      fallFault(
        served(5, () => 100),
        LIMIT,
      ),
    ).toBe('0 fewer after 4 requests');
    expect(
      fallFault(
        served(5, (sent) => 100 - 2 * sent),
        LIMIT,
      ),
    ).toBeNull();
    expect(
      fallFault(
        served(6, (sent) => 100 - 2 * sent),
        LIMIT,
      ),
    ).toBe('2 fewer after each request');
    expect(
      fallFault(
        served(8, (sent) => 100 - 2 * sent - (sent > 5 ? 1 : 0)),
        LIMIT,
      ),
    ).toBeNull();
  });

  it('may fall by one less, and by what flows back', () => {
    expect(
      fallFault(
        served(6, (sent) => (sent < 6 ? 100 - sent : 95)),
        LIMIT,
      ),
    ).toBeNull();
    expect(
      fallFault(
        served(7, (sent) => 100 - Math.min(sent, 5)),
        LIMIT,
      ),
    ).toBe('4 fewer after 6 requests');
    // 36 s for each request.
    const slow = served(7, (sent) => 100 - Math.min(sent, 5)).map((each, index) => ({
      ...each,
      sentMs: index * 6_000,
      finishedMs: index * 6_000 + 5,
    }));
    expect(fallFault(slow, LIMIT)).toBeNull();
  });

  it('is told of the limit with its number, its window and its unit, if there is one alone', () => {
    const policy = { ...UNKNOWN_POLICY, quota: 100, windowSeconds: 3_600, remaining: 7, resetSeconds: 9 };
    const rest = (...policies: readonly (typeof policy)[]) => {
      const quota = ofQuota(0, 20, { policies });
      return [remainingOf(quota, LIMIT), resetOf(quota, LIMIT)];
    };
    expect(rest(policy)).toEqual([7, 9]);
    expect(rest(policy, policy)).toEqual([null, null]);
    expect(rest({ ...policy, quota: 99 })).toEqual([null, null]);
    expect(rest({ ...policy, windowSeconds: 60 })).toEqual([null, null]);
    expect(rest({ ...policy, unit: 'tokens' })).toEqual([null, null]);
    expect(remainingOf(null, LIMIT)).toBeNull();
  });

  it.each([
    [35_959, 0],
    [35_960, 1],
    [71_959, 1],
    [71_960, 2],
  ])('within %i ms %i may flow back', (forMs, count) => {
    expect(flowedIn(LIMIT, forMs)).toBe(count);
  });
});

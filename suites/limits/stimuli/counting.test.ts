import { describe, expect, it } from 'vitest';
import { Blocked } from '../../../harness/base/verdict.ts';
import type { FurtherLimit } from '../../../harness/config/service.ts';
import type { MetLimit } from '../../../harness/engine/session/http/burst.ts';
import type { FieldLine } from '../../../harness/wire/exchange.ts';
import { inTurnAt } from '../../../harness/wire/limit/fixtures/observed.ts';
import type { LimitObservation } from '../../../harness/wire/limit/observed/observation.ts';
import { firstWave, isTellable, mostInTurn, serialBurst, togetherBurst } from './burst-size.ts';
import {
  apartFrom,
  type Count,
  eachMsOf,
  endWithin,
  isSameElsewhere,
  spansWindow,
  strayTogether,
} from './count.ts';
import { met } from './fixtures/met-limit.ts';
import { groupOf, inOne, inTurn, shorterLimit } from './in-turn.ts';
import { surelyOpened, windowStart } from './step.ts';

const PLAN = { name: null, requests: 10, windowMs: 60_000 };

describe('the size of a burst', () => {
  it.each([
    [10, { serial: 13, together: 17, most: 26, first: 6 }],
    [11, { serial: 15, together: 18, most: 29, first: 6 }],
    [60, { serial: 68, together: 79, most: 156, first: 36 }],
    [61, { serial: 70, together: 81, most: 159, first: 0 }],
    [1, { serial: 4, together: 6, most: 4, first: 0 }],
  ])('for a limit of %i is beyond it by a share and a few', (requests, { serial, together, most, first }) => {
    expect(serialBurst({ requests })).toBe(serial);
    expect(togetherBurst({ requests })).toBe(together);
    expect(mostInTurn({ requests })).toBe(most);
    expect(firstWave({ requests })).toBe(first);
  });

  it('in turn is more than flows back meanwhile, if each request is quick', () => {
    const limit = { requests: 100, windowMs: 60_000 };
    expect(isTellable(limit, 360)).toBe(true);
    expect(isTellable(limit, 365)).toBe(false);
  });
});

const refusedAt = (sentMs: number) => inTurnAt(sentMs, { fate: 'refused' });

describe('the start of a window', () => {
  it.each<[string, readonly LimitObservation[], number | null]>([
    ['is none without requests', [], null],
    ['is the first request', [inTurnAt(0), inTurnAt(500), refusedAt(600)], 0],
    [
      'is the first request a window later',
      [inTurnAt(0), inTurnAt(1_000), inTurnAt(1_500), refusedAt(1_600)],
      1_000,
    ],
    ['is the first request, right before a window is over', [inTurnAt(0), inTurnAt(999)], 0],
    ['is not behind the refusal', [inTurnAt(0), refusedAt(600), inTurnAt(1_700)], 0],
  ])('%s', (_, observations, fromMs) => {
    expect(windowStart(observations, 1_000)).toEqual(fromMs === null ? null : { fromMs, toMs: fromMs + 10 });
  });

  it('is no request of which it is not known whether it counts', () => {
    const observations = [inTurnAt(0, { counted: 'maybe' }), inTurnAt(500), refusedAt(600)];
    expect(windowStart(observations, 1_000)?.fromMs).toBe(0);
    expect(surelyOpened(observations, 1_000)?.fromMs).toBe(500);
  });
});

const counted = (more: Partial<Count>): Count => ({
  fromMs: 0,
  toMs: 1_000,
  admitted: 10,
  surely: 10,
  observations: [],
  isRefused: true,
  sent: 11,
  interruptions: 0,
  flowed: 1,
  stray: [],
  refusedEarly: null,
  evidence: 'e1',
  ...more,
});

describe('two counts', () => {
  // Of a clock that begins a window each 60 s.
  it.each([
    ['begins at once where that is elsewhere in the window', { fromMs: 0, toMs: 1_000 }, 70_000, 70_000],
    ['waits where it would begin at the same place', { fromMs: 0, toMs: 1_000 }, 60_000, 64_000],
    ['waits where it would begin right behind', { fromMs: 0, toMs: 1_000 }, 63_999, 64_000],
    ['begins right behind the length and a share', { fromMs: 0, toMs: 1_000 }, 64_000, 64_000],
    ['waits where it would end within', { fromMs: 0, toMs: 1_000 }, 116_001, 124_000],
    ['begins right before that', { fromMs: 0, toMs: 1_000 }, 116_000, 116_000],
    ['waits no longer than is of use', { fromMs: 0, toMs: 50_000 }, 60_000, 84_000],
    ['counts from where the first began', { fromMs: 5_000, toMs: 6_000 }, 65_000, 69_000],
  ])('the second %s', (_, first, notBeforeMs, atMs) => {
    expect(apartFrom(first, notBeforeMs, 60_000)).toBe(atMs);
  });

  it('span a window that ends with them', () => {
    expect(spansWindow({ fromMs: 1, toMs: 60_001 }, PLAN)).toBe(true);
    expect(spansWindow({ fromMs: 1, toMs: 60_000 }, PLAN)).toBe(false);
  });

  it('take as long for each request as all of them by their number', () => {
    expect(eachMsOf(counted({ fromMs: 500, toMs: 1_500, admitted: 10 }))).toBe(100);
    expect(eachMsOf(counted({ fromMs: 500, toMs: 1_500, admitted: 0 }))).toBe(1_000);
  });

  it('show the limit as soon as as many were served as are too many', () => {
    const observations = [0, 100, 200, 300].map((at) => inTurnAt(at));
    expect(endWithin(counted({ observations }), 2)).toEqual({ fromMs: 100, toMs: 210 });
    expect(endWithin(counted({ observations: [...observations, refusedAt(150)] }), 2)).toEqual({
      fromMs: 100,
      toMs: 210,
    });
    expect(endWithin(counted({ observations: observations.toReversed() }), 2)).toEqual({
      fromMs: 100,
      toMs: 210,
    });
    expect(endWithin(counted({ observations }), 4)).toEqual({ fromMs: 0, toMs: 1_000 });
  });

  it('are the same where no window of a clock can have ended at the same request', () => {
    const at = (...moments: readonly number[]) =>
      counted({ observations: moments.map((moment) => inTurnAt(moment)), fromMs: moments[0] ?? 0 });
    expect(isSameElsewhere(at(0, 100, 200), at(90_000, 90_100, 90_200), 60_000)).toBe(true);
    expect(isSameElsewhere(at(0, 100, 200), at(60_050, 90_100, 90_200), 60_000)).toBe(false);
    expect(isSameElsewhere(at(0, 100, 200), at(60_000, 60_005, 90_200), 60_000)).toBe(false);
    expect(isSameElsewhere(at(0, 100, 200), { ...at(90_000, 90_100, 90_200), admitted: 9 }, 60_000)).toBe(
      false,
    );
  });
});

describe('a refusal among requests sent together', () => {
  const together = (moments: readonly number[]) => moments.map((at) => inTurnAt(at, { part: 'parallel' }));
  const later = together([20, 21, 22, 23, 24]);

  it('is stray if more were served behind it than flow back', () => {
    expect(strayTogether([...together([0, 1]), refusedAt(2), ...later], PLAN)).toEqual([
      { index: 3, sentMs: 2 },
    ]);
  });

  it.each<[string, readonly LimitObservation[]]>([
    ['too few were served behind it', [...together([0, 1]), refusedAt(2), ...later.slice(2)]],
    [
      'the others were sent before its answer',
      [...together([0, 1]), refusedAt(2), ...together([11, 11, 11, 11, 11])],
    ],
    [
      'they came as slowly as the quota flows back',
      [refusedAt(2), ...together([6_000, 12_000, 18_000, 24_000])],
    ],
    ['none was served behind it', [...together([0, 1]), refusedAt(2)]],
  ])('is none if %s', (_, observations) => {
    expect(strayTogether(observations, PLAN)).toEqual([]);
  });

  it('is one of several, however they are ordered, and once for those at the same time', () => {
    const all = [refusedAt(2), ...later, refusedAt(3), refusedAt(50), ...together([70, 71, 72, 73])];
    const found = [
      { index: 1, sentMs: 2 },
      { index: 6, sentMs: 50 },
    ];
    expect(strayTogether(all, PLAN)).toEqual(found);
    expect(strayTogether(all.toReversed(), PLAN)).toEqual(found);
  });
});

describe('a group of bursts', () => {
  it('lasts from the first request to the last answer', () => {
    expect(
      groupOf([met(100, [200, 200, 429], [['Retry-After', '3']]), met(900, [200, 500, 429], [])]),
    ).toEqual({
      fromMs: 100,
      toMs: 930,
      admitted: 4,
      unsure: 1,
      refusal: { waitMs: null },
    });
  });

  it.each<[string, readonly FieldLine[] | null, number | null]>([
    ['Retry-After', [['Retry-After', '3']], 3_000],
    [
      'the reset of its quota',
      [
        ['X-RateLimit-Limit', '10'],
        ['X-RateLimit-Remaining', '0'],
        ['X-RateLimit-Reset', '7'],
      ],
      7_000,
    ],
    [
      'Retry-After before its reset',
      [
        ['Retry-After', '3'],
        ['X-RateLimit-Limit', '10'],
        ['X-RateLimit-Remaining', '0'],
        ['X-RateLimit-Reset', '7'],
      ],
      3_000,
    ],
    [
      'the policy that is spent',
      [
        ['RateLimit-Policy', '"a";q=10;w=60, "b";q=3;w=1'],
        ['RateLimit', '"a";r=5;t=50, "b";r=0;t=1'],
      ],
      1_000,
    ],
    [
      'the soonest of those that are spent',
      [
        ['RateLimit-Policy', '"a";q=10;w=60, "b";q=3;w=1'],
        ['RateLimit', '"a";r=0;t=50, "b";r=0;t=1'],
      ],
      1_000,
    ],
  ])('waits as long as %s says', (_, fields, waitMs) => {
    expect(groupOf([met(0, [200, 429], fields)]).refusal).toEqual({ waitMs });
  });

  it('has no refusal where the connection ended, or none was refused', () => {
    expect(groupOf([met(0, [200, null], null)])).toMatchObject({ admitted: 1, refusal: null });
    expect(groupOf([met(0, [200, 200])])).toMatchObject({ admitted: 2, refusal: null });
  });

  it('counts as unsure no fault that ended it', () => {
    expect(groupOf([met(0, [503, 200, 503], [])])).toMatchObject({ admitted: 2, unsure: 1 });
  });

  it('reads as one burst without the refusals between', () => {
    const all = [met(0, [200, 429], []), met(100, [200, 200, 429], [])];
    const { entries, evidence, refusal } = inOne(all);
    expect(entries.map(({ sentMs }) => sentMs)).toEqual([0, 100, 110, 120]);
    expect(evidence).toBe('e100');
    expect(refusal?.timing.startedMs).toBe(120);
    expect(inOne([])).toEqual({ entries: [], evidence: '', refusal: null });
  });
});

describe('the further limit that is met first', () => {
  const further = (...all: readonly (readonly [requests: number, windowMs: number])[]) =>
    shorterLimit({ ...PLAN, further: all.map(([requests, windowMs]) => ({ requests, windowMs })) });

  it('has a shorter window and fewer requests, and the fewest of those', () => {
    expect(shorterLimit(PLAN)).toBeNull();
    expect(further([100, 3_600_000])).toBeNull();
    expect(further([10, 1_000])).toBeNull();
    expect(further([5, 60_000])).toBeNull();
    expect(further([8, 10_000], [3, 1_000], [100, 3_600_000])).toEqual({ requests: 3, windowMs: 1_000 });
  });
});

/** What is sent in turn to a limiter that answers so, burst by burst; then it refuses. null: it cannot be sent. */
async function sentInTurn(
  bursts: readonly ((fromMs: number) => MetLimit | null)[],
  more: {
    readonly before?: number;
    readonly triesAgain?: boolean;
    readonly further?: readonly FurtherLimit[];
  } = {},
) {
  const orders: { before: number; upTo: number }[] = [];
  const waits: number[] = [];
  let nowMs = 0;
  const port = {
    clock: { now: () => nowMs },
    pause: {
      until: async (untilMs: number) => {
        waits.push(untilMs);
        nowMs = untilMs;
      },
    },
    quota: {
      async burst({ before, upTo }: { before: number; upTo: number }) {
        orders.push({ before, upTo });
        const made = (bursts[orders.length - 1] ?? served(0, []))(nowMs);
        if (made === null) throw new Blocked('no record of it');
        nowMs = made.burst.timing.startedMs + made.burst.timing.durationMs;
        return made;
      },
    },
  } as unknown as Parameters<typeof inTurn>[0];
  const { before = 0, triesAgain = true, further } = more;
  const order = {
    plan: { ...PLAN, ...(further && { further }) },
    purpose: 'test',
    before,
    upTo: 13 - before,
    triesAgain,
  };
  const { bursts: sent, second, groups, stray, besideMs } = await inTurn(port, order);
  return { sent: sent.length, second, groups: groups.length, stray, beside: [...besideMs], orders, waits };
}

const served = (count: number, refusal?: readonly FieldLine[] | null) => (fromMs: number) =>
  met(
    fromMs,
    [
      ...Array.from({ length: count }, () => 200),
      ...(refusal === undefined ? [] : [refusal === null ? null : 429]),
    ],
    refusal,
  );
const SOON: readonly FieldLine[] = [['Retry-After', '1']];

describe('requests in turn', () => {
  it('end with the refusal of the documented number', async () => {
    expect(await sentInTurn([served(10, SOON)])).toEqual({
      sent: 1,
      second: null,
      groups: 1,
      stray: [],
      beside: [],
      orders: [{ before: 0, upTo: 13 }],
      waits: [],
    });
  });

  it('are tried twice again behind an early refusal, and once more after a wait', async () => {
    const { orders, ...found } = await sentInTurn([served(5, [])]);
    expect(orders).toEqual([
      { before: 0, upTo: 13 },
      { before: 5, upTo: 8 },
      { before: 5, upTo: 8 },
      { before: 5, upTo: 8 },
      { before: 5, upTo: 8 },
      { before: 5, upTo: 8 },
    ]);
    expect(found).toEqual({ sent: 1, second: null, groups: 2, stray: [], beside: [], waits: [1_130] });
  });

  it('go on behind a refusal at random', async () => {
    expect(await sentInTurn([served(5, []), served(5, SOON)])).toMatchObject({
      sent: 2,
      second: null,
      groups: 1,
      stray: [{ index: 6, sentMs: 50 }],
      beside: [50],
      orders: [
        { before: 0, upTo: 13 },
        { before: 5, upTo: 8 },
      ],
      waits: [],
    });
  });

  it('are not tried again where that is not asked for, or a further limit is documented', async () => {
    const further = [{ requests: 5, windowMs: 1_000 }];
    expect((await sentInTurn([served(10, [])], { triesAgain: false })).orders).toHaveLength(1);
    const { orders, stray } = await sentInTurn([served(5, SOON)], { further });
    expect(orders).toEqual([
      { before: 0, upTo: 13 },
      { before: 5, upTo: 8 },
    ]);
    expect(stray).toEqual([]);
  });

  it('count what was sent before', async () => {
    const { orders, stray } = await sentInTurn([served(3, []), served(4, SOON)], { before: 3 });
    expect(orders).toEqual([
      { before: 3, upTo: 10 },
      { before: 6, upTo: 7 },
    ]);
    expect(stray).toEqual([{ index: 7, sentMs: 30 }]);
  });

  it('end where the next ones cannot be sent', async () => {
    const { orders, sent } = await sentInTurn([served(5, []), () => null]);
    expect({ orders: orders.slice(0, 2), sent }).toEqual({
      orders: [
        { before: 0, upTo: 13 },
        { before: 5, upTo: 8 },
      ],
      sent: 1,
    });
  });
});

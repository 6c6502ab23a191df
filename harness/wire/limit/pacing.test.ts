import { describe, expect, it } from 'vitest';
import { at } from './fixtures/observed.ts';
import { sequence } from './fixtures/sequence.ts';
import type { LimitObservation } from './observed/observation.ts';
import {
  countingOnly,
  expiryMs,
  forgottenMs,
  lawfullyBackMs,
  mayFlowBack,
  pacing,
  putOff,
  sinceServed,
} from './pacing.ts';

/** 100 ms for each request. */
const LIMIT = { requests: 10, windowMs: 1_000 };

/** Requests one after the other, one each `everyMs`, each answered after that time. */
function serial(count: number, tookMs: number, { everyMs = 100, fromMs = 0 } = {}): LimitObservation[] {
  return Array.from({ length: count }, (_, index) => {
    const sentMs = fromMs + index * everyMs;
    return at(sentMs, 'admitted', { part: 'serial', finishedMs: sentMs + tookMs });
  });
}

/** Requests sent together, one answered each `everyMs`. */
function together(count: number, everyMs: number, fromMs = 10_000): LimitObservation[] {
  return Array.from({ length: count }, (_, index) =>
    at(fromMs, 'admitted', { part: 'parallel', finishedMs: fromMs + (index + 1) * everyMs }),
  );
}

const quick = (count: number, tookMs = 5) => serial(count, tookMs, { fromMs: -10_000 });
const late = (tookMs: number, sentMs: number) =>
  at(sentMs, 'admitted', { part: 'serial', finishedMs: sentMs + tookMs });
const refused = at(5_000, 'refused', { part: 'serial', finishedMs: 5_001 });

describe('requests that are held back to the documented rate', () => {
  it.each<readonly [string, readonly LimitObservation[]]>([
    ['five in a row after some that were quick', [...quick(3), ...serial(5, 100)]],
    ['a quarter of all', [...quick(15), ...serial(5, 100)]],
    ['for half the time of one', [...quick(3), ...serial(6, 50)]],
    [
      'one of them for less, after one for longer',
      [...quick(3), ...serial(2, 100), late(10, 200), ...serial(4, 100, { fromMs: 300 })],
    ],
    ['with refusals', [...quick(3), ...serial(6, 100), refused]],
    [
      'a service whose quickest answer takes less than a quarter of that time',
      [...quick(1, 24), ...serial(6, 100)],
    ],
    ['and a request alone that was quick', [at(-500, 'admitted'), ...serial(6, 100)]],
    ['from the first on, and those sent together by turns', [...serial(6, 100), ...together(5, 100)]],
    ['and those sent together a fifth quicker', [...serial(6, 100), ...together(5, 80)]],
    ['and those sent together a fifth slower', [...serial(6, 100), ...together(5, 120)]],
    [
      'slower than that, and those sent together at just that rate',
      [...serial(6, 130, { everyMs: 130 }), ...together(5, 105)],
    ],
    ['and those sent together, told in any order', [...serial(6, 100), ...together(5, 100).toReversed()]],
  ])('%s', (_, observations) => {
    expect(pacing(observations, LIMIT)).toMatch(
      /^answers came every 1[03]0 ms, at the documented rate \(100 ms each\)/,
    );
  });

  it('are told with the pace, the rate and the quickest answer', () => {
    expect(pacing([...quick(3), ...serial(6, 80, { everyMs: 80 })], LIMIT)).toBe(
      'answers came every 80 ms, at the documented rate (100 ms each), the quickest of all took 5 ms',
    );
  });

  it.each<readonly [string, readonly LimitObservation[]]>([
    ['four in a row', [...quick(3), ...serial(4, 100)]],
    ['less than a quarter of all', [...quick(16), ...serial(5, 100)]],
    ['for less than half the time of one', [...quick(3), ...serial(6, 49)]],
    [
      'some of them, with quick ones between',
      [...quick(3), ...serial(4, 100), late(10, 400), late(10, 500), ...serial(4, 100, { fromMs: 600 })],
    ],
    [
      'for half the time on average, but not one for less',
      [...quick(3), ...serial(3, 80), late(10, 300), ...serial(4, 80, { fromMs: 400 })],
    ],
    ['more than a fifth quicker than the rate', [...quick(3), ...serial(6, 79, { everyMs: 79 })]],
    ['by a service that is slow', serial(8, 100)],
    ['by a service that is slow, and quick with those sent together', [...serial(8, 100), ...together(8, 1)]],
    ['by a service whose quickest answer takes a quarter of that time', [...quick(1, 25), ...serial(6, 100)]],
    ['and four sent together', [...serial(6, 100), ...together(4, 100)]],
    [
      'and five sent together, of which one was refused',
      [
        ...serial(6, 100),
        ...together(4, 100),
        at(10_000, 'refused', { part: 'parallel', finishedMs: 10_500 }),
      ],
    ],
    ['and those sent together more than a fifth quicker', [...serial(6, 100), ...together(6, 79)]],
    ['and those sent together more than a fifth slower', [...serial(6, 100), ...together(6, 121)]],
    [
      'slower than that, and those sent together not at just that rate',
      [...serial(6, 130, { everyMs: 130 }), ...together(6, 106)],
    ],
    [
      'and two quick bursts as far apart as their requests would take',
      [...serial(8, 100), ...together(6, 1), ...together(6, 1, 11_100)],
    ],
    ['none', []],
  ])('are not: %s', (_, observations) => {
    expect(pacing(observations, LIMIT)).toBeNull();
  });
});

describe('a rate whose slots are too short for requests in turn', () => {
  /** One each 5 ms. */
  const fast = { requests: 1_000, windowMs: 5_000 };
  const text = 'requests sent together were answered by turns, at the documented rate (5 ms each)';
  /** The first tenth is answered at that time. */
  const early = (ms: number) =>
    together(200, 5).map((each, index) => (index < 20 ? { ...each, finishedMs: each.sentMs + ms } : each));
  const lastLate = together(200, 5).map((each, index) =>
    index < 180 ? each : { ...each, finishedMs: each.finishedMs + 5_000 },
  );
  const slower = [
    ...together(100, 5),
    ...together(100, 6).map((each) => ({ ...each, finishedMs: each.finishedMs + 500 })),
  ];

  it.each<readonly [string, readonly LimitObservation[], string | null]>([
    ['200 together by turns', together(200, 5), text],
    ['in any order', together(200, 5).toReversed(), text],
    ['beside requests in turn', [...together(200, 5), ...serial(3, 20, { fromMs: 90_000 })], text],
    ['with latecomers', lastLate, text],
    ['a twentieth slower', together(200, 5.25), text],
    ['four times as late as the quickest', early(26.25), text],
    ['less late than that', early(27), null],
    ['more than a twentieth slower', together(200, 5.3), null],
    ['slower from some moment on', slower, null],
    [
      'slower before some moment',
      slower.toReversed().map((each) => ({ ...each, finishedMs: 21_100 - each.finishedMs + 10_005 })),
      null,
    ],
    ['199 together', together(199, 5), null],
    ['one of which was lost', [...together(200, 5), at(0, 'lost')], null],
    ['all at once', together(200, 0), null],
  ])('%s', (_, observations, found) => {
    expect(pacing(observations, fast)).toBe(found);
  });

  it('is not told where even those held back come within 10 ms', () => {
    const rate = (slotMs: number) => ({ requests: 1_000, windowMs: slotMs * 1_000 });
    expect(pacing(together(200, 0.5), rate(0.5))).toMatch(/by turns/);
    expect(pacing(together(200, 0.4), rate(0.4))).toBeNull();
  });

  it('are those of less than 10 ms', () => {
    expect(
      pacing([...quick(3, 1), ...serial(6, 10, { everyMs: 10 })], { requests: 100, windowMs: 1_000 }),
    ).toMatch(/^answers came every 10 ms/);
  });
});

describe('refusals that put the end of the wait off', () => {
  const three = { requests: 3, windowMs: 1_000 };

  it.each([
    ['nothing was refused', '0 10 20 30', null],
    ['one was served a window after a refusal', '0 1 2 x3 1500', null],
    ['one was served sooner after the last refusal', '0 1 2 x3 x500 1002', false],
    ['one was served sooner, give or take the tick of a clock', '0 1 2 x3 x500 1479', false],
    ['one was served a window after the last refusal', '0 1 2 x3 x500 1480', null],
    // Every lawful limiter serves 1.6 s after the last request that was served.
    ['one was refused late, and one served a window after that', '0 1 2 x3 x1603 2583', true],
    ['one was refused earlier than that', '0 1 2 x3 x1602 2583', null],
    ['one was refused late, and one served soon after that', '0 1 2 x3 x1603 2582', false],
    ['one was refused late, and none served', '0 1 2 x3 x1603 x2700', null],
    ['one was refused late, and one that may be free was served', '0 1 2 x3 x1603 ?2582 2583', true],
    ['the first was refused', 'x0 x1597 2600', null],
    ['the first was refused, and a late one', 'x0 x1600 2600', true],
  ] as const)('%s', (_, requests, isPutOff) => {
    expect(putOff(sequence(requests), three)).toBe(isPutOff);
  });

  it('is no later than the first one has promised', () => {
    const promised = (requests: string, retryAfterMs: number) =>
      sequence(requests).map((each) => (each.sentMs === 3 ? { ...each, retryAfterMs } : each));
    expect(putOff(promised('0 1 2 x3 x2002 3000', 2_000), three)).toBeNull();
    expect(putOff(promised('0 1 2 x3 x2003 3003', 2_000), three)).toBe(true);
  });

  it('are held against those since the last request that was served', () => {
    const since = Array.from(sinceServed(sequence('0 x10 ?20 x30 40 x50')), (each) =>
      each.since.map(({ sentMs }) => sentMs),
    );
    expect(since).toEqual([[], [0], [0, 10], [0, 10, 20], [0, 10, 20, 30], [40]]);
  });
});

describe('when every limiter serves again that does not count refusals', () => {
  it('is a window, the time of one and a half requests and the expiry after the last one served', () => {
    expect(lawfullyBackMs(sequence('0 x10 x500'), LIMIT)).toBe(10 + 1_000 + 150 + 100);
    expect(lawfullyBackMs(sequence('0 x10 300-350 x400'), LIMIT)).toBe(350 + 1_000 + 150 + 100);
    expect(lawfullyBackMs(sequence('0 10'), LIMIT)).toBeNull();
  });

  it.each([
    [100, 70],
    [700, 70],
    [1_000, 100],
    [5_000, 500],
    [60_000, 1_000],
  ])('a counter of %i ms may outlive its window by %i ms', (windowMs, ms) => {
    expect(expiryMs(windowMs)).toBe(ms);
  });

  it('is for an idle limiter a window after the last answer', () => {
    expect(forgottenMs(sequence('0-50 10-20'), 1_000)).toBe(1_120);
    expect(forgottenMs([], 1_000)).toBe(1_070);
  });
});

describe('a quota that flows back', () => {
  it.each([
    ['may be refused until one and a half have', '0 x190', true],
    ['is not where one is refused after that', '0 x191', false],
    ['is not told by what is served', '0 191', true],
    ['is known by the last answer', '0 100-130 x320', true],
    ['is known by that which came last', '0-130 100-110 x320', true],
    ['is not where it was known, and one is refused later', '0 x50 x400', false],
    ['is read in the order of sending', 'x190 0', true],
  ] as const)('%s: %s', (_, requests, mayFlow) => {
    expect(mayFlowBack(sequence(requests), LIMIT)).toBe(mayFlow);
  });

  it('is not told by requests sent together', () => {
    const beside = at(500, 'refused', { part: 'parallel' });
    expect(mayFlowBack([...sequence('0'), beside], LIMIT)).toBe(true);
  });
});

describe('what can still count when the first burst is sent', () => {
  const sooner = (sentMs: number, fate: LimitObservation['fate'] = 'admitted') =>
    at(sentMs, fate, { part: 'before' });
  const left = (observations: readonly LimitObservation[]) =>
    countingOnly(observations, 1_000).map(({ sentMs }) => sentMs);

  it('is what was sent less than a window after the answer before it', () => {
    expect(left([sooner(0), sooner(1_074)])).toEqual([0, 1_074]);
    expect(left([sooner(0), sooner(1_075)])).toEqual([1_075]);
    expect(left([sooner(0), sooner(500), sooner(1_100), sooner(2_400), sooner(2_500)])).toEqual([
      2_400, 2_500,
    ]);
  });

  it.each(['serial', 'parallel'] as const)(
    'is nothing before a window without requests and a %s burst',
    (part) => {
      const burst = (sentMs: number, fate: LimitObservation['fate'] = 'admitted') =>
        at(sentMs, fate, { part });
      expect(left([sooner(0), sooner(10, 'refused'), burst(500), burst(510, 'refused')])).toEqual([
        0, 500, 510,
      ]);
      expect(left([sooner(0), burst(1_075), burst(3_000), sooner(9_000)])).toEqual([1_075, 3_000, 9_000]);
      expect(left([burst(0, 'refused'), burst(10)])).toEqual([0, 10]);
    },
  );
});

import { describe, expect, it } from 'vitest';
import { inTurnAt, ofQuota } from '../../../harness/wire/limit/fixtures/observed.ts';
import type { LimitObservation } from '../../../harness/wire/limit/observed/observation.ts';
import {
  AT_RANDOM,
  count,
  few,
  type Measured,
  measured,
  SHORT,
  serial,
  TWICE,
  together,
} from './fixtures/measured-limit.ts';
import { met } from './fixtures/met-limit.ts';

const WEEK_MS = 7 * 24 * 3_600_000;
const SECOND = { requests: 4, backMs: 1_000 };
const OTHERS_REFUSED = 'another limit than the documented one refused first';

/** Of each request in turn this was left, by the quota headers. */
const left = (...all: readonly number[]) =>
  all.map((remaining, index) => inTurnAt(10 * index, { quota: ofQuota(remaining, 10) }));
/** In turn, and then refused alone after all that can have flowed back. */
const refusedLate = [...count(0, 11).observations, inTurnAt(20_000, { fate: 'refused' })];
/** Ten were served, and a limit of a week refused. */
const ofWeek = (admitted: number): readonly LimitObservation[] => [
  ...count(0, admitted, { isRefused: false }).observations,
  inTurnAt(10 * admitted, { fate: 'refused', retryAfterMs: WEEK_MS }),
  inTurnAt(10 * admitted + 10, { fate: 'refused' }),
];

type Case = readonly [string, Measured, string];

describe('the documented number is held to no refusal of another limit', () => {
  it.each<Case>([
    ['that asks to wait for a week', { first: count(0, 9), observations: ofWeek(9) }, OTHERS_REFUSED],
    ['that asks so only behind it', { bounds: [11, 11], observations: ofWeek(10) }, '11'],
    [
      'of the documented further limit, met at its number',
      { first: count(0, 9), further: [SHORT] },
      'the further limit of 4 requests refused first',
    ],
    [
      'of the documented further limit, met twice',
      { first: count(0, 3), further: [SHORT], groups: 2 },
      'the further limit of 4 requests refused first',
    ],
    [
      'of the documented further limit, but to one below that',
      { first: count(0, 3), further: [SHORT], counts: serial(count(90_000, 10), count(200_000, 10)) },
      '11; by serial-count, serial-recount',
    ],
  ])('%s', async (_, given, said) => {
    expect(await measured(given)).toBe(said);
  });
});

describe('requests of others', () => {
  it('are told by a quota that fell by more than was sent: a lower number is not the fault of the service', async () => {
    const said = await measured({ bounds: [10, 10], observations: left(9, 8, 7, 5, 4, 3, 2, 1, 0) });
    expect(said).toBe('others spend this quota: it fell by 1 more than was sent');
  });
});

describe('a number beside a further limit', () => {
  const beside = { further: [SHORT], second: SECOND };
  it.each<Case>([
    ['is the documented one', { ...beside, counts: serial(count(90_000, 10)) }, '11; by serial-count'],
    [
      'is that of refusals at random, which no limit explains',
      {
        further: [SHORT],
        counts: serial(count(90_000, 4, { stray: TWICE }), count(200_000, 4, { stray: TWICE })),
      },
      '3; stray; by serial-count, serial-recount',
    ],
    [
      'is too low where the further limit was not met',
      { first: count(0, 3), further: [SHORT], counts: serial(count(90_000, 3)) },
      '4; by serial-count',
    ],
    [
      'is too low where it is above the further limit',
      { ...beside, first: count(0, 5), counts: serial(count(90_000, 5)) },
      '6; by serial-count',
    ],
    [
      'may be so much lower as the further limit refused in the one count',
      { ...beside, first: count(0, 9), counts: serial(count(90_000, 9, { interruptions: 1 })) },
      '1 request that the further limit of 4 requests refused may have counted',
    ],
    [
      'may be so much lower as the further limit refused in the other count',
      { ...beside, first: count(0, 9, { interruptions: 1 }), counts: serial(count(90_000, 9)) },
      '1 request that the further limit of 4 requests refused may have counted',
    ],
    [
      'may be higher by one that flows back meanwhile',
      { ...beside, first: count(0, 11), counts: serial(count(90_000, 11)) },
      '11 were admitted while the further limit of 4 requests was waited for, and the quota may flow back',
    ],
    [
      'is too high by more than flow back meanwhile',
      { ...beside, first: count(0, 12), counts: serial(count(90_000, 12)) },
      '13; by serial-count',
    ],
    [
      'is too high by one where none flows back',
      { ...beside, first: count(0, 11), observations: refusedLate, counts: serial(count(90_000, 11)) },
      '12; by serial-count',
    ],
    [
      'is counted in turn, however slowly',
      { ...beside, eachMs: 700, counts: serial(count(90_000, 10)) },
      '11; by serial-count',
    ],
  ])('%s', async (_, given, said) => {
    expect(await measured(given)).toBe(said);
  });
});

describe('a limit that may be one of requests at a time', () => {
  const parallel = met(500, [...Array.from({ length: 10 }, () => 200), 429], []);
  const given: Measured = { bounds: [11, 11], compatible: ['fixed-window', 'concurrency'], parallel };

  it('is counted once more, although the documented number was met', async () => {
    expect(await measured({ ...given, counts: serial(count(90_000, 10)) })).toBe('11; by serial-count');
  });

  it.each<[string, Measured]>([
    ['nothing was sent together', { parallel: null }],
    ['another kind explains all', { compatible: ['fixed-window'] }],
    // 26 in turn take 104 s of which 17.3 flow back: more would not be told from that.
    ['as many in turn as would tell flow back meanwhile', { eachMs: 4_000 }],
  ])('is not counted if %s', async (_, more) => {
    expect(await measured({ ...given, ...more })).toBe('11');
  });
});

describe('how requests are counted', () => {
  const inTurn = serial(count(90_000, 10));
  const atOnce = together(count(90_000, 10));
  it.each<Case>([
    ['in turn if they take a tenth of the window', { eachMs: 600, counts: inTurn }, '11; by serial-count'],
    ['together if they take longer', { eachMs: 601, counts: atOnce }, '11; by parallel-count'],
    [
      'in turn if one was refused at random and they take half of the window',
      {
        stray: AT_RANDOM,
        eachMs: 4_000,
        typicalMs: 3_000,
        counts: serial(count(90_000, 10), count(200_000, 10)),
      },
      '11; by serial-count, serial-recount',
    ],
    [
      'together if one was refused at random and they take longer',
      {
        stray: AT_RANDOM,
        eachMs: 10,
        typicalMs: 3_001,
        counts: together(count(90_000, 10), count(200_000, 10)),
      },
      '11; by parallel-count, parallel-recount',
    ],
  ])('%s', async (_, given, said) => {
    expect(await measured(given)).toBe(said);
  });

  // 7 in turn within one window: half of that is 3.5.
  const seven = [0, 1, 2, 3, 4, 5, 6].map((index) => inTurnAt(8_000 * index));
  const sevenTogether = (admitted: number, more: Measured['counts'] = {}) => ({
    eachMs: 700,
    observations: seven,
    counts: { ...together(count(90_000, admitted), count(200_000, admitted)), ...more },
  });
  it.each<Case>([
    [
      'in turn if less than half as many are served together as were in turn',
      sevenTogether(3, serial(count(310_000, 10))),
      '11; by parallel-count, serial-count',
    ],
    ['together if half as many are served', sevenTogether(4), '5; by parallel-count, parallel-recount'],
  ])('%s', async (_, given, said) => {
    expect(await measured(given)).toBe(said);
  });

  it.each<Case>([
    // Half as many more requests in turn would take 58.5 s, or just a window.
    [
      'in turn if requests that are served two at a time are told from what flows back',
      {
        eachMs: 3_900,
        first: count(0, 10, { isRefused: false, fromMs: 1_000, toMs: 40_000 }),
        observations: Array.from({ length: 10 }, (_, index) => inTurnAt(3_900 * index)),
        counts: { ...together(count(190_000, 2)), ...serial(count(300_000, 10)) },
      },
      '11; by parallel-count, serial-count',
    ],
    [
      'a few at a time if half as many more in turn take a whole window',
      {
        eachMs: 4_000,
        first: count(0, 10, { isRefused: false, fromMs: 1_000, toMs: 41_000 }),
        observations: Array.from({ length: 10 }, (_, index) => inTurnAt(4_000 * index)),
        counts: { ...together(count(190_000, 2)), ...few(count(300_000, 10), count(500_000, 10)) },
      },
      '11; by parallel-count, few-count',
    ],
    [
      'a few at a time, if not the second count spans a window',
      {
        eachMs: 7_000,
        first: count(0, 13, { isRefused: false, toMs: 91_000 }),
        observations: Array.from({ length: 13 }, (_, index) => inTurnAt(7_000 * index)),
        counts: {
          ...together(count(190_000, 2)),
          ...few(count(300_000, 12), count(500_000, 8, { toMs: 560_000 })),
        },
      },
      'another limit refuses requests that come together, and as many at a time as are served are hardly more than documented',
    ],
    [
      'in turn even if a count spans a window',
      {
        counts: serial(count(90_000, 9, { toMs: 150_000 }), count(200_000, 8, { toMs: 260_000 })),
      },
      'others spend this quota, or it is counted otherwise than by window: 9, then 8 were admitted of a fresh one',
    ],
  ])('%s', async (_, given, said) => {
    expect(await measured(given)).toBe(said);
  });
});

import { describe, expect, it } from 'vitest';
import { inTurnAt } from '../../../harness/wire/limit/fixtures/observed.ts';
import type { Count } from './count.ts';
import {
  AT_RANDOM,
  BUCKET,
  count,
  type Measured,
  measured,
  serial,
  TWICE,
  together,
} from './fixtures/measured-limit.ts';

const SECOND = { requests: 4, backMs: 1_000 };
/** In turn, and then refused alone after all that can have flowed back. */
const refusedLate = [...count(0, 11).observations, inTurnAt(20_000, { fate: 'refused' })];

type Case = readonly [string, Measured, string];

describe('two counts that differ', () => {
  const two = (one: Measured['first'], other: Measured['first']): Measured => ({
    first: count(0, 0),
    ...(one && other && { counts: serial(one, other) }),
  });
  it.each<Case>([
    [
      'for failures in the one tell of those, not of the limit',
      two(count(90_000, 12, { surely: 11 }), count(200_000, 14, { surely: 9 })),
      'the service failed 5 times while it was counted: nothing tells whether that counts',
    ],
    [
      'by one failure tell of that',
      two(count(90_000, 8), count(200_000, 9, { surely: 8 })),
      'the service failed 1 times while it was counted: nothing tells whether that counts',
    ],
    [
      'with one below the limit tell of others, the first one',
      two(count(90_000, 9), count(200_000, 10, { isRefused: false })),
      'others spend this quota, or it is counted otherwise than by window: 9, then 10 were admitted of a fresh one',
    ],
    [
      'with one below the limit tell of others, the second one',
      two(count(90_000, 10, { isRefused: false }), count(200_000, 9)),
      'others spend this quota, or it is counted otherwise than by window: 10, then 9 were admitted of a fresh one',
    ],
    [
      'of at least the limit tell of a window that ended',
      two(count(90_000, 10), count(150_000, 12)),
      '10, then 12 were admitted, and a window may have ended meanwhile',
    ],
    [
      'and two refusals at random tell of those',
      { ...two(count(90_000, 8, { stray: TWICE }), count(200_000, 7)), stray: AT_RANDOM },
      '3; stray; by serial-count, serial-recount',
    ],
  ])('%s', async (_, given, said) => {
    expect(await measured(given)).toBe(said);
  });
});

describe('a count of the documented number', () => {
  it.each<Case>([
    [
      'is sure where no window can have ended at the same request of both, though within both',
      { counts: serial(count(60_050, 10)) },
      '11; by serial-count',
    ],
    [
      'is sure by two of three, though a window may have ended within both',
      { first: count(0, 9), counts: serial(count(90_000, 10), count(150_010, 10)) },
      '11; counted twice; by serial-count, serial-recount',
    ],
    [
      'is not sure where a request was refused at random',
      {
        first: count(0, 9),
        counts: serial(count(90_000, 10, { stray: AT_RANDOM }), count(150_010, 10)),
      },
      '10, then 10 were admitted, and a window may have ended meanwhile',
    ],
    [
      'is not sure where one request failed',
      {
        first: count(0, 9),
        counts: serial(count(90_000, 10, { surely: 9 }), count(150_010, 10, { surely: 9 })),
      },
      'the service failed 1 times while it was counted: nothing tells whether that counts',
    ],
    [
      'is not sure where none was refused',
      {
        first: count(0, 10, { isRefused: false }),
        counts: serial(count(90_000, 10, { isRefused: false }), count(200_000, 10, { isRefused: false })),
      },
      '10, then 10 were admitted, and a window may have ended meanwhile',
    ],
  ])('%s', async (_, given, said) => {
    expect(await measured(given)).toBe(said);
  });
});

describe('a count of more than the documented number', () => {
  it.each<Case>([
    [
      'is of a higher limit where no window can have ended at the same request of both',
      { first: count(0, 12), counts: serial(count(60_050, 12)) },
      '13; by serial-count',
    ],
    [
      'is not of no limit at all while a window may have ended within both',
      {
        first: count(0, 12, { isRefused: false }),
        counts: serial(count(60_050, 12, { isRefused: false }), count(140_000, 12)),
      },
      '13; by serial-count, serial-recount',
    ],
  ])('%s', async (_, given, said) => {
    expect(await measured(given)).toBe(said);
  });
});

describe('counts of fewer than half as many together as in turn', () => {
  const inTurn = [0, 1, 2, 3, 4, 5, 6].map((index) => inTurnAt(8_000 * index));
  const given = { eachMs: 700, observations: inTurn };
  it.each<Case>([
    [
      'are no low limit, even if they agree: another one refuses requests that come together',
      {
        first: count(0, 3),
        counts: { ...together(count(90_000, 3)), ...serial(count(310_000, 10), count(460_000, 10)) },
      },
      '11; by parallel-count, serial-count, serial-recount',
    ],
    [
      'are a low limit as soon as requests in turn are served no more either',
      { first: count(0, 3), counts: { ...together(count(90_000, 3)), ...serial(count(310_000, 3)) } },
      '4; by parallel-count, serial-count',
    ],
    [
      'are not held against those in turn',
      { counts: { ...together(count(90_000, 3)), ...serial(count(310_000, 3), count(460_000, 3)) } },
      '4; by parallel-count, serial-count, serial-recount',
    ],
  ])('%s', async (_, more, said) => {
    expect(await measured({ ...given, ...more })).toBe(said);
  });
});

describe('a bucket without burst', () => {
  const flows = (fromMs: number, admitted: number, flowed = admitted, more: Partial<Count> = {}) =>
    count(fromMs, admitted, { flowed, ...more });
  const blocked = (one: number, other: number) =>
    `others spend this quota, or it is counted otherwise than by window: ${one}, then ${other} were admitted of a fresh one`;
  it.each<Case>([
    [
      'serves as many as flow back while requests are held up, and the fewest are its size',
      { compatible: BUCKET, first: flows(0, 2), counts: serial(flows(90_000, 1)) },
      '2; by serial-count',
    ],
    [
      'has the lower one of two sizes, whichever count was first',
      { compatible: BUCKET, first: flows(0, 1), counts: serial(flows(90_000, 2)) },
      '2; by serial-count',
    ],
    [
      'shows while less than half of the quota flows back',
      { compatible: BUCKET, first: flows(0, 4), counts: serial(flows(90_000, 3)) },
      '4; by serial-count',
    ],
    [
      'does not show where half of the quota flows back',
      { compatible: BUCKET, first: flows(0, 5), counts: serial(flows(90_000, 4), flows(200_000, 6)) },
      blocked(4, 6),
    ],
    [
      'is none where no quota flows back',
      { first: flows(0, 2), counts: serial(flows(90_000, 1), flows(200_000, 3)) },
      blocked(1, 3),
    ],
    [
      'shows in no count that was not refused',
      {
        compatible: BUCKET,
        first: flows(0, 2, 2, { isRefused: false }),
        counts: serial(flows(90_000, 1), flows(200_000, 6, 1)),
      },
      blocked(1, 6),
    ],
    [
      'shows in no count of more than flow back',
      {
        compatible: BUCKET,
        first: flows(0, 6, 1),
        counts: serial(flows(90_000, 1), flows(200_000, 7, 1)),
      },
      blocked(1, 7),
    ],
    [
      'shows not by one count that few flowed back to',
      {
        compatible: BUCKET,
        first: flows(0, 4),
        counts: serial(flows(90_000, 3, 1), flows(200_000, 7, 1)),
      },
      blocked(3, 7),
    ],
    [
      'is refused early in both counts, not in one',
      {
        compatible: BUCKET,
        first: count(0, 10, { refusedEarly: 2 }),
        counts: serial(count(90_000, 10)),
      },
      '11; by serial-count',
    ],
    [
      'is refused early by no second limit',
      {
        compatible: BUCKET,
        second: SECOND,
        first: count(0, 10, { refusedEarly: 2 }),
        counts: serial(count(90_000, 10, { refusedEarly: 2 })),
      },
      '11; by serial-count',
    ],
  ])('%s', async (_, given, said) => {
    expect(await measured(given)).toBe(said);
  });
});

// Sent at once and answered within 12 s, in which two flow back, or three.
describe('a bucket of which requests flow back while it is counted', () => {
  const slow = (fromMs: number, admitted: number, more: Partial<Count> = {}): Count => ({
    ...count(fromMs, admitted),
    observations: Array.from({ length: admitted + 1 }, (_, index) =>
      inTurnAt(fromMs, {
        part: 'parallel',
        fate: index < admitted ? 'admitted' : 'refused',
        finishedMs: fromMs + 12_000,
      }),
    ),
    toMs: fromMs + 12_000,
    flowed: 3,
    ...more,
  });
  const given = (one: Count, other: Count, compatible = BUCKET): Measured => ({
    compatible,
    first: slow(0, 11),
    counts: serial(one, other),
  });
  const twice = (admitted: number, more: Partial<Count> = {}, compatible = BUCKET) =>
    given(slow(90_000, admitted, more), slow(203_000, admitted, more), compatible);
  const ended = (one: number, other: number) =>
    `${one}, then ${other} were admitted, and a window may have ended meanwhile`;
  it.each<Case>([
    [
      'keeps its number, which is not known closer',
      twice(12),
      '11; at most 13; by serial-count, serial-recount',
    ],
    [
      'keeps it if as many flow back as were served beyond it',
      twice(12, { flowed: 2 }),
      '11; at most 13; by serial-count, serial-recount',
    ],
    [
      'keeps it as soon as that number surely counted',
      twice(12, { surely: 10 }),
      '11; at most 13; by serial-count, serial-recount',
    ],
    [
      'keeps it by the one count that was refused',
      given(slow(90_000, 12), slow(203_000, 12, { isRefused: false })),
      '11; at most 13; by serial-count, serial-recount',
    ],
    [
      'is not known to keep it where a count has one more than flow back',
      given(slow(90_000, 12), slow(203_000, 13)),
      ended(12, 13),
    ],
    ['is not known to keep it where none was refused', twice(12, { isRefused: false }), ended(12, 12)],
    ['is not known to keep it where hardly one flows back', twice(11, { flowed: 1 }), ended(11, 11)],
    [
      'is not known to keep it where fewer than that surely counted',
      twice(12, { surely: 9 }),
      'the service failed 3 times while it was counted: nothing tells whether that counts',
    ],
    [
      'is not known to keep it where fewer were served once',
      given(slow(90_000, 12), slow(203_000, 9)),
      'others spend this quota, or it is counted otherwise than by window: 12, then 9 were admitted of a fresh one',
    ],
    ['is none where no bucket explains all', twice(12, {}, ['sliding-counter']), ended(12, 12)],
    [
      'has a higher limit where nothing flows back',
      { ...twice(12), observations: refusedLate },
      '13; by serial-count',
    ],
  ])('%s', async (_, of, said) => {
    expect(await measured(of)).toBe(said);
  });
});

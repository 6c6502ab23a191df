import { describe, expect, it } from 'vitest';
import { inTurnAt } from '../../../harness/wire/limit/fixtures/observed.ts';
import {
  AT_RANDOM,
  BUCKET,
  count,
  few,
  type Measured,
  measured,
  SHORT,
  serial,
  TWICE,
  together,
} from './fixtures/measured-limit.ts';

const CASES: readonly (readonly [string, Measured, string])[] = [
  ['the documented number, exactly', { bounds: [11, 11] }, '11'],
  [
    'the documented number within bounds',
    { bounds: [11, 12], counts: serial(count(90_000, 10)) },
    '11; by serial-count',
  ],
  ['requests held back', { algorithm: 'queue' }, 'requests are held back instead of refused: a reason'],
  [
    'requests held back by a delay',
    { algorithm: 'delay' },
    'requests are held back instead of refused: a reason',
  ],
  ['no limiter', { algorithm: 'none' }, 'null'],
  ['concurrency', { algorithm: 'concurrency' }, 'null'],
  ['refusals at random', { stray: TWICE }, '3; stray'],
  [
    'one refusal at random',
    { stray: AT_RANDOM, bounds: [11, 11], counts: serial(count(90_000, 10), count(200_000, 10)) },
    '11; by serial-count, serial-recount',
  ],
  [
    'one refusal at random, and another',
    { stray: AT_RANDOM, counts: serial(count(90_000, 10, { stray: TWICE }), count(200_000, 10)) },
    '3; stray; by serial-count',
  ],
  ['the documented number, counted', { counts: serial(count(90_000, 10)) }, '11; by serial-count'],
  [
    'the documented number, counted at the same place',
    { counts: serial(count(60_000, 10), count(200_000, 10)) },
    '11; by serial-count, serial-recount',
  ],
  ['one too few, twice', { first: count(0, 9), counts: serial(count(90_000, 9)) }, '10; by serial-count'],
  [
    'one too few, then the documented number',
    { first: count(0, 9), counts: serial(count(90_000, 10), count(200_000, 10)) },
    '11; by serial-count, serial-recount',
  ],
  [
    'too few, each time another number',
    { first: count(0, 9), counts: serial(count(90_000, 8), count(200_000, 7)) },
    'others spend this quota, or it is counted otherwise than by window: 8, then 7 were admitted of a fresh one',
  ],
  ['one too many, twice', { first: count(0, 11), counts: serial(count(90_000, 11)) }, '12; by serial-count'],
  [
    'one too many, at the same place',
    { first: count(0, 11), counts: serial(count(60_000, 11), count(120_000, 11)) },
    '11, then 11 were admitted, and a window may have ended meanwhile',
  ],
  [
    'many too many, and no refusal',
    { first: count(0, 14, { isRefused: false }), counts: serial(count(90_000, 26, { isRefused: false })) },
    'null; by serial-count',
  ],
  [
    'one too many, once',
    { first: count(0, 10), counts: serial(count(90_000, 11), count(200_000, 10)) },
    '11; by serial-count',
  ],
  [
    'one too many, once more',
    { first: count(0, 10), counts: serial(count(90_000, 11), count(200_000, 11)) },
    '11; by serial-count',
  ],
  [
    'failures among them',
    {
      first: count(0, 10),
      counts: serial(count(90_000, 11, { surely: 9 }), count(200_000, 10, { surely: 9 })),
    },
    '11; by serial-count, serial-recount',
  ],
  [
    'a bucket, counted twice',
    { compatible: BUCKET, counts: serial(count(90_000, 10), count(200_000, 10)) },
    '11; by serial-count',
  ],
  [
    'a bucket that flows back',
    {
      compatible: BUCKET,
      first: count(0, 11, { flowed: 3 }),
      counts: serial(count(90_000, 12, { flowed: 3 }), count(200_000, 12, { flowed: 3 })),
    },
    '13; by serial-count',
  ],
  [
    'a bucket of more',
    { compatible: BUCKET, first: count(0, 15), counts: serial(count(90_000, 15), count(200_000, 15)) },
    '16; by serial-count',
  ],
  [
    'a bucket without burst',
    { compatible: BUCKET, first: count(0, 1), counts: serial(count(90_000, 1), count(200_000, 1)) },
    '2; by serial-count',
  ],
  [
    'a bucket without burst, refused early',
    {
      compatible: BUCKET,
      first: count(0, 2, { refusedEarly: 2 }),
      counts: serial(count(90_000, 2, { refusedEarly: 2 })),
    },
    '2; by serial-count',
  ],
  [
    'a counter whose window slid',
    {
      compatible: ['sliding-counter'],
      first: count(0, 10),
      counts: serial(count(60_000, 12), count(95_000, 10)),
    },
    '11; between 10 and 11; by serial-count, serial-recount',
  ],
  ['slow requests, together', { eachMs: 700, counts: together(count(90_000, 10)) }, '11; by parallel-count'],
  [
    'slow requests, one too many together',
    { eachMs: 700, first: count(0, 11), counts: together(count(90_000, 11), count(200_000, 11)) },
    '12; by parallel-count',
  ],
  [
    'slow requests, few together',
    {
      eachMs: 700,
      first: count(0, 10),
      counts: { ...together(count(90_000, 2)), ...serial(count(200_000, 10)) },
    },
    '11; by parallel-count, serial-count',
  ],
  [
    'slow requests, unmet, few together',
    {
      eachMs: 7_000,
      first: count(0, 13, { isRefused: false, toMs: 91_000 }),
      observations: Array.from({ length: 13 }, (_, at) => inTurnAt(7_000 * at)),
      counts: { ...together(count(190_000, 2)), ...few(count(300_000, 10), count(500_000, 10)) },
    },
    '11; by parallel-count, few-count, few-recount',
  ],
  [
    'slow requests, unmet, few at a time too slow',
    {
      eachMs: 7_000,
      first: count(0, 13, { isRefused: false, toMs: 91_000 }),
      observations: Array.from({ length: 13 }, (_, at) => inTurnAt(7_000 * at)),
      counts: {
        ...together(count(190_000, 2)),
        ...few(count(300_000, 12, { toMs: 370_000 }), count(500_000, 10)),
      },
    },
    'another limit refuses requests that come together, and as many at a time as are served are hardly more than documented',
  ],
  [
    'a further limit that refused first',
    { first: count(0, 4), further: [SHORT] },
    'the further limit of 4 requests refused first',
  ],
  [
    'a further limit, at its number',
    { first: count(0, 10), further: [SHORT], counts: serial(count(90_000, 4), count(200_000, 4)) },
    'the further limit of 4 requests refused first',
  ],
  [
    'a further limit, and one too few',
    {
      first: count(0, 9),
      further: [SHORT],
      second: { requests: 4, backMs: 1_000 },
      counts: serial(count(90_000, 9), count(200_000, 9)),
    },
    '10; by serial-count',
  ],
  [
    'a further limit whose refusals count',
    {
      first: count(0, 9),
      further: [SHORT],
      second: { requests: 4, backMs: 1_000 },
      counts: serial(count(90_000, 9, { interruptions: 1 }), count(200_000, 9, { interruptions: 1 })),
    },
    '1 request that the further limit of 4 requests refused may have counted',
  ],
  [
    'a further limit, below it',
    {
      first: count(0, 3),
      further: [SHORT],
      second: { requests: 4, backMs: 1_000 },
      counts: serial(count(90_000, 3), count(200_000, 3)),
    },
    'the further limit of 4 requests refused first',
  ],
  [
    'a further limit, and a quota that flows back',
    {
      compatible: BUCKET,
      first: count(0, 12),
      further: [SHORT],
      second: { requests: 4, backMs: 1_000 },
      counts: serial(count(90_000, 12, { flowed: 2 }), count(200_000, 12, { flowed: 2 })),
    },
    '12 were admitted while the further limit of 4 requests was waited for, and the quota may flow back',
  ],
  [
    'a further limit, and others',
    {
      first: count(0, 9),
      further: [SHORT],
      second: { requests: 4, backMs: 1_000 },
      counts: serial(count(90_000, 8), count(200_000, 7)),
    },
    'others spend this quota, or it is counted otherwise than by window: 8, then 7 were admitted of a fresh one, beside the further limit of 4 requests',
  ],
];

describe('the first refused request', () => {
  it.each(CASES)('of %s', async (_, given, said) => {
    expect(await measured(given)).toBe(said);
  });
});

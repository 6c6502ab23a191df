import { describe, expect, it } from 'vitest';
import { Blocked } from '../../../harness/base/verdict.ts';
import { at, inTurnAt } from '../../../harness/wire/limit/fixtures/observed.ts';
import type { LimitObservation } from '../../../harness/wire/limit/observed/observation.ts';
import { count, type Measured, scripted } from './fixtures/measured-limit.ts';
import { met } from './fixtures/met-limit.ts';
import { togetherAdmitted, unmetInTurn } from './limit.ts';

/** From 500 ms on: this number was served together, and one refused. */
const burst = (admitted: number) => met(500, [...Array.from({ length: admitted }, () => 200), 429], []);

interface Given extends Measured {
  readonly limit?: { readonly firstRefused: number | null; readonly isStray?: boolean };
}

async function excess({ limit = { firstRefused: 11 }, counts = {}, ...given }: Given): Promise<string> {
  const { port, counted } = scripted({
    ...given,
    counts: { ...counts, 'measured-limit': { isStray: false, ...limit } as never },
  });
  const found = await togetherAdmitted.send(port).catch((thrown: Error) => thrown.message);
  return typeof found === 'string' ? found : [`${found.excess} of ${found.sent}`, ...counted].join('; ');
}

const once = (one: ReturnType<typeof count>, other?: ReturnType<typeof count>) => ({
  'parallel-count': one,
  ...(other && { 'parallel-recount': other }),
});
/** One alone was refused when two were back of any quota that flows back. */
const flowsNot: readonly LimitObservation[] = [
  ...count(0, 10).observations,
  inTurnAt(20_000, { fate: 'refused' }),
];
/** Spent, spent anew 20 s later, and served 10 s after that. */
const renewed: readonly LimitObservation[] = [
  ...count(0, 10).observations,
  ...count(20_000, 12).observations.map((each) => ({ ...each, part: 'parallel' as const })),
  at(30_000, 'admitted'),
];
/** Fourteen were served, four of them sent behind a refusal. */
const behind = [...count(90_000, 10).observations, ...[0, 1, 2, 3].map((index) => inTurnAt(90_200 + index))];

// Of those served together, one may have flowed back meanwhile.
describe('requests that are served together beyond the limit', () => {
  it.each<[string, Given, string]>([
    [
      'are not counted where a second limit refuses those',
      { second: { requests: 4, backMs: 1_000 } },
      'a second limit refuses more than 4 requests that come together',
    ],
    [
      'are not counted where none were sent together',
      { parallel: null },
      'the quota did not come back in full while it was measured',
    ],
    ['are none up to the documented number', { parallel: burst(10), limit: { firstRefused: 3 } }, '0 of 11'],
    ['are none where nothing limits', { parallel: burst(14), algorithm: 'none' }, '0 of 15'],
    ['are none of a limit of concurrency', { parallel: burst(14), algorithm: 'concurrency' }, '0 of 15'],
    [
      'are not told from windows that end sooner than documented',
      { parallel: burst(14), observations: renewed },
      'windows end sooner than documented: one may have ended meanwhile',
    ],
    ['are none where one flows back meanwhile', { parallel: burst(11) }, '0 of 12'],
    [
      'are those beyond the documented number, twice',
      { parallel: burst(14), counts: once(count(90_000, 14)) },
      '3 of 15; parallel-count',
    ],
    [
      'are all of those where no quota flows back',
      { parallel: burst(14), observations: flowsNot, counts: once(count(90_000, 14)) },
      '4 of 15; parallel-count',
    ],
    [
      'are those beyond the limit that requests in turn met',
      { parallel: burst(14), limit: { firstRefused: 13 }, counts: once(count(90_000, 14)) },
      '1 of 15; parallel-count',
    ],
    [
      'are not those beyond a limit below the documented one',
      { parallel: burst(14), limit: { firstRefused: 6 }, counts: once(count(90_000, 14)) },
      '3 of 15; parallel-count',
    ],
    [
      'are none where requests in turn meet no limit',
      { parallel: burst(14), limit: { firstRefused: null } },
      '0 of 15',
    ],
    [
      'are those beyond the documented number where requests in turn are refused at random',
      { parallel: burst(14), limit: { firstRefused: 13, isStray: true }, counts: once(count(90_000, 14)) },
      '3 of 15; parallel-count',
    ],
    [
      'are as few as in the lower one of two counts',
      { parallel: burst(14), counts: once(count(90_000, 12)) },
      '1 of 13; parallel-count',
    ],
    [
      'are as few as in the lower one of two counts, the first',
      { parallel: burst(12), counts: once(count(90_000, 14)) },
      '1 of 15; parallel-count',
    ],
    [
      'are counted once more where a window may have ended within both counts',
      { parallel: burst(14), counts: once(count(60_500, 14), count(150_000, 13)) },
      '2 of 14; parallel-count; parallel-recount',
    ],
    [
      'are held against the count before, not against the first',
      { parallel: burst(12), counts: once(count(60_500, 14), count(150_000, 14)) },
      '3 of 15; parallel-count; parallel-recount',
    ],
    [
      'are none as soon as a second count finds none, at whatever moment',
      { parallel: burst(14), counts: once(count(60_500, 11)) },
      '0 of 15; parallel-count',
    ],
    [
      'are unknown where a window may have ended within each count',
      { parallel: burst(14), counts: once(count(60_500, 14), count(120_500, 14)) },
      'requests sent together take so long that a window may end meanwhile',
    ],
    [
      'are unknown where they were sent behind a refusal',
      { parallel: burst(14), counts: once(count(90_000, 14, { observations: behind })) },
      'what was served beyond the limit was sent behind a refusal: a window may have ended',
    ],
    [
      'are known where fewer than those were sent behind a refusal',
      { parallel: burst(14), counts: once(count(90_000, 14, { observations: behind.slice(0, -2) })) },
      '3 of 15; parallel-count',
    ],
  ])('%s', async (_, given, said) => {
    expect(await excess(given)).toBe(said);
  });
});

describe('a limit that requests in turn do not meet', () => {
  const unmet = (limit: { readonly firstRefused: number | null; readonly isStray?: boolean } | Error) =>
    unmetInTurn.send({
      ask: async () => {
        if (limit instanceof Error) throw limit;
        return { isStray: false, ...limit };
      },
    } as never);

  it.each([
    ['is one that refused none of them', { firstRefused: null }, true],
    ['is none that refused one of them', { firstRefused: 11 }, false],
    ['is none that refused one at random', { firstRefused: null, isStray: true }, false],
    ['is none that could not be counted', new Blocked('others spend this quota'), false],
  ])('%s', async (_, limit, is) => {
    expect(await unmet(limit)).toBe(is);
  });
});

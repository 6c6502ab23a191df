import { describe, expect, it } from 'vitest';
import { Blocked } from '../../../harness/base/verdict.ts';
import { shipped } from '../../../harness/config/fixtures/config-folder.ts';
import type { MetLimit } from '../../../harness/engine/session/http/burst.ts';
import type { Port } from '../../../harness/engine/session/probe.ts';
import type { BurstEntry } from '../../../harness/wire/evidence.ts';
import { inTurnAt } from '../../../harness/wire/limit/fixtures/observed.ts';
import {
  type Count,
  fewCount,
  firstBurst,
  parallelCount,
  parallelRecount,
  serialCount,
  serialRecount,
  strayTogether,
} from './count.ts';
import { count, PLAN } from './fixtures/measured-limit.ts';
import { met } from './fixtures/met-limit.ts';

const search = await shipped('search');

interface Order {
  readonly before: number;
  readonly upTo: number;
  readonly atATime?: number;
}

/** Statuses of the requests of a burst; null: it cannot be sent. */
type Answer = (order: Order) => readonly (number | null)[] | null;
const served = (number: number) => Array.from({ length: number }, () => 200);
/** The limit is so much, whatever comes. */
const limited =
  (limit: number): Answer =>
  ({ upTo }) =>
    [...served(limit), 429].slice(0, upTo);
const all: Answer = ({ upTo }) => served(upTo);

interface Scene {
  readonly answers: readonly Answer[];
  /** From one request of a burst to the next. */
  readonly eachMs?: number;
  readonly asked?: Readonly<Record<string, unknown>>;
  readonly fields?: BurstEntry['fields'];
  readonly refusal?: { readonly status: number | null };
  readonly evidence?: readonly MetLimit[];
}

/** What is counted by a session whose clock stands still but for its waits and its bursts. */
function sceneOf({ answers, eachMs = 10, asked = {}, fields = [], refusal, evidence = [] }: Scene) {
  const orders: string[] = [];
  const waits: number[] = [];
  let nowMs = 0;
  const port = {
    config: { ...search, plan: PLAN },
    clock: { now: () => nowMs, wallNow: () => new Date(nowMs) },
    ask: async ({ name }: { readonly name: string }) => asked[name],
    pause: {
      until: async (untilMs: number) => {
        waits.push(untilMs);
        nowMs = untilMs;
      },
    },
    quota: {
      refusal: refusal ?? null,
      evidenceSoFar: () => evidence.map(({ burst }) => burst),
      async burst(order: Order) {
        const { before, upTo, atATime } = order;
        const statuses = (answers[orders.length] ?? all)(order);
        orders.push(`${upTo} behind ${before}${atATime === undefined ? '' : `, ${atATime} at a time`}`);
        if (statuses === null) throw new Blocked('no record of it');
        const { burst, refusal: refused } = met(nowMs, statuses, statuses.includes(429) ? [] : undefined);
        const entries = burst.entries.map((entry, index) => ({
          ...entry,
          sentMs: nowMs + eachMs * index,
          fields: entry.status === 429 ? fields : [],
        }));
        const durationMs = eachMs * statuses.length;
        const timing = { ...burst.timing, startedMs: nowMs, durationMs };
        nowMs += durationMs;
        return { burst: { ...burst, entries, timing }, refusal: refused };
      },
    },
  } as unknown as Port;
  return { port, orders, waits };
}

describe('requests sent together to count a limit', () => {
  it('are those of the plan, a quarter more and four, after two windows of silence', async () => {
    const { port, orders, waits } = sceneOf({ answers: [limited(10)] });
    const { fromMs, toMs, admitted, surely, isRefused, sent, flowed } = await parallelCount.send(port);
    expect(orders).toEqual(['17 behind 0']);
    expect(waits).toEqual([120_070]);
    expect({ fromMs, toMs, admitted, surely, isRefused, sent, flowed }).toEqual({
      fromMs: 120_070,
      toMs: 120_180,
      admitted: 10,
      surely: 10,
      isRefused: true,
      sent: 11,
      flowed: 1,
    });
  });

  it('tell no limit if none is refused, and take along what flows back meanwhile', async () => {
    const { port } = sceneOf({ answers: [all], eachMs: 1_000 });
    // 17 s, in which 2.8 flow back.
    expect(await parallelCount.send(port)).toMatchObject({ admitted: 17, isRefused: false, flowed: 3 });
  });

  it('count a failure, but not surely', async () => {
    const { port } = sceneOf({ answers: [() => [...served(9), 500, 429]] });
    expect(await parallelCount.send(port)).toMatchObject({ admitted: 10, surely: 9 });
  });

  it('begin at another moment of the window than the count before', async () => {
    const before = count(60_000, 10, { toMs: 61_000 });
    const { port, waits } = sceneOf({ answers: [limited(10)], asked: { 'parallel-count': before } });
    await parallelRecount.send(port);
    // 70 ms into its window; 1 s of its length and 3 s, a twentieth of the window, are apart enough.
    expect(waits).toEqual([124_000]);
  });

  it('that are all refused tell that the quota did not come back', async () => {
    await expect(parallelCount.send(sceneOf({ answers: [limited(0)] }).port)).rejects.toThrow(
      'none was admitted: the quota did not come back to be counted',
    );
  });

  it('tell nothing of a lower number where a limit of a week refused', async () => {
    const fields = [['Retry-After', '604800']] as const;
    const week = (limit: number) => parallelCount.send(sceneOf({ answers: [limited(limit)], fields }).port);
    await expect(week(9)).rejects.toThrow('another limit than the documented one refused first');
    expect(await week(10)).toMatchObject({ admitted: 10 });
    const { port } = sceneOf({ answers: [limited(9)] });
    expect(await parallelCount.send(port)).toMatchObject({ admitted: 9 });
  });

  it('tell nothing if one got no answer, and name the first', async () => {
    const answers: readonly Answer[] = [() => [200, null, null]];
    await expect(parallelCount.send(sceneOf({ answers }).port)).rejects.toThrow(
      'request 2 of the burst got no answer',
    );
  });
});

describe('requests in turn to count a limit', () => {
  const unmet = count(0, 13, { isRefused: false, toMs: 13_000 });
  const recounted = async (more: Partial<Scene>, before: Count = unmet) => {
    const { port, orders } = sceneOf({
      answers: [all],
      eachMs: 1_000,
      asked: { 'serial-count': before },
      ...more,
    });
    const { admitted, isRefused } = await serialRecount.send(port);
    return [orders.slice(1), admitted, isRefused];
  };

  it('are up to a tenth of the plan and two more, and end where they are refused', async () => {
    const { port, orders } = sceneOf({ answers: [limited(10)], asked: { 'first-burst': count(0, 10) } });
    expect(await serialCount.send(port)).toMatchObject({ admitted: 10, isRefused: true, sent: 11 });
    expect(orders).toEqual(['13 behind 0']);
  });

  // In 13 s two flow back, in 14 s as well: the fourteenth is more than that, and one.
  it('go on where two counts met no limit, until they are more than flow back', async () => {
    expect(await recounted({})).toEqual([['1 behind 13'], 14, false]);
  });

  it('go on until one is refused', async () => {
    expect(await recounted({ answers: [all, () => [429]] })).toEqual([['1 behind 13'], 13, true]);
  });

  it('go on while as many flow back, one by one', async () => {
    // One flows back in the time of two: the 23rd is more than the limit, the eleven of 69 s, and one.
    const [more] = await recounted({ eachMs: 3_000 });
    expect(more).toEqual(Array.from({ length: 10 }, (_, index) => `1 behind ${13 + index}`));
  });

  it('go on at the pace of the quicker count, for the other was held up, to 2.6 times the limit', async () => {
    const [more, admitted] = await recounted({ eachMs: 4_000 });
    expect(more).toHaveLength(13);
    expect(admitted).toBe(26);
  });

  it.each<[string, Partial<Scene>, Count]>([
    ['the count before met the limit', {}, count(0, 10)],
    ['they were more than flow back', { eachMs: 10 }, unmet],
    ['they are too slow to tell', { eachMs: 4_000 }, { ...unmet, toMs: 52_000 }],
    ['no more can be sent', { answers: [all, () => null] }, unmet],
  ])('do not go on where %s', async (_, more, before) => {
    const [, admitted, isRefused] = await recounted(more, before);
    expect([admitted, isRefused]).toEqual([13, false]);
  });
});

describe('requests a few at a time to count a limit', () => {
  it('are as many at a time as are served, half as many as documented more, behind a new silence', async () => {
    const { port, orders, waits } = sceneOf({ answers: [limited(10), limited(7), all, limited(10)] });
    expect(await fewCount.send(port)).toMatchObject({ admitted: 10, sent: 11 });
    expect(orders).toEqual([
      '64 behind 0, 16 at a time',
      '32 behind 0, 8 at a time',
      '16 behind 0, 4 at a time',
      '15 behind 0, 4 at a time',
    ]);
    expect(waits).toHaveLength(2);
  });

  const none = Array.from({ length: 4 }, () => limited(1));
  it('are in turn if two at a time are refused', async () => {
    const { port, orders } = sceneOf({ answers: [...none, limited(10)] });
    expect(await fewCount.send(port)).toMatchObject({ admitted: 10 });
    expect(orders.slice(3)).toEqual(['8 behind 0, 2 at a time', '13 behind 0']);
  });

  it('tell nothing if those take a window', async () => {
    const { port } = sceneOf({ answers: [...none, all], eachMs: 5_000 });
    await expect(fewCount.send(port)).rejects.toThrow(
      'another limit refuses two requests at a time, and requests in turn take too long to meet this one',
    );
  });
});

describe('the burst that first spent the quota', () => {
  const exhausted = (more: object = {}) => ({
    exhaustion: {
      plan: PLAN,
      sinceMs: 1_000,
      elapsedMs: 12_000,
      firstRefused: 11,
      sent: 12,
      stray: [],
      groups: [{ admitted: 10 }],
      evidence: 'e1',
      ...more,
    },
  });
  const first = (more: object = {}, evidence: readonly MetLimit[] = []) =>
    firstBurst.send(sceneOf({ answers: [], asked: exhausted(more), evidence }).port);

  it('is a count of those before the first refusal, of which two may have flowed back', async () => {
    expect(await first()).toMatchObject({
      fromMs: 1_000,
      toMs: 13_000,
      admitted: 10,
      surely: 10,
      isRefused: true,
      sent: 12,
      interruptions: 0,
      flowed: 3,
    });
  });

  it('is a count of all where none was refused', async () => {
    expect(await first({ firstRefused: null })).toMatchObject({ admitted: 12, isRefused: false });
  });

  it('is not sure of failures from its first request to its last answer, and of no others', async () => {
    const failures = [999, 1_000, 13_000, 13_001].map((fromMs) => met(fromMs, [500, 200]));
    expect(await first({}, [...failures, met(2_000, [200])])).toMatchObject({ admitted: 10, surely: 8 });
  });

  it.each([
    [[5, 3, 2], 2],
    [[5, 3, 0], 1],
    [[5, 1], 1],
    [[0, 0], 0],
  ])('of %j requests served between refusals was interrupted %i times', async (admitted, interruptions) => {
    const groups = admitted.map((each) => ({ admitted: each }));
    expect(await first({ groups })).toMatchObject({ interruptions });
  });
});

describe('a refusal at random of requests sent together', () => {
  const together = (...moments: readonly number[]) =>
    moments.map((sentMs) => inTurnAt(sentMs, { part: 'parallel' }));
  const refused = (sentMs: number) => inTurnAt(sentMs, { part: 'parallel', fate: 'refused' });

  it('is none if as many as are served behind it flow back until the fourth answer', () => {
    // Two flow back in 12 s, and one may have been back.
    expect(strayTogether([refused(0), ...together(20, 21, 22, 11_989)], PLAN)).toHaveLength(1);
    expect(strayTogether([refused(0), ...together(20, 21, 22, 11_990)], PLAN)).toEqual([]);
  });

  it('is another one if it is sent when the first was shown, and not sooner', () => {
    const shown = [refused(0), ...together(20, 21, 22, 23)];
    const behind = together(60, 61, 62, 63);
    expect(strayTogether([...shown, refused(32), ...behind], PLAN)).toHaveLength(1);
    expect(strayTogether([...shown, refused(33), ...behind], PLAN)).toHaveLength(2);
  });

  it('has the place behind those that were sent before, not with it', () => {
    const observations = [...together(0, 2), refused(2), ...together(20, 21, 22, 23)];
    expect(strayTogether(observations, PLAN)).toEqual([{ index: 2, sentMs: 2 }]);
  });
});

import { describe, expect, it } from 'vitest';
import { Blocked, NotApplicable } from '../../../harness/base/verdict.ts';
import { shipped } from '../../../harness/config/fixtures/config-folder.ts';
import type { Stimulus } from '../../../harness/engine/session/http/stimulus.ts';
import type { Port } from '../../../harness/engine/session/probe.ts';
import type { Burst } from '../../../harness/wire/evidence.ts';
import { Reply } from '../../../harness/wire/exchange/reply.ts';
import { bareResponse } from '../../../harness/wire/exchange.ts';
import { exampleBurst, exampleExchange, exampleId } from '../../../harness/wire/fixtures/example-evidence.ts';
import { PLAN } from './fixtures/measured-limit.ts';
import { met } from './fixtures/met-limit.ts';
import { forwardedWhileExhausted, secondKeyWhileExhausted } from './spent.ts';

const search = await shipped('search');

interface Scene {
  /** Of the requests while the quota is spent; null: it cannot be sent. Then all are refused. */
  readonly statuses: readonly (number | null)[];
  /** How long each takes, in ms. */
  readonly eachMs?: number;
  readonly beginMs?: number;
  readonly windowMs?: number;
  readonly evidence?: readonly Burst[];
}

function answered(status: number, index: number): Reply {
  return new Reply({ ...exampleExchange(), id: exampleId(`e${index}`), response: bareResponse(status, []) });
}

async function sentTo(
  stimulus: typeof forwardedWhileExhausted,
  { statuses, eachMs = 0, beginMs = 0, windowMs = 60_000, evidence = [] }: Scene,
) {
  const waits: number[] = [];
  let sent = 0;
  let nowMs = beginMs;
  const port = {
    config: { ...search, plan: { ...PLAN, windowMs } },
    clock: { now: () => nowMs, wallNow: () => new Date(nowMs) },
    ask: async () => answered(429, 0),
    pause: {
      until: async (untilMs: number) => {
        waits.push(untilMs - nowMs);
        nowMs = untilMs;
      },
    },
    quota: {
      refusal: null,
      evidenceSoFar: () => evidence,
      async sendWhileSpent(_: Stimulus) {
        const status = statuses[sent] === undefined ? 429 : statuses[sent];
        sent += 1;
        nowMs += eachMs;
        if (status == null) throw new Blocked('no record of it');
        return answered(status, sent);
      },
    },
  } as unknown as Port;
  const reply = await stimulus.send(port).catch((thrown: Error) => thrown);
  return { reply, sent, waits };
}

/** The status of the answer that is judged, or why there is none, and the number of requests. */
async function outcome(scene: Scene, stimulus = forwardedWhileExhausted) {
  const { reply, sent } = await sentTo(stimulus, scene);
  return [reply instanceof Reply ? reply.status : reply.message, sent];
}

const UNSEEN = 'the quota came back each time before it could be seen whether it is shared';
const repeated = (times: number, ...statuses: readonly number[]) =>
  Array.from({ length: times }, () => statuses).flat();

describe('a request that differs, while the quota is spent', () => {
  it.each<[string, Scene['statuses'], readonly unknown[]]>([
    ['shares the quota if it is refused', [429], [429, 1]],
    ['shares it if one was served that may have come back just before', [200, 429], [429, 2]],
    // Two more times: a quarter of the documented number.
    [
      'has a quota of its own if it is served each time, and the sample never',
      [200, 200, 429, 200, 429, 200, 429],
      [200, 7],
    ],
    [
      'shares it if it is refused later, for another worker may have answered',
      [200, 200, 429, 429],
      [429, 4],
    ],
    ['shares it if it is refused the last time', [200, 200, 429, 200, 429, 429], [429, 6]],
    ['is judged by what was sent where no more can be', [200, 200, 429, null], [200, 4]],
    ['is judged by what was sent where the sample cannot be', [200, 200, 429, 200, null], [200, 5]],
    ['is sent anew if the sample is served as well', [200, 200, 200, 429, 429], [429, 5]],
    ['is not judged if the sample is served three times', repeated(3, 200, 200, 200, 429), [UNSEEN, 12]],
    [
      'counts from one again if the sample is served between',
      [200, 200, 429, 200, 429, 200, 200, 429, 200, 429, 200, 429],
      [200, 12],
    ],
    [
      'is not judged if the sample is served between each time',
      [200, 200, 429, ...repeated(6, 200, 200, 429)],
      [UNSEEN, 21],
    ],
  ])('%s', async (_, statuses, found) => {
    expect(await outcome({ statuses })).toEqual(found);
  });

  const ALL = repeated(40, 200);

  // Each takes half of the time in which one flows back: the third is more than 1.5 of them, and one.
  it('has to be served more often than requests flow back meanwhile', async () => {
    expect(await outcome({ statuses: [200, 200, 200, 429, 200, 429, 200, 429], eachMs: 3_000 })).toEqual([
      200, 8,
    ]);
    expect(await outcome({ statuses: [200, 200, 429], eachMs: 3_000 })).toEqual([429, 3]);
  });

  // 12 s ago: two have flowed back since, so that the third may be one of them, but not with one less.
  it('has to be served more often than flow back since the last refusal was sent', async () => {
    const evidence = [met(0, [200, 429], []).burst];
    const statuses = [200, 200, 200, 429, 200, 429, 200, 429];
    expect(await outcome({ statuses, beginMs: 12_000, evidence })).toEqual([200, 8]);
  });

  it('is not judged where twelve take so long that the quota flows back as fast', async () => {
    const { reply, sent } = await sentTo(forwardedWhileExhausted, { statuses: ALL, eachMs: 6_000 });
    expect(reply).toBeInstanceOf(Blocked);
    expect(reply).toMatchObject({
      message: '12 requests take so long from here that the quota flows back meanwhile',
    });
    expect(sent).toBe(12);
  });

  it.each([
    [200, Blocked],
    [199, NotApplicable],
  ])(
    'of ten requests in %i ms is no fault of the service, nor of the network where slots are short',
    async (windowMs, kind) => {
      const { reply } = await sentTo(forwardedWhileExhausted, {
        statuses: ALL,
        eachMs: windowMs / 10,
        windowMs,
      });
      expect(reply).toBeInstanceOf(kind);
    },
  );
});

describe('a quota that comes back while it has to be spent', () => {
  const again = exampleBurst({ purpose: 'to spend the quota once more' });
  const comesBack = repeated(4, 200);

  it('is spent three times, not more', async () => {
    const evidence = [exampleBurst(), again, again, again];
    expect(await outcome({ statuses: comesBack, beginMs: 2_000, evidence })).toEqual([
      'the quota comes back too fast to see what shares it',
      4,
    ]);
  });

  it('is not spent again if requests in turn did not spend it, and slots are short', async () => {
    const evidence = [exampleBurst({ refusal: null })];
    const { reply } = await sentTo(forwardedWhileExhausted, {
      statuses: comesBack,
      windowMs: 199,
      beginMs: 1_045,
      evidence,
    });
    expect(reply).toBeInstanceOf(NotApplicable);
    expect(reply).toMatchObject({ message: 'requests in turn take too long to spend the quota again' });
  });
});

describe('the second key, if both keys are served twice', () => {
  const twice = repeated(2, 200, 200, 429);
  it.each<[string, Scene['statuses'], readonly unknown[], number]>([
    ['has a quota of its own if more are served than flow back', [...twice, 200, 200], [200, 8], 2],
    ['shares the quota if it is refused, and refused again', [...twice, 429, 429, 429], [429, 9], 3],
    [
      'is not judged if it is refused once, for its own haste maybe',
      [...twice, 429, 429, 200],
      ['the second key may have been refused for its own haste', 9],
      3,
    ],
  ])('%s', async (_, statuses, found, waits) => {
    expect(await outcome({ statuses }, secondKeyWhileExhausted)).toEqual(found);
    const paused = await sentTo(secondKeyWhileExhausted, { statuses });
    expect(paused.waits).toEqual(Array.from({ length: waits }, () => 9_000));
  });
});

import { describe, expect, it } from 'vitest';
import { probed, resultOf } from '../fixtures/probed.ts';
import { configOf } from '../fixtures/said.ts';
import { at, client, server, talk } from '../fixtures/talk.ts';
import { comesBack, echoLatency, percentile } from './liveness.ts';
import { clientEvents } from './pusher.ts';
import { connectionsApart, keptTogether } from './side-by-side.ts';

it.each<readonly [percent: number, of: readonly number[], is: number | null]>([
  [50, [1, 2, 3, 4], 2],
  [95, [1, 2, 3, 4], 4],
  [0, [1, 2], 1],
  [100, [1, 2], 2],
  [50, [], null],
])('the percentile %i of %j is %j', (percent, sorted, is) => {
  expect(percentile(sorted, percent)).toBe(is);
});

const trips = (count: number, back = (text: string) => text) =>
  talk(
    Array.from({ length: count }, (_, index) => [
      at(100 * index, client.text(`${index}`)),
      at(100 * index + 30 - index, server.text(back(`${index}`))),
    ]).flat(),
  );

describe('the latency of an echo', () => {
  const latencyOf = (view: ReturnType<typeof talk>) =>
    resultOf(echoLatency, { given: { 'websocket-echo-latency': view } });

  it('is that of twenty messages, shortest first', async () => {
    const tookMs = Array.from({ length: 20 }, (_, index) => 11 + index);
    expect(await latencyOf(trips(20))).toEqual({ path: 'sent and echoed', tookMs });
  });

  it('is unknown unless each came back as it was', async () => {
    const unknown = 'skipped: not every message came back';
    expect(await latencyOf(trips(19))).toBe(unknown);
    expect(await latencyOf(trips(20, (text) => (text === '7' ? '' : text)))).toBe(unknown);
  });
});

describe('a client that was cut', () => {
  const cameBackAt = async (statuses: readonly number[]) => {
    const slept: number[] = [];
    let attempt = 0;
    const { result, purposes } = await probed(
      {
        send: (port) => {
          const sleep = async (forMs: number) => void slept.push(forMs);
          return comesBack.send({ ...port, clock: { ...port.clock, sleep } });
        },
      },
      {
        given: { 'websocket-alive': talk([]) },
        conversation: (purpose) => {
          if (!purpose.includes('attempt')) return talk([]);
          attempt += 1;
          return talk([], { status: statuses[attempt - 1] ?? 101 });
        },
      },
    );
    const { attempts, conversation } = result as Awaited<ReturnType<typeof comesBack.send>>;
    return { attempts, opened: conversation.opened, slept, count: purposes.length };
  };

  it('comes back at most three times, a little later each time', async () => {
    expect(await cameBackAt([])).toEqual({ attempts: 1, opened: true, slept: [0], count: 2 });
    expect(await cameBackAt([429])).toEqual({ attempts: 2, opened: true, slept: [0, 250], count: 3 });
    expect(await cameBackAt([429, 429, 429, 101])).toEqual({
      attempts: 3,
      opened: false,
      slept: [0, 250, 1_000],
      count: 4,
    });
  });
});

describe('several connections', () => {
  const beside = (said: string, ...back: readonly string[]) => ({
    said,
    isServed: true,
    conversation: talk(back.map((text) => server.text(text))),
  });
  const closed = (said: string) => ({ said, isServed: false, conversation: null });

  it('are apart unless one gets a message of another that is open', async () => {
    const given = {
      'websocket-many-connections': [
        beside('a', 'a', 'hello'),
        beside('b', 'b', 'a', 'c'),
        beside('c', 'd', 'b'),
        closed('d'),
      ],
    };
    expect(await resultOf(connectionsApart, { given })).toMatchObject([
      { foreign: null },
      { foreign: 'a' },
      { foreign: 'b' },
    ]);
  });

  it('are kept together if each is served', async () => {
    const kept = (...all: readonly object[]) =>
      resultOf(keptTogether, { given: { 'websocket-many-connections': all } });
    expect(await kept(beside('a'), beside('b'))).toBe(2);
    expect(await kept(beside('a'), closed('b'), beside('c'))).toBe(1);
  });
});

describe('the latency of client events', () => {
  const event = (index: number, name = 'client-conform') =>
    JSON.stringify({ event: name, channel: 'private-conform-signed', data: { index } });

  it('is that from the sender to the subscriber, on one clock', async () => {
    const sender = talk([at(100, client.text(event(0))), at(200, client.text(event(1)))], {
      timing: { startedMs: 5_000 },
    });
    const subscriber = talk(
      [
        at(1_150, server.text(event(0))),
        at(1_220, server.text(event(1))),
        at(1_230, server.text(event(1, 'client-other'))),
        at(1_240, server.text(event(9))),
        at(1_250, server.binary('conform')),
      ],
      { timing: { startedMs: 4_000 } },
    );
    const { result } = await probed(clientEvents, {
      config: configOf({ dialect: 'pusher' }),
      given: { 'websocket-pusher-established': talk([]) },
      websocket: {
        hold: async (purpose, conversing) => {
          if (purpose !== 'a WebSocket with a subscriber') return sender;
          const entered = {
            text: async () => undefined,
            close: async () => undefined,
            message: async () => entering.shift(),
          };
          const entering = [
            { text: '{"event":"pusher:connection_established","data":"{\\"socket_id\\":\\"1.2\\"}"}' },
            { text: '{"event":"pusher_internal:subscription_succeeded","data":"{}"}' },
          ];
          await conversing(entered as unknown as Parameters<typeof conversing>[0]);
          return subscriber;
        },
      },
    });
    expect(result).toMatchObject({
      subscriber,
      sender,
      latency: { path: 'published and received', tookMs: [20, 50] },
    });
  });
});

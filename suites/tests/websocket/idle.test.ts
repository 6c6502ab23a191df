import { expect, it, onTestFinished } from 'vitest';
import type { WebSocket } from 'ws';
import type { WebSocketConfig } from '../../../harness/config/service.ts';
import { check, practice, type Suite, suite } from '../../../harness/engine/check/suite.ts';
import { probe } from '../../../harness/engine/session/probe.ts';
import { simulatedClock } from '../../../harness/engine/simulation/clock.ts';
import { websocket } from '../../websocket/websocket.suite.ts';
import { echoByWs } from '../fixtures/echo-servers.ts';
import { echoConfig, judged, saidOf } from '../fixtures/judged.ts';

/** A connection that is left alone while the run waits for something else. */

const WAITS_S = 40;

const waiting = probe('waits-for-a-window', async ({ clock, pause }) => {
  await pause.until(clock.now() + WAITS_S * 1_000, 'for a window');
  return '';
});

/** Stands for one that uses up the quota, and waits for a window. */
const exhausting: Suite = {
  ...suite('limits', 'Limits', [
    check('limits.waits', {
      title: 'waits',
      headline: 'It does not wait',
      why: 'It stands for a window.',
      change: 'Wait.',
      uses: [waiting],
      grounds: [practice('a window')],
      judge: async ({ probe }) => void (await probe(waiting)),
    }),
  ]),
  exhausts: true,
};

type Means = ReturnType<typeof simulatedClock>;

async function toldOf(conduct: (socket: WebSocket, clock: Means) => void, more?: Partial<WebSocketConfig>) {
  const clock = simulatedClock();
  onTestFinished(() => clock.stop());
  const { url, stop } = await echoByWs({}, (socket) => conduct(socket, clock));
  onTestFinished(stop);
  const all = await judged(await echoConfig(more), [websocket, exhausting], { url, clock });
  return {
    idle: saidOf(all, 'websocket.idle'),
    heartbeat: saidOf(all, 'websocket.heartbeat'),
    answered: saidOf(all, 'websocket.answered-pings'),
    answeredHeartbeats: saidOf(all, 'websocket.answered-heartbeats'),
    seen: all.observations['websocket.idle'],
  };
}

it('is looked at when all else is done, and tells how long it was kept', async () => {
  const { idle, seen, answered } = await toldOf(() => undefined);
  expect(idle).toMatch(/^observed: kept for at least 4\d s$/);
  expect(seen).toEqual({ keptMs: 1_000 });
  expect(answered).toBe('skipped: the service sent no Ping while it was looked at');
});

it('tells when and how it was closed, which is no matter of how long the run lasts', async () => {
  const { idle, seen } = await toldOf((socket, clock) => {
    void clock.sleep(30_000).then(() => socket.close(1001));
  });
  expect(idle).toBe('observed: closed with 1001 after 30 s, without Ping');
  expect(seen).toEqual({ keptMs: 1_000 });
});

it('is told of Pings that were answered in vain, and of none that were not', async () => {
  const pinging = (closes: boolean) => (socket: WebSocket, clock: Means) => {
    void clock.sleep(15_000).then(() => socket.ping('are you there?'));
    void clock.sleep(30_000).then(() => closes && socket.close(1011));
  };
  const lost = await toldOf(pinging(true));
  expect(lost.idle).toBe('observed: closed with 1011 after 30 s, after 1 Ping');
  expect(lost.answered).toMatch(/^warning: expected an open connection, got the close code 1011 after 30 s/);
  const kept = await toldOf(pinging(false));
  expect(kept.heartbeat).toMatch(/^observed: Pings after 150\d\d ms$/);
  expect(kept.answered).toMatch(/^pass/);
});

it('answers heartbeats above the frames, and tells of a service to which that is not enough', async () => {
  const heartbeat = { receive: { type: 'ping' }, answer: '{"type":"pong"}' };
  const asking =
    (code: number, reason = '') =>
    (socket: WebSocket, clock: Means) => {
      let answers = 0;
      socket.on('message', (content) => {
        if (String(content) === heartbeat.answer) answers += 1;
      });
      const ask = () => socket.send('{"type":"ping","at":1}');
      void clock.sleep(10_000).then(ask);
      void clock.sleep(20_000).then(ask);
      void clock.sleep(30_000).then(() => socket.close(answers === 2 ? code : 1002, reason));
    };
  const told = async (code: number, reason?: string) => {
    const { heartbeat: asked, answeredHeartbeats } = await toldOf(asking(code, reason), { heartbeat });
    expect(asked).toMatch(/^observed: heartbeats after 100\d\d, 200\d\d ms$/);
    return answeredHeartbeats;
  };
  expect(await told(4201, 'no pong received')).toMatch(
    /: expected an open connection, got the close code 4201 "no pong received" after 30 s/,
  );
  expect(await told(1011)).toMatch(/: expected an open connection, got the close code 1011 after 30 s/);
  for (const lawful of [1000, 1001, 4000]) expect(await told(lawful)).toMatch(/^pass/);
});

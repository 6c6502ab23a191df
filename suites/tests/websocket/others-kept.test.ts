import { expect, it, onTestFinished } from 'vitest';
import type { WebSocket } from 'ws';
import type { Suite } from '../../../harness/engine/check/check.ts';
import { simulatedClock } from '../../../harness/engine/simulation/clock.ts';
import type { Clock } from '../../../harness/wire/pace/clock.ts';
import { othersKeptCheck } from '../../websocket/idle.ts';
import { websocket } from '../../websocket/websocket.suite.ts';
import { echoByWs } from '../fixtures/echo-servers.ts';
import { echoConfig, judged, saidOf } from '../fixtures/judged.ts';

/** A connection that is left alone while others send what is wrong, of a service that ends it by itself. */

const alone: Suite = { ...websocket, checks: [othersKeptCheck] };

/** How long a service waits for a word of a client. */
const QUIET_MS = 200;

async function toldOf(
  conduct: (error: string, quiet: readonly WebSocket[]) => void,
  opened: (socket: WebSocket, clock: Pick<Clock, 'sleep'>) => void = () => undefined,
) {
  const clock = simulatedClock();
  onTestFinished(() => clock.stop());
  const silent = new Set<WebSocket>();
  const { url, stop } = await echoByWs({}, (socket) => {
    silent.add(socket);
    opened(socket, clock);
    socket.on('message', () => silent.delete(socket));
    socket.on('close', () => silent.delete(socket));
    socket.on('error', (error: Error & { code?: string }) => {
      silent.delete(socket);
      conduct(error.code ?? '', [...silent]);
    });
  });
  onTestFinished(stop);
  return saidOf(await judged(await echoConfig(), [alone], { url, clock }), 'websocket.others-kept');
}

/** Ends what is quiet over the first thing that goes wrong, and never again. */
function endingOnce() {
  let isFirst = true;
  return (quiet: readonly WebSocket[]) => {
    if (isFirst) for (const each of quiet) each.close(1001);
    isFirst = false;
  };
}

it('is opened anew where it has ended by itself, and shows what was sent meanwhile', async () => {
  const once = endingOnce();
  const said = await toldOf((error, quiet) => {
    once(quiet);
    if (error === 'WS_ERR_INVALID_CLOSE_CODE') for (const each of quiet) each.terminate();
  });
  expect(said).toMatch(
    /^warning: expected no end of other connections, got the end of TCP on another one for/,
  );
});

it('has nothing to say where only the service itself has ended it', async () => {
  const once = endingOnce();
  expect(await toldOf((_, quiet) => once(quiet))).toMatch(/^pass/);
});

it('is not judged where each quiet connection ends before another is over', async () => {
  const soon = (socket: WebSocket, { sleep }: Pick<Clock, 'sleep'>) => {
    let isQuiet = true;
    for (const sign of ['message', 'ping', 'error', 'close'])
      socket.on(sign, () => {
        isQuiet = false;
      });
    void sleep(QUIET_MS).then(() => isQuiet && socket.close(1001));
  };
  const atOnce = (_: string, quiet: readonly WebSocket[]) => {
    for (const each of quiet) each.close(1001);
  };
  expect(await toldOf(atOnce, soon)).toBe(
    'skipped: the service ends each quiet connection before another one is looked at beside it',
  );
});

import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { HarnessError } from '../../base/exit.ts';
import { listening } from '../../base/loopback.ts';
import { Stopwatch, startDeadline, systemClock } from './clock.ts';
import { manualClock } from './fixtures/virtual-clock.ts';

describe('systemClock', () => {
  it('never wakes early', async () => {
    for (const ms of [0, 1, 3.5, 12]) {
      const before = systemClock.now();
      await systemClock.sleep(ms);
      expect(systemClock.now() - before).toBeGreaterThanOrEqual(ms);
    }
  });

  it('takes a wait longer than a timer can hold', async () => {
    const abort = new AbortController();
    const outcome = systemClock.sleep(1e12, abort.signal).then(
      () => 'woke',
      () => 'aborted',
    );
    await systemClock.sleep(5);
    abort.abort();
    expect(await outcome).toBe('aborted');
  });
});

it.each([
  ['the system', systemClock],
  ['a test', manualClock()],
])('the clock of %s rejects with the reason of an abort, before or during the sleep', async (_, clock) => {
  const reason = new Error('enough');
  await expect(clock.sleep(1000, AbortSignal.abort(reason))).rejects.toBe(reason);
  const abort = new AbortController();
  const sleeping = clock.sleep(60_000, abort.signal);
  abort.abort(reason);
  await expect(sleeping).rejects.toBe(reason);
});

describe('manualClock', () => {
  it('moves its wall clock on as well', async () => {
    const clock = manualClock({ wall: new Date('2026-03-01T00:00:00Z') });
    await clock.advance(109);
    expect(clock.wallNow()).toEqual(new Date('2026-03-01T00:00:00.109Z'));
  });

  it('tells of work that waits for something else', async () => {
    const never = new Promise(() => undefined);
    await expect(manualClock().drive(never)).rejects.toThrow(HarnessError);
  });
});

it('a stopwatch stops for a message that is whole, however long its connection is listened to', async () => {
  const clock = manualClock();
  const stopwatch = new Stopwatch(clock);
  await clock.advance(30);
  stopwatch.markWhole();
  await clock.advance(1_000);
  expect(stopwatch.timing.durationMs).toBe(30);
  expect(stopwatch.elapsed).toBe(1_030);
});

describe('a deadline', () => {
  it('does not expire over what came while this process was busy', async () => {
    const server = createServer();
    const port = await listening(server);
    // From here on timers are looked at before sockets.
    await setImmediate();
    const socket = connect(port, '127.0.0.1');
    const expired = vi.fn();
    const cancel = startDeadline(systemClock, 100, expired);
    socket.once('connect', cancel);
    const busyUntilMs = performance.now() + 250;
    while (performance.now() < busyUntilMs);
    await once(socket, 'connect');
    expect(expired).not.toHaveBeenCalled();
    socket.destroy();
    server.close();
  });

  it('expires where nothing came, unless it was called off', async () => {
    const { promise, resolve } = Promise.withResolvers<string>();
    const cancel = startDeadline(systemClock, 1, () => resolve('called off'));
    startDeadline(systemClock, 20, () => resolve('expired'));
    cancel();
    expect(await promise).toBe('expired');
  });
});

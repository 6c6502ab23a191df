import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { HarnessError } from '../../base/exit.ts';
import { listening } from '../../base/loopback.ts';
import { startDeadline, systemClock } from './clock.ts';
import { virtualClock } from './fixtures/virtual-clock.ts';

describe('systemClock', () => {
  it('never wakes early', async () => {
    for (const ms of [0, 1, 3.5, 12]) {
      const before = systemClock.now();
      await systemClock.sleep(ms);
      expect(systemClock.now() - before).toBeGreaterThanOrEqual(ms);
    }
  });

  it('rejects with the reason of an abort, before or during the sleep', async () => {
    const reason = new Error('enough');
    await expect(systemClock.sleep(1000, AbortSignal.abort(reason))).rejects.toBe(reason);
    const abort = new AbortController();
    const sleeping = systemClock.sleep(60_000, abort.signal);
    abort.abort(reason);
    await expect(sleeping).rejects.toBe(reason);
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

  it('expires where nothing came', async () => {
    const { promise, resolve } = Promise.withResolvers<string>();
    startDeadline(systemClock, 5, () => resolve('expired'));
    expect(await promise).toBe('expired');
  });
});

describe('virtualClock', () => {
  it('stands still until it is told, then wakes sleepers in the order of their time', async () => {
    const clock = virtualClock({ startMs: 50, wall: new Date('2026-03-01T00:00:00Z') });
    const woken: [string, number][] = [];
    const sleep = (name: string, ms: number) => clock.sleep(ms).then(() => woken.push([name, clock.now()]));
    void sleep('late', 30);
    void sleep('early', 10).then(() => sleep('chained', 5));
    await clock.advance(9);
    expect(woken).toEqual([]);
    await clock.advance(100);
    expect(woken).toEqual([
      ['early', 60],
      ['chained', 65],
      ['late', 80],
    ]);
    expect(clock.now()).toBe(159);
    expect(clock.wallNow()).toEqual(new Date('2026-03-01T00:00:00.109Z'));
  });

  it('drives work to its end, and yields or throws what that does', async () => {
    const clock = virtualClock();
    const work = async () => {
      await clock.sleep(1e9);
      await clock.sleep(1);
      return clock.now();
    };
    expect(await clock.drive(work())).toBe(1e9 + 1);
    await expect(clock.drive(clock.sleep(1).then(() => Promise.reject(new Error('no'))))).rejects.toThrow(
      'no',
    );
  });

  it('tells of work that waits for something else', async () => {
    const never = new Promise(() => undefined);
    await expect(virtualClock().drive(never)).rejects.toThrow(HarnessError);
  });

  it('rejects an aborted sleep', async () => {
    const clock = virtualClock();
    const abort = new AbortController();
    const sleeping = clock.sleep(10, abort.signal);
    abort.abort(new Error('enough'));
    await expect(sleeping).rejects.toThrow('enough');
    await expect(clock.sleep(1, abort.signal)).rejects.toThrow('enough');
  });
});

describe('startDeadline', () => {
  it('expires, unless it was cancelled before', async () => {
    const clock = virtualClock();
    const expired: string[] = [];
    startDeadline(clock, 10, () => expired.push('kept'));
    const cancel = startDeadline(clock, 10, () => expired.push('cancelled'));
    cancel();
    await clock.advance(20);
    expect(expired).toEqual(['kept']);
  });
});

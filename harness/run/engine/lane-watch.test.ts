import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, type MockInstance, vi } from 'vitest';
import { LaneWatch } from './lane-watch.ts';

const STALL_MS = 4_000;

describe('watching workers', () => {
  let child: ChildProcess;
  let pid: number;
  let crashes: string[];
  let run: AbortController;
  let lanes: LaneWatch;
  let stopWatching: () => void;
  let kill: MockInstance<typeof process.kill>;

  beforeEach(async () => {
    child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1_000)']);
    await once(child, 'spawn');
    pid = child.pid ?? 0;
    crashes = [];
    run = new AbortController();
    lanes = new LaneWatch({
      stallMs: STALL_MS,
      onMessage: () => {},
      onCrash: (service, reason) => crashes.push(`${service}: ${reason}`),
      signal: run.signal,
    });
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'] });
    kill = vi.spyOn(process, 'kill');
    stopWatching = lanes.watch();
    lanes.heard({ conform: 1, service: 'search', type: 'hello', pid });
  });
  afterEach(() => {
    stopWatching();
    vi.useRealTimers();
    kill.mockRestore();
    child.kill('SIGKILL');
  });

  const ended = async () => {
    const [code, signal] = await once(child, 'exit');
    lanes.exited('search', code, signal, null);
  };

  it('ends one that is silent for too long, and says so', async () => {
    vi.advanceTimersByTime(STALL_MS + 1_000);
    await ended();
    expect(child.signalCode).toBe('SIGKILL');
    expect(crashes).toEqual(['search: its worker gave no sign of life for 4000 ms and was ended']);
    expect(lanes.crashed.size).toBe(1);
  });

  it('leaves one alone that gives signs of life', () => {
    for (let i = 0; i < 10; i++) {
      vi.advanceTimersByTime(STALL_MS - 1_000);
      lanes.heard({ conform: 1, service: 'search', type: 'alive' });
    }
    expect(kill).not.toHaveBeenCalled();
  });

  it('leaves one alone that is finished', () => {
    lanes.heard({ conform: 1, service: 'search', type: 'finished' });
    vi.advanceTimersByTime(STALL_MS * 10);
    lanes.exited('search', 0, null, null);
    expect(kill).not.toHaveBeenCalled();
    expect(crashes).toEqual([]);
  });

  it('counts silence only while it watches itself: one late tick after a long sleep blames nobody', () => {
    vi.setSystemTime(Date.now() + 3_600_000);
    vi.advanceTimersByTime(1_000);
    expect(kill).not.toHaveBeenCalled();
  });

  it('tells how one ended that nobody ended, with its own last words', () => {
    lanes.exited('search', null, 'SIGABRT', 'heap out of memory');
    expect(crashes).toEqual([
      'search: its worker ended by SIGABRT before the checks were done: heap out of memory',
    ]);
    lanes.exited('messaging', 13, null, null);
    expect(crashes[1]).toBe('messaging: its worker ended with exit code 13 before the checks were done');
  });

  it('calls it no crash when the engine ends one, or the run is cancelled', () => {
    lanes.stopping('search');
    lanes.exited('search', null, 'SIGTERM', null);
    run.abort();
    lanes.exited('messaging', null, 'SIGKILL', null);
    expect(crashes).toEqual([]);
  });
});

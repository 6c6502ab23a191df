import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, type MockInstance, vi } from 'vitest';
import { LaneWatch } from './engine.ts';

const STALL_MS = 4_000;

describe('watching workers', () => {
  let child: ChildProcess;
  let pid: number;
  let run: AbortController;
  let lanes: LaneWatch;
  let stopWatching: () => void;
  let kill: MockInstance<typeof process.kill>;

  beforeEach(async () => {
    child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1_000)']);
    await once(child, 'spawn');
    pid = child.pid ?? 0;
    run = new AbortController();
    const workers = new Map([
      ['one', ['search', 'realtime']],
      ['two', ['messaging']],
    ]);
    lanes = new LaneWatch(workers, { stallMs: STALL_MS, onMessage: () => {}, signal: run.signal });
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'] });
    kill = vi.spyOn(process, 'kill');
    stopWatching = lanes.watch();
    lanes.heard('one', { conform: 1, type: 'hello', pid });
  });
  afterEach(() => {
    stopWatching();
    vi.useRealTimers();
    kill.mockRestore();
    child.kill('SIGKILL');
  });

  const ended = async () => {
    const [code, signal] = await once(child, 'exit');
    lanes.exited('one', code, signal, null);
  };

  it('ends one that is silent for too long, and says so', async () => {
    vi.advanceTimersByTime(STALL_MS + 1_000);
    await ended();
    expect(child.signalCode).toBe('SIGKILL');
    expect(lanes.dead.get('one')).toMatchObject({
      services: ['search', 'realtime'],
      reason: 'its worker gave no sign of life for 4000 ms and was ended',
    });
  });

  it('leaves one alone that gives signs of life', () => {
    for (let i = 0; i < 10; i++) {
      vi.advanceTimersByTime(STALL_MS - 1_000);
      lanes.heard('one', { conform: 1, type: 'alive' });
    }
    expect(kill).not.toHaveBeenCalled();
  });

  const finish = (service: string) => lanes.heard('one', { conform: 1, service, type: 'finished' });

  it('leaves one alone that is finished with all its services', () => {
    finish('search');
    finish('realtime');
    vi.advanceTimersByTime(STALL_MS * 10);
    lanes.exited('one', 0, null, null);
    expect(kill).not.toHaveBeenCalled();
    expect(lanes.dead.size).toBe(0);
  });

  it('knows which services one has left, and of which it was last heard', () => {
    lanes.heard('one', { conform: 1, service: 'search', type: 'evidence', request: null });
    finish('realtime');
    lanes.heard('one', { conform: 1, service: 'search', type: 'evidence', request: null });
    lanes.heard('one', { conform: 1, type: 'alive' });
    lanes.exited('one', null, 'SIGKILL', null);
    expect(lanes.dead.get('one')).toMatchObject({ services: ['search'], suspect: 'search' });
  });

  it('counts silence only while it watches itself: one late tick after a long sleep blames nobody', () => {
    vi.setSystemTime(Date.now() + 3_600_000);
    vi.advanceTimersByTime(1_000);
    expect(kill).not.toHaveBeenCalled();
  });

  it('tells how one ended that nobody ended, with its own last words', () => {
    lanes.exited('one', null, 'SIGABRT', 'heap out of memory');
    lanes.exited('two', 13, null, null);
    expect([...lanes.dead.values()].map(({ reason }) => reason)).toEqual([
      'its worker ended by SIGABRT before the checks were done: heap out of memory',
      'its worker ended with exit code 13 before the checks were done',
    ]);
  });

  it('calls it no crash when the engine ends one, or the run is cancelled', () => {
    lanes.stopping('one');
    lanes.exited('one', null, 'SIGTERM', null);
    run.abort();
    lanes.exited('two', null, 'SIGKILL', null);
    expect(lanes.dead.size).toBe(0);
  });
});

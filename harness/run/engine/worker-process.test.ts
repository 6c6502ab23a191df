import { describe, expect, it } from 'vitest';
import { WorkerProcess, workerAhead } from './worker-process.ts';

describe('a worker that is started ahead', () => {
  it('is the first that is taken, and one alone', () => {
    const ahead = workerAhead();
    const [first, second] = [ahead.take(), ahead.take()];
    try {
      expect(first).toBeInstanceOf(WorkerProcess);
      expect(second).not.toBe(first);
    } finally {
      first.end();
      second.end();
    }
  });

  it('fails nobody where it ends before there is work', async () => {
    const ahead = workerAhead();
    const worker = ahead.take();
    worker.end();
    expect(await worker.ended).toMatchObject({ signal: 'SIGKILL' });
    ahead.release();
  });
});

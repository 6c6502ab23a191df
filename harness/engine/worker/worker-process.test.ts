import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { temporaryFolder } from '../../base/fixtures/folder.ts';
import { packRunSecrets, packService } from '../../config/secrets.ts';
import { proofConfigs } from '../../proof/cases.ts';
import { fixture } from '../fixtures/conform-process.ts';
import { isWorkerMessage } from './channel.ts';
import { WorkerProcess, workerAhead } from './worker-process.ts';

const ELSEWHERE = !existsSync('/proc/self/task');

/** Processes that this one has started. */
function children(): readonly string[] {
  return readdirSync('/proc/self/task').flatMap((task) =>
    readFileSync(`/proc/self/task/${task}/children`, 'utf8').split(' ').filter(Boolean),
  );
}

describe('a worker that is started ahead', () => {
  it.skipIf(ELSEWHERE)('ends where nobody takes it, and what watches over it does', async () => {
    const before = new Set(children());
    const ahead = workerAhead();
    const started = children().filter((pid) => !before.has(pid));
    expect(started.length).toBeGreaterThan(0);
    ahead.release();
    await expect.poll(() => children().filter((pid) => started.includes(pid))).toEqual([]);
  });

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

describe('a worker', () => {
  it.skipIf(ELSEWHERE).each([
    ['one thread in simulated time', null, 1],
    ['as many as it is told otherwise', 'http://127.0.0.1:1', 3],
  ])('compresses on %s', async (_, providerUrl, threads) => {
    const config = (await proofConfigs()).shipped.get('search');
    if (config === undefined) throw new Error('search is not shipped');
    const { service } = config;
    vi.stubEnv('UV_THREADPOOL_SIZE', '3');
    onTestFinished(() => void vi.unstubAllEnvs());
    const worker = new WorkerProcess();
    const printed: unknown[] = [];
    const done = Promise.withResolvers<void>();
    const heard = (message: unknown) => {
      if (!isWorkerMessage(message)) return;
      if (message.type === 'turn') worker.tell({ conform: 1, service, turn: { usedAgoMs: null } });
      if (message.type === 'printed') printed.push(message.text);
      if (message.type === 'done') done.resolve();
    };
    const run = {
      ...{ secrets: packRunSecrets([config]), runId: 'test', userAgent: 'conform/test', strict: false },
      ...{ journalPath: join(temporaryFolder(), 'journal.ndjson'), suitesUrl: fixture('endings.ts') },
      ...{ checkLimitMs: null },
    };
    const selected = ['compresses.threads'];
    const input = { service, config: packService(config), providerUrl, runAlone: '', selected, left: null };
    worker.begin({ run, services: [input], sideBySide: 1 }, heard);
    await done.promise;
    worker.end();
    expect(printed).toEqual([`compresses on ${threads}\n`]);
  });
});

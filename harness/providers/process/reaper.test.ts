import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { reaperOf, runs } from '../fixtures/processes.ts';
import { ownLabel, removeContainer, sweep } from '../runtime/leftovers.ts';
import { openRuntime } from '../runtime/runtime.ts';

const PROGRAM = join(import.meta.dirname, '../fixtures/start-and-wait.ts');
const OFTEN = { interval: 100 };
const { image, none } = inject('containers');

const started: ChildProcess[] = [];
afterAll(() => {
  for (const child of started) child.kill('SIGKILL');
});

/** A harness that has started a provider; resolves when it says so, rejects with its words when it ends before. */
async function harness(...args: readonly string[]): Promise<{ readonly pid: number; said(): string }> {
  const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  started.push(child);
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      said += chunk;
    });
  }
  await new Promise((resolve, reject) => {
    child.stdout.once('data', resolve);
    child.once('close', () => reject(new Error(said)));
  });
  return { pid: child.pid ?? 0, said: () => said };
}

const processes = (said: string): readonly number[] => [
  ...new Set([...said.matchAll(/process (\d+)/g)].map(([, pid]) => Number(pid))),
];

describe.concurrent('a harness that ends without ending its command', () => {
  it.for(['SIGKILL', 'SIGTERM'] as const)(
    'by %s: its process group is ended for it',
    async (signal, { expect }) => {
      const { pid, said } = await harness('command');
      await expect.poll(() => processes(said()), OFTEN).toHaveLength(2);
      process.kill(pid, signal);
      await expect.poll(() => processes(said()).filter(runs), OFTEN).toEqual([]);
    },
  );

  it('leaves no reaper behind', async ({ expect }) => {
    const { pid } = await harness('command');
    const reaper = reaperOf(pid);
    process.kill(pid, 'SIGKILL');
    await expect.poll(() => runs(reaper), OFTEN).toBe(false);
  });
});

describe.skipIf(none !== null)(
  `a harness that ends without ending its containers${none === null ? '' : ` (${none})`}`,
  () => {
    async function left(runId: string): Promise<readonly string[]> {
      const { docker } = await openRuntime();
      const filters = { label: [`conform.run=${runId}`] };
      const containers = await docker.listContainers({ all: true, filters });
      const networks = await docker.listNetworks({ filters });
      return [...containers, ...networks].map(({ Id }) => Id);
    }

    it('has them removed for it', async ({ expect }) => {
      const runId = `reaper-${process.pid}`;
      const { pid } = await harness('container', image, runId);
      expect(await left(runId)).toHaveLength(3);
      process.kill(pid, 'SIGKILL');
      await expect.poll(() => left(runId), OFTEN).toEqual([]);
    });

    it('leaves them behind when its reaper is killed too: the next run sweeps them, and no others', async ({
      expect,
    }) => {
      const runId = `sweep-${process.pid}`;
      const { pid } = await harness('container', image, runId);
      const other = await harness('container', image, `${runId}-other`);
      for (const each of [reaperOf(pid), pid]) process.kill(each, 'SIGKILL');
      await expect.poll(() => runs(pid), OFTEN).toBe(false);
      // Any run on this machine may be the next one, or sweep at the same time: what is there is gone all the same.
      await sweep(await openRuntime());
      expect(await left(runId)).toEqual([]);
      expect(await left(`${runId}-other`)).toHaveLength(3);
      process.kill(other.pid, 'SIGTERM');
      await expect.poll(() => left(`${runId}-other`), OFTEN).toEqual([]);
    });

    it('may be swept after by several runs at once: each finds all of it gone', async ({ expect }) => {
      const runId = `sweeps-${process.pid}`;
      const { pid } = await harness('container', image, runId);
      for (const each of [reaperOf(pid), pid]) process.kill(each, 'SIGKILL');
      await expect.poll(() => runs(pid), OFTEN).toBe(false);
      const runtime = await openRuntime();
      const sweeps = Array.from({ length: 4 }, async () => {
        await sweep(runtime);
        return left(runId);
      });
      expect(await Promise.all(sweeps)).toEqual([[], [], [], []]);
    });

    it('has nothing of others swept away that only looks like its own', async () => {
      const { docker } = await openRuntime();
      const created = await docker.createContainer({
        Image: image,
        Labels: { 'conform.harness': 'of/another/kind' },
      });
      const mine = await docker.createContainer({ Image: image, Labels: { 'conform.harness': ownLabel() } });
      await sweep(await openRuntime());
      const still = await docker.listContainers({ all: true, filters: { id: [created.id, mine.id] } });
      for (const { id } of [created, mine]) await removeContainer(docker, id);
      expect(still).toHaveLength(2);
    });
  },
);

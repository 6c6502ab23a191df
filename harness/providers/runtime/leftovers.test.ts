import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { processStat } from '../process-group.ts';
import { isGone, ownLabel } from './leftovers.ts';

const NOW = 1_800_000_000_000;
const HOUR = 3_600_000;
const parts = () => ownLabel().split('/');
const label = (index: number, part: string) => parts().with(index, part).join('/');
const [host = '', boot = '', namespace = ''] = parts();

describe('the harness that a label names', () => {
  it('is there while its process runs', () => {
    expect(isGone(ownLabel(), NOW, NOW)).toBe(false);
    expect(isGone(ownLabel(), NOW - 48 * HOUR, NOW)).toBe(false);
  });

  it('is gone when its process has ended', async () => {
    const child = spawn(process.execPath, ['--eval', '']);
    const { pid } = child;
    await once(child, 'exit');
    expect(isGone([host, boot, namespace, pid, '1'].join('/'), NOW, NOW)).toBe(true);
  });

  it.runIf(process.platform === 'linux')(
    'is gone when it has ended and nobody has asked about it',
    async () => {
      // Its parent has become a program that asks about nobody.
      const parent = spawn('sh', ['-c', 'sh -c "echo \\$\\$; exec true" & exec sleep 60']);
      onTestFinished(() => void parent.kill('SIGKILL'));
      const [said] = await once(parent.stdout, 'data');
      const pid = Number(said);
      await expect.poll(() => processStat(pid)?.state).toBe('Z');
      const started = processStat(pid)?.started;
      expect(isGone([host, boot, namespace, pid, started].join('/'), NOW, NOW)).toBe(true);
    },
  );

  it.runIf(process.platform === 'linux')('is gone when another process has its id by now', () => {
    expect(isGone(label(4, '1'), NOW, NOW)).toBe(true);
  });

  it('is gone when its machine has started anew since', () => {
    expect(isGone(label(1, 'an-earlier-boot'), NOW, NOW)).toBe(true);
  });

  it('cannot be asked about on another machine or in another container: it is gone after a day', () => {
    for (const elsewhere of [label(0, 'elsewhere'), label(2, 'pid:[1]')]) {
      expect(isGone(elsewhere, NOW - HOUR, NOW)).toBe(false);
      expect(isGone(elsewhere, NOW - 25 * HOUR, NOW)).toBe(true);
    }
  });

  it('is none of ours when the label is not like ours', () => {
    for (const strange of ['', 'x', 'a/b/c/d/e', 'a/b']) expect(isGone(strange, 0, NOW)).toBe(false);
  });
});

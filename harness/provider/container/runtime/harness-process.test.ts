import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { processStat } from '../../process/process-group.ts';
import { isGone, ownLabel } from './harness-process.ts';

const zombies: ChildProcess[] = [];

afterEach(() => {
  for (const parent of zombies.splice(0)) parent.kill('SIGKILL');
});

const NOW = 1_800_000_000_000;
const HOUR = 3_600_000;
const parts = () => ownLabel().split('/');
const label = (change: (part: readonly string[]) => readonly string[]) => change(parts()).join('/');
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

  it.runIf(process.platform === 'linux')('is gone when it has ended and nobody has asked about it', () => {
    // Its parent has become a program that asks about nobody.
    const parent = spawn('sh', ['-c', 'sh -c "echo \\$\\$; exec true" & exec sleep 60']);
    zombies.push(parent);
    return new Promise<void>((resolve, reject) => {
      parent.stdout.once('data', (text: Buffer) => {
        const pid = text.toString().trim();
        expect
          .poll(() => processStat(Number(pid))?.state)
          .toBe('Z')
          .then(() => {
            const started = processStat(Number(pid))?.started;
            expect(isGone([host, boot, namespace, pid, started].join('/'), NOW, NOW)).toBe(true);
            resolve();
          })
          .catch(reject);
      });
    });
  });

  it.runIf(process.platform === 'linux')('is gone when another process has its id by now', () => {
    expect(
      isGone(
        label((part) => part.with(4, '1')),
        NOW,
        NOW,
      ),
    ).toBe(true);
  });

  it('is gone when its machine has started anew since', () => {
    expect(
      isGone(
        label((part) => part.with(1, 'an-earlier-boot')),
        NOW,
        NOW,
      ),
    ).toBe(true);
  });

  it('cannot be asked about on another machine or in another container: it is gone after a day', () => {
    for (const elsewhere of [
      label((part) => part.with(0, 'elsewhere')),
      label((part) => part.with(2, 'pid:[1]')),
    ]) {
      expect(isGone(elsewhere, NOW - HOUR, NOW)).toBe(false);
      expect(isGone(elsewhere, NOW - 25 * HOUR, NOW)).toBe(true);
    }
  });

  it('is none of ours when the label is not like ours', () => {
    for (const strange of ['', 'x', 'a/b/c/d/e', 'a/b']) expect(isGone(strange, 0, NOW)).toBe(false);
  });
});

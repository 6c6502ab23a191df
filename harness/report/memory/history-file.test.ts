import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../base/fixtures/folder.ts';
import type { PastRun } from './history.ts';
import { readHistory, remember } from './history-file.ts';

const night = (number: number, checks = 3): PastRun => ({
  id: `run-${number}`,
  startedAt: new Date(Date.UTC(2026, 0, 1, 0, number)).toISOString(),
  exitCode: 1,
  services: [
    {
      service: 'search',
      environment: null,
      version: 'sha256:1',
      outcomes: new Map(
        Array.from({ length: checks }, (_, index) => [`status.check-${index}`, 'pfb'[index % 3] ?? 'p']),
      ),
      requests: 120,
      durationMs: 61_000,
    },
  ],
});

describe('the history of the runs', () => {
  it('is empty where nothing ran', () => {
    expect(readHistory(temporaryFolder())).toEqual({ runs: [], notes: [] });
  });

  it('is read as it was written, with the ids of the checks once', () => {
    const folder = temporaryFolder();
    const operations = new Map([['operations.schema', ['GET /v1/orders']]]);
    const third = { ...night(3, 4), services: night(3, 4).services.map((each) => ({ ...each, operations })) };
    for (const each of [night(1), night(2), third]) expect(remember(folder, each)).toBeNull();
    expect(readHistory(folder)).toEqual({ runs: [night(1), night(2), third], notes: [] });
    expect(readFileSync(join(folder, 'history.ndjson'), 'utf8').match(/status\.check-1"/g)).toHaveLength(2);
  });

  it('has a run that is repeated once', () => {
    const folder = temporaryFolder();
    remember(folder, night(1));
    remember(folder, { ...night(1), exitCode: 0 });
    expect(readHistory(folder).runs).toEqual([{ ...night(1), exitCode: 0 }]);
  });

  it('tells of lines that cannot be read, and keeps them', () => {
    const folder = temporaryFolder();
    const path = join(folder, 'history.ndjson');
    remember(folder, night(1));
    appendFileSync(path, '{"run":"x","at":12}\n<<<<<<< HEAD\n{"run":"run-2","at":"2026-01-0');
    expect(readHistory(folder)).toEqual({
      runs: [night(1)],
      notes: [`${path}: line 3, 4, 5 cannot be read and tells nothing`],
    });
    remember(folder, night(3));
    expect(readHistory(folder).runs).toEqual([night(1), night(3)]);
    expect(readFileSync(path, 'utf8')).toContain('<<<<<<< HEAD\n{"run":"run-2"');
  });

  it.each([
    ['a link to a device', (path: string) => symlinkSync('/dev/zero', path)],
    ['a pipe', (path: string) => execFileSync('mkfifo', [path])],
    ['a folder', (path: string) => mkdirSync(path)],
  ])('is not read from %s, which is never written over', (_, make) => {
    const folder = temporaryFolder();
    const path = join(folder, 'history.ndjson');
    make(path);
    const notes = [`${path} is not a regular file: it tells nothing`];
    expect(readHistory(folder)).toEqual({ runs: [], notes });
    expect(remember(folder, night(1))).toBe(`cannot write ${path}: it is not a regular file`);
    expect(statSync(path).isFile()).toBe(false);
  });

  it('is bounded in runs and in octets', () => {
    const folder = temporaryFolder();
    const path = join(folder, 'history.ndjson');
    remember(folder, night(0));
    const [ids = '', run = ''] = readFileSync(path, 'utf8').split('\n');
    const many = Array.from({ length: 1_000 }, (_, index) => run.replace('run-0', `old-${index}`));
    writeFileSync(path, [ids, ...many, ''].join('\n'));
    remember(folder, night(1));
    const { runs } = readHistory(folder);
    expect([runs.length, runs[0]?.id, runs.at(-1)?.id]).toEqual([400, 'old-601', 'run-1']);
    const large = many.slice(0, 30).map((line) => line.replace('sha256:1', 'x'.repeat(1024 * 1024)));
    writeFileSync(path, [ids, ...large, ''].join('\n'));
    remember(folder, night(2));
    expect(statSync(path).size).toBeLessThanOrEqual(16 * 1024 * 1024 + 1_000);
    expect(readHistory(folder).runs.at(-1)?.id).toBe('run-2');
  });

  it('that cannot be written is told, and costs the run nothing', () => {
    const folder = temporaryFolder({ 'history.ndjson/in-the-way': '' });
    expect(readHistory(folder).notes).toEqual([
      expect.stringMatching(/history\.ndjson is not a regular file/),
    ]);
    expect(remember(folder, night(1))).toMatch(/cannot write/);
  });
});

import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../base/fixtures/folder.ts';
import type { PastRun } from '../../report/memory/history.ts';
import { remember } from '../../report/memory/history-file.ts';
import { conformHere, saying } from '../fixtures/in-process.ts';

const run = (id: string, day: number, outcomes: Readonly<Record<string, string>>): PastRun => ({
  id,
  startedAt: `2026-11-0${day}T03:00:00Z`,
  exitCode: 1,
  services: [
    {
      service: 'search',
      environment: 'staging',
      version: null,
      outcomes: new Map(Object.entries(outcomes)),
      requests: 1,
      durationMs: 1,
    },
  ],
});

const reports = temporaryFolder();
remember(
  reports,
  run('aaaa1111', 1, { 'auth.head': 'p', 'status.head': 'f', 'json.utf8': 'b', 'auth.ws': 'p' }),
);
remember(
  reports,
  run('bbbb2222', 2, { 'auth.head': 'f', 'status.head': 'p', 'json.utf8': 'f', 'auth.ws': 's' }),
);
remember(
  reports,
  run('bbbb3333', 3, { 'auth.head': 'f', 'status.head': 'p', 'json.utf8': 'f', 'auth.ws': 's' }),
);

const FIRST = 'aaaa1111 (2026-11-01 03:00:00 UTC, exit code 1)';
const LAST = 'bbbb3333 (2026-11-03 03:00:00 UTC, exit code 1)';

describe('conform diff', () => {
  it.for([
    [
      [],
      `bbbb2222 (2026-11-02 03:00:00 UTC, exit code 1) → ${LAST}\nNo check that both runs judged has changed.\n`,
    ],
    [
      ['aaaa'],
      `${FIRST} → ${LAST}
search (staging): auth.head: pass → fail
search (staging): status.head: fail → pass
2 checks changed, of those that both runs judged.
`,
    ],
  ] as const)('%j', async ([named, stdout]) => {
    expect(saying(await conformHere(['diff', ...named, '--reports', reports]))).toBe(`0: ${stdout}`);
  });

  it.for([
    [['cccc'], /^2: .*no run is called "cccc"/],
    [['aaaa', 'bbbb'], /^2: .*more than one run is called "bbbb"/],
  ] as const)('%j is a usage error', async ([named, said]) => {
    expect(saying(await conformHere(['diff', ...named, '--reports', reports]))).toMatch(said);
  });

  it('needs two runs', async () => {
    const said = saying(await conformHere(['diff', '--reports', temporaryFolder()]));
    expect(said).toMatch(/^2: .*remembers fewer than two runs/);
  });
});

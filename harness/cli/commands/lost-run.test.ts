import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../base/fixtures/folder.ts';
import { conformingService, resultsOf } from '../../report/fixtures/sample-results.ts';
import { pastRun, withHistory } from '../../report/memory/history.ts';
import { readHistory, remember } from '../../report/memory/history-file.ts';
import { writeReports } from '../../report/write.ts';
import { conformHere, saying } from '../fixtures/in-process.ts';

const KNOWN = 'known: [] # ours\n';

const SERVICE = `service: realtime
contract: realtime
provider: { reference: realtime }
credentials: { scheme: none }
`;

function nightIn(reports: string, day: number): void {
  const run = { id: `night-${day}`, startedAt: `2026-11-0${day}T03:00:00Z` };
  const results = withHistory(resultsOf([conformingService()], run), readHistory(reports).runs, []);
  writeReports(results, { reportsDir: reports, journalPath: null });
  expect(remember(reports, pastRun(results))).toBeNull();
}

/** Two nights of which the history is left, and nothing else. */
function lost(): { readonly folder: string; readonly reports: string } {
  const folder = temporaryFolder({ 'services/realtime.yaml': SERVICE, 'known/realtime.yaml': KNOWN });
  const reports = join(folder, 'reports');
  for (const day of [1, 2]) nightIn(reports, day);
  for (const name of readdirSync(reports)) {
    if (name !== 'history.ndjson') rmSync(join(reports, name), { recursive: true });
  }
  return { folder, reports };
}

describe('a run whose folder was deleted meanwhile', () => {
  it.each([
    ['accept', 'realtime', '--yes'],
    ['known', 'add', 'realtime', '--check', '*', '--reason', 'a', '--owner', 'b', '--until', '2027-01-31'],
    ['known', 'prune'],
  ])('cannot be gone back to, says conform %s %s, and changes no list', async (...args) => {
    const { folder, reports } = lost();
    const said = saying(await conformHere([...args, '--config', folder, '--reports', reports]));
    expect(said).toMatch(/^2: conform: .*reports\/latest\/results\.json/);
    expect(readFileSync(join(folder, 'known/realtime.yaml'), 'utf8')).toBe(KNOWN);
    expect(readdirSync(folder)).not.toContain('accepted');
  });

  it('is still in the history: compared, and what the next one is held against', async () => {
    const { reports } = lost();
    expect(saying(await conformHere(['diff', '--reports', reports]))).toMatch(/^0: night-1 .*→ night-2 /);
    nightIn(reports, 3);
    expect(readHistory(reports).runs.map(({ id }) => id)).toEqual(['night-1', 'night-2', 'night-3']);
    const page = readFileSync(join(reports, 'latest/index.html'), 'utf8');
    expect(page).toContain('3 runs since 1 Nov');
  });

  it('is not taken for one of which only a part is left', async () => {
    const { folder, reports } = lost();
    nightIn(reports, 3);
    const results = join(reports, 'latest/results.json');
    writeFileSync(results, readFileSync(results, 'utf8').slice(0, 500));
    const args = ['accept', '--yes', '--config', folder, '--reports', reports];
    expect(saying(await conformHere(args))).toMatch(/^2: conform: .*results\.json/);
  });
});

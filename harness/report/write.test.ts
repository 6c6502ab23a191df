import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { HarnessError } from '../base/exit.ts';
import { temporaryFolder } from '../base/fixtures/folder.ts';
import { conformingService, resultsOf, sampleResults } from './fixtures/sample-results.ts';
import { junit } from './formats/junit.ts';
import { REPORT_FORMATS } from './formats.ts';
import { readResults } from './results/read-results.ts';
import { openRunFolder, reportsFolderOf, type WriteOptions, writeReports } from './write.ts';

const only = (...names: readonly string[]) => REPORT_FORMATS.filter(({ name }) => names.includes(name));

describe('writing reports', () => {
  let base: string;
  let reportsDir: string;
  beforeEach(() => {
    base = temporaryFolder();
    reportsDir = join(base, 'reports');
  });

  /** The reports of a run that leaves no journal. */
  const write = (results = sampleResults(), options: Partial<WriteOptions> = {}) =>
    writeReports(results, { reportsDir, journalPath: null, ...options });

  const everything = (folder: string) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
      .sort();

  it.each([0, 1, 3])('writes the results of %i services as JSON, indented as a whole', (count) => {
    const results = sampleResults();
    const services = Array.from({ length: count }, () => results.services)
      .flat()
      .slice(0, count);
    const { runDir } = write({ ...results, services }, { formats: only('json') });
    const told = readFileSync(join(runDir, 'results.json'), 'utf8');
    expect(told).toBe(`${JSON.stringify(JSON.parse(told), null, 2)}\n`);
    expect(JSON.parse(told).services).toHaveLength(count);
  });

  it('leaves the same reports in the folder of the run and in latest', () => {
    const results = sampleResults();
    const folder = openRunFolder(reportsDir, results.run);
    writeFileSync(folder.journalPath, '{"type":"run-started"}\n');
    const { runDir, latestDir, files, notes } = writeReports(results, folder);
    const suites = results.services.flatMap(({ service, checks }) =>
      checks.filter(({ outcome }) => outcome !== 'skipped').map(({ suite }) => `${service}.${suite}`),
    );
    const services = results.services.map(({ service }) => service);
    // JUnit has a file for each suite of a service.
    const parts = (path: string) => [...new Set(path.startsWith('junit/') ? suites : services)];
    const expected = [
      'journal.ndjson',
      ...REPORT_FORMATS.flatMap(({ files }) => files.map(({ path }) => path)).flatMap((path) =>
        path.includes('SERVICE') ? parts(path).map((part) => path.replace('SERVICE', part)) : [path],
      ),
    ].sort();
    expect(expected).toEqual(expect.arrayContaining(['results.json', 'junit/search.auth.xml']));
    expect(runDir).toBe(join(reportsDir, '2026-11-21T06-38-14Z-r4x9k2'));
    expect(everything(runDir)).toEqual(expected);
    expect(everything(latestDir)).toEqual(expected);
    expect([...files].sort()).toEqual(expected);
    expect(notes).toEqual([]);
    expect(lstatSync(latestDir).isDirectory()).toBe(true);
    expect(readResults(join(latestDir, 'results.json')).run.id).toBe('r4x9k2');
  });

  it('keeps what providers wrote beside the reports, until another run takes their place', () => {
    const results = sampleResults();
    const logs = new Map([['search', 'listening']]);
    const { runDir, latestDir } = write(results, { logs });
    for (const folder of [runDir, latestDir]) {
      expect(readFileSync(join(folder, 'logs/search.log'), 'utf8')).toBe('listening\n');
      expect(
        readResults(join(folder, 'results.json')).services.map(({ provider }) => provider.log),
      ).toContain('logs/search.log');
      expect(readFileSync(join(folder, 'index.html'), 'utf8')).toContain('<a href="logs/search.log">');
    }
    write(resultsOf([conformingService()], { id: 'another' }));
    expect([runDir, latestDir].map((folder) => existsSync(join(folder, 'logs/search.log')))).toEqual([
      true,
      false,
    ]);
  });

  it('keeps what lies in latest of the same run when it renders one format again', () => {
    const results = sampleResults();
    write(results);
    const before = everything(join(reportsDir, 'latest'));
    write(results, { formats: [junit] });
    expect(everything(join(reportsDir, 'latest'))).toEqual(before);
  });

  it.skipIf(process.platform !== 'linux')(
    'says that a folder cannot be made where nothing can be made',
    () => {
      expect(() => openRunFolder('/proc/nope/reports', sampleResults().run)).toThrow(
        new HarnessError('cannot make /proc/nope: no such file or folder'),
      );
    },
  );

  it('finds out before a run that there can be no latest', () => {
    mkdirSync(reportsDir);
    writeFileSync(join(reportsDir, 'latest'), '');
    expect(() => openRunFolder(reportsDir, sampleResults().run)).toThrow(
      /latest: it is a file, not a folder/,
    );
    expect(readdirSync(reportsDir)).toEqual(['latest']);
  });

  const selection = { suites: ['auth'], checks: [], partial: false };
  const coverage = [{ request: 'call', sent: 120, capped: 380 }];
  it.each([
    ['checks were selected', sampleResults({ id: 'part', selection })],
    ['operations were capped', resultsOf([{ ...conformingService(), coverage }], { id: 'part' })],
  ])('keeps the last whole run in latest when %s', (_, part) => {
    const options = { formats: only('json') };
    write(sampleResults(), options);
    const { latestDir } = write(part, options);
    expect(latestDir).toBe(join(reportsDir, 'selection'));
    expect(readResults(join(latestDir, 'results.json')).run.id).toBe('part');
    expect(readResults(join(reportsDir, 'latest/results.json')).run.id).toBe('r4x9k2');
    expect(reportsFolderOf(join(latestDir, 'results.json'))).toBe(reportsDir);
  });

  it('leaves nothing of an earlier run in latest', () => {
    write();
    const next = resultsOf([conformingService()], { id: 'next' });
    const { latestDir } = write(next, { formats: only('json', 'junit') });
    expect(everything(latestDir)).toEqual(
      expect.arrayContaining(['junit.xml', 'junit/realtime.auth.xml', 'results.json']),
    );
    expect(everything(latestDir).join()).not.toMatch(/search|html/);
  });

  it('leaves files that are not its own where they are', () => {
    mkdirSync(join(reportsDir, 'latest'), { recursive: true });
    writeFileSync(join(reportsDir, 'latest', 'notes.txt'), 'mine');
    write();
    expect(readFileSync(join(reportsDir, 'latest', 'notes.txt'), 'utf8')).toBe('mine');
  });

  it('removes no run that is still at work, however old, and in the end what was killed long ago', () => {
    const atWork = openRunFolder(reportsDir, { id: 'work', startedAt: '2026-11-01T00:00:00.000Z' });
    const killed = openRunFolder(reportsDir, { id: 'killed', startedAt: '2026-11-02T00:00:00.000Z' });
    for (const { journalPath } of [atWork, killed]) writeFileSync(journalPath, '{"type":"run-started"}\n');
    utimesSync(killed.journalPath, 0, 0);
    const results = sampleResults({ id: 'last', startedAt: '2026-11-03T00:00:00.000Z' });
    write(results, { keepRuns: 1, formats: only('json') });
    expect(readdirSync(reportsDir).sort()).toEqual([
      '2026-11-01T00-00-00Z-work',
      '2026-11-03T00-00-00Z-last',
      'latest',
    ]);
  });

  it('keeps a bounded number of runs and removes nothing else', () => {
    mkdirSync(join(reportsDir, 'archive'), { recursive: true });
    for (const day of ['01', '02', '03', '04']) {
      const run = { id: `run${day}`, startedAt: `2026-11-${day}T00:00:00.000Z` };
      write(sampleResults(run), { keepRuns: 2, formats: only('json') });
    }
    expect(readdirSync(reportsDir).sort()).toEqual([
      '2026-11-03T00-00-00Z-run03',
      '2026-11-04T00-00-00Z-run04',
      'archive',
      'latest',
    ]);
  });

  it('never follows a link out of the reports folder', () => {
    const outside = join(base, 'outside');
    mkdirSync(outside);
    mkdirSync(join(reportsDir, 'latest'), { recursive: true });
    writeFileSync(join(outside, 'target.json'), 'untouched');
    symlinkSync(join(outside, 'target.json'), join(reportsDir, 'latest', 'results.json'));
    write();
    expect(readFileSync(join(outside, 'target.json'), 'utf8')).toBe('untouched');
    expect(lstatSync(join(reportsDir, 'latest', 'results.json')).isFile()).toBe(true);

    for (const name of ['latest', 'latest/junit']) {
      rmSync(join(reportsDir, name), { recursive: true });
      symlinkSync(outside, join(reportsDir, name));
      expect(() => write()).toThrow(
        /cannot write reports below .*: it is a symbolic link, not a folder; remove it/,
      );
      expect(readdirSync(outside)).toEqual(['target.json']);
      rmSync(join(reportsDir, name));
      mkdirSync(join(reportsDir, 'latest', 'junit'), { recursive: true });
    }
  });

  it('cannot be led out by the names of a run or a service', () => {
    const names = ['../../evil', '..', 'A/b', 'a b'];
    const results = resultsOf(
      names.map((name) => conformingService(name)),
      { id: '../../up' },
    );
    const { runDir } = write(results, { formats: [junit] });
    expect(everything(base).every((path) => path.startsWith('reports/'))).toBe(true);
    expect(readdirSync(join(runDir, 'junit'))).toEqual(
      expect.arrayContaining(['A-b.auth.xml', 'a-b.auth-2.xml', 'auth.xml', 'evil.auth.xml']),
    );
  });

  it('names the path when it cannot write', () => {
    writeFileSync(reportsDir, 'a file');
    expect(() => write()).toThrow(HarnessError);
    expect(() => write()).toThrow(new RegExp(`cannot make ${reportsDir}: a file is in the way`));
  });

  it('names the file and leaves no half of one when the disk is full', () => {
    // A folder where the file should go makes the last step fail as a full disk would.
    mkdirSync(join(reportsDir, 'latest', 'index.html'), { recursive: true });
    expect(() => write()).toThrow(/cannot write .*latest\/index\.html: a folder is in the way/);
    expect(readdirSync(join(reportsDir, 'latest')).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  it.skipIf(process.getuid?.() === 0)(
    'says so when the folder is read-only (not as root, whom nothing stops)',
    () => {
      mkdirSync(reportsDir);
      chmodSync(reportsDir, 0o500);
      expect(() => write()).toThrow(/cannot make .*: permission denied/);
      chmodSync(reportsDir, 0o700);
    },
  );

  it('renders again over an earlier rendering of the same run', () => {
    const folder = openRunFolder(reportsDir, sampleResults().run);
    writeFileSync(folder.journalPath, 'journal\n');
    writeReports(sampleResults(), folder);
    writeReports(sampleResults({ strict: true }), folder);
    expect(readResults(join(folder.runDir, 'results.json')).run.strict).toBe(true);
    expect(existsSync(folder.journalPath)).toBe(true);
  });

  it('is told of in reports/README.md, file by file', async () => {
    const path = join(import.meta.dirname, '../../reports/README.md');
    const rows = REPORT_FORMATS.flatMap(({ files }) => files).map(
      (file) => `| \`${file.path}\` | ${file.holds} | ${file.readers} |\n`,
    );
    const page = readFileSync(path, 'utf8');
    const derived = page.replace(/(?<=^\| file \|.*\n\| --- .*\n).*?(?=^\| `logs)/ms, () => rows.join(''));
    await expect(derived).toMatchFileSnapshot(path);
  });
});

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readResults } from '../report/results/read-results.ts';
import type { Results } from '../report/results/results.ts';
import {
  type ConformProcess,
  conform,
  conformRun,
  type Ending,
  EXAMPLE_KEY,
  fixture,
  lastReports,
  runFolders,
  temporaryFolder,
  underWay,
  until,
} from './fixtures/conform-process.ts';
import { xmlFaults } from './fixtures/system-tools.ts';

const folders: { remove(): void }[] = [];
afterAll(() => {
  for (const folder of folders) folder.remove();
});

function reportsFolder(): string {
  const folder = temporaryFolder();
  folders.push(folder);
  return join(folder.path, 'reports');
}

/** The results of the only run below `reports`, after everything that any ending must leave has been seen to be there. */
async function leftBehind(reports: string, process: ConformProcess): Promise<Results> {
  await until(
    () => 'no process is left',
    () => process.left().length === 0,
  );
  const [runFolder = ''] = runFolders(reports);
  for (const folder of [runFolder, lastReports(reports)]) {
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
    expect(files).toEqual(
      expect.arrayContaining(['index.html', 'journal.ndjson', 'junit.xml', 'summary.md']),
    );
    expect(files.filter((name) => name.startsWith('.'))).toEqual([]);
    for (const name of files.filter((each) => each.endsWith('.xml'))) {
      expect(xmlFaults(join(folder, name))).toBe('');
    }
    expect(readFileSync(join(folder, 'index.html'), 'utf8')).toMatch(/<\/html>\s*$/);
    for (const name of files.filter((each) => each.includes('.'))) {
      expect(readFileSync(join(folder, name), 'utf8'), name).not.toContain(EXAMPLE_KEY);
    }
  }
  expect(process.stdout()).not.toContain(EXAMPLE_KEY);
  expect(process.stderr()).not.toContain(EXAMPLE_KEY);
  const results = readResults(join(lastReports(reports), 'results.json'));
  expect(readResults(join(runFolder, 'results.json'))).toEqual(results);
  for (const { provider } of results.services) {
    if (provider.url !== '') expect(await isOpen(provider.url)).toBe(false);
  }
  return results;
}

function isOpen(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    socket.on('connect', () => resolve(true));
    socket.on('error', () => resolve(false));
    socket.on('close', () => socket.destroy());
  });
}

/** A run that has come to the check of this suite at which it is to be ended. */
async function underWayIn(suite: string) {
  const reports = reportsFolder();
  const run = conformRun(reports, { options: { suite: [suite] } });
  await underWay(run, reports);
  return { reports, run };
}

/** Outcomes by check id, of the first service. */
function outcomes({ services }: Results): Record<string, string> {
  return Object.fromEntries((services[0]?.checks ?? []).map(({ id, outcome }) => [id, outcome]));
}

function junit(reports: string): string {
  return readFileSync(join(lastReports(reports), 'junit.xml'), 'utf8');
}

/** Everything that says "interrupted", and why. */
function expectInterrupted(reports: string, results: Results, ending: Ending, why: RegExp): void {
  expect(results.run.interrupted).toBe(true);
  expect(results.run.interruption).toMatch(why);
  expect(results.run.exitCode).toBe(3);
  expect(ending).toMatchObject({ code: 3, signal: null });
  expect(junit(reports)).toMatch(why);
  expect(readFileSync(join(lastReports(reports), 'index.html'), 'utf8')).toMatch(why);
  expect(readFileSync(join(lastReports(reports), 'summary.md'), 'utf8')).toContain('The run was cut short');
  expect(ending.stdout).toMatch(/^Inconclusive/m);
}

const CUT_SHORT = (name: string) => ({
  [`${name}.before`]: 'pass',
  [`${name}.ending`]: 'blocked',
  [`${name}.after`]: 'blocked',
});

describe.concurrent('a signal', () => {
  it.for([
    ['SIGINT', 'signal'],
    ['SIGINT', 'signalGroup'],
    ['SIGTERM', 'signal'],
    ['SIGTERM', 'signalGroup'],
    ['SIGHUP', 'signalGroup'],
  ] as const)('%s by %s winds the run down and renders what is finished', async ([name, how]) => {
    const { reports, run } = await underWayIn('never-settles');
    run[how](name);
    const ending = await run.ended;
    const results = await leftBehind(reports, run);
    expectInterrupted(reports, results, ending, new RegExp(name));
    expect(outcomes(results)).toEqual(CUT_SHORT('never-settles'));
    expect(ending.stderr).toContain(`conform: ${name}, finishing; a second one ends at once`);
  });

  it('ends at once when it comes twice, though a worker hangs', async () => {
    const { reports, run } = await underWayIn('busy');
    run.signal('SIGINT');
    await until(
      () => 'the first signal is heard',
      () => run.stderr().includes('finishing'),
    );
    run.signal('SIGINT');
    const ending = await run.ended;
    const results = await leftBehind(reports, run);
    expect(ending).toMatchObject({ code: 3, signal: null, stdout: '' });
    expect(results.run).toMatchObject({
      interrupted: true,
      interruption: 'SIGINT, the second signal',
      exitCode: 3,
    });
    expect(outcomes(results)).toEqual(CUT_SHORT('busy'));
  });

  it('ends a worker that hangs, though it comes once', async () => {
    const { reports, run } = await underWayIn('busy');
    run.signalGroup('SIGINT');
    const ending = await run.ended;
    expectInterrupted(reports, await leftBehind(reports, run), ending, /SIGINT/);
  });

  it('is heard while the run is still starting', async () => {
    const reports = reportsFolder();
    const run = conformRun(reports, { options: { suite: ['never-settles'] } });
    await until(
      () => 'the run has a folder',
      () => run.stderr().includes('search: started'),
    );
    run.signalGroup('SIGINT');
    const ending = await run.ended;
    const results = await leftBehind(reports, run);
    expectInterrupted(reports, results, ending, /SIGINT/);
    expect(outcomes(results)['never-settles.after']).toBe('blocked');
  });
});

describe.concurrent('a worker', () => {
  it('that is killed costs its own service the rest and the others nothing', async () => {
    const reports = reportsFolder();
    const run = conformRun(reports, {
      services: ['search', 'messaging'],
      options: { suite: ['killed'] },
    });
    const ending = await run.ended;
    const results = await leftBehind(reports, run);
    expectInterrupted(
      reports,
      results,
      ending,
      /search: its worker ended by SIGKILL before the checks were done/,
    );
    const [search, messaging] = results.services;
    expect(outcomes(results)).toEqual(CUT_SHORT('killed'));
    expect(search?.trouble).toMatch(/SIGKILL/);
    expect(messaging?.checks.map(({ outcome }) => outcome)).toEqual(['pass', 'pass', 'pass']);
    expect(ending.stderr).toMatch(/^search: trouble .*SIGKILL/m);
  });

  it('that runs out of memory is told of in its own words', async () => {
    const reports = reportsFolder();
    const run = conformRun(reports, {
      options: { suite: ['out-of-memory'] },
      env: { NODE_OPTIONS: '--max-old-space-size=96' },
    });
    const ending = await run.ended;
    const results = await leftBehind(reports, run);
    expectInterrupted(reports, results, ending, /search: its worker ended by SIGABRT .*heap out of memory/);
    expect(outcomes(results)).toEqual(CUT_SHORT('out-of-memory'));
    expect(ending.stderr).not.toContain('FATAL ERROR: Reached heap limit\n');
  });

  it('that hangs in a loop is ended, and the others go on', async () => {
    const reports = reportsFolder();
    const run = conformRun(reports, {
      services: ['search', 'messaging'],
      options: { suite: ['busy'] },
      setting: { stallMs: 2_000 },
    });
    const ending = await run.ended;
    const results = await leftBehind(reports, run);
    expectInterrupted(reports, results, ending, /search: its worker gave no sign of life for 2000 ms/);
    expect(outcomes(results)).toEqual(CUT_SHORT('busy'));
    expect(results.services[1]?.checks.map(({ outcome }) => outcome)).toEqual(['pass', 'pass', 'pass']);
  });

  it('with an unhandled rejection finishes its checks, and the run is not relied on', async () => {
    const reports = reportsFolder();
    const run = conformRun(reports, { options: { suite: ['stray-rejection'] } });
    const ending = await run.ended;
    const results = await leftBehind(reports, run);
    expectInterrupted(
      reports,
      results,
      ending,
      /an unexpected error: nobody waits for this \(key \[redacted:/,
    );
    expect(Object.values(outcomes(results))).toEqual(['pass', 'pass', 'pass']);
  });

  it('may print: neither on stdout nor with a secret', async () => {
    const reports = reportsFolder();
    const run = conformRun(reports, { options: { suite: ['prints'] } });
    const ending = await run.ended;
    const results = await leftBehind(reports, run);
    expect(ending.code).toBe(0);
    expect(results.run.interrupted).toBe(false);
    expect(ending.stderr).toMatch(
      /^a line for whoever writes the suite \(key \[redacted:SEARCH_API_KEY\]\)$/m,
    );
    expect(ending.stdout).not.toContain('a line');
  });
});

describe.concurrent('the main process', () => {
  it('with an unhandled rejection winds the run down', async () => {
    const { reports, run } = await underWayIn('never-settles');
    run.signal('SIGUSR2');
    const ending = await run.ended;
    const results = await leftBehind(reports, run);
    expectInterrupted(
      reports,
      results,
      ending,
      /an unexpected error: nobody waits for this \(key \[redacted:/,
    );
    expect(outcomes(results)).toEqual(CUT_SHORT('never-settles'));
  });

  it('that somebody ends with code 0 ends with 3 and with reports', async () => {
    const { reports, run } = await underWayIn('never-settles');
    run.signal('SIGWINCH');
    const ending = await run.ended;
    const results = await leftBehind(reports, run);
    expect(ending).toMatchObject({ code: 3, stdout: '' });
    expect(results.run).toMatchObject({ interruption: 'the process ended early', exitCode: 3 });
  });

  it.for(['never-settles', 'busy'])(
    'that is killed leaves a journal that renders, and nobody behind (%s)',
    async (suite) => {
      const { reports, run } = await underWayIn(suite);
      run.signal('SIGKILL');
      expect(await run.ended).toMatchObject({ code: null, signal: 'SIGKILL' });
      const [folder = ''] = runFolders(reports);
      expect(existsSync(join(folder, 'results.json'))).toBe(false);

      const ending = await conform(['report', join(folder, 'journal.ndjson')]).ended;
      const results = await leftBehind(reports, run);
      expect(ending.code).toBe(3);
      expect(results.run).toMatchObject({
        interrupted: true,
        interruption: 'search did not finish',
        exitCode: 3,
      });
      expect(outcomes(results)).toEqual(CUT_SHORT(suite));
      expect(junit(reports)).toContain('search did not finish');
    },
  );
});

describe.concurrent('a check that goes wrong is a fault of the harness', () => {
  it('and the others are judged', async () => {
    const reports = reportsFolder();
    const run = conformRun(reports, {
      options: { suite: ['never-settles', 'throws', 'exits'] },
      setting: { checkLimitMs: 500 },
    });
    const ending = await run.ended;
    const results = await leftBehind(reports, run);
    expect(ending.code).toBe(70);
    expect(ending.stdout).toMatch(/^Harness error/m);
    expect(results.run).toMatchObject({ interrupted: false, exitCode: 70 });
    expect(outcomes(results)).toEqual({
      'never-settles.before': 'pass',
      'never-settles.ending': 'error',
      'never-settles.after': 'pass',
      'throws.before': 'pass',
      'throws.ending': 'error',
      'throws.after': 'pass',
      'exits.before': 'pass',
      'exits.ending': 'error',
      'exits.after': 'pass',
    });
    const messages = new Map(results.services[0]?.checks.map(({ id, message }) => [id, message]));
    expect(messages.get('never-settles.ending')).toMatch(/stuck for 500 ms/);
    expect(messages.get('throws.ending')).toMatch(/a mistake in a check \(key \[redacted:SEARCH_API_KEY\]\)/);
    expect(messages.get('exits.ending')).toMatch(/process\.exit/);
  });

  it('also when its suite does not load: nothing is started', async () => {
    const reports = reportsFolder();
    const run = conformRun(reports, { setting: { suitesUrl: fixture('broken-suites.ts') } });
    const ending = await run.ended;
    expect(ending.code).toBe(70);
    expect(ending.stdout).toBe('');
    expect(ending.stderr).toMatch(
      /^conform: harness error: the suites of .*broken-suites\.ts do not load: this suite is broken$/m,
    );
    expect(existsSync(reports)).toBe(false);
    expect(run.left()).toEqual([]);
  });

  it('also when its suite does not load in the worker', async () => {
    const reports = reportsFolder();
    const run = conformRun(reports, {
      options: { suite: ['quiet'] },
      setting: { suitesUrl: fixture('broken-in-worker.ts') },
    });
    const ending = await run.ended;
    const results = await leftBehind(reports, run);
    expect(ending.code).toBe(70);
    expect(results.run.faults.join()).toMatch(/broken in a worker \(key \[redacted:SEARCH_API_KEY\]\)/);
    expect(ending.stdout).toMatch(/broken in a worker/);
    expect(outcomes(results)).toEqual({ 'quiet.sample': 'blocked' });
  });
});

describe.concurrent('a run', () => {
  it('that stops at the first failure is not interrupted: its verdict stands', async () => {
    const reports = reportsFolder();
    const run = conformRun(reports, {
      services: ['search', 'messaging'],
      options: { suite: ['fails', 'never-settles'], bail: true },
    });
    const ending = await run.ended;
    const results = await leftBehind(reports, run);
    expect(ending.code).toBe(1);
    expect(results.run).toMatchObject({ interrupted: false, interruption: null, exitCode: 1 });
    const all = results.services.flatMap(({ checks }) => checks);
    expect(all.filter(({ outcome }) => outcome === 'fail').length).toBeGreaterThan(0);
    const lost = all.filter(({ outcome }) => outcome === 'blocked');
    expect(lost.map(({ id }) => id)).toContain('never-settles.after');
    expect(lost.every(({ message }) => message === 'stopped at the first failure (--bail)')).toBe(true);
    // What a cancelled service has sent and how long it took is known all the same.
    const failed = results.services.filter(({ checks }) => checks.some(({ outcome }) => outcome === 'fail'));
    for (const { requestsSent, durationMs } of failed) {
      expect(requestsSent).toBe(1);
      expect(durationMs).toBeGreaterThan(0);
    }
  });

  it('in which nothing ran is no green run', async () => {
    const reports = reportsFolder();
    const run = conformRun(reports, { options: { suite: ['does-not-apply'] } });
    const ending = await run.ended;
    const results = await leftBehind(reports, run);
    expect(ending.code).toBe(3);
    expect(ending.stdout).toMatch(/no check ran/);
    expect(outcomes(results)).toEqual({ 'does-not-apply.skipped': 'skipped' });
    expect(results.run.interrupted).toBe(false);
  });

  it('needs no home to write to', async () => {
    const reports = reportsFolder();
    const run = conformRun(reports, {
      options: { suite: ['quiet'] },
      env: { HOME: '/proc/nope', TMPDIR: '/proc/nope' },
    });
    const ending = await run.ended;
    expect(await leftBehind(reports, run)).toMatchObject({ run: { interrupted: false, exitCode: 0 } });
    expect(ending.code).toBe(0);
  });

  it('beside another one in the same folder leaves both whole', async () => {
    const reports = reportsFolder();
    const runs = [1, 2].map(() => conformRun(reports, { options: { suite: ['quiet'] } }));
    for (const { ended } of runs) expect((await ended).code).toBe(0);
    const ids = runFolders(reports).map((folder) => {
      const { run, services } = readResults(join(folder, 'results.json'));
      expect(services[0]?.checks.map(({ outcome }) => outcome)).toEqual(['pass']);
      expect(readFileSync(join(folder, 'junit.xml'), 'utf8')).toMatch(/<\/testsuites>\s*$/);
      return run.id;
    });
    expect(new Set(ids).size).toBe(2);
    // Whoever came last: all of it is theirs.
    const latest = lastReports(reports);
    const { id } = readResults(join(latest, 'results.json')).run;
    expect(ids).toContain(id);
    for (const name of ['summary.md', 'index.html', 'journal.ndjson', 'junit.xml']) {
      expect(readFileSync(join(latest, name), 'utf8'), name).toContain(id);
    }
  });
});

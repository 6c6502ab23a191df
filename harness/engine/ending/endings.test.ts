import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../base/fixtures/folder.ts';
import { readHistory } from '../../report/memory/history-file.ts';
import { readResults } from '../../report/results/read-results.ts';
import type { Results } from '../../report/results/results.ts';
import {
  type ConformProcess,
  conform,
  conformRun,
  EXAMPLE_KEY,
  fixture,
  lastReports,
  type RunOrder,
  resultsIn,
  runFolders,
  underWay,
  until,
} from '../fixtures/conform-process.ts';
import { mayUse, xmlFaults } from '../fixtures/system-tools.ts';

/** The results of the only run below `reports`, after everything that any ending must leave has been seen to be there. */
async function leftBehind(reports: string, process: ConformProcess): Promise<Results> {
  await until('no process is left', () => process.left().length === 0);
  const [runFolder = ''] = runFolders(reports);
  for (const folder of [runFolder, lastReports(reports)]) {
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
    expect(files).toEqual(
      expect.arrayContaining(['index.html', 'journal.ndjson', 'junit.xml', 'summary.md']),
    );
    expect(files.filter((name) => name.startsWith('.'))).toEqual([]);
    const xml = files.filter((name) => name.endsWith('.xml'));
    expect(xmlFaults(xml.map((name) => join(folder, name)))).toBe('');
    expect(readFileSync(join(folder, 'index.html'), 'utf8')).toMatch(/<\/html>\s*$/);
    for (const name of files.filter((each) => each.includes('.'))) {
      expect(readFileSync(join(folder, name), 'utf8'), name).not.toContain(EXAMPLE_KEY);
    }
  }
  expect(process.stdout()).not.toContain(EXAMPLE_KEY);
  expect(process.stderr()).not.toContain(EXAMPLE_KEY);
  const results = resultsIn(reports);
  expect(readResults(join(runFolder, 'results.json'))).toEqual(results);
  return results;
}

/** A run of these suites; `over` waits for its end. */
function begin(suite: readonly string[], { options, ...order }: RunOrder = {}) {
  const reports = join(temporaryFolder(), 'reports');
  const run = conformRun(reports, { ...order, options: { suite, ...options } });
  const over = async () => {
    const ending = await run.ended;
    return { reports, ending, results: await leftBehind(reports, run) };
  };
  return { reports, run, over };
}

/** A run that has come to the check of this suite at which it is to be ended. */
async function underWayIn(suite: string) {
  const begun = begin([suite]);
  await underWay(begun.run, begun.reports);
  return begun;
}

/** Outcomes by check id, of the first service. */
function outcomes({ services }: Results): Record<string, string> {
  return Object.fromEntries((services[0]?.checks ?? []).map(({ id, outcome }) => [id, outcome]));
}

const report = (reports: string, name: string) => readFileSync(join(lastReports(reports), name), 'utf8');

/** Everything that says "interrupted", and why; by default of a run that met the ending check of this suite. */
async function expectInterrupted({ over }: ReturnType<typeof begin>, suite: string, why: RegExp) {
  const { reports, ending, results } = await over();
  const interruption = expect.stringMatching(why);
  expect(results.run).toMatchObject({ interrupted: true, interruption, exitCode: 3 });
  expect(ending).toMatchObject({ code: 3, signal: null, stdout: expect.stringMatching(/^⊘ Inconclusive/m) });
  expect(report(reports, 'junit.xml')).toMatch(why);
  expect(report(reports, 'index.html')).toMatch(why);
  expect(report(reports, 'summary.md')).toContain('The run was cut short');
  expect(outcomes(results)).toEqual(CUT_SHORT(suite));
  return { ending, results };
}

const CUT_SHORT = (name: string) => ({
  [`${name}.before`]: 'pass',
  [`${name}.ending`]: 'blocked',
  [`${name}.after`]: 'blocked',
});

const STRAY = /an unexpected error: nobody waits for this \(key \[redacted:/;

describe.concurrent('a signal', () => {
  it.for([
    ['SIGINT', 'signal'],
    ['SIGINT', 'signalGroup'],
    ['SIGTERM', 'signal'],
    ['SIGTERM', 'signalGroup'],
    ['SIGHUP', 'signalGroup'],
  ] as const)('%s by %s winds the run down and renders what is finished', async ([name, how]) => {
    const begun = await underWayIn('never-settles');
    begun.run[how](name);
    const { ending } = await expectInterrupted(begun, 'never-settles', new RegExp(name));
    expect(ending.stderr).toContain(`conform: ${name}, finishing; a second one ends at once`);
  });

  it('ends at once when it comes twice, though a worker hangs', async () => {
    const { run, over } = await underWayIn('busy');
    run.signal('SIGINT');
    await until('the first signal is heard', () => run.stderr().includes('finishing'));
    run.signal('SIGINT');
    const { ending, results } = await over();
    expect(ending).toMatchObject({ code: 3, signal: null, stdout: '' });
    const interruption = 'SIGINT, the second signal';
    expect(results.run).toMatchObject({ interrupted: true, interruption, exitCode: 3 });
    expect(outcomes(results)).toEqual(CUT_SHORT('busy'));
  });

  it('ends a worker that hangs, though it comes once', async () => {
    const begun = await underWayIn('busy');
    begun.run.signalGroup('SIGINT');
    await expectInterrupted(begun, 'busy', /SIGINT/);
  });

  it('is heard while the run is still starting', async () => {
    const { run, over } = begin(['never-settles']);
    await until('the run has a folder', () => run.stderr().includes('search: started'));
    run.signalGroup('SIGINT');
    const { ending, results } = await over();
    expect([ending.code, results.run.interruption]).toEqual([3, 'SIGINT']);
    expect(outcomes(results)['never-settles.after']).toBe('blocked');
  });
});

describe.concurrent('a worker', () => {
  // How else one may end, its services together with others: engine/shared-worker.test.ts.
  it('that is killed loses the rest of its own service and of no other', async () => {
    const begun = begin(['killed'], { services: ['search', 'messaging'] });
    const why = /search: its worker ended by SIGKILL before the checks were done/;
    const { ending, results } = await expectInterrupted(begun, 'killed', why);
    const [search, other] = results.services;
    expect(search?.trouble).toMatch(/its worker/);
    expect(ending.stderr).toMatch(/^search: trouble .*its worker/m);
    expect(other?.checks.map(({ outcome }) => outcome)).toEqual(ALL_PASS);
  });

  it('with an unhandled rejection finishes its checks, and the run is not relied on', async () => {
    const { ending, results } = await begin(['stray-rejection']).over();
    expect(results.run.interruption).toMatch(STRAY);
    expect(ending.code).toBe(3);
    expect(Object.values(outcomes(results))).toEqual(ALL_PASS);
  });

  it('may print: neither on stdout nor with a secret', async () => {
    const { ending, results } = await begin(['prints']).over();
    expect(ending.code).toBe(0);
    expect(results.run.interrupted).toBe(false);
    expect(ending.stderr).toMatch(
      /^a line for whoever writes the suite \(key \[redacted:SEARCH_API_KEY\]\)$/m,
    );
    expect(ending.stdout).not.toContain('a line');
  });
});

const ALL_PASS = ['pass', 'pass', 'pass'];

describe.concurrent('the main process', () => {
  it('with an unhandled rejection winds the run down', async () => {
    const begun = await underWayIn('never-settles');
    begun.run.signal('SIGUSR2');
    await expectInterrupted(begun, 'never-settles', STRAY);
  });

  it('that somebody ends with code 0 ends with 3 and with reports', async () => {
    const { run, over } = await underWayIn('never-settles');
    run.signal('SIGWINCH');
    const { ending, results } = await over();
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
      const interruption = 'search did not finish';
      expect(results.run).toMatchObject({ interrupted: true, interruption, exitCode: 3 });
      expect(outcomes(results)).toEqual(CUT_SHORT(suite));
      expect(report(reports, 'junit.xml')).toContain(interruption);
    },
  );
});

describe.concurrent('a check that goes wrong is a fault of the harness', () => {
  it('and the others are judged', async () => {
    const suites = ['never-settles', 'throws', 'exits'];
    const { ending, results } = await begin(suites, { setting: { checkLimitMs: 10_000 } }).over();
    expect(ending).toMatchObject({ code: 70, stdout: expect.stringMatching(/^! Harness error/m) });
    expect(results.run).toMatchObject({ interrupted: false, exitCode: 70 });
    const parts = Object.entries({ before: 'pass', ending: 'error', after: 'pass' });
    const expected = suites.flatMap((suite) => parts.map(([part, outcome]) => [`${suite}.${part}`, outcome]));
    expect(outcomes(results)).toEqual(Object.fromEntries(expected));
    const messages = new Map(results.services[0]?.checks.map(({ id, message }) => [id, message]));
    expect(messages.get('never-settles.ending')).toMatch(/stuck for 10000 ms/);
    expect(messages.get('throws.ending')).toMatch(/a mistake in a check \(key \[redacted:SEARCH_API_KEY\]\)/);
    expect(messages.get('exits.ending')).toMatch(/process\.exit/);
  });

  it('also when its suite does not load: nothing is started', async () => {
    const { reports, run } = begin([], { setting: { suitesUrl: fixture('broken-suites.ts') } });
    const { code, stdout, stderr } = await run.ended;
    expect({ code, stdout }).toEqual({ code: 70, stdout: '' });
    expect(stderr).toMatch(
      /^conform: harness error: the suites of .*broken-suites\.js do not load: this suite is broken$/m,
    );
    expect(existsSync(reports)).toBe(false);
    expect(run.left()).toEqual([]);
  });

  it('also when its suite does not load in the worker', async () => {
    const order = { setting: { suitesUrl: fixture('broken-in-worker.ts') } };
    const { ending, results } = await begin(['quiet'], order).over();
    expect(ending).toMatchObject({ code: 70, stdout: expect.stringMatching(/broken in a worker/) });
    expect(results.run.faults.join()).toMatch(/broken in a worker \(key \[redacted:SEARCH_API_KEY\]\)/);
    expect(outcomes(results)).toEqual({ 'quiet.sample': 'blocked' });
  });
});

describe.concurrent('a folder of reports', () => {
  /** A run whose checks know where the reports are. */
  const beginIn = (suite: string, order: RunOrder = {}) => {
    const reports = join(temporaryFolder(), 'reports');
    const env = { REPORTS_FOLDER: reports, ...order.env };
    const run = conformRun(reports, { ...order, env, options: { suite: [suite] } });
    return { reports, run };
  };

  it.for(['loses-folder', ...(mayUse('prlimit') ? ['has-no-room'] : [])])(
    'in which nothing can be written for a while costs no outcome (%s)',
    async (suite) => {
      const { reports, run } = beginIn(suite);
      const ending = await run.ended;
      const results = await leftBehind(reports, run);
      expect([ending.code, results.run.exitCode, results.run.faults]).toEqual([0, 0, []]);
      expect(Object.values(outcomes(results)).every((outcome) => outcome === 'pass')).toBe(true);
      expect(Object.keys(results.services[0]?.evidence ?? {})).toHaveLength(1);
      const said = {
        'loses-folder': /^the folder of the journal was removed meanwhile; it was made again/,
        'has-no-room': /^for a while the journal could not be written \(EFBIG/,
      }[suite];
      expect(results.run.remarks).toEqual([expect.stringMatching(said ?? /^$/)]);
      expect(ending.stdout.replaceAll(/\n +/g, ' ')).toContain(`note: ${results.run.remarks?.[0]}`);
      for (const name of ['summary.md', 'index.html', 'journal.ndjson'])
        expect(report(reports, name), name).toMatch(/was removed meanwhile|for a while/);
      // The journal is whole again: it renders to the same.
      const journal = join(lastReports(reports), 'journal.ndjson');
      const again = await conform(['report', journal, '--reports', reports]).ended;
      expect(again.code).toBe(0);
      expect(resultsIn(reports).services).toEqual(results.services);
    },
  );

  it('that is removed before a worker dies costs what that one had to judge, and nothing of the others', async () => {
    const { reports, run } = beginIn('loses-folder-and-worker', { services: ['search', 'messaging'] });
    const ending = await run.ended;
    const results = await leftBehind(reports, run);
    expect(ending.code).toBe(3);
    expect(results.run.remarks).toEqual([expect.stringMatching(/was removed meanwhile/)]);
    expect(results.run.interruption).toMatch(/search: its worker ended by SIGKILL/);
    expect(results.services.map(({ checks }) => checks.map(({ outcome }) => outcome))).toEqual([
      ['pass', 'blocked', 'blocked'],
      ALL_PASS,
    ]);
  });

  it('that takes no reports is no reason to lose them: they are elsewhere, which is said', async () => {
    const temporary = temporaryFolder();
    const { run } = beginIn('finds-a-file-in-the-way', { env: { TMPDIR: temporary } });
    const { code, stdout } = await run.ended;
    const [elsewhere = ''] = readdirSync(temporary).map((name) => join(temporary, name));
    expect(code).toBe(70);
    const said = stdout.replaceAll(/\n */g, ' ');
    const why = 'it is a file, not a folder; remove it; the reports are in';
    expect(said).toMatch(new RegExp(`cannot write reports below .*selection: ${why}`));
    const results = resultsIn(elsewhere);
    expect(Object.values(outcomes(results))).toEqual(ALL_PASS);
    expect(results.run.faults).toEqual([expect.stringContaining(elsewhere)]);
    for (const name of ['index.html', 'journal.ndjson']) expect(report(elsewhere, name)).not.toBe('');
  });
});

describe.concurrent('a run', () => {
  it.for([
    [{ bail: true }, 'stopped at the first failure (--bail)'],
    [{ maxFailures: 2 }, 'stopped after 2 failures (--max-failures)'],
  ] as const)('that stops with %j is not interrupted: its verdict stands', async ([options, reason]) => {
    const order = { services: ['search', 'messaging'], options };
    const { ending, results } = await begin(['fails', 'never-settles'], order).over();
    expect(ending.code).toBe(1);
    expect(results.run).toMatchObject({ interrupted: false, interruption: null, exitCode: 1 });
    const checks = results.services.flatMap((service) => service.checks);
    const lost = checks.filter(({ outcome }) => outcome === 'blocked');
    expect(lost.map(({ id }) => id)).toContain('never-settles.after');
    expect(lost.every(({ message }) => message === reason)).toBe(true);
    // What a cancelled service has sent and how long it took is known all the same.
    const failed = results.services.filter(({ checks }) => checks.some(({ outcome }) => outcome === 'fail'));
    expect(failed.length).toBeGreaterThan(0);
    for (const { requestsSent, durationMs } of failed) {
      expect(requestsSent).toBe(1);
      expect(durationMs).toBeGreaterThan(0);
    }
  });

  it('in which nothing ran is no green run', async () => {
    const { ending, results } = await begin(['does-not-apply']).over();
    expect(ending).toMatchObject({ code: 3, stdout: expect.stringMatching(/no check ran/) });
    expect(outcomes(results)).toEqual({ 'does-not-apply.skipped': 'skipped' });
    expect(results.run.interrupted).toBe(false);
  });

  it('needs no home to write to', async () => {
    const homeless = { env: { HOME: '/proc/nope', TMPDIR: '/proc/nope' } };
    const { ending, results } = await begin(['quiet'], homeless).over();
    expect([ending.code, results.run.interrupted, results.run.exitCode]).toEqual([0, false, 0]);
  });

  it('beside another one in the same folder leaves both whole', async () => {
    const reports = join(temporaryFolder(), 'reports');
    const runs = [1, 2].map(() => conformRun(reports, { options: { suite: ['quiet'] } }));
    for (const { ended } of runs) expect((await ended).code).toBe(0);
    const ids = runFolders(reports).map((folder) => {
      const { run, services } = readResults(join(folder, 'results.json'));
      expect(services[0]?.checks.map(({ outcome }) => outcome)).toEqual(['pass']);
      expect(readFileSync(join(folder, 'junit.xml'), 'utf8')).toMatch(/<\/testsuites>\s*$/);
      return run.id;
    });
    const remembered = readHistory(reports).runs.map(({ id }) => id);
    expect(remembered.toSorted()).toEqual(ids.toSorted());
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

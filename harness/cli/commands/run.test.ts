import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../base/fixtures/folder.ts';
import {
  atTerminal,
  conform,
  NO_TERMINAL,
  runFolders,
  until,
} from '../../engine/fixtures/conform-process.ts';
import type { HostileServer } from '../../engine/fixtures/hostile-servers.ts';
import { counting } from '../../engine/fixtures/hostile-servers.ts';
import { conformHere } from '../fixtures/in-process.ts';

/** `conform run` as a user and a CI job meet it. How runs end when something goes wrong: `run/endings.test.ts`. */

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
let server: HostileServer;

beforeAll(async () => {
  server = await counting();
});
afterAll(() => server.close());

const reportsFolder = () => join(temporaryFolder(), 'reports');

/** One short check against the embedded search service. */
function shortRun(...args: readonly string[]): {
  readonly args: readonly string[];
  readonly reports: string;
} {
  const reports = reportsFolder();
  return { reports, args: ['run', 'search', '--check', 'status.sample', '--reports', reports, ...args] };
}

const SGR = `${String.fromCharCode(27)}[`;
/** Bold, or green. */
const COLOUR = new RegExp(`${String.fromCharCode(27)}\\[(?:1|32)m`);

describe.concurrent('what it prints', () => {
  it('is the verdict on stdout and the progress on stderr', async () => {
    const { args, reports } = shortRun();
    const { code, stdout, stderr } = await conform(args).ended;
    expect(code).toBe(0);
    expect(stdout).toMatch(/^◐ search {2}1 of \d+ checks were selected: 1 passed · .*\n/);
    expect(stdout).toMatch(
      /\n◐ No verdict: Only 1 of \d+ checks were selected; nothing failed\.\n.*, exit code 0\n/,
    );
    expect(stdout.endsWith(`Report: ${join(reports, 'selection', 'index.html')}\n`)).toBe(true);
    expect(stderr).toMatch(/^search: started 1 check, in simulated time\nsearch: finished 1 of 1\n$/);
    expect(stdout + stderr).not.toContain(SGR);
  });

  it('is the verdict alone when it is to be quiet', async () => {
    const { stdout, stderr } = await conform(shortRun('--quiet').args).ended;
    expect(stdout).toMatch(/^◐ No verdict: /);
    expect(stderr).toBe('');
  });

  it.skipIf(!existsSync('/dev/full'))('is the verdict also where progress cannot be told', () => {
    const command = [process.execPath, 'harness/cli/main.ts', ...shortRun().args, '2> /dev/full'].join(' ');
    const { status, stdout } = spawnSync('bash', ['-c', command], { cwd: ROOT, encoding: 'utf8' });
    expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringMatching(/^◐ No verdict/m) });
  });

  it.skipIf(NO_TERMINAL)('has colour at a terminal', async () => {
    const { status, stdout } = await atTerminal(shortRun().args);
    expect(status).toBe(0);
    expect(stdout).toMatch(COLOUR);
  });

  it.skipIf(NO_TERMINAL)(
    'has none where NO_COLOR is set; and names every check when it is to be verbose',
    async () => {
      const { status, stdout } = await atTerminal(shortRun('--verbose').args, { env: { NO_COLOR: '1' } });
      expect(status).toBe(0);
      expect(stdout).not.toMatch(COLOUR);
      expect(stdout).toMatch(/^ {2}pass +status\.sample · /m);
    },
  );
});

/** Each is wrong in one way; `URL` stands for a server that counts who connects to it. */
const NOTHING_SENT: readonly (readonly [args: string, says: RegExp])[] = [
  ['run serch', /no service "serch" in .*\n {2}remedy: did you mean search\?/],
  ['run search --url URL --suite jsn', /no suite matches "jsn"\n {2}remedy: did you mean json\?/],
  ['run search --url URL --suite json search', /no suite matches "search"\n {2}remedy: name services before/],
  ['run search --url URL --check auth.mis', /no check matches "auth\.mis"\n {2}remedy: did you mean auth\./],
  ['run search --url URL --check *.nope', /no check matches "\*\.nope"\n {2}remedy: /],
  [
    'run search --url URL --environment stagng',
    /no environment "stagng"\n {2}remedy: did you mean staging\?/,
  ],
  ['run search --url URL --stricct', /unknown option '--stricct'\n\(Did you mean --strict\?\)/],
  ['run --url URL', /--url is for one service, not for 3\n {2}remedy: name the service/],
  ['run search --url not-a-url', /--url: is not a URL/],
  ['run search --url URL --reports /proc/nope', /cannot make \/proc\/nope: .*\n {2}remedy: .*--reports/],
  ['run search --url URL --reports package.json', /cannot make .*package\.json: a file is in the way\n/],
];

describe('a usage error ends with 2 before anything is sent', () => {
  it.for(NOTHING_SENT)('conform %s', async ([args, says]) => {
    const { code, stdout, stderr } = await conformHere(args.replace('URL', server.url).split(' '));
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(says);
    expect(stderr).not.toMatch(/^ {4}at /m);
    expect(server.requests()).toBe(0);
  });

  it('also for a config that is wrong, and leaves no reports', async () => {
    const config = join(temporaryFolder(), 'config');
    cpSync(join(ROOT, 'config'), config, { recursive: true });
    const file = join(config, 'services/search.yaml');
    writeFileSync(
      file,
      readFileSync(file, 'utf8').replace('{ reference: search }', '{ reference: search, defects: [nope] }'),
    );
    const reports = reportsFolder();
    const { code, stderr } = await conformHere(['run', '--config', config, '--reports', reports]);
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /^conform: .*search\.yaml:\d+:\d+: provider\.defects\.0: there is no defect "nope"/,
    );
    expect(runFolders(reports)).toEqual([]);
  });
});

describe.concurrent('reports that cannot be written', () => {
  it('are a fault of the harness that costs no verdict', async () => {
    const { args, reports } = shortRun();
    const file = join(reports, 'selection/junit');
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, '');
    const elsewhere = temporaryFolder();
    const { code, stdout, stderr } = await conform(args, { TMPDIR: elsewhere }).ended;
    expect(code).toBe(70);
    expect(stdout).toMatch(/^. search {2}.*1 passed · /);
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain(`cannot write reports below ${file}: it is a file`);
    expect(stdout).toMatch(/exit code 70$/m);
    const [, page = ''] = /Report: (\S+index\.html)$/m.exec(stdout) ?? [];
    expect(page.startsWith(`${elsewhere}/`)).toBe(true);
    expect(existsSync(page)).toBe(true);
    expect(stderr).not.toMatch(/^ {4}at /m);
  });
});

describe.concurrent('--watch', () => {
  it('runs again when the config changes, survives a slip in it, and ends with the last exit code', async () => {
    const place = temporaryFolder();
    const config = join(place, 'config');
    const reports = join(place, 'reports');
    cpSync(join(ROOT, 'config'), config, { recursive: true });
    const file = join(config, 'services/search.yaml');
    const good = readFileSync(file, 'utf8');
    const args = `run search --check status.sample --config ${config} --reports ${reports} --watch`.split(
      ' ',
    );
    // In one step, so that it is one change.
    const replace = (text: string) => {
      writeFileSync(join(place, 'next.yaml'), text);
      renameSync(join(place, 'next.yaml'), file);
    };
    const run = conform(args);
    const waitings = () => run.stderr().split('waiting for a change').length - 1;
    const waited = (times: number) =>
      until(
        () => `it waits:\n${run.stderr()}`,
        () => waitings() >= times,
        run.running,
      );

    await waited(1);
    replace(good.replace('contract: search', 'contract: serch'));
    await waited(2);
    expect(run.stderr()).toMatch(/there is no contract "serch"/);
    replace(good);
    await waited(3);
    run.signal('SIGINT');
    const { code, stdout } = await run.ended;
    expect(code).toBe(0);
    expect(stdout.match(/^◐ No verdict/gm)?.length).toBeGreaterThanOrEqual(2);
    expect(existsSync(join(reports, 'selection/results.json'))).toBe(true);
    expect(run.left()).toEqual([]);
  });
});

import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../base/fixtures/folder.ts';
import { atTerminal, conform, conformFromSource, NO_TERMINAL } from '../engine/fixtures/conform-process.ts';
import { conformingService, resultsOf } from '../report/fixtures/sample-results.ts';
import { writeReports } from '../report/write.ts';
import { conformHere, saying } from './fixtures/in-process.ts';

/** Commands that send nothing, as a user meets them: by what they print and how they end. */

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const folder = temporaryFolder();

const HELP = ['run', 'list', 'explain', 'config', 'serve', 'report', 'init'];

describe('help', () => {
  it('names every command and every exit code', async () => {
    const { code, stdout, stderr } = await conform(['--help']).ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const command of HELP) expect(stdout).toMatch(new RegExp(`^ {2}${command}\\b`, 'm'));
    for (const exit of [0, 1, 2, 3, 70]) expect(stdout).toMatch(new RegExp(`^ {2}${exit} +\\S`, 'm'));
    expect(stdout).not.toContain('(default: false)');
    expect(stdout.endsWith('\n')).toBe(true);
  });

  it('is shown, as a usage error, when no command is given', async () => {
    const { code, stdout, stderr } = await conform([]).ended;
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('Usage: conform');
  });

  it('of a command is the same by either way', async () => {
    const one = await conformHere(['help', 'run']);
    const other = await conformHere(['run', '--help']);
    expect(one).toEqual(other);
    expect(one.code).toBe(0);
    expect(one.stdout).toContain('Examples:');
  });

  it('shows the version', async () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
    expect(await conform(['--version']).ended).toMatchObject({ code: 0, stdout: `${version}\n`, stderr: '' });
  });
});

/** What is wrong, and what the error must say: what it is, and the nearest right thing or where to look. */
const USAGE: readonly (readonly [args: string, says: RegExp])[] = [
  ['rnu', /unknown command 'rnu'\n\(Did you mean run\?\)/],
  ['help rnu', /there is no command "rnu"\n {2}remedy: did you mean run\?/],
  ['run --suit json', /unknown option '--suit'\n\(Did you mean --suite\?\)\n\(see `conform run --help`\)/],
  ['run --concurrency none', /'-j, --concurrency <n>' argument 'none' is invalid/],
  ['run --quiet --verbose', /'-q, --quiet' cannot be used with option '-v, --verbose'/],
  ['list --service serch', /no service "serch" in config\/services\n {2}remedy: did you mean search\?/],
  [
    'list --service search --environment stagin',
    /no environment "stagin"\n {2}remedy: did you mean staging\?/,
  ],
  ['explain', /missing required argument 'check-id'/],
  [
    'explain auth.missing-credentials',
    /no check is called .*\n {2}remedy: did you mean auth.missing-credential/,
  ],
  ['config serch', /no service "serch"/],
  ['config search --environment stagin', /config\/services\/search\.yaml:\d+:\d+: .*"stagin"/],
  ['config --config nowhere', /^conform: nowhere\/services: there is no service here\n {2}remedy: /],
  ['serve', /no reference provider is named\n {2}remedy: name one of search, messaging, realtime/],
  ['serve serch', /no reference provider "serch"\n {2}remedy: did you mean search\?/],
  ['serve search --port 70000', /'--port <port>' argument '70000' is invalid/],
  ['serve search --plan many', /--plan "many" is no quota\n {2}remedy: write it like 100\/60s/],
  ['serve search --defect json-bomm', /no defect "json-bomm"\n {2}remedy: did you mean json-bom\?/],
  ['serve search --variant nope', /no variant "nope"/],
  ['report nowhere.json', /^conform: nowhere\.json: cannot be read: no such file\n {2}remedy: /],
  ['report nowhere.ndjson', /cannot read the journal nowhere\.ndjson.*\n {2}remedy: /],
  ['report package.json', /^conform: package\.json: .*not a results file/],
  ['init', /^conform: --service is needed without a terminal\n {2}remedy: for example: conform init /],
  [
    'init --service x --url http://127.0.0.1:1 --sample-path /x --scheme bearr --key-env K',
    /^conform: scheme: is no credential scheme\n {2}remedy: did you mean bearer\?/,
  ],
];

describe('a wrong command line', () => {
  it.for(USAGE)('conform %s', async ([args, says]) => {
    const { code, stdout, stderr } = await conformHere(args.split(' '));
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(says);
    expect(stderr).toMatch(/^conform: .*\n$/s);
    expect(stderr).not.toMatch(/^ {4}at /m);
  });
});

describe('what a file or a command line holds for a terminal', () => {
  it.each([
    ['report', '\x1b]0;owned\x07.json'],
    ['run', '--\x1b[2J'],
    ['explain', '\x1b[31mauth.none'],
    ['\x1b[2Jrun', ''],
    ['help', '\x9b2J'],
    ['clauses', '\u202elimits'],
    ['report', 'results\x1b[1A.json', '--format', '\x1b[8m'],
  ])('never gets there: %j %j', async (...args) => {
    const { code, stdout, stderr } = await conformHere(args.filter((each) => each !== ''));
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).not.toMatch(/[^\P{C}\n]/u);
  });

  it('is no order to a CI system either', async () => {
    const { stderr } = await conform(['rnu\n::error::owned']).ended;
    expect(stderr).toContain('\n: :error::owned');
  });

  it('never gets there from an unknown key of a config', async () => {
    const own = join(folder, 'keys');
    mkdirSync(join(own, 'services'), { recursive: true });
    writeFileSync(join(own, 'services', 'a.yaml'), '"\\e[2J\\x9d": 1\nservice: a\n');
    const { code, stderr } = await conformHere(['config', 'a', '--config', own]);
    expect(code).toBe(2);
    expect(stderr).toContain('a.yaml:1:1');
    expect(stderr).not.toMatch(/[^\P{C}\n]/u);
  });
});

describe('list', () => {
  it('shows every check under its suite', async () => {
    const { code, stdout, stderr } = await conformHere(['list']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(
      /^auth\n {2}auth\.missing-credential {2,}api {2,}refuses .* \[errors\.codes; auth\.scheme\]/,
    );
    const [, count] = /\n\n(\d+) checks\n$/.exec(stdout) ?? [];
    expect(stdout.split('\n').filter((line) => /^ {2}\S/.test(line))).toHaveLength(Number(count));
  });

  it('shows how each stands for a service, and why where it is not judged', async () => {
    const { stdout } = await conformHere(['list', '--service', 'realtime']);
    expect(stdout).toMatch(/^ {2}auth\.missing-credential +api +MUST /m);
    expect(stdout).toMatch(
      /^ {2}versioning\.prefix +api +not judged .*\(versioning\.prefix is not shown in the contract\)$/m,
    );
  });

  it('is data on demand', async () => {
    const { code, stdout } = await conformHere(['list', '--json', '--service', 'search']);
    const rows = JSON.parse(stdout) as readonly { id: string; level: string }[];
    expect(code).toBe(0);
    expect(rows.find(({ id }) => id === 'auth.missing-credential')).toMatchObject({
      suite: 'auth',
      level: 'MUST',
      notJudged: null,
    });
  });

  it('ends well when its reader has seen enough', () => {
    const command = `set -o pipefail; "${process.execPath}" harness/cli/main.ts list --json | head -1`;
    const { status, stdout, stderr } = spawnSync('bash', ['-c', command], { cwd: ROOT, encoding: 'utf8' });
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '[\n', stderr: '' });
  });

  it('says when it cannot write', () => {
    const command = `"${process.execPath}" harness/cli/main.ts list > /dev/full`;
    const { status, stderr } = spawnSync('bash', ['-c', command], { cwd: ROOT, encoding: 'utf8' });
    expect(`${status}: ${stderr}`).toMatch(/^70: .*cannot write .*ENOSPC/);
  });
});

describe('explain', () => {
  it('tells the grounds for each service, with what stands at their place', async () => {
    const { code, stdout, stderr } = await conformHere(['explain', 'versioning.prefix']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(
      /^versioning\.prefix \(versioning\)\nThe service .*\.\n\nWhen it fails\n {2}The documented path .* gets something else\.\n\nWhy it matters\n {2}.*\.\n\nWhat to change\n {2}.*\.\n\nGrounds\n/,
    );
    expect(stdout).toMatch(/^ {2}search: a violation fails$/m);
    expect(stdout).toMatch(
      /^ {4}clause versioning\.prefix, stated: search-service\.md, Versioning, row 1 = \/v1$/m,
    );
    expect(stdout).toMatch(/^ {2}realtime: not judged, versioning\.prefix is not shown in the contract$/m);
  });

  it('needs no config', async () => {
    const { code, stdout, stderr } = await conformHere(['explain', 'auth.challenge', '--config', 'nowhere']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ {2}RFC 9110 §11\.6\.1 \(MUST\)$/m);
    expect(stderr).toMatch(/^conform: cannot show how it applies to your services: nowhere/);
  });
});

describe('config', () => {
  it('shows each value with its origin, and no secret', async () => {
    const { code, stdout, stderr } = await conformHere(['config', 'search']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^service: search # config\/services\/search\.yaml:\d+:\d+$/m);
    expect(stdout).toMatch(/key: "\[secret SEARCH_API_KEY\]"/);
    expect(stdout).not.toContain('example-key-for-tests');
  });

  it('shows all services when none is named', async () => {
    const { stdout } = await conformHere(['config']);
    const names = [...stdout.matchAll(/^service: (\w+)/gm)].map(([, name]) => name);
    expect(names).toEqual(['messaging', 'realtime', 'search']);
  });
});

describe('init', () => {
  it('writes a config that loads, says what is next, and overwrites nothing', async () => {
    const config = join(folder, 'first');
    const answers =
      '--service orders --url http://127.0.0.1:9 --sample-path /v1/orders --scheme bearer --key-env ORDERS_API_KEY';
    const args = ['init', ...answers.split(' '), '--config', config];
    const { code, stdout, stderr } = await conformHere(args);
    expect(code).toBe(0);
    expect(stdout).toBe(`wrote ${config}/services/orders.yaml\nwrote ${config}/contracts/orders.yaml\n`);
    expect(stderr).toMatch(/^The sample was not tried: .*ORDERS_API_KEY/);
    expect(stderr).toContain(`ORDERS_API_KEY, then run \`conform run orders --config ${config}\``);

    const env = { ORDERS_API_KEY: 'example-orders-key-for-tests' };
    expect(await conformHere(['config', 'orders', '--config', config], env)).toMatchObject({ code: 0 });
    expect(saying(await conformHere(args))).toMatch(/^2: .*is there already/);
  });

  it.skipIf(NO_TERMINAL)('asks at a terminal, and keeps answers that are pasted at once', async () => {
    const config = join(folder, 'asked');
    const { status, stdout } = await atTerminal(['init', '--config', config], {
      typed: 'My Shop\nshop\nhttp://127.0.0.1:9\nv1\n/v1\n\nSHOP_KEY\n',
    });
    expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringContaining('Scheme (bearer, ') });
    // What does not fit is asked for again, at once.
    expect(stdout).toContain('that is no name for a service: use lower-case letters, digits and hyphens');
    expect(stdout).toContain('that is no path: ');
    const written = readFileSync(join(config, 'services/shop.yaml'), 'utf8');
    expect(written).toContain('url: "http://127.0.0.1:9"');
    expect(written).toContain(`scheme: bearer # Authorization: Bearer KEY\n  key: \${env:SHOP_KEY}`);
  });

  it('takes what an OpenAPI document states, and tells what the sample is answered', async () => {
    const config = join(folder, 'documented');
    const document = join(ROOT, 'harness/cli/package/fixtures/orders/openapi.yaml');
    const args = ['init', '--service', 'orders', '--url', 'http://127.0.0.1:9', '--openapi', document];
    const env = { ORDERS_KEY: 'example-orders-key-for-tests' };
    const { code, stderr } = await conformHere([...args, '--key-env', 'ORDERS_KEY', '--config', config], env);
    expect(code).toBe(0);
    expect(stderr).toMatch(/^(?:The sample does not work|GET \/v1\/orders was not answered): .*ECONNREFUSED/);
    const written = readFileSync(join(config, 'services/orders.yaml'), 'utf8');
    expect(written).toMatch(/^ {2}scheme: bearer /m);
    expect(written).toMatch(/^openapi: ".*orders\/openapi\.yaml"$/m);
    expect(await conformHere(['config', 'orders', '--config', config], env)).toMatchObject({ code: 0 });
  });

  it.skipIf(NO_TERMINAL)('writes nothing when there is no answer', async () => {
    const config = join(folder, 'silent');
    const replies = [['Name of the service: ', 'shop\n'] as const, ['Base URL', '\x04'] as const];
    const { status, stdout } = await atTerminal(['init', '--config', config], { replies });
    expect(`${status}: ${stdout}`).toMatch(/^2: .*nothing was written/s);
    expect(existsSync(config)).toBe(false);
  });
});

describe('report', () => {
  const reports = join(folder, 'rendered');
  beforeAll(() => {
    writeReports(resultsOf([conformingService()]), { reportsDir: reports, journalPath: null });
  });

  it('renders results again and names the files', async () => {
    const input = join(reports, 'latest', 'results.json');
    const { code, stdout, stderr } = await conformHere(['report', input, '--format', 'markdown,junit']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.trim().split('\n')).toContainEqual(expect.stringMatching(/summary\.md$/));
    expect(stdout).not.toMatch(/index\.html/);
  });

  it('takes a path of one part and another place for the reports', async () => {
    const other = join(folder, 'elsewhere');
    const here = join(reports, 'latest');
    const { code } = await conformHere(['report', 'results.json', '--reports', other], {}, here);
    expect(code).toBe(0);
    expect(readFileSync(join(other, 'latest', 'index.html'), 'utf8')).toContain('</html>');
  });

  it('leaves the folders around a file alone that lies in no reports', async () => {
    const downloads = join(folder, 'home', 'downloads');
    mkdirSync(downloads, { recursive: true });
    cpSync(join(reports, 'latest', 'results.json'), join(downloads, 'results.json'));
    const { code } = await conformHere(['report', 'results.json'], {}, downloads);
    expect(code).toBe(0);
    expect(readdirSync(join(folder, 'home'))).toEqual(['downloads']);
    expect(readdirSync(downloads).sort()).toEqual(['reports', 'results.json']);
  });

  it('refuses what is no journal, and formats that are none', async () => {
    mkdirSync(join(folder, 'odd'));
    const journal = join(folder, 'odd', 'journal.ndjson');
    writeFileSync(journal, '{"a":1}\nrubbish\n');
    expect(saying(await conformHere(['report', journal]))).toMatch(/^2: .*no journal of a run/);
    const args = ['report', join(reports, 'latest', 'results.json'), '--format', 'htm'];
    expect(saying(await conformHere(args))).toMatch(
      /^2: .*no report format is called "htm"\n {2}remedy: did you mean html\?/,
    );
  });
});

describe.concurrent('starting', () => {
  /** Tells, at the end, the address of every module that was loaded. */
  const telling = `--import=data:text/javascript,${encodeURIComponent(`
    import { registerHooks } from 'node:module';
    const loaded = [];
    registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
    process.on('exit', () => process.stderr.write(loaded.join('\\n')));
  `)}`;

  it.for([['--version'], ['--help'], ['run', '--nope']])(
    '%s loads neither engine nor client',
    async (args) => {
      const { stderr } = await conformFromSource(args, { NODE_OPTIONS: telling }).ended;
      expect(stderr).toContain('harness/cli/main.ts');
      expect(stderr).not.toMatch(/node_modules\/(?!commander|fastest-levenshtein)/);
    },
  );

  it('is seen to load what a command needs', async () => {
    const { stderr } = await conformFromSource(['list'], { NODE_OPTIONS: telling }).ended;
    expect(stderr).toMatch(/harness\/cli\/commands\/list/);
    expect(stderr).not.toMatch(/node_modules\/(?:vitest|vite)\//);
  });
});

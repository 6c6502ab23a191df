import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadServices } from '../config/load.ts';
import { openRuntime } from '../provider/container/runtime.ts';
import { noContainerRuntime, providerImage } from '../provider/fixtures/provider-image.ts';
import type { Results } from '../report/results.ts';

/** Whether an image may ship, decided by the command line alone, with the example of the shipped config. */

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const MAIN = join(ROOT, 'harness/cli/main.ts');
const README = readFileSync(join(ROOT, 'README.md'), 'utf8');
const SHIPPED = readFileSync(join(ROOT, 'config/services/search.yaml'), 'utf8');
const KEY = 'example-release-key-for-tests';
const SECOND_KEY = 'example-second-key-for-tests';
/** So small that meeting the limit costs seconds, so large that the other suites fit into a window. */
const PLAN = '\nplan: { requests: 120, window: 3s }\n';
const LONG_MS = 60_000;

const none = await noContainerRuntime();
const folders: string[] = [];

afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** The shipped config, with a release environment of one's own and a plan that is met in seconds. */
function releaseFolder(environment: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'conform-release-'));
  folders.push(folder);
  cpSync(join(ROOT, 'config'), join(folder, 'config'), { recursive: true });
  const [before = ''] = SHIPPED.split(/^ {2}# A release candidate of one's own/m);
  writeFileSync(join(folder, 'config/services/search.yaml'), before + environment + PLAN);
  return folder;
}

/** The commented example of the shipped config in force. */
function example(env: Readonly<Record<string, string>>): string {
  const commented = /^ {2}# release:\n(?: {2}# .*\n)+/m.exec(SHIPPED)?.[0] ?? '';
  return commented
    .replaceAll(/^ {2}# /gm, '  ')
    .replace('{ http: /healthz }', '{ log: listening }')
    .replace(/( +)limits:/, (line, indent) => `${indent}env: ${JSON.stringify(env)}\n${line}`);
}

interface Shipped {
  readonly code: number | null;
  readonly stderr: string;
  readonly results: Results;
  readonly log: () => string;
}

interface ReleaseOptions {
  /** In place of the example. */
  readonly environment?: string;
  /** Variables of the provider, and of the harness. */
  readonly provider?: Readonly<Record<string, string>>;
  readonly harness?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  /** Called once, when checks are being judged. */
  readonly whileJudged?: (harness: ChildProcess) => void;
}

async function release(image: string, options: ReleaseOptions = {}): Promise<Shipped> {
  const folder = releaseFolder(options.environment ?? example({ PLAN: '120/3000', ...options.provider }));
  const args = ['run', 'search', '--environment', 'release', '--strict', ...(options.args ?? [])];
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd: folder,
    env: {
      ...process.env,
      SEARCH_API_KEY: KEY,
      SEARCH_API_KEY_2: SECOND_KEY,
      SEARCH_RELEASE_IMAGE: image,
      SEARCH_STAGING_URL: 'http://127.0.0.1:1',
      ...options.harness,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    const before = stderr;
    stderr += chunk;
    const judging = (text: string) => /started \d+ checks/.test(text);
    if (judging(stderr) && !judging(before)) options.whileJudged?.(child);
  });
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  // Without reports there is nothing to show but what it said.
  if (!existsSync(join(folder, 'reports/latest/results.json')))
    throw new Error(`exit code ${code}: ${stderr}`);
  const latest = (name: string) => readFileSync(join(folder, 'reports/latest', name), 'utf8');
  for (const name of ['results.json', 'journal.ndjson', 'index.html', 'junit.xml']) {
    for (const key of [KEY, SECOND_KEY]) expect(latest(name)).not.toContain(key);
  }
  return { code, stderr, results: JSON.parse(latest('results.json')), log: () => latest('logs/search.log') };
}

/** With why not, should it not ship. */
const verdictOf = (shipped: Shipped) => ({
  code: shipped.code,
  said: shipped.code === 0 ? '' : shipped.stderr,
  failed: messages(shipped, 'fail'),
  blocked: messages(shipped, 'blocked'),
});
const SHIPS = { code: 0, said: '', failed: [], blocked: [] };

const messages = ({ results }: Shipped, outcome: string) =>
  results.services
    .flatMap(({ checks }) => checks.filter((check) => check.outcome === outcome))
    .map(({ message }) => message);

describe('the release environment of the README', () => {
  const load = async (environment: string) => {
    const folder = releaseFolder(environment);
    const env = {
      SEARCH_API_KEY: KEY,
      SEARCH_RELEASE_IMAGE: 'search:1',
      SEARCH_STAGING_URL: 'http://127.0.0.1:1',
    };
    const options = { configDir: join(folder, 'config'), services: ['search'], environment: 'release', env };
    return (await loadServices(options)).services[0]?.config.provider;
  };

  it('is one that can be loaded', async () => {
    const [, block = ''] = /```yaml\n(release:\n.*?)```/s.exec(README) ?? [];
    expect(await load(block.replaceAll(/^/gm, '  '))).toMatchObject({
      kind: 'container',
      image: { kind: 'image', name: 'search:1' },
      companions: [{ name: 'cache', capabilities: ['SETUID', 'SETGID'] }],
    });
  });

  it('may have a command in its place', async () => {
    const [, provider = ''] = /^`(provider: \{ command: .*\})`/m.exec(README) ?? [];
    expect(await load(`  release: { ${provider}, extends: staging }\n`)).toMatchObject({ kind: 'command' });
  });
});

describe('an image without a container runtime', () => {
  it('is not judged, and that is known at once', async () => {
    const started = performance.now();
    const shipped = await release('search:1', { harness: { DOCKER_HOST: 'unix:///no/such.sock' } });
    expect(shipped.code).toBe(3);
    expect(shipped.results.services[0]?.trouble).toBe(
      'its provider did not start: no container runtime: there is no socket /no/such.sock (named by DOCKER_HOST)',
    );
    expect(shipped.results.totals.blocked).toBe(shipped.results.services[0]?.checks.length);
    expect(performance.now() - started).toBeLessThan(20_000);
  });
});

describe('a program of this machine', () => {
  const serve = [process.execPath, MAIN, 'serve', 'search', '--port', `${'$'}{PORT}`, '--plan', '120/3s'];
  const environment = (...more: readonly string[]) => `  release:
    extends: staging
    provider: { command: { run: ${JSON.stringify([...serve, ...more])}, cwd: ../.., url: "http://127.0.0.1:${'$'}{PORT}" } }
    safety: { exceedRateLimit: true }
`;

  it('ships: it conforms', { timeout: LONG_MS }, async () => {
    const shipped = await release('', { environment: environment() });
    expect(verdictOf(shipped)).toEqual(SHIPS);
    expect(shipped.results.services[0]?.provider.kind).toBe('command');
    expect(shipped.log()).toContain('Ctrl-C ends it');
  });

  it('does not: it breaks the contract', { timeout: LONG_MS }, async () => {
    const shipped = await release('', {
      environment: environment('--defect', 'refusal-without-challenge'),
      args: ['--suite', 'authentication'],
    });
    expect(shipped.code).toBe(1);
  });
});

describe.skipIf(none !== null)(`a release${none === null ? '' : ` (${none})`}`, () => {
  let image = '';
  beforeAll(async () => {
    image = await providerImage();
  }, 120_000);

  /** Nothing of any run is left. */
  async function expectNothingLeft({ results }: Shipped): Promise<void> {
    const { docker } = await openRuntime();
    const filters = { label: [`conform.run=${results.run.id}`] };
    const left = async () => (await docker.listContainers({ all: true, filters })).map(({ Names }) => Names);
    // A harness that is made to end at once leaves it to its caretaker.
    await expect.poll(left, { timeout: 10_000, interval: 100 }).toEqual([]);
  }

  it('ships: the image conforms', { timeout: LONG_MS }, async () => {
    const shipped = await release(image);
    expect(verdictOf(shipped)).toEqual(SHIPS);
    expect(shipped.results.services[0]?.provider).toMatchObject({
      kind: 'container',
      image: expect.stringMatching(/^conform-built\/fixture-provider:latest \(sha256:/),
    });
    expect(shipped.results.totals.pass).toBeGreaterThan(30);
    expect(shipped.log()).toMatch(/^listening on 8080\nGET /);
    await expectNothingLeft(shipped);
  });

  it('does not: it breaks the contract', { timeout: LONG_MS }, async () => {
    const shipped = await release(image, {
      provider: { DEFECT: 'refusal-without-challenge' },
      args: ['--suite', 'authentication'],
    });
    expect(shipped.code).toBe(1);
    expect(messages(shipped, 'fail').join()).toMatch(/WWW-Authenticate/);
    await expectNothingLeft(shipped);
  });

  it('does not: it exits at its start', { timeout: LONG_MS }, async () => {
    const shipped = await release(image, { provider: { FAULT: 'exit' } });
    expect(shipped.code).toBe(3);
    expect(shipped.results.services[0]?.trouble).toBe(
      'its provider did not start: the container exited with code 7 before it was ready; its last lines: ' +
        'cannot reach the index with the key [redacted:SEARCH_API_KEY]',
    );
    expect(shipped.log()).toBe('cannot reach the index with the key [redacted:SEARCH_API_KEY]\n');
    expect(new Set(messages(shipped, 'blocked')).size).toBe(1);
    await expectNothingLeft(shipped);
  });

  it('does not: it dies while it is judged', { timeout: LONG_MS }, async () => {
    const shipped = await release(image, {
      provider: { FAULT: 'die:20' },
      args: ['--suite', 'authentication', 'json'],
    });
    expect(shipped.code).not.toBe(0);
    expect(shipped.results.services[0]?.trouble).toMatch(
      /container exited with code 9; its last lines: .*the index is corrupt/,
    );
    expect(messages(shipped, 'blocked').join('\n')).toMatch(
      /^the provider .*: the container exited with code 9; its last lines: /m,
    );
    await expectNothingLeft(shipped);
  });

  it.each([
    ['is interrupted', ['SIGINT']],
    ['is interrupted twice', ['SIGINT', 'SIGINT']],
  ] as const)('does not: the run %s', { timeout: LONG_MS }, async (_what, signals) => {
    const shipped = await release(image, {
      whileJudged: (harness) => {
        for (const [index, signal] of signals.entries()) setTimeout(() => harness.kill(signal), 20 * index);
      },
    });
    expect(shipped.code).toBe(3);
    expect(shipped.results.run.interruption).toMatch(/SIGINT/);
    await expectNothingLeft(shipped);
  });

  it('does not: there is no such image', { timeout: LONG_MS }, async () => {
    const shipped = await release('localhost:1/no/such/image:1');
    expect(shipped.code).toBe(3);
    expect(shipped.results.services[0]?.trouble).toMatch(
      /the image localhost:1\/no\/such\/image:1 is not there/,
    );
  });
});

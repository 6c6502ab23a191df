import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/**
 * What somebody meets who has never seen `conform`: the packed package, an empty folder, a service of theirs with an
 * OpenAPI document, two commands. Then the same service with each of five faults, and the other commands. Exits with 1
 * when one of them does not what it should. `npm run newcomer`; needs what npm needs to install packages.
 */
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const SERVICE = fileURLToPath(new URL('fixtures/orders/service.ts', import.meta.url));
const OPENAPI = fileURLToPath(new URL('fixtures/orders/openapi.yaml', import.meta.url));
const PACT = fileURLToPath(new URL('fixtures/orders/pact.json', import.meta.url));
/** The oldest that the package runs on, and the newest. */
const NODES = ['22.12.0', '26.10.0'];
/** In ms: from nothing to the verdict, installation aside. */
const PATIENCE_MS = 120_000;
const KEY = 'example-key-not-secret';

/** Each fault of the service, with a check that must fail of it. */
const FAULTS: Readonly<Record<string, string>> = {
  'any-key': 'auth.wrong-credential',
  'no-challenge': 'auth.challenge',
  'html-errors': 'json.error-media-type',
  'wrong-type': 'operations.schema',
  'bad-input-crashes': 'operations.negative-type',
};

/** What `pact verify` ends with where the service has that fault. */
const PACT_VERDICTS: Readonly<Record<string, number>> = { none: 0, 'wrong-type': 1 };

const PACKAGE = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const execute = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'conform-newcomer-'));
const children: ChildProcess[] = [];
const met = { passed: 0, failed: 0 };

try {
  const { stdout } = await execute('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: ROOT });
  await npm('init', '-y');
  await npm('install', join(folder, stdout.trim()));
  for (const version of NODES) await visit(version);
} finally {
  for (const child of children) child.kill();
  rmSync(folder, { recursive: true, force: true });
}
process.stdout.write(`${met.passed} passed, ${met.failed} failed\n`);
process.exitCode = met.failed === 0 ? 0 : 1;

/** One Node, from an empty `conformance` folder on. */
async function visit(version: string): Promise<void> {
  const runtime = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
  await npm('install', '--no-save', `${runtime}@${version}`);
  const node = join(folder, 'node_modules', runtime, 'bin', 'node');
  const config = `conformance-${version}`;
  const { stdout: told } = await conform(node, ['--version']);
  expectThat(version, '--version is that of the package', told === `${PACKAGE.version}\n`, told);
  const url = await startService('none');
  const beganMs = performance.now();
  const init = [
    'init',
    '--service',
    'orders',
    '--url',
    url,
    '--openapi',
    OPENAPI,
    '--key-env',
    'ORDERS_API_KEY',
  ];
  const first = await conform(node, [...init, '--config', config]);
  expectThat(version, 'init writes a config', first.status === 0, first.stderr);
  const run = ['run', 'orders', '--config', config, '--reports', `reports-${version}`];
  const verdict = await conform(node, run);
  const tookMs = performance.now() - beganMs;
  expectThat(
    version,
    `two commands, ${(tookMs / 1000).toFixed(1)} s: conforms`,
    verdict.status === 0 && tookMs < PATIENCE_MS,
    verdict.stdout,
  );
  for (const [fault, check] of Object.entries(FAULTS)) {
    const faulty = await conform(node, [...run, '--provider-url', await startService(fault)]);
    const found = failedChecks(join(folder, `reports-${version}`));
    expectThat(
      version,
      `${fault}: ${check} fails`,
      faulty.status === 1 && found.includes(check),
      faulty.stdout,
    );
  }
  await report(version, node);
  await verifyPacts(version, node, config);
  await serve(version, node);
}

/** The reports of the last run, a failing one, are lost and written again. */
async function report(version: string, node: string): Promise<void> {
  const latest = join(folder, `reports-${version}`, 'latest');
  rmSync(join(latest, 'index.html'));
  const { status, stdout } = await conform(node, ['report', join(latest, 'results.json')]);
  const page = existsSync(join(latest, 'index.html')) ? readFileSync(join(latest, 'index.html'), 'utf8') : '';
  const isWritten = page.includes(Object.values(FAULTS).at(-1) ?? '');
  expectThat(
    version,
    'report writes the page, and has the exit code of its run',
    isWritten && status === 1,
    stdout,
  );
}

/** Green for what was promised, red where a consumer gets something else. */
async function verifyPacts(version: string, node: string, config: string): Promise<void> {
  const verify = [
    'pact',
    'verify',
    'orders',
    '--pact',
    PACT,
    '--config',
    config,
    '--reports',
    `pacts-${version}`,
  ];
  for (const [fault, wanted] of Object.entries(PACT_VERDICTS)) {
    const url = await startService(fault);
    const { status, stdout, stderr } = await conform(node, [...verify, '--provider-url', url]);
    expectThat(
      version,
      `pact verify of a service with ${fault}: exit ${wanted}`,
      status === wanted,
      stdout + stderr,
    );
  }
}

/** A reference provider answers as it says that it does, and ends when it is told to. */
async function serve(version: string, node: string): Promise<void> {
  const child = started(node, ['serve', 'search']);
  let page = '';
  for await (const line of createInterface({ input: child.stdout })) {
    page += `${line}\n`;
    if (line.startsWith('Ctrl-C')) break;
  }
  const [, credential = '', url = ''] = /-H "Authorization: ([^"]+)".* "(http[^"]+)"/.exec(page) ?? [];
  const statuses = [];
  for (const headers of [{ authorization: credential }, {}]) {
    statuses.push((await fetch(url, { headers })).status);
  }
  const ended = once(child, 'close');
  child.kill('SIGTERM');
  const [status] = await ended;
  const holds = String([...statuses, status]) === '200,401,0';
  expectThat(version, 'serve answers with the key it names, refuses without, and ends', holds, page);
}

function expectThat(version: string, what: string, holds: boolean, shown: string): void {
  met[holds ? 'passed' : 'failed'] += 1;
  process.stdout.write(`${holds ? 'ok    ' : 'FAILED'}  Node ${version}  ${what}\n${holds ? '' : shown}`);
}

function failedChecks(reports: string): readonly string[] {
  const { services } = JSON.parse(readFileSync(join(reports, 'latest/results.json'), 'utf8'));
  return services
    .flatMap(({ checks }: { readonly checks: readonly object[] }) => checks)
    .filter(({ outcome }: { readonly outcome: string }) => outcome === 'fail')
    .map(({ id }: { readonly id: string }) => id);
}

/** The address of the service with that fault. */
async function startService(fault: string): Promise<string> {
  const child = spawn(process.execPath, [SERVICE, KEY, fault], { stdio: ['pipe', 'pipe', 'inherit'] });
  children.push(child);
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  return String(line);
}

async function npm(...args: readonly string[]): Promise<void> {
  await execute('npm', [...args, '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder });
}

function started(node: string, args: readonly string[]) {
  const child = spawn(node, [join(folder, 'node_modules/.bin/conform'), ...args], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: [dirname(node), process.env.PATH].join(delimiter), ORDERS_API_KEY: KEY },
    timeout: PATIENCE_MS,
  });
  children.push(child);
  return child;
}

async function conform(node: string, args: readonly string[]) {
  const child = started(node, args);
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const [status] = await once(child, 'close');
  return { status, stdout, stderr };
}

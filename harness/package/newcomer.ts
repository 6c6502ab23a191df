import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/**
 * What somebody meets who has never seen `conform`: the packed package, an empty folder, a service of theirs with an
 * OpenAPI document, two commands. Then the same service with each of five faults. Exits with 1 when a verdict is not
 * the true one. `npm run newcomer`; needs what npm needs to install packages.
 */
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SERVICE = fileURLToPath(new URL('fixtures/orders/service.ts', import.meta.url));
const OPENAPI = fileURLToPath(new URL('fixtures/orders/openapi.yaml', import.meta.url));
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

const execute = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'conform-newcomer-'));
const started: ChildProcess[] = [];
let failures = 0;

try {
  const { stdout } = await execute('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: ROOT });
  await npm('init', '-y');
  await npm('install', join(folder, stdout.trim()));
  for (const version of NODES) await visit(version);
} finally {
  for (const child of started) child.kill();
  rmSync(folder, { recursive: true, force: true });
}
process.stdout.write(
  `${NODES.length * (Object.keys(FAULTS).length + 2) - failures} passed, ${failures} failed\n`,
);
process.exitCode = failures === 0 ? 0 : 1;

/** One Node, from an empty `conformance` folder on. */
async function visit(version: string): Promise<void> {
  const runtime = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
  await npm('install', '--no-save', `${runtime}@${version}`);
  const node = join(folder, 'node_modules', runtime, 'bin', 'node');
  const config = `conformance-${version}`;
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
}

function expectThat(version: string, what: string, holds: boolean, shown: string): void {
  if (!holds) failures += 1;
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
  started.push(child);
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  return String(line);
}

async function npm(...args: readonly string[]): Promise<void> {
  await execute('npm', [...args, '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder });
}

async function conform(node: string, args: readonly string[]) {
  const child = spawn(node, [join(folder, 'node_modules/.bin/conform'), ...args], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: [dirname(node), process.env.PATH].join(delimiter), ORDERS_API_KEY: KEY },
    timeout: PATIENCE_MS,
  });
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

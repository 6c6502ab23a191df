import { spawn } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../base/fixtures/folder.ts';
import { type Ending, listenTo } from '../base/fixtures/program.ts';
import { pactOf, startStubBroker } from '../pact/fixtures/stub-broker.ts';
import { exampleCredentials } from '../provider/reference/how-to-call.ts';
import { type ReferenceProvider, startReference } from '../provider/reference/reference.ts';
import { conformHere } from './fixtures/in-process.ts';

/** Every command of the README is run, in a folder that holds a copy of the config and nothing else. */

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const MAIN = join(ROOT, 'harness/cli/main.ts');
const PACT_CLI = join(ROOT, 'node_modules/.bin/pact');
const README = readFileSync(join(ROOT, 'README.md'), 'utf8');
const CI = readFileSync(join(ROOT, '.ci/run'), 'utf8');
/** So small that meeting the limit costs seconds, so large that the other suites fit into a window. */
const PLAN = { requests: 90, windowMs: 6_000 };
const SERVICES = ['search', 'messaging', 'realtime'] as const;

const providers = new Map<string, ReferenceProvider>();
const environment: Record<string, string> = { PACT_BROKER_TOKEN: 'example-broker-token' };

/** Ones that nobody has asked anything yet: what a command spends of their quota is its own. */
beforeEach(async () => {
  for (const service of SERVICES) {
    const credentials = exampleCredentials(service);
    const plan = service === 'realtime' ? null : PLAN;
    const provider = await startReference({ service, credentials, plan });
    providers.set(service, provider);
    const name = service.toUpperCase();
    environment[`${name}_STAGING_URL`] = provider.url;
    environment[`${name}_RELEASE_URL`] = provider.url;
    for (const secret of [credentials.secret, credentials.second]) {
      if (secret) environment[secret.name] = secret.reveal();
    }
    if (credentials.app) {
      environment[`${name}_APP_ID`] = credentials.app.id;
      environment[`${name}_APP_KEY`] = credentials.app.key;
      environment[`${name}_APP_SECRET`] = credentials.app.secret.reveal();
    }
  }
});

afterEach(async () => {
  await Promise.all([...providers.values()].map((provider) => provider.stop()));
});

/** What a newcomer has after cloning, with a plan that is met in seconds. */
function freshFolder(more = ''): string {
  const folder = temporaryFolder();
  cpSync(join(ROOT, 'config'), join(folder, 'config'), { recursive: true });
  const search = join(folder, 'config/services/search.yaml');
  writeFileSync(search, `${readFileSync(search, 'utf8')}\nplan: { requests: 90, window: 6s }\n${more}`);
  return folder;
}

function commands(): readonly string[] {
  const shell = [...README.matchAll(/```sh\n(.*?)```/gs)].flatMap(([, block = '']) =>
    block.trim().split('\n'),
  );
  const workflow = [...README.matchAll(/- run: (npx conform .*)/g)].map(([, command = '']) => command);
  return [...shell, ...workflow];
}

const isOurs = (command: string) => command.startsWith('npx conform ');
const isPacts = (command: string) => command.startsWith(PACT);
/** What asks a broker, or what was found out about its pacts. */
const isForBroker = (command: string) => isPacts(command) || command.includes(' pact publish ');
/** What can as well be this process. */
const STARTS_NOTHING = /^npx conform (?:list|explain|clauses|config|init|report|pact write|serve --defect)\b/;
const ORDERS_KEY = 'example-orders-key';
const PACT = 'npx --package @pact-foundation/pact-cli@18 pact ';

/** Runs a README line as it stands, but for the port and the quoting that a shell would undo. */
async function run(
  command: string,
  folder: string,
  endAfter?: RegExp,
): Promise<Pick<Ending, 'code' | 'stdout' | 'stderr'>> {
  const port = String(providers.get('search')?.port);
  const args = command
    .replace('npx conform ', '')
    .replace(PACT, '')
    .replace(/--port 4010/, '--port 0')
    .replaceAll('4010', port)
    // What comes before it there is a selection, to be quick.
    .replace('reports/latest', 'reports/selection')
    .split(' ')
    .map((word) => word.replaceAll("'", ''));
  if (STARTS_NOTHING.test(command))
    return conformHere(args, { ...environment, ORDERS_API_KEY: ORDERS_KEY }, folder);
  const program = isPacts(command) ? [PACT_CLI] : [process.execPath, MAIN];
  const [file = '', ...first] = program;
  const child = spawn(file, [...first, ...args], {
    cwd: folder,
    env: { ...process.env, ...environment, ORDERS_API_KEY: ORDERS_KEY },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said = listenTo(child);
  child.stdout.on('data', () => {
    if (endAfter?.test(said.stdout())) child.kill('SIGTERM');
  });
  return said.ended;
}

describe('README', () => {
  it('leaves to CI only what would call this test', () => {
    const others = commands().filter(
      (command) => !isOurs(command) && !isPacts(command) && !command.startsWith('export '),
    );
    expect(others).toEqual(['npm ci && npm start', 'npm ci && npm test']);
    for (const part of ['npm ci', 'npm start', 'npm test']) expect(CI).toMatch(new RegExp(`^${part}$`, 'm'));
  });

  it('shows pictures that there are', () => {
    for (const [, path = ''] of README.matchAll(/!\[[^\]]*\]\(([^)]+)\)/g)) {
      expect(readFileSync(join(ROOT, path)).length).toBeGreaterThan(10_000);
    }
  });

  it('has a recipe for releases that ends with the word of a broker', async () => {
    const broker = await startStubBroker({ token: environment.PACT_BROKER_TOKEN ?? '' });
    broker.add(pactOf('web-shop'));
    environment.PACT_BROKER_BASE_URL = broker.url;
    const folder = freshFolder(
      `pacts: { broker: { url: "${broker.url}", token: "\${env:PACT_BROKER_TOKEN}" } }\n`,
    );
    const [publish = '', ask = ''] = commands().filter(isForBroker);
    const [judge = ''] = commands().filter((command) => command.includes('--environment release --strict'));
    const before = await run(ask, folder);
    const ending: (number | null)[] = [];
    for (const command of [`${judge} --suite pact --partial`, publish, ask])
      ending.push((await run(command, folder)).code);
    expect(before.code).toBe(1);
    expect(ending).toEqual([0, 0, 0]);
    expect(broker.branches.get('search 1.4.0')).toBe('main');
  });

  for (const command of commands().filter((each) => isOurs(each) && !isForBroker(each))) {
    it(command, async () => {
      const folder = freshFolder();
      for (const earlier of neededFor(command)) await run(earlier, folder);
      const lasts = command.includes(' serve ') && command.includes('--port');
      const { code, stdout, stderr } = await run(command, folder, lasts ? /Ctrl-C ends it/ : undefined);
      expect({ code, said: code === 0 ? '' : stdout + stderr }).toEqual({ code: 0, said: '' });
      expect(stdout).not.toBe('');
    });
  }
});

/** README commands that a command of the README builds upon. */
function neededFor(command: string): readonly string[] {
  const before = (name: string) =>
    commands()
      .filter((each) => each.startsWith(`npx conform ${name} `))
      .slice(0, 1);
  if (command.includes(' config orders')) return before('init');
  return command.includes(' report ') ? before('run').map((each) => `${each} --suite json`) : [];
}

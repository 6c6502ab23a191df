import { spawn } from 'node:child_process';
import { appendFileSync, cpSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../base/fixtures/folder.ts';
import { listenTo } from '../base/fixtures/program.ts';
import { MAIN, PROGRAM_ENVIRONMENT } from '../engine/fixtures/built-program.ts';
import { pactOf, startStubBroker } from '../providers/pact/fixtures/stub-broker.ts';
import { exampleCredentials } from '../reference/how-to-call.ts';
import { startReference } from '../reference/reference.ts';
import { conformHere } from './fixtures/in-process.ts';
import { startOrders } from './fixtures/orders.ts';

/** Every command of the README and of these pages is run, in a folder that holds a config and nothing else. */

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PACT_CLI = join(ROOT, 'node_modules/.bin/pact');
const PAGES = [
  'README.md',
  ...['nightly', 'releases', 'service', 'troubleshooting', 'cost'].map((name) => `docs/${name}.md`),
];
const TEXTS = new Map(PAGES.map((path) => [path, readFileSync(join(ROOT, path), 'utf8')]));
const ALL = [...TEXTS.values()].join('\n');
const CI = readFileSync(join(ROOT, '.ci/run'), 'utf8');
/** So small that meeting the limit costs seconds; a window so long that a burst of several runs side by side fits into it. */
const PLAN = { requests: 90, windowMs: 20_000 };
const BROKER_TOKEN = 'example-broker-token';
const SERVICES = ['search', 'messaging', 'realtime'] as const;

/** Where a command is run. */
interface Place {
  readonly folder: string;
  /** Where `search` listens. */
  readonly port: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** With providers that nobody has asked anything yet: what the commands of a test spend of their quota is their own. */
async function place(
  stopAfter: (stop: () => Promise<void>) => void,
  more: { readonly environment?: Readonly<Record<string, string>>; readonly search?: string } = {},
): Promise<Place> {
  const environment: Record<string, string> = { PACT_BROKER_TOKEN: BROKER_TOKEN, ...more.environment };
  let port = '';
  for (const service of SERVICES) {
    const credentials = exampleCredentials(service);
    const plan = service === 'realtime' ? null : PLAN;
    const provider = await startReference({ service, credentials, plan });
    stopAfter(() => provider.stop());
    if (service === 'search') port = String(provider.port);
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
  return { folder: freshFolder(more.search), port, environment };
}

/** What a newcomer has after cloning, with a plan that is met in seconds. */
function freshFolder(more = ''): string {
  const folder = temporaryFolder();
  cpSync(join(ROOT, 'config'), join(folder, 'config'), { recursive: true });
  const search = join(folder, 'config/services/search.yaml');
  writeFileSync(
    search,
    `${readFileSync(search, 'utf8')}\nplan: { requests: ${PLAN.requests}, window: ${PLAN.windowMs / 1_000}s }\n${more}`,
  );
  return folder;
}

function commands(): readonly string[] {
  const shell = [...ALL.matchAll(/```sh\n(.*?)```/gs)].flatMap(([, block = '']) => block.trim().split('\n'));
  const workflow = [...ALL.matchAll(/- run: (npx conform .*)/g)].map(([, command = '']) => command);
  return [...shell, ...workflow];
}

const isOurs = (command: string) => command.startsWith('npx conform ');
const isPacts = (command: string) => command.startsWith(PACT);
/** What asks a broker, or what was found out about its pacts. */
const isForBroker = (command: string) => isPacts(command) || command.includes(' pact publish ');
/** What can as well be this process. */
const STARTS_NOTHING = /^npx conform (?:explain|clauses|report|serve --defect)\b/;
const isOfOrders = (command: string) => / orders\b/.test(command);
const PACT = 'npx --package @pact-foundation/pact-cli@18 pact ';

/** Runs a README line as it stands, but for the port and the quoting that a shell would undo. */
async function run(command: string, { folder, port, environment }: Place, endAfter?: RegExp) {
  const args = command
    .replace('npx conform ', '')
    .replace(PACT, '')
    .replace(/--port 4010/, '--port 0')
    .replaceAll('4010', port)
    // What comes before it there is a selection, to be quick.
    .replace('reports/latest', 'reports/selection')
    .split(' ')
    .map((word) => word.replaceAll("'", ''));
  if (STARTS_NOTHING.test(command)) return conformHere(args, environment, folder);
  const program = isPacts(command) ? [PACT_CLI] : [process.execPath, MAIN];
  const [file = '', ...first] = program;
  const child = spawn(file, [...first, ...args], {
    cwd: folder,
    env: { ...process.env, ...PROGRAM_ENVIRONMENT, ...environment },
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
    for (const [page, text] of TEXTS) {
      for (const [, path = ''] of text.matchAll(/!\[[^\]]*\]\(([^)]+)\)/g))
        expect(readFileSync(join(ROOT, dirname(page), path)).length).toBeGreaterThan(10_000);
    }
  });

  it('has a recipe for releases that ends with the word of a broker', async () => {
    const broker = await startStubBroker({ token: BROKER_TOKEN });
    broker.add(pactOf('web-shop'));
    const here = await place(onTestFinished, {
      environment: { PACT_BROKER_BASE_URL: broker.url },
      search: `pacts: { broker: { url: "${broker.url}", token: "\${env:PACT_BROKER_TOKEN}" } }\n`,
    });
    const [publish = '', ask = ''] = commands().filter(isForBroker);
    const [judge = ''] = commands().filter((command) => command.includes('--environment release --strict'));
    const before = await run(ask, here);
    const ending: (number | null)[] = [];
    for (const command of [`${judge} --suite pact --partial`, publish, ask])
      ending.push((await run(command, here)).code);
    expect(before.code).toBe(1);
    expect(ending).toEqual([0, 0, 0]);
    expect(broker.branches.get('search 1.4.0')).toBe('main');
  });

  const own = commands().filter((each) => isOurs(each) && !isForBroker(each) && !isOfOrders(each));
  const [here, apart] = [
    own.filter((each) => STARTS_NOTHING.test(each)),
    own.filter((each) => !STARTS_NOTHING.test(each)),
  ];

  it.for(here)('%s', async (command, { onTestFinished }) => runs(command, onTestFinished));
  // Beside each other: most of their time they wait for windows.
  it.concurrent.for(apart)('%s', async (command, { onTestFinished }) => runs(command, onTestFinished));
  it.concurrent.for(commands().filter((each) => isOurs(each) && isOfOrders(each)))(
    '%s',
    async (command, { onTestFinished }) => {
      const orders = await startOrders(onTestFinished);
      const [init = ''] = /^npx conform init .*/m.exec(ALL.replaceAll('$ npx', 'npx')) ?? [];
      await orders.type(init);
      const [environments = ''] = /^environments:\n(?: .*\n)+/m.exec(ALL) ?? [];
      appendFileSync(join(orders.folder, 'conform.yaml'), environments);
      const { code, text } = await orders.type(command);
      expect({ code, said: code === 0 ? '' : text }).toEqual({ code: 0, said: '' });
    },
  );
});

async function runs(command: string, stopAfter: Parameters<typeof place>[0]): Promise<void> {
  const here = await place(stopAfter);
  for (const earlier of neededFor(command)) await run(earlier, here);
  const lasts = command.includes(' serve ') && command.includes('--port');
  const { code, stdout, stderr } = await run(shortened(command), here, lasts ? /Ctrl-C ends it/ : undefined);
  expect({ code, said: code === 0 ? '' : stdout + stderr }).toEqual({ code: 0, said: '' });
  expect(stdout).not.toBe('');
}

/** With a few checks, if another command or `release.test.ts` runs all of them against the same service. */
function shortened(command: string): string {
  if (command.endsWith(' --environment release --strict')) return `${command} --partial --suite json`;
  return command.endsWith(' search --environment staging') ? `${command} --suite json` : command;
}

/** Commands that one of the pages builds upon. */
function neededFor(command: string): readonly string[] {
  return command.includes(' report ')
    ? ['npx conform run search --provider-url http://127.0.0.1:4010 --suite json']
    : [];
}

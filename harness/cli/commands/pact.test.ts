import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { type Files, temporaryFolder, writeInto } from '../../base/fixtures/folder.ts';
import { conform, resultsIn, unbroken } from '../../engine/fixtures/conform-process.ts';
import { pactOf, type StubPact, startStubBroker, TOKEN } from '../../providers/pact/fixtures/stub-broker.ts';
import { conformHere, saying } from '../fixtures/in-process.ts';

/** `conform pact …` as the program it is: its exit codes, its words, and what it leaves behind. */

const CONFIG = fileURLToPath(new URL('../../../config', import.meta.url));
const KEY = 'example-key-for-tests';

/** A working folder with the shipped contracts and pacts, and a config of search with these blocks added. */
function workplace(blocks = '', files: Files = {}): string {
  const yaml = `service: search
contract: search
provider: { reference: search }
credentials: { scheme: bearer, key: "\${env:SEARCH_API_KEY}" }
${blocks}
`;
  const folder = temporaryFolder({ 'config/services/search.yaml': yaml, ...files });
  for (const part of ['contracts', 'pacts'])
    cpSync(join(CONFIG, part), join(folder, 'config', part), { recursive: true });
  return folder;
}

function inBroker(url: string, more = '', files = ''): string {
  return `pacts: { ${files}broker: { url: "${url}", token: "\${env:BROKER_TOKEN}"${more} } }`;
}

const ENVIRONMENT = { SEARCH_API_KEY: KEY, BROKER_TOKEN: TOKEN };

/** How it ends and what it says, which is no secret. */
async function pact(folder: string, ...args: readonly string[]): Promise<string> {
  const ending =
    args[0] === 'verify'
      ? await conform(['pact', ...args], ENVIRONMENT, folder).ended
      : await conformHere(['pact', ...args], ENVIRONMENT, folder);
  for (const secret of [KEY, TOKEN]) expect(saying(ending)).not.toContain(secret);
  return saying(ending);
}

const servicesIn = (folder: string) => resultsIn(join(folder, 'reports')).services;
const checksIn = (folder: string) => servicesIn(folder).flatMap(({ checks }) => checks);

const outcomesIn = (folder: string) => checksIn(folder).map(({ id, outcome }) => `${id} ${outcome}`);

/** Neither as it is nor in base64. */
function holdNoSecret(folder: string): void {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile());
  expect(files.length).toBeGreaterThan(4);
  for (const file of files) {
    const text = readFileSync(file, 'utf8');
    for (const secret of [KEY, TOKEN]) {
      expect(text.includes(secret), file).toBe(false);
      expect(text.includes(Buffer.from(secret).toString('base64').replace(/=+$/, '')), file).toBe(false);
    }
  }
}

describe('conform pact verify', () => {
  it('holds a service against its pacts, one check per interaction', async () => {
    const folder = workplace();
    expect(await pact(folder, 'verify', '--verbose')).toMatch(/^0: .*nothing failed/s);
    const check = 'pact.interaction.sample-client.the-documented-sample.a-valid-credential';
    expect(outcomesIn(folder)).toEqual([`${check} pass`]);
    const interactions = [{ check, brokerId: null }];
    const source = 'config/pacts/search.json';
    expect(servicesIn(folder)[0]?.pacts).toEqual([{ consumer: 'sample-client', source, interactions }]);
  });

  it('reads sub-folders, leaves out other providers and says so, and fails for each that does not fit', async () => {
    const folder = workplace('', {
      'pacts/good.json': JSON.stringify(pactOf('good')),
      'pacts/team/bad.json': JSON.stringify(pactOf('bad', 418)),
      'pacts/other.json': JSON.stringify({ ...pactOf('other'), provider: { name: 'stock' } }),
    });
    const said = await pact(folder, 'verify', 'search', '--pact', 'pacts');
    expect(unbroken(said)).toMatch(/^1: .*status: expected 418 but was 200/);
    expect(said).toMatch(/search leaves out .*other\.json \(other -> stock\)/);
    const [good, bad] = ['good', 'bad'].map((consumer) => `pact.interaction.${consumer}.a-list`);
    expect(outcomesIn(folder)).toEqual([`${good} pass`, `${bad} fail`]);
  });

  it('is a usage error for an empty folder, which Pact takes for success', async () => {
    const folder = workplace();
    mkdirSync(join(folder, 'pacts'));
    const said = await conformHere(['pact', 'verify', '--pact', 'pacts'], ENVIRONMENT, folder);
    expect(saying(said)).toMatch(/^2: .*no pact is in this folder/);
  });
});

describe('conform pact verify, with a broker', () => {
  it('fails for what does not fit, not for what is pending, and publishes both as they are', async () => {
    const broker = await startStubBroker();
    broker.add(pactOf('web-shop'));
    broker.add(pactOf('app', 418));
    broker.add(pactOf('new-shop', 418), { pending: true });
    const folder = workplace(inBroker(broker.url, ', pending: true, branch: main'));
    expect(await pact(folder, 'verify')).toMatch(/^1: /);
    expect(outcomesIn(folder)).toEqual([
      'pact.interaction.web-shop.a-list pass',
      'pact.interaction.app.a-list fail',
      'pact.interaction.new-shop.a-list known',
    ]);
    expect(checksIn(folder)[2]?.message).toMatch(/pending.*expected 418 but was 200/);
    expect(await pact(folder, 'publish', '--provider-version', '1.2.3')).toMatch(
      /^0: search: published verified for http.*pact-version.*, version 1\.2\.3/,
    );
    expect(broker.results).toMatchObject([
      { consumer: 'web-shop', body: { success: true } },
      { consumer: 'app', body: { success: false, testResults: [{ success: false }] } },
      { consumer: 'new-shop', body: { success: false } },
    ]);
    holdNoSecret(join(folder, 'reports'));
  });

  it('is inconclusive, and soon, when the broker hangs', async () => {
    const broker = await startStubBroker({ instead: () => null });
    const folder = workplace(inBroker(broker.url));
    expect(await pact(folder, 'verify')).toMatch(/^3: /);
    const message = expect.stringContaining('no status line and fields within 5000 ms');
    expect(checksIn(folder)).toEqual([
      expect.objectContaining({ id: 'pact.interaction', outcome: 'blocked', message }),
    ]);
  });
});

describe('conform pact publish', () => {
  it('publishes the pacts of the config as those of a version of their consumers', async () => {
    const broker = await startStubBroker();
    const folder = workplace(inBroker(broker.url, '', 'files: [../pacts/search.json], '));
    const args = ['publish', 'search', '--consumer-version', '7', '--branch', 'main'];
    expect(await pact(folder, ...args)).toBe(
      '0: search: published sample-client -> search, version 7\nsearch: Created sample-client version 7\n',
    );
    const sent = broker.requests.at(-1)?.body as { contracts: { content: string }[] };
    const content = Buffer.from(sent.contracts[0]?.content ?? '', 'base64').toString('utf8');
    expect(content).toBe(readFileSync(join(CONFIG, 'pacts/search.json'), 'utf8'));
  });

  it('publishes nothing that was not verified as a whole', async () => {
    const broker = await startStubBroker();
    const request = { method: 'DELETE', path: '/v1/resources' };
    const other = { description: 'a deletion', request, response: { status: 405 } };
    const { interactions, ...rest } = pactOf('web-shop');
    broker.add({ ...rest, interactions: [...(interactions as object[]), other] } as StubPact);
    const folder = workplace(`${inBroker(broker.url)}\nsafety: { unsafeMethods: false }`);
    expect(await pact(folder, 'verify')).toMatch(/^3: /);
    const said = await pact(folder, 'publish', '--provider-version', '1');
    expect(said).toMatch(/^3: .*was not verified as a whole/);
    expect(broker.results).toEqual([]);
  });

  it('is asked for what it needs', async () => {
    const folder = workplace();
    expect(await pact(folder, 'publish')).toMatch(/^2: .*no version to publish is given/);
    expect(await pact(folder, 'publish', '--consumer-version', '1')).toMatch(/^2: .*search has no broker/);
  });

  it('is inconclusive when the broker does not take it', async () => {
    const broker = await startStubBroker({ instead: (line) => (line.startsWith('POST') ? 409 : undefined) });
    const folder = workplace(inBroker(broker.url, '', 'files: [../pacts/search.json], '));
    expect(await pact(folder, 'publish', '--consumer-version', '7')).toMatch(/^3: .*status 409/s);
  });
});

describe('Pact', () => {
  it('is not loaded by a run that verifies no pact', async () => {
    const folder = workplace();
    const log = join(folder, 'loaded.txt');
    const hook = `import { registerHooks } from 'node:module';
import { appendFileSync } from 'node:fs';
registerHooks({ load(url, context, next) { appendFileSync(${JSON.stringify(log)}, url + '\\n'); return next(url, context); } });`;
    writeInto(folder, { 'hook.mjs': hook });
    const loadedBy = async (suite: string) => {
      rmSync(log, { force: true });
      const NODE_OPTIONS = `--import=${join(folder, 'hook.mjs')}`;
      await conform(['run', '--suite', suite], { SEARCH_API_KEY: KEY, NODE_OPTIONS }, folder).ended;
      return readFileSync(log, 'utf8');
    };
    expect(await loadedBy('versioning')).not.toContain('@pact-foundation');
    // In the process of its own, which takes no options of others, and nowhere else.
    expect(await loadedBy('pact')).not.toContain('@pact-foundation');
  });
});

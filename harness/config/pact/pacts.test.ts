import { relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../base/fixtures/folder.ts';
import { GOOD_SERVICE, loadOnly, loadOrders, ORDERS_CONTRACT, pactText } from '../fixtures/config-folder.ts';
import type { PactsConfig } from './pacts.ts';

const pact = (consumer: string, provider = 'orders') => pactText(consumer, { provider: { name: provider } });

const withPacts = (block: string) => `${GOOD_SERVICE}pacts: ${block}\n`;

async function pactsOf(...parameters: Parameters<typeof loadOrders>): Promise<PactsConfig | undefined> {
  return (await loadOrders(...parameters)).config.pacts;
}

const consumersOf = (pacts: PactsConfig | undefined) => pacts?.interactions.map(({ consumer }) => consumer);

describe('without a block, the pacts of a service', () => {
  it('are the one that has its name, else the one of its contract', async () => {
    const files = { 'pacts/orders.json': pact('by service') };
    expect(consumersOf(await pactsOf(GOOD_SERVICE, {}, files))).toEqual(['by service']);

    const shop = GOOD_SERVICE.replace('service: orders', 'service: shop');
    const configDir = temporaryFolder({
      'contracts/orders.yaml': ORDERS_CONTRACT,
      'services/shop.yaml': shop,
      ...files,
    });
    expect(consumersOf((await loadOnly(configDir)).config.pacts)).toEqual(['by service']);
  });

  it('are the shipped ones for a shipped contract, and not for one of the same name', async () => {
    const files = { 'services/search.yaml': GOOD_SERVICE.replaceAll('orders', 'search') };
    const shipped = (await loadOnly(temporaryFolder(files))).config;
    expect(consumersOf(shipped.pacts)).toEqual(['sample-client']);
    expect(shipped.facts['consumers.pacts']?.origin).toMatch(/config\/pacts\/search\.json$/);
    const contract = { 'contracts/search.yaml': ORDERS_CONTRACT.replaceAll('orders', 'search') };
    expect((await loadOnly(temporaryFolder({ ...files, ...contract }))).config.pacts).toBeUndefined();
  });

  it('are none where there is no file', async () => {
    expect(await pactsOf(GOOD_SERVICE)).toBeUndefined();
  });
});

describe('configured pacts', () => {
  it('are read from folders, with the folders below, and from files', async () => {
    const files = {
      'pacts/a.json': pact('a'),
      'pacts/team/b.json': pact('b'),
      'pacts/team/notes.txt': 'no pact',
      'pacts/.git/c.json': 'no pact',
      'more/d.json': pact('d'),
    };
    const pacts = await pactsOf(withPacts('{ files: [../pacts, ../more/d.json] }'), {}, files);
    expect(consumersOf(pacts)).toEqual(['a', 'b', 'd']);
    expect(pacts?.unread).toEqual([]);
  });

  it('leave out those of other providers, and say so', async () => {
    const files = { 'pacts/a.json': pact('a'), 'pacts/b.json': pact('b', 'stock') };
    const pacts = await pactsOf(withPacts('{ files: [../pacts] }'), {}, files);
    expect(consumersOf(pacts)).toEqual(['a']);
    expect(pacts?.leftOut).toEqual([expect.stringMatching(/b\.json \(b -> stock\)$/)]);
  });

  it('may call the provider by another name', async () => {
    const files = { 'pacts/a.json': pact('a', 'Orders API') };
    const pacts = await pactsOf(withPacts('{ provider: Orders API, files: [../pacts] }'), {}, files);
    expect(consumersOf(pacts)).toEqual(['a']);
  });

  it('make the provider answerable for them, wherever they are written', async () => {
    const files = { 'pacts/a.json': pact('a') };
    const { config } = await loadOrders(withPacts('{ files: [../pacts] }'), {}, files);
    expect(config.facts['consumers.pacts']).toEqual({
      value: ['a'],
      origin: expect.stringMatching(/services\/orders\.yaml:5:8$/),
    });
  });

  it('that are elsewhere are fetched when a run starts, and missing until then', async () => {
    const pacts = await pactsOf(
      withPacts('{ files: ["https://ci.example/a.json"], broker: { url: "https://broker.example" } }'),
    );
    expect(pacts?.interactions).toEqual([]);
    expect(pacts?.unread).toEqual([
      'the pacts of https://ci.example/a.json are fetched when a run starts',
      'the pacts of https://broker.example are fetched when a run starts',
    ]);
    expect(pacts?.broker?.selectors).toEqual([{ mainBranch: true }, { deployedOrReleased: true }]);
  });

  it('give way to those of the command line, which begin in the working folder', async () => {
    const configDir = temporaryFolder({
      'contracts/orders.yaml': ORDERS_CONTRACT,
      'services/orders.yaml': withPacts(
        '{ files: [../pacts], broker: { url: "https://broker.example" }, states: { url: /_states } }',
      ),
      'pacts/a.json': pact('a'),
      'other/b.json': pact('b'),
    });
    const option = relative(process.cwd(), resolve(configDir, 'other'));
    const { pacts } = (await loadOnly(configDir, { pacts: [option] })).config;
    expect(consumersOf(pacts)).toEqual(['b']);
    expect(pacts?.broker).toBeNull();
    expect(pacts?.states).toEqual({ kind: 'url', url: '/_states' });
  });

  it('are overlaid like every block, but for the handler of states, of which there is one', async () => {
    const yaml = `${withPacts('{ files: [../pacts], states: { url: /_states }, messages: /_messages }')}environments:
  staging: { pacts: { states: { command: './set "\${STATE}"' } } }
  bare: { pacts: null }
`;
    const files = { 'pacts/a.json': pact('a') };
    const staging = await pactsOf(yaml, { environment: 'staging' }, files);
    expect(staging?.states).toMatchObject({ kind: 'command', command: './set "$' + '{STATE}"' });
    expect(staging?.messages).toBe('/_messages');
    expect(await pactsOf(yaml, { environment: 'bare' }, files)).toBeUndefined();
  });
});

it('the secret of a broker may be missing, where it asks for none', async () => {
  const yaml = withPacts(`{ broker: { url: "https://broker.example", token: "\${env:TOKEN:-}" } }`);
  expect((await pactsOf(yaml))?.broker?.credentials).toBeNull();
});

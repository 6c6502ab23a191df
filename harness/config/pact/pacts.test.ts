import { relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { GOOD_SERVICE, inFolder, loadOrders, ORDERS_CONTRACT } from '../fixtures/config-folder.ts';
import { loadServices } from '../load.ts';
import { packService, unpackService } from '../secrets.ts';
import { effectiveConfig } from '../written/effective.ts';
import type { PactsConfig } from './pacts.ts';

const INTERACTION = {
  description: 'a list',
  request: { method: 'GET', path: '/orders' },
  response: { status: 200 },
};

function pact(consumer: string, provider = 'orders'): string {
  return JSON.stringify({
    consumer: { name: consumer },
    provider: { name: provider },
    interactions: [INTERACTION],
  });
}

const withPacts = (block: string) => `${GOOD_SERVICE}pacts: ${block}\n`;

async function pactsOf(...parameters: Parameters<typeof loadOrders>): Promise<PactsConfig | undefined> {
  const { services } = await loadOrders(...parameters);
  return services[0]?.config.pacts;
}

const consumersOf = (pacts: PactsConfig | undefined) => pacts?.interactions.map(({ consumer }) => consumer);

describe('without a block, the pacts of a service', () => {
  it('are the one that has its name, else the one of its contract', async () => {
    const files = { 'pacts/orders.json': pact('by service') };
    expect(consumersOf(await pactsOf(GOOD_SERVICE, {}, files))).toEqual(['by service']);

    const shop = GOOD_SERVICE.replace('service: orders', 'service: shop');
    await inFolder(
      { 'contracts/orders.yaml': ORDERS_CONTRACT, 'services/shop.yaml': shop, ...files },
      async (configDir) => {
        const { services } = await loadServices({ configDir, env: {} });
        expect(consumersOf(services[0]?.config.pacts)).toEqual(['by service']);
      },
    );
  });

  it('are the shipped ones for a shipped contract, and not for one of the same name', async () => {
    const search = GOOD_SERVICE.replaceAll('orders', 'search');
    const load = (files: Record<string, string>) =>
      inFolder({ 'services/search.yaml': search, ...files }, async (configDir) => {
        const { services } = await loadServices({ configDir, env: {} });
        return services[0]?.config;
      });
    const shipped = await load({});
    expect(consumersOf(shipped?.pacts)).toEqual(['sample-client']);
    expect(shipped?.facts['consumers.pacts']?.origin).toMatch(/config\/pacts\/search\.json$/);
    const own = await load({ 'contracts/search.yaml': ORDERS_CONTRACT.replaceAll('orders', 'search') });
    expect(own?.pacts).toBeUndefined();
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
    const { services } = await loadOrders(
      withPacts('{ files: [../pacts] }'),
      {},
      { 'pacts/a.json': pact('a') },
    );
    expect(services[0]?.config.facts['consumers.pacts']).toEqual({
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
    await inFolder(
      {
        'contracts/orders.yaml': ORDERS_CONTRACT,
        'services/orders.yaml': withPacts(
          '{ files: [../pacts], broker: { url: "https://broker.example" }, states: { url: /_states } }',
        ),
        'pacts/a.json': pact('a'),
        'other/b.json': pact('b'),
      },
      async (configDir) => {
        const option = relative(process.cwd(), resolve(configDir, 'other'));
        const { services } = await loadServices({ configDir, env: {}, pacts: [option] });
        const pacts = services[0]?.config.pacts;
        expect(consumersOf(pacts)).toEqual(['b']);
        expect(pacts?.broker).toBeNull();
        expect(pacts?.states).toEqual({ kind: 'url', url: '/_states' });
      },
    );
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

describe('the secrets of a broker', () => {
  const YAML = withPacts(`{ broker: { url: "https://broker.example", token: "\${env:TOKEN}" } }`);
  const ENV = { env: { TOKEN: 'example-token-for-tests' } };

  it('are shown as a mask', async () => {
    const { services } = await loadOrders(YAML, ENV);
    const [service] = services;
    const text = service ? effectiveConfig(service) : '';
    expect(text).toContain('token: "[secret TOKEN]"');
    expect(text).not.toContain('example-token-for-tests');
  });

  it('do not travel to the worker', async () => {
    const { services } = await loadOrders(YAML, ENV);
    const config = services[0]?.config;
    if (!config) throw new Error('nothing was loaded');
    expect(config.pacts?.broker?.credentials).toMatchObject({ kind: 'token' });
    const packed = packService(config);
    expect(JSON.stringify(packed)).not.toContain('example-token-for-tests');
    expect(unpackService(structuredClone(packed)).pacts?.broker).toBeNull();
  });

  it('may be missing, for a broker that asks for none', async () => {
    const yaml = YAML.replace('TOKEN}', 'TOKEN:-}');
    expect((await pactsOf(yaml))?.broker?.credentials).toBeNull();
  });
});

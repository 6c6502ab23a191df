import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { UsageError } from '../../base/exit.ts';
import { temporaryFolder } from '../../base/fixtures/folder.ts';
import { GOOD_SERVICE, loadOrders } from '../../config/fixtures/config-folder.ts';
import { loadServices } from '../../config/load.ts';
import type { ServiceConfig } from '../../config/service.ts';
import { settingNamed } from '../../proof/cases/settings.ts';
import { recordPact } from '../../providers/pact/recorder.ts';
import { pactScript, writePact } from './write-pacts.ts';

const CONFIG = fileURLToPath(new URL('../../../config', import.meta.url));
const AGENT = 'conform/0.0.0';
const folder = temporaryFolder();
let shipped: readonly ServiceConfig[] = [];

beforeAll(async () => {
  // A real key is at hand, as it is on every machine where pacts are written.
  const env = { SEARCH_API_KEY: 'real-key-that-must-not-be-seen' };
  shipped = (await loadServices({ configDir: CONFIG, env })).services.map(({ config }) => config);
});

function called(name: string): ServiceConfig {
  const config = shipped.find(({ service }) => service === name);
  if (!config) throw new Error(`${name} is not there`);
  return config;
}

const search = () => called('search');

interface Interaction {
  readonly description: string;
  readonly request: {
    readonly headers?: Readonly<Record<string, readonly string[]>>;
    readonly [key: string]: unknown;
  };
  readonly response: { readonly [key: string]: unknown };
  readonly [key: string]: unknown;
}

async function written(config: ServiceConfig): Promise<readonly Interaction[]> {
  const { path } = await writePact(config, folder, AGENT);
  return JSON.parse(readFileSync(path, 'utf8')).interactions;
}

describe('the shipped pacts', () => {
  it('are what is written today, octet by octet', async () => {
    expect(shipped.map(({ service }) => service)).toEqual(['messaging', 'realtime', 'search']);
    for (const config of shipped) {
      const { path, leftOut } = await writePact(config, folder, AGENT);
      const name = `${config.service}.json`;
      expect(readFileSync(path, 'utf8')).toBe(readFileSync(join(CONFIG, 'pacts', name), 'utf8'));
      expect(leftOut).toEqual(['messages: the contract does not show the kinds of its events']);
    }
  });
});

describe('a written pact', () => {
  it('replaces the one before it: nothing is merged, nothing is left beside it', async () => {
    const path = join(folder, 'search.json');
    writeFileSync(path, '{ "consumer": { "name": "old" }, "interactions": [{ "description": "stale" }] }');
    await writePact(search(), folder, AGENT);
    expect(readFileSync(path, 'utf8')).not.toContain('stale');
    expect(readdirSync(folder).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  it('expects any kind of JSON where the contract states that, and nothing else', async () => {
    const [sample] = await written(search());
    const { matchingRules } = sample?.response ?? {};
    const pattern = new RegExp(
      /"regex":"(.*?)"\}/.exec(JSON.stringify(matchingRules))?.[1]?.replaceAll('\\\\', '\\') ?? '',
    );
    const json = ['application/json; charset=utf-8', 'Application/JSON', 'application/vnd.a+json'];
    for (const type of ['application/json', ...json]) expect(type).toMatch(pattern);
    for (const type of ['text/html', 'application/jsonp', 'text/json', 'application/xml'])
      expect(type).not.toMatch(pattern);
  });

  it.each<readonly [string, object]>([
    ['header', { headers: { 'X-API-Key': ['EXAMPLE_API_KEY'] } }],
    ['query', { query: { api_key: ['EXAMPLE_API_KEY'] } }],
    [
      'basic',
      {
        headers: {
          Authorization: [`Basic ${Buffer.from('example-user:EXAMPLE_API_KEY').toString('base64')}`],
        },
      },
    ],
    ['open', { headers: { 'Content-Type': ['application/json'] } }],
  ])('has an example where the scheme of "%s" puts the credential', async (setting, request) => {
    const config = settingNamed(setting).adapt(search());
    const [sample] = await written(config);
    expect(sample?.request).toMatchObject(request);
    expect(JSON.stringify(sample)).not.toContain('real-key');
    expect(sample?.providerStates).toEqual(setting === 'open' ? undefined : [{ name: 'a valid credential' }]);
  });

  it('has signed examples that are the same each time', async () => {
    const config = settingNamed('signed').adapt(called('realtime'));
    const [first, second] = [await written(config), await written(config)];
    expect(first).toEqual(second);
    expect(Object.keys(Object(first[0]?.request.query)).sort()).toEqual([
      'auth_key',
      'auth_signature',
      'auth_timestamp',
      'auth_version',
    ]);
  });

  it('has the operations of the config, and names those that cannot be called', async () => {
    const operations = `operations:
  - { id: create, method: POST, path: '/orders?dry=1', body: { json: { rate: 1.5 } }, response: { status: 201, schema: { type: object } } }
  - { id: ping, method: HEAD, path: /ping, response: { status: 204 }, auth: false }
`;
    const service = GOOD_SERVICE.replace('{ scheme: none }', `{ scheme: bearer, key: "\${env:KEY}" }`);
    const env = { KEY: 'real-key-that-must-not-be-seen' };
    const { config } = await loadOrders(service + operations, { env });
    const interactions = await written(config);
    expect(interactions.map(({ description }) => description)).toEqual([
      'the documented sample',
      'the operation create',
      'the operation ping',
    ]);
    const [, create, ping] = interactions;
    expect(create).toMatchObject({
      request: {
        method: 'POST',
        path: '/orders',
        query: { dry: ['1'] },
        body: { content: { rate: 1.5 } },
      },
      response: { status: 201, headers: { 'Content-Type': ['application/json'] } },
    });
    expect(ping?.request.headers).toBeUndefined();
    expect(ping?.response).toEqual({ status: 204 });
    expect(JSON.stringify(interactions)).not.toContain('real-key');
  });

  it('has the events whose content the contract shows, by the types of their values', async () => {
    const place = { section: 'Events', row: 1 };
    const stated = (key: string, value: object) => ({ key, standing: 'stated', value, place }) as const;
    const { contract } = search();
    const config: ServiceConfig = {
      ...search(),
      contract: {
        ...contract,
        clauses: [
          ...contract.clauses.filter(({ key }) => !key.startsWith('events.')),
          { ...stated('events.kinds', {}), value: ['order.created', 'order.lost'] },
          { ...stated('events.payloads', {}), value: { 'order.created': { id: 'o1', total: 7 } } },
        ],
      },
    };
    const { leftOut } = await writePact(config, folder, AGENT);
    expect(leftOut).toEqual(['the event order.lost: the contract does not show what it carries']);
    const [, event] = await written(config);
    expect(event).toMatchObject({
      type: 'Asynchronous/Messages',
      description: 'the event order.created',
      contents: { content: { id: 'o1', total: 7 }, contentType: 'application/json' },
    });
    expect(JSON.stringify(event?.matchingRules)).toContain('"match":"type"');
  });

  it('is refused where there is nothing to write down', async () => {
    const config = { ...search(), contract: { ...search().contract, clauses: [] } };
    await expect(writePact(config, folder, AGENT)).rejects.toThrow(UsageError);
  });
});

it.each<readonly [string, (index: number, url: string) => Promise<unknown>, RegExp]>([
  [
    'is not the one that was announced',
    (_index, url) => fetch(`${url}/elsewhere`),
    /the pact could not be recorded: .*not received/s,
  ],
  ['cannot be made', () => Promise.reject(new Error('no such host')), /no such host/],
])('a recording fails when the call %s, with the reason', async (_, call, reason) => {
  const calling = async (index: number, url: string) => void (await call(index, url));
  await expect(recordPact(pactScript(search()).script, calling)).rejects.toThrow(reason);
});

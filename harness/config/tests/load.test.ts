import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../base/fixtures/folder.ts';
import { GOOD_SERVICE, loadOnly, loadOrders, ORDERS_CONTRACT } from '../fixtures/config-folder.ts';
import { loadServices } from '../load.ts';
import type { ServiceConfig } from '../service.ts';
import { formatOrigin } from '../yaml/origin.ts';

const SHIPPED = fileURLToPath(new URL('../../../config', import.meta.url));

async function ordersConfig(...parameters: Parameters<typeof loadOrders>): Promise<ServiceConfig> {
  return (await loadOrders(...parameters)).config;
}

const LAYERED = `service: orders
contract: orders
provider: { reference: search, defects: [always-200] }
credentials: { scheme: bearer, key: example-base-key, secondKey: example-second-key }
plan: { name: free, requests: 5, window: 1s }
websocket: { url: /ws, echo: true }
operations: [{ id: a, method: GET, path: /a }]
environments:
  staging:
    provider: { url: "\${env:URL}" }
    credentials: { key: "\${env:KEY}" , secondKey: null }
    plan: { requests: 7 }
    websocket: { echo: false }
    operations: [{ id: b, method: GET, path: /b }]
  release:
    extends: staging
    plan: null
    websocket: null
    credentials: { scheme: header, name: X-API-Key, key: "\${env:KEY}" }
`;

const STAGING = { env: { URL: 'https://Orders.example:443/api/', KEY: 'key-for-tests' } };

describe('a service without an environment', () => {
  it('is what the file says, and defaults for the rest', async () => {
    const config = await ordersConfig(GOOD_SERVICE);
    expect(config).toMatchObject({
      service: 'orders',
      environment: null,
      provider: { kind: 'url', url: 'https://orders.example' },
      credentials: { scheme: { name: 'none' } },
      plan: null,
      operations: [],
      websocket: null,
      safety: {
        exceedRateLimit: false,
        unsafeMethods: false,
        leaveItems: false,
        findSizeLimits: false,
        maxRequests: 500,
        plainHttp: false,
      },
      timeouts: { connectMs: 5_000, responseMs: 10_000 },
    });
    expect(config.contract.clauses).toHaveLength(2);
  });

  it('does not need what its environments need', async () => {
    const { provider } = await ordersConfig(LAYERED);
    expect(provider).toEqual({ kind: 'reference', name: 'search', defects: ['always-200'], variant: null });
  });

  it('may be described in .yml, beside files that are none', async () => {
    const files = {
      'services/orders.yml': GOOD_SERVICE,
      'services/notes.txt': 'no config',
      'services/.hidden.yaml': ':',
      'contracts/orders.yml': ORDERS_CONTRACT,
    };
    expect((await loadOnly(temporaryFolder(files))).config.service).toBe('orders');
  });
});

describe('an environment', () => {
  it('is merged key by key; lists are replaced; null takes away', async () => {
    const config = await ordersConfig(LAYERED, { ...STAGING, environment: 'staging' });
    expect(config).toMatchObject({
      environment: 'staging',
      provider: { kind: 'url', url: 'https://orders.example/api' },
      credentials: { scheme: { name: 'bearer' }, second: null },
      plan: { name: 'free', requests: 7, windowMs: 1_000 },
      websocket: { url: '/ws', echo: false },
      operations: [{ id: 'b' }],
    });
  });

  it('is laid over the one it extends; another scheme replaces the whole block', async () => {
    const config = await ordersConfig(LAYERED, { ...STAGING, environment: 'release' });
    expect(config).toMatchObject({
      provider: { kind: 'url', url: 'https://orders.example/api' },
      credentials: { scheme: { name: 'header' }, carrier: { name: 'X-API-Key' }, second: null },
      plan: null,
      websocket: null,
    });
  });
});

describe('the origin of a value', () => {
  it('is file, line and column, the environment, and what it was read through', async () => {
    const { origins } = await loadOrders(LAYERED, { ...STAGING, environment: 'staging' });
    const origin = (key: string) => {
      const found = origins.get(key);
      return found && formatOrigin(found).replace(/^.*services\//, '');
    };
    expect(origin('service')).toBe('orders.yaml:1:10');
    expect(origin('plan.window')).toBe('orders.yaml:5:42');
    expect(origin('plan.requests')).toBe('orders.yaml:12:23, environment staging');
    expect(origin('provider.url')).toBe('orders.yaml:10:22, environment staging, env URL');
    expect(origin('credentials.key')).toBe('orders.yaml:11:25, environment staging, env KEY');
    expect(origin('safety.maxRequests')).toBe('default');
    expect(origin('timeouts.connect')).toBe('default');
  });

  it('is the option for what the command line sets', async () => {
    const { config, origins } = await loadOrders(GOOD_SERVICE, { providerUrl: 'http://127.0.0.1:8080/' });
    expect(config.provider).toEqual({ kind: 'url', url: 'http://127.0.0.1:8080' });
    expect(origins.get('provider.url')).toEqual({ kind: 'option', option: '--url' });
  });

  it('is the clause for a plan that the contract states', async () => {
    const yaml = GOOD_SERVICE.replace('contract: orders', 'contract: search');
    const { config, origins } = await loadOrders(yaml);
    expect(config.plan).toEqual({ name: null, requests: 100, windowMs: 60_000 });
    const place = 'search-service.md, Limits, row 1';
    expect(origins.get('plan.requests')).toEqual({ kind: 'contract', place });
    expect(config.facts).not.toHaveProperty(['limits.rate']);
  });
});

/** A contract that states this rate. */
function stating(rate: object) {
  const value = `standing: stated\n    value: ${JSON.stringify(rate)}`;
  return { 'contracts/orders.yaml': ORDERS_CONTRACT.replace('standing: not-shown', value) };
}

describe('a burst beside a rate', () => {
  const bucket = { requests: 20, windowMs: 12_000, rate: { requests: 100, windowMs: 60_000 } };
  const said = { requests: 100, window: '1m', burst: 20, per: 'account' };

  it('is a quota of that size which the rate fills again, and the config says so of the documents', async () => {
    const config = await ordersConfig(
      `${GOOD_SERVICE}plan: { requests: 100, window: 60s, burst: 20, per: account }\n`,
    );
    expect(config.plan).toEqual({ name: null, ...bucket, per: 'account' });
    expect(config.facts['limits.rate']?.value).toMatchObject({ requests: 100, burst: 20, per: 'account' });
  });

  it('is the same where the contract states it', async () => {
    const config = await ordersConfig(GOOD_SERVICE, {}, stating(said));
    expect(config.plan).toEqual({ name: null, ...bucket, per: 'account' });
  });
});

describe('several limits', () => {
  const beside = { requests: 1000, window: '3600s', per: 'address' };
  const said = { requests: 100, window: '60s', further: [beside] };
  const further = [{ requests: 1000, windowMs: 3_600_000, per: 'address' }];

  it('are the main one and those beside it, and the config says so of the documents', async () => {
    const plan = '{ requests: 100, window: 60s, further: [{ requests: 1000, window: 1h, per: address }] }';
    const config = await ordersConfig(`${GOOD_SERVICE}plan: ${plan}\n`);
    expect(config.plan).toEqual({ name: null, requests: 100, windowMs: 60_000, further });
    expect(config.facts['limits.rate']?.value).toEqual(said);
  });

  it('are the same where the contract states them', async () => {
    const config = await ordersConfig(GOOD_SERVICE, {}, stating(said));
    expect(config.plan).toEqual({ name: null, requests: 100, windowMs: 60_000, further });
  });
});

describe('the contract', () => {
  it('beside the config comes before a shipped one of the same name', async () => {
    const service = GOOD_SERVICE.replace('contract: orders', 'contract: search');
    const own = { 'contracts/search.yaml': ORDERS_CONTRACT.replace('contract: orders', 'contract: search') };
    expect((await ordersConfig(service, {}, own)).contract.title).toBe('Orders');
    expect((await ordersConfig(service)).contract.title).toBe('Search Service Interface');
  });
});

describe('how much may be sent', () => {
  const plan = 'plan: { requests: 400, window: 60s }\n';
  it.each([
    ['the limit may not be exceeded', `${GOOD_SERVICE}${plan}`, false, 500],
    ['it may', `${GOOD_SERVICE}${plan}safety: { exceedRateLimit: true }\n`, true, 3_700],
    [
      'it is a reference provider',
      GOOD_SERVICE.replace(/provider: .*/, 'provider: { reference: search }') + plan,
      true,
      3_700,
    ],
    ['there is no plan', `${GOOD_SERVICE}safety: { exceedRateLimit: true }\n`, true, 500],
    ['the file says so', `${GOOD_SERVICE}${plan}safety: { maxRequests: 30 }\n`, false, 30],
  ])('when %s', async (_when, yaml, exceedRateLimit, maxRequests) => {
    expect((await ordersConfig(yaml)).safety).toMatchObject({ exceedRateLimit, maxRequests });
  });
});

describe('facts that the config fills in', () => {
  const facts = async (yaml: string) => {
    const { facts: filled } = await ordersConfig(GOOD_SERVICE.replace(/credentials: .*\n/, '') + yaml, {
      env: { KEY: 'key-for-tests' },
    });
    return Object.fromEntries(Object.entries(filled).map(([key, { value }]) => [key, value]));
  };

  it('a plan fills the rate', async () => {
    expect(await facts('credentials: { scheme: none }\nplan: { requests: 5, window: 1m }\n')).toEqual({
      'auth.scheme': 'none',
      'limits.rate': { requests: 5, window: '60s' },
    });
  });

  it('credentials fill scheme, placement and name', async () => {
    expect(await facts(`credentials: { scheme: query, name: api_key, key: "\${env:KEY}" }\n`)).toEqual({
      'auth.scheme': 'query',
      'auth.placement': ['query'],
      'auth.credential-name': 'api_key',
    });
  });

  it('a bearer key settles that the sample holds', async () => {
    expect(await facts(`credentials: { scheme: bearer, key: "\${env:KEY}" }\n`)).toEqual({
      'auth.scheme': 'bearer',
      'auth.placement': ['header'],
      'auth.credential-name': 'Authorization',
      'auth.sample': { field: 'Authorization', value: 'Bearer <API_KEY>' },
    });
  });

  it('signing fills the use of the three credentials', async () => {
    const app = `{ id: one, key: two, secret: "\${env:KEY}" }`;
    expect(await facts(`credentials: { scheme: signed, app: ${app} }\n`)).toMatchObject({
      'auth.scheme': 'signed',
      'auth.placement': ['signature'],
      'auth.usage': expect.stringContaining('HMAC-SHA256'),
    });
  });

  it('websocket and operations fill address, messages and calls', async () => {
    const calls = 'operations: [{ id: a, method: GET, path: /a }]\n';
    expect(
      await facts(`credentials: { scheme: none }\nwebsocket: { url: /ws, echo: true }\n${calls}`),
    ).toEqual({
      'auth.scheme': 'none',
      'websocket.address': '/ws',
      'websocket.messages': 'each message is sent back',
      'endpoint.other-operations': [{ id: 'a', method: 'GET', path: '/a' }],
    });
  });

  it('each names its place in the file', async () => {
    const config = await ordersConfig(`${GOOD_SERVICE}plan: { requests: 5, window: 1m }\n`);
    expect(config.facts['limits.rate']?.origin).toMatch(/services\/orders\.yaml:5:7$/);
  });
});

describe('a websocket', () => {
  it('may have messages with their answers, schemas of events, a place for the key', async () => {
    const { websocket } = await ordersConfig(`${GOOD_SERVICE}websocket:
  url: /ws
  exchange: [{ send: { ask: time }, expect: { required: [time] } }, { send: hello, expect: { const: hi } }]
  login: { send: { login: me }, expect: { required: [ok] } }
  heartbeat: { receive: { type: ping }, answer: { type: pong } }
  messages: { price: { type: object, pattern: "\${not:read}" } }
  credential: { in: subprotocol, prefix: bearer. }
  refusalCode: 4401
  keepsIdle: 30s
`);
    expect(websocket).toMatchObject({
      url: '/ws',
      dialect: 'raw',
      echo: false,
      exchange: [
        { send: '{"ask":"time"}', expect: { required: ['time'] } },
        { send: 'hello', expect: { const: 'hi' } },
      ],
      login: { send: '{"login":"me"}', expect: { required: ['ok'] } },
      heartbeat: { receive: { type: 'ping' }, answer: '{"type":"pong"}' },
      messages: { price: { type: 'object', pattern: '$' + '{not:read}' } },
      origin: null,
      subprotocols: [],
      credential: { in: 'subprotocol', prefix: 'bearer.', encoding: 'base64url' },
      refusalCode: 4401,
      keepsIdleMs: 30_000,
    });
  });

  it('answers the heartbeats of a subprotocol that is known, unless it names others', async () => {
    const heartbeatOf = async (more: string) => {
      const offered = 'subprotocols: [chat, graphql-transport-ws]';
      return (await ordersConfig(`${GOOD_SERVICE}websocket: { url: /ws, ${offered}${more} }\n`)).websocket
        ?.heartbeat;
    };
    expect(await heartbeatOf('')).toEqual({ receive: { type: 'ping' }, answer: '{"type":"pong"}' });
    const own = { receive: 'a', answer: 'b' };
    expect(await heartbeatOf(', heartbeat: { receive: a, answer: b }')).toEqual(own);
    expect(await heartbeatOf(', dialect: pusher')).toBeUndefined();
  });
});

it('origins of pages count as documented, and stand where they are written', async () => {
  const { facts } = await ordersConfig(`${GOOD_SERVICE}cors: { origins: [https://shop.example] }\n`);
  expect(facts['cors.origins']).toEqual({
    value: { origins: ['https://shop.example'] },
    origin: expect.stringMatching(/services\/orders\.yaml:\d+:\d+$/),
  });
});

it('webhooks are received on this machine unless something else is said', async () => {
  const { webhooks } = await ordersConfig(`${GOOD_SERVICE}webhooks: { trigger: { path: /hooks } }\n`);
  expect(webhooks).toMatchObject({
    listen: { address: '127.0.0.1', port: 0 },
    trigger: { method: 'POST', path: '/hooks', body: null },
    withinMs: 10_000,
  });
});

describe('response schemas', () => {
  const call = (schema: string) =>
    `${GOOD_SERVICE}operations: [{ id: a, method: GET, path: /a, response: { status: 201, schema: ${schema} } }]\n`;

  it('are read relative to the file that names them', async () => {
    const files = { 'services/schemas/a.json': '{ "type": "object", "format": "uri" }' };
    const [operation] = (await ordersConfig(call('schemas/a.json'), {}, files)).operations;
    expect(operation?.response).toMatchObject({ status: 201, schema: { type: 'object', format: 'uri' } });
  });

  it('may stand in the file; a pattern in them is no reference', async () => {
    const [operation] = (await ordersConfig(call(`{ type: string, pattern: "^[\${a:b}]+$" }`))).operations;
    expect(operation?.response.schema).toEqual({ type: 'string', pattern: `^[\${a:b}]+$` });
  });
});

it.each(['an empty folder', 'no folder'])('a folder without services is a usage error: %s', async (what) => {
  const configDir = temporaryFolder();
  if (what === 'an empty folder') await mkdir(join(configDir, 'services'));
  await expect(loadServices({ configDir, env: {} })).rejects.toThrow(
    /there is no service here(?:.|\n)*conform init/,
  );
});

describe('the shipped services', () => {
  it('load as they are, against the embedded reference providers', async () => {
    const { services } = await loadServices({ configDir: SHIPPED, env: {} });
    expect(
      services.map(({ config }) => [config.service, config.provider.kind, config.plan?.requests ?? null]),
    ).toEqual([
      ['messaging', 'reference', 1_000],
      ['realtime', 'reference', null],
      ['search', 'reference', 100],
    ]);
    const realtime = services.find(({ config }) => config.service === 'realtime')?.config;
    expect(realtime?.websocket).toMatchObject({ url: '/ws', dialect: 'raw', echo: true });
    expect(realtime?.credentials).toMatchObject({ scheme: { name: 'bearer' }, app: { id: 'example-app' } });
  });

  it('come in the order asked for, each once', async () => {
    const asked = ['search', 'realtime', 'search'];
    const { services } = await loadServices({ configDir: SHIPPED, env: {}, services: asked });
    expect(services.map(({ config }) => config.service)).toEqual(['search', 'realtime']);
  });

  it.each(['search', 'messaging', 'realtime'])(
    '%s: staging exceeds no limit, a release may',
    async (name) => {
      const prefix = name.toUpperCase();
      const env = {
        [`${prefix}_STAGING_URL`]: 'https://staging.example',
        [`${prefix}_RELEASE_URL`]: 'https://release.example',
        [`${prefix}_API_KEY`]: 'key-for-tests',
        REALTIME_APP_ID: 'one',
        REALTIME_APP_KEY: 'two',
        REALTIME_APP_SECRET: 'secret-for-tests',
      };
      const staging = (await loadOnly(SHIPPED, { services: [name], environment: 'staging', env })).config;
      const release = (await loadOnly(SHIPPED, { services: [name], environment: 'release', env })).config;
      expect(staging).toMatchObject({
        provider: { url: 'https://staging.example' },
        safety: { exceedRateLimit: false },
      });
      expect(release).toMatchObject({
        provider: { url: 'https://release.example' },
        safety: { exceedRateLimit: true },
      });
      expect(staging.credentials).toMatchObject({ second: null });
    },
  );

  it('send their example keys to no service elsewhere', async () => {
    const options = { services: ['realtime'], providerUrl: 'https://live.example' };
    await expect(loadOnly(SHIPPED, { ...options, env: {} })).rejects.toThrow(/REALTIME_API_KEY is not set/);
    const env = { REALTIME_API_KEY: 'key-for-tests' };
    const { credentials } = (await loadOnly(SHIPPED, { ...options, env })).config;
    expect(credentials).toMatchObject({ scheme: { name: 'bearer' }, second: null, app: null });
  });

  it('are named relative to the folder that the caller named', async () => {
    const { file } = await loadOnly(SHIPPED, { services: ['search'] });
    expect(dirname(file)).toBe(join(SHIPPED, 'services'));
  });
});

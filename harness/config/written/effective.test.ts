import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isJsonObject } from '../../base/json-text.ts';
import { Secret } from '../../credential/secret.ts';
import { GOOD_SERVICE, inFolder, loadOrders, ORDERS_CONTRACT } from '../fixtures/config-folder.ts';
import { type LoadedService, loadServices } from '../load.ts';
import type { ServiceConfig } from '../service.ts';
import { effectiveConfig } from './effective.ts';

const YAML = `${GOOD_SERVICE.replace('{ scheme: none }', `{ scheme: header, name: X-API-Key, key: "\${env:ORDERS_KEY}" }`)}
plan: { name: free, requests: 5, window: 1m }
websocket: { url: /ws }
operations: [{ id: a, method: GET, path: /a, response: { schema: { type: object } } }]
environments: { staging: { timeouts: { connect: 250ms } } }
`;

async function printed(): Promise<string> {
  const env = { ORDERS_KEY: 'hush-key-for-tests' };
  const [service] = (await loadOrders(YAML, { env, environment: 'staging' })).services;
  if (!service) throw new Error('expected a service');
  return effectiveConfig(service).replaceAll(/ \S*services\//g, ' services/');
}

/** Every block, with much that is left to its default and much that is not. */
const RICH = `service: orders
contract: orders
credentials: { scheme: bearer, key: "\${env:ORDERS_KEY}", secondKey: "\${env:NOT_SET:-}" }
provider:
  container:
    image: registry.example/orders:\${env:TAG}
    port: 8080
    env: { LOG: "\${env:LOG:-warning}", DATABASE: "postgres://orders:\${env:PASSWORD}@db/orders", WORKERS: 2, OFF: null }
    secrets: { /run/secrets/api-key: "\${env:ORDERS_KEY}" }
    files: { /etc/orders.json: orders.json }
    ready: { http: /healthz }
    limits: { memory: 1.5g, cpus: 0.5 }
    capabilities: [CAP_CHOWN]
    companions: { db: { build: { context: ../provider, args: { VERSION: '8' } }, ready: { log: ready } } }
operations:
  - { id: a, method: POST, path: "/a?b=\${env:TAG}", body: { json: { b: null, c: [1, "x"] } }, response: { schema: { pattern: "\${x}" } } }
  - { id: b, method: GET, path: /b, fields: { Accept-Language: fr }, parameters: [{ name: n, in: query }] }
openapi: ../openapi/api.yaml
websocket:
  url: /ws
  exchange: [{ send: { ask: time }, expect: { required: [time] } }]
  messages: { price: price.json }
  credential: { in: subprotocol, prefix: bearer. }
  keepsIdle: 1.5s
webhooks:
  trigger: { path: /hooks, body: { url: "\${WEBHOOK_URL}" } }
  signature: { header: X-Signature, secret: "\${env:HOOK_SECRET}" }
pacts: { files: [../pacts], states: { command: 'echo "\${HOME}"' }, messages: /_messages }
safety: { exceedRateLimit: true }
environments:
  local: { provider: { command: { run: [node, server.js], url: "http://\${env:HOST}:\${PORT}", env: { KEY: "\${env:ORDERS_KEY}" } } } }
  bare: { provider: { reference: search }, plan: { requests: 5, window: 250ms }, openapi: null, websocket: null, webhooks: null, pacts: null, operations: null }
`;

const FILES = {
  'contracts/orders.yaml': ORDERS_CONTRACT,
  'services/orders.yaml': RICH,
  'services/orders.json': '{}',
  'services/price.json': '{ "type": "object" }',
  'provider/Dockerfile': 'FROM scratch\n',
  'openapi/api.yaml':
    'openapi: 3.1.0\npaths: { "/c/{id}": { get: { operationId: c, responses: { "200": { description: ok } } } } }\n',
  'pacts/web.json': JSON.stringify({
    consumer: { name: 'web' },
    provider: { name: 'orders' },
    interactions: [{ description: 'a', request: { method: 'GET', path: '/a' }, response: { status: 200 } }],
  }),
};

const env = {
  ORDERS_KEY: 'hush-key-for-tests',
  PASSWORD: 'hush-password',
  HOOK_SECRET: 'hush-hook-secret',
  TAG: '1.4',
  HOST: '127.0.0.1',
};

describe('the effective config', () => {
  it('is printed with the origin of each value, secrets masked', async () => {
    const text = await printed();
    expect(text).toContain('  dialect: raw # default\n');
    // Of the defaults there are more with every key.
    expect(text.replaceAll(/.* # default\n/g, '')).toMatchSnapshot();
  });

  it.each([undefined, 'local', 'bare'])(
    'is the same service when it is loaded again, but for its secrets (environment %s)',
    async (environment) => {
      await inFolder(FILES, async (configDir) => {
        const load = async (chosen?: string): Promise<LoadedService> => {
          const [service] = (await loadServices({ configDir, env, environment: chosen })).services;
          if (!service) throw new Error('expected a service');
          return service;
        };
        const first = await load(environment);
        const text = effectiveConfig(first);
        expect(text).not.toContain('hush');
        const again = text.replaceAll(/\[secret (\w+)\]/g, `\${env:$1}`);
        await writeFile(join(configDir, 'services/orders.yaml'), again);
        expect(inClear((await load()).config)).toEqual(inClear(first.config));
      });
    },
  );
});

/** All that is of consequence: an environment is no longer one, and what was a default is written now. */
function inClear({ environment: _, facts: __, ...config }: ServiceConfig): unknown {
  const clear = (value: unknown): unknown => {
    if (value instanceof Secret) return `${value.name}=${value.reveal()}`;
    if (Array.isArray(value)) return value.map(clear);
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, clear(inner)]));
  };
  return clear(config);
}

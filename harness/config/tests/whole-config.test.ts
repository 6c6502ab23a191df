import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { HarnessError } from '../../base/exit.ts';
import { temporaryFolder } from '../../base/fixtures/folder.ts';
import { hasMembers } from '../../base/json-text.ts';
import { Secret } from '../../base/secret.ts';
import { selfSigned } from '../../proof/certificate.ts';
import { createRedaction } from '../../wire/redaction/redaction.ts';
import { loadOnly, ORDERS_CONTRACT, pactText } from '../fixtures/config-folder.ts';
import { packService, secretForms, serviceSecrets, unpackService } from '../secrets.ts';
import type { ServiceConfig } from '../service.ts';
import { effectiveConfig } from '../written/effective.ts';

/** Every block, with much that is left to its default and much that is not. */
const WHOLE = `service: orders
contract: orders
credentials: { scheme: bearer, key: "\${env:ORDERS_KEY}", secondKey: "\${env:NOT_SET:-}", refused: [{ key: "\${env:NOT_SET:-}", because: gone }, { key: "\${env:OLD_KEY}", because: revoked }], app: { id: one, key: two, secret: "\${env:APP_SECRET}" } }
provider:
  container:
    image: registry.example/orders:\${env:TAG}
    port: 8080
    env: { LOG: "\${env:LOG:-warning}", DATABASE: "postgres://orders:\${env:PASSWORD}@db/orders", WORKERS: 2, OFF: null, PIN: "\${env:PIN}" }
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
  heartbeat: { receive: { type: ping }, answer: { type: pong } }
  messages: { price: price.json }
  credential: { in: subprotocol, prefix: bearer. }
  keepsIdle: 1.5s
webhooks:
  trigger: { path: /hooks, body: { url: "\${WEBHOOK_URL}" } }
  signature: { header: X-Signature, secret: "\${env:HOOK_SECRET}" }
signatures: { a: "../keys/\${env:TAG}.pem", b: { secret: "\${env:SIGNING_SECRET}" } }
pacts:
  files: [../pacts]
  broker: { url: https://broker.example, token: "\${env:BROKER_TOKEN}" }
  states: { command: 'echo "\${HOME}"' }
  messages: /_messages
deployedVersion: { path: /version, pointer: /build/commit }
safety: { exceedRateLimit: true }
tls: { cert: client.pem, key: client-key.pem, insecure: true }
headers: { X-Tenant: "\${env:GATEWAY_KEY}" }
environments:
  local: { provider: { command: { run: [node, server.js], url: "http://\${env:HOST}:\${PORT}", env: { KEY: "\${env:ORDERS_KEY}" }, freshForEachSuite: true } } }
  bare: { provider: { reference: search }, deployedVersion: { header: X-Build }, plan: { requests: 5, window: 250ms }, openapi: null, websocket: null, webhooks: null, signatures: null, pacts: null, operations: null }
`;

// RFC 9421, appendix B.1.4.
const PUBLIC_KEY = `-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAJrQLj5P/89iXES9+vFgrIy29clF9CC/oPPsw3c5D0bs=
-----END PUBLIC KEY-----`;

const IDENTITY = selfSigned('client.example');

const FILES = {
  'contracts/orders.yaml': ORDERS_CONTRACT,
  'services/orders.yaml': WHOLE,
  'services/orders.json': '{}',
  'services/price.json': '{ "type": "object" }',
  'provider/Dockerfile': 'FROM scratch\n',
  'openapi/api.yaml':
    'openapi: 3.1.0\npaths: { "/c/{id}": { get: { operationId: c, responses: { "200": { description: ok } } } } }\n',
  'services/client.pem': IDENTITY.cert,
  'services/client-key.pem': IDENTITY.key,
  'keys/1.4.pem': PUBLIC_KEY,
  'pacts/web.json': pactText('web'),
};

const env = {
  ORDERS_KEY: 'hush-key-for-tests',
  APP_SECRET: 'hush-app-secret',
  PASSWORD: 'hush-password',
  OLD_KEY: 'hush-old-key',
  HOOK_SECRET: 'hush-hook-secret',
  SIGNING_SECRET: 'hush-signing-secret',
  GATEWAY_KEY: 'hush-gateway-key',
  HTTP_PROXY: 'http://jo:hush-proxy-password@proxy.example',
  BROKER_TOKEN: 'hush-broker-token',
  PIN: 'hush',
  TAG: '1.4',
  HOST: '127.0.0.1',
};

describe.each([undefined, 'local', 'bare'])(
  'a config with everything in it (environment %s)',
  (environment) => {
    const loaded = async () => {
      const configDir = temporaryFolder(FILES);
      return { configDir, service: await loadOnly(configDir, { env, environment }) };
    };

    it('is printed with the origin of each value, secrets masked', async () => {
      const { configDir, service } = await loaded();
      const text = effectiveConfig(service).replaceAll(`${configDir}/`, '');
      expect(text).not.toMatch(/hush|null # default/);
      // Of the defaults there are more with every key.
      expect(text.replaceAll(/.* # default\n/g, '')).toMatchSnapshot();
    });

    it('is the same service when what was printed is loaded again, but for its secrets', async () => {
      const { configDir, service } = await loaded();
      const again = effectiveConfig(service).replaceAll(/\[secret (\w+)\]/g, `\${env:$1}`);
      await writeFile(join(configDir, 'services/orders.yaml'), again);
      const { config } = await loadOnly(configDir, { env });
      // An environment is no longer one, and what was a default is written now.
      const same = { environment: null, facts: {} };
      const comparable = (each: typeof config) =>
        inClear({
          ...each,
          ...same,
          operations: each.operations.map((operation) => ({ ...operation, place: null })),
        });
      expect(comparable(config)).toEqual(comparable(service.config));
    });

    it('survives the way to a worker, but for the broker, which is not asked there', async () => {
      const { config } = (await loaded()).service;
      const packed = packService(config);
      expect(JSON.stringify(packed)).not.toContain('hush-broker-token');
      const travelled = unpackService(structuredClone(packed));
      const pacts = config.pacts && { ...config.pacts, broker: null };
      const expected: ServiceConfig = { ...config, ...(pacts && { pacts }) };
      expect(inClear(travelled)).toEqual(inClear(expected));
      const there = serviceSecrets(config).filter(({ name }) => name !== 'BROKER_TOKEN');
      expect(serviceSecrets(travelled)).toEqual(there);
    });
  },
);

it('knows as secrets what references yield, but no defaults and nothing too short to be told from other text', async () => {
  const { config } = await loadOnly(temporaryFolder(FILES), { env });
  const names = serviceSecrets(config).map(({ name }) => name);
  expect(new Set(names.filter((name) => !name.includes('.')))).toEqual(
    new Set([
      'ORDERS_KEY',
      'APP_SECRET',
      'PASSWORD',
      'HOOK_SECRET',
      'SIGNING_SECRET',
      'OLD_KEY',
      'CLIENT_CERTIFICATE_KEY',
      'GATEWAY_KEY',
      'HTTP_PROXY_LOGIN',
      'BROKER_TOKEN',
    ]),
  );
});

const { config: whole } = await loadOnly(temporaryFolder(FILES), { env });

it.each([
  ...Object.keys(whole).filter((key) => key !== 'credentials'),
  'a block that nobody has thought of yet',
])('a secret anywhere in %s is known to redaction, and reaches the worker', (key) => {
  const secret = new Secret('HIDDEN', 'hush-hidden-secret', 'the file hidden.txt');
  const hidden = { deep: [['text', secret], { again: secret }] };
  const config: ServiceConfig = { ...whole, [key]: hidden };
  expect(createRedaction(serviceSecrets(config)).text('has hush-hidden-secret in it')).not.toContain('hush');
  expect(secretForms(config).map(({ name }) => name)).toContain('HIDDEN');
  const travelled = unpackService(structuredClone(packService(config)));
  expect(inClear(travelled)).toMatchObject({ [key]: inClear(hidden) });
});

it('what only looks like a packed secret reaches the worker as the text that it is', () => {
  const packed = { secretName: 'NAME', secretValue: 'value', secretPlace: 'place' };
  const config: ServiceConfig = { ...whole, definitions: { example: packed, again: [packed] } };
  const { definitions } = unpackService(structuredClone(packService(config)));
  expect(definitions).toEqual(config.definitions);
  expect(definitions?.example).toBe([definitions?.again].flat(2)[0]);
});

it.each([null, 'text', {}, { packed: 'something else', config: {}, credentials: {} }])(
  'a packed config is told from anything else: %j',
  (packed) => {
    expect(() => unpackService(packed)).toThrow(HarnessError);
  },
);

function inClear(value: unknown): unknown {
  if (value instanceof Secret) return `${value.name}=${value.reveal()}`;
  if (Array.isArray(value)) return value.map(inClear);
  if (!hasMembers(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, inClear(inner)]));
}

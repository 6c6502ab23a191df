import { describe, expect, it } from 'vitest';
import { revealed } from '../../base/secret.ts';
import { loadOrders } from '../fixtures/config-folder.ts';
import { parseMemory } from '../shape/text-forms.ts';
import type { ProviderConfig } from './provider.ts';

const env = {
  PATH: process.env.PATH,
  ORDERS_KEY: 'hush-key-for-tests',
  ORDERS_IMAGE: 'registry.example/orders:2',
  DATABASE_PASSWORD: 'hush-password',
  PIN: 'hush',
};
const files = { 'services/orders.json': '{}', 'provider/Dockerfile': 'FROM scratch\n' };

const CONTAINER = `service: orders
contract: orders
credentials: { scheme: bearer, key: "\${env:ORDERS_KEY}" }
provider:
  container:
    image: \${env:ORDERS_IMAGE}
    port: 8080
    path: /api/
    env:
      LOG_LEVEL: \${env:LOG_LEVEL:-warning-level}
      DATABASE: "postgres://orders:\${env:DATABASE_PASSWORD}@db/orders"
      WORKERS: 2
      DEBUG: false
      PIN: \${env:PIN}
    secrets:
      /run/secrets/api-key: \${env:ORDERS_KEY}
      /run/secrets/other: \${env:OTHER_KEY:-}
    files: { /etc/orders.json: orders.json }
    command: [serve, --verbose]
    aliases: [orders]
    ready: { http: /healthz, status: 204 }
    timeout: 90s
    limits: { memory: 512m, cpus: 1.5 }
    capabilities: [CAP_CHOWN, SETUID]
    companions:
      db:
        image: postgres:18
        env: { POSTGRES_PASSWORD: "\${env:DATABASE_PASSWORD}" }
        ready: { log: ready to accept connections, times: 2 }
      cache: { build: { context: ../provider, target: cache, args: { VERSION: '8' } }, port: 6380, ready: { http: / } }
environments:
  slim: { provider: { container: { image: null, build: ../provider, env: { DEBUG: null, WORKERS: 1 }, ready: { log: up }, freshForEachSuite: true } } }
  elsewhere: { provider: { url: 'https://orders.example' } }
  local: { provider: { command: { run: ["./start", "--port=\${PORT}"], url: "http://127.0.0.1:\${PORT}/api" } } }
`;

const COMMAND = `service: orders
contract: orders
credentials: { scheme: bearer, key: example-key-in-the-file }
provider:
  command:
    run: node server.js \${PORT}
    cwd: ../provider
    env: { API_KEY: "\${env:ORDERS_KEY}" }
    url: http://\${env:HOST:-127.0.0.1}:\${PORT}
    ready: { log: listening }
environments:
  fixed: { provider: { command: { run: [node, server.js], url: 'http://127.0.0.1:8080', timeout: 5s, freshForEachSuite: true } } }
`;

/** The provider of that kind. */
async function read<K extends ProviderConfig['kind']>(kind: K, yaml: string, environment?: string) {
  const { provider } = (await loadOrders(yaml, { env, environment }, files)).config;
  const isThat = (each: ProviderConfig): each is Extract<ProviderConfig, { kind: K }> => each.kind === kind;
  if (!isThat(provider)) throw new Error(`expected a ${kind}, not a ${provider.kind}`);
  return provider;
}

const container = (environment?: string) => read('container', CONTAINER, environment);
const command = (environment?: string) => read('command', COMMAND, environment);

describe('a container in a service file', () => {
  it('is read with all that it is given', async () => {
    const provider = await container();
    expect(provider).toMatchObject({
      kind: 'container',
      image: { kind: 'image', name: 'registry.example/orders:2' },
      port: 8080,
      path: '/api',
      files: { '/etc/orders.json': expect.stringMatching(/^\/.*\/services\/orders\.json$/) },
      command: ['serve', '--verbose'],
      aliases: ['orders'],
      ready: { kind: 'http', path: '/healthz', status: 204 },
      timeoutMs: 90_000,
      limits: { memoryBytes: 512 * 1024 ** 2, cpus: 1.5 },
      capabilities: ['CHOWN', 'SETUID'],
    });
    expect(Object.entries(provider.env).map(([name, text]) => `${name}=${revealed(text)}`)).toEqual([
      'LOG_LEVEL=warning-level',
      'DATABASE=postgres://orders:hush-password@db/orders',
      'WORKERS=2',
      'DEBUG=false',
      'PIN=hush',
    ]);
    // One that is not set is not there.
    expect(Object.keys(provider.secrets)).toEqual(['/run/secrets/api-key']);
    expect(provider.secrets['/run/secrets/api-key']?.reveal()).toBe('hush-key-for-tests');
  });

  it('has companions, in the order written', async () => {
    const { companions } = await container();
    expect(companions).toMatchObject([
      {
        name: 'db',
        port: null,
        ready: { kind: 'log', text: 'ready to accept connections', times: 2 },
        timeoutMs: 60_000,
      },
      {
        name: 'cache',
        port: 6380,
        image: { kind: 'build', dockerfile: 'Dockerfile', target: 'cache', args: { VERSION: '8' } },
      },
    ]);
  });

  it('stays the same container where an environment says more of it', async () => {
    const provider = await container('slim');
    expect(provider.image).toMatchObject({ kind: 'build' });
    expect(provider.ready).toEqual({ kind: 'log', text: 'up', times: 1 });
    expect(Object.keys(provider.env)).toEqual(['LOG_LEVEL', 'DATABASE', 'WORKERS', 'PIN']);
    expect(provider.companions).toHaveLength(2);
    expect(provider.freshForEachSuite).toBe(true);
  });

  it.each([
    ['elsewhere', 'url'],
    ['local', 'command'],
  ] as const)(
    'is replaced as a whole where the environment %s names another kind',
    async (environment, kind) => {
      await read(kind, CONTAINER, environment);
    },
  );
});

describe('a command in a service file', () => {
  it('is read with the port still open', async () => {
    expect(await command()).toMatchObject({
      run: 'node server.js $' + '{PORT}',
      cwd: expect.stringMatching(/\/provider$/),
      url: 'http://127.0.0.1:$' + '{PORT}',
      ready: { kind: 'log', text: 'listening', times: 1 },
      timeoutMs: 60_000,
      freshForEachSuite: false,
    });
  });

  it('may have a fixed port, and a list of words', async () => {
    expect(await command('fixed')).toMatchObject({
      run: ['node', 'server.js'],
      url: 'http://127.0.0.1:8080',
      timeoutMs: 5_000,
      ready: { kind: 'log', text: 'listening', times: 1 },
      freshForEachSuite: true,
    });
  });
});

it('a Unix domain socket is found beside the file, stays on this machine, and replaces what was there before', async () => {
  const yaml = `service: orders
contract: orders
credentials: { scheme: bearer, key: literal-key-for-tests }
provider: { container: { image: orders:1, port: 80 } }
environments: { local: { provider: { unixSocket: ../run/api.sock } } }
`;
  const { path } = await read('unixSocket', yaml, 'local');
  expect(path).toMatch(/^\/.*[^.]\/run\/api\.sock$/);
});

describe('a size of memory', () => {
  it.each([
    ['512m', 512 * 1024 ** 2],
    ['2g', 2 * 1024 ** 3],
    ['1.5G', 1.5 * 1024 ** 3],
  ])('%s is read as %d octets', (text, bytes) => {
    expect(parseMemory(text)).toBe(bytes);
  });

  it.each(['', '512', 'm', '1t', '-1m', '1 g'])('%j is none', (text) => {
    expect(parseMemory(text)).toBeNull();
  });
});

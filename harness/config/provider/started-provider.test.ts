import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { hasMembers } from '../../base/json-text.ts';
import { Secret } from '../../credential/secret.ts';
import { revealed } from '../draft/secret-text.ts';
import { loadOrders } from '../fixtures/config-folder.ts';
import type { LoadedService } from '../load.ts';
import { packService, serviceSecrets, unpackService } from '../secrets.ts';
import { parseMemory } from '../shape/units.ts';
import { effectiveConfig } from '../written/effective.ts';
import type { CommandProvider, ContainerProvider } from './started-provider.ts';

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

async function load(yaml: string, environment?: string): Promise<LoadedService> {
  const [service] = (await loadOrders(yaml, { env, environment }, files)).services;
  if (!service) throw new Error('expected a service');
  return service;
}

async function container(environment?: string): Promise<ContainerProvider> {
  const { provider } = (await load(CONTAINER, environment)).config;
  if (provider.kind !== 'container') throw new Error(`expected a container, not ${provider.kind}`);
  return provider;
}

async function command(environment?: string): Promise<CommandProvider> {
  const { provider } = (await load(COMMAND, environment)).config;
  if (provider.kind !== 'command') throw new Error(`expected a command, not ${provider.kind}`);
  return provider;
}

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

  it('knows as secrets what references yield, but no defaults and nothing too short to be told from other text', async () => {
    const secrets = serviceSecrets((await load(CONTAINER)).config);
    const names = secrets.map(({ name }) => name).filter((name) => !name.includes('.'));
    expect(new Set(names)).toEqual(new Set(['DATABASE_PASSWORD', 'ORDERS_KEY']));
  });

  it('stays the same container where an environment says more of it', async () => {
    const provider = await container('slim');
    expect(provider.image).toMatchObject({ kind: 'build' });
    expect(provider.ready).toEqual({ kind: 'log', text: 'up', times: 1 });
    expect(Object.keys(provider.env)).toEqual(['LOG_LEVEL', 'DATABASE', 'WORKERS', 'PIN']);
    expect(provider.companions).toHaveLength(2);
  });

  it.each([
    ['elsewhere', 'url'],
    ['local', 'command'],
  ])('is replaced as a whole where the environment %s names another kind', async (environment, kind) => {
    expect((await load(CONTAINER, environment)).config.provider.kind).toBe(kind);
  });

  it('survives the way to a worker', async () => {
    const { config } = await load(CONTAINER);
    const travelled = unpackService(structuredClone(packService(config)));
    expect(inClear(travelled)).toEqual(inClear(config));
    expect(serviceSecrets(travelled)).toEqual(serviceSecrets(config));
  });

  it('is printed with the origin of each value, secrets masked', async () => {
    const text = effectiveConfig(await load(CONTAINER));
    expect(text).not.toContain('hush');
    expect(text).toContain('DATABASE: postgres://orders:[secret DATABASE_PASSWORD]@db/orders #');
    expect(text).toMatch(/api-key: "\[secret ORDERS_KEY\]" # .*orders\.yaml:16:29, env ORDERS_KEY\n/);
    expect(text).toMatch(/LOG_LEVEL: warning-level # .*orders\.yaml:10:18, env LOG_LEVEL \(default\)\n/);
    expect(parse(text).provider.container).toMatchObject({
      image: 'registry.example/orders:2',
      port: 8080,
      ready: { http: '/healthz', status: 204 },
      timeout: '90s',
      limits: { memory: '512m', cpus: 1.5 },
      companions: { db: { timeout: '60s', ready: { log: 'ready to accept connections', times: 2 } } },
    });
  });
});

describe('a command in a service file', () => {
  it('is read with the port still open', async () => {
    expect(await command()).toMatchObject({
      run: 'node server.js $' + '{PORT}',
      cwd: expect.stringMatching(/\/provider$/),
      url: 'http://127.0.0.1:$' + '{PORT}',
      ready: { kind: 'log', text: 'listening', times: 1 },
      timeoutMs: 60_000,
    });
  });

  it('is printed, secrets masked', async () => {
    const text = effectiveConfig(await load(COMMAND));
    expect(text).not.toContain('hush');
    expect(parse(text).provider.command).toMatchObject({
      run: 'node server.js $' + '{PORT}',
      env: { API_KEY: '[secret ORDERS_KEY]' },
    });
  });

  it('survives the way to a worker', async () => {
    const { config } = await load(COMMAND);
    expect(inClear(unpackService(structuredClone(packService(config))))).toEqual(inClear(config));
  });

  it('may have a fixed port, and a list of words', async () => {
    expect(await command('fixed')).toMatchObject({
      run: ['node', 'server.js'],
      url: 'http://127.0.0.1:8080',
      timeoutMs: 5_000,
      ready: { kind: 'log', text: 'listening', times: 1 },
    });
  });
});

describe('a provider that each suite finds fresh', () => {
  it('is so where the config asks for it, and prints it', async () => {
    expect([(await container()).freshForEachSuite, (await command()).freshForEachSuite]).toEqual([
      false,
      false,
    ]);
    expect((await container('slim')).freshForEachSuite).toBe(true);
    expect((await command('fixed')).freshForEachSuite).toBe(true);
    const printed = effectiveConfig(await load(COMMAND, 'fixed'));
    expect(parse(printed).provider.command.freshForEachSuite).toBe(true);
  });
});

describe('a Unix domain socket', () => {
  it('is found beside the file, stays on this machine, and replaces what was there before', async () => {
    const yaml = `service: orders
contract: orders
credentials: { scheme: bearer, key: literal-key-for-tests }
provider: { container: { image: orders:1, port: 80 } }
environments: { local: { provider: { unixSocket: ../run/api.sock } } }
`;
    const { config } = await load(yaml, 'local');
    expect(config.provider).toEqual({
      kind: 'unixSocket',
      path: expect.stringMatching(/^\/.*[^.]\/run\/api\.sock$/),
    });
  });
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

function inClear(value: unknown): unknown {
  if (value instanceof Secret) return `${value.name}=${value.reveal()}`;
  if (Array.isArray(value)) return value.map(inClear);
  if (!hasMembers(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, inClear(inner)]));
}

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { temporaryFolder } from '../../base/fixtures/folder.ts';
import type { Secret } from '../../base/secret.ts';
import { runs } from '../../providers/fixtures/processes.ts';
import { loadOnly, loadOrders, ORDERS_CONTRACT } from '../fixtures/config-folder.ts';
import { formatOrigin } from '../yaml/origin.ts';

const at = (url: string, credentials: string) =>
  `service: orders\ncontract: orders\nprovider: { url: '${url}' }\ncredentials: ${credentials}\n`;

const away = (credentials: string) => at('https://orders.example', credentials);

async function keyOf(yaml: string, env: NodeJS.ProcessEnv = {}, files = {}): Promise<Secret> {
  const { config } = await loadOrders(yaml, { env: { PATH: process.env.PATH, ...env } }, files);
  if (!config.credentials.secret) throw new Error('expected a key');
  return config.credentials.secret;
}

const bearer = (reference: string) => `{ scheme: bearer, key: "${reference}" }`;

describe('a secret', () => {
  it.each([
    ['from a variable', `\${env:ORDERS_KEY}`, 'key-for-tests', 'ORDERS_KEY'],
    ['from a variable that has a default', `\${env:ORDERS_KEY:-unused}`, 'key-for-tests', 'ORDERS_KEY'],
    ['from a file beside the config', `\${file:keys/a.txt}`, 'file-key-for-tests', 'ORDERS_KEY'],
    ['from a command', `\${exec:printf 'exec-key-for-tests\\\\n'}`, 'exec-key-for-tests', 'ORDERS_KEY'],
    ['from a command with braces', `\${exec:awk '{print $2}' keys/b.txt}`, 'second-for-tests', 'ORDERS_KEY'],
  ])('%s', async (_from, reference, value, name) => {
    const files = {
      'services/keys/a.txt': 'file-key-for-tests\r\n',
      'services/keys/b.txt': 'one second-for-tests\n',
    };
    const key = await keyOf(away(bearer(reference)), { ORDERS_KEY: 'key-for-tests' }, files);
    expect(key.reveal()).toBe(value);
    expect(key.name).toBe(name);
  });

  it.each(['http://localhost:1', 'http://127.8.8.8', 'http://[::1]:1', 'https://a.localhost'])(
    'may stand in the file for %s',
    async (url) => {
      expect((await keyOf(at(url, bearer('example-key-for-tests')))).reveal()).toBe('example-key-for-tests');
    },
  );

  it.each(['http://localhost.example', 'http://10.0.0.1', 'http://[::2]'])('may not for %s', async (url) => {
    await expect(keyOf(at(url, bearer('example-key-for-tests')))).rejects.toThrow(
      /stands in the file itself/,
    );
  });

  it('is not run or read again for an environment that is not chosen', async () => {
    const yaml = `${away('{ scheme: none }')}environments: { ci: { credentials: ${bearer(`\${exec:exit 1}`)} } }\n`;
    await expect(loadOrders(yaml)).resolves.toBeDefined();
  });
});

describe('a second key', () => {
  const second = (reference: string) => `{ scheme: bearer, key: "\${env:KEY}", secondKey: "${reference}" }`;
  const load = async (yaml: string, env: NodeJS.ProcessEnv) => {
    const { config, origins } = await loadOrders(yaml, { env: { KEY: 'key-for-tests', ...env } });
    const origin = origins.get('credentials.secondKey');
    return { value: config.credentials.second?.reveal() ?? null, origin: origin && formatOrigin(origin) };
  };

  it('is none where its default is empty and the variable is not set', async () => {
    const { value, origin } = await load(away(second(`\${env:KEY_2:-}`)), {});
    expect(value).toBeNull();
    expect(origin).toMatch(/env KEY_2 \(not set\)$/);
  });

  it('is none where its default is an example that must not leave this machine', async () => {
    const { value, origin } = await load(away(second(`\${env:KEY_2:-example-second-key}`)), {});
    expect(value).toBeNull();
    expect(origin).toMatch(/its default stays on this machine\)$/);
  });

  it('is the variable where that is set', async () => {
    const { value } = await load(away(second(`\${env:KEY_2:-}`)), { KEY_2: 'second-key-for-tests' });
    expect(value).toBe('second-key-for-tests');
  });
});

it('a command that hangs leaves nothing behind', async () => {
  const command = 'sleep 300 & echo $! > child; echo $$ > shell; wait';
  const configDir = temporaryFolder({
    'services/orders.yaml': away(bearer(`\${exec:${command}}`)),
    'contracts/orders.yaml': ORDERS_CONTRACT,
  });
  const pidIn = async (name: string) =>
    Number(await readFile(join(configDir, 'services', name), 'utf8').catch(() => 0));
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const loading = expect(loadOnly(configDir, { execTimeoutMs: 300 })).rejects.toThrow(/did not finish/);
  // A poll would let the time of the command pass.
  while ((await pidIn('shell')) === 0) await setImmediate();
  vi.advanceTimersByTime(300);
  await loading;
  for (const name of ['shell', 'child']) {
    const pid = await pidIn(name);
    expect(pid).toBeGreaterThan(1);
    await expect.poll(() => runs(pid), { timeout: 60_000 }).toBe(false);
  }
});

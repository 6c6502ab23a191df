import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder, writeInto } from '../../base/fixtures/folder.ts';
import { selfSigned } from '../../proof/certificate.ts';
import { bearer, SCHEMES } from '../credential/schemes.ts';
import { loadOnly } from '../fixtures/config-folder.ts';
import { packService, unpackService } from '../secrets.ts';
import { initService, writeNewFiles } from './first-service.ts';

const ANSWERS = {
  service: 'orders',
  url: 'https://orders.example/api/',
  scheme: bearer,
  answers: { 'key-env': 'ORDERS_KEY' },
  samplePath: '/v1/orders',
  openapi: null,
};

const ENV = {
  ORDERS_KEY: 'key-for-tests',
  ORDERS_KEY_USER: 'me',
  ORDERS_KEY_ID: 'one',
  ORDERS_KEY_KEY: 'two',
};

describe('a first service', () => {
  it.each(SCHEMES)(
    'loads as written, with a contract to fill in, also in a worker: $name',
    async (scheme) => {
      const { cert, key } = selfSigned('client.example');
      const folder = temporaryFolder({ 'client.pem': cert, 'client-key.pem': key });
      const configDir = join(folder, 'conformance');
      const answers = Object.fromEntries(
        scheme.first.asks.map(({ option, variable, fallback }) => [
          option,
          variable ? 'ORDERS_KEY' : /\.pem$/.test(fallback) ? join(folder, fallback) : fallback,
        ]),
      );
      await writeNewFiles(await initService(configDir, { ...ANSWERS, scheme, answers }));
      const { config } = await loadOnly(configDir, { env: ENV });
      expect(config).toMatchObject({
        service: 'orders',
        provider: { kind: 'url', url: 'https://orders.example/api' },
        credentials: { scheme: { name: scheme.name } },
        safety: { exceedRateLimit: false },
      });
      expect(config.contract.clauses).toMatchObject([
        {
          key: 'endpoint.sample',
          value: { method: 'GET', path: '/v1/orders', fields: {}, response: 'not stated' },
        },
      ]);
      const { credentials } = unpackService(structuredClone(packService(config)));
      expect(credentials.scheme).toBe(scheme);
      expect(credentials.secret?.reveal()).toBe(config.credentials.secret?.reveal());
    },
  );

  it('uses a contract that is there already', async () => {
    const files = await initService('config', { ...ANSWERS, service: 'search' });
    expect(files.map(({ path }) => path)).toEqual([join('config', 'services', 'search.yaml')]);
  });

  it.each(['services/orders.yaml', 'services/orders.yml', 'contracts/orders.yaml'])(
    'overwrites no %s',
    async (path) => {
      const configDir = temporaryFolder();
      const planned = await initService(configDir, ANSWERS);
      writeInto(configDir, { [path]: 'mine' });
      await expect(writeNewFiles(planned)).rejects.toThrow(/is there already/);
      expect(await readFile(join(configDir, path), 'utf8')).toBe('mine');
    },
  );

  it.skipIf(process.platform !== 'linux')('gives up where no folder can be made', async () => {
    await expect(writeNewFiles(await initService('/proc/nope', ANSWERS))).rejects.toThrow(
      /\/proc\/nope\/services\/orders\.yaml: cannot be written \(ENOENT\)/,
    );
  });

  it.each([
    ['service', { service: 'My Orders' }, 'lower-case'],
    ['url', { url: 'orders.example' }, 'https://'],
    ['url', { url: 'https://me:hush@orders.example' }, 'credentials'],
    ['key-env', { answers: { 'key-env': 'sk-hush-hush' } }, 'never the value itself'],
  ])('refuses an unfit answer: %s', async (key, answer, remedy) => {
    const refused = initService('config', { ...ANSWERS, ...answer });
    await expect(refused).rejects.toMatchObject({ key, remedy: expect.stringContaining(remedy) });
    await expect(refused).rejects.not.toThrow(/hush/);
  });
});

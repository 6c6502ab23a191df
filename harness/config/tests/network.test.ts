import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { Secret } from '../../credential/secret.ts';
import { selfSigned } from '../../transport/fixtures/certificate.ts';
import { GOOD_SERVICE, loadOrders } from '../fixtures/config-folder.ts';
import { packService, serviceSecrets, unpackService } from '../secrets.ts';
import type { ServiceConfig } from '../service.ts';

const { cert, key } = selfSigned('client.example');
const PASSPHRASE = 'passphrase-of-a-test';
const encrypted = createPrivateKey(key)
  .export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: PASSPHRASE })
  .toString();
const FILES = { 'services/client.pem': cert, 'services/key.pem': key, 'services/encrypted.pem': encrypted };
const ENV = {
  PASSPHRASE,
  GATEWAY_KEY: 'gateway-key-of-a-test',
  SHORT: 'short',
  TWO_LINES: 'two-lines\r\nof-a-test',
};

async function loadedWith(block: string, env: NodeJS.ProcessEnv = ENV): Promise<ServiceConfig> {
  return (await loadOrders(`${GOOD_SERVICE}${block}\n`, { env }, FILES)).config;
}

const secretsOf = (config: ServiceConfig) => serviceSecrets(config).map((secret) => secret.reveal());

describe('a client certificate', () => {
  it.each(['key: key.pem', `key: encrypted.pem, passphrase: "\${env:PASSPHRASE}"`])(
    'is read with its key: %s',
    async (written) => {
      const { tls } = await loadedWith(`tls: { cert: client.pem, ${written} }`);
      expect(tls?.client?.certificate).toBe(cert.trim());
      expect(tls?.client?.key.reveal()).toBe(key);
      expect(JSON.stringify(tls)).not.toContain('PRIVATE KEY');
    },
  );

  const other = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  it.each<[string, string, RegExp]>([
    ['no key', '{ cert: client.pem }', /tls\.cert: is of no use without its private key/],
    ['no certificate', '{ key: key.pem }', /tls\.key: belongs to a client certificate/],
    [
      'a passphrase for nothing',
      `{ passphrase: "\${env:PASSPHRASE}" }`,
      /tls\.passphrase: opens a private key/,
    ],
    ['no passphrase', '{ cert: client.pem, key: encrypted.pem }', /encrypted\.pem is encrypted.*passphrase/s],
    [
      'another passphrase',
      `{ cert: client.pem, key: encrypted.pem, passphrase: "\${env:GATEWAY_KEY}" }`,
      /tls\.passphrase: does not open the key/,
    ],
    [
      'a key that is none',
      '{ cert: client.pem, key: client.pem }',
      /client\.pem holds no private key in PEM/,
    ],
    [
      'the key of another',
      '{ cert: client.pem, key: other.pem }',
      /is not the key of the certificate in client\.pem/,
    ],
    ['a file that is not there', '{ cert: gone.pem, key: key.pem }', /gone\.pem: there is no such file/],
  ])('is refused with %s', async (_what, tls, message) => {
    const files = { ...FILES, 'services/other.pem': other };
    await expect(loadOrders(`${GOOD_SERVICE}tls: ${tls}\n`, { env: ENV }, files)).rejects.toThrow(message);
  });
});

describe('headers of one’s own', () => {
  it('are texts in which what a reference yields is secret', async () => {
    const config = await loadedWith(`headers: { X-Tenant: acme, X-Gateway-Key: "Key \${env:GATEWAY_KEY}" }`);
    expect(config.headers?.map(([name, value]) => `${name}: ${value.join('')}`)).toEqual([
      'X-Tenant: acme',
      'X-Gateway-Key: Key [secret GATEWAY_KEY]',
    ]);
    expect(secretsOf(config)).toContain(ENV.GATEWAY_KEY);
    expect(secretsOf(config)).not.toContain('acme');
  });

  it.each<[string, string, RegExp]>([
    [
      'where the credential goes',
      'Authorization: abc',
      /Authorization: is where a credential goes.*credentials/s,
    ],
    ['where checks change it', 'Accept: text/html', /is a header that the checks set themselves/],
    ['that frame the message', 'Content-Length: "3"', /is a header that the checks set themselves/],
    ['of no name', '"X Y": a', /the name of a header/],
    ['of nothing', 'X-A: ""', /is empty/],
    ['of two lines', `X-A: "\${env:TWO_LINES}"`, /holds a line break/],
    ['with a secret that cannot be kept', `X-A: "\${env:SHORT}"`, /shorter than 8 characters/],
  ])('are refused %s', async (_what, header, message) => {
    await expect(loadedWith(`headers: { ${header} }`)).rejects.toThrow(message);
  });

  it('are refused under the name of the key', async () => {
    const service = GOOD_SERVICE.replace(
      /credentials: .*/,
      `credentials: { scheme: header, name: X-Key, key: "\${env:GATEWAY_KEY}" }`,
    );
    await expect(loadOrders(`${service}headers: { x-key: abc }\n`, { env: ENV })).rejects.toThrow(
      /headers\.x-key: is where a credential goes/,
    );
  });
});

describe('the proxies of the environment', () => {
  it('belong to the config, their login among its secrets', async () => {
    const env = { HTTPS_PROXY: 'http://jo:proxy-password-of-a-test@proxy.example:3128' };
    const config = await loadedWith('', env);
    expect(config.proxies?.secure?.shown).toBe('http://proxy.example:3128');
    expect(secretsOf(config)).toContain('proxy-password-of-a-test');
  });

  it('are a fault of usage where they cannot be used', async () => {
    await expect(loadedWith('', { https_proxy: 'socks5://proxy.example' })).rejects.toThrow(
      /the environment variable https_proxy names a proxy of the kind socks5/,
    );
  });
});

it('all of it reaches the worker, secrets included', async () => {
  const env = { ...ENV, HTTP_PROXY: 'http://jo:proxy-password-of-a-test@proxy.example' };
  const block = `tls: { cert: client.pem, key: key.pem, insecure: true }\nheaders: { X-A: "\${env:GATEWAY_KEY}" }`;
  const config = await loadedWith(block, env);
  const travelled = unpackService(structuredClone(packService(config)));
  expect(travelled.tls?.client?.key).toBeInstanceOf(Secret);
  expect(secretsOf(travelled)).toEqual(secretsOf(config));
  expect({ ...travelled, credentials: null }).toEqual({ ...config, credentials: null });
});

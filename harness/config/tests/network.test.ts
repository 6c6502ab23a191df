import { createPrivateKey } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { selfSigned } from '../../proof/certificate.ts';
import { GOOD_SERVICE, loadOrders } from '../fixtures/config-folder.ts';
import { serviceSecrets } from '../secrets.ts';
import type { ServiceConfig } from '../service.ts';

const { cert, key } = selfSigned('client.example');
const PASSPHRASE = 'passphrase-of-a-test';
const encrypted = createPrivateKey(key)
  .export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: PASSPHRASE })
  .toString();
const FILES = { 'services/client.pem': cert, 'services/key.pem': key, 'services/encrypted.pem': encrypted };
const ENV = { PASSPHRASE, GATEWAY_KEY: 'gateway-key-of-a-test' };

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

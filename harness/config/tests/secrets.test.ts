import { describe, expect, it } from 'vitest';
import { HarnessError } from '../../base/exit.ts';
import { hasMembers } from '../../base/json-text.ts';
import { Secret } from '../../credential/secret.ts';
import { GOOD_SERVICE, loadOrders } from '../fixtures/config-folder.ts';
import { packService, unpackService } from '../secrets.ts';

const APP = `{ id: one, key: two, secret: "\${env:SECRET}" }`;

const ENV = { KEY: 'key-for-tests', KEY_2: 'second-key-for-tests', SECRET: 'secret-for-tests' };

async function configWith(credentials: string) {
  const [service] = (await loadOrders(GOOD_SERVICE.replace('{ scheme: none }', credentials), { env: ENV }))
    .services;
  if (!service) throw new Error('expected a service');
  return service.config;
}

/** Every secret below a value, in clear. */
function revealed(value: unknown): unknown {
  if (value instanceof Secret) return `${value.name}=${value.reveal()}`;
  if (!hasMembers(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, revealed(inner)]));
}

describe('a packed config', () => {
  it.each([
    '{ scheme: none }',
    `{ scheme: bearer, key: "\${env:KEY}", secondKey: "\${env:KEY_2}", app: ${APP} }`,
    `{ scheme: header, name: X-API-Key, key: "\${env:KEY}" }`,
    `{ scheme: query, name: api_key, key: "\${env:KEY}" }`,
    `{ scheme: basic, username: me, password: "\${env:KEY}", app: ${APP} }`,
    `{ scheme: signed, app: ${APP} }`,
  ])('survives structured clone: %s', async (credentials) => {
    const config = await configWith(credentials);
    const travelled = unpackService(structuredClone(packService(config)));
    expect(travelled.credentials.scheme).toBe(config.credentials.scheme);
    expect(revealed(travelled.credentials.values)).toEqual(revealed(config.credentials.values));
    expect({ ...travelled, credentials: null }).toEqual({ ...config, credentials: null });
  });

  it('survives with the secret of its webhooks', async () => {
    const signature = `{ header: X-Signature, prefix: sha256=, secret: "\${env:SECRET}" }`;
    const webhooks = `webhooks: { trigger: { path: /hooks }, signature: ${signature} }\n`;
    const [service] = (await loadOrders(GOOD_SERVICE + webhooks, { env: ENV })).services;
    if (!service) throw new Error('expected a service');
    const travelled = unpackService(structuredClone(packService(service.config)));
    expect(revealed(travelled.webhooks)).toEqual(revealed(service.config.webhooks));
    expect(travelled.webhooks).toMatchObject({
      listen: { address: '127.0.0.1', port: 0 },
      trigger: { method: 'POST', path: '/hooks', body: null },
      withinMs: 10_000,
    });
  });

  it.each([null, 'text', {}, { packed: 'something else', config: {}, credentials: {} }])(
    'is told from anything else: %j',
    (packed) => {
      expect(() => unpackService(packed)).toThrow(HarnessError);
    },
  );
});

import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { effectiveConfig } from './effective.ts';
import { GOOD_SERVICE, loadOrders } from './fixtures/config-folder.ts';

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

describe('the effective config', () => {
  it('is printed with the origin of each value, secrets masked', async () => {
    expect(await printed()).toMatchSnapshot();
  });

  it('holds no secret', async () => {
    expect(await printed()).not.toContain('hush');
  });

  it('is YAML, of the shape of a service file', async () => {
    expect(parse(await printed())).toMatchObject({
      service: 'orders',
      credentials: { scheme: 'header', key: '[secret ORDERS_KEY]' },
      plan: { requests: 5, window: '60s' },
      safety: { exceedRateLimit: false },
      timeouts: { connect: '250ms' },
    });
  });
});

import { describe, expect, it } from 'vitest';
import { GOOD_SERVICE, loadOrders } from '../../../fixtures/config-folder.ts';
import { oneOperation } from '../fixtures/described.ts';

describe('the path of the server', () => {
  it.each([
    ['', '/v1', '/v1/things'],
    ['/v1', '/v1', '/things'],
    ['/v1/', '/v1/', '/things'],
    ['/gateway/v1', '/v1', '/things'],
    ['/gateway/api', '/api/v1', '/v1/things'],
    ['/gateway/api', '/gateway/api/v1', '/v1/things'],
    ['/gateway', '/api/v1', '/api/v1/things'],
    ['/xv1', '/v1', '/v1/things'],
    ['/v1', '/', '/things'],
  ])('counts once: below %s, %s makes it %s', async (base, url, path) => {
    const service = GOOD_SERVICE.replace('https://orders.example', `https://orders.example${base}`);
    const document = JSON.stringify(oneOperation({}, { servers: [{ url }] }));
    const { config } = await loadOrders(`${service}openapi: ../api.json\n`, {}, { 'api.json': document });
    expect(config.operations[0]?.path).toBe(path);
  });
});

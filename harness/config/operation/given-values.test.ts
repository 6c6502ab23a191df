import { expect, it } from 'vitest';
import { GOOD_SERVICE, loadOrders } from '../fixtures/config-folder.ts';
import { OK } from './openapi/fixtures/described.ts';

const inPath = (name: string, type = 'string') => ({ name, in: 'path', required: true, schema: { type } });
const optional = { name: 'mode', in: 'query', schema: { type: 'string' } };
const get = (operationId: string, ...parameters: readonly object[]) => ({
  get: { operationId, parameters, responses: { 200: OK } },
});
const document = JSON.stringify({
  openapi: '3.1.0',
  paths: {
    '/orgs/{org}/orders/{id}': get('getOrder', inPath('org'), inPath('id', 'integer')),
    '/orgs/{org}/shops/{id}': get('getShop', inPath('org'), inPath('id'), optional),
    '/lists': get('lists', optional),
    '/keys/{key}': get('getKey', { ...inPath('key'), example: 'shown' }),
  },
});

/** The paths that are called, in an environment or none. */
async function pathsIn(environment: string | null, parameters: string, staging = '{}') {
  const yaml = `${GOOD_SERVICE}openapi: ../api.json\nparameters: ${parameters}\nenvironments:\n  staging: { parameters: ${staging} }\n`;
  const options = { env: { KEY: 'a/b' }, ...(environment === null ? {} : { environment }) };
  const { config } = await loadOrders(yaml, options, { 'api.json': document });
  return config.operations.map(({ path, awaits }) => (awaits.length === 0 ? path : awaits.join()));
}

it('gives values once for the whole document, the most specific first', async () => {
  const given = `{ org: acme, 'orders.id': 42, id: 7, 'getShop.mode': all, mode: none, key: "\${env:KEY}" }`;
  expect(await pathsIn(null, given)).toEqual([
    '/orgs/acme/orders/42',
    '/orgs/acme/shops/7?mode=all',
    '/lists',
    '/keys/a%2Fb',
  ]);
});

it('leaves what is not given to the document and to answers', async () => {
  expect(await pathsIn(null, '{ org: acme }')).toEqual(['id', 'id', '/lists', '/keys/shown']);
});

it('is overlaid by an environment, name by name', async () => {
  expect(await pathsIn('staging', `{ org: acme, id: 7 }`, `{ org: beta, 'orders.id': 1 }`)).toEqual([
    '/orgs/beta/orders/1',
    '/orgs/beta/shops/7',
    '/lists',
    '/keys/shown',
  ]);
});

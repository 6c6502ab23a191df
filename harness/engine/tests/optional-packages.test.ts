import { createServer } from 'node:http';
import { describe, expect, it } from 'vitest';
import { served } from '../../base/fixtures/server.ts';
import { conformOver } from '../fixtures/conform-process.ts';

const without = (missing: string) => ({
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(`import { registerHooks } from 'node:module';
registerHooks({ resolve(name, context, next) {
  if (name === '${missing}') throw Object.assign(new Error('not found'), { code: 'ERR_MODULE_NOT_FOUND' });
  return next(name, context);
} });`)}`,
});

const PACT = JSON.stringify({
  consumer: { name: 'shop' },
  provider: { name: 'search' },
  interactions: [
    { description: 'a list', request: { method: 'GET', path: '/v1/resources' }, response: { status: 200 } },
  ],
  metadata: { pactSpecification: { version: '2.0.0' } },
});

const ROWS: readonly (readonly [
  name: string,
  version: string,
  config: string,
  env: Record<string, string>,
])[] = [
  ['@redis/client', '6', '', { CONFORM_SHARE_QUOTA: 'redis://127.0.0.1:1' }],
  ['@pact-foundation/pact-core', '20', 'pacts: { files: [../pact.json] }', {}],
  ['testcontainers', '12', 'provider: { container: { image: orders, port: 8080 } }', {}],
];

describe('a package that is used and not installed', () => {
  it.for(ROWS)('is named: %s. Nothing is asked of the service', async ([name, version, config, env]) => {
    let asked = 0;
    const server = createServer((_request, response) => {
      asked += 1;
      response.end();
    });
    const provider = config.startsWith('provider') ? '' : `provider: { url: "${await served(server)}" }`;
    const service = `service: orders\ncontract: search\ncredentials: { scheme: none }\n${provider}\n${config}\n`;
    const files = { 'services/orders.yaml': service, 'pact.json': PACT };
    const { code, stderr } = await conformOver(files, [], { ...env, ...without(name) });
    expect({ code, asked, stderr }).toEqual({
      code: 2,
      asked: 0,
      stderr: expect.stringMatching(
        new RegExp(`needs the package ${name}, which is not installed.*npm install ${name}@${version}`, 's'),
      ),
    });
  });
});

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

describe('the servers of a document', () => {
  /** Remarks on these servers, for a service at this address. */
  async function remarksOn(
    servers: readonly object[],
    address = 'https://orders.example',
    parts: object = {},
  ) {
    const service = GOOD_SERVICE.replace('https://orders.example', address);
    const document = JSON.stringify(oneOperation(parts, { servers }));
    const { config } = await loadOrders(`${service}openapi: ../api.json\n`, {}, { 'api.json': document });
    return (config.documentRemarks ?? []).map(({ text }) => text);
  }
  const OTHER = { url: 'https://{region}.example/v1', variables: { region: { default: 'eu' } } };
  const ELSEWHERE =
    '"url" is not the address under test, https://orders.example; requests are sent to the latter, below the path of the server';

  it.each<[string, readonly object[], readonly string[]]>([
    ['there are none', [], []],
    ['the first is the one under test', [{ url: 'https://orders.example/v1' }], []],
    ['any is the one under test', [OTHER, { url: 'https://orders.example' }], []],
    ['one is relative to the document', [{ url: '/v1' }], []],
    ['none is the one under test', [OTHER], [ELSEWHERE]],
    ['one is another stage of it', [{ url: 'https://staging.orders.example/v1' }], []],
    [
      'a variable has no default',
      [{ url: 'https://orders.example/{stage}' }],
      ['"url" has the variable {stage}, which has no default; its name stands for it'],
    ],
    [
      'a default is no value of the variable',
      [{ url: '/{stage}', variables: { stage: { default: 'v0', enum: ['v1', 'v2'] } } }],
      ['"default" is not among the values of the variable; it is used'],
    ],
    ['a URL is none', [{ url: 'https://[' }, { url: '/' }], ['"url" is no URL; the server is left out']],
  ])('are told where %s', async (_, servers, remarks) => {
    expect(await remarksOn(servers)).toEqual(remarks);
  });

  it.each([
    ['api.example', ['"host" is not the address under test, https://orders.example; requests']],
    ['api.orders.example', []],
  ])('has these remarks on the host of Swagger 2.0: %s', async (host, remarks) => {
    const paths = { '/things': { get: { responses: { 200: { description: '' } } } } };
    const document = { swagger: '2.0', info: { title: 'T', version: '1' }, host, paths };
    const files = { 'api.json': JSON.stringify(document) };
    const { config } = await loadOrders(`${GOOD_SERVICE}openapi: ../api.json\n`, {}, files);
    const told = (config.documentRemarks ?? []).map(({ text }) => text);
    expect(told).toEqual(remarks.map((each) => expect.stringContaining(each)));
  });

  it('are not held against a service on this machine', async () => {
    expect(await remarksOn([OTHER], 'http://127.0.0.1:8080')).toEqual([]);
  });

  it('are told of an operation as well', async () => {
    const parts = { servers: [{ url: 'https://orders.example/{x}' }] };
    expect(await remarksOn([], undefined, parts)).toEqual([
      '"url" has the variable {x}, which has no default; its name stands for it',
    ]);
  });
});

import { describe, expect, it } from 'vitest';
import { boundOf } from '../blocks/response-time.ts';
import type { ServiceConfig } from '../service.ts';
import { chooseOperations } from './choice.ts';
import { described, expectDocumentFault, OK } from './openapi/fixtures/described.ts';

const responses = { 200: OK };
const DOCUMENT = {
  openapi: '3.1.0',
  paths: {
    '/v1/orders': {
      get: { operationId: 'listOrders', tags: ['orders'], responses },
      post: { operationId: 'addOrder', tags: ['orders', 'writes'], responses },
    },
    '/v1/orders/{id}': { get: { operationId: 'getOrder', tags: ['orders'], responses } },
    '/v1/health': { get: { responses } },
  },
};

const idsOf = ({ operations }: Pick<ServiceConfig, 'operations'>) => operations.map(({ id }) => id);
const chosen = async (...patterns: readonly string[]) => {
  const [config] = chooseOperations([await described(DOCUMENT)], patterns);
  return config;
};

describe('--operation', () => {
  it.each<[readonly string[], readonly string[]]>([
    [['GET /v1/orders*'], ['listOrders', 'getOrder']],
    [['/v1/orders'], ['listOrders', 'addOrder']],
    [['writes'], ['addOrder']],
    [
      ['getOrder', 'GET /v1/health'],
      ['getOrder', 'GET /v1/health'],
    ],
    [['!POST *'], ['listOrders', 'getOrder', 'GET /v1/health']],
    [
      ['orders', '!addOrder'],
      ['listOrders', 'getOrder'],
    ],
  ])('%j chooses %j', async (patterns, ids) => {
    const config = await chosen(...patterns);
    expect(config && idsOf(config)).toEqual(ids);
    expect(config?.leftOut?.length).toBe(4 - ids.length);
  });

  it('refuses a pattern that means nothing, with the nearest name', async () => {
    await expect(chosen('listOrder')).rejects.toThrow('no operation matches "listOrder"');
    await expect(chosen('listOrder')).rejects.toMatchObject({
      remedy: expect.stringContaining('did you mean listOrders'),
    });
  });
});

describe('operations that the config excludes', () => {
  it('are not called, and stay known with the reason', async () => {
    const exclude = '{ exclude: [{ match: "POST *", because: shared data }] }';
    const config = await described(DOCUMENT, `operations: ${exclude}\n`);
    expect(idsOf(config)).not.toContain('addOrder');
    expect(config.leftOut).toMatchObject([{ operation: { id: 'addOrder' }, reason: 'shared data' }]);
  });

  it('may stand beside further calls', async () => {
    const more =
      'operations: { calls: [{ id: more, method: GET, path: /v1/more }], exclude: [{ match: orders, because: x }] }\n';
    expect(idsOf(await described(DOCUMENT, more))).toEqual(['more', 'GET /v1/health']);
  });

  it('are refused where they mean nothing, at their place', async () => {
    await expectDocumentFault(JSON.stringify(DOCUMENT), {
      problem: 'no operation matches "listOrder"',
      files: {
        'services/orders.yaml': `service: orders\ncontract: orders\nprovider: { url: 'https://orders.example' }\ncredentials: { scheme: none }\nopenapi: ../openapi/api.yaml\noperations: { exclude: [{ match: §listOrder, because: x }] }\n`,
      },
    });
  });
});

describe('the time that operations may take', () => {
  const factOf = async (text: string) => (await described(DOCUMENT, text)).facts['responses.time'];

  it('is one for all, or one for each pattern', async () => {
    expect(await factOf('maxResponse: 800ms\n')).toMatchObject({ value: '800ms' });
    const each = 'maxResponse: { listOrders: 300ms, "GET /v1/*": 500ms, "*": 2s }\n';
    expect(await factOf(each)).toMatchObject({
      value: { listOrders: '300ms', 'GET /v1/*': '500ms', '*': '2s' },
      origin: expect.stringMatching(/orders\.yaml:\d+/),
    });
  });

  it('is that of the first pattern that matches, and none where none does', async () => {
    const { operations } = await described(DOCUMENT);
    const bounds = operations.map((each) => boundOf({ listOrders: '300ms', 'GET *': '2s' }, each));
    expect(Object.fromEntries(operations.map(({ id }, at) => [id, bounds[at]]))).toEqual({
      listOrders: 300,
      getOrder: 2_000,
      'GET /v1/health': 2_000,
      addOrder: null,
    });
    expect(operations.map((each) => boundOf('1m', each))).toEqual(operations.map(() => 60_000));
    expect(operations.map((each) => boundOf(null, each))).toEqual(operations.map(() => null));
  });

  it('is refused where its pattern means nothing, at its place', async () => {
    await expectDocumentFault(JSON.stringify(DOCUMENT), {
      problem: 'no operation matches "listOrder"',
      files: {
        'services/orders.yaml': `service: orders\ncontract: orders\nprovider: { url: 'https://orders.example' }\ncredentials: { scheme: none }\nopenapi: ../openapi/api.yaml\nmaxResponse: { listOrder: §300ms }\n`,
      },
    });
  });
});

describe('overlays of a document', () => {
  const OVERLAYS = 'overlays: [../openapi/one.yaml, ../openapi/two.yaml]\n';
  const one = (target: string) => `overlay: 1.0.0\nactions: [{ target: ${target}, remove: true }]\n`;
  const two = 'overlay: 1.1.0\nactions:\n  - { target: "$.paths.*.post", update: { operationId: create } }\n';

  it('apply in their order before its operations are read', async () => {
    const files = { 'openapi/one.yaml': one(`"$.paths['/v1/health']"`), 'openapi/two.yaml': two };
    expect(idsOf(await described(DOCUMENT, OVERLAYS, files))).toEqual(['listOrders', 'create', 'getOrder']);
  });

  it('are refused at the target that selects nothing, with the nearest name', async () => {
    const files = { 'openapi/one.yaml': one(`§"$.paths['/v1/helth']"`), 'openapi/two.yaml': two };
    const problem = 'selects nothing in';
    await expectDocumentFault(JSON.stringify(DOCUMENT), { problem, more: OVERLAYS, files });
    await expectDocumentFault(JSON.stringify(DOCUMENT), {
      problem: "did you mean $.paths['/v1/health']",
      more: OVERLAYS,
      files: { ...files, 'openapi/one.yaml': files['openapi/one.yaml'].replace('§', '') },
    });
  });

  it('are refused if one is no file', async () => {
    const files = { 'openapi/one.yaml': one('$.paths') };
    await expect(described(DOCUMENT, OVERLAYS, files)).rejects.toThrow('the overlay ../openapi/two.yaml');
  });
});

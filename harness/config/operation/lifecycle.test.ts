import { describe, expect, it } from 'vitest';
import { thingsDocument } from './fixtures/things.ts';
import { lifecyclesOf } from './lifecycle.ts';
import { described, inJson } from './openapi/fixtures/described.ts';

type Paths = Record<string, Record<string, Operation>>;

interface Operation {
  responses: Record<string, { description: string; content?: Record<string, { schema: unknown }> }>;
  requestBody?: { content: Record<string, { schema: unknown }> };
  security?: readonly object[];
  parameters?: readonly object[];
}

/** The lifecycles of a document in which something was changed. */
async function lifecycles(change: (paths: Paths) => void = () => undefined) {
  const document = thingsDocument();
  change(document.paths as Paths);
  const { operations, definitions } = await described(document);
  return lifecyclesOf(operations, definitions ?? {});
}

const of = (paths: Paths, path: string, method: string): Operation => {
  const operation = paths[path]?.[method];
  if (operation === undefined) throw new Error(`there is no ${method} ${path}`);
  return operation;
};

const without = (path: string, method: string) => (paths: Paths) => {
  of(paths, path, method);
  delete paths[path]?.[method];
};

/** What a POST answers with, and what it takes. */
const answering = (status: number, schema: object) => (paths: Paths) => {
  of(paths, '/things', 'post').responses = { [status]: inJson(schema) };
};
const taking = (type: string, schema: object) => (paths: Paths) => {
  of(paths, '/things', 'post').requestBody = { content: { [type]: { schema } } };
};

const NONE: Readonly<Record<string, (paths: Paths) => void>> = {
  'items cannot be read': without('/things/{id}', 'get'),
  'items cannot be removed': without('/things/{id}', 'delete'),
  'nothing tells one from another': (paths) => {
    const unnamed = { type: 'object', properties: { name: { type: 'string' } } };
    of(paths, '/things/{id}', 'get').responses = { 200: inJson(unnamed) };
  },
  'a creation does not say where the item is': answering(200, {
    type: 'object',
    properties: { ok: { type: 'boolean' } },
  }),
  'anybody may create': (paths) => {
    of(paths, '/things', 'post').security = [];
  },
  'what creates is no JSON': taking('text/plain', { type: 'string', example: 'a thing' }),
  'what creates is no object': taking('application/json', { type: 'array', items: { type: 'string' } }),
  'two templates stand for an item': (paths) => {
    const item = paths['/things/{id}'];
    if (item?.delete === undefined) throw new Error('there is no item');
    const { delete: remove, ...rest } = item;
    paths['/things/{id}'] = rest;
    paths['/things/{name}'] = {
      parameters: [{ name: 'name', in: 'path', required: true, schema: { type: 'string' } }] as never,
      delete: remove,
    };
  },
  'more than its name is needed to read one, and nobody knows what': (paths) => {
    of(paths, '/things/{id}', 'get').parameters = [
      { name: 'tenant', in: 'header', required: true, schema: { type: 'string', pattern: '^(?!.)x$' } },
    ];
  },
};

describe('a lifecycle', () => {
  it('is made of what creates, reads, changes, lists and removes', async () => {
    const [found, ...others] = await lifecycles();
    expect(others).toEqual([]);
    const operations = ['create', 'read', 'remove', 'update', 'list'].map((id) => [id, { id }]);
    expect(found).toMatchObject({
      ...Object.fromEntries(operations),
      replace: null,
      parameter: 'id',
      idMember: 'id',
      body: { name: 'a name' },
      idempotencyField: null,
      patch: null,
    });
  });

  it.for(Object.entries(NONE))('is none where %s', async ([_why, change]) => {
    expect(await lifecycles(change)).toEqual([]);
  });

  it('may do without what changes and lists', async () => {
    const [found] = await lifecycles((paths) => {
      without('/things/{id}', 'patch')(paths);
      without('/things', 'get')(paths);
    });
    expect(found).toMatchObject({ update: null, list: null });
  });

  it('has no update that says how to change in place of what (RFC 6902)', async () => {
    const [found] = await lifecycles((paths) => {
      const schema = { type: 'object', properties: { op: { type: 'string' } } };
      of(paths, '/things/{id}', 'patch').requestBody = {
        content: { 'application/json-patch+json': { schema } },
      };
    });
    expect(found).toMatchObject({ update: null });
  });

  it('says where the item is by the Location of a 201, where its body does not', async () => {
    const nothing = { type: 'object', properties: { ok: { type: 'boolean' } } };
    expect(await lifecycles(answering(201, nothing))).toHaveLength(1);
  });

  it.each([
    ['', 0],
    ['parameters: { org: acme }', 1],
    ['parameters: { create.org: acme }', 0],
    ['parameters: { org: acme, remove.org: other }', 0],
  ])('is below a place of which the config gives the name in each path: %s', async (more, count) => {
    const document = thingsDocument();
    const org = { name: 'org', in: 'path', required: true, schema: { type: 'string', example: 'acme' } };
    const paths = Object.entries(document.paths).map(([path, { parameters = [], ...item }]) => [
      `/orgs/{org}${path}`,
      { ...item, parameters: [...(parameters as readonly object[]), org] },
    ]);
    const { operations, definitions = {} } = await described(
      { ...document, paths: Object.fromEntries(paths) },
      `${more}\n`,
    );
    expect(lifecyclesOf(operations, definitions)).toHaveLength(count);
  });

  it('is repeatable by a header of any letter case', async () => {
    const [found] = await lifecycles((paths) => {
      of(paths, '/things', 'post').parameters = [
        { name: 'idempotency-KEY', in: 'header', required: false, schema: { type: 'string' } },
      ];
    });
    expect(found).toMatchObject({ idempotencyField: 'idempotency-KEY' });
  });
});

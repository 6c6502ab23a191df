import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { SchemaBook } from '../../../../wire/json/schema.ts';
import {
  answerJudge,
  BEARER,
  described,
  expectDocumentFault,
  inJson,
  inputTrials,
  oneOperation,
  onlyOperation,
} from '../fixtures/described.ts';

describe('an OpenAPI document', () => {
  it('gives its operations, in its order', async () => {
    const text = await readFile(
      new URL('../../../../../config/openapi/search.yaml', import.meta.url),
      'utf8',
    );
    const config = await described(text);
    const { operations } = config;
    expect(
      operations.map(({ id, method, path, template, auth, uncallable, response }) => ({
        call: `${id}: ${method} ${path}`,
        template,
        auth,
        uncallable,
        answer: [response.status, ...response.mediaTypes],
      })),
    ).toMatchSnapshot();
    expect(
      operations.flatMap((each) =>
        inputTrials(config, each).map(({ kind, what }) => `${kind}: ${each.method} ${each.template} ${what}`),
      ),
    ).toMatchSnapshot();
    expect(operations.find(({ id }) => id === 'queryResources')?.body).toEqual({
      mediaType: 'application/json',
      text: '{"text":"article"}',
    });
  });

  it.each(['3.0.3', '3.1.0'])('of version %s may be JSON', async (openapi) => {
    expect((await onlyOperation(oneOperation({ operationId: 'list' }, { openapi }))).id).toBe('list');
  });

  it('settles what the contract leaves open about operations', async () => {
    const { facts } = await described(oneOperation({ operationId: 'list' }));
    expect(facts['endpoint.other-operations']?.value).toEqual([
      { id: 'list', method: 'GET', path: '/things' },
    ]);
    expect(facts['endpoint.other-operations']?.origin).toMatch(/services\/orders\.yaml:5:10$/);
  });

  it('has further files below its folder', async () => {
    const files = {
      'openapi/paths/things.yaml': 'get:\n  $ref: operations/list.yaml\n',
      'openapi/paths/operations/list.yaml':
        'operationId: list\nresponses:\n  200:\n    description: ok\n    content: { application/json: { schema: { $ref: "../../thing.json#/$defs/Thing" } } }\n',
      'openapi/thing.json': '{ "$defs": { "Thing": { "type": "object", "required": ["id"] } } }',
    };
    const document = 'openapi: 3.1.0\npaths: { /things: { $ref: paths/things.yaml } }\n';
    const judge = await answerJudge(document, files);
    expect(judge({})?.keyword).toBe('required');
  });

  it('names operations without an id, or with one that is taken, by method and path', async () => {
    const get = { operationId: 'same', responses: { 200: { description: 'ok' } } };
    const paths = { '/a': { get }, '/b': { get: { ...get, operationId: undefined } }, '/c': { get } };
    const { operations } = await described({ openapi: '3.1.0', paths });
    expect(operations.map(({ id }) => id)).toEqual(['same', 'GET /b', 'GET /c']);
  });

  it('puts the path of its server before its paths, unless the base address has it', async () => {
    const url = 'https://{region}.api.example/{version}';
    const document = oneOperation({}, { servers: [{ url, variables: { version: { default: 'v1' } } }] });
    expect((await onlyOperation(document)).path).toBe('/v1/things');
    const based = `environments: { staging: { provider: { url: 'https://orders.example/v1' } } }\n`;
    expect((await onlyOperation(document, based)).path).toBe('/v1/things');
  });

  it('does not lead to other addresses', async () => {
    const document = oneOperation({ servers: [{ url: 'https://uploads.example' }] });
    expect((await onlyOperation(document)).uncallable).toBe(
      'it is served at another address, https://uploads.example',
    );
  });
});

/** As many operations as large interfaces have, whose schemas all refer to each other and to themselves. */
function recursive(count: number): object {
  const ref = (index: number) => ({ $ref: `#/components/schemas/S${index % count}` });
  const each = Array.from({ length: count }, (_, index) => index);
  return {
    openapi: '3.0.3',
    info: { title: 'Large', version: '1' },
    security: [{ key: [] }],
    paths: Object.fromEntries(
      each.map((index) => [
        `/things/${index}/{id}`,
        {
          parameters: [
            { name: 'id', in: 'path', required: true, schema: { type: 'integer', minimum: 1 }, example: 7 },
          ],
          get: {
            operationId: `get${index}`,
            parameters: [
              { name: 'limit', in: 'query', schema: { type: 'integer', minimum: 1, maximum: 50 } },
            ],
            responses: { 200: inJson(ref(index)) },
          },
        },
      ]),
    ),
    components: {
      securitySchemes: { key: { type: 'http', scheme: 'bearer' } },
      schemas: Object.fromEntries(
        each.map((index) => [
          `S${index}`,
          {
            type: 'object',
            required: ['id'],
            properties: {
              id: { type: 'string', nullable: true },
              count: { type: 'integer', minimum: 0, exclusiveMinimum: true },
              self: { type: 'array', items: ref(index) },
              next: ref(index + 1),
              other: { oneOf: [ref(index * 7 + 3), ref(index * 11 + 5)] },
            },
          },
        ]),
      ),
    },
  };
}

describe('a document with 400 operations that refer to each other', () => {
  it.each([
    ['JSON', JSON.stringify],
    ['YAML', stringify],
  ])('loads as %s, and its schemas judge', async (_, write) => {
    const { operations, definitions } = await described(write(recursive(400)));
    expect(operations).toHaveLength(400);
    expect(operations.filter(({ uncallable }) => uncallable !== null)).toEqual([]);
    const judge = new SchemaBook(definitions).compile(operations[0]?.response.schema);
    const deep = { id: null, next: { id: 'b', next: { id: 'c', self: [{ id: 'd', count: 0 }] } } };
    expect(judge(deep)?.message).toBe('"/next/next/self/0/count" must be > 0 (exclusiveMinimum)');
  });
});

describe('a document that cannot be read', () => {
  const PATHS = 'paths: { /a: { get: { responses: { 200: { description: ok } } } } }\n';
  const api = (text: string) => `openapi: 3.1.0\n${text}\n`;
  /** A path item, and the answer to its GET. */
  const at = (item: string) => api(`paths: { /a: ${item} }`);
  const answering = (response: string) => at(`{ get: { responses: { 200: ${response} } } }`);

  it.each([
    ['no YAML', 'openapi: 3.1.0\npaths:\n\t§/a: {}\n'.replace('\t§', '§\t'), 'a tab is used to indent'],
    ['a version that is not read', `openapi: §4.0.0\n${PATHS}`, 'version 4.0.0 is not read'],
    ['no OpenAPI at all', '§name: a\n', 'is no OpenAPI document'],
    ['no operation', api('paths: §{}'), 'describes no operation'],
    ['a path without a slash', api('paths: { a: §{ get: {} } }'), 'does not begin with /'],
    ['a reference to nothing', answering('§{ $ref: "#/components/responses/A" }'), 'points at nothing'],
    [
      'a remote reference',
      at('§{ $ref: "https://api.example/a.yaml" }'),
      'is remote, and nothing is fetched',
    ],
    ['a reference out of its folder', at('§{ $ref: "../contracts/orders.yaml" }'), 'lies outside the folder'],
    ['a reference to no file', at('§{ $ref: "a.yaml" }'), 'there is no such file'],
    [
      'references in a circle',
      at('§{ $ref: "#/components/pathItems/A" } }\ncomponents: { pathItems: { A: { $ref: "#/paths/~1a" } }'),
      'never to anything',
    ],
    [
      'a schema that is none',
      answering('{ content: { application/json: { schema: §{ type: thing } } } }'),
      'is not a JSON Schema',
    ],
    [
      'a security scheme that is not defined',
      api(`security: [{ key: §[] }]\n${PATHS}`),
      'is not among the securitySchemes',
    ],
    [
      'a parameter without a name',
      at('{ get: { parameters: [§{ in: query }], responses: {} } }'),
      'is a parameter without a name',
    ],
    ['values nested without end', `openapi: 3.1.0\nx: ${'['.repeat(300)}${']'.repeat(300)}\n`, 'is nested'],
    [
      'aliases that explode',
      `openapi: 3.1.0\na0: &a0 [x, x]\n${Array.from({ length: 20 }, (_, i) => `a${i + 1}: &a${i + 1} [*a${i}, *a${i}]\n`).join('')}`,
      'more than',
    ],
  ])('is refused at its place: %s', async (_, document, problem) => {
    await expectDocumentFault(document, { problem });
  });

  it('is refused at the place in the file that a reference leads to', async () => {
    const document = 'openapi: 3.0.3\npaths: { /a: { $ref: more.yaml } }\n';
    const more =
      'get:\n  responses:\n    200:\n      content:\n        application/json:\n          schema: §{ $ref: "#/none" }\n';
    await expectDocumentFault(document, {
      problem: 'points at nothing',
      files: { 'openapi/more.yaml': more },
    });
  });

  it('is refused at the service config where there is none', async () => {
    await expectDocumentFault('openapi: 3.1.0\n', {
      problem: 'the document ../openapi/none.yaml: there is no such file',
      files: { 'services/orders.yaml': `${BEARER}openapi: §../openapi/none.yaml\n` },
    });
  });
});

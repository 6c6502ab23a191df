import { describe, expect, it } from 'vitest';
import {
  answerJudge,
  described,
  expectDocumentFault,
  inJson,
  OK as ok,
  onlyOperation,
} from '../fixtures/described.ts';

const swagger = (more: object) => ({ swagger: '2.0', info: { title: 'Things', version: '1' }, ...more });
const things = (operation: object, root: object = {}, method = 'get') =>
  swagger({ paths: { '/things': { [method]: { responses: { 200: ok }, ...operation } } }, ...root });

const Q = { name: 'q', in: 'query', required: true };

describe('a document of Swagger 2.0', () => {
  it.each<[string, object, object]>([
    ['the path before all', things({}, { basePath: '/v2/', host: 'a.example' }), { path: '/v2/things' }],
    [
      'lists, by commas where it says nothing else',
      things({
        parameters: ['csv', 'ssv', 'pipes', 'multi', undefined].map((collectionFormat, index) => {
          const values = { type: 'array', items: { type: 'integer' }, 'x-example': [1, 2] };
          return { ...Q, name: `p${index}`, collectionFormat, ...values };
        }),
      }),
      { path: '/things?p0=1,2&p1=1%202&p2=1%7C2&p3=1&p3=2&p4=1,2' },
    ],
    [
      'values of parameters',
      things({ parameters: [{ ...Q, type: 'string', enum: ['a'] }] }),
      { path: '/things?q=a' },
    ],
    [
      'a parameter of the path item, and one that is referred to',
      swagger({
        parameters: { Id: { name: 'id', in: 'path', required: true, type: 'integer', default: 7 } },
        paths: {
          '/things/{id}': {
            parameters: [
              { $ref: '#/parameters/Id' },
              { name: 'X', in: 'header', required: true, type: 'string', default: 'general' },
            ],
            get: {
              parameters: [{ name: 'X', in: 'header', required: true, type: 'string', default: 'own' }],
              responses: { 200: ok },
            },
          },
        },
      }),
      { path: '/things/7', fields: [['X', 'own']] },
    ],
    [
      'a body in what it consumes',
      things(
        { parameters: [{ name: 'b', in: 'body', required: true, schema: { $ref: '#/definitions/New' } }] },
        {
          consumes: ['application/xml', 'application/hal+json'],
          definitions: { New: { type: 'object', example: { a: 1 } } },
        },
        'post',
      ),
      { body: { mediaType: 'application/hal+json', text: '{"a":1}' } },
    ],
    [
      'a form',
      things(
        {
          parameters: [
            { name: 'n', in: 'formData', required: true, type: 'integer', enum: [3] },
            { name: 'o', in: 'formData', type: 'string' },
          ],
        },
        {},
        'post',
      ),
      { body: { mediaType: 'application/x-www-form-urlencoded', text: 'n=3' } },
    ],
    [
      'a file',
      things({ parameters: [{ name: 'f', in: 'formData', required: true, type: 'file' }] }, {}, 'post'),
      { body: { text: expect.stringContaining('name="f"; filename="conform.txt"') }, uncallable: null },
    ],
    [
      'the media types that it produces, its own before those of all',
      things(
        { produces: ['text/csv'], responses: { 200: { ...ok, schema: { type: 'file' } } } },
        { produces: ['application/json'] },
      ),
      { response: { status: 200, mediaTypes: ['text/csv'], schema: null } },
    ],
    [
      'no media type where it names none',
      things({ responses: { 200: { ...ok, schema: { type: 'array', items: {} } } } }),
      { response: { status: 200, mediaTypes: ['*/*'], schema: { $ref: expect.any(String) } } },
    ],
    [
      'no media type without a schema, whatever it produces',
      things({ produces: ['application/json'], responses: { 200: ok } }),
      { response: { status: 200, mediaTypes: [], schema: null } },
    ],
    [
      'no content where there is none',
      things({ responses: { 204: ok } }),
      { response: { status: 204, mediaTypes: [], schema: null } },
    ],
  ])('has %s', async (_, document, expected) => {
    expect(await onlyOperation(document)).toMatchObject(expected);
  });

  it('has errors in JSON too, next to another form of its success', async () => {
    const schema = { type: 'object' };
    const responses = { 200: { ...ok, schema }, 500: { ...ok, schema } };
    const typesOf = async (produces: readonly string[]) => {
      const { answers } = await onlyOperation(things({ produces, responses }));
      return answers.map(({ contents }) => contents.map(({ mediaType }) => mediaType));
    };
    const [archive, json] = ['application/x-tar', 'application/json'];
    expect(await typesOf([archive])).toEqual([[archive], [archive, json, 'application/problem+json']]);
    expect(await typesOf([json])).toEqual([[json], [json]]);
  });

  it('writes a list with tabs', async () => {
    const tabs = {
      name: 'q',
      in: 'query',
      required: true,
      type: 'array',
      items: {},
      collectionFormat: 'tsv',
    };
    const parameters = [{ ...tabs, 'x-example': ['a', 'b'] }];
    expect((await onlyOperation(things({ parameters }))).path).toBe('/things?q=a%09b');
  });

  it('judges by its schemas, which have the dialect of OpenAPI 3.0', async () => {
    const schema = {
      type: 'object',
      required: ['size'],
      properties: {
        size: { type: 'integer', minimum: 0, exclusiveMinimum: true },
        note: { type: 'string', 'x-nullable': true },
      },
    };
    const responses = { 200: { ...ok, schema: { $ref: '#/definitions/T' } } };
    const judge = await answerJudge(things({ responses }, { definitions: { T: schema } }));
    expect(judge({ size: 1, note: null })).toBeNull();
    expect(judge({ size: 0 })?.keyword).toBe('exclusiveMinimum');
  });

  it('says which credential it demands', async () => {
    const key = { type: 'apiKey', in: 'header', name: 'X-Key' };
    const securityDefinitions = { login: { type: 'basic' }, key };
    const demanding = (security: object) =>
      onlyOperation(things({ security: [security] }, { securityDefinitions }));
    expect((await demanding({ login: [] })).uncallable).toBe(
      'demands the HTTP scheme basic, and the config has the scheme bearer',
    );
    expect((await demanding({ key: [] })).uncallable).toContain('a key in the header "X-Key"');
    expect(await onlyOperation(things({}))).toMatchObject({ uncallable: null, auth: 'required' });
  });

  it.each([
    ['swagger: §"1.2"\n', 'Swagger 1.2 is not read'],
    [
      'swagger: 2.0\npaths: { /a: { get: { responses: { 200: { $ref: "#/responses/A" } } } } }\n',
      'points at nothing',
    ],
    [
      'swagger: "2.0"\npaths:\n  /a:\n    get:\n      produces: [application/json]\n      responses:\n        200:\n          schema: §{ type: thing }\n',
      'is not a JSON Schema',
    ],
    [
      'swagger: "2.0"\npaths:\n  /a:\n    get:\n      parameters:\n        - §{ name: q, in: query, required: true, type: [thing] }\n      responses: {}\n',
      'is not a JSON Schema',
    ],
    [
      'swagger: "2.0"\npaths: { /a: { get: { security: [{ k: §[] }], responses: {} } } }\n',
      'is not among the securitySchemes',
    ],
  ])('is refused at its own line: %s', async (document, problem) => {
    await expectDocumentFault(document, { problem });
  });
});

describe('a document of OpenAPI 3.2', () => {
  const paths = (item: object) => ({ openapi: '3.2.0', paths: { '/things': item } });

  it('has QUERY, which is safe and has a body, and methods of other names', async () => {
    const body = { required: true, content: { 'application/json': { example: { text: 'a' } } } };
    const { operations } = await described(
      paths({
        query: { operationId: 'find', requestBody: body, responses: { 200: ok } },
        additionalOperations: { LINK: { responses: { 204: ok } }, CONNECT: { responses: { 200: ok } } },
      }),
    );
    expect(
      operations.map(({ id, method, body: sent, uncallable }) => [id, method, sent?.text, uncallable]),
    ).toEqual([
      ['find', 'QUERY', '{"text":"a"}', null],
      ['LINK /things', 'LINK', undefined, null],
      ['CONNECT /things', 'CONNECT', undefined, 'CONNECT is not sent'],
    ]);
  });

  it('had neither of them before', async () => {
    const { operations } = await described({
      ...paths({
        query: { responses: {} },
        additionalOperations: { LINK: {} },
        get: { responses: { 200: ok } },
      }),
      openapi: '3.1.1',
    });
    expect(operations.map(({ method }) => method)).toEqual(['GET']);
  });

  it('has its media types and examples under further words', async () => {
    const document = {
      ...paths({
        get: {
          parameters: [
            {
              name: 'q',
              in: 'querystring',
              required: true,
              content: { 'application/x-www-form-urlencoded': { example: { a: 1, b: 'c' } } },
            },
          ],
          responses: {
            200: { ...ok, content: { 'application/json': { $ref: '#/components/mediaTypes/Thing' } } },
          },
        },
        post: {
          requestBody: {
            required: true,
            content: { 'application/json': { examples: { one: { dataValue: [1] } } } },
          },
          responses: { 201: ok },
        },
      }),
      components: { mediaTypes: { Thing: { schema: { type: 'object' } } } },
    };
    const { operations } = await described(document);
    expect(operations[0]).toMatchObject({
      path: '/things?a=1&b=c',
      response: { schema: { $ref: expect.any(String) } },
    });
    expect(operations[1]?.body?.text).toBe('[1]');
  });

  it('holds a value to the alternatives, whatever its discriminator names', async () => {
    const schema = {
      oneOf: [{ $ref: '#/components/schemas/Cat' }, { $ref: '#/components/schemas/Other' }],
      discriminator: { propertyName: 'kind', defaultMapping: 'Other' },
    };
    const schemas = {
      Cat: { type: 'object', required: ['lives'] },
      Other: { type: 'object', required: ['name'] },
    };
    const document = { ...paths({ get: { responses: { 200: inJson(schema) } } }), components: { schemas } };
    const judge = await answerJudge(document);
    expect(judge({ kind: 'Cat', lives: 9 })).toBeNull();
    expect(judge({ kind: 'Cat', name: 'a' })).toBeNull();
    expect(judge({ kind: 'Dog', name: 'a' })).toBeNull();
    expect(judge({ name: 'a' })).toBeNull();
    expect(judge({ kind: 'Dog' })).not.toBeNull();
  });

  it('is refused where a method is none', async () => {
    const document = 'openapi: 3.2.0\npaths: { /a: { additionalOperations: { "NO GO": §{} } } }\n';
    await expectDocumentFault(document, { problem: 'is no method' });
  });
});

describe('a document that names a dialect of JSON Schema', () => {
  const answering = (schema: object, root: object = {}) => ({
    openapi: '3.1.0',
    paths: { '/a': { get: { responses: { 200: inJson(schema) } } } },
    ...root,
  });
  const keywordOf = async (document: object, value: unknown, files = {}) =>
    (await answerJudge(document, files))(value)?.keyword ?? null;
  const DRAFT_07 = 'http://json-schema.org/draft-07/schema#';
  const DRAFT_04 = 'http://json-schema.org/draft-04/schema#';
  const IN_07 = { jsonSchemaDialect: DRAFT_07 };
  const tuple = { items: [{ type: 'string' }], additionalItems: false };

  it.each<[string, object, unknown, string | null]>([
    ['for all of its schemas', answering(tuple, IN_07), ['a', 1], 'additionalItems'],
    ['for one of them', answering({ $schema: DRAFT_07, ...tuple }), [1], 'type'],
    [
      'and not for others',
      answering({ anyOf: [{ $schema: DRAFT_07, ...tuple }, { prefixItems: [{ const: 1 }] }] }),
      [1],
      null,
    ],
    [
      'in which a bound is exclusive by true',
      answering({ $schema: DRAFT_04, minimum: 1, exclusiveMinimum: true }),
      1,
      'minimum',
    ],
    [
      'in which nothing beside a reference counts',
      answering(
        { $ref: '#/components/schemas/A', minLength: 9 },
        { ...IN_07, components: { schemas: { A: { type: 'string' } } } },
      ),
      'a',
      null,
    ],
    [
      'in which members depend on each other',
      answering({ dependencies: { a: ['b'], c: { required: ['d'] } } }, IN_07),
      { c: 1 },
      'required',
    ],
    [
      'of OpenAPI',
      answering({ const: 1 }, { jsonSchemaDialect: 'https://spec.openapis.org/oas/3.1/dialect/base' }),
      2,
      'const',
    ],
  ])('is held to it %s', async (_, document, value, keyword) => {
    expect(await keywordOf(document, value)).toBe(keyword);
  });

  it.each<[string, object, string | null]>([
    ['asserts them up to draft-07', { jsonSchemaDialect: DRAFT_07 }, 'format'],
    ['has them as annotations', { jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema' }, null],
    ['is that of OpenAPI', { jsonSchemaDialect: 'https://spec.openapis.org/oas/3.1/dialect/base' }, null],
    ['has no name', {}, null],
  ])('holds formats only where the dialect asserts them: it %s', async (_, root, keyword) => {
    const date = { type: 'string', format: 'date' };
    expect(await keywordOf(answering(date, root), 'yesterday')).toBe(keyword);
    const both = answering({ anyOf: [{ $schema: DRAFT_07, ...date }, { const: 1 }] }, root);
    expect(await keywordOf(both, 'yesterday')).not.toBeNull();
  });

  it('takes the word of a file that it refers to', async () => {
    const definitions = { N: { minimum: 1, exclusiveMinimum: true } };
    const file = JSON.stringify({ $schema: DRAFT_04, definitions });
    const document = answering({ $ref: 'n.json#/definitions/N' });
    expect(await keywordOf(document, 1, { 'openapi/n.json': file })).toBe('minimum');
  });

  it.each([
    // Its vocabularies assert formats, and no engine here knows them.
    'openapi: 3.1.0\njsonSchemaDialect: §https://json-schema.org/draft/2020-12/meta/format-assertion\npaths: { /a: { get: { responses: { 200: { description: ok } } } } }\n',
    'openapi: 3.1.0\njsonSchemaDialect: §https://a.example/mine\npaths: { /a: { get: { responses: { 200: { description: ok } } } } }\n',
    'openapi: 3.1.0\npaths: { /a: { get: { responses: { 200: { content: { application/json: { schema: { $schema: §draft-99 } } } } } } } }\n',
  ])('is refused where nobody knows it: %s', async (document) => {
    await expectDocumentFault(document, { problem: 'names a dialect of JSON Schema that is not known' });
  });
});

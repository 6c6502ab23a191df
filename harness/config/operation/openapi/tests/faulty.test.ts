import { describe, expect, it } from 'vitest';
import { described, inJson, OK } from '../fixtures/described.ts';

const get = (response: object, more: object = {}) => ({ get: { responses: { 200: response }, ...more } });
const LIST = get(inJson({ type: 'array' }));

/** A document with a sound operation, `GET /boats`, next to a faulty one. */
const beside = (crews: object, root: object = {}) => ({
  openapi: '3.1.0',
  paths: { '/boats': LIST, '/crews': crews },
  ...root,
});

async function read(document: object, files = {}) {
  const { operations, documentRemarks = [] } = await described(document, '', files);
  return {
    callable: operations.filter(({ uncallable }) => uncallable === null).map(({ template }) => template),
    schemas: operations.map(({ response }) => response.schema !== null),
    reasons: operations.flatMap(({ uncallable }) => uncallable ?? []),
    remarks: documentRemarks.map(({ text }) => text),
  };
}

describe('one fault of a document', () => {
  const KEY = { securitySchemes: { key: { type: 'http', scheme: 'bearer' } } };

  it('keeps the operation from being called, and no other', async () => {
    const crews = get(OK, { security: [{ kye: [] }] });
    const found = await read(beside(crews, { components: KEY, security: [{ key: [] }] }));
    expect(found.callable).toEqual(['/boats']);
    expect(found.reasons).toEqual([expect.stringContaining('"kye" is not among the securitySchemes')]);
    expect(found.remarks).toEqual([
      '"kye" is not among the securitySchemes of the components; GET /crews is not called',
    ]);
  });

  it('is one header that is described as two demands', async () => {
    const securitySchemes = {
      ...KEY.securitySchemes,
      field: { type: 'apiKey', in: 'header', name: 'Authorization' },
      other: { type: 'apiKey', in: 'header', name: 'X-Other' },
    };
    const crews = get(OK, { security: [{ key: [], other: [] }] });
    const document = beside(crews, { components: { securitySchemes }, security: [{ key: [], field: [] }] });
    expect((await read(document)).callable).toEqual(['/boats']);
  });

  it('is a parameter of a path that nothing describes', async () => {
    const { operations, documentRemarks } = await described({ openapi: '3.1.0', paths: { '/a/{id}': LIST } });
    expect(operations[0]?.awaits).toEqual(['id']);
    expect(documentRemarks).toEqual([expect.objectContaining({ text: expect.stringContaining('{id}') })]);
  });

  it('leaves the credential to the config where no scheme is defined', async () => {
    const found = await read(beside(LIST, { security: [{ key: [] }] }));
    expect(found.callable).toEqual(['/boats', '/crews']);
    expect(found.remarks).toEqual([expect.stringContaining('the credential of the config is used')]);
  });

  it.each([
    ['a dangling reference', { $ref: '#/components/schemas/None' }, 'points at nothing'],
    ['a fault in a schema that it refers to', { $ref: '#/components/schemas/A' }, '"$recursiveRef"'],
    ['a type that is none', { type: 'thing' }, 'is not a JSON Schema'],
    ['a pattern of another language', { pattern: '(?i)a' }, 'is no pattern'],
  ])('leaves a response body unjudged: %s', async (_, schema, problem) => {
    const A = { properties: { all: { items: { $ref: '#/components/schemas/B' } } } };
    const schemas = { A, B: { properties: { next: { $recursiveRef: '#' } } } };
    const found = await read(beside(get(inJson(schema)), { components: { schemas } }));
    expect(found.callable).toEqual(['/boats', '/crews']);
    expect(found.schemas).toEqual([true, false]);
    const [remark = ''] = found.remarks;
    expect(remark).toContain(problem.replaceAll('"', ''));
    expect(remark).toContain('the response body is not judged');
  });

  it('judges only the status of a response that is not there', async () => {
    const found = await read(beside(get({ $ref: '#/components/responses/None' })));
    expect(found.callable).toEqual(['/boats', '/crews']);
    expect(found.remarks).toEqual([expect.stringContaining('only its status is judged')]);
  });

  it('keeps a call from being made for which a value would have to fit it', async () => {
    const needing = (required: boolean) => ({
      post: {
        requestBody: { required, content: { 'application/json': { schema: { $ref: '#/none' } } } },
        responses: { 200: OK },
      },
    });
    expect((await read(beside(needing(false)))).callable).toEqual(['/boats', '/crews']);
    expect((await read(beside(needing(true)))).reasons).toEqual([
      'its body has no example: it has a schema that cannot be read',
    ]);
  });

  it('is content where an answer has none', async () => {
    const crews = { get: { responses: { 204: inJson({ type: 'object' }) } } };
    const found = await read(beside(crews));
    expect(found.callable).toEqual(['/boats', '/crews']);
    expect(found.remarks).toEqual(['"content" is described for a 204, which has none; it is not expected']);
  });

  it('leaves out a path, or a file, that cannot be read', async () => {
    const document = beside({ $ref: 'crews.yaml' });
    const found = await read(document, { 'openapi/crews.yaml': 'get:\n\tresponses: {}\n' });
    expect(found.callable).toEqual(['/boats']);
    expect(found.remarks[0]).toContain('crews.yaml:2:1: a tab is used to indent');
    expect((await read(beside({ $ref: '#/none' }))).callable).toEqual(['/boats']);
  });
});

describe('a value that the document shows against its own schema', () => {
  const size = (more: object) => ({
    get: {
      parameters: [
        { name: 'size', in: 'query', required: true, schema: { type: 'integer', maximum: 50 }, ...more },
      ],
      responses: { 200: OK },
    },
  });
  const body = (content: object) => ({
    post: {
      requestBody: { required: true, content: { 'application/json': content } },
      responses: { 201: OK },
    },
  });
  const sentBy = async (item: object) => {
    const { operations, documentRemarks = [] } = await described({
      openapi: '3.0.3',
      paths: { '/books': item },
    });
    const [{ path, body: sent } = { path: '', body: null }] = operations;
    return { path, body: sent?.text, remarks: documentRemarks.map(({ text }) => text) };
  };

  it('is not sent: the next one that fits is, or one is made up', async () => {
    expect(await sentBy(size({ example: 100 }))).toEqual({
      path: '/books?size=1',
      remarks: ['"example" does not fit its schema: the whole must be <= 50 (maximum); it is not sent'],
    });
    const examples = { large: { value: 60 }, small: { value: 7 } };
    expect((await sentBy(size({ examples }))).path).toBe('/books?size=7');
  });

  it('may be written as text', async () => {
    expect(await sentBy(size({ example: '20' }))).toEqual({ path: '/books?size=20', remarks: [] });
  });

  it('is not sent in a body either', async () => {
    const use = { type: 'string', enum: ['a'] };
    const schema = { type: 'object', required: ['use'], properties: { use } };
    const shown = await sentBy(body({ schema, example: { name: 'spring' } }));
    expect(shown.body).toBe('{"use":"a"}');
    expect(shown.remarks).toEqual([expect.stringContaining("must have required property 'use'")]);
    const within = { ...schema, properties: { use: { ...use, example: 'c' } } };
    expect((await sentBy(body({ schema: within }))).body).toBe('{"use":"a"}');
  });

  it('is sent without what only responses have', async () => {
    const id = { type: 'integer', readOnly: true };
    const item = { type: 'object', properties: { id, name: { type: 'string' } } };
    const schema = { allOf: [item, { properties: { parts: { type: 'array', items: item } } }] };
    const example = { id: 1, name: 'a', parts: [{ id: 2, name: 'b' }] };
    const shown = await sentBy(body({ schema, example }));
    expect(shown.body).toBe('{"name":"a","parts":[{"name":"b"}]}');
    expect(shown.remarks).toEqual([
      '"id" is read-only, and shown in a request; it is not sent',
      '"id" is read-only, and shown in a request; it is not sent',
    ]);
  });
});

describe('a path with a fragment', () => {
  it('is asked without it, and named with it', async () => {
    const done = get(OK, { operationId: 'done' });
    const document = { openapi: '3.0.3', paths: { '/jobs#running': LIST, '/jobs#done': done } };
    const { operations, documentRemarks } = await described(document);
    expect(operations.map(({ path, template }) => [path, template])).toEqual([
      ['/jobs', '/jobs#running'],
      ['/jobs', '/jobs#done'],
    ]);
    expect(documentRemarks).toHaveLength(2);
  });
});

describe('a header that is described in two spellings', () => {
  const key = { in: 'header', schema: { type: 'string' } };
  const demanding = { ...key, name: 'Idempotency-Key', required: true, example: 'k-7' };
  const optional = { ...key, name: 'idempotency-key', required: false };

  it.each([[[demanding, optional]], [[optional, demanding]]])(
    'is sent once, as required',
    async (parameters) => {
      const paths = { '/a': { get: { parameters, responses: { 200: OK } } } };
      const { operations, documentRemarks } = await described({ openapi: '3.1.0', paths });
      expect(operations[0]?.fields).toEqual([['Idempotency-Key', 'k-7']]);
      expect(documentRemarks).toEqual([expect.objectContaining({ text: expect.stringContaining('twice') })]);
    },
  );
});

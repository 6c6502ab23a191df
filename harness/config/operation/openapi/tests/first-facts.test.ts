import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../../base/fixtures/folder.ts';
import { firstFacts } from '../first-facts.ts';

const ORDERS = fileURLToPath(
  new URL('../../../../cli/package/fixtures/orders/openapi.yaml', import.meta.url),
);

async function factsOf(document: object) {
  const text = JSON.stringify({ openapi: '3.1.0', info: { title: 'T' }, ...document });
  const path = join(temporaryFolder({ 'openapi.json': text }), 'openapi.json');
  const facts = await firstFacts(path, 'openapi.json', '/');
  if ('fault' in facts) throw new Error(facts.fault.problem);
  return facts;
}

const get = (responses: object, more: object = {}) => ({ get: { responses, ...more } });
const JSON_200 = { 200: { description: '', content: { 'application/json': {} } } };

/** What is found of a document that speaks JSON and names 401 and 429. */
const IN_JSON_WITH_CODES = [
  { key: 'responses.format', value: 'JSON' },
  { key: 'errors.format', value: 'JSON' },
  { key: 'errors.codes', value: { missingCredential: 401, rateLimit: 429 } },
];

describe('what an OpenAPI document states', () => {
  it('is the sample, the scheme, the prefix, the formats and the codes, each with its line', async () => {
    const facts = await firstFacts(ORDERS, 'openapi.yaml', '/');
    expect(facts).toMatchObject({
      title: 'Orders',
      demand: { type: 'http', scheme: 'bearer' },
      open: false,
      samplePath: '/v1/orders',
      clauses: [
        {
          key: 'endpoint.sample',
          section: 'GET /v1/orders',
          row: 8,
          value: { method: 'GET', path: '/v1/orders', fields: {}, response: 'application/json' },
        },
        { key: 'versioning.prefix', value: '/v1' },
        ...IN_JSON_WITH_CODES,
      ],
    });
  });

  it('has a sample that needs the key, if one does', async () => {
    const { samplePath, demand } = await factsOf({
      paths: { '/health': get(JSON_200), '/orders': get(JSON_200, { security: [{ key: [] }] }) },
      components: { securitySchemes: { key: { type: 'http', scheme: 'bearer' } } },
    });
    expect({ samplePath, scheme: demand?.scheme }).toEqual({ samplePath: '/orders', scheme: 'bearer' });
  });

  it('has no probe of an orchestrator and no step of a login for a sample, if there is another', async () => {
    const probes = { '/health': get(JSON_200), '/api/ready': get(JSON_200), '/auth/reset': get(JSON_200) };
    expect((await factsOf({ paths: { ...probes, '/orders': get(JSON_200) } })).samplePath).toBe('/orders');
    expect((await factsOf({ paths: probes })).samplePath).toBe('/health');
  });

  it('is no format of responses where the sample has none', async () => {
    const bare = await factsOf({
      paths: { '/a': get({ 200: { description: '' } }), '/b/{c}': get(JSON_200) },
    });
    expect(bare.clauses.map(({ key }) => key)).toEqual(['endpoint.sample']);
    const other = await factsOf({ paths: { '/a': get({ 200: { description: '' } }), '/b': get(JSON_200) } });
    expect(other.samplePath).toBe('/b');
  });

  it('is nothing that it does not say', async () => {
    const paths = { '/a/{id}': get(JSON_200), '/b': get({ 204: { description: '' } }) };
    expect(await factsOf({ paths })).toEqual({
      title: 'T',
      demand: null,
      partDemand: null,
      besides: [],
      open: false,
      samplePath: null,
      noSample: expect.stringContaining(
        'The document has 2 GET, each of which needs a parameter without an example',
      ),
      server: null,
      clauses: [expect.objectContaining({ key: 'responses.format' })],
    });
  });

  it('is a sample with the examples of its parameters, where none needs no parameter', async () => {
    const id = { name: 'id', in: 'path', required: true, schema: { type: 'string', example: 'a b' } };
    const size = { name: 'size', in: 'query', required: true, schema: { default: 5 } };
    const paths = { '/a/{id}': get(JSON_200, { parameters: [id, size] }) };
    expect((await factsOf({ paths })).samplePath).toBe('/a/a%20b?size=5');
  });

  it('is no sample without a GET', async () => {
    const paths = { '/a': { post: { responses: JSON_200 } } };
    expect((await factsOf({ paths })).noSample).toBe('The document has no GET that could be the sample.');
  });

  it('is a sample that needs the credential of most operations', async () => {
    const components = { securitySchemes: { key: { type: 'http', scheme: 'bearer' } } };
    const open = { security: [] };
    const paths = { '/health': get(JSON_200, open), '/a': get(JSON_200), '/b': get(JSON_200) };
    const facts = await factsOf({ components, security: [{ key: [] }], paths });
    expect(facts).toMatchObject({ samplePath: '/a', demand: { scheme: 'bearer' } });
  });

  it('is no sample that needs something, and no JSON where one error is HTML', async () => {
    const needing = { parameters: [{ name: 'q', in: 'query', required: true, schema: {} }] };
    const html = { 404: { description: '', content: { 'text/html': {} } } };
    const [search, all] = [get(JSON_200, needing), get({ ...JSON_200, ...html })];
    const facts = await factsOf({ paths: { '/v2/search': search, '/v2/all': all, '/v3/x': get(html) } });
    expect(facts.samplePath).toBe('/v2/all');
    expect(facts.clauses.map(({ key }) => key)).toEqual(['endpoint.sample', 'responses.format']);
  });

  it('is no JSON where the sample may be answered with something else', async () => {
    const both = { content: { 'application/json': {}, 'text/html': {} }, description: '' };
    const { clauses } = await factsOf({ paths: { '/a': get({ 200: both }) } });
    expect(clauses).toMatchObject([{ key: 'endpoint.sample', value: { response: 'as documented' } }]);
  });

  it('is the same of a Swagger 2.0 document, as far as it says it', async () => {
    const problem = { description: '', schema: {} };
    const limited = { ...problem, headers: { 'retry-after': { type: 'integer' } } };
    const document = {
      swagger: '2.0',
      openapi: undefined,
      basePath: '/api/v1',
      produces: ['application/json'],
      securityDefinitions: { key: { type: 'apiKey', in: 'header', name: 'X-Key' } },
      security: [{ key: [] }],
      paths: {
        '/a': get({ 200: { description: '', schema: {} }, 401: problem, 429: limited }),
        '/b/{id}': get({ 200: { description: '' }, 404: problem }),
      },
    };
    expect(await factsOf(document)).toMatchObject({
      demand: { type: 'apiKey', in: 'header', name: 'X-Key' },
      samplePath: '/api/v1/a',
      clauses: [
        { key: 'endpoint.sample' },
        { key: 'versioning.prefix', value: '/api/v1' },
        ...IN_JSON_WITH_CODES,
      ],
    });
  });

  it('is no format of a Swagger 2.0 document that names none', async () => {
    const answer = { description: '', schema: {} };
    const paths = { '/a': get({ 200: answer, 404: answer }) };
    const { clauses } = await factsOf({ swagger: '2.0', openapi: undefined, paths });
    expect(clauses.map(({ key }) => key)).toEqual(['endpoint.sample']);
  });

  it('is the media types of OpenAPI 3.2 that stand elsewhere, and no sample by QUERY', async () => {
    const content = { 'application/json': { $ref: '#/components/mediaTypes/A' } };
    const paths = { '/a': { query: { responses: { 200: { description: '', content } } } } };
    const facts = await factsOf({ openapi: '3.2.0', paths, components: { mediaTypes: { A: {} } } });
    expect([facts.samplePath, facts.clauses.map(({ key }) => key)]).toEqual([null, ['responses.format']]);
  });

  it('is a sample by QUERY where a body is shown for it', async () => {
    const requestBody = { content: { 'application/json': { example: { text: 'a' } } } };
    const paths = { '/a': { query: { requestBody, responses: JSON_200 } } };
    const facts = await factsOf({ openapi: '3.2.0', paths });
    const value = { method: 'QUERY', path: '/a', body: { text: 'a' }, response: 'application/json' };
    expect(facts).toMatchObject({
      samplePath: '/a',
      clauses: [{ key: 'endpoint.sample', value }, { key: 'responses.format' }],
    });
  });

  it('is a key that may be left out, where no operation needs the one that it names', async () => {
    const components = { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Key' } } };
    const [needed, optional] = [[{ key: [] }], [{}, { key: [] }]];
    const paths = { '/a': get(JSON_200), '/b': get(JSON_200, { security: needed }) };
    const demand = { type: 'apiKey', in: 'header', name: 'X-Key' };
    const all = await factsOf({ components, security: optional, paths: { '/a': paths['/a'] } });
    expect(all).toMatchObject({ demand, open: false });
    expect(all.clauses).toContainEqual(expect.objectContaining({ key: 'auth.optional', value: true }));
    const some = await factsOf({ components, security: optional, paths });
    expect(some.clauses.map(({ key }) => key)).not.toContain('auth.optional');
  });

  it('is that anybody may call, where it says so', async () => {
    const facts = await factsOf({ security: [], paths: { '/a': get(JSON_200) } });
    expect(facts).toMatchObject({ open: true, demand: null });
  });
});

import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { UsageError } from '../../base/exit.ts';
import { withInheritedNames } from '../../base/fixtures/inherited-names.ts';
import { hasMembers } from '../../base/json-text.ts';
import { GOOD_SERVICE, loadOrders, ORDERS_CONTRACT } from '../fixtures/config-folder.ts';

const ok = {
  description: 'ok',
  content: { 'application/json': { schema: { $ref: '#/components/schemas/A' } } },
};
const OPENAPI = {
  openapi: '3.2.0',
  servers: [{ url: '/{a}', variables: { a: { default: 'v1' } } }],
  security: [{ key: [] }],
  paths: {
    '/a/{id}': {
      parameters: [
        { name: 'id', in: 'path', required: true, style: 'simple', example: 1, schema: { type: 'integer' } },
      ],
      post: {
        operationId: 'a',
        requestBody: {
          required: true,
          content: { 'application/json': { examples: { a: { value: { a: 'x' } } } } },
        },
        responses: { 200: ok },
      },
    },
  },
  components: {
    schemas: {
      A: {
        type: 'object',
        required: ['a'],
        properties: { a: { type: 'string', pattern: '^a', enum: ['a'] } },
        oneOf: [{ $ref: '#/components/schemas/A' }],
        discriminator: { propertyName: 'a', mapping: { a: 'A' } },
      },
    },
    securitySchemes: { key: { type: 'http', scheme: 'bearer' } },
  },
};
const SWAGGER = {
  swagger: '2.0',
  host: 'a.example',
  basePath: '/v1',
  consumes: ['application/json'],
  paths: {
    '/a': {
      post: {
        parameters: [
          {
            name: 'q',
            in: 'query',
            required: true,
            type: 'array',
            items: { type: 'string' },
            collectionFormat: 'csv',
            'x-example': ['a'],
          },
          { name: 'b', in: 'formData', type: 'string', required: true },
        ],
        responses: { 200: { description: 'ok', schema: { type: 'object', 'x-nullable': true } } },
      },
    },
  },
};
const PACT = {
  consumer: { name: 'web-shop' },
  provider: { name: 'orders' },
  interactions: [
    {
      description: 'a list',
      providerStates: [{ name: 'there are some', params: { a: 1 } }],
      request: { method: 'GET', path: '/a', query: { a: ['1'] }, headers: { Accept: 'application/json' } },
      response: {
        status: 200,
        body: { a: 1 },
        matchingRules: { body: { '$.a': { matchers: [{ match: 'type' }] } } },
      },
    },
  ],
  metadata: { pactSpecification: { version: '3.0.0' } },
};
const SERVICE = `${GOOD_SERVICE}plan: { name: free, requests: 5, window: 1s }
websocket: { url: /ws, subprotocols: [a], messages: { price: { type: object } } }
operations: [{ id: a, method: GET, path: /a, query: { a: 1 }, fields: { X-A: b }, parameters: [{ name: a, in: query }] }]
timeouts: { connect: "\${env:WAIT:-5s}" }
environments: { staging: { safety: { exceedRateLimit: false } } }
`;

type Files = Readonly<Record<string, string>>;

describe('a document with names that every object has', () => {
  it.each<[string, unknown, (text: string) => readonly [service: string, files: Files]]>([
    ['OpenAPI', OPENAPI, (text) => [`${GOOD_SERVICE}openapi: ../api.json\n`, { 'api.json': text }]],
    ['Swagger', SWAGGER, (text) => [`${GOOD_SERVICE}openapi: ../api.json\n`, { 'api.json': text }]],
    ['a service', parse(SERVICE), (text) => [text, {}]],
    ['a contract', parse(ORDERS_CONTRACT), (text) => [GOOD_SERVICE, { 'contracts/orders.yaml': text }]],
    [
      'a schema',
      {
        $schema: 'http://json-schema.org/draft-07/schema#',
        type: 'object',
        properties: { a: { $ref: '#/definitions/b' } },
        definitions: { b: { enum: [1] } },
      },
      (text) => [
        `${GOOD_SERVICE}operations: [{ id: a, method: GET, path: /a, response: { schema: ../a.json } }]\n`,
        { 'a.json': text },
      ],
    ],
    ['a pact', PACT, (text) => [`${GOOD_SERVICE}pacts: [../a.json]\n`, { 'a.json': text }]],
  ])('loads, or is refused at its place: %s', async (_, document, filesOf) => {
    let count = 0;
    for (const other of withInheritedNames(document)) {
      const text = JSON.stringify(other);
      const [service, files] = filesOf(text);
      await loadOrders(service, {}, files).catch((error: unknown) => {
        expect(error, text).toBeInstanceOf(UsageError);
        expect(String(error)).not.toContain('[native code]');
      });
      count += 1;
    }
    expect(count).toBeGreaterThan(20);
    expect(hasMembers({}) && 'a' in {}).toBe(false);
  });

  it.each(['constructor', 'toString', '__proto__'])('has no variable for it: %s', async (name) => {
    const service = GOOD_SERVICE.replace("'https://orders.example'", `"\${env:${name}}"`);
    await expect(loadOrders(service)).rejects.toThrow(`the environment variable ${name} is not set`);
  });
});

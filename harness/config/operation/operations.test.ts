import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { SchemaBook } from '../../wire/json/schema.ts';
import { GOOD_SERVICE, loadOrders } from '../fixtures/config-folder.ts';
import type { InputTrial, Operation } from '../service.ts';
import { effectiveConfig } from '../written/effective.ts';
import { inputTrialsOf } from './call/input-trials.ts';
import { inputTrials } from './openapi/fixtures/described.ts';

type Files = Readonly<Record<string, string>>;

const load = (block: string, files: Files = {}) => loadOrders(GOOD_SERVICE + block, {}, files);

/** The only operation of a config. */
async function operationOf(block: string, files: Files = {}): Promise<Operation> {
  const { operations } = (await load(block, files)).config;
  const [operation] = operations;
  if (operation === undefined || operations.length > 1)
    throw new Error(`expected one, got ${operations.length}`);
  return operation;
}

const kinds = (inputs: readonly InputTrial[]) => inputs.map(({ kind, what }) => `${kind} ${what}`);

describe('an operation of the config', () => {
  it('needs little', async () => {
    expect(await operationOf('operations: [{ id: list, method: GET, path: /a?x=1 }]')).toEqual({
      id: 'list',
      method: 'GET',
      place: expect.stringMatching(/services\/orders\.yaml:5:14$/),
      template: '/a',
      path: '/a?x=1',
      fields: [],
      body: null,
      response: { status: 200, mediaTypes: [], schema: null },
      alternatives: [],
      answers: [],
      tags: [],
      auth: 'required',
      safe: true,
      call: { method: 'GET', template: '/a?x=1', inputs: [], fields: [], body: null },
      uncallable: null,
      awaits: [],
    });
  });

  it('has query, fields and body', async () => {
    const operation = await operationOf(`operations:
  - id: create
    method: POST
    path: /a
    query: { dry: true, tag: [x, y z] }
    fields: { Accept-Language: fr, X-Count: 3 }
    body: { json: { name: a, list: [1, null] } }
    response: { status: 201, type: Application/HAL+JSON }
    auth: false
`);
    expect(operation).toMatchObject({
      path: '/a?dry=true&tag=x&tag=y%20z',
      fields: [
        ['Accept', 'application/hal+json'],
        ['Accept-Language', 'fr'],
        ['X-Count', '3'],
      ],
      body: { mediaType: 'application/json', text: '{"name":"a","list":[1,null]}' },
      response: { status: 201, mediaTypes: ['application/hal+json'], schema: null },
      auth: 'none',
    });
  });

  it('may send a text', async () => {
    const operation = await operationOf(
      'operations: [{ id: a, method: PUT, path: /a, body: { text: "a,b", type: text/csv } }]',
    );
    expect(operation.body).toEqual({ mediaType: 'text/csv', text: 'a,b' });
  });

  it('reads references in what it sends, not in schemas', async () => {
    const block = `operations: [{ id: a, method: GET, path: /a, query: { q: "\${env:Q}" }, parameters: [{ name: q, in: query, schema: { pattern: "^\${x}$" } }] }]`;
    const { config } = await loadOrders(GOOD_SERVICE + block, { env: { Q: 'found' } });
    expect(config.operations[0]?.path).toBe('/a?q=found');
  });

  it('has bad input made from what its parameters are held to', async () => {
    const operation = await operationOf(`operations:
  - id: list
    method: GET
    path: /a?limit=5
    fields: { X-Depth: 1 }
    parameters:
      - { name: limit, in: query, required: true, schema: { type: integer, minimum: 1, maximum: 100 } }
      - { name: X-Depth, in: header, schema: { type: integer } }
      - { name: kind, in: query, schema: { type: string, enum: [a, b] } }
`);
    const made = inputTrialsOf(operation, {}, new SchemaBook()).trials;
    expect(kinds(made)).toEqual([
      'wrong-type with query parameter "limit" = "conform-not-an-integer" (integer)',
      'wrong-type with header field "X-Depth" = "conform-not-an-integer" (integer)',
      'missing without query parameter "limit"',
      'out-of-range with query parameter "limit" = 101 (at most 100)',
      'out-of-range with query parameter "limit" = 0 (at least 1)',
      'out-of-range with query parameter "kind" = "conform-no-such-value" (none of the enumerated values)',
      'boundary with query parameter "limit" = 100 (at most 100)',
      'boundary with query parameter "limit" = 1 (at least 1)',
      'extra with the unknown query parameter "conform-unknown"',
    ]);
    expect(made.at(-1)?.path).toBe('/a?limit=5&conform-unknown=1');
    expect(made[3]).toMatchObject({ path: '/a?limit=101', fields: [['X-Depth', '1']] });
    expect(made[2]?.path).toBe('/a');
  });
});

const DOCUMENT = `openapi: 3.1.0
paths:
  /things:
    get:
      operationId: listThings
      parameters:
        - { name: limit, in: query, required: true, schema: { type: integer, minimum: 1, default: 10 } }
      responses: { 200: { description: ok, content: { application/json: { schema: { type: array } } } } }
  /things/{id}:
    get:
      operationId: getThing
      parameters:
        - { name: id, in: path, required: true, schema: { type: integer, minimum: 1 } }
        - { name: view, in: query, required: true, schema: { enum: [short, long] } }
      responses:
        200: { description: ok, content: { application/json: { schema: { type: object } } } }
        404: { description: none }
  /things/latest:
    get:
      operationId: getLatest
      responses: { 204: { description: ok } }
`;
const FILES = { 'openapi/api.yaml': DOCUMENT };
const both = (operations: string) => `openapi: ../openapi/api.yaml\noperations:\n${operations}`;
const named = ({ operations }: { readonly operations: readonly Operation[] }) =>
  operations.map(({ id, path, uncallable }) => [id, path, uncallable === null]);

describe('an operation that the config and the OpenAPI document name', () => {
  it('takes its path from the config and the rest from the document', async () => {
    const { config } = await load(both('  - { id: one, method: GET, path: /things/7 }\n'), FILES);
    expect(named(config)).toEqual([
      ['one', '/things/7?view=short', true],
      ['listThings', '/things?limit=10', true],
      ['getLatest', '/things/latest', true],
    ]);
    const [one] = config.operations;
    expect(one).toMatchObject({
      template: '/things/{id}',
      fields: [['Accept', 'application/json']],
      response: { status: 200, mediaTypes: ['application/json'], schema: { $ref: expect.any(String) } },
    });
    expect(kinds(one ? inputTrials(config, one) : [])).toContain(
      'wrong-type with path parameter "id" = "conform-not-an-integer" (integer)',
    );
  });

  it('is found by its id, whatever its path', async () => {
    const { config } = await load(
      both('  - { id: getThing, method: GET, path: "/items/7?view=long&raw" }\n'),
      FILES,
    );
    expect(config.operations[0]).toMatchObject({ path: '/items/7?raw&view=long', template: '/items/7' });
    expect(named(config).map(([id]) => id)).toEqual(['getThing', 'listThings', 'getLatest']);
  });

  it('is the one that its path spells out, before one with parameters', async () => {
    const { config } = await load(both('  - { id: newest, method: GET, path: /things/latest }\n'), FILES);
    expect(named(config).map(([id]) => id)).toEqual(['newest', 'listThings', 'getThing']);
    expect(config.operations[0]?.response.status).toBe(204);
  });

  it('keeps each word of the config', async () => {
    const block = both(
      '  - { id: listThings, method: GET, path: /things, query: { limit: 3 }, response: { status: 206, schema: { type: object } }, auth: false }\n',
    );
    const { operations } = (await load(block, FILES)).config;
    expect(operations[0]).toMatchObject({
      path: '/things?limit=3',
      auth: 'none',
      response: {
        status: 206,
        mediaTypes: ['application/json', 'application/*+json'],
        schema: { type: 'object' },
      },
      alternatives: [],
    });
  });

  it('is kept with the reason when it cannot be called', async () => {
    const { operations } = (await load('openapi: ../openapi/api.yaml\n', FILES)).config;
    expect(operations.find(({ id }) => id === 'getThing')).toMatchObject({
      path: '/things/{id}?view=short',
      uncallable: 'the required path parameter "id" has no example, default or enumerated value',
    });
  });
});

describe('the effective config', () => {
  it('shows every operation with its place, and why it cannot be called', async () => {
    const text = effectiveConfig(
      await load(both('  - { id: one, method: POST, path: /a, body: { json: [1] } }\n'), FILES),
    );
    const shown = text.replaceAll(/ \S*(services|openapi)\//g, ' $1/');
    expect(shown.slice(shown.indexOf('# Operations that are called:'))).toMatchSnapshot();
    expect(parse(text).operations).toHaveLength(1);
  });
});

describe('what the operations may take', () => {
  it('is part of the ceiling of the run', async () => {
    const operations = 'operations: [{ id: a, method: GET, path: /a }]\n';
    expect((await load('')).config.safety).toMatchObject({ maxRequests: 500 });
    expect((await load(operations)).config.safety).toMatchObject({
      maxRequests: 2_000,
      operationRequests: 1_500,
    });
    expect((await load(`${operations}plan: { requests: 100, window: 60s }\n`)).config.safety).toMatchObject({
      maxRequests: 950,
      operationRequests: 450,
    });
    expect((await load(`${operations}safety: { operationRequests: 20 }\n`)).config.safety).toMatchObject({
      maxRequests: 520,
      operationRequests: 20,
    });
  });
});

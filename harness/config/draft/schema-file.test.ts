import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { SchemaBook } from '../../wire/json/schema.ts';
import { GOOD_SERVICE, loadOrders } from '../fixtures/config-folder.ts';

type Files = Readonly<Record<string, string>>;

/** The operations of a config, the answer of each held to a schema file. */
async function schemasOf(files: Files, names: readonly string[]): Promise<readonly unknown[]> {
  const operations = names
    .map(
      (name, at) =>
        `  - { id: o${at}, method: GET, path: /a${at}, response: { schema: ../schemas/${name} } }\n`,
    )
    .join('');
  const { config } = await loadOrders(`${GOOD_SERVICE}operations:\n${operations}`, {}, files);
  return config.operations.map(({ response }) => response.schema);
}

async function keywordOf(files: Files, value: unknown): Promise<string | null> {
  const [schema] = await schemasOf(files, ['a.json']);
  return new SchemaBook().compile(schema)(value)?.keyword ?? null;
}

const file = (schema: object): Files => ({ 'schemas/a.json': JSON.stringify(schema) });
const draft = (name: string) => `http://json-schema.org/${name}/schema#`;

describe('a schema file', () => {
  const LATEST = 'https://json-schema.org/draft/2020-12/schema';
  const RECURSIVE = 'https://json-schema.org/draft/2019-09/schema';
  const named = { id: 'https://a.example/x#', definitions: { A: { type: 'string' } } };
  const tuple = { items: [{ type: 'string' }], additionalItems: false };
  const tree = { $recursiveAnchor: true, type: 'object', properties: { kid: { $recursiveRef: '#' } } };
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
  const alternatives = { if: true, else: true, then: false };
  const list = { prefixItems: [{ type: 'string' }] };

  it.each<[string, string, object, unknown, string | null]>([
    ['draft-04', draft('draft-04'), { minimum: 1, exclusiveMinimum: true }, 1, 'minimum'],
    ['draft-04, by its own names', draft('draft-04'), { ...named, $ref: '#/definitions/A' }, 1, 'type'],
    ['draft-06', draft('draft-06'), { contains: { const: 1 } }, [2], 'contains'],
    ['draft-06, which has no alternatives', draft('draft-06'), alternatives, 1, null],
    ['draft-07', draft('draft-07'), tuple, ['a', 1], 'additionalItems'],
    [
      'draft-07, without # and over https',
      'https://json-schema.org/draft-07/schema',
      { dependencies: { a: ['b'] } },
      { a: 1 },
      'dependencies',
    ],
    [
      'draft-07, in which nothing beside a reference counts',
      draft('draft-07'),
      { $ref: '#/definitions/A', maxLength: 0, definitions: named.definitions },
      'a',
      null,
    ],
    ['2019-09', RECURSIVE, { dependentRequired: { a: ['b'] } }, { a: 1 }, 'dependentRequired'],
    ['2019-09, in which a tree is of its own kind', RECURSIVE, tree, { kid: { kid: 1 } }, 'type'],
    ['2020-12', LATEST, list, [1], 'type'],
  ])('is held to %s', async (_, $schema, schema, value, keyword) => {
    expect(await keywordOf(file({ $schema, ...schema }), value)).toBe(keyword);
  });

  it('is held to 2020-12, unless it says otherwise', async () => {
    expect(await keywordOf(file(list), [1])).toBe('type');
  });

  it.each<[string, Files]>([
    [
      'by their place',
      {
        'schemas/a.json': '{ "items": { "$ref": "parts/b.json#/$defs/B" } }',
        'schemas/parts/b.json': '{ "$defs": { "B": { "$ref": "../c.yaml" } } }',
        'schemas/c.yaml': 'type: string\n',
      },
    ],
    [
      'by names of their own',
      {
        'schemas/a.json': '{ "$id": "https://a.example/a.json", "items": { "$ref": "b.json" } }',
        'schemas/b.json': '{ "$id": "https://a.example/b.json", "type": "string" }',
      },
    ],
    [
      'in a circle',
      {
        'schemas/a.json': '{ "items": { "$ref": "b.json" } }',
        'schemas/b.json': '{ "type": "string", "not": { "$ref": "a.json#/$defs/never" } }',
        'schemas/c.json': '{}',
      },
    ],
    [
      'of an older draft',
      {
        'schemas/a.json': `{ "$schema": "${draft('draft-04')}", "items": { "$ref": "b.json#/definitions/B" } }`,
        'schemas/b.json': '{ "definitions": { "B": { "type": "string" } } }',
      },
    ],
    [
      'by an anchor',
      {
        'schemas/a.json': '{ "items": { "$ref": "b.json#B" } }',
        'schemas/b.json': '{ "$defs": { "B": { "$anchor": "B", "type": "string" } } }',
      },
    ],
  ])('may refer to others %s', async (_, files) => {
    const whole = {
      ...files,
      'schemas/a.json': files['schemas/a.json']?.replace(/\}$/, ', "$defs": { "never": false } }') ?? '',
    };
    expect(await keywordOf(whole, [1])).toBe('type');
    expect(await keywordOf(whole, ['a'])).toBeNull();
  });

  it('may have the name of another', async () => {
    const named = (type: string) => JSON.stringify({ $id: 'https://a.example/same', type });
    const files = { 'schemas/a.json': named('string'), 'schemas/b.json': named('integer') };
    const book = new SchemaBook();
    const [a, b] = (await schemasOf(files, ['a.json', 'b.json'])).map((schema) => book.compile(schema));
    expect([a?.('x'), b?.(1), a?.(1)?.keyword, b?.('x')?.keyword]).toEqual([null, null, 'type', 'type']);
  });
});

describe('a schema that many operations name', () => {
  afterEach(() => vi.restoreAllMocks());

  it('is compiled once, and the schema of schemas once for all', async () => {
    const unique = `only here ${Math.random()}`;
    const names = Array.from({ length: 50 }, () => 'a.json');
    // Once the schema of schemas is there, it stays.
    await schemasOf(file({ type: 'string' }), ['a.json']);
    const compile = vi.spyOn(Ajv2020.prototype, 'compile');
    const lookUp = vi.spyOn(Ajv2020.prototype, 'getSchema');
    const schemas = await schemasOf(file({ const: unique }), names);
    expect(schemas).toHaveLength(50);
    expect(compile.mock.calls.filter(([schema]) => JSON.stringify(schema).includes(unique))).toHaveLength(1);
    expect(lookUp).not.toHaveBeenCalled();
    const judges = new SchemaBook();
    for (const schema of structuredClone(schemas)) judges.compile(schema)(1);
    expect(compile).toHaveBeenCalledTimes(2);
  });
});

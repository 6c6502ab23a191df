import { expect, it } from 'vitest';
import { DIALECTS, dialectNamed, LATEST } from './dialect.ts';
import { SchemaBook } from './schema.ts';

it.each([
  ['http://json-schema.org/draft-07/schema#', 'draft-07'],
  ['https://json-schema.org/draft-07/schema', 'draft-07'],
  ['http://json-schema.org/draft-04/schema', 'draft-04'],
  ['http://json-schema.org/draft-06/schema#', 'draft-06'],
  ['https://json-schema.org/draft/2019-09/schema', '2019-09'],
  ['https://json-schema.org/draft/2020-12/schema#', '2020-12'],
  ['https://spec.openapis.org/oas/3.1/dialect/base', '2020-12'],
  ['https://spec.openapis.org/oas/3.12/dialect/2026-01', '2020-12'],
  ['https://spec.openapis.org/oas/2.0/dialect/base', undefined],
  ['https://mirror.example/spec.openapis.org/oas/3.1/dialect/base', undefined],
  ['see http://json-schema.org/draft-07/schema#', undefined],
  ['http://json-schema.org/draft-07/schema#/definitions/a', undefined],
  ['http://json-schema.org/draft-05/schema#', undefined],
  [7, undefined],
])('%s names the dialect %s', (uri, name) => {
  expect(dialectNamed(uri)?.name).toBe(name);
});

it.each(DIALECTS.map((dialect) => [dialect.name, dialect] as const))(
  '%s has an engine',
  (_, { engine, uri }) => {
    const validate = engine({ strict: false }).compile({ $schema: uri, type: 'object', required: ['a'] });
    expect([validate({ a: 1 }), validate({})]).toEqual([true, false]);
  },
);

it.each(DIALECTS.map((dialect) => [dialect.name, dialect] as const))(
  'keywords beside $ref are looked at from 2019-09 on: %s',
  (name, { uri, lonelyRef, assertsFormats = false }) => {
    const isOld = name.startsWith('draft');
    expect([lonelyRef, assertsFormats]).toEqual([isOld, isOld]);
    const root = isOld ? 'definitions' : '$defs';
    const judge = (beside: object) =>
      new SchemaBook().compile({
        $schema: uri,
        [root]: { any: {} },
        properties: { a: { $ref: `#/${root}/any`, ...beside } },
      });
    expect(judge({ type: 'string' })({ a: 1 }) === null).toBe(isOld);
    expect(judge({ enum: [2] })({ a: 1 }) === null).toBe(isOld);
    // A member may have that name.
    const members = { $schema: uri, properties: { $ref: {}, type: { enum: [2] } } };
    expect(new SchemaBook().compile(members)({ type: 1 })?.path).toBe('/type');
  },
);

const CONDITIONAL = JSON.parse('{"if":{},"then":{"minimum":5}}');

it.each([
  ['draft-04', CONDITIONAL],
  ['draft-06', CONDITIONAL],
  ['draft-04', { const: 5 }],
  ['draft-04', { items: { propertyNames: { maxLength: 1 } } }],
  ['draft-04', { contains: { enum: [5] } }],
])('to %s %j says nothing', (name, schema) => {
  const [its, later] = [DIALECTS.find((each) => each.name === name), LATEST].map((dialect) =>
    dialect?.engine({ strict: false }).compile(schema),
  );
  for (const value of [1, [{ ab: 1 }]]) expect(its?.(value)).toBe(true);
  expect([1, [{ ab: 1 }]].some((value) => later?.(value) === false)).toBe(true);
});

import { describe, expect, it } from 'vitest';
import { SchemaBook } from '../../../../wire/json/schema.ts';
import { answerJudge, described, inJson, inputTrials, OK, oneOperation } from '../fixtures/described.ts';

type Schema = object | boolean;

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

/** Why the documented response refuses a value; null when it does not. */
async function refusalOf(
  openapi: string,
  schema: Schema,
  value: unknown,
  schemas: object = {},
): Promise<string | null> {
  const responses = { 200: inJson(schema) };
  const judge = await answerJudge(oneOperation({ responses }, { openapi, components: { schemas } }));
  return judge(value)?.keyword ?? null;
}

describe('a schema of OpenAPI 3.0', () => {
  it.each<[string, Schema, unknown, string | null]>([
    ['nullable', { type: 'string', nullable: true }, null, null],
    ['not nullable', { type: 'string' }, null, 'type'],
    ['nullable without a type', { nullable: true, properties: {} }, null, null],
    ['nullable beside alternatives', { nullable: true, oneOf: [{ type: 'string' }] }, null, null],
    ['nullable beside a reference', { nullable: true, $ref: '#/components/schemas/A' }, null, null],
    ['a reference, whatever stands beside it', { $ref: '#/components/schemas/A', minLength: 9 }, 'a', null],
    [
      'nullable with an enumeration that leaves null out',
      { type: 'string', nullable: true, enum: ['a'] },
      null,
      null,
    ],
    [
      'exclusiveMinimum: true',
      { type: 'integer', minimum: 1, exclusiveMinimum: true },
      1,
      'exclusiveMinimum',
    ],
    ['exclusiveMaximum: false', { type: 'integer', maximum: 1, exclusiveMaximum: false }, 1, null],
    [
      'a property that is called nullable',
      { type: 'object', properties: { nullable: { type: 'boolean' } } },
      { nullable: 1 },
      'type',
    ],
    [
      'a property that is called $ref',
      { type: 'object', properties: { $ref: { type: 'integer' } } },
      { $ref: 'a' },
      'type',
    ],
    [
      'an example that looks like a schema',
      { type: 'object', example: { $ref: '#/none', type: 7 } },
      {},
      null,
    ],
    ['an enumeration of nothing', { type: 'string', enum: [] }, 'a', null],
    ['required twice', { type: 'object', required: ['a', 'a'] }, {}, 'required'],
    [
      'additionalProperties: false',
      { type: 'object', additionalProperties: false },
      { a: 1 },
      'additionalProperties',
    ],
    ['a format, which is an annotation', { type: 'string', format: 'date-time' }, 'yesterday', null],
    ['an unknown format', { type: 'string', format: 'colour' }, 'red', null],
    ['binary content', { type: 'string', format: 'binary' }, 'x', null],
  ])('reads %s', async (_, schema, value, keyword) => {
    expect(await refusalOf('3.0.3', schema, value, { A: { type: 'string' } })).toBe(keyword);
  });
});

describe('a schema of OpenAPI 3.1', () => {
  it.each<[string, Schema, unknown, string | null]>([
    ['a list of types', { type: ['string', 'null'] }, null, null],
    ['const', { const: 'a' }, 'b', 'const'],
    ['a boolean schema', false, 'anything', 'false schema'],
    ['what stands beside a reference', { $ref: '#/components/schemas/A', minLength: 3 }, 'a', 'minLength'],
    ['exclusiveMinimum', { type: 'integer', exclusiveMinimum: 1 }, 1, 'exclusiveMinimum'],
    [
      'the dialect of 3.0, left over',
      { type: 'integer', minimum: 1, exclusiveMinimum: true },
      1,
      'exclusiveMinimum',
    ],
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
    ['if and then', { if: { minimum: 5 }, then: { multipleOf: 5 } }, 7, 'multipleOf'],
    ['prefixItems', { prefixItems: [{ type: 'string' }] }, [1], 'type'],
    ['a format, which is an annotation', { type: 'string', format: 'date-time' }, 'yesterday', null],
  ])('reads %s', async (_, schema, value, keyword) => {
    expect(await refusalOf('3.1.0', schema, value, { A: { type: 'string' } })).toBe(keyword);
  });

  it('reads a reference into an operation', async () => {
    const responses = { 200: inJson({ $ref: '#/paths/~1things/get/x-shape' }) };
    const judge = await answerJudge(oneOperation({ 'x-shape': { type: 'integer' }, responses }));
    expect(judge('a')?.keyword).toBe('type');
  });
});

describe('a discriminator', () => {
  const schemas = {
    Cat: { type: 'object', required: ['lives'], properties: { lives: { type: 'integer' } } },
    Dog: { type: 'object', properties: { barks: { type: 'boolean' } } },
  };
  const pet = {
    oneOf: [{ $ref: '#/components/schemas/Cat' }, { $ref: '#/components/schemas/Dog' }],
    discriminator: { propertyName: 'kind', mapping: { feline: '#/components/schemas/Cat', canine: 'Dog' } },
  };

  it.each<[object, string | null]>([
    // Both fit, and `oneOf` admits one.
    [{ kind: 'feline', lives: 7 }, 'oneOf'],
    [{ kind: 'feline' }, null],
    [{ kind: 'fish' }, null],
    [{ lives: 7 }, 'oneOf'],
    [{ kind: 'canine', barks: 'loud' }, 'type'],
    [{ kind: 'feline', lives: 'nine', barks: 'loud' }, 'type'],
  ])('never decides whether a value is valid: %j', async (value, keyword) => {
    expect(await refusalOf('3.0.3', pet, value, schemas)).toBe(keyword);
  });

  it.each([
    ['as its mapping names it', 'Cat', { feline: '#/components/schemas/Cat' }, { type: 'string' }, 'feline'],
    ['by the name of its schema', 'Cat', {}, { enum: ['Dog', 'Cat'] }, 'Cat'],
    ['in a part of it', 'Parts', { whole: 'Parts' }, { type: 'string' }, 'whole'],
    ['unless the schema has one', 'Cat', {}, { type: 'string', example: 'own' }, 'own'],
    ['unless the schema has others', 'Cat', {}, { enum: ['own'] }, 'own'],
  ])('is met by a made-up value: %s', async (_, variant, mapping, kind, made) => {
    const one = { type: 'object', required: ['kind'], properties: { kind } };
    const schema = { oneOf: [ref(variant)], discriminator: { propertyName: 'kind', mapping } };
    const config = await described({
      openapi: '3.1.0',
      paths: { '/pets': { post: { requestBody: inJson(schema), responses: { 202: OK } } } },
      components: { schemas: { Cat: one, Parts: { allOf: [{ type: 'object' }, one] } } },
    });
    expect(JSON.parse(config.operations[0]?.body?.text ?? '')).toEqual({ kind: made });
  });

  // The unchanged body `back` is refused as well, so a change of it shows nothing.
  it.each(['side', 'back'])('lets no other member be expected to be refused: %s', async (sort) => {
    const post = (name: string) => ({
      type: 'object',
      required: ['sort', name],
      properties: { sort: { enum: ['side', 'book'] }, [name]: { type: 'string' } },
    });
    const runner = {
      oneOf: [ref('SidePost'), ref('BookPost')],
      discriminator: { propertyName: 'sort' },
    };
    const content = {
      'application/json': {
        example: { runner: { sort, name: 'one' } },
        schema: { type: 'object', required: ['runner'], properties: { runner } },
      },
    };
    const config = await described({
      openapi: '3.0.2',
      paths: { '/runners': { post: { requestBody: { content }, responses: { 202: OK } } } },
      components: { schemas: { SidePost: post('name'), BookPost: post('uri') } },
    });
    const [operation] = config.operations;
    const surplus = operation && inputTrials(config, operation).filter(({ kind }) => kind === 'surplus');
    expect(surplus).toEqual([]);
  });
});

describe('a property that travels one way only', () => {
  const schema = {
    type: 'object',
    required: ['id', 'password', 'name'],
    properties: {
      id: { type: 'integer', readOnly: true },
      password: { type: 'string', writeOnly: true },
      name: { type: 'string' },
    },
  };

  it('is not missed in the other direction', async () => {
    const { content } = inJson(schema);
    const post = { requestBody: { required: true, content }, responses: { 201: { ...OK, content } } };
    const document = { openapi: '3.0.3', paths: { '/users': { post } } };
    const { operations, definitions } = await described(document);
    expect(JSON.parse(operations[0]?.body?.text ?? '{}')).not.toHaveProperty('id');
    const judge = new SchemaBook(definitions).compile(operations[0]?.response.schema);
    expect(judge({ id: 1, name: 'a' })).toBeNull();
    expect(judge({ name: 'a' })?.keyword).toBe('required');
  });
});

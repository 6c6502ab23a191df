import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { isJsonObject } from '../../../base/json-text.ts';
import { SchemaBook } from '../../../wire/json/schema.ts';
import type { Call, CallBody, Input, InputTrial, InputTrialKind, OperationRequest } from './call.ts';
import { inputTrialsOf } from './input-trials.ts';

type Schema = Readonly<Record<string, unknown>>;
type Place = Input['in'] | 'JSON' | 'form' | 'multipart';

const MEDIA_TYPES = {
  JSON: 'application/json',
  form: 'application/x-www-form-urlencoded',
  multipart: 'multipart/form-data',
} as const;

const list = { type: 'array', items: { type: 'string' } };

/** A schema that states each keyword, a valid value, and what a request beyond the keyword is. */
const KEYWORDS: Readonly<Record<string, readonly [InputTrialKind, Schema, unknown]>> = {
  type: ['wrong-type', { type: 'integer' }, 7],
  enum: ['out-of-range', { type: 'string', enum: ['open', 'shut'] }, 'open'],
  const: ['out-of-range', { type: 'string', const: 'order' }, 'order'],
  minLength: ['out-of-range', { type: 'string', minLength: 3 }, 'abcd'],
  maxLength: ['out-of-range', { type: 'string', maxLength: 5 }, 'abcd'],
  minimum: ['out-of-range', { type: 'integer', minimum: 3 }, 7],
  maximum: ['out-of-range', { type: 'integer', maximum: 50 }, 7],
  exclusiveMinimum: ['out-of-range', { type: 'number', exclusiveMinimum: 3 }, 7],
  exclusiveMaximum: ['out-of-range', { type: 'number', exclusiveMaximum: 50 }, 7],
  multipleOf: ['multiple', { type: 'integer', multipleOf: 7 }, 7],
  pattern: ['pattern', { type: 'string', pattern: '^[a-z]{4}$' }, 'abcd'],
  format: ['format', { type: 'string', format: 'date' }, '2026-11-26'],
  minItems: ['items', { ...list, minItems: 2 }, ['a', 'b', 'c']],
  maxItems: ['items', { ...list, maxItems: 3 }, ['a', 'b']],
  uniqueItems: ['items', { ...list, uniqueItems: true }, ['a', 'b']],
};

/** With a valid value at the bound, which a service has to accept. */
const WITH_BOUND = [
  'enum',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minItems',
  'maxItems',
];

const BODIES: Readonly<Record<string, readonly [InputTrialKind, Schema, unknown]>> = {
  additionalProperties: ['surplus', { properties: { value: {} }, additionalProperties: false }, { value: 1 }],
  maxProperties: ['out-of-range', { maxProperties: 2 }, { value: 1 }],
  minProperties: ['out-of-range', { minProperties: 2 }, { value: 1, other: 2, third: 3 }],
};

const PLACES: readonly Place[] = ['path', 'query', 'header', 'cookie', 'JSON', 'form', 'multipart'];

const book = new SchemaBook();

function operationWith(place: Place, schema: Schema, value: unknown) {
  const isBody = place === 'JSON' || place === 'form' || place === 'multipart';
  const body: CallBody | null = isBody
    ? { mediaType: MEDIA_TYPES[place], required: true, schema: inObject(schema), value: { value } }
    : null;
  return operationTaking({
    body,
    template: place === 'path' ? '/things/{value}' : '/things',
    inputs: isBody ? [] : [{ name: 'value', in: place, required: true, schema, value, form: 'comma' }],
  });
}

function operationTaking(parts: Pick<Call, 'body' | 'template' | 'inputs'>) {
  const call: Call = { method: parts.body === null ? 'GET' : 'POST', fields: [], ...parts };
  return { call, place: 'openapi.yaml:8:7' };
}

function inObject(schema: Schema): Schema {
  return { type: 'object', required: ['value'], properties: { value: schema } };
}

function trialsOf(operation: Parameters<typeof inputTrialsOf>[0]): readonly InputTrial[] {
  const open = ['hostile', 'extra', 'text'];
  return inputTrialsOf(operation, {}, book).trials.filter(({ kind }) => !open.includes(kind));
}

/** The input `value` as a server finds it; of a form that of every name. */
function received(place: Place, { path, fields, body }: OperationRequest): unknown {
  const [target = '', query = ''] = path.split('?', 2);
  switch (place) {
    case 'path':
      return decodeURIComponent(target.slice('/things/'.length));
    case 'query':
      return new URLSearchParams(query).get('value') ?? undefined;
    case 'header':
      return fields.find(([name]) => name === 'value')?.[1];
    case 'cookie':
      return decodedCookie(fields.find(([name]) => name === 'Cookie')?.[1]);
    case 'JSON':
      return body === null ? undefined : JSON.parse(body.text);
    case 'form':
      return body === null ? undefined : grouped([...new URLSearchParams(body.text)]);
    case 'multipart':
      return body === null ? undefined : grouped(partsOf(body.text));
  }
}

function decodedCookie(field: string | undefined): string | undefined {
  return field && decodeURIComponent(field.slice('value='.length));
}

function partsOf(text: string) {
  return [...text.matchAll(/name="([^"]*)"(?:\r\nContent-Type: [^\r]*)?\r\n\r\n(.*)\r\n/g)].map(
    ([, name = '', value = '']) => [name, value] as const,
  );
}

function grouped(pairs: readonly (readonly [string, string])[]): Schema {
  const byName = Map.groupBy(pairs, ([name]) => name);
  const values = [...byName].map(([name, all]) => [
    name,
    all.length === 1 ? all[0]?.[1] : all.map(([, text]) => text),
  ]);
  return Object.fromEntries(values);
}

const [literal, coercing] = ([false, 'array'] as const).map((coerceTypes) => {
  const ajv = new Ajv2020({ strict: false, coerceTypes });
  addFormats.default(ajv);
  return ajv;
}) as [Ajv2020, Ajv2020];

/** Whether a server that holds its input to this schema serves the request. */
function serves(place: Place, schema: Schema): (request: OperationRequest) => boolean {
  const isJson = place === 'JSON';
  const isForm = place === 'form' || place === 'multipart';
  const isList = schema.type === 'array';
  const whole = isJson || isForm ? schema : inObject(schema);
  const isFit = (isJson ? literal : coercing).compile(whole);
  return (request) => {
    const value = received(place, request);
    if (isJson || isForm) return isFit(value);
    const read = isList && typeof value === 'string' ? value.split(',') : value;
    return isFit(read === undefined ? {} : { value: read });
  };
}

/** The kinds of requests that the server answers otherwise than documented. */
function findings(place: Place, trials: readonly InputTrial[], schema: Schema): readonly string[] {
  const isServed = serves(place, schema);
  const wrong = trials.filter((trial) => isServed(trial) !== (trial.tries?.side === 'inside'));
  return [...new Set(wrong.map(({ kind }) => kind))];
}

function without(keyword: string, { [keyword]: _, ...rest }: Schema): Schema {
  return rest;
}

describe.each(PLACES)('the trials of a value in the place %s', (place) => {
  const isBody = place in MEDIA_TYPES;
  const held = (schema: Schema) => (isBody ? inObject(schema) : schema);

  it.each(Object.entries(KEYWORDS))(
    'find that %s is not checked, and no more',
    (keyword, [kind, schema, value]) => {
      const trials = trialsOf(operationWith(place, schema, value));
      expect(findings(place, trials, held(schema))).toEqual([]);
      expect(findings(place, trials, held(without(keyword, schema)))).toEqual([kind]);
    },
  );

  it('try the bounds from inside', () => {
    const tried = Object.entries(KEYWORDS).flatMap(([keyword, [, schema, value]]) => {
      const trials = trialsOf(operationWith(place, schema, value));
      return trials.some(({ tries }) => tries?.side === 'inside' && tries.keyword === keyword)
        ? [keyword]
        : [];
    });
    expect(tried).toEqual(WITH_BOUND);
  });

  it('find that a required value is not demanded, and no more', () => {
    const trials = trialsOf(operationWith(place, { type: 'integer' }, 7));
    const missing = trials.filter(({ tries }) => tries?.keyword === 'required');
    const inBody = ['without "value" in the body', 'without the body'];
    const elsewhere = place === 'path' ? [] : [expect.stringContaining('"value"')];
    expect(missing.map(({ what }) => what)).toEqual(isBody ? inBody : elsewhere);
  });
});

describe.each(['JSON', 'form', 'multipart'] as const)('the trials of members in the place %s', (place) => {
  it.each(Object.entries(BODIES))(
    'find that %s is not checked, and no more',
    (keyword, [kind, schema, value]) => {
      const properties = {
        value: { type: 'integer' },
        other: { type: 'integer' },
        third: { type: 'integer' },
      };
      const whole = { type: 'object', properties, ...schema };
      const operation = operationTaking({
        body: { mediaType: MEDIA_TYPES[place], required: false, schema: whole, value },
        template: '/things',
        inputs: [],
      });
      const trials = trialsOf(operation);
      expect(findings(place, trials, whole)).toEqual([]);
      expect(findings(place, trials, without(keyword, whole))).toEqual([kind]);
      const inside = trials.filter(({ tries }) => tries?.keyword === keyword && tries.side === 'inside');
      expect(inside).toHaveLength(keyword === 'additionalProperties' ? 0 : 1);
    },
  );
});

describe('a trial', () => {
  const operation = operationTaking({
    template: '/things/{id}',
    inputs: [
      { name: 'id', in: 'path', required: true, schema: { type: 'string' }, value: 'a', form: 'comma' },
      {
        name: 'kind',
        in: 'query',
        required: false,
        schema: { ...list, minItems: 1 },
        value: ['a'],
        form: 'repeated',
      },
      {
        name: 'size',
        in: 'query',
        required: false,
        schema: { type: ['integer', 'null'], maximum: 9 },
        value: 1,
        form: 'comma',
      },
    ],
    body: {
      mediaType: MEDIA_TYPES.JSON,
      required: true,
      schema: inObject({ type: ['string', 'null'], maxLength: 3, minLength: 2 }),
      value: { value: 'ab' },
      examples: [
        { name: 'same', value: { value: 'ab' } },
        { name: 'other', value: { value: 'abc' } },
      ],
    },
  });
  const { trials } = inputTrialsOf(operation, {}, book);

  it('names the change with the constraint, its limit and its place', () => {
    const changes = trials.map(({ change }) => change);
    for (const change of [
      'Hold query parameter "size" to `maximum: 9` (openapi.yaml:8:7), and answer 400 or 422 otherwise.',
      'Answer 400 or 422 without "value" in the body, which is `required` (openapi.yaml:8:7).',
      'Accept query parameter "size" = 9: `maximum: 9` admits it (openapi.yaml:8:7). Or document the limit that you check.',
      'Count characters, not bytes: `maxLength: 3` admits "value" = "ééé" in the body (openapi.yaml:8:7).',
      'Accept the example "other" of the body (openapi.yaml:8:7), or correct it.',
    ])
      expect(changes).toContain(change);
  });

  it('sends null only where it can be written', () => {
    const nulls = trials.filter(({ what }) => what.includes(' = null '));
    expect(nulls.map(({ what, body }) => [what, body?.text])).toEqual([
      ['with "value" = null (string or null) in the body', '{"value":null}'],
    ]);
  });

  it('sends no empty list where that is none at all', () => {
    expect(trials.filter(({ tries }) => tries?.keyword === 'minItems' && tries.side === 'outside')).toEqual(
      [],
    );
  });

  it('sends each named example once that the call does not send', () => {
    const examples = trials.filter(({ kind }) => kind === 'example');
    expect(examples.map(({ body }) => body?.text)).toEqual(['{"value":"abc"}']);
  });

  it('puts hostile values into the path of a request that changes nothing', () => {
    expect(trials.filter(({ kind }) => kind === 'hostile')).toEqual([]);
    const { call, place } = operation;
    const { trials: read } = inputTrialsOf({ call: { ...call, method: 'GET', body: null }, place }, {}, book);
    const paths = read.filter(({ kind }) => kind === 'hostile').map(({ path }) => path.split('?', 1)[0]);
    expect(paths).toEqual([
      "/things/conform'%22%3B--",
      '/things/100%2525%25',
      '/things/conform%00',
      `/things/${'a'.repeat(300)}`,
      `/things/${'9'.repeat(25)}`,
    ]);
  });

  it('tries no object, file or type of a form that cannot be told from text', () => {
    const schema = {
      type: 'object',
      properties: {
        file: { type: 'string', maxLength: 3 },
        owner: { type: 'object', properties: { name: { type: 'string' } } },
        title: { type: 'string' },
      },
    };
    const value = { file: 'a', owner: { name: 'b' }, title: 'c' };
    const body = { mediaType: MEDIA_TYPES.multipart, required: false, schema, value, files: ['file'] };
    const form = operationTaking({ template: '/things', inputs: [], body });
    expect(trialsOf(form).filter(({ tries }) => isJsonObject(tries))).toEqual([]);
    expect(inputTrialsOf(form, {}, book).untried).toEqual([
      'only an `encoding` of JSON says how the members of an object in a form are written',
    ]);
  });

  it.each(['form', 'multipart'] as const)('tries the members of an object in a %s as JSON', (kind) => {
    const owner = { type: 'object', required: ['age'], properties: { age: { type: 'integer', maximum: 9 } } };
    const body = {
      mediaType: MEDIA_TYPES[kind],
      required: false,
      schema: { type: 'object', properties: { owner } },
      value: { owner: { age: 5 } },
      encoding: { owner: { contentType: 'application/json' } },
    };
    const form = operationTaking({ template: '/things', inputs: [], body });
    const sent = trialsOf(form).map((trial) => {
      const { owner: text } = received(kind, trial) as Record<string, string>;
      return [trial.kind, text];
    });
    expect(sent).toEqual([
      ['wrong-type', '{"age":"conform-not-an-integer"}'],
      ['missing', '{}'],
      ['out-of-range', '{"age":10}'],
      ['boundary', '{"age":9}'],
    ]);
    expect(inputTrialsOf(form, {}, book).untried).toEqual([]);
  });

  const TOO_LARGE = ['at most 60 values of a body, 4 levels deep, are tried'];
  const wide = (count: number) => ({
    type: 'object',
    properties: Object.fromEntries(Array.from({ length: count }, (_, at) => [`m${at}`, { type: 'integer' }])),
  });
  const deep = (levels: number): Schema =>
    levels === 0 ? { type: 'integer' } : { type: 'object', properties: { a: deep(levels - 1) } };
  it.each<[string, Schema, readonly string[]]>([
    ['as many values as are tried', wide(60), []],
    ['one value more', wide(61), TOO_LARGE],
    ['as many levels', deep(4), []],
    ['one level more', deep(5), TOO_LARGE],
  ])('says of a body with %s what is not tried', (_, schema, untried) => {
    const body = { mediaType: MEDIA_TYPES.JSON, required: false, schema, value: {} };
    const operation = operationTaking({ template: '/things', inputs: [], body });
    expect(inputTrialsOf(operation, {}, book).untried).toEqual(untried);
  });
});

it.each([
  [true, ['without "value" in the body', 'without the body']],
  [false, []],
])('leaves the only member of a form out if the body is required: %s', (required, wanted) => {
  const schema = inObject({ type: 'string' });
  const body: CallBody = { mediaType: MEDIA_TYPES.form, required, schema, value: { value: 'a' } };
  const trials = trialsOf(operationTaking({ body, template: '/things', inputs: [] }));
  expect(trials.filter(({ kind }) => kind === 'missing').map(({ what }) => what)).toEqual(wanted);
});

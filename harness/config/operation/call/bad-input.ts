import { isJsonObject } from '../../../base/json-text.ts';
import { type Definitions, EndlessSchema, type SchemaBook } from '../../../wire/json/schema.ts';
import type { BadInput } from './call.ts';
import { type Call, type Input, isJsonType, requestOfCall } from './call.ts';
import { type Facets, facetsOf } from './facets.ts';

/**
 * Requests of a call that its documentation rules out, a few of each kind. Each is held against the documented
 * schema first, so that what the service is asked to refuse is certainly wrong.
 */
export function badInputsOf(call: Call, definitions: Definitions, book: SchemaBook): readonly BadInput[] {
  const about = (input: Input): InputSubject => ({
    input,
    facets: facetsOf(input.schema, definitions),
    refuses: refusalBy(book, input.schema),
  });
  const subjects = [...call.inputs].sort((a, b) => rankOf(a) - rankOf(b)).map(about);
  const body = bodySubject(call, definitions, book);
  return [
    ...first(1, inputsOfWrongType(call, subjects)),
    ...first(1, bodiesOfWrongType(call, body)),
    ...first(1, missingInputs(call, subjects)),
    ...first(1, missingBodies(call, body)),
    ...first(MAX_OUT_OF_RANGE, inputsOutOfRange(call, subjects)),
    ...first(1, bodiesOutOfRange(call, body)),
    ...surplusMembers(call, body),
    ...extraInputs(call),
  ];
}

/** One beyond each end of a range. */
const MAX_OUT_OF_RANGE = 2;
const UNKNOWN_NAME = 'conform-unknown';
/** Longer texts are not sent. */
const MAX_TEXT = 2_000;

interface InputSubject {
  readonly input: Input;
  readonly facets: Facets;
  readonly refuses: (value: unknown) => boolean;
}

interface BodySubject {
  readonly facets: Facets;
  readonly value: Readonly<Record<string, unknown>>;
  /** Names of the members that are sent or may be, the required ones first. */
  readonly members: readonly { readonly name: string; readonly facets: Facets }[];
  readonly refuses: (value: unknown) => boolean;
}

/** Whether a schema rules a value out; none rules nothing out. */
export function refusalBy(book: SchemaBook, schema: unknown): (value: unknown) => boolean {
  if (schema === null) return () => false;
  let judge: ReturnType<SchemaBook['compile']> | undefined;
  return (value) => {
    judge ??= book.compile(schema);
    try {
      return judge(value) !== null;
    } catch (error) {
      if (error instanceof EndlessSchema) return false;
      throw error;
    }
  };
}

function bodySubject({ body }: Call, definitions: Definitions, book: SchemaBook): BodySubject | null {
  if (body === null || !isJsonType(body.mediaType) || !isJsonObject(body.value)) return null;
  const facets = facetsOf(body.schema, definitions);
  const names = [...new Set([...facets.required, ...Object.keys(facets.properties)])];
  return {
    facets,
    value: body.value,
    members: names.map((name) => ({ name, facets: facetsOf(facets.properties[name], definitions) })),
    refuses: refusalBy(book, body.schema),
  };
}

function* first<T>(count: number, all: Iterable<T>): Generator<T> {
  let left = count;
  for (const each of all) {
    if (left === 0) return;
    left -= 1;
    yield each;
  }
}

/** Types whose values can be distinguished from other text in a URL or a field. */
const NOT_TEXT: ReadonlySet<string | null> = new Set(['integer', 'number', 'boolean']);

function* inputsOfWrongType(call: Call, subjects: readonly InputSubject[]): Generator<BadInput> {
  for (const { input, facets, refuses } of subjects) {
    const value = `conform-not-${facets.type === 'integer' ? 'an' : 'a'}-${facets.type}`;
    if (!NOT_TEXT.has(facets.type) || input.form === 'json' || !refuses(value)) continue;
    yield withInput(call, 'wrong-type', input, value, String(facets.type));
  }
}

/** What no lenient reading takes for a value of the type. */
const OTHER_TYPE: Readonly<Record<string, unknown>> = {
  integer: 'conform-not-an-integer',
  number: 'conform-not-a-number',
  boolean: 'conform-not-a-boolean',
  object: 'conform-not-an-object',
  string: { conform: 'not a string' },
};

function* bodiesOfWrongType(call: Call, body: BodySubject | null): Generator<BadInput> {
  if (body === null) return;
  const { members, value, refuses } = body;
  for (const [type, other] of Object.entries(OTHER_TYPE)) {
    for (const { name, facets } of members) {
      if (facets.type !== type) continue;
      const bad = { ...value, [name]: other };
      if (refuses(bad))
        yield withBody(call, 'wrong-type', bad, `${quoted(name)} = ${shown(other)} (${type})`);
    }
  }
}

function* missingInputs(call: Call, subjects: readonly InputSubject[]): Generator<BadInput> {
  for (const { input, facets } of subjects) {
    // A path without its parameter is another path; a parameter with a default may be left out.
    if (!input.required || input.in === 'path' || 'default' in facets.keywords) continue;
    const inputs = call.inputs.map((each) => (each === input ? { ...each, value: undefined } : each));
    yield { kind: 'missing', what: `without ${named(input)}`, ...requestOfCall({ ...call, inputs }) };
  }
}

function* missingBodies(call: Call, body: BodySubject | null): Generator<BadInput> {
  if (body === null) return;
  const { facets, value, refuses } = body;
  for (const name of facets.required) {
    const { [name]: _, ...bad } = value;
    if (Object.hasOwn(value, name) && refuses(bad)) {
      yield { ...withBody(call, 'missing', bad, ''), what: `without ${quoted(name)} in the body` };
    }
  }
  if (call.body?.required) {
    const without = { ...call, body: { ...call.body, value: undefined } };
    yield { kind: 'missing', what: 'without the body', ...requestOfCall(without) };
  }
}

interface Beyond {
  readonly value: unknown;
  readonly bound: string;
}

function beyond({ type, keywords }: Facets): readonly Beyond[] {
  const found: Beyond[] = [];
  const step = type === 'integer' ? 1 : 0.5;
  const bounds: readonly (readonly [keyword: string, step: number, words: string])[] = [
    ['maximum', step, 'at most'],
    ['minimum', -step, 'at least'],
    ['exclusiveMaximum', 0, 'less than'],
    ['exclusiveMinimum', 0, 'more than'],
  ];
  if (type === 'integer' || type === 'number') {
    for (const [keyword, by, words] of bounds) {
      const bound = keywords[keyword];
      if (typeof bound !== 'number' || Math.abs(bound) > 2 ** 52) continue;
      found.push({ value: bound + by, bound: `${words} ${bound}` });
    }
  }
  if (type === 'string' && Array.isArray(keywords.enum)) {
    found.push({ value: 'conform-no-such-value', bound: 'none of the enumerated values' });
  }
  const { maxLength, minLength } = keywords;
  if (type === 'string' && typeof maxLength === 'number' && maxLength < MAX_TEXT) {
    found.push({ value: 'a'.repeat(maxLength + 1), bound: `at most ${maxLength} characters` });
  }
  // Servers often treat an empty value as absent.
  if (type === 'string' && typeof minLength === 'number' && minLength > 1 && minLength < MAX_TEXT) {
    found.push({ value: 'a'.repeat(minLength - 1), bound: `at least ${minLength} characters` });
  }
  return found;
}

function* inputsOutOfRange(call: Call, subjects: readonly InputSubject[]): Generator<BadInput> {
  for (const { input, facets, refuses } of subjects) {
    if (input.form === 'json') continue;
    for (const { value, bound } of beyond(facets)) {
      if (refuses(value)) yield withInput(call, 'out-of-range', input, value, bound);
    }
  }
}

function* bodiesOutOfRange(call: Call, body: BodySubject | null): Generator<BadInput> {
  if (body === null) return;
  for (const { name, facets } of body.members) {
    for (const { value, bound } of beyond(facets)) {
      const bad = { ...body.value, [name]: value };
      if (body.refuses(bad))
        yield withBody(call, 'out-of-range', bad, `${quoted(name)} = ${shown(value)} (${bound})`);
    }
  }
}

/** Where the schema is closed (`additionalProperties: false`), a misspelt member must not be taken for none. */
function* surplusMembers(call: Call, body: BodySubject | null): Generator<BadInput> {
  if (body === null) return;
  const bad = { ...body.value, [UNKNOWN_NAME]: 1 };
  if (body.refuses(bad)) yield withBody(call, 'surplus', bad, `the undocumented ${quoted(UNKNOWN_NAME)} = 1`);
}

/** Only where it can change nothing: the call is carried out when the unknown parameter is ignored. */
function* extraInputs(call: Call): Generator<BadInput> {
  if (call.method !== 'GET') return;
  const place = { name: UNKNOWN_NAME, in: 'query', form: 'repeated' } as const;
  const extra: Input = { ...place, required: false, schema: null, value: '1' };
  const inputs = [...call.inputs, extra];
  yield { kind: 'extra', what: `with the unknown ${named(extra)}`, ...requestOfCall({ ...call, inputs }) };
}

function withInput(
  call: Call,
  kind: BadInput['kind'],
  input: Input,
  value: unknown,
  wanted: string,
): BadInput {
  const inputs = call.inputs.map((each) => (each === input ? { ...each, value } : each));
  return {
    kind,
    what: `with ${named(input)} = ${shown(value)} (${wanted})`,
    ...requestOfCall({ ...call, inputs }),
  };
}

function withBody(call: Call, kind: BadInput['kind'], value: unknown, what: string): BadInput {
  const body = call.body && { ...call.body, value };
  return { kind, what: `with ${what} in the body`, ...requestOfCall({ ...call, body }) };
}

const PLACES: Readonly<Record<Input['in'], string>> = {
  query: 'query parameter',
  path: 'path parameter',
  header: 'header field',
  cookie: 'cookie',
};

/** Parameters of the query come first: they are what services read most, and judge least by routing alone. */
function rankOf(input: Input): number {
  return Object.keys(PLACES).indexOf(input.in);
}

function named(input: Input): string {
  return `${PLACES[input.in]} ${quoted(input.name)}`;
}

function quoted(name: string): string {
  return JSON.stringify(name);
}

function shown(value: unknown): string {
  const text = JSON.stringify(value);
  if (text.length <= 40) return text;
  const length = typeof value === 'string' ? value.length : text.length;
  return `${text.slice(0, 30)}… (${length} characters)`;
}

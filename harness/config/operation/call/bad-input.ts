import { isJsonObject } from '../../../base/json-text.ts';
import { type Definitions, EndlessSchema, type SchemaBook } from '../../../wire/json/schema.ts';
import {
  type BadInput,
  type Call,
  type Facets,
  facetsOf,
  type Input,
  isJsonType,
  requestOfCall,
} from './call.ts';

/** Requests that the documented schema of a call certainly rules out, a few of each kind. */
export function badInputsOf(call: Call, definitions: Definitions, book: SchemaBook): readonly BadInput[] {
  const inputs = [...call.inputs].sort((a, b) => rankOf(a) - rankOf(b)).map(about);
  const plain = inputs.filter(({ input }) => input.form !== 'json');
  const body = bodyOf(call, definitions, book);
  const members = body?.members ?? [];
  const byType = [...members].sort((a, b) => typeRank(a.facets) - typeRank(b.facets));
  return [
    ...ofWrongType(plain.filter(({ facets }) => NOT_TEXT.has(facets.type))).take(1),
    ...ofWrongType(byType).take(1),
    ...missingInputs(call, inputs).take(1),
    ...missingBodies(call, body).take(1),
    ...outOfRange(plain).take(MAX_OUT_OF_RANGE),
    ...outOfRange(members).take(1),
    ...surplusMembers(call, body),
    ...extraInputs(call),
  ];

  function about(input: Input): ReplaceableInput {
    const replace = (value: unknown, wanted: string) => ({
      what: `with ${named(input)} = ${shown(value)} (${wanted})`,
      ...withInput(call, input, value),
    });
    const { schema } = input;
    return { input, facets: facetsOf(schema, definitions), refuses: refusalBy(book, schema), replace };
  }
}

/** One beyond each end of a range. */
const MAX_OUT_OF_RANGE = 2;
const UNKNOWN_NAME = 'conform-unknown';
/** Longer texts are not sent. */
const MAX_TEXT = 2_000;

/** A value of a call that another one can be sent for. */
interface Replaceable {
  readonly facets: Facets;
  readonly refuses: (value: unknown) => boolean;
  /** `wanted`: what the documentation wants in its place. */
  readonly replace: (value: unknown, wanted: string) => Omit<BadInput, 'kind'>;
}

interface ReplaceableInput extends Replaceable {
  readonly input: Input;
}

interface Body {
  readonly facets: Facets;
  readonly value: Readonly<Record<string, unknown>>;
  /** The members that are sent or may be, the required ones first. */
  readonly members: readonly Replaceable[];
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

/** null if it is no JSON object, or invalid already: then a change of it shows nothing. */
function bodyOf(call: Call, definitions: Definitions, book: SchemaBook): Body | null {
  const { body } = call;
  if (body === null || !isJsonType(body.mediaType) || !isJsonObject(body.value)) return null;
  const { value } = body;
  const facets = facetsOf(body.schema, definitions);
  const refuses = refusalBy(book, body.schema);
  if (refuses(value)) return null;
  const names = [...new Set([...facets.required, ...Object.keys(facets.properties)])];
  const members = names.map((name): Replaceable => {
    const withMember = (other: unknown) => ({ ...value, [name]: other });
    return {
      facets: facetsOf(facets.properties[name], definitions),
      refuses: (other) => refuses(withMember(other)),
      replace: (other, wanted) =>
        withBody(call, withMember(other), `with ${quoted(name)} = ${shown(other)} (${wanted}) in the body`),
    };
  });
  return { facets, value, members, refuses };
}

/** Types whose values can be distinguished from other text in a URL or a field. */
const NOT_TEXT: ReadonlySet<string | null> = new Set(['integer', 'number', 'boolean']);

/** What no lenient reading takes for a value of the type. */
const OTHER_TYPE: ReadonlyMap<string | null, unknown> = new Map<string, unknown>([
  ['integer', 'conform-not-an-integer'],
  ['number', 'conform-not-a-number'],
  ['boolean', 'conform-not-a-boolean'],
  ['object', 'conform-not-an-object'],
  ['string', { conform: 'not a string' }],
]);

function typeRank({ type }: Facets): number {
  return [...OTHER_TYPE.keys()].indexOf(type);
}

function* ofWrongType(subjects: readonly Replaceable[]): Generator<BadInput> {
  for (const { facets, refuses, replace } of subjects) {
    const other = OTHER_TYPE.get(facets.type);
    if (other !== undefined && refuses(other))
      yield { kind: 'wrong-type', ...replace(other, String(facets.type)) };
  }
}

function* missingInputs(call: Call, inputs: readonly ReplaceableInput[]): Generator<BadInput> {
  for (const { input, facets } of inputs) {
    // A path without its parameter is another path; a parameter with a default may be left out.
    if (!input.required || input.in === 'path' || 'default' in facets.keywords) continue;
    yield { kind: 'missing', what: `without ${named(input)}`, ...withInput(call, input, undefined) };
  }
}

function* missingBodies(call: Call, body: Body | null): Generator<BadInput> {
  if (body === null) return;
  const { facets, value, refuses } = body;
  for (const name of facets.required) {
    const { [name]: _, ...bad } = value;
    if (Object.hasOwn(value, name) && refuses(bad))
      yield { kind: 'missing', ...withBody(call, bad, `without ${quoted(name)} in the body`) };
  }
  if (call.body?.required) yield { kind: 'missing', ...withBody(call, undefined, 'without the body') };
}

interface Beyond {
  readonly value: unknown;
  readonly bound: string;
}

function* beyond({ type, keywords }: Facets): Generator<Beyond> {
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
      yield { value: bound + by, bound: `${words} ${bound}` };
    }
  }
  if (type !== 'string') return;
  const { maxLength, minLength } = keywords;
  if (Array.isArray(keywords.enum))
    yield { value: 'conform-no-such-value', bound: 'none of the enumerated values' };
  if (typeof maxLength === 'number' && maxLength < MAX_TEXT)
    yield { value: 'a'.repeat(maxLength + 1), bound: `at most ${maxLength} characters` };
  // Servers often treat an empty value as absent.
  if (typeof minLength === 'number' && minLength > 1 && minLength < MAX_TEXT)
    yield { value: 'a'.repeat(minLength - 1), bound: `at least ${minLength} characters` };
}

function* outOfRange(subjects: readonly Replaceable[]): Generator<BadInput> {
  for (const { facets, refuses, replace } of subjects) {
    for (const { value, bound } of beyond(facets))
      if (refuses(value)) yield { kind: 'out-of-range', ...replace(value, bound) };
  }
}

/** Where the schema is closed (`additionalProperties: false`), a misspelt member must not be taken for none. */
function surplusMembers(call: Call, body: Body | null): readonly BadInput[] {
  const bad = { ...body?.value, [UNKNOWN_NAME]: 1 };
  if (!body?.refuses(bad)) return [];
  const what = `with the undocumented ${quoted(UNKNOWN_NAME)} = 1 in the body`;
  return [{ kind: 'surplus', ...withBody(call, bad, what) }];
}

/** Only where it can change nothing: the call is carried out when the unknown parameter is ignored. */
function extraInputs(call: Call): readonly BadInput[] {
  if (call.method !== 'GET') return [];
  const place = { name: UNKNOWN_NAME, in: 'query', form: 'repeated' } as const;
  const extra: Input = { ...place, required: false, schema: null, value: '1' };
  const request = requestOfCall({ ...call, inputs: [...call.inputs, extra] });
  return [{ kind: 'extra', what: `with the unknown ${named(extra)}`, ...request }];
}

function withInput(call: Call, input: Input, value: unknown): ReturnType<typeof requestOfCall> {
  const inputs = call.inputs.map((each) => (each === input ? { ...each, value } : each));
  return requestOfCall({ ...call, inputs });
}

function withBody(call: Call, value: unknown, what: string): Omit<BadInput, 'kind'> {
  return { what, ...requestOfCall({ ...call, body: call.body && { ...call.body, value } }) };
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

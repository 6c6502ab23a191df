import { isDeepStrictEqual } from 'node:util';
import { isJsonObject } from '../../../base/json-text.ts';
import type { Definitions, SchemaBook } from '../../../wire/json/schema.ts';
import {
  type Call,
  type ConstraintTrial,
  type Facets,
  facetsOf,
  type Input,
  type InputTrial,
  type InputTrialKind,
  isJsonType,
  requestOfCall,
} from './call.ts';
import { type ConstraintValue, ConstraintValues, typeRank } from './constraint-values.ts';
import { Examples } from './example.ts';
import { refusalBy } from './refusal.ts';

/** Requests that try each documented constraint of a call, outside and inside. Parameters come before the body. */
export function inputTrialsOf(call: Call, definitions: Definitions, book: SchemaBook): readonly InputTrial[] {
  const examples = new Examples(definitions, book);
  const scope: TrialScope = { call, definitions, book, examples };
  const inputs = [...call.inputs].sort((a, b) => rankOf(a) - rankOf(b));
  const parameters = inputs
    .filter(({ form }) => form !== 'json')
    .flatMap((input) => placesOfInput(input, scope));
  const members = placesInBody(scope);
  const byType = [...members].sort((a, b) => typeRank(a.facets) - typeRank(b.facets));
  const all = [...parameters, ...members];
  const trials = [
    ...hostileValues(call),
    ...trialsIn(
      parameters.filter(({ facets }) => NOT_TEXT.has(facets.type)),
      (values) => values.ofOtherType(),
    ),
    ...trialsIn(byType, (values) => values.ofOtherType()),
    ...missingInputs(scope, inputs),
    ...missingMembers(scope, members),
    ...trialsIn(all, (values) => values.outside()),
    ...surplusMembers(scope, members),
    ...trialsIn(all, (values) => values.inside()),
    ...trialsIn(
      all.filter(({ tried }) => tried.in === 'query' || tried.in === 'body'),
      (values, { tried }) => values.unusualTexts(tried.name),
    ),
    ...namedExamples(call),
    ...extraInputs(call),
  ];
  const counts = new Map<InputTrialKind, number>();
  return trials.filter(({ kind }) => {
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
    return (counts.get(kind) ?? 0) <= MAX_OF_KIND;
  });
}

const UNKNOWN_NAME = 'conform-unknown';
/** Requests of one kind for one operation. */
const MAX_OF_KIND = 40;
/** Values in one body, and how deep they may stand. */
const MAX_PLACES = 60;
const MAX_DEPTH = 4;

interface TrialScope {
  readonly call: Call;
  readonly definitions: Definitions;
  readonly book: SchemaBook;
  readonly examples: Examples;
}

/** A value of a call that another one can be sent for. */
interface Replaceable {
  readonly tried: Pick<ConstraintTrial, 'in' | 'name'>;
  readonly facets: Facets;
  readonly shown: () => unknown;
  readonly refuses: (value: unknown) => boolean;
  readonly book: SchemaBook;
  /** Completes "with …": `query parameter "limit"`. */
  readonly words: string;
  /** `value` undefined: without it. */
  readonly with: (value: unknown) => ReturnType<typeof requestOfCall>;
}

interface ReplaceableMember extends Replaceable {
  readonly name: string;
  /** Of the object that it is a member of. */
  readonly isRequired: boolean;
  /** It is in the documented body. */
  readonly isShown: boolean;
}

/** A parameter, and the first of the items if it is a list. */
function placesOfInput(input: Input, scope: TrialScope): readonly Replaceable[] {
  const { call, definitions, book } = scope;
  const { schema, value } = input;
  const facets = facetsOf(schema, definitions);
  const refuses = refusalBy(book, schema);
  const whole: Replaceable = {
    tried: { in: input.in, name: input.name },
    facets,
    shown: () => value ?? exampleOf(schema, scope),
    refuses,
    book,
    words: named(input),
    with: (other) => withInput(call, input, other),
  };
  if (facets.type !== 'array' || facets.keywords.items === undefined) return [whole];
  const { items } = facets.keywords;
  const [shown] = [value].flat();
  const item: Replaceable = {
    ...whole,
    facets: facetsOf(items, definitions),
    shown: () => shown ?? exampleOf(items, scope),
    refuses: (other) => refuses([other]),
    words: `an item of ${named(input)}`,
    with: (other) => withInput(call, input, [other]),
  };
  return [whole, item];
}

function exampleOf(schema: unknown, { examples }: TrialScope): unknown {
  if (schema === null || schema === undefined) return undefined;
  const made = examples.of(schema);
  return 'value' in made ? made.value : undefined;
}

/** The values in a JSON object as body, required ones first; empty if it is none, or is invalid already. */
function placesInBody(scope: TrialScope): readonly ReplaceableMember[] {
  const { call, definitions, book } = scope;
  const { body } = call;
  if (body === null || !isJsonType(body.mediaType) || !isJsonObject(body.value)) return [];
  const refuses = refusalBy(book, body.schema);
  if (refuses(body.value)) return [];
  const places: ReplaceableMember[] = [];
  visit(body.schema, body.value, [], body.value, 0);
  return places;

  /** `root`: a valid body with that value at the path. */
  function visit(schema: unknown, value: unknown, path: Path, root: unknown, depth: number): void {
    if (depth >= MAX_DEPTH) return;
    const facets = facetsOf(schema, definitions);
    if (isJsonObject(value)) {
      for (const name of new Set([...facets.required, ...Object.keys(facets.properties)]))
        place(
          facets.properties[name],
          value[name],
          [...path, name],
          root,
          depth,
          facets.required.includes(name),
        );
    }
    if (Array.isArray(value) && value.length > 0 && facets.keywords.items !== undefined)
      place(facets.keywords.items, value[0], [...path, 0], root, depth, false);
  }

  function place(
    schema: unknown,
    value: unknown,
    path: Path,
    root: unknown,
    depth: number,
    isRequired: boolean,
  ): void {
    if (places.length >= MAX_PLACES) return;
    const facets = facetsOf(schema, definitions);
    const isNested = facets.type === 'object' || facets.type === 'array';
    const shown = value ?? (isNested || 'pattern' in facets.keywords ? exampleOf(schema, scope) : undefined);
    const withValue = (other: unknown) => replacedIn(root, path, other);
    places.push({
      tried: { in: 'body', name: pointerOf(path) },
      name: String(path.at(-1)),
      facets,
      shown: () => shown,
      refuses: (other) => refuses(withValue(other)),
      book,
      words: quoted(dotted(path)),
      with: (other) => withBody(call, withValue(other)),
      isRequired,
      isShown: value !== undefined,
    });
    if (!isNested || shown === undefined) return;
    const whole = value === undefined ? withValue(shown) : root;
    if (!refuses(whole)) visit(schema, shown, path, whole, depth + 1);
  }
}

type Path = readonly (string | number)[];

/** A copy with another value at the path; undefined removes the old one. */
function replacedIn(root: unknown, path: Path, value: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  if (Array.isArray(root)) return root.map((item, at) => (at === key ? replacedIn(item, rest, value) : item));
  const { [key]: old, ...others } = isJsonObject(root) ? root : {};
  const changed = replacedIn(old, rest, value);
  return changed === undefined ? others : { ...(isJsonObject(root) ? root : {}), [key]: changed };
}

/** RFC 6901 §3. */
function pointerOf(path: Path): string {
  return path.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** `lines[0].sku` */
function dotted(path: Path): string {
  return path.map((key, at) => (typeof key === 'number' ? `[${key}]` : at === 0 ? key : `.${key}`)).join('');
}

/** Types whose values can be distinguished from other text in a URL or a field. */
const NOT_TEXT: ReadonlySet<string | null> = new Set(['integer', 'number', 'boolean']);

function trialsIn<R extends Replaceable>(
  places: readonly R[],
  valuesOf: (values: ConstraintValues, place: R) => Iterable<ConstraintValue>,
): readonly InputTrial[] {
  return places.flatMap((place) => {
    const { tried, facets, shown, refuses, words, book } = place;
    const values = new ConstraintValues(facets, shown, book);
    return [...valuesOf(values, place)].flatMap(({ kind, keyword, side, value, wanted }): InputTrial[] => {
      // Formats are annotations: schemas do not refuse their misuse.
      if (kind !== 'format' && refuses(value) !== (side === 'outside')) return [];
      const inBody = tried.in === 'body' ? ' in the body' : '';
      const what = `with ${words} = ${shownAs(value)} (${wanted})${inBody}`;
      return [{ kind, what, tries: { ...tried, keyword, side }, ...place.with(value) }];
    });
  });
}

/** What a path has to carry without a failure, whatever it names. */
const HOSTILE: readonly (readonly [words: string, value: string])[] = [
  ['quotes', `conform'";--`],
  ['percent signs', '100%25%'],
  ['NUL', 'conform\0'],
  ['300 characters', 'a'.repeat(300)],
  ['a number too large', '9'.repeat(25)],
];

/** Only where it can change nothing. */
function hostileValues(call: Call): readonly InputTrial[] {
  if (call.method !== 'GET') return [];
  return call.inputs
    .filter((input) => input.in === 'path')
    .flatMap((input) =>
      HOSTILE.map(([words, value]) => ({
        kind: 'hostile' as const,
        what: `with ${named(input)} = ${shownAs(value)} (${words})`,
        tries: { in: input.in, name: input.name, keyword: 'type', side: 'outside' as const },
        ...withInput(call, input, value),
      })),
    );
}

function* missingInputs({ call, definitions }: TrialScope, inputs: readonly Input[]): Generator<InputTrial> {
  for (const input of inputs) {
    // A path without its parameter is another path; a parameter with a default may be left out.
    const hasDefault = 'default' in facetsOf(input.schema, definitions).keywords;
    if (!input.required || input.in === 'path' || hasDefault) continue;
    const tries = { in: input.in, name: input.name, keyword: 'required', side: 'outside' } as const;
    yield { kind: 'missing', what: `without ${named(input)}`, tries, ...withInput(call, input, undefined) };
  }
}

function* missingMembers({ call }: TrialScope, members: readonly ReplaceableMember[]): Generator<InputTrial> {
  const side = 'outside';
  for (const { tried, isRequired, isShown, refuses, words, with: withValue } of members) {
    if (!isRequired || !isShown || !refuses(undefined)) continue;
    const tries = { ...tried, keyword: 'required', side } as const;
    yield { kind: 'missing', what: `without ${words} in the body`, tries, ...withValue(undefined) };
  }
  if (!call.body?.required || members.length === 0) return;
  const tries = { in: 'body', name: '', keyword: 'required', side } as const;
  yield { kind: 'missing', what: 'without the body', tries, ...withBody(call, undefined) };
}

/** Where a schema is closed (`additionalProperties: false`), a misspelt member must not be taken for none. */
function surplusMembers(scope: TrialScope, members: readonly ReplaceableMember[]): readonly InputTrial[] {
  const { call, book } = scope;
  const { value, schema = null } = call.body ?? {};
  if (!isJsonObject(value) || members.length === 0) return [];
  const name = quoted(UNKNOWN_NAME);
  const whole = { ...value, [UNKNOWN_NAME]: 1 };
  const trial = (pointer: string, what: string, request: ReturnType<typeof requestOfCall>): InputTrial => ({
    kind: 'surplus',
    what,
    tries: { in: 'body', name: pointer, keyword: 'additionalProperties', side: 'outside' },
    ...request,
  });
  const nested = members.flatMap((member) => {
    const shown = member.shown();
    if (!isJsonObject(shown) || member.refuses(shown)) return [];
    const other = { ...shown, [UNKNOWN_NAME]: 1 };
    if (!member.refuses(other)) return [];
    const what = `with the undocumented ${name} = 1 in ${member.words} of the body`;
    return [trial(member.tried.name, what, member.with(other))];
  });
  if (!refusalBy(book, schema)(whole)) return nested;
  return [trial('', `with the undocumented ${name} = 1 in the body`, withBody(call, whole)), ...nested];
}

/** Each named example that the call itself does not send. */
function namedExamples(call: Call): readonly InputTrial[] {
  const side = 'inside';
  const ofInputs = call.inputs.flatMap((input) =>
    (input.examples ?? [])
      .filter(({ value }) => !isDeepStrictEqual(value, input.value))
      .map(({ name, value }) => ({
        kind: 'example' as const,
        what: `with ${named(input)} = ${shownAs(value)} (the example ${quoted(name)})`,
        tries: { in: input.in, name: input.name, keyword: 'examples', side } as const,
        ...withInput(call, input, value),
      })),
  );
  const { examples = [], value: sent } = call.body ?? {};
  const ofBody = examples
    .filter(({ value }) => !isDeepStrictEqual(value, sent))
    .map(({ name, value }) => ({
      kind: 'example' as const,
      what: `with the example ${quoted(name)} as body`,
      tries: { in: 'body', name: '', keyword: 'examples', side } as const,
      ...withBody(call, value),
    }));
  return [...ofInputs, ...ofBody];
}

/** Only where it can change nothing: the call is carried out when the unknown parameter is ignored. */
function extraInputs(call: Call): readonly InputTrial[] {
  if (call.method !== 'GET') return [];
  const place = { name: UNKNOWN_NAME, in: 'query', form: 'repeated' } as const;
  const extra: Input = { ...place, required: false, schema: null, value: '1' };
  const request = requestOfCall({ ...call, inputs: [...call.inputs, extra] });
  return [{ kind: 'extra', what: `with the unknown ${named(extra)}`, tries: null, ...request }];
}

function withInput(call: Call, input: Input, value: unknown): ReturnType<typeof requestOfCall> {
  const inputs = call.inputs.map((each) => (each === input ? { ...each, value } : each));
  return requestOfCall({ ...call, inputs });
}

function withBody(call: Call, value: unknown): ReturnType<typeof requestOfCall> {
  return requestOfCall({ ...call, body: call.body && { ...call.body, value } });
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

function shownAs(value: unknown): string {
  const text = JSON.stringify(value);
  if (text.length <= 40) return text;
  const length = typeof value === 'string' ? value.length : text.length;
  return `${text.slice(0, 30)}… (${length} characters)`;
}

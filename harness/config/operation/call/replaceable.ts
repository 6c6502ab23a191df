import { isJsonObject } from '../../../base/json-text.ts';
import type { Definitions, SchemaBook } from '../../../wire/json/schema.ts';
import {
  type Call,
  type CallBody,
  type ConstraintTrial,
  type Facets,
  facetsOf,
  type Input,
  isFormType,
  isJsonType,
  isMultipartType,
  type Operation,
  requestOfCall,
} from './call.ts';
import type { Examples } from './example.ts';
import { refusalBy } from './refusal.ts';

/** Values in one body, and how deep they may stand. */
const MAX_PLACES = 60;
const MAX_DEPTH = 4;

export interface TrialScope extends Pick<Operation, 'call' | 'place'> {
  readonly definitions: Definitions;
  readonly book: SchemaBook;
  readonly examples: Examples;
}

/** A value of a call that another one can be sent for. */
export interface Replaceable {
  readonly tried: Pick<ConstraintTrial, 'in' | 'name'>;
  readonly facets: Facets;
  readonly shown: () => unknown;
  readonly refuses: (value: unknown) => boolean;
  readonly book: SchemaBook;
  /** Completes "with …": `query parameter "limit"`. */
  readonly words: string;
  /** `value` undefined: without it. */
  readonly with: (value: unknown) => ReturnType<typeof requestOfCall>;
  /** It is written as text: there is no null, no empty list, and any text is a valid one. */
  readonly isText: boolean;
}

export interface ReplaceableMember extends Replaceable {
  readonly name: string;
  /** Of the object that it is a member of. */
  readonly isRequired: boolean;
  /** It is in the documented body. */
  readonly isShown: boolean;
}

/** A parameter, and the first of the items if it is a list. */
export function placesOfInput(input: Input, scope: TrialScope): readonly Replaceable[] {
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
    isText: true,
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

export function exampleOf(schema: unknown, { examples }: TrialScope): unknown {
  if (schema === null || schema === undefined) return undefined;
  const made = examples.of(schema);
  return 'value' in made ? made.value : undefined;
}

export interface BodyPlaces {
  readonly members: readonly ReplaceableMember[];
  /** Why other values in the body are not tried, each reason once. */
  readonly untried: readonly string[];
}

const NO_PLACES: BodyPlaces = { members: [], untried: [] };
const TOO_LARGE = `at most ${MAX_PLACES} values of a body, ${MAX_DEPTH} levels deep, are tried`;
const UNCLEAR_FORM = 'only an `encoding` of JSON says how the members of an object in a form are written';

/** The values in an object as body, required ones first; empty if it is none, or is invalid already. */
export function placesInBody(scope: TrialScope): BodyPlaces {
  const { call, definitions, book } = scope;
  const { body } = call;
  if (body === null || !isJsonObject(body.value)) return NO_PLACES;
  const isForm = isFormType(body.mediaType) || isMultipartType(body.mediaType);
  if (!isForm && !isJsonType(body.mediaType)) return NO_PLACES;
  const refuses = refusalBy(book, body.schema);
  if (refuses(body.value)) return NO_PLACES;
  const { files = [], encoding = {} } = body;
  const members: ReplaceableMember[] = [];
  const untried = new Set<string>();
  visit(body.schema, body.value, [], body.value, 0);
  return { members, untried: [...untried] };

  /** `root`: a valid body with that value at the path. */
  function visit(schema: unknown, value: unknown, path: Path, root: unknown, depth: number): void {
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
    if (depth >= MAX_DEPTH || members.length >= MAX_PLACES) {
      untried.add(TOO_LARGE);
      return;
    }
    const facets = facetsOf(schema, definitions);
    const isNested = facets.type === 'object' || facets.type === 'array';
    if (isForm && files.includes(String(path[0]))) return;
    if (isForm && facets.type === 'object' && !isInJson(encoding, path)) {
      if (Object.keys(facets.properties).length > 0) untried.add(UNCLEAR_FORM);
      return;
    }
    const shown = value ?? (isNested || 'pattern' in facets.keywords ? exampleOf(schema, scope) : undefined);
    const withValue = (other: unknown) => replacedIn(root, path, other);
    members.push({
      tried: { in: 'body', name: pointerOf(path) },
      name: String(path.at(-1)),
      facets,
      shown: () => shown,
      refuses: (other) => refuses(withValue(other)),
      book,
      words: quoted(dotted(path)),
      with: (other) => withBody(call, withValue(other)),
      // The member of a form is text, even if that is JSON; a value within is JSON.
      isText: isForm && (path.length === 1 || !isInJson(encoding, path)),
      isRequired,
      isShown: value !== undefined,
    });
    if (!isNested || shown === undefined) return;
    const whole = value === undefined ? withValue(shown) : root;
    if (!refuses(whole)) visit(schema, shown, path, whole, depth + 1);
  }
}

type Path = readonly (string | number)[];

/** Whether the value belongs to a member of a form that is written as JSON, as a whole. */
function isInJson(encoding: NonNullable<CallBody['encoding']>, [name, inner]: Path): boolean {
  const { contentType = '', form } = encoding[String(name)] ?? {};
  return isJsonType(contentType) && form === undefined && typeof inner !== 'number';
}

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

export function withInput(call: Call, input: Input, value: unknown): ReturnType<typeof requestOfCall> {
  const inputs = call.inputs.map((each) => (each === input ? { ...each, value } : each));
  return requestOfCall({ ...call, inputs });
}

export function withBody(call: Call, value: unknown): ReturnType<typeof requestOfCall> {
  return requestOfCall({ ...call, body: call.body && { ...call.body, value } });
}

const PLACES: Readonly<Record<Input['in'], string>> = {
  query: 'query parameter',
  path: 'path parameter',
  header: 'header field',
  cookie: 'cookie',
};

/** Parameters of the query come first: they are what services read most, and judge least by routing alone. */
export function rankOf(input: Input): number {
  return Object.keys(PLACES).indexOf(input.in);
}

export function named(input: Input): string {
  return `${PLACES[input.in]} ${quoted(input.name)}`;
}

export function quoted(name: string): string {
  return JSON.stringify(name);
}

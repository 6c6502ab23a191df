import type { FaultSide } from '../../../base/finding.ts';
import { hasMembers, isJsonObject, type JsonObject } from '../../../base/json-text.ts';
import type { Definitions } from '../../../wire/json/schema.ts';
import { percentDecoded } from '../../../wire/request.ts';
import type { StreamTerms } from '../events.ts';
import { sampleFile } from './sample-files.ts';

/** A documented call beyond the sample, from `operations:` or an OpenAPI document, its values filled in. */
export interface Operation extends OperationRequest {
  readonly id: string;
  readonly method: string;
  /** The groups that its document puts it into. */
  readonly tags: readonly string[];
  /** Where it is documented, for a person: `openapi.yaml:12:5`. */
  readonly place: string;
  /** The path as it is documented, such as `/v1/resources/{id}`; names the operation in messages. */
  readonly template: string;
  readonly response: ExpectedResponse;
  /** Further responses that are documented as success. */
  readonly alternatives: readonly ExpectedResponse[];
  /** Every response that its document describes; empty if no document describes it. */
  readonly answers: readonly DocumentedAnswer[];
  /** Whether a credential is demanded; an `optional` one is sent, and not missed. */
  readonly auth: 'required' | 'optional' | 'none';
  /** It changes nothing: by its method, or by the config's word. */
  readonly safe: boolean;
  /** The same with its values apart, of which requests are made that its documentation rules out. */
  readonly call: Call;
  /** Why it cannot be called; null when it can. */
  readonly uncallable: string | null;
  /** The side that this is mended on: the config lacks a key, else the document lacks something. Absent for neither. */
  readonly uncallableBy?: FaultSide;
  /** The inputs without a value that other answers may have; empty if something else stands against the call. */
  readonly awaits: readonly string[];
  /** How it is listened to; absent if it does not answer with a stream alone. */
  readonly stream?: StreamTerms;
}

export interface ExpectedResponse {
  readonly status: number;
  /** Lower case, without parameters; `*` stands for any text. Empty when nothing is documented. */
  readonly mediaTypes: readonly string[];
  /** JSON Schema of the body, which may refer to `ServiceConfig.definitions`; null when there is none. */
  readonly schema: unknown;
}

/** A Response Object of a document. */
export interface DocumentedAnswer {
  /** `200`, `4XX` or `default`. */
  readonly code: string;
  /** Empty if nothing is said of its content. */
  readonly contents: readonly AnswerContent[];
  readonly headers: readonly AnswerHeader[];
  /** Operations that its values lead to; absent for none. */
  readonly links?: readonly DocumentedLink[];
}

/** A Link Object of a document. */
export interface DocumentedLink {
  readonly name: string;
  /** Of the operation that it leads to. */
  readonly method: string;
  /** The same, as the template of its call. */
  readonly template: string;
  /** Constants and runtime expressions by the name of the parameter. */
  readonly parameters: readonly { readonly name: string; readonly value: unknown }[];
  /** The body of the request, with runtime expressions in it; absent for none. */
  readonly requestBody?: unknown;
}

export interface AnswerContent {
  /** As in `ExpectedResponse`. */
  readonly mediaType: string;
  /** JSON Schema; null if there is none. */
  readonly schema: unknown;
  /** JSON Schema of each item of a stream (OpenAPI 3.2); absent if there is none. */
  readonly itemSchema?: unknown;
}

export interface AnswerHeader {
  readonly name: string;
  readonly required: boolean;
  /** JSON Schema; null if there is none. */
  readonly schema: unknown;
  readonly form: InputForm;
}

/** The response that is documented for a status: of the status itself, else of its class, else `default`. */
export function answerFor(answers: readonly DocumentedAnswer[], status: number): DocumentedAnswer | null {
  for (const code of [`${status}`, `${Math.floor(status / 100)}XX`, 'default']) {
    const found = answers.find((each) => each.code === code);
    if (found !== undefined) return found;
  }
  return null;
}

/** A constraint of the documentation that one request tries. */
export interface ConstraintTrial {
  readonly in: Input['in'] | 'body';
  /** Name of the parameter; for a body the JSON Pointer of the value, empty for the body itself. */
  readonly name: string;
  /** `maximum`; `type` for hostile values too, `examples` for a named example. */
  readonly keyword: string;
  /** Values inside are valid: at the bound, or unusual. */
  readonly side: 'outside' | 'inside';
}

/**
 * A request with one unusual input. Those of the kinds `boundary`, `characters`, `text` and `example` are valid. The
 * response to `extra`, `hostile` and `text` is open, apart from failures. All others must be refused.
 */
export interface InputTrial extends OperationRequest {
  readonly kind: InputTrialKind;
  /** Completes "GET /v1/resources …": `with the query parameter "limit" = 101 (at most 100)`. */
  readonly what: string;
  /** null for `extra`. */
  readonly tries: ConstraintTrial | null;
  /** The change that the service needs if it answers otherwise, in sentences; null if the check says all. */
  readonly change: string | null;
}

export type InputTrialKind =
  | 'hostile'
  | 'wrong-type'
  | 'missing'
  | 'out-of-range'
  | 'surplus'
  | 'pattern'
  | 'multiple'
  | 'items'
  | 'boundary'
  | 'characters'
  | 'example'
  | 'text'
  | 'format'
  | 'extra';

/** A documented call whose values are still apart, so that one of them can be replaced. */
export interface Call {
  readonly method: string;
  /** Path with `{name}` for each path input, and the query that it is written with. */
  readonly template: string;
  readonly inputs: readonly Input[];
  /** Fields that are sent whatever the inputs are. */
  readonly fields: OperationRequest['fields'];
  readonly body: CallBody | null;
}

export interface Input {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header' | 'cookie';
  readonly required: boolean;
  /** JSON Schema; null where nothing is known of it. */
  readonly schema: unknown;
  /** The value to send; undefined if it is left out. */
  readonly value: unknown;
  readonly form: InputForm;
  /**
   * `example`: the document only shows the value, there may be no such thing in this deployment. `made`: the document
   * shows none that the schema admits. Absent for others.
   */
  readonly from?: 'example' | 'config' | 'made';
  /** Named examples that fit the schema; absent for none. */
  readonly examples?: readonly NamedExample[];
  /** Reserved characters stand as they are: `allowReserved` in the query, `{+name}` in a path. */
  readonly reserved?: true;
}

/** How a value becomes text (OpenAPI 3.1 §4.8.12, `style` and `explode`). */
export type InputForm =
  | 'repeated'
  | 'comma'
  | 'pairs'
  | 'space'
  | 'tab'
  | 'pipe'
  | 'deep-object'
  | 'label'
  | 'label-exploded'
  | 'matrix'
  | 'matrix-exploded'
  | 'json';

export interface CallBody {
  readonly mediaType: string;
  readonly required: boolean;
  /** JSON Schema; null where nothing is known of it. */
  readonly schema: unknown;
  /** The value to send: JSON for JSON and for forms, else text; undefined for none. */
  readonly value: unknown;
  /** Further media types that the operation takes; absent for none. */
  readonly otherTypes?: readonly string[];
  /** Some of the value is made up: the document shows none. */
  readonly isMade?: true;
  /** The value is a file: a character of it is an octet (latin1). */
  readonly isFile?: true;
  /** Names of the parts of a multipart form that are files; absent for none. */
  readonly files?: readonly string[];
  /** How members of a form are written, by their name; absent if the document says nothing of it. */
  readonly encoding?: Readonly<Record<string, MemberEncoding>>;
  /** Named examples that fit the schema; absent for none. */
  readonly examples?: readonly NamedExample[];
}

/** An Encoding Object of a document. */
export interface MemberEncoding {
  readonly contentType?: string;
  readonly form?: InputForm;
}

export interface NamedExample {
  readonly name: string;
  readonly value: unknown;
}

/** A request, ready to be sent but for the credential. */
export interface OperationRequest {
  readonly path: string;
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly body: OperationBody | null;
}

export interface OperationBody {
  readonly mediaType: string;
  readonly text: string;
  /** A character of the text is an octet (latin1); else it is written in UTF-8. */
  readonly isOctets?: true;
}

/** The request of a call, its values written out. */
export function requestOfCall(call: Call): OperationRequest {
  const written = (place: Input['in']) =>
    call.inputs.filter((input) => input.in === place && input.value !== undefined);
  const [path = '', query] = call.template.split('?', 2);
  const fill = (text: string, input: Input) => text.replaceAll(`{${input.name}}`, inPath(input));
  const filled = written('path').reduce(fill, path);
  const pieces = [...(query === undefined ? [] : [query]), ...written('query').flatMap(queryPieces)];
  const cookies = written('cookie').map(({ name, value }) => `${name}=${escaped(value)}`);
  return {
    path: pieces.length === 0 ? filled : `${filled}?${pieces.join('&')}`,
    fields: [
      ...call.fields,
      ...written('header').map(({ name, value, form }) => [name, formed(value, form)] as const),
      ...(cookies.length === 0 ? [] : [['Cookie', cookies.join('; ')] as const]),
    ],
    body: call.body?.value === undefined ? null : writtenBody(call.body),
  };
}

function writtenBody(body: CallBody): OperationBody {
  const { mediaType, value, encoding = {} } = body;
  if (isJsonType(mediaType)) return { mediaType, text: JSON.stringify(value) };
  if (isFormType(mediaType) && hasMembers(value)) {
    const pieces = Object.entries(value).flatMap(([name, inner]) => {
      const { form, contentType } = encoding[name] ?? {};
      if (form !== undefined) return queryPieces({ name, value: inner, form });
      return [inner].flat().map((item) => `${new URLSearchParams([[name, memberText(item, contentType)]])}`);
    });
    return { mediaType, text: pieces.join('&') };
  }
  if (isMultipartType(mediaType) && hasMembers(value)) return multipart(body, value);
  return { mediaType, text: textOf(value, ','), ...(body.isFile && { isOctets: true }) };
}

/** Objects are JSON in forms (OpenAPI 3.1 §4.8.15). */
function memberText(item: unknown, contentType = ''): string {
  return isJsonObject(item) || isJsonType(contentType) ? JSON.stringify(item) : textOf(item, ',');
}

const BOUNDARY = 'conform-boundary';

/** RFC 7578 §4: a part for each value; objects as JSON, files with a name. */
function multipart({ mediaType, files = [], encoding = {} }: CallBody, form: JsonObject): OperationBody {
  const sent = Object.entries(form).flatMap(([name, inner]) =>
    [inner].flat().map((item) => partOf(name, item, files.includes(name), encoding[name])),
  );
  const isOctets = sent.some(({ octets }) => octets !== null && /[\x80-\xff]/.test(octets));
  const inOctets = (text: string) => (isOctets ? Buffer.from(text).toString('latin1') : text);
  const parts = sent.map(
    ({ head, text, octets }) => `--${BOUNDARY}\r\n${inOctets(head)}\r\n\r\n${octets ?? inOctets(text)}\r\n`,
  );
  const [essence = ''] = mediaType.split(';', 1);
  return {
    mediaType: `${essence.trim()}; boundary=${BOUNDARY}`,
    text: `${parts.join('')}--${BOUNDARY}--\r\n`,
    ...(isOctets && { isOctets }),
  };
}

interface Part {
  readonly head: string;
  readonly text: string;
  /** In place of the text; null for none. */
  readonly octets: string | null;
}

function partOf(name: string, item: unknown, isFile: boolean, { contentType }: MemberEncoding = {}): Part {
  const file = isFile && contentType !== undefined ? sampleFile(contentType) : null;
  const usual = isFile ? 'text/plain' : isJsonObject(item) ? 'application/json' : undefined;
  const type = file?.mediaType ?? contentType ?? usual;
  const head = [
    `Content-Disposition: form-data; name="${name.replaceAll(/["\r\n]/g, encodeURIComponent)}"`,
    isFile ? `; filename="conform.${file?.extension ?? 'txt'}"` : '',
    type === undefined ? '' : `\r\nContent-Type: ${type}`,
  ];
  const isShown = !isFile || (typeof item === 'string' && item !== '');
  const text = isShown ? memberText(item, type) : 'conform';
  return { head: head.join(''), text, octets: file?.octets ?? null };
}

/** `application/json` or a type with the suffix `+json`, parameters aside. */
export function isJsonType(mediaType: string): boolean {
  return /^application\/(?:[^;]+\+)?json *(?:;|$)/i.test(mediaType);
}

/** `application/x-www-form-urlencoded`, with or without parameters. */
export function isFormType(mediaType: string): boolean {
  return /^application\/x-www-form-urlencoded *(?:;|$)/i.test(mediaType);
}

export function isMultipartType(mediaType: string): boolean {
  return /^multipart\/form-data *(?:;|$)/i.test(mediaType);
}

function escaped(value: unknown): string {
  return encodeURIComponent(textOf(value, ','));
}

/** RFC 6570 §3.2.5 and §3.2.7, and `simple` with `explode`: `.a.b`, `;id=a;id=b`, `x=1,y=2`. */
function inPath({ name, value, form, reserved }: Input): string {
  // RFC 6570 §3.2.3: `{+name}` may hold slashes.
  const raw = (inner: unknown) => encodeURI(textOf(inner, ',')).replaceAll(/[?#]/g, encodeURIComponent);
  const parts = partsOf(value).map(reserved ? raw : escaped);
  const pairs = isJsonObject(value)
    ? Object.entries(value).map(([key, inner]) => `${encodeURIComponent(key)}=${escaped(inner)}`)
    : null;
  switch (form) {
    case 'pairs':
      return (pairs ?? parts).join(',');
    case 'label':
      return `.${parts.join(',')}`;
    case 'label-exploded':
      return `.${(pairs ?? parts).join('.')}`;
    case 'matrix':
      return `;${name}=${parts.join(',')}`;
    case 'matrix-exploded':
      return (pairs ?? parts.map((part) => `${name}=${part}`)).map((pair) => `;${pair}`).join('');
    default:
      return parts.join(',');
  }
}

/** The parts that separators divide: the items of a list, or names and values in turn. */
function partsOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  return isJsonObject(value) ? Object.entries(value).flat() : [value];
}

function queryPieces({
  name,
  value,
  form,
  reserved,
}: Pick<Input, 'name' | 'value' | 'form' | 'reserved'>): readonly string[] {
  const written = (inner: unknown) =>
    reserved ? encodeURI(textOf(inner, ',')).replaceAll(/[&#+]/g, encodeURIComponent) : escaped(inner);
  const piece = (key: string, inner: unknown) => `${encodeURIComponent(key)}=${written(inner)}`;
  if (form === 'repeated' && Array.isArray(value)) return value.map((item) => piece(name, item));
  if (isJsonObject(value) && (form === 'repeated' || form === 'deep-object')) {
    const keyOf = (key: string) => (form === 'repeated' ? key : `${name}[${key}]`);
    return Object.entries(value).map(([key, inner]) => piece(keyOf(key), inner));
  }
  if (form === 'json') return [piece(name, formed(value, form))];
  const separator = encodeURIComponent(SEPARATORS[form] ?? '') || ',';
  return [`${encodeURIComponent(name)}=${partsOf(value).map(written).join(separator)}`];
}

const SEPARATORS: Readonly<Partial<Record<InputForm, string>>> = { space: ' ', tab: '\t', pipe: '|' };

function formed(value: unknown, form: InputForm): string {
  return form === 'json' ? JSON.stringify(value) : textOf(value, SEPARATORS[form] ?? ',');
}

/** As it is written where it has one text: the items of a list, or names and values in turn, with what separates them. */
export function textOf(value: unknown, separator: string): string {
  if (Array.isArray(value)) return value.map((item) => textOf(item, separator)).join(separator);
  if (isJsonObject(value)) {
    return Object.entries(value)
      .flatMap(([key, inner]) => [key, textOf(inner, separator)])
      .join(separator);
  }
  return String(value);
}

/** `/things/` and `/things` name one collection. */
export function withoutEndSlash(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}

/** The decoded values of a path for the names of a template; null if it does not fit. No queries. */
export function pathValues(template: string, path: string): ReadonlyMap<string, string> | null {
  return pathMatcher(template)(path);
}

export type PathMatcher = (path: string) => ReadonlyMap<string, string> | null;

/** `pathValues` for one template and many paths. */
export function pathMatcher(template: string): PathMatcher {
  const names: string[] = [];
  const pattern = template
    .split(/(\{[^{}]*\})/)
    .map((part) => {
      if (!part.startsWith('{')) return part.replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&');
      names.push(part.slice(1, -1));
      return '([^/]+)';
    })
    .join('');
  const whole = new RegExp(`^${pattern}$`);
  return (path) => {
    const match = whole.exec(path);
    return match && new Map(names.map((name, index) => [name, percentDecoded(match[index + 1] ?? '')]));
  };
}

export function placeholdersOf(template: string): readonly string[] {
  return [...template.matchAll(/\{([^{}]*)\}/g)].map(([, name]) => name ?? '');
}

/** Constraints that a schema states directly, as far as one look shows. */
export interface Facets {
  /** The one type besides null; null when there are several or none. */
  readonly type: string | null;
  readonly keywords: Readonly<Record<string, unknown>>;
  readonly required: readonly string[];
  readonly properties: Readonly<Record<string, unknown>>;
}

const MAX_STEPS = 50;

/** Follows references and what must hold beside each other; alternatives are followed only past null. */
export function facetsOf(schema: unknown, definitions: Definitions): Facets {
  const keywords: Record<string, unknown> = {};
  const properties: Record<string, unknown> = {};
  const required = new Set<string>();
  const rest: unknown[] = [schema];
  for (let step = 0; step < MAX_STEPS; step += 1) {
    const next = rest.shift();
    if (!isJsonObject(next)) {
      if (rest.length === 0) break;
      continue;
    }
    const { $ref, allOf, anyOf, oneOf, properties: own, required: names, ...plain } = next;
    Object.assign(keywords, plain);
    if (isJsonObject(own)) Object.assign(properties, own);
    if (Array.isArray(names)) for (const name of names) if (typeof name === 'string') required.add(name);
    if (typeof $ref === 'string' && Object.hasOwn(definitions, $ref)) rest.push(definitions[$ref]);
    if (Array.isArray(allOf)) rest.push(...allOf);
    for (const union of [anyOf, oneOf]) {
      const meant = Array.isArray(union)
        ? union.filter((branch) => !isJsonObject(branch) || branch.type !== 'null')
        : [];
      if (meant.length === 1) rest.push(meant[0]);
    }
  }
  return { type: oneType(keywords.type), keywords, properties, required: [...required] };
}

function oneType(type: unknown): string | null {
  const types = [type].flat().filter((name) => name !== 'null');
  return types.length === 1 && typeof types[0] === 'string' ? types[0] : null;
}

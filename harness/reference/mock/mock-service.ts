import { isJsonObject, type JsonObject } from '../../base/json-text.ts';
import {
  answerFor,
  isJsonType,
  pathMatcher,
  pathValues,
  withoutEndSlash,
} from '../../config/operation/call/call.ts';
import type { DocumentedAnswer, Operation, ServiceConfig } from '../../config/service.ts';
import type { FieldLine } from '../../wire/exchange.ts';
import { SchemaBook } from '../../wire/json/schema.ts';
import { percentDecoded } from '../../wire/request.ts';
import type { AnswerChange, Service } from '../behavior/behavior.ts';
import { entityTagOf } from '../behavior/preconditions.ts';
import { bare, type HttpAnswer, isProblem, problem } from '../http/answer.ts';
import { asProblem } from '../http/answer-changes.ts';
import { fieldValue, fieldValues, type ReceivedRequest, withField } from '../http/message.ts';
import type { Route, RouteCall, RouteCredential } from '../http/routes.ts';
import {
  Collections,
  coreMember,
  coreOf,
  type Item,
  identityOf,
  identityTexts,
  isNextPage,
  namesOf,
  pageOf,
} from './collections.ts';
import type { MockDeviation } from './deviations.ts';
import { flatSchema, typeOf } from './flat-schema.ts';
import { faultyPart } from './request-faults.ts';
import { ValueMaker } from './values.ts';

/** Items of a collection before a client creates one. */
const FIRST_ITEMS = 3;
/** Refusals of bad input, best first. */
const BAD_INPUT = [400, 422, 409, 403, 404];
/** Idempotency keys that are kept. */
const MAX_KEYS = 1_000;

/** The operations of one path. */
interface MockPath {
  readonly template: string;
  readonly match: NonNullable<Route['match']>;
  readonly operations: ReadonlyMap<string, Operation>;
}

interface ListShape {
  /** The member that holds the items; null if the list is the whole. */
  readonly member: string | null;
  readonly items: unknown;
}

interface DocumentedSuccess {
  readonly status: number;
  readonly answer: DocumentedAnswer;
  readonly mediaType: string | null;
  readonly schema: unknown;
}

/** A service that keeps state and answers by the operations of a document. */
/** RFC 9110 §13.1.2: the item, which is there, must not be. */
function isUnwanted({ template }: MockPath, request: ReceivedRequest): boolean {
  return request.method === 'PUT' && template.endsWith('}') && fieldValue(request, 'if-none-match') === '*';
}

export class MockService {
  readonly #paths: readonly MockPath[];
  readonly #byTemplate: ReadonlyMap<string, MockPath>;
  readonly #definitions: NonNullable<ServiceConfig['definitions']>;
  readonly #values: ValueMaker;
  readonly #state = new Collections();
  readonly #keyed = new Map<string, { readonly body: Buffer; readonly answer: HttpAnswer }>();
  readonly #deviation: MockDeviation | null;

  constructor(
    { operations, definitions = {} }: Pick<ServiceConfig, 'operations' | 'definitions'>,
    deviation: MockDeviation | null = null,
  ) {
    this.#definitions = definitions;
    this.#deviation = deviation;
    this.#values = new ValueMaker(definitions, new SchemaBook(definitions));
    const byTemplate = Map.groupBy(operations, ({ call }) =>
      withoutEndSlash(call.template.split('?', 1)[0] ?? ''),
    );
    this.#paths = [...byTemplate]
      .map(([template, each]) => ({
        template,
        match: matcher(template),
        operations: new Map(each.toReversed().map((operation) => [operation.method, operation] as const)),
      }))
      .toSorted((a, b) => a.template.split('{').length - b.template.split('{').length);
    this.#byTemplate = new Map(this.#paths.map((path) => [path.template, path]));
  }

  get service(): Service {
    return { name: 'mock', routes: this.#paths.map((path) => this.#route(path)), sockets: [] };
  }

  /** Refusals as the document describes them for the operation; others stay as they are. */
  get compose(): AnswerChange {
    return (answer, request) => {
      if (!isProblem(answer.responseKind)) return answer;
      const operation = this.#operationAt(request);
      const documented = operation && answerFor(operation.answers, answer.status);
      if (!documented) return answer;
      return this.#withContent(answer, documented, (schema) => this.#values.of(schema, 1));
    };
  }

  #operationAt({ method, path }: ReceivedRequest): Operation | null {
    const operations = this.#paths.find(({ match }) => match(path) !== null)?.operations;
    return operations?.get(method) ?? (method === 'HEAD' ? operations?.get('GET') : null) ?? null;
  }

  #route(path: MockPath): Route {
    const operations = [...path.operations];
    const credentialOf = ({ auth }: Operation): RouteCredential | undefined =>
      this.#deviation?.lacks === 'credential' ? 'none' : auth === 'required' ? undefined : auth;
    const credentials = operations.flatMap(([method, operation]) => {
      const credential = credentialOf(operation);
      return credential === undefined ? [] : [[method, credential] as const];
    });
    return {
      template: path.template,
      match: path.match,
      credentials: Object.fromEntries(credentials),
      methods: Object.fromEntries(
        operations.map(([method, operation]) => [method, (call) => this.#answer(path, operation, call)]),
      ),
    };
  }

  #answer(path: MockPath, operation: Operation, { request: received, parameters }: RouteCall): HttpAnswer {
    const request = { ...received, path: withoutEndSlash(received.path) };
    const isLenient = this.#deviation?.lacks === 'validation';
    const part = isLenient
      ? null
      : faultyPart(operation, request, parameters, { definitions: this.#definitions, values: this.#values });
    if (part === 'path') return this.#refused(operation, [404, 400, 422]);
    if (!this.#isThere(path, request)) return this.#refused(operation, [404, 410]);
    if (part === 'media type') return this.#refused(operation, [415, ...BAD_INPUT]);
    if (part !== null) return this.#refused(operation, BAD_INPUT);
    if (this.#isOutdated(path, request) || isUnwanted(path, request)) return this.#refused(operation, [412]);
    const success = this.#successOf(operation);
    const answer = this.#once(operation, request, () => this.#served(path, operation, request, success));
    const change = this.#deviation?.change;
    if (change === undefined || success === null) return answer;
    const refuses = (value: unknown) => this.#values.faultOf(value, success.schema) !== null;
    return change(answer, { operation, documented: success.answer, schema: success.schema, refuses });
  }

  /** RFC 9110 §13.1.1: the change is of another state than the current one. */
  #isOutdated(path: MockPath, request: ReceivedRequest): boolean {
    const demanded = fieldValues(request, 'if-match');
    const read = path.operations.get('GET');
    if (demanded.length === 0 || demanded.includes('*') || request.method === 'GET' || read === undefined)
      return false;
    const success = this.#successOf(read);
    const { body } = this.#served(path, read, { ...request, method: 'GET', query: null }, success);
    return !demanded.includes(entityTagOf(body));
  }

  /** A request that is repeated under its documented Idempotency-Key has the first answer. */
  #once(operation: Operation, request: ReceivedRequest, answer: () => HttpAnswer): HttpAnswer {
    const isKnown = operation.call.inputs.some(({ name }) => name.toLowerCase() === 'idempotency-key');
    const key = isKnown ? fieldValue(request, 'idempotency-key') : undefined;
    if (key === undefined || request.method !== 'POST') return answer();
    const place = `${request.path} ${key}`;
    const earlier = this.#keyed.get(place);
    if (earlier === undefined) {
      const made = answer();
      if (this.#keyed.size < MAX_KEYS) this.#keyed.set(place, { body: request.body, answer: made });
      return made;
    }
    return earlier.body.equals(request.body) ? earlier.answer : this.#refused(operation, [422, 409, 400]);
  }

  /** A refusal by the first of these statuses that is documented, else by the first. */
  #refused({ answers }: Operation, statuses: readonly number[]): HttpAnswer {
    const status =
      statuses.find((each) => answers.some(({ code }) => code === `${each}`)) ?? statuses[0] ?? 400;
    return asProblem(status)(problem(status === 404 ? 'not-found' : 'invalid-content'));
  }

  /** Whether every item in a path is there: listed, created, or named by an answer or the document. */
  #isThere({ template }: MockPath, { method, path }: ReceivedRequest): boolean {
    const names = template.split('/');
    const segments = path.split('/');
    for (const [at, name] of names.entries()) {
      if (!name.includes('{')) continue;
      const inner = names.slice(0, at + 1).join('/');
      const container = segments.slice(0, at).join('/');
      const text = percentDecoded(segments[at] ?? '');
      if (this.#state.isRemoved(`${container}/${text}`)) return false;
      const items = this.#listed(names.slice(0, at).join('/'), container);
      const isWhole = /^\{[^{}]+\}$/.test(name);
      if (isWhole && items !== null) {
        const isLiteral = items.some(({ names: known }) => known.has(text));
        if (isLiteral) continue;
        // POST adds an item that is known from elsewhere, such as a segment to a contact.
        const isAdded = method === 'POST' && this.#state.hasGiven(text);
        if (at === names.length - 1) return isAdded || this.#isDocumented(template, inner, name, text);
      }
      // Nothing of the document says which there are.
      if (isWhole && items === null && !this.#hasCreation(names.slice(0, at).join('/'))) continue;
      if (!this.#isKnown(template, inner, name, text)) return false;
    }
    return true;
  }

  #hasCreation(template: string): boolean {
    return ['', '/create', '/new'].some(
      (verb) => this.#byTemplate.get(template + verb)?.operations.has('POST') ?? false,
    );
  }

  #isKnown(template: string, inner: string, segment: string, text: string): boolean {
    if (this.#state.hasGiven(text)) return true;
    const values = [...(pathValues(segment, text) ?? [])];
    return (
      values.every(([, value]) => this.#state.hasGiven(value)) ||
      this.#isDocumented(template, inner, segment, text)
    );
  }

  /** An example or an enumerated value of the document names it. */
  #isDocumented(template: string, inner: string, segment: string, text: string): boolean {
    const values = [...(pathValues(segment, text) ?? [])];
    const operations = [template, inner].flatMap((each) => [
      ...(this.#byTemplate.get(each)?.operations.values() ?? []),
    ]);
    return values.every(([name, value]) =>
      operations.some(({ call }) => {
        const input = call.inputs.find((each) => each.in === 'path' && each.name === name);
        if (input === undefined) return false;
        const { keywords } = flatSchema(input.schema, this.#definitions);
        const listed = [keywords.enum, keywords.const].flat().map(String);
        return String(input.value) === value || listed.includes(value);
      }),
    );
  }

  /** The items of the collection at a path; null if no list of it is documented. */
  #listed(template: string, path: string): readonly Item[] | null {
    const shape = this.#shapeAt(template);
    if (shape === null) return null;
    return this.#state.at(path, () =>
      Array.from({ length: FIRST_ITEMS }, () => this.#newItem(shape.items, null, template)),
    );
  }

  /** An item of a collection, by a name that the path of its items takes. */
  #newItem(schema: unknown, members: unknown, template: string): Item {
    const serial = this.#state.nextSerial();
    const made = this.#values.overlaid(this.#values.of(schema, serial), members, schema);
    const core = coreOf(made);
    const isNamed = identityTexts(core).some((text) => this.#isNameBelow(template, text));
    const inner = coreMember(made);
    const numbered = { ...core, id: `${serial}` };
    const value =
      isNamed || typeof core.id !== 'string'
        ? made
        : this.#values.overlaid(made, inner === null ? numbered : { [inner]: numbered }, schema);
    return { serial, value, names: namesOf(value) };
  }

  /** Where the items of a list stand, and their schema; null if it is no list. */
  #listShape(schema: unknown): ListShape | null {
    if (schema === null) return null;
    const flat = flatSchema(schema, this.#definitions);
    if (typeOf(flat) === 'array') return { member: null, items: flat.keywords.items ?? {} };
    const lists = Object.entries(flat.properties).flatMap(([member, inner]) => {
      const list = flatSchema(inner, this.#definitions);
      if (typeOf(list) !== 'array') return [];
      const items = list.keywords.items ?? {};
      const isOfObjects = typeOf(flatSchema(items, this.#definitions)) === 'object';
      return isOfObjects ? [{ member, items }] : [];
    });
    const hasOwnName = Object.keys(flat.properties).some((name) => /^(?:id|uuid|guid|sid|gid)$/i.test(name));
    return lists.length === 0 || hasOwnName ? null : (lists[0] ?? null);
  }

  #served(
    { template }: MockPath,
    operation: Operation,
    request: ReceivedRequest,
    success: DocumentedSuccess | null,
  ): HttpAnswer {
    if (success === null) return bare('served', 200);
    const path = request.path;
    const [, container = '', last = ''] = /^(.*)\/([^/]*)$/.exec(path) ?? [];
    const [, containerTemplate = '', lastTemplate = ''] = /^(.*)\/([^/]*)$/.exec(template) ?? [];
    const isItem = /^\{[^{}]+\}$/.test(lastTemplate);
    const name = percentDecoded(last);
    const items = isItem ? this.#listed(containerTemplate, container) : null;
    const item = items?.find(({ names }) => names.has(name)) ?? null;
    const body = bodyOf(request);
    switch (operation.method) {
      case 'GET':
      case 'HEAD': {
        const listed = this.#listed(template, path);
        if (listed !== null && success.schema !== null) return this.#list(listed, success, request);
        return this.#content(success, this.#current(path, name, item, success.schema));
      }
      case 'POST':
        if (items !== null && item === null) this.#join(container, name, containerTemplate);
        return this.#isCollection(template)
          ? this.#created(withoutVerb(template), withoutVerb(path), body, success)
          : this.#content(success, this.#values.of(success.schema, this.#state.nextSerial()));
      case 'PUT':
      case 'PATCH': {
        if (this.#deviation?.lacks !== 'change')
          this.#change(path, item, body, this.#leftOut(operation, body));
        return this.#content(success, this.#current(path, name, item, success.schema));
      }
      case 'DELETE': {
        const answer = this.#content(success, this.#current(path, name, item, success.schema));
        if (isItem && this.#deviation?.lacks !== 'removal') this.#state.remove(container, name);
        return answer;
      }
      default:
        return this.#content(success, this.#values.of(success.schema, this.#state.nextSerial()));
    }
  }

  /** Adds an item of elsewhere to a collection, under its own name. */
  #join(container: string, name: string, template: string): void {
    const { serial, value, names } = this.#newItem(this.#shapeAt(template)?.items ?? {}, null, template);
    this.#state.add(container, { serial, value, names: new Set([...names, name]) });
  }

  /** Whether a POST at a template creates an item below it. */
  #isCollection(template: string): boolean {
    if (/\{[^{}]*\}$/.test(template)) return false;
    if (withoutVerb(template) !== template) return this.#itemPathBelow(withoutVerb(template)) !== undefined;
    return this.#shapeAt(template) !== null || this.#itemPathBelow(template) !== undefined;
  }

  /** The value at a path: that of an item in its collection, or one of its own. */
  #current(path: string, name: string, item: Item | null, schema: unknown): unknown {
    if (schema === null) return null;
    const stored = this.#state.value(path, () => this.#named(name, item));
    const made = this.#values.of(schema, item?.serial ?? serialOf(path));
    const inner = coreMember(made);
    const core = isJsonObject(stored) ? stored : {};
    return this.#values.overlaid(
      made,
      inner === null ? core : { [inner]: { ...coreOf(made), ...core } },
      schema,
    );
  }

  #named(name: string, item: Item | null): unknown {
    if (item !== null) return coreOf(item.value);
    return /^\d+$/.test(name) ? { id: Number(name) } : { id: name };
  }

  #change(path: string, item: Item | null, body: unknown, leftOut: ReadonlySet<string>): void {
    if (!isJsonObject(body)) return;
    const applied = (before: JsonObject) =>
      Object.fromEntries(
        Object.entries({ ...before, ...coreOf(body) }).filter(([name]) => !leftOut.has(name)),
      );
    const core = applied(item === null ? {} : coreOf(item.value));
    const known = this.#state.value(path, () => core);
    const stored = isJsonObject(known) ? known : {};
    this.#state.setValue(path, { ...applied(stored), ...identityOf(stored) });
    if (item !== null && isJsonObject(item.value)) {
      const inner = coreMember(item.value);
      const changed = { ...applied(coreOf(item.value)), ...identityOf(coreOf(item.value)) };
      item.value = inner === null ? changed : { ...item.value, [inner]: changed };
    }
  }

  /** Members that a change removes: those that PUT leaves out (RFC 9110 §9.3.4), and null in a merge patch (RFC 7396). */
  #leftOut({ method, call }: Operation, body: unknown): ReadonlySet<string> {
    const core = coreOf(body);
    if (method === 'PUT') {
      const { properties } = flatSchema(call.body?.schema, this.#definitions);
      return new Set(Object.keys(properties).filter((name) => !(name in core)));
    }
    const isMerge = /^application\/merge-patch/i.test(call.body?.mediaType ?? '');
    return new Set(isMerge ? Object.keys(core).filter((name) => core[name] === null) : []);
  }

  #created(template: string, path: string, body: unknown, success: DocumentedSuccess): HttpAnswer {
    const listed = this.#listed(template, path);
    const shape = listed && this.#shapeAt(template);
    const schema = success.schema ?? shape?.items ?? this.#itemSchemaBelow(template);
    const item = this.#newItem(schema, body, template);
    const value = this.#values.overlaid(item.value, coreOf(body), schema);
    const core = { ...coreOf(body), ...coreOf(value) };
    const kept = shape
      ? this.#values.overlaid(this.#values.of(shape.items, item.serial), core, shape.items)
      : value;
    const names = new Set([...namesOf(value), ...namesOf(kept)]);
    if (this.#deviation?.lacks !== 'creation')
      this.#state.add(path, { serial: item.serial, value: kept, names });
    const texts = identityTexts(core);
    const name = texts.find((text) => this.#isNameBelow(template, text)) ?? texts[0] ?? '';
    if (name !== '') this.#state.setValue(`${path}/${encodeURIComponent(name)}`, core);
    const answer = this.#content(success, value);
    const hasItemPath = this.#paths.some(
      ({ match }) => match(`${path}/${encodeURIComponent(name)}`) !== null,
    );
    return name === '' || success.status !== 201 || !hasItemPath
      ? answer
      : withField(answer, 'Location', `${path}/${encodeURIComponent(name)}`);
  }

  /** Schema of the items below a collection, as they are read; null if none is documented. */
  #itemSchemaBelow(template: string): unknown {
    const read = this.#itemPathBelow(template)?.operations.get('GET');
    return (read && this.#successOf(read)?.schema) ?? null;
  }

  #itemPathBelow(template: string): MockPath | undefined {
    return this.#paths.find(
      (each) =>
        each.template.startsWith(`${template}/{`) && !each.template.slice(template.length + 1).includes('/'),
    );
  }

  /** Whether a text may be the name of an item below a collection. */
  #isNameBelow(template: string, text: string): boolean {
    const operations = [...(this.#itemPathBelow(template)?.operations.values() ?? [])];
    const input = operations[0]?.call.inputs.findLast((each) => each.in === 'path');
    if (!input || input.schema === null) return true;
    const values = /^-?\d+$/.test(text) ? [text, Number(text)] : [text];
    return values.some((value) => this.#values.faultOf(value, input.schema) === null);
  }

  #shapeAt(template: string): ListShape | null {
    const list = this.#byTemplate.get(template)?.operations.get('GET');
    return this.#listShape((list && this.#successOf(list)?.schema) ?? null);
  }

  #list(items: readonly Item[], success: DocumentedSuccess, request: ReceivedRequest): HttpAnswer {
    const shape = this.#listShape(success.schema);
    const page = pageOf(items, request).map(({ value }) => value);
    const whole = this.#values.of(success.schema, 1);
    const member = shape?.member ?? null;
    const value = member === null ? page : { ...(isJsonObject(whole) ? whole : {}), [member]: page };
    const isFit = this.#values.faultOf(value, success.schema) === null;
    return this.#content(success, this.#withoutNext(isFit ? value : whole, success.schema));
  }

  /** A list of one page: no member leads to another one. */
  #withoutNext(list: unknown, schema: unknown): unknown {
    if (!isJsonObject(list)) return list;
    let left = list;
    for (const [name, value] of Object.entries(list)) {
      const isNext = isNextPage(name) && !Array.isArray(value) && !isJsonObject(value);
      const { [name]: _, ...rest } = left;
      const nested = isJsonObject(value) && !Array.isArray(value) ? this.#withoutNextIn(value) : value;
      const candidates = isNext
        ? [rest, ...[null, '', false].map((end) => ({ ...left, [name]: end }))]
        : [{ ...left, [name]: nested }];
      left = candidates.find((each) => this.#values.faultOf(each, schema) === null) ?? left;
    }
    return left;
  }

  #withoutNextIn(value: JsonObject): JsonObject {
    return Object.fromEntries(Object.entries(value).filter(([name]) => !isNextPage(name)));
  }

  #successOf({ response, answers }: Operation): DocumentedSuccess | null {
    const answer = answerFor(answers, response.status);
    if (answer === null) return null;
    const content = answer.contents.find(({ mediaType }) => isJsonType(mediaType)) ?? answer.contents[0];
    return {
      status: response.status,
      answer,
      mediaType: content?.mediaType ?? null,
      schema: content?.schema ?? null,
    };
  }

  #content({ status, answer }: DocumentedSuccess, value: unknown): HttpAnswer {
    this.#state.give(value);
    return this.#withContent({ ...bare('served', status) }, answer, () => value);
  }

  #fieldValue(name: string, schema: unknown): string {
    if (/^link$/i.test(name) && this.#values.faultOf(LINK, schema) === null) return LINK;
    return textOf(schema === null ? 'text' : this.#values.of(schema, 1));
  }

  /** The answer with the documented content and headers. */
  #withContent(
    answer: HttpAnswer,
    { contents, headers }: DocumentedAnswer,
    make: (schema: unknown) => unknown,
  ): HttpAnswer {
    const content = contents.find(({ mediaType }) => isJsonType(mediaType)) ?? contents[0];
    const fields = headers
      .filter(({ required }) => required)
      .map(({ name, schema }): FieldLine => [name, this.#fieldValue(name, schema)]);
    const isRedirect = answer.status >= 300 && answer.status < 400;
    const isBare = [204, 205, 304].includes(answer.status);
    const kept = answer.fields.filter(([name]) => !/^content-type$/i.test(name));
    const all: readonly FieldLine[] = [
      ...kept,
      ...fields.filter(([name]) => kept.every(([known]) => known.toLowerCase() !== name.toLowerCase())),
      ...(isRedirect ? [['Location', 'https://example.com/elsewhere'] as const] : []),
    ];
    if (isBare || (content === undefined && !isProblem(answer.responseKind)))
      return { ...answer, fields: all, body: Buffer.alloc(0) };
    if (content === undefined) return answer;
    const mediaType = concrete(content.mediaType);
    const made = content.schema === null ? 'conform' : make(content.schema);
    // RFC 9457 §3.1.3.
    const value = /problem\+json/i.test(mediaType)
      ? this.#values.overlaid(made, { status: answer.status }, content.schema)
      : made;
    const body = isJsonType(mediaType) ? JSON.stringify(content.schema === null ? {} : value) : textOf(value);
    return { ...answer, fields: [...all, ['Content-Type', mediaType]], body: Buffer.from(body) };
  }
}

/** RFC 8288 §3: a schema says nothing of the syntax, or only a part. */
const LINK = '<https://example.com/conform>; rel="self"';

function matcher(template: string): MockPath['match'] {
  const match = pathMatcher(template);
  return (path) => {
    const values = match(withoutEndSlash(path));
    return values && Object.fromEntries(values);
  };
}

/** `POST /containers/create` creates what `/containers/{id}` names. */
function withoutVerb(path: string): string {
  return path.replace(/\/(?:create|new)$/i, '');
}

/** A range as a type of it. */
function concrete(mediaType: string): string {
  return mediaType.replace(/^\*\/\*$|^application\/\*$/, 'application/json').replace('*', 'plain');
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function bodyOf({ body }: ReceivedRequest): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return null;
  }
}

/** A number that is always the same for a path. */
function serialOf(path: string): number {
  let sum = 7;
  for (const char of path) sum = (sum * 31 + (char.codePointAt(0) ?? 0)) % 100_000;
  return sum + 1_000;
}

import { isJsonObject, type JsonObject } from '../../base/json-text.ts';
import { answerFor, pathValues, withoutEndSlash } from '../../config/operation/call/call.ts';
import type { Operation, ServiceConfig } from '../../config/service.ts';
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
  namesOf,
  pageOf,
} from './collections.ts';
import type { MockDeviation } from './deviations.ts';
import { DocumentedContent } from './documented-content.ts';
import { DocumentedPaths, type DocumentedSuccess, type MockPath, withoutVerb } from './documented-paths.ts';
import { flatSchema } from './flat-schema.ts';
import { faultyPart } from './request-faults.ts';
import { ValueMaker } from './values.ts';

/** Items of a collection before a client creates one. */
const FIRST_ITEMS = 3;
/** Refusals of bad input, best first. */
const BAD_INPUT = [400, 422, 409, 403, 404];
/** Idempotency keys that are kept. */
const MAX_KEYS = 1_000;

/** RFC 9110 §13.1.2: the item, which is there, must not be. */
function isUnwanted({ template }: MockPath, request: ReceivedRequest): boolean {
  return request.method === 'PUT' && template.endsWith('}') && fieldValue(request, 'if-none-match') === '*';
}

/** A service that keeps state and answers by the operations of a document. */
export class MockService {
  readonly #paths: DocumentedPaths;
  readonly #content: DocumentedContent;
  readonly #definitions: NonNullable<ServiceConfig['definitions']>;
  readonly #values: ValueMaker;
  readonly #state = new Collections();
  readonly #keyed = new Map<string, { readonly body: Buffer; readonly answer: HttpAnswer }>();
  readonly #deviation: MockDeviation | null;
  #deviated = 0;

  constructor(
    { operations, definitions = {} }: Pick<ServiceConfig, 'operations' | 'definitions'>,
    deviation: MockDeviation | null = null,
  ) {
    this.#definitions = definitions;
    this.#deviation = deviation;
    this.#values = new ValueMaker(definitions, new SchemaBook(definitions));
    this.#paths = new DocumentedPaths({ operations, definitions }, this.#values);
    this.#content = new DocumentedContent(this.#values);
  }

  /** Number of answers that the deviation has made different. */
  get deviated(): number {
    return this.#deviated;
  }

  get service(): Service {
    return { name: 'mock', routes: this.#paths.all.map((path) => this.#route(path)), sockets: [] };
  }

  /** Refusals as the document describes them for the operation; others stay as they are. */
  get compose(): AnswerChange {
    return (answer, request) => {
      if (!isProblem(answer.responseKind)) return answer;
      const operation = this.#paths.operationAt(request);
      const documented = operation && answerFor(operation.answers, answer.status);
      if (!documented) return answer;
      return this.#content.withContent(answer, documented, (schema) => this.#values.of(schema, 1));
    };
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
    if (operation.auth === 'required') this.#lacks('credential');
    const scope = { definitions: this.#definitions, values: this.#values };
    const fault = faultyPart(operation, request, parameters, scope);
    const part = fault !== null && this.#lacks('validation') ? null : fault;
    if (part === 'path') return this.#refused(operation, [404, 400, 422]);
    if (!this.#isThere(path, request)) return this.#refused(operation, [404, 410]);
    if (part === 'media type') return this.#refused(operation, [415, ...BAD_INPUT]);
    if (part !== null) return this.#refused(operation, BAD_INPUT);
    if (this.#isOutdated(path, request) || isUnwanted(path, request)) return this.#refused(operation, [412]);
    const success = this.#paths.successOf(operation);
    const answer = this.#once(operation, request, () => this.#served(path, operation, request, success));
    const change = this.#deviation?.change;
    if (change === undefined || success === null) return answer;
    const refuses = (value: unknown) => this.#values.faultOf(value, success.schema) !== null;
    const changed = change(answer, {
      operation,
      documented: success.answer,
      schema: success.schema,
      refuses,
    });
    const isSame = changed.body.equals(answer.body) && changed.status === answer.status;
    if (!isSame || `${changed.fields}` !== `${answer.fields}`) this.#deviated += 1;
    return changed;
  }

  #lacks(part: NonNullable<MockDeviation['lacks']>): boolean {
    const isLeftOut = this.#deviation?.lacks === part;
    if (isLeftOut) this.#deviated += 1;
    return isLeftOut;
  }

  /** RFC 9110 §13.1.1: the change is of another state than the current one. */
  #isOutdated(path: MockPath, request: ReceivedRequest): boolean {
    const demanded = fieldValues(request, 'if-match');
    const read = path.operations.get('GET');
    if (demanded.length === 0 || demanded.includes('*') || request.method === 'GET' || read === undefined)
      return false;
    const success = this.#paths.successOf(read);
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
        if (at === names.length - 1) return isAdded || this.#paths.isDocumented(template, inner, name, text);
      }
      // Nothing of the document says which there are.
      if (isWhole && items === null && !this.#paths.hasCreation(names.slice(0, at).join('/'))) continue;
      if (!this.#isKnown(template, inner, name, text)) return false;
    }
    return true;
  }

  #isKnown(template: string, inner: string, segment: string, text: string): boolean {
    if (this.#state.hasGiven(text)) return true;
    const values = [...(pathValues(segment, text) ?? [])];
    return (
      values.every(([, value]) => this.#state.hasGiven(value)) ||
      this.#paths.isDocumented(template, inner, segment, text)
    );
  }

  /** The items of the collection at a path; null if no list of it is documented. */
  #listed(template: string, path: string): readonly Item[] | null {
    const shape = this.#paths.shapeAt(template);
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
    const texts = identityTexts(core);
    // Clients take its id for its name, if it has one.
    const likely = 'id' in core ? texts.slice(0, 1) : texts;
    const isNamed = likely.some((text) => this.#paths.isNameBelow(template, text));
    const inner = coreMember(made);
    const numbered = { ...core, id: this.#paths.nameBelow(template, serial) };
    const value =
      isNamed || typeof core.id !== 'string'
        ? made
        : this.#values.overlaid(made, inner === null ? numbered : { [inner]: numbered }, schema);
    return { serial, value, names: this.#namesIn(value, template) };
  }

  /** The texts by which an item may be named, with that of the member that its path is named for. */
  #namesIn(value: unknown, template: string): ReadonlySet<string> {
    const core = coreOf(value);
    const members = this.#paths
      .parametersBelow(template)
      .flatMap((name) => (name in core ? [core[name]] : []));
    return new Set([...namesOf(value), ...members.flatMap((each) => [...namesOf(each)])]);
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
        return this.#successful(success, this.#current(path, name, item, success.schema));
      }
      case 'POST':
        if (items !== null && item === null) this.#join(container, name, containerTemplate);
        return this.#paths.isCollection(template)
          ? this.#created(operation, [withoutVerb(template), withoutVerb(path)], body, success)
          : this.#successful(success, this.#values.of(success.schema, this.#state.nextSerial()));
      case 'PUT':
      case 'PATCH': {
        if (!this.#lacks('change')) this.#change(path, item, body, this.#leftOut(operation, body));
        return this.#successful(success, this.#current(path, name, item, success.schema));
      }
      case 'DELETE': {
        const answer = this.#successful(success, this.#current(path, name, item, success.schema));
        if (isItem && !this.#lacks('removal')) this.#state.remove(container, name);
        return answer;
      }
      default:
        return this.#successful(success, this.#values.of(success.schema, this.#state.nextSerial()));
    }
  }

  /** Adds an item of elsewhere to a collection, under its own name. */
  #join(container: string, name: string, template: string): void {
    const { serial, value, names } = this.#newItem(
      this.#paths.shapeAt(template)?.items ?? {},
      null,
      template,
    );
    this.#state.add(container, { serial, value, names: new Set([...names, name]) });
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

  #created(
    operation: Operation,
    [template, path]: readonly [string, string],
    body: unknown,
    success: DocumentedSuccess,
  ): HttpAnswer {
    const listed = this.#listed(template, path);
    const shape = listed && this.#paths.shapeAt(template);
    const schema = success.schema ?? shape?.items ?? this.#paths.itemSchemaBelow(template);
    const item = this.#newItem(schema, body, template);
    const value = this.#values.overlaid(item.value, coreOf(body), schema);
    const core = { ...coreOf(body), ...coreOf(value) };
    const kept = shape
      ? this.#values.overlaid(this.#values.of(shape.items, item.serial), core, shape.items)
      : value;
    const names = new Set([value, kept].flatMap((each) => [...this.#namesIn(each, template)]));
    if (!this.#lacks('creation')) this.#state.add(path, { serial: item.serial, value: kept, names });
    const texts = identityTexts(core);
    const name = texts.find((text) => this.#paths.isNameBelow(template, text)) ?? texts[0] ?? '';
    if (name !== '') this.#state.setValue(`${path}/${encodeURIComponent(name)}`, core);
    const answer = this.#successful(success, value);
    const elsewhere = this.#paths.itemPathElsewhere(operation);
    const place = elsewhere && this.#placed(elsewhere, pathValues(template, path), core);
    if (elsewhere !== null && place !== null && !this.#lacks('creation')) {
      const [, container = '', last = ''] = /^(.*)\/([^/]*)$/.exec(place) ?? [];
      this.#listed(elsewhere.replace(/\/[^/]*$/, ''), container);
      const known = new Set([...names, percentDecoded(last)]);
      this.#state.add(container, { serial: item.serial, value: kept, names: known });
      this.#state.setValue(place, core);
      return withField(answer, 'Location', place);
    }
    const hasItemPath = this.#paths.all.some(
      ({ match }) => match(`${path}/${encodeURIComponent(name)}`) !== null,
    );
    return name === '' || success.status !== 201 || !hasItemPath
      ? answer
      : withField(answer, 'Location', `${path}/${encodeURIComponent(name)}`);
  }

  /** The path of an item that stands elsewhere; `given`: values of the path of its creation. null if a value is missing. */
  #placed(template: string, given: ReadonlyMap<string, string> | null, core: JsonObject): string | null {
    const segments = template.split('/').map((segment, at, all) => {
      const [, name] = /^\{([^{}]+)\}$/.exec(segment) ?? [];
      if (name === undefined) return segment;
      const container = all.slice(0, at).join('/');
      const named = at === all.length - 1 ? core : core[name];
      const texts = isJsonObject(named) ? identityTexts(named) : [];
      const text = given?.get(name) ?? texts.find((each) => this.#paths.isNameBelow(container, each));
      return text === undefined ? null : encodeURIComponent(text);
    });
    return segments.includes(null) ? null : segments.join('/');
  }

  #list(items: readonly Item[], success: DocumentedSuccess, request: ReceivedRequest): HttpAnswer {
    const shape = this.#paths.listShape(success.schema);
    const page = pageOf(items, request).map(({ value }) => value);
    const whole = this.#values.of(success.schema, 1);
    const member = shape?.member ?? null;
    const value = member === null ? page : { ...(isJsonObject(whole) ? whole : {}), [member]: page };
    const isFit = this.#values.faultOf(value, success.schema) === null;
    return this.#successful(success, this.#content.withoutNext(isFit ? value : whole, success.schema));
  }

  #successful({ status, answer }: DocumentedSuccess, value: unknown): HttpAnswer {
    this.#state.give(value);
    return this.#content.withContent({ ...bare('served', status) }, answer, () => value);
  }
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

import { isJsonObject, type JsonObject } from '../../../harness/base/json-text.ts';
import {
  type CallBody,
  type DocumentedLink,
  facetsOf,
  type Input,
  type PathMatcher,
  pathMatcher,
  pathValues,
  requestOfCall,
  withoutEndSlash,
} from '../../../harness/config/operation/call/call.ts';
import { Examples } from '../../../harness/config/operation/call/example.ts';
import { isOfFormat, refusalBy } from '../../../harness/config/operation/call/refusal.ts';
import type { Operation, ServiceConfig } from '../../../harness/config/service.ts';
import { followedLinks } from './linked-values.ts';
import { ownName, plain, singular } from './names.ts';
import type { FoundValues, Order } from './plan.ts';
import { responseSchemas } from './response-schemas.ts';
import type { OperationReply } from './trials.ts';

/** Values in one answer, and how deep they may stand. */
const MAX_VALUES = 5_000;
const MAX_DEPTH = 8;
/** Values that are kept for one name, and items of one list. */
const MAX_KEPT = 20;
const MAX_LENGTH = 200;
/** Names with values, over all answers; and addresses of one answer. */
const MAX_NAMES = 20_000;
const MAX_ADDRESSES = 200;

/** Members that identify an item, best first; `{repo}` may also stand for its name. */
const IDENTIFIERS = [
  'id',
  'uuid',
  'guid',
  'key',
  'sid',
  'slug',
  'login',
  'username',
  'name',
  'code',
  'number',
];
/** Members that name something of a kind: `pspReference`. */
const NAMING = /(?:id|uuid|guid|sid|ref|reference|key|slug|login|username|name|code|number|token)$/;
/** A text for inputs of which nothing more is known. */
const MADE_UP = 'conform';
/** Members and headers that hold the address of something. */
const ADDRESS = /(?:^|_)(?:href|url|uri|self|location)$|Ur[li]$/;

/** The values that answers have for the inputs of further operations: identifiers and addresses. */
export class KnownValues {
  readonly #config: ServiceConfig;
  readonly #awaiting: readonly Operation[];
  /** Items by the path of their list, as it was sent. */
  readonly #items = new Map<string, unknown[]>();
  /** By the plain name of the parameter that they may stand for: `petid`. */
  readonly #named = new Map<string, string[]>();
  /** By the template of the operation whose address an answer has. */
  readonly #addressed = new Map<string, FoundValues>();
  /** By the operation that links lead to, the newest first. */
  readonly #linked = new Map<string, readonly FoundValues[]>();
  /** Bodies by the operation that links lead to. */
  readonly #linkedBodies = new Map<string, unknown>();
  /** Links that yielded nothing so far, each with its remark. */
  readonly #emptyLinks = new Map<string, string>();
  readonly #yielding = new Set<string>();
  /** Paths up to their last value, by template, that were answered as if there was no such thing. */
  readonly #missed = new Map<string, Set<string>>();
  /** Paths that were read. */
  readonly #served = new Set<string>();
  /** Those of `#awaiting` that no address has had values for: by first segment, then by number of segments. */
  readonly #unaddressed: Matchers;
  readonly #takesMadeUp: boolean;
  readonly #examples: Examples;

  /** `takesMadeUp`: a made-up value of a path that is served stands for something; for reads only. */
  constructor(config: ServiceConfig, { takesMadeUp = false }: { readonly takesMadeUp?: boolean } = {}) {
    this.#config = config;
    this.#takesMadeUp = takesMadeUp;
    this.#examples = new Examples(config.definitions ?? {}, responseSchemas(config).book);
    this.#awaiting = config.operations.filter(
      (operation) => operation.awaits.length > 0 || examplesOf(operation).length > 0,
    );
    this.#unaddressed = matchersOf(this.#awaiting);
  }

  /** Takes the values of a served answer. */
  take(reply: OperationReply): void {
    if (!reply.served || reply.order.method === 'HEAD') return;
    this.#takeLinks(reply);
    const path = pathOf(reply.order.path);
    if (reply.operation.safe && this.#served.size < MAX_NAMES) this.#served.add(path);
    const { location, json } = reply.response;
    if (this.#takesMadeUp || !reply.order.isMadeUp) this.#takePath(reply);
    if (location !== null) this.#takeAddress(location.pathname);
    const { value } = json;
    const list = listIn(value) ?? (reply.operation.method === 'POST' && isJsonObject(value) ? [value] : null);
    if (list !== null)
      this.#items.set(
        path,
        [...list.slice(0, MAX_KEPT), ...(this.#items.get(path) ?? [])].slice(0, MAX_KEPT),
      );
    let left = MAX_VALUES;
    let addresses = MAX_ADDRESSES;
    const visit = (node: unknown, noun: string, depth: number): void => {
      left -= 1;
      if (left < 0 || depth > MAX_DEPTH) return;
      if (Array.isArray(node)) for (const item of node) visit(item, noun, depth + 1);
      if (!isJsonObject(node)) return;
      for (const [name, inner] of Object.entries(node)) {
        const text = textOf(inner);
        if (text === null) visit(inner, singular(name), depth + 1);
        else {
          this.#name(plain(name), text);
          if (NAMING.test(plain(name))) this.#name(plain(noun) + plain(name), text);
          if (!ADDRESS.test(name) || addresses === 0) continue;
          addresses -= 1;
          this.#takeAddress(URL.parse(text, 'http://service.invalid')?.pathname ?? '');
        }
      }
    };
    visit(value, nounOf(path, reply.operation), 0);
  }

  /** The values of a template in the Location of a 201; null if there is none, or it was served before. */
  placeOf({ status, response: { location } }: OperationReply, template: string): FoundValues | null {
    if (status !== 201 || location === null) return null;
    const path = withoutBase(withoutEndSlash(location.pathname), firstOf(template));
    return this.#served.has(path) ? null : pathValues(template, path);
  }

  /** What a reply was asked for does not exist: the value is not given again for its operation. */
  missed({ order, operation: { call } }: OperationReply): void {
    const known = this.#missed.get(call.template) ?? new Set();
    this.#missed.set(call.template, known.add(itemPath(call.template, pathOf(order.path))));
  }

  /** Each documented link that no answer had the values for, in a sentence. */
  get emptyLinks(): readonly string[] {
    return [...this.#emptyLinks.values()];
  }

  /** As `for`, with made-up values of the documented types for what is unknown; null if one cannot be made up. */
  withMadeUp(operation: Operation): FoundValues | null {
    const found = this.#search(operation, new Map(), (input) => this.#madeUp(operation, input));
    return typeof found === 'string' ? null : found;
  }

  /** The value of each input that the operation awaits, or has an example for; null if one is unknown. `own`: values to keep. */
  for(operation: Operation, own: FoundValues = new Map()): FoundValues | null {
    const found = this.#search(operation, own);
    return typeof found === 'string' ? null : found;
  }

  /** The name of the first input without a known value; null if each has one. */
  unknownOf(operation: Operation): string | null {
    const found = this.#search(operation, new Map());
    return typeof found === 'string' ? found : null;
  }

  /** The values, or the name of the first input that has none. */
  #search(
    operation: Operation,
    own: FoundValues,
    make: (input: Input | undefined) => string | undefined = () => undefined,
  ): FoundValues | string {
    const { call } = operation;
    const awaits = operation.awaits.length > 0 ? operation.awaits : examplesOf(operation);
    const linked = own.size > 0 ? [] : (this.#linked.get(keyOf(operation)) ?? []);
    const whole = own.size > 0 ? [] : [...linked, this.#addressed.get(call.template) ?? new Map()];
    const known = whole.find(
      (values) =>
        awaits.every((name) => values.has(name)) &&
        this.#areFit(operation, values) &&
        !this.#isMissed(operation, values),
    );
    if (known !== undefined && awaits.length > 0) return known;
    const [part = new Map<string, string>()] = linked;
    const found = new Map<string, string>();
    let path = '';
    let before = '';
    for (const segment of pathOf(call.template).split('/').slice(1)) {
      const names = [...segment.matchAll(/\{([^{}]+)\}/g)].map(([, name = '']) => name);
      let filled = segment;
      for (const name of names) {
        const input = call.inputs.find((each) => each.in === 'path' && each.name === name);
        const given = own.get(name) ?? (awaits.includes(name) ? undefined : input?.value);
        const put = (text: string) => filled.replace(`{${name}}`, () => encodeURIComponent(text));
        const isTried = (text: string) =>
          own.size === 0 && this.#missed.get(call.template)?.has(`${path}/${put(text)}`) === true;
        const candidates = () => [
          ...(part.get(name) === undefined ? [] : [part.get(name) ?? '']),
          ...this.#candidates(names.length === 1 ? path : null, before, name),
        ];
        const value =
          given !== undefined
            ? String(given)
            : (candidates().find((each) => this.#isFit(operation, name, each) && !isTried(each)) ??
              make(input));
        if (value === undefined) return name;
        if (given === undefined) found.set(name, value);
        filled = put(value);
      }
      path += `/${filled}`;
      if (names.length === 0) before = segment;
    }
    for (const name of awaits) {
      if (found.has(name) || own.has(name)) continue;
      const value =
        [...(part.has(name) ? [part.get(name) ?? ''] : []), ...this.#candidates(null, '', name)].find(
          (each) => this.#isFit(operation, name, each),
        ) ?? make(call.inputs.find((each) => each.name === name));
      if (value === undefined) return name;
      found.set(name, value);
    }
    return found;
  }

  #takeLinks(reply: OperationReply): void {
    for (const { link, values, body, empty } of followedLinks(reply)) {
      const { method, template } = reply.operation;
      const name = `${method} ${template} ${link.name}`;
      if (empty !== null) {
        if (!this.#yielding.has(name))
          this.#emptyLinks.set(
            name,
            `${method} ${template}: its link ${link.name} yields nothing for ${empty}`,
          );
        continue;
      }
      this.#yielding.add(name);
      this.#emptyLinks.delete(name);
      const texts = [...values].flatMap(([key, value]) => {
        const text = textOf(value);
        return text === null ? [] : [[key, text] as const];
      });
      const known = this.#linked.get(keyOf(link)) ?? [];
      this.#linked.set(keyOf(link), [new Map(texts), ...known].slice(0, MAX_KEPT));
      if (body !== undefined) this.#linkedBodies.set(keyOf(link), body);
    }
  }

  /** The body of an operation: that of a link rather than one that is made up. */
  bodyOf(operation: Operation): CallBody | null {
    const { body } = operation.call;
    const isOpen = body !== null && (body.isMade === true || body.value === undefined);
    const key = keyOf(operation);
    return isOpen && this.#linkedBodies.has(key) ? { ...body, value: this.#linkedBodies.get(key) } : body;
  }

  /** The order with the body of a link, if its own is made up. */
  withLinkedBody(order: Order): Order {
    const body = this.bodyOf(order.operation);
    if (order.kind !== 'call' || body === order.operation.call.body) return order;
    return { ...order, body: requestOfCall({ ...order.operation.call, body }).body };
  }

  #isMissed({ call }: Operation, values: FoundValues): boolean {
    const inputs = call.inputs.map((input) => {
      const value = values.get(input.name);
      return value === undefined ? input : { ...input, value };
    });
    const { path } = requestOfCall({ ...call, inputs });
    return this.#missed.get(call.template)?.has(itemPath(call.template, pathOf(path))) === true;
  }

  /** A value of the path is of no list above it, of no address and of no link: it may be that of something else. */
  isGuess({ operation, order: { path, values } }: OperationReply): boolean {
    const { template } = operation.call;
    if (!values || values === this.#addressed.get(template) || this.#linked.has(keyOf(operation)))
      return false;
    const sent = pathOf(path).split('/');
    return pathOf(template)
      .split('/')
      .some((segment, at) => {
        const [, name = ''] = /^\{([^{}]+)\}$/.exec(segment) ?? [];
        const value = values.get(name);
        const items = this.#items.get(sent.slice(0, at).join('/')) ?? [];
        const texts = items.flatMap((item) =>
          (isJsonObject(item)
            ? [item, item.metadata].filter(isJsonObject).flatMap(Object.values)
            : [item]
          ).map(textOf),
        );
        return value !== undefined && !texts.includes(value);
      });
  }

  #madeUp(operation: Operation, input: Input | undefined): string | undefined {
    if (input === undefined) return undefined;
    const example = input.schema === null ? null : this.#examples.of(input.schema);
    const made = example !== null && 'value' in example ? textOf(example.value) : null;
    return [MADE_UP, '1', made].find(
      (each): each is string => each !== null && this.#isFit(operation, input.name, each),
    );
  }

  /** What a path was served with, stands for the same in other paths. */
  #takePath({ order: { values }, operation }: OperationReply): void {
    let before = '';
    for (const segment of pathOf(operation.call.template).split('/')) {
      const [, name] = /^\{([^{}]+)\}$/.exec(segment) ?? [];
      const value = name === undefined ? undefined : values?.get(name);
      if (name === undefined) before = segment;
      else if (value !== undefined)
        this.#name(IDENTIFIERS.includes(plain(name)) ? plain(singular(before) + name) : plain(name), value);
    }
  }

  #name(name: string, text: string): void {
    if (this.#named.size >= MAX_NAMES && !this.#named.has(name)) return;
    const known = this.#named.get(name) ?? [];
    if (known.length < MAX_KEPT && !known.includes(text)) this.#named.set(name, [...known, text]);
  }

  #takeAddress(pathname: string): void {
    for (const [first, templates] of this.#unaddressed) {
      const path = withoutBase(pathname, first);
      const sameLength = templates.get(path.split('/').length) ?? new Map<string, PathMatcher>();
      for (const [template, match] of sameLength) {
        const values = match(path);
        const operation = this.#awaiting.find(({ call }) => call.template === template);
        if (values === null || (operation && !this.#areFit(operation, values))) continue;
        this.#addressed.set(template, values);
        sameLength.delete(template);
      }
    }
  }

  /** `list`: the path of the list that the value is of. `before`: the last segment that is no parameter. */
  #candidates(list: string | null, before: string, name: string): readonly string[] {
    const noun = singular(before);
    // `{organization_id_or_slug}` stands for either.
    const either = name.split(/_or_|(?<=[a-z])Or(?=[A-Z])/);
    const own = either.map((each) => ownName(each, noun));
    const wanted = [plain(name), ...own];
    const ofItem = (item: unknown): readonly string[] => {
      const text = textOf(item);
      if (text !== null) return [text];
      if (!isJsonObject(item)) return [];
      const byName = Object.entries(item).filter(([key]) => wanted.includes(plain(key)));
      const usual = IDENTIFIERS.map((key) => [key, item[key]] as const);
      const texts = [...byName, ...usual].flatMap(([, value]) => textOf(value) ?? []);
      // Kubernetes names an item in its metadata.
      return isJsonObject(item.metadata) ? [...texts, ...ofItem(item.metadata)] : texts;
    };
    const items = list === null ? [] : (this.#items.get(list) ?? this.#items.get(`${list}.json`) ?? []);
    const isGeneric = IDENTIFIERS.includes(plain(name));
    const named = [
      ...(isGeneric ? [] : [plain(name), `${plain(name)}id`]),
      ...own.map((each) => plain(noun) + (each || 'id')),
    ];
    return [...items.flatMap(ofItem), ...named.flatMap((key) => this.#named.get(key) ?? [])];
  }

  #areFit(operation: Operation, values: FoundValues): boolean {
    return [...values].every(([name, value]) => this.#isFit(operation, name, value));
  }

  /** Whether the identifier of an item of the run may stand for an input. */
  isFitOfOwn(operation: Operation, name: string, value: string): boolean {
    return mayStandForOwn(operation, name, value, this.#config);
  }

  #isFit(operation: Operation, name: string, value: string): boolean {
    return mayStandFor(operation, name, value, this.#config);
  }
}

/** Whether a value may stand for an input, as the document has it. */
export function mayStandFor(
  { call }: Operation,
  name: string,
  value: string,
  config: ServiceConfig,
): boolean {
  if (/^\.{0,2}$/.test(value)) return false;
  // One name may stand in the path and in the query, with a schema each.
  return call.inputs.every((input) => {
    if (input.name !== name) return true;
    const schema = input.schema ?? null;
    const { type } = facetsOf(schema, config.definitions ?? {});
    const isNumber = type === 'integer' || type === 'number';
    if (isNumber && !/^-?\d+(?:\.\d+)?$/.test(value)) return false;
    return !refusalBy(responseSchemas(config).book, schema)(isNumber ? Number(value) : value);
  });
}

/** As `mayStandFor`, and in the documented format, which of values found elsewhere is a hint. */
export function mayStandForOwn(
  operation: Operation,
  name: string,
  value: string,
  config: ServiceConfig,
): boolean {
  const { definitions = {} } = config;
  const { book } = responseSchemas(config);
  const hasFormat = operation.call.inputs.every(
    (input) => input.name !== name || isOfFormat(value, facetsOf(input.schema ?? null, definitions), book),
  );
  return hasFormat && mayStandFor(operation, name, value, config);
}

/** A path as far as its template has values. */
function itemPath(template: string, path: string): string {
  const last = pathOf(template)
    .split('/')
    .findLastIndex((segment) => segment.includes('{'));
  return path
    .split('/')
    .slice(0, last + 1)
    .join('/');
}

/** The operation that a link leads to, or that is called. */
function keyOf({ method, ...of }: Operation | DocumentedLink): string {
  return `${method} ${pathOf('call' in of ? of.call.template : of.template)}`;
}

/** The names of the inputs in the path whose value is only an example. */
export function examplesOf({ call }: Operation): readonly string[] {
  return call.inputs.filter(({ from }) => from === 'example').map(({ name }) => name);
}

/** The items of a list, or those of the one list in an object; null for none. */
function listIn(value: unknown): readonly unknown[] | null {
  if (Array.isArray(value)) return value;
  if (!isJsonObject(value)) return null;
  const lists = (object: JsonObject) => Object.values(object).filter((each) => Array.isArray(each));
  const { _embedded: embedded } = value;
  const found = [...lists(value), ...(isJsonObject(embedded) ? lists(embedded) : [])];
  return found.find((each) => each.some(isJsonObject)) ?? found[0] ?? null;
}

/** A value that a path or a header can carry; null for any other. */
function textOf(value: unknown): string | null {
  const isText =
    typeof value === 'string' &&
    value !== '' &&
    value.length <= MAX_LENGTH &&
    value.isWellFormed() &&
    !/\p{Cc}/u.test(value);
  // Of longer integers the last digits are lost.
  const isNumber = typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER;
  return isText || isNumber ? String(value) : null;
}

/** The last part of a path that names a kind of thing. */
function nounOf(path: string, { call }: Operation): string {
  const literals = pathOf(call.template)
    .split('/')
    .filter((segment) => segment !== '' && !segment.includes('{'));
  return singular(literals.at(-1) ?? path);
}

function pathOf(target: string): string {
  return withoutEndSlash(target.split('?', 1)[0] ?? '');
}

type Matchers = ReadonlyMap<string, ReadonlyMap<number, Map<string, PathMatcher>>>;

/** Matchers of their templates: a document may have a thousand, and an answer a hundred addresses. */
function matchersOf(operations: readonly Operation[]): Matchers {
  const templates = [...new Set(operations.map(({ call }) => call.template))];
  const byFirst = Map.groupBy(templates, firstOf);
  const byLength = (all: readonly string[]) =>
    [...Map.groupBy(all, (template) => pathOf(template).split('/').length)].map(
      ([length, same]) =>
        [length, new Map(same.map((template) => [template, pathMatcher(pathOf(template))]))] as const,
    );
  return new Map([...byFirst].map(([first, all]) => [first, new Map(byLength(all))]));
}

/** The first segment, if it is no parameter. */
function firstOf(template: string): string {
  return /^\/[^/{]+/.exec(template)?.[0] ?? '';
}

/** A base address may stand before the paths of the document, which begin with this segment. */
function withoutBase(pathname: string, first: string): string {
  const at = first === '' ? -1 : pathname.indexOf(`${first}/`);
  return at > 0 ? pathname.slice(at) : pathname;
}

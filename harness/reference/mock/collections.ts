import { isJsonObject, type JsonObject } from '../../base/json-text.ts';
import { queryParameters, type ReceivedRequest } from '../http/message.ts';
import { isIdentifier } from './values.ts';

/** Items of one collection: the oldest make room for others. */
const MAX_ITEMS = 500;
const MAX_COLLECTIONS = 5_000;
/** Texts of answers that are kept as names of something. */
const MAX_GIVEN = 50_000;
const MAX_DEPTH = 8;
const MAX_LENGTH = 200;

export interface Item {
  /** Every text by which it may be named in a path. */
  readonly names: ReadonlySet<string>;
  readonly serial: number;
  value: unknown;
}

/** The state of a mock: items by the path of their collection, other values by their own path. */
export class Collections {
  readonly #items = new Map<string, Item[]>();
  readonly #values = new Map<string, unknown>();
  readonly #removed = new Set<string>();
  readonly #given = new Set<string>();
  #serial = 100;

  nextSerial(): number {
    this.#serial += 1;
    return this.#serial;
  }

  /** The items at a path; made when they are first needed. */
  at(path: string, first: () => readonly Item[]): readonly Item[] {
    const known = this.#items.get(path);
    if (known !== undefined) return known;
    if (this.#items.size >= MAX_COLLECTIONS) return [];
    const items = [...first()];
    this.#items.set(path, items);
    return items;
  }

  add(path: string, item: Item): void {
    const items = this.#items.get(path);
    if (items === undefined && this.#items.size >= MAX_COLLECTIONS) return;
    this.#items.set(path, [...(items ?? []), item].slice(-MAX_ITEMS));
    for (const name of item.names) this.#removed.delete(`${path}/${name}`);
  }

  remove(path: string, name: string): void {
    const items = this.#items.get(path) ?? [];
    this.#items.set(
      path,
      items.filter(({ names }) => !names.has(name)),
    );
    const itemPath = `${path}/${name}`;
    if (this.#removed.size < MAX_GIVEN) this.#removed.add(itemPath);
    for (const key of this.#values.keys()) if (isAtOrBelow(key, itemPath)) this.#values.delete(key);
  }

  isRemoved(path: string): boolean {
    return this.#removed.has(path);
  }

  /** The value at a path, made when it is first needed. */
  value(path: string, make: () => unknown): unknown {
    if (!this.#values.has(path)) this.setValue(path, make());
    return this.#values.get(path);
  }

  setValue(path: string, value: unknown): void {
    if (this.#values.size < MAX_COLLECTIONS) this.#values.set(path, value);
  }

  /** Keeps the texts of an answer: a client may use each as a name. */
  give(value: unknown, depth = 0): void {
    if (depth > MAX_DEPTH || this.#given.size > MAX_GIVEN) return;
    const text = nameOf(value);
    if (text !== null) this.#given.add(text);
    else if (Array.isArray(value)) for (const inner of value) this.give(inner, depth + 1);
    else if (isJsonObject(value)) for (const inner of Object.values(value)) this.give(inner, depth + 1);
  }

  hasGiven(text: string): boolean {
    return this.#given.has(text);
  }
}

function isAtOrBelow(path: string, above: string): boolean {
  return path === above || path.startsWith(`${above}/`);
}

function nameOf(value: unknown): string | null {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' && value.length <= MAX_LENGTH ? value : null;
}

/** The texts by which an item may be named: those of identifying members, else all of its texts. */
export function namesOf(value: unknown): ReadonlySet<string> {
  const text = nameOf(value);
  if (text !== null) return new Set([text]);
  const members = Object.entries({ ...coreOf(value), ...namingMetadata(value) }).flatMap(([name, inner]) => {
    const named = nameOf(inner);
    return named === null ? [] : [[name, named] as const];
  });
  const identifying = members.filter(([name]) => isIdentifier(name));
  return new Set((identifying.length > 0 ? identifying : members).map(([, each]) => each));
}

/** The item in an answer: the answer itself, or the one object in it, as in `{ "data": { "id": … } }`. */
export function coreOf(value: unknown): JsonObject {
  const name = coreMember(value);
  if (name === null) return isJsonObject(value) ? value : {};
  return isJsonObject(value) && isJsonObject(value[name]) ? value[name] : {};
}

/** The member that holds the item; null if the value is the item. */
export function coreMember(value: unknown): string | null {
  if (!isJsonObject(value)) return null;
  const entries = Object.entries(value);
  if (namingMetadata(value) !== null) return null;
  if (entries.some(([name, inner]) => isIdentifier(name) && nameOf(inner) !== null)) return null;
  const objects = entries.filter(([, inner]) => isJsonObject(inner)).map(([name]) => name);
  if (objects.length === 1 || objects.includes('data'))
    return objects.includes('data') ? 'data' : (objects[0] ?? null);
  return null;
}

const IDENTITY = ['id', 'uuid', 'guid', 'sid', 'gid', 'key', 'slug', 'login', 'username', 'name'];

/** The metadata of an object as in Kubernetes, which has its name; null for others. */
function namingMetadata(value: unknown): JsonObject | null {
  const metadata = isJsonObject(value) && !('id' in value) ? value.metadata : null;
  return isJsonObject(metadata) && nameOf(metadata.name) !== null ? metadata : null;
}

/** Texts of identifying members, the likeliest name first. */
export function identityTexts(object: Readonly<Record<string, unknown>>): readonly string[] {
  const core = namingMetadata(object) ?? object;
  return [...IDENTITY, ...Object.keys(core).filter((name) => /id$/i.test(name))].flatMap((name) => {
    const value = core[name];
    // No path can carry half of a surrogate pair.
    const isText = typeof value === 'string' && value.isWellFormed();
    return isText || typeof value === 'number' ? String(value) : [];
  });
}

/** Members that no change of an item changes. */
export function identityOf(core: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const names = ['id', 'uuid', 'guid', 'sid', 'gid'].filter((name) => name in core);
  return Object.fromEntries(names.map((name) => [name, core[name]]));
}

const PAGE = /^page(?:_?number|\[number\])?$/i;
const OFFSET = /^(?:offset|skip|start|\$skip)$/i;
const NEXT = /next|cursor|^after$|page_?token|has_?more|^last$/i;
const SIZE = /^(?:limit|per_?page|page_?size|page\[size\]|size|max_?results|\$top|take|count)$/i;

/** Whether a member names another page. */
export function isNextPage(name: string): boolean {
  return NEXT.test(name);
}

/** The first items, as many as the query asks for. */
export function pageOf(items: readonly Item[], { query }: ReceivedRequest): readonly Item[] {
  const numbers = [...queryParameters(query)].filter(([, text]) => /^\d{1,6}$/.test(text));
  const of = (names: RegExp) => numbers.find(([name]) => names.test(name))?.[1];
  const size = Number(of(SIZE) ?? items.length);
  const page = Math.max(1, Number(of(PAGE) ?? 1));
  const start = Number(of(OFFSET) ?? (page - 1) * size);
  return items.slice(start, start + size);
}

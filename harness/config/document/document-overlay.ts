import type { Place } from '../../base/exit.ts';
import { hasMembers, isJsonObject, type JsonObject } from '../../base/json-text.ts';
import { reasonOf } from '../../base/thrown.ts';
import { nearestHint } from '../yaml/nearest.ts';
import { child, children, type DocumentNode, faultAt, holdToBounds, type SourceFile } from './source.ts';

/** Where an object or a list of the result stands in a file. */
interface ValueOrigin {
  readonly file: SourceFile;
  readonly pointer: readonly string[];
}

type JsonPath = typeof import('json-p3').jsonpath;
type JsonValue = Parameters<JsonPath['query']>[1];

/** Values by which the nearest name of a target is looked for. */
const MOST_NAMES = 5_000;

/**
 * A document with overlays applied in their order (Overlay 1.0 and 1.1). Against the letter of the specification, a target
 * that selects nothing is a fault: it is a slip. @throws UsageError at the place in the overlay.
 */
export async function withOverlays(
  document: SourceFile,
  overlays: readonly SourceFile[],
): Promise<SourceFile> {
  if (overlays.length === 0) return document;
  // Only documents with overlays need it.
  const { jsonpath } = await import('json-p3');
  const work = new OverlaidDocument(document, jsonpath);
  for (const overlay of overlays) for (const action of actionsOf(overlay)) work.apply(action);
  return work.result();
}

const VERSION = /^1\.[01]\.\d+$/;

function actionsOf(file: SourceFile): readonly DocumentNode[] {
  const root = { file, pointer: [], value: file.root };
  const { value: version } = child(root, 'overlay');
  if (typeof version !== 'string' || !VERSION.test(version))
    throw faultAt(child(root, 'overlay'), 'is no overlay', 'write `overlay: 1.1.0` or 1.0.0');
  const actions = child(root, 'actions');
  if (!Array.isArray(actions.value) || actions.value.length === 0)
    throw faultAt(actions, 'has no actions', 'write a list of actions, each with a target');
  return children(actions).map(([, action]) => action);
}

class OverlaidDocument {
  #root: unknown;
  readonly #origins = new WeakMap<object, ValueOrigin>();
  readonly #document: SourceFile;
  readonly #jsonpath: JsonPath;

  constructor(document: SourceFile, jsonpath: JsonPath) {
    this.#document = document;
    this.#jsonpath = jsonpath;
    this.#root = this.#copied({ file: document, pointer: [], value: document.root });
  }

  result(): SourceFile {
    const root = this.#root;
    holdToBounds(root, this.#document.shown);
    return { ...this.#document, root, placeOf: (pointer) => this.#placeOf(pointer) };
  }

  apply(action: DocumentNode): void {
    if (!isJsonObject(action.value))
      throw faultAt(action, 'is no action', 'write a target with update or remove');
    const locations = this.#selected(child(action, 'target'));
    const { remove, update, copy } = action.value;
    if (remove === true) this.#remove(action, locations);
    else if (update !== undefined) this.#merge(child(action, 'update'), locations);
    else if (copy !== undefined) this.#merge(this.#copySource(child(action, 'copy')), locations);
    else throw faultAt(action, 'changes nothing', 'add `update`, `copy` or `remove: true`');
  }

  #remove(action: DocumentNode, locations: readonly Location[]): void {
    // The last first: an index changes with the removal of one before it.
    for (const location of locations.toReversed()) {
      const name = location.at(-1);
      const parent = valueAt(this.#root, location.slice(0, -1));
      if (name === undefined) throw faultAt(action, 'removes the whole document', 'select a part of it');
      if (Array.isArray(parent)) parent.splice(Number(name), 1);
      else if (isJsonObject(parent)) Reflect.deleteProperty(parent, name);
    }
  }

  #merge(update: DocumentNode, locations: readonly Location[]): void {
    for (const location of locations) {
      const target = valueAt(this.#root, location);
      if (Array.isArray(target)) this.#concatenate(target, update);
      else if (isJsonObject(target)) this.#mergeInto(target, update);
      else this.#replace(location, update);
    }
  }

  #concatenate(target: unknown[], update: DocumentNode): void {
    const items = Array.isArray(update.value) ? children(update).map(([, item]) => item) : [update];
    target.push(...items.map((item) => this.#copied(item)));
  }

  #mergeInto(target: JsonObject, update: DocumentNode): void {
    if (!isJsonObject(update.value))
      throw faultAt(update, 'is no mapping, which its target is', 'write the members to merge');
    for (const [name, member] of children(update)) {
      const present = Object.hasOwn(target, name) ? target[name] : undefined;
      const kind = present === undefined ? null : kindOf(present);
      if (kind === null || (kind === 'single value' && kindOf(member.value) === kind)) {
        define(target, name, this.#copied(member));
      } else if (kind !== kindOf(member.value)) {
        throw faultAt(
          member,
          `is a ${kindOf(member.value)}, and a ${kind} in the document`,
          'remove that first',
        );
      } else if (Array.isArray(present)) this.#concatenate(present, member);
      else if (isJsonObject(present)) this.#mergeInto(present, member);
    }
  }

  /** A single value. */
  #replace(location: Location, update: DocumentNode): void {
    if (hasMembers(update.value))
      throw faultAt(
        update,
        'is no single value, which its target is',
        'write a text, a number, true, false or null',
      );
    const name = location.at(-1);
    const parent = valueAt(this.#root, location.slice(0, -1));
    if (name === undefined) return;
    if (Array.isArray(parent)) parent[Number(name)] = update.value;
    else if (isJsonObject(parent)) define(parent, name, update.value);
  }

  #copySource(at: DocumentNode): DocumentNode {
    const [only, ...others] = this.#selected(at);
    if (only === undefined || others.length > 0)
      throw faultAt(at, `selects ${others.length + 1} values`, 'select the one to copy');
    const value = valueAt(this.#root, only);
    return { file: this.#document, pointer: [...only], value };
  }

  /** @throws UsageError for another text than JSONPath, and if it selects nothing. */
  #selected(at: DocumentNode): readonly Location[] {
    const path = at.value;
    if (typeof path !== 'string') throw faultAt(at, 'is no JSONPath', 'write one such as $.paths');
    let found: readonly Location[];
    try {
      const nodes = this.#jsonpath.query(path, this.#root as JsonValue).nodes;
      found = nodes.map(({ location }) => location.map(String));
    } catch (error) {
      throw faultAt(
        at,
        `is no JSONPath (RFC 9535): ${reasonOf(error)}`,
        "write one such as $.paths['/orders'].get",
      );
    }
    if (found.length > 0) return found;
    const near = nearestHint(normalized(path), this.#names());
    throw faultAt(
      at,
      `${JSON.stringify(path)} selects nothing in ${this.#document.shown}${near}`,
      'correct it, or remove the action',
    );
  }

  #names(): readonly string[] {
    const names: string[] = [];
    const visit = (value: unknown, path: string) => {
      if (names.length >= MOST_NAMES || !hasMembers(value)) return;
      for (const [name, member] of Object.entries(value)) {
        const inner = Array.isArray(value)
          ? `${path}[${name}]`
          : `${path}${/^\w+$/.test(name) ? `.${name}` : `['${name}']`}`;
        names.push(inner);
        visit(member, inner);
      }
    };
    visit(this.#root, '$');
    return names.slice(0, MOST_NAMES);
  }

  /** With the origin of each object and list. */
  #copied({ file, pointer, value }: DocumentNode): unknown {
    if (!hasMembers(value)) return value;
    const origin = this.#origins.get(value) ?? { file, pointer };
    const copy = Array.isArray(value) ? [] : {};
    for (const [name, member] of Object.entries(value)) {
      define(copy, name, this.#copied({ file, pointer: [...pointer, name], value: member }));
    }
    this.#origins.set(copy, origin);
    return copy;
  }

  #placeOf(pointer: readonly string[]): Place {
    for (let length = pointer.length; length >= 0; length -= 1) {
      const value = valueAt(this.#root, pointer.slice(0, length));
      const origin = hasMembers(value) ? this.#origins.get(value) : undefined;
      if (origin === undefined) continue;
      return origin.file.placeOf([...origin.pointer, ...pointer.slice(length, length + 1)]);
    }
    return this.#document.placeOf([]);
  }
}

type Location = readonly string[];

function valueAt(root: unknown, location: Location): unknown {
  let value = root;
  for (const name of location)
    value = hasMembers(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  return value;
}

/** Any name, `__proto__` too. */
function define(target: object, name: string, value: unknown): void {
  Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
}

function kindOf(value: unknown): 'list' | 'mapping' | 'single value' {
  if (Array.isArray(value)) return 'list';
  return hasMembers(value) ? 'mapping' : 'single value';
}

/** With plain names after dots, as names are listed. */
function normalized(path: string): string {
  return path.replace(/\[(["'])(\w+)\1\]/g, '.$2').replaceAll('"', "'");
}

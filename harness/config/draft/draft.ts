import { dirname, join, resolve } from 'node:path';
import type { TSchema } from 'typebox';
import type { UsageError } from '../../base/exit.ts';
import { nameElsewhere } from '../../wire/redaction/marker.ts';
import { type Fault, keysOf, shapeWithin, traitsOf } from '../shape/loaded.ts';
import {
  childrenOf,
  keyWithin,
  type Located,
  type LocatedMap,
  located,
  originsOf,
  withChildren,
} from '../yaml/located.ts';
import { type FaultAt, faultsOf, type Origin, originAround } from '../yaml/origin.ts';
import { type ReadFault, readText } from '../yaml/read-text.ts';
import type { Faults } from './faults.ts';
import {
  holdVariables,
  type InterpolatedText,
  interpolate,
  type ReferenceScope,
  secretName,
} from './reference.ts';

/** One service on its way from file to config: overlaid, its references read, its meaning not yet checked. */
export class Draft {
  readonly service: string;
  readonly tree: LocatedMap;
  readonly scope: ReferenceScope;
  readonly faults: Faults;
  /** Makes the error for a key, at the place where it is written. */
  readonly faultAt: FaultAt;
  readonly #origins: ReadonlyMap<string, Origin>;
  readonly #shown = new Map<string, Located>();

  constructor(service: string, tree: LocatedMap, scope: ReferenceScope, faults: Faults) {
    this.service = service;
    this.tree = tree;
    this.scope = scope;
    this.faults = faults;
    this.#origins = originsOf(tree);
    this.faultAt = faultsOf(this.#origins);
  }

  faultFor(key: string): Fault {
    return (problem, remedy) => this.faultAt(key, problem, remedy);
  }

  /** Of a key, or of the nearest block around it that is written somewhere. */
  originOf(key: string): Origin {
    return originAround(this.#origins, key) ?? { kind: 'default' };
  }

  /** A file that a key names, as a person would name it who has named the service file. */
  shownBeside(key: string, path: string): string {
    const origin = this.originOf(key);
    return origin.kind === 'file' ? join(dirname(origin.place.file), path) : resolve(this.scope.folder, path);
  }

  /** The text of a file that a key names. @throws UsageError where it cannot be read. */
  async textBeside(key: string, path: string, maxBytes: number): Promise<string> {
    const read = await readText(resolve(this.scope.folder, path), maxBytes);
    if ('fault' in read) throw this.fileFault(key, `the file ${path}`, read.fault);
    return read.text;
  }

  fileFault(key: string, file: string, { problem, remedy }: ReadFault): UsageError {
    return this.faultAt(key, `${file}: ${problem}`, `${remedy}; it is relative to this file`);
  }

  /** Sets the value that the effective config shows at a key in place of the written one. `value` is plain data. */
  show(key: string, value: unknown, origin: Origin = { kind: 'default' }): void {
    this.#shown.set(key, located(value, origin));
  }

  /** The same for a text that was read through references: as it may be seen, its secrets masked. */
  showRead(key: string, text: string | null, references: readonly string[]): void {
    const origin = this.originOf(key);
    const read = origin.kind === 'file' && references.length > 0;
    this.show(key, text, read ? { ...origin, reference: references.join(', ') } : origin);
  }

  /** Written values in the order of the shape, and defaults; loadable again, except for its secrets. */
  document(shape: TSchema): LocatedMap {
    const whole = this.#effective(shape, this.tree, '');
    return whole?.kind === 'map' ? whole : this.tree;
  }

  #effective(shape: TSchema, written: Located | undefined, key: string): Located | undefined {
    const shown = this.#shown.get(key);
    if (shown) return shown;
    const isThere = [...this.#shown.keys()].some((each) => each.startsWith(`${key}.`));
    // null as a default says that nothing holds.
    const fallback = ('default' in shape ? shape.default : null) ?? (isThere ? {} : null);
    const node = written ?? (fallback === null ? undefined : located(fallback, { kind: 'default' }));
    if (node === undefined || node.kind === 'scalar') return node;
    const within = (name: string, child?: Located) =>
      this.#effective(shapeWithin(shape, name), child, keyWithin(key, name));
    const keys = keysOf(shape);
    if (node.kind === 'list' || keys.length === 0)
      return withChildren(node, (name, child) => within(name, child) ?? child);
    const entries = keys.flatMap((name) => {
      const entry = node.entries.get(name);
      const value = within(name, entry?.value);
      return value ? [[name, { keyPlace: entry?.keyPlace ?? null, value }] as const] : [];
    });
    return { ...node, entries: new Map(entries) };
  }
}

/** What a key was read as through references, and is not to be shown. */
export interface ReadThrough extends Omit<InterpolatedText, 'text'> {
  readonly key: string;
  readonly written: string;
}

/** RFC 6761: no host has this name. */
const NOWHERE = 'http://stands-in.invalid';

/** The service with its references read, except those of secrets, whose variables must be set. */
export async function withReferences(
  tree: LocatedMap,
  shape: TSchema,
  scope: ReferenceScope & { readonly service: string },
  faults: Faults,
): Promise<{ readonly tree: LocatedMap; readonly hidden: readonly ReadThrough[] }> {
  const faultAt = faultsOf(originsOf(tree));
  const hidden: ReadThrough[] = [];
  const read = async <N extends Located>(node: N, of: TSchema, key: string, around: string): Promise<N> => {
    const { references: treatment = around, literal } = traitsOf(of);
    if (node.kind !== 'scalar') {
      const within = treatment === 'path' ? 'raw' : treatment;
      const inner = new Map<string, Located>();
      for (const [name, child] of childrenOf(node)) {
        inner.set(name, await read(child, shapeWithin(of, name), keyWithin(key, name), within));
      }
      return withChildren(node, (name, child) => inner.get(name) ?? child);
    }
    const { value, origin } = node;
    if (typeof value !== 'string' || treatment === 'raw') return node;
    const fault = (problem: string, remedy: string) => faultAt(key, problem, remedy);
    if (treatment === 'secret') {
      faults.try(() => holdVariables(value, scope, fault));
      return node;
    }
    const done = await faults.attempt(() =>
      interpolate(value, scope, fault, literal, (reference) => ({
        name: nameElsewhere(secretName(scope, key, reference), 'config'),
        otherwise: treatment === 'open' && key.endsWith('url') ? NOWHERE : null,
      })),
    );
    if (!done || done.references.length === 0 || origin.kind !== 'file') return node;
    const { references, learned } = done;
    if (treatment !== 'open' && learned.length > 0) hidden.push({ key, written: value, references, learned });
    return { ...node, value: done.text, origin: { ...origin, reference: references.join(', ') } };
  };
  return { tree: await read(tree, shape, '', 'plain'), hidden };
}

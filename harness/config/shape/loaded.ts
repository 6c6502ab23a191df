import type { Static, TArray, TObject, TSchema } from 'typebox';
import type { UsageError } from '../../base/exit.ts';
import { hasMembers, isJsonObject } from '../../base/json-text.ts';
import { keyWithin } from '../yaml/located.ts';
import { nearestNames } from '../yaml/nearest.ts';
import type { FaultAt } from '../yaml/origin.ts';

/** Makes the error for a value, at the place where it is written. */
export type Fault = (problem: string, remedy: string) => UsageError;

export type BlockInput = Readonly<Record<string, unknown>>;

/** Properties of a value that JSON Schema cannot state. */
export interface Traits {
  /** Its name among the `$defs` of the schema, should it stand there more than once. */
  readonly def?: string;
  /** It must be there once the environment is laid over the file. */
  readonly needed?: true;
  /** Keys that the file must hold whatever its environment is. */
  readonly required?: readonly string[];
  /**
   * How `${env:NAME}` in it is treated. `plain`: it is read, and its value is kept out of all output. `open`: it is read,
   * and its value may be shown. `secret`: it is read later. `raw`: it is no reference. `path`: it is read in a path, and
   * is no reference in a value other than a path.
   */
  readonly references?: 'plain' | 'open' | 'secret' | 'raw' | 'path';
  /** A text in it that is no reference, such as `${PORT}`. */
  readonly literal?: string;
  /** What to do when it is missing; needed where that is more than to add it. */
  readonly remedy?: string;
  readonly read?: (written: never, fault: Fault) => unknown;
  /** Whether a block of an environment replaces the one below it instead of being merged. */
  readonly replaces?: (below: BlockInput, above: BlockInput) => boolean;
  /** What the name of the loaded value ends in: `connect` is loaded as `connectMs`. */
  readonly unit?: 'Ms' | 'Bytes';
}

export const TRAITS = '~traits';

export function traitsOf(shape: TSchema): Traits {
  return TRAITS in shape ? (shape[TRAITS] as Traits) : {};
}

/** The names of a mapping's own keys; none where any name may stand. */
export function keysOf(shape: TSchema): readonly string[] {
  return 'properties' in shape && isJsonObject(shape.properties) ? Object.keys(shape.properties) : [];
}

export function shapeWithin(shape: TSchema, name: string): TSchema {
  const { properties, additionalProperties, items } = shape as Readonly<Record<string, unknown>>;
  const own = isJsonObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
  return [own, additionalProperties, items].find(isJsonObject) ?? {};
}

/** Whether any name may stand in it, each with a value of the same kind. */
export function isNamed(shape: TSchema): boolean {
  const { additionalProperties } = shape as Readonly<Record<string, unknown>>;
  return hasMembers(additionalProperties) && TRAITS in additionalProperties && keysOf(shape).length === 0;
}

/** What a shape is loaded as. A key without a default may be absent; null is as if it were not there. */
export type Loaded<S> = S extends { readonly '~loaded': infer L }
  ? L
  : S extends { readonly '~values': infer V }
    ? Readonly<Record<string, Loaded<V>>>
    : S extends TArray<infer I>
      ? readonly Loaded<I>[]
      : S extends TObject<infer P>
        ? LoadedKeys<P>
        : Static<S & TSchema>;

type LoadedKeys<P> = {
  readonly [K in keyof P as P[K] extends Always ? LoadedName<K, P[K]> : never]: Loaded<P[K]>;
} & {
  readonly [K in keyof P as P[K] extends Always ? never : LoadedName<K, P[K]>]?: Loaded<P[K]>;
} extends infer All
  ? { readonly [K in keyof All]: All[K] }
  : never;
type Always = { readonly '~needed': true } | { readonly '~there': true };
type LoadedName<K, S> = S extends { readonly '~unit': infer U extends string } ? `${K & string}${U}` : K;

interface Notes {
  readonly faultAt: FaultAt;
  readonly faults: {
    readonly all: readonly UsageError[];
    at(key: string): boolean;
    add(fault: UsageError): void;
    spoil(key: string): void;
    try<T>(work: () => T): T | undefined;
  };
}

/** Written values with defaults, read texts, durations in ms. A value with a fault is left out. */
export function loaded<S extends TSchema>(shape: S, written: unknown, notes: Notes, key = ''): Loaded<S> {
  return loadedValue(shape, written, notes, key) as Loaded<S>;
}

function loadedValue(shape: TSchema, written: unknown, notes: Notes, key: string): unknown {
  const within = (name: string, inner: unknown) =>
    loadedValue(shapeWithin(shape, name), inner, notes, keyWithin(key, name));
  // What could not be read, or is of another type, has been said.
  if (notes.faults.at(key)) return undefined;
  const { read } = traitsOf(shape);
  if (read && written !== null) {
    const fault = (problem: string, remedy: string) => notes.faultAt(key, problem, remedy);
    return notes.faults.try(() => read(written as never, fault));
  }
  if (Array.isArray(written)) return written.map((item, index) => within(String(index), item));
  if (!isJsonObject(written)) return written;
  const names = keysOf(shape);
  if (names.length === 0) {
    // Any JSON is what it is, null included.
    if (!isNamed(shape)) return written;
    const there = Object.entries(written).filter(([, inner]) => inner !== null);
    return Object.fromEntries(there.map(([name, inner]) => [name, within(name, inner)]));
  }
  return Object.fromEntries(
    names.flatMap((name) => {
      const inner = shapeWithin(shape, name);
      const { needed, unit = '' } = traitsOf(inner);
      const fallback = 'default' in inner ? inner.default : undefined;
      const value = written[name] ?? fallback;
      if (value !== undefined) return [[name + unit, within(name, value)]];
      if (needed) noteMissing(inner, keyWithin(key, name), notes);
      return [];
    }),
  );
}

function noteMissing(shape: TSchema, key: string, { faultAt, faults }: Notes): void {
  const name = key.replace(/^.*\./, '');
  // A key that is not known may be the reason why this one is missing.
  const isMistyped = faults.all.some(
    (fault) =>
      fault.problem === 'unknown key' &&
      nearestNames((fault.key ?? '').replace(/^.*\./, ''), [name]).length > 0,
  );
  const expected = 'x-expected' in shape ? `, ${String(shape['x-expected'])}` : '';
  if (isMistyped) faults.spoil(key);
  else faults.add(faultAt(key, 'is missing', traitsOf(shape).remedy ?? `add \`${name}:\`${expected}`));
}

import type { TSchema } from 'typebox';
import type { UsageError } from '../../base/exit.ts';
import { isJsonObject } from '../../base/json-text.ts';
import { keyWithin } from '../yaml/located.ts';
import { nearestNames } from '../yaml/nearest.ts';
import type { Loaded } from './kinds.ts';
import { isNamed, keysOf, shapeWithin, traitsOf } from './traits.ts';

type FaultAt = (key: string, problem: string, remedy: string) => UsageError;

/** Where what is wrong goes. */
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

/**
 * What is written as the harness uses it: with defaults in their places, texts read, durations in ms. `written` fits
 * the schema of the shape. What is wrong with a value is noted, and the value left out.
 */
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

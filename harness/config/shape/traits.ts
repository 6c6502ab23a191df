import type { TSchema } from 'typebox';
import type { UsageError } from '../../base/exit.ts';
import { isJsonObject } from '../../base/json-text.ts';

/** Makes the error for a value, at the place where it is written. */
export type Fault = (problem: string, remedy: string) => UsageError;

/** A mapping as it is written. */
export type Written = Readonly<Record<string, unknown>>;

/** What JSON Schema cannot say of a value. */
export interface Traits {
  /** Its name among the `$defs` of the schema, should it stand there more than once. */
  readonly def?: string;
  /** It must be there once the environment is laid over the file. */
  readonly needed?: true;
  /** Keys that the file must hold whatever its environment is. */
  readonly required?: readonly string[];
  /**
   * What becomes of `${env:NAME}` in it. `plain`: it is read, and what it stands for is kept out of all that is shown.
   * `open`: it is read, and may be shown. `secret`: it is read later. `raw`: it is no reference. `path`: it is read in a
   * path, and is none in what stands there in place of the path.
   */
  readonly texts?: 'plain' | 'open' | 'secret' | 'raw' | 'path';
  /** What is no reference in it, such as `${PORT}`. */
  readonly keeps?: string;
  /** What to do when it is missing; needed where that is more than to add it. */
  readonly remedy?: string;
  /** Makes the loaded value of the written one. */
  readonly read?: (written: never, fault: Fault) => unknown;
  /** Whether what an environment writes takes the place of what stands below it, in place of being added to that. */
  readonly replaces?: (below: Written, above: Written) => boolean;
  /** What the name of the loaded value ends in: `connect` is loaded as `connectMs`. */
  readonly unit?: 'Ms' | 'Bytes';
}

/** Where a shape keeps them. */
export const TRAITS = '~traits';

export function traitsOf(shape: TSchema): Traits {
  return TRAITS in shape ? (shape[TRAITS] as Traits) : {};
}

/** The names of a mapping's own keys; none where any name may stand. */
export function keysOf(shape: TSchema): readonly string[] {
  return 'properties' in shape && isJsonObject(shape.properties) ? Object.keys(shape.properties) : [];
}

/** The shape of what stands in another: below a key of it, or in a list. */
export function shapeWithin(shape: TSchema, name: string): TSchema {
  const { properties, additionalProperties, items } = shape as Readonly<Record<string, unknown>>;
  const own = isJsonObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
  const inner = own ?? additionalProperties ?? items;
  return isJsonObject(inner) ? inner : {};
}

/** Whether any name may stand in it, each with a value of the same kind. */
export function isNamed(shape: TSchema): boolean {
  return (
    'additionalProperties' in shape &&
    TRAITS in Object(shape.additionalProperties) &&
    keysOf(shape).length === 0
  );
}

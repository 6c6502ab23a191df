import type { TArray, TObject, TOptional, TSchema, TSchemaOptions, TUnsafe } from 'typebox';
import Type from '../../base/schema/type.ts';
import { type Fault, type Loaded, TRAITS, type Traits, traitsOf } from './loaded.ts';
import { parseDuration, parseMemory } from './text-forms.ts';

/** Kinds of values. Schema, type, default, bounds and reading of a key follow from its declaration. */

export type { BlockInput, Fault, Traits } from './loaded.ts';

export interface Options<W> {
  /** Completes "write …". */
  readonly expected?: string;
  readonly examples?: readonly unknown[];
  /** What holds where nothing is written. null: nothing does, and null may be written for that. */
  readonly default?: W | null;
  /** null may be written, and is as if the key were not there. */
  readonly nullable?: true;
  readonly def?: string;
  readonly references?: Traits['references'];
  readonly literal?: string;
  readonly read?: (written: W, fault: Fault) => unknown;
  readonly replaces?: Traits['replaces'];
}

/** A value that is written as `W` and loaded as `L`; `O` are the options it is declared with. */
export type Value<W, L, O = unknown> = TUnsafe<W> & { readonly '~loaded': L | NullOf<O> } & There<O>;
type NullOf<O> = O extends { readonly default: null } ? null : never;
type There<O> = O extends { readonly default: unknown } ? { readonly '~there': true } : unknown;
type ReadBy<O, W> = O extends { readonly read: (...from: never[]) => infer L } ? L : W;

/** A schema with its options and traits, of the type that its caller returns. */
function declared<S extends TSchema>(schema: TSchemaOptions, options: object, traits: Traits = {}): S {
  const { references, literal, read, replaces, def, expected, nullable, ...keywords }: Options<never> =
    options;
  const admitsNull = nullable === true || keywords.default === null;
  const whole: TSchema = {
    ...schema,
    ...(admitsNull && schema.type !== undefined ? { type: [schema.type, 'null'].flat() } : {}),
    ...(expected === undefined ? {} : { 'x-expected': expected }),
    ...keywords,
    [TRAITS]: {
      ...traits,
      ...(references && { references }),
      ...(literal && { literal }),
      ...(read && { read }),
      ...(replaces && { replaces }),
      ...(def && { def }),
    },
  };
  return whole as S;
}

type TextOptions = Options<string> & { readonly pattern?: string; readonly mayBeEmpty?: true };

export function text<const O extends TextOptions>(
  description: string,
  options?: O,
): Value<string, ReadBy<O, string>, O> {
  const { mayBeEmpty, ...rest }: TextOptions = options ?? {};
  const least = mayBeEmpty || rest.pattern !== undefined ? {} : { minLength: 1 };
  return declared({ description, type: 'string', ...least }, { expected: 'text', ...rest }, { def: 'text' });
}

/** As services, contracts, environments and companions are named. */
export const NAMES = {
  pattern: '^[a-z0-9][a-z0-9-]{0,62}$',
  expected: 'a name of lower-case letters, digits and hyphens',
} as const;

export function name(description: string): Value<string, string> {
  return text(description, { ...NAMES, def: 'name' });
}

export function flag<const O extends Options<boolean>>(
  description: string,
  options?: O,
): Value<boolean, boolean, O> {
  return declared(
    { description, type: 'boolean' },
    { expected: 'true or false', ...options },
    { def: 'flag' },
  );
}

type NumberOptions = Options<number> & { readonly minimum: number; readonly maximum: number };

const numeric =
  (type: 'integer' | 'number') =>
  <const O extends NumberOptions>(description: string, options: O): Value<number, number, O> =>
    declared({ description, type }, options);

export const whole = numeric('integer');
export const FINAL_STATUS = { minimum: 200, maximum: 599, expected: 'a final status code, 200 to 599' };
/** It may have a fraction. */
export const number = numeric('number');

export function choice<const C extends string, const O extends Options<C>>(
  description: string,
  values: readonly C[],
  options?: O,
): Value<C, C, O> {
  return declared({ description, enum: values }, { ...options });
}

/** The pattern of a text of this form, or of one with a reference in it, which is held to the form once it is read. */
export function orReference(form: string): string {
  return `^(${form}|.*\\$\\{.*)$`;
}

/** Loaded in ms, under its name with `Ms` behind it. */
export function duration<const O extends Options<string> & { readonly atMost: string }>(
  description: string,
  options: O,
): Value<string, number, O> & { readonly '~unit': 'Ms' } {
  const { atMost, ...rest } = options;
  const most = parseDuration(atMost) ?? Number.NaN;
  const read = (written: string, fault: Fault): number => {
    const ms = parseDuration(written);
    if (ms === null) throw fault('is not a duration', 'write a number and its unit: 60s, 5m or 250ms');
    if (ms < 1) throw fault('is zero', 'write a duration of at least 1ms');
    if (!(ms <= most)) throw fault('is too long', `write at most ${atMost}`);
    return ms;
  };
  return declared(
    {
      description: `${description} At most ${atMost}.`,
      type: 'string',
      pattern: orReference('[0-9]+(\\.[0-9]+)?(ms|s|m|h)'),
    },
    {
      expected: 'a duration with its unit, such as 60s, 5m or 250ms',
      examples: ['60s', '5m', '250ms'],
      ...rest,
      read,
    },
    { def: 'duration', unit: 'Ms' },
  );
}

/** Loaded in bytes, under its name with `Bytes` behind it. */
export function memory(
  description: string,
  { atLeast }: { readonly atLeast: string },
): Value<string, number> & { readonly '~unit': 'Bytes' } {
  const least = parseMemory(atLeast) ?? Number.NaN;
  const read = (written: string, fault: Fault): number => {
    const bytes = parseMemory(written);
    if (bytes === null) throw fault('is not a size', 'write a number and its unit: 512m or 2g');
    if (!(bytes >= least)) throw fault('is less than any container needs', `write at least ${atLeast}`);
    return bytes;
  };
  return declared(
    { description, type: 'string', pattern: orReference('[0-9]+(\\.[0-9]+)?[mMgG]') },
    { expected: 'a size such as 512m or 2g', read },
    { unit: 'Bytes' },
  );
}

export const SECRET = `Write where it comes from: \${env:NAME}, \${env:NAME:-default}, \${file:PATH} or \${exec:COMMAND}. It is read when a run starts, and never stored. A plain value is accepted only for a service on this machine.`;

const REFERENCE = {
  expected: `a reference such as \${env:NAME}, \${file:PATH} or \${exec:COMMAND}`,
  examples: [`\${env:SEARCH_API_KEY}`, `\${file:../keys/search.txt}`, `\${exec:pass show search}`],
};

/** Loaded as it is written; who builds the block reads it. */
export function secret(description: string = SECRET): Value<string, string> {
  return text(description, { ...REFERENCE, references: 'secret', def: 'secret' });
}

export function optionalSecret(): Value<string, string> {
  return text(`Like a secret; null, or an empty default as in \${env:NAME:-}, means that there is none.`, {
    expected: `a reference such as \${env:NAME:-}, or null`,
    examples: [`\${env:SEARCH_API_KEY_2:-}`],
    references: 'secret',
    nullable: true,
    def: 'optionalSecret',
  });
}

export function json<const O extends Options<unknown>>(
  description: string,
  options?: O,
): Value<unknown, ReadBy<O, unknown>, O> {
  return declared({ description }, { ...options });
}

/** A value that can have several forms, which its own JSON Schema describes. */
export function either<W>(description: string, options: Options<W>, schema: TSchemaOptions): Value<W, W> {
  return declared({ ...schema, description }, options);
}

/** A JSON Schema, or the path of a file that holds one. What looks like a reference in a schema is none. */
export function jsonSchema(description: string): Value<string | object, string | object> {
  return either<string | object>(
    `${description}: the schema itself, or the path of a JSON or YAML file, relative to this one. Its $schema names the draft; without it, 2020-12.`,
    { expected: 'the path of a JSON Schema file, or a JSON Schema', references: 'path', def: 'jsonSchema' },
    {
      type: ['string', 'object'],
      minLength: 1,
      additionalProperties: Type.Unknown({ [TRAITS]: { references: 'raw' } }),
    },
  );
}

/** A list, or a mapping of these keys. */
export function listOrMapping<
  S extends TSchema,
  P extends Keys,
  const O extends Options<unknown> & { readonly maxItems?: number },
>(
  description: string,
  options: O,
  items: S,
  keys: P,
): Value<unknown, readonly Loaded<S>[] | Loaded<Mapping<P>>, O> {
  const { properties, required } = mapping(description, {}, keys) as TObject;
  const forMappings = { properties, ...(required && { required }), additionalProperties: false };
  return declared({ description, type: ['array', 'object'], items, ...forMappings }, options);
}

/** `remedy`: what to do when it is missing, where there is more to say than to add it. */
export function needed<S extends TSchema>(shape: S, remedy?: string): S & { readonly '~needed': true } {
  const shaped: unknown = {
    ...shape,
    [TRAITS]: { ...traitsOf(shape), needed: true, ...(remedy && { remedy }) },
  };
  return shaped as S & { readonly '~needed': true };
}

export type Keys = Readonly<Record<string, TSchema>>;
export type Mapping<P extends Keys, O = unknown> = TObject<{
  [K in keyof P]: P[K] extends { readonly '~needed': true } ? P[K] : TOptional<P[K]>;
}> &
  There<O>;

/** The keys that are known here, each with its kind; no others. */
export function mapping<
  const O extends Options<object> & {
    readonly required?: readonly string[];
    readonly minProperties?: number;
  },
  P extends Keys,
>(description: string, options: O, keys: P): Mapping<P, O> {
  const { required = [], ...rest } = options;
  const properties = Object.entries(keys).map(
    ([key, shape]) => [key, traitsOf(shape).needed ? shape : Type.Optional(shape)] as const,
  );
  const shape = Type.Object(Object.fromEntries(properties), { description, additionalProperties: false });
  return declared({ ...shape, type: 'object' }, rest, { required });
}

/** A mapping in which any name may stand, each with a value of the same kind. */
export type NamedValues<S extends TSchema> = TUnsafe<Readonly<Record<string, unknown>>> & {
  readonly '~values': S;
};

export function named<S extends TSchema>(
  description: string,
  options: Options<object> & { readonly names?: { readonly pattern: string; readonly expected: string } },
  values: S,
): NamedValues<S> {
  const { names, ...rest } = options;
  const propertyNames = names && { propertyNames: { pattern: names.pattern, 'x-expected': names.expected } };
  return declared({ description, type: 'object', ...propertyNames, additionalProperties: values }, rest);
}

export function list<
  S extends TSchema,
  const O extends Options<readonly unknown[]> & {
    readonly minItems?: number;
    readonly maxItems?: number;
    readonly uniqueItems?: true;
  },
>(description: string, options: O, items: S): TArray<S> & There<O> {
  return declared({ description, type: 'array', items }, options);
}

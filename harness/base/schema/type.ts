import type { Type as TypeBox } from 'typebox';

/** What TypeBox marks a schema with, where nothing shows it. */
const OPTIONAL = '~optional';

interface Schema {
  readonly [keyword: string]: unknown;
}
type Properties = Readonly<Record<string, Schema>>;

const of = (type: string) => (options?: Schema) => ({ type, ...options });

function object(properties: Properties, options?: Schema): Schema {
  const required = Object.keys(properties).filter((key) => properties[key]?.[OPTIONAL] !== true);
  return { type: 'object', ...(required.length > 0 ? { required } : {}), properties, ...options };
}

function some(
  { properties }: { readonly properties: Properties },
  isMeant: (key: string) => boolean,
  options?: Schema,
): Schema {
  return object(Object.fromEntries(Object.entries(properties).filter(([key]) => isMeant(key))), options);
}

const BUILDERS = {
  String: of('string'),
  Number: of('number'),
  Integer: of('integer'),
  Boolean: of('boolean'),
  Null: of('null'),
  Unknown: (options?: Schema) => ({ ...options }),
  Unsafe: (schema: Schema) => ({ ...schema }),
  Literal: (value: unknown, options?: Schema) => ({ type: typeof value, const: value, ...options }),
  Enum: (values: readonly unknown[], options?: Schema) => ({ enum: values, ...options }),
  Array: (items: Schema, options?: Schema) => ({ type: 'array', items, ...options }),
  Union: (shapes: readonly Schema[], options?: Schema) => ({ anyOf: shapes, ...options }),
  Intersect: (shapes: readonly Schema[], options?: Schema) => ({ allOf: shapes, ...options }),
  Object: object,
  Pick: (shape: { properties: Properties }, keys: readonly string[], options?: Schema) =>
    some(shape, (key) => keys.includes(key), options),
  Omit: (shape: { properties: Properties }, keys: readonly string[], options?: Schema) =>
    some(shape, (key) => !keys.includes(key), options),
  Optional: (schema: Schema) => Object.defineProperty({ ...schema }, OPTIONAL, { value: true }),
};

/**
 * The builders of TypeBox that the house uses, with TypeBox's types and the same schemas: loading TypeBox itself, 370
 * modules, is a quarter of the time that a command takes to start.
 */
const Type = BUILDERS as unknown as Pick<typeof TypeBox, keyof typeof BUILDERS>;
export default Type;

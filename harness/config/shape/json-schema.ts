import type { TSchema } from 'typebox';
import { isJsonObject, type JsonObject } from '../../base/json-text.ts';
import { TRAITS, traitsOf } from './loaded.ts';

/** For editors. Environments complete mappings, so only those in lists must be complete. */
export function jsonSchemaOf(name: string, shape: TSchema): JsonObject {
  const whole = wholeSchemaOf(shape);
  const shared = sharedSchemas(whole);
  const defs = [...shared].map(([def, { schema }]) => [def, referring(schema, shared, true)] as const);
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: `urn:conform:${name.replaceAll(' ', '-')}`,
    title: `conform ${name}`,
    ...referring(whole, shared, true),
    $defs: Object.fromEntries(defs.toSorted(([a], [b]) => a.localeCompare(b))),
  };
}

/** Under it a schema says as what it may stand among the `$defs`. */
const DEF = 'x-def';

/** The same without `$defs`, for validation: everything in its place. */
export function wholeSchemaOf(shape: TSchema, inList = false): JsonObject {
  const { [TRAITS]: _, description, properties, required: __, items, ...keywords } = shape as JsonObject;
  const { def, required = [] } = traitsOf(shape);
  const keys = Object.entries(isJsonObject(properties) ? properties : {}).filter(hasSchema);
  const must = inList ? keys.filter(([, inner]) => traitsOf(inner).needed).map(([key]) => key) : required;
  const values = keywords.additionalProperties;
  return {
    ...describedBy(description, keywords.default),
    ...keywords,
    ...(must.length === 0 ? {} : { required: must }),
    ...(keys.length === 0
      ? {}
      : { properties: Object.fromEntries(keys.map(([key, inner]) => [key, wholeSchemaOf(inner, inList)])) }),
    ...(isJsonObject(values) ? { additionalProperties: wholeSchemaOf(values, inList) } : {}),
    ...(isJsonObject(items) ? { items: wholeSchemaOf(items, true) } : {}),
    ...(def === undefined ? {} : { [DEF]: def }),
  };
}

/** Editors show the description more readily than the default. */
function describedBy(description: unknown, fallback: unknown): JsonObject {
  if (typeof description !== 'string' || description === '') return {};
  const shown =
    ['string', 'number', 'boolean'].includes(typeof fallback) &&
    fallback !== '' &&
    !description.includes('Default: ');
  return { description: shown ? `${description} Default: ${String(fallback)}.` : description };
}

interface Definition {
  readonly schema: JsonObject;
  /** The schema as text, without what each place may say for itself. */
  readonly core: string;
}

/** Schemas used in several places, by name; with the description if that is the same too. */
function sharedSchemas(whole: JsonObject): ReadonlyMap<string, Definition> {
  const shared = new Map<string, Definition>();
  for (const [def, uses] of Map.groupBy(withDef(whole), ({ [DEF]: name }) => String(name))) {
    const [most = []] = [...Map.groupBy(uses, coreOf).values()].toSorted(byLength);
    const [first] = most;
    if (first === undefined || most.length < 2) continue;
    const { description: __, default: _, ...rest } = first;
    const [alike = []] = [...Map.groupBy(most, ({ description }) => description).values()].toSorted(byLength);
    const { description } = alike[0] ?? first;
    shared.set(def, { schema: alike.length < 2 ? rest : { description, ...rest }, core: coreOf(first) });
  }
  return shared;
}

function byLength(a: readonly unknown[], b: readonly unknown[]): number {
  return b.length - a.length;
}

function withDef(schema: unknown): readonly JsonObject[] {
  if (!isJsonObject(schema)) return [];
  return [...(DEF in schema ? [schema] : []), ...Object.values(schema).flatMap(withDef)];
}

function coreOf({ description: _, default: __, ...core }: JsonObject): string {
  return JSON.stringify(core);
}

/** The schema with references to the shared ones; `itself` if it is a shared one, or the whole. */
function referring(schema: JsonObject, shared: ReadonlyMap<string, Definition>, itself: boolean): JsonObject {
  const { [DEF]: def, ...plainly } = schema;
  const target = itself ? undefined : shared.get(String(def));
  if (target?.core === coreOf(schema)) {
    const { description, default: fallback } = schema;
    return {
      ...(description === undefined || description === target.schema.description ? {} : { description }),
      ...(fallback === undefined ? {} : { default: fallback }),
      $ref: `#/$defs/${def}`,
    };
  }
  const within = (value: unknown): unknown => (isJsonObject(value) ? referring(value, shared, false) : value);
  return Object.fromEntries(Object.entries(plainly).map(([key, value]) => [key, within(value)]));
}

function hasSchema(entry: [string, unknown]): entry is [string, TSchema] {
  return isJsonObject(entry[1]);
}

import { hasMembers, isJsonObject, type JsonObject } from '../../base/json-text.ts';
import type { Definitions } from '../../wire/json/schema.ts';
import type { MessageKind } from './documented-messages.ts';

/** Members by which JSON messages commonly say what they are, the most usual first. */
const USUAL = ['type', 'event', 'method', 'op', 'action', 'kind', 'cmd', 'command', 'messageType', '@type'];
const MAX_DEPTH = 12;

/** The member that tells values of a schema from those of others: one with a fixed text. */
export function kindOf(schema: unknown, definitions: Definitions): MessageKind | null {
  const fixed = fixedIn(schema, definitions, 0);
  const names = [...fixed.keys()];
  const member = USUAL.find((name) => fixed.has(name)) ?? names[0];
  return member === undefined ? null : { member, values: [...(fixed.get(member) ?? [])] };
}

type Fixed = ReadonlyMap<string, ReadonlySet<string>>;

function fixedIn(given: unknown, definitions: Definitions, depth: number): Fixed {
  const schema = meant(given, definitions);
  if (!isJsonObject(schema) || depth > MAX_DEPTH) return new Map();
  const own = isJsonObject(schema.properties) ? Object.entries(schema.properties) : [];
  const inner = (each: unknown) => fixedIn(each, definitions, depth + 1);
  return new Map([
    ...[schema.oneOf, schema.anyOf].flatMap((each) =>
      Array.isArray(each) ? [...common(each.map(inner))] : [],
    ),
    ...(Array.isArray(schema.allOf) ? schema.allOf.flatMap((each) => [...inner(each)]) : []),
    ...own.flatMap(([name, property]): [string, ReadonlySet<string>][] => {
      const value = fixedValue(meant(property, definitions));
      return value === null ? [] : [[name, new Set([value])]];
    }),
  ]);
}

/** Members that all alternatives fix, with all of their values. */
function common(alternatives: readonly Fixed[]): Fixed {
  const [first, ...others] = alternatives;
  const names = [...(first?.keys() ?? [])].filter((name) => others.every((each) => each.has(name)));
  return new Map(
    names.map((name) => [name, new Set(alternatives.flatMap((each) => [...(each.get(name) ?? [])]))]),
  );
}

function fixedValue(property: unknown): string | null {
  if (!isJsonObject(property)) return null;
  const { const: only, enum: listed } = property;
  const value = only ?? (Array.isArray(listed) && listed.length === 1 ? listed[0] : undefined);
  return typeof value === 'string' ? value : null;
}

function meant(schema: unknown, definitions: Definitions): unknown {
  let here = schema;
  for (let step = 0; step < MAX_DEPTH && isJsonObject(here) && typeof here.$ref === 'string'; step += 1)
    here = Object.hasOwn(definitions, here.$ref) ? definitions[here.$ref] : undefined;
  return here;
}

/** The value at the place of a correlation id; undefined for none. */
export function idIn(value: unknown, members: readonly string[]): unknown {
  return members.reduce<unknown>(
    (here, name) => (hasMembers(here) && Object.hasOwn(here, name) ? here[name] : undefined),
    value,
  );
}

/** A value with another one at a place in its objects; null if there is no such place. */
export function withIdIn(value: unknown, members: readonly string[], id: unknown): JsonObject | null {
  const [name, ...inner] = members;
  if (name === undefined || !isJsonObject(value)) return null;
  if (inner.length === 0) return { ...value, [name]: id };
  const within = withIdIn(value[name] ?? {}, inner, id);
  return within && { ...value, [name]: within };
}

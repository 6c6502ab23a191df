import { isJsonObject, type JsonObject } from '../../base/json-text.ts';
import type { Definitions } from '../../wire/json/schema.ts';

/** A schema with its references, its `allOf` and one of its alternatives in one. */
export interface FlatSchema {
  /** Keywords other than those below. */
  readonly keywords: JsonObject;
  readonly properties: Readonly<Record<string, unknown>>;
  readonly required: ReadonlySet<string>;
}

const MAX_STEPS = 60;

/** `choice`: which of the alternatives that are not null, the first unless given. */
export function flatSchema(schema: unknown, definitions: Definitions, choice = 0): FlatSchema {
  const keywords: Record<string, unknown> = {};
  const properties: Record<string, unknown> = {};
  const required = new Set<string>();
  const rest: unknown[] = [schema];
  for (let step = 0; step < MAX_STEPS && rest.length > 0; step += 1) {
    const next = rest.shift();
    if (!isJsonObject(next)) continue;
    const { $ref, allOf, anyOf, oneOf, properties: own, required: names, ...plain } = next;
    for (const [name, value] of Object.entries(plain)) keywords[name] ??= value;
    if (isJsonObject(own)) for (const [name, value] of Object.entries(own)) properties[name] ??= value;
    for (const name of [names].flat()) if (typeof name === 'string') required.add(name);
    if (typeof $ref === 'string' && Object.hasOwn(definitions, $ref)) rest.push(definitions[$ref]);
    if (Array.isArray(allOf)) rest.push(...allOf);
    for (const union of [anyOf, oneOf]) {
      const branches = Array.isArray(union) ? union.filter(isNotNull) : [];
      if (branches.length > 0) rest.push(branches[choice % branches.length]);
    }
  }
  return { keywords, properties, required };
}

function isNotNull(branch: unknown): boolean {
  return !isJsonObject(branch) || branch.type !== 'null';
}

/** The first type that is not null; by the keywords if none is named, null if nothing tells. */
export function typeOf({ keywords, properties }: FlatSchema): string | null {
  const named = [keywords.type].flat().filter((type) => typeof type === 'string');
  const type = named.find((each) => each !== 'null') ?? named[0];
  if (type !== undefined) return type;
  if (Object.keys(properties).length > 0 || 'additionalProperties' in keywords) return 'object';
  return 'items' in keywords ? 'array' : null;
}

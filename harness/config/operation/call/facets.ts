import { isJsonObject } from '../../../base/json-text.ts';
import type { Definitions } from '../../../wire/json/schema.ts';

// Apart from the examples: the reference providers need no generator of them.
/** Constraints that a schema states directly, as far as one look shows. */
export interface Facets {
  /** The one type besides null; null when there are several or none. */
  readonly type: string | null;
  readonly keywords: Readonly<Record<string, unknown>>;
  readonly required: readonly string[];
  readonly properties: Readonly<Record<string, unknown>>;
}

const MAX_STEPS = 50;

/** Follows references and what must hold beside each other; alternatives are followed only past null. */
export function facetsOf(schema: unknown, definitions: Definitions): Facets {
  const keywords: Record<string, unknown> = {};
  const properties: Record<string, unknown> = {};
  const required = new Set<string>();
  const rest: unknown[] = [schema];
  for (let step = 0; step < MAX_STEPS; step += 1) {
    const next = rest.shift();
    if (!isJsonObject(next)) {
      if (rest.length === 0) break;
      continue;
    }
    const { $ref, allOf, anyOf, oneOf, properties: own, required: names, ...plain } = next;
    Object.assign(keywords, plain);
    if (isJsonObject(own)) Object.assign(properties, own);
    if (Array.isArray(names)) for (const name of names) if (typeof name === 'string') required.add(name);
    if (typeof $ref === 'string' && Object.hasOwn(definitions, $ref)) rest.push(definitions[$ref]);
    if (Array.isArray(allOf)) rest.push(...allOf);
    for (const union of [anyOf, oneOf]) {
      const meant = Array.isArray(union)
        ? union.filter((branch) => !isJsonObject(branch) || branch.type !== 'null')
        : [];
      if (meant.length === 1) rest.push(meant[0]);
    }
  }
  return { type: oneType(keywords.type), keywords, properties, required: [...required] };
}

function oneType(type: unknown): string | null {
  const types = [type].flat().filter((name) => name !== 'null');
  return types.length === 1 && typeof types[0] === 'string' ? types[0] : null;
}

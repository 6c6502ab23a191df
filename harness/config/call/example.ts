import { generateSync, type JsonSchema } from 'json-schema-faker';
import { hasMembers, isJsonObject } from '../../base/json-text.ts';
import { reasonOf } from '../../base/thrown.ts';
import { type Definitions, EndlessSchema, type SchemaBook } from '../../evidence/json/schema.ts';

export type Example = { readonly value: unknown } | { readonly reason: string };

/** Larger demands are not met by made-up values: they would take long to make and longer to send. */
const MAX_LENGTH = 10_000;
const MAX_COUNT = 100;
const MAX_REPEAT = 1_000;
/** References followed for one value: alternatives of alternatives may multiply without end. */
const MAX_FOLLOWED = 5_000;
/** Schemas looked through for such demands. */
const MAX_SCHEMAS = 2_000;

/**
 * A value that a schema admits: its example or default where it has one, else made up, the same in every run.
 * Only what is required is made up.
 */
export function exampleOf(schema: unknown, definitions: Definitions, book: SchemaBook): Example {
  const excess = excessiveDemand(schema, definitions);
  if (excess !== null) return { reason: `its schema demands ${excess}` };
  if (!isJsonSchema(schema)) return { reason: 'it has no schema' };
  let value: unknown;
  let followed = 0;
  try {
    value = generateSync(schema, {
      seed: 1,
      optionalsProbability: 0,
      useDefaultValue: true,
      useExamplesValue: true,
      refResolver: (ref) => {
        followed += 1;
        if (followed > MAX_FOLLOWED) throw new Error(`more than ${MAX_FOLLOWED} references in it`);
        const definition = definitions[ref];
        return isJsonSchema(definition) ? definition : true;
      },
    });
  } catch (error) {
    return {
      reason: `no value can be made up for its schema (${reasonOf(error)})`,
    };
  }
  const why = whyUnfit(value, schema, book);
  return why === null ? { value } : { reason: `no value can be made up for its schema (${why})` };
}

function whyUnfit(value: unknown, schema: JsonSchema, book: SchemaBook): string | null {
  try {
    return book.compile(schema)(value)?.message ?? null;
  } catch (error) {
    if (error instanceof EndlessSchema) return error.message;
    throw error;
  }
}

function isJsonSchema(value: unknown): value is JsonSchema {
  return typeof value === 'boolean' || isJsonObject(value);
}

const LIMITS: Readonly<Record<string, number>> = {
  minLength: MAX_LENGTH,
  minItems: MAX_COUNT,
  minContains: MAX_COUNT,
  minProperties: MAX_COUNT,
};

function excessiveDemand(schema: unknown, definitions: Definitions): string | null {
  const seen = new Set<string>();
  const rest: unknown[] = [schema];
  for (let node = rest.pop(); node !== undefined; node = rest.pop()) {
    if (Array.isArray(node)) rest.push(...node.filter((item) => item !== undefined));
    if (!isJsonObject(node)) continue;
    for (const [name, value] of Object.entries(node)) {
      const limit = LIMITS[name];
      if (limit !== undefined && typeof value === 'number' && value > limit) return `${name} ${value}`;
      if (name === 'pattern' && typeof value === 'string' && repeatsTooOften(value))
        return 'a very long text';
      if (name === '$ref' && typeof value === 'string' && !seen.has(value)) {
        seen.add(value);
        if (seen.size > MAX_SCHEMAS) return 'too many other schemas';
        if (Object.hasOwn(definitions, value)) rest.push(definitions[value]);
      } else if (hasMembers(value)) {
        rest.push(value);
      }
    }
  }
  return null;
}

function repeatsTooOften(pattern: string): boolean {
  return [...pattern.matchAll(/\{(\d+)/g)].some(([, count]) => Number(count) > MAX_REPEAT);
}

import { generateSync, type JsonSchema } from 'json-schema-faker';
import { hasMembers, isJsonObject } from '../../../base/json-text.ts';
import { reasonOf } from '../../../base/thrown.ts';
import { withinTimeLimit } from '../../../base/time-limit.ts';
import type { Definitions, SchemaBook } from '../../../wire/json/schema.ts';

/** `isMade`: some of it stands nowhere in the document. */
export type Example = { readonly value: unknown; readonly isMade?: true } | { readonly reason: string };

/** Larger demands are not met by made-up values: they would take long to make and longer to send. */
const MAX_LENGTH = 10_000;
const MAX_COUNT = 100;
const MAX_REPEAT = 1_000;
/** Characters of a made-up value, written as JSON. */
const MAX_TEXT = 100_000;
/** References followed for one value: alternatives of alternatives may multiply without end. */
const MAX_FOLLOWED = 5_000;
const MAX_SCHEMAS = 2_000;
/** Characters of a made-up text, unless its schema demands more. */
const LONGEST_TEXT = 1_000;

/** In ms: for one value that has a pattern in it, and for all values of a document that could not be made up. */
const MAKING_MS = 1_000;
const PATIENCE_MS = 10_000;

/** Values that schemas admit: the example or default where there is one, else made up, the same in every run. */
export class Examples {
  readonly #definitions: Definitions;
  readonly #book: SchemaBook;
  /** By the definition: several operations may need the same. */
  readonly #made = new Map<unknown, Example>();
  readonly #shortened = new Map<JsonSchema, JsonSchema>();
  #patienceMs = PATIENCE_MS;

  /** @param definitions may still grow. */
  constructor(definitions: Definitions, book: SchemaBook) {
    this.#definitions = definitions;
    this.#book = book;
  }

  /** Makes up required values only. */
  of(schema: unknown): Example {
    const known = this.#made.get(this.#meant(schema));
    if (known !== undefined) return known;
    const startedMs = performance.now();
    const example = this.#patienceMs > 0 ? this.#make(schema) : { reason: TOO_LONG };
    if ('reason' in example) this.#patienceMs -= performance.now() - startedMs;
    this.#made.set(this.#meant(schema), example);
    return example;
  }

  #meant(schema: unknown): unknown {
    const ref = isJsonObject(schema) && Object.keys(schema).length === 1 ? schema.$ref : undefined;
    return typeof ref === 'string' && Object.hasOwn(this.#definitions, ref) ? this.#definitions[ref] : schema;
  }

  #make(schema: unknown): Example {
    const demand = demandOf(schema, this.#definitions);
    if (demand.excess !== null) return { reason: `its schema demands ${demand.excess}` };
    if (!isJsonSchema(schema)) return { reason: 'it has no schema' };
    try {
      const judge = this.#book.compile(schema);
      // What the document shows in a schema may break it; then all is made up.
      let why = '';
      for (const shown of [true, false]) {
        const generate = () => this.#generated(schema, shown);
        const { value, isMade } = demand.hasPattern ? withinTimeLimit(MAKING_MS, generate) : generate();
        if (JSON.stringify(value).length > MAX_TEXT) return { reason: 'its schema demands a very long text' };
        const fault = judge(value);
        if (fault === null) return { value, ...(isMade && { isMade }) };
        why ||= fault.message;
      }
      return { reason: `no value can be made up for its schema (${why})` };
    } catch (error) {
      return { reason: `no value can be made up for its schema (${reasonOf(error)})` };
    }
  }

  /** `shown`: from the examples and defaults of the document, where it has any. */
  #generated(schema: JsonSchema, shown: boolean): { readonly value: unknown; readonly isMade: boolean } {
    let followed = 0;
    let isMade = false;
    const value = generateSync(this.#withShortTexts(schema), {
      seed: 1,
      optionalsProbability: 0,
      maxDepth: 20,
      useDefaultValue: shown,
      useExamplesValue: shown,
      formats: { url: () => 'https://example.com/' },
      outputTransform: (part, of) => {
        const isLeaf = !hasMembers(part) || Object.keys(part).length === 0;
        isMade ||= isLeaf && !isShown(of, shown);
        return typeof part === 'number' ? unsurprising(part, of) : part;
      },
      refResolver: (ref) => {
        followed += 1;
        if (followed > MAX_FOLLOWED) throw new Error(`more than ${MAX_FOLLOWED} references in it`);
        const definition = Object.hasOwn(this.#definitions, ref) ? this.#definitions[ref] : undefined;
        return isJsonSchema(definition) ? this.#withShortTexts(definition) : true;
      },
    });
    return { value, isMade };
  }

  /** Making a text of any admitted length takes seconds where 150,000 characters are admitted. */
  #withShortTexts(schema: JsonSchema): JsonSchema {
    const known = this.#shortened.get(schema);
    if (known !== undefined) return known;
    const short = shortened(schema) as JsonSchema;
    this.#shortened.set(schema, short);
    return short;
  }
}

/** The schema with texts of at most LONGEST_TEXT characters where it does not demand longer ones. */
function shortened(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(shortened);
  if (!isJsonObject(node)) return node;
  return Object.fromEntries(
    Object.entries(node).map(([name, value]) => {
      if (LISTING.includes(name) || SHOWING.includes(name)) return [name, value];
      const isLong = name === 'maxLength' && typeof value === 'number' && value > LONGEST_TEXT;
      return [name, isLong ? Math.max(LONGEST_TEXT, Number(node.minLength ?? 0)) : shortened(value)];
    }),
  );
}

/** Whether a schema has the values that it admits. `shown`: examples and defaults count. */
function isShown(schema: JsonSchema, shown: boolean): boolean {
  const keywords = shown ? [...LISTING, ...SHOWING] : LISTING;
  return isJsonObject(schema) && keywords.some((keyword) => keyword in schema);
}

const LISTING = ['enum', 'const'];
const SHOWING = ['default', 'example', 'examples'];

/** Services have limits that they do not document: 1 rather than -637 where a schema has no lower bound. */
function unsurprising(value: number, schema: JsonSchema): number {
  if (!isJsonObject(schema) || BOUND.some((keyword) => keyword in schema)) return value;
  const small = Number(schema.multipleOf ?? 1);
  return small <= Number(schema.maximum ?? schema.exclusiveMaximum ?? small) ? small : value;
}

const BOUND = ['minimum', 'exclusiveMinimum', ...LISTING, ...SHOWING];

const TOO_LONG = `making up values for others took more than ${PATIENCE_MS / 1000} s`;

function isJsonSchema(value: unknown): value is JsonSchema {
  return typeof value === 'boolean' || isJsonObject(value);
}

const LIMITS: Readonly<Record<string, number>> = {
  minLength: MAX_LENGTH,
  minItems: MAX_COUNT,
  minContains: MAX_COUNT,
  minProperties: MAX_COUNT,
};

interface ExampleDemand {
  /** More than is made up; null where it is not. */
  readonly excess: string | null;
  readonly hasPattern: boolean;
}

function demandOf(schema: unknown, definitions: Definitions): ExampleDemand {
  let hasPattern = false;
  const tooMuch = (excess: string): ExampleDemand => ({ excess, hasPattern });
  const seen = new Set<string>();
  const rest: unknown[] = [schema];
  for (let node = rest.pop(); node !== undefined; node = rest.pop()) {
    if (Array.isArray(node)) rest.push(...node.filter((item) => item !== undefined));
    if (!isJsonObject(node)) continue;
    for (const [name, value] of Object.entries(node)) {
      const limit = Object.hasOwn(LIMITS, name) ? LIMITS[name] : undefined;
      if (limit !== undefined && typeof value === 'number' && value > limit)
        return tooMuch(`${name} ${value}`);
      if (name === 'pattern' && typeof value === 'string') {
        hasPattern = true;
        if (repeatsTooOften(value)) return tooMuch('a very long text');
      }
      if (name === '$ref' && typeof value === 'string' && !seen.has(value)) {
        seen.add(value);
        if (seen.size > MAX_SCHEMAS) return tooMuch('too many other schemas');
        if (Object.hasOwn(definitions, value)) rest.push(definitions[value]);
      } else if (hasMembers(value)) {
        rest.push(value);
      }
    }
  }
  return { excess: null, hasPattern };
}

function repeatsTooOften(pattern: string): boolean {
  return [...pattern.matchAll(/\{(\d+)/g)].some(([, count]) => Number(count) > MAX_REPEAT);
}

import { isDeepStrictEqual } from 'node:util';
import { isJsonObject } from '../json-text.ts';
import type { JsonSchema } from '../vocabulary.ts';

/** Something in a value that a shape refuses. */
export interface ShapeFault {
  /** Members and items that lead to the refused value. */
  readonly path: readonly string[];
  /** The keyword of JSON Schema that refuses it. */
  readonly keyword: string;
  /** Completes "the value …", in the words of ajv. */
  readonly message: string;
  /** The schema that has the keyword. */
  readonly schema: JsonSchema;
  /** The member that is missing, unknown or misnamed; absent for other keywords. */
  readonly name?: string;
}

interface Visit {
  readonly path: (string | number)[];
  readonly faults: ShapeFault[];
}

type Check = (value: unknown, visit: Visit) => void;
type Compile = (schema: unknown) => Check;

/**
 * Finds everything that a schema of ours refuses in a value: JSON Schema 2020-12 with the keywords below and references
 * to `#/$defs/NAME`. Not by a library, for the time of a start: to load ajv and to compile with it takes longer than a run
 * of one check, and TypeBox's own `Errors` makes `conform list` a third slower (and names neither the schema of a fault
 * nor all of ajv's words). Schemas of others are held by ajv (`SchemaBook`).
 */
export function shapeFaults(
  shape: object,
  definitions: Readonly<Record<string, object>> = {},
): (value: unknown) => readonly ShapeFault[] {
  const compiled = new Map<unknown, Check>();
  const compile: Compile = (schema) => {
    const known = compiled.get(schema);
    if (known) return known;
    const check = compiledCheck(schema as JsonSchema, compile, definitions);
    compiled.set(schema, check);
    return check;
  };
  return (value) => {
    const visit: Visit = { path: [], faults: [] };
    compile(shape)(value, visit);
    return visit.faults;
  };
}

/** Keywords that are read before all others. */
const OWN_PLACE: ReadonlySet<string> = new Set(['type', '$ref']);

/** Keywords that refuse nothing. */
const ANNOTATIONS: ReadonlySet<string> = new Set([
  ...['$schema', '$id', '$defs', 'title', 'description', 'default', 'examples'],
  // What would be right, in words; the name among the `$defs`; what JSON Schema cannot say.
  ...['x-expected', 'x-def', '~traits'],
]);

function compiledCheck(
  schema: JsonSchema,
  compile: Compile,
  definitions: Readonly<Record<string, object>>,
): Check {
  const { type, $ref } = schema;
  const unknown = Object.keys(schema).find(
    (keyword) => !(Object.hasOwn(KEYWORDS, keyword) || OWN_PLACE.has(keyword) || ANNOTATIONS.has(keyword)),
  );
  if (unknown !== undefined) throw new Error(`a shape has the keyword ${unknown}, which is not checked`);
  const checks = Object.entries(KEYWORDS).flatMap(([keyword, check]) =>
    Object.hasOwn(schema, keyword) ? check(schema, compile) : [],
  );
  if (typeof $ref === 'string') {
    const target = definitions[$ref.slice('#/$defs/'.length)];
    if (target === undefined) throw new Error(`there is no shape ${$ref}`);
    checks.push((value, visit) => compile(target)(value, visit));
  }
  if (type === undefined) return every(checks);
  const types = [type].flat().map(String);
  const [one, ...others] = types.flatMap((each) => IS_OF_TYPE[each] ?? []);
  const rest = every(checks);
  return (value, visit) => {
    // Other keywords of a value of another type are consequences.
    if (one?.(value) || others.some((is) => is(value))) rest(value, visit);
    else note(visit, schema, 'type', `must be ${types.join(',')}`);
  };
}

function every(checks: readonly Check[]): Check {
  const [only, ...others] = checks;
  if (only && others.length === 0) return only;
  return (value, visit) => {
    for (const check of checks) check(value, visit);
  };
}

function note(
  { path, faults }: Visit,
  schema: JsonSchema,
  keyword: string,
  message: string,
  ...[name]: readonly string[]
): void {
  faults.push({ path: path.map(String), keyword, message, schema, ...(name !== undefined && { name }) });
}

const IS_OF_TYPE: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  number: Number.isFinite,
  integer: Number.isInteger,
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
  array: Array.isArray,
  object: isJsonObject,
};

/** A keyword that looks at values of one type, and asks for something of them; `#` in the message is its value. */
function rule<Value, Limit>(
  keyword: string,
  is: (value: unknown) => value is Value,
  message: string,
  fits: (value: Value, limit: Limit) => boolean,
): Readonly<Record<string, (schema: JsonSchema) => Check>> {
  return {
    [keyword]: (schema) => (value, visit) => {
      const limit = schema[keyword] as Limit;
      if (is(value) && !fits(value, limit)) note(visit, schema, keyword, message.replace('#', `${limit}`));
    },
  };
}

const isText = (value: unknown): value is string => typeof value === 'string';
const isNumber = (value: unknown): value is number => typeof value === 'number';
const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);
const isAny = (value: unknown): value is unknown => value !== undefined;
const lengthOf = (text: string): number => [...text].length;
const sizeOf = (value: object) => Object.values(value).filter((member) => member !== undefined).length;

/** In the order in which ajv tells what it finds. */
const KEYWORDS: Readonly<Record<string, (schema: JsonSchema, compile: Compile) => Check>> = {
  ...rule('minimum', isNumber, 'must be >= #', (value, n: number) => value >= n),
  ...rule('maximum', isNumber, 'must be <= #', (value, n: number) => value <= n),
  ...rule(
    'minLength',
    isText,
    'must NOT have fewer than # characters',
    (text, n: number) => lengthOf(text) >= n,
  ),
  ...rule(
    'maxLength',
    isText,
    'must NOT have more than # characters',
    (text, n: number) => lengthOf(text) <= n,
  ),
  pattern(schema) {
    const pattern = new RegExp(String(schema.pattern), 'u');
    return (value, visit) => {
      if (isText(value) && !pattern.test(value)) {
        note(visit, schema, 'pattern', `must match pattern "${String(schema.pattern)}"`);
      }
    };
  },
  ...rule('const', isAny, 'must be equal to constant', isDeepStrictEqual),
  ...rule('enum', isAny, 'must be equal to one of the allowed values', (value, all: unknown[]) =>
    all.includes(value),
  ),
  anyOf(schema, compile) {
    const branches = (schema.anyOf as readonly unknown[]).map(compile);
    return (value, visit) => {
      const before = visit.faults.length;
      for (const branch of branches) {
        const { length } = visit.faults;
        branch(value, visit);
        if (visit.faults.length > length) continue;
        visit.faults.length = before;
        return;
      }
      note(visit, schema, 'anyOf', 'must match a schema in anyOf');
    };
  },
  allOf: (schema, compile) => every((schema.allOf as readonly unknown[]).map(compile)),
  ...rule('minItems', isList, 'must NOT have fewer than # items', (list, n: number) => list.length >= n),
  ...rule('maxItems', isList, 'must NOT have more than # items', (list, n: number) => list.length <= n),
  uniqueItems: (schema) => (value, visit) => {
    if (!Array.isArray(value)) return;
    const earlier = value.findLastIndex((item, at) => copyAfter(value, item, at) !== -1);
    if (earlier === -1) return;
    const items = `items ## ${copyAfter(value, value[earlier], earlier)} and ${earlier}`;
    note(visit, schema, 'uniqueItems', `must NOT have duplicate items (${items} are identical)`);
  },
  items(schema, compile) {
    const item = compile(schema.items);
    return (value, visit) => {
      if (!Array.isArray(value)) return;
      for (const [index, each] of value.entries()) {
        visit.path.push(index);
        item(each, visit);
        visit.path.pop();
      }
    };
  },
  ...rule(
    'minProperties',
    isJsonObject,
    'must NOT have fewer than # properties',
    (value, n: number) => sizeOf(value) >= n,
  ),
  required: (schema) => (value, visit) => {
    if (!isJsonObject(value)) return;
    for (const name of schema.required as readonly string[]) {
      if (Object.hasOwn(value, name) && value[name] !== undefined) continue;
      note(visit, schema, 'required', `must have required property '${name}'`, name);
    }
  },
  propertyNames(schema, compile) {
    const named = compile(schema.propertyNames);
    return (value, visit) => {
      if (!isJsonObject(value)) return;
      for (const name of Object.keys(value)) {
        const inner: Visit = { path: [], faults: [] };
        named(name, inner);
        if (inner.faults.length > 0)
          note(visit, schema, 'propertyNames', 'property name must be valid', name);
      }
    };
  },
  additionalProperties(schema, compile) {
    const { additionalProperties, properties = {} } = schema;
    if (additionalProperties === true) return () => undefined;
    const other = additionalProperties === false ? null : compile(additionalProperties);
    return (value, visit) => {
      if (!isJsonObject(value)) return;
      for (const [name, member] of Object.entries(value)) {
        if (Object.hasOwn(properties as object, name)) continue;
        if (other) within(other, name, member, visit);
        else note(visit, schema, 'additionalProperties', 'must NOT have additional properties', name);
      }
    };
  },
  properties(schema, compile) {
    const members = Object.entries(schema.properties as object);
    return (value, visit) => {
      if (!isJsonObject(value)) return;
      for (const [name, inner] of members) {
        const member = Object.hasOwn(value, name) ? value[name] : undefined;
        // A value has few of the members that it may have.
        if (member !== undefined) within(compile(inner), name, member, visit);
      }
    };
  },
};

/** Where an item stands once more further on; -1 for nowhere. */
function copyAfter(items: readonly unknown[], item: unknown, at: number): number {
  return items.findIndex((other, index) => index > at && isDeepStrictEqual(other, item));
}

function within(check: Check, name: string, member: unknown, visit: Visit): void {
  visit.path.push(name);
  check(member, visit);
  visit.path.pop();
}

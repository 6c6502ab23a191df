import { generateSync } from 'json-schema-faker';
import { hasMembers, isJsonObject } from '../../base/json-text.ts';
import { withinTimeLimit } from '../../base/time-limit.ts';
import { Examples } from '../../config/operation/call/example.ts';
import { isOfFormat } from '../../config/operation/call/refusal.ts';
import { type Definitions, EndlessSchema, type SchemaBook } from '../../wire/json/schema.ts';
import { pointerMembers } from '../../wire/json/shape.ts';
import { flatSchema, typeOf } from './flat-schema.ts';

/** Optional members are made to this depth, and within this number of values. */
const OPTIONAL_DEPTH = 4;
const MAX_DEPTH = 12;
const MAX_VALUES = 600;
/** Members that are left out, one after the other, until a value fits. */
const MAX_REPAIRS = 40;
const PATTERN_MS = 200;

const ATTEMPTS = [
  [OPTIONAL_DEPTH, 0],
  [1, 0],
  [OPTIONAL_DEPTH, 1],
  [1, 1],
  [0, 0],
  [0, 1],
  [0, 2],
] as const;

interface Making {
  /** Two values with different serials have different identifiers. */
  readonly serial: number;
  readonly optionalDepth: number;
  /** Which alternative is made. */
  readonly choice: number;
  left: number;
}

/** Values for the schemas of responses: the same for the same serial, with optional members as far as they fit. */
export class ValueMaker {
  readonly #definitions: Definitions;
  readonly #book: SchemaBook;
  readonly #examples: Examples;

  constructor(definitions: Definitions, book: SchemaBook) {
    this.#definitions = definitions;
    this.#book = book;
    this.#examples = new Examples(definitions, book);
  }

  /** A value that fits the schema, else one of its members: the schemas of some documents admit nothing. */
  of(schema: unknown, serial: number): unknown {
    if (schema === null || schema === undefined) return null;
    for (const [optionalDepth, choice] of ATTEMPTS) {
      const made = this.#make(schema, '', 0, { serial, optionalDepth, choice, left: MAX_VALUES });
      const repaired = this.#repaired(made, schema);
      if (this.faultOf(repaired, schema) === null) return repaired;
    }
    const example = this.#examples.of(schema);
    if ('value' in example) return example.value;
    return this.#make(schema, '', 0, { serial, optionalDepth: 1, choice: 0, left: MAX_VALUES });
  }

  /** The value with the members of another one, as far as the schema admits them. */
  overlaid(value: unknown, over: unknown, schema: unknown): unknown {
    if (!isJsonObject(value) || !isJsonObject(over)) return value;
    const { properties } = flatSchema(schema, this.#definitions);
    const isSent = (name: string) => {
      const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
      return property !== undefined && !(isJsonObject(property) && property.writeOnly === true);
    };
    const isKnown = ([name]: [string, unknown]) => name in value || isSent(name);
    let members = Object.entries(over).filter(isKnown);
    for (;;) {
      const merged = { ...value, ...Object.fromEntries(members) };
      const fault = this.faultOf(merged, schema);
      if (fault === null || members.length === 0) return fault === null ? merged : value;
      const [at] = pointerMembers(fault.path);
      const kept = members.filter(([name]) => name !== at);
      members = kept.length < members.length ? kept : members.slice(1);
    }
  }

  /** Why the schema refuses a value; null if it does not. Formats count. */
  faultOf(value: unknown, schema: unknown): ReturnType<ReturnType<SchemaBook['compile']>> {
    if (schema === null) return null;
    try {
      return this.#book.compile(schema)(value);
    } catch (error) {
      if (error instanceof EndlessSchema) return null;
      throw error;
    }
  }

  /** Whether a text has the format of a schema, if that is one of identifiers. */
  isOfFormat(text: string, schema: unknown): boolean {
    return isOfFormat(text, flatSchema(schema, this.#definitions), this.#book);
  }

  /** Without optional members that do not fit. */
  #repaired(value: unknown, schema: unknown): unknown {
    for (let repair = 0; repair < MAX_REPAIRS; repair += 1) {
      const fault = this.faultOf(value, schema);
      if (fault === null) return value;
      const tokens = [...pointerMembers(fault.path)];
      const last = tokens.pop();
      const parent = tokens.reduce<unknown>(
        (node, token) => (hasMembers(node) ? node[token] : undefined),
        value,
      );
      if (last === undefined || !isJsonObject(parent)) return value;
      delete (parent as Record<string, unknown>)[last];
    }
    return value;
  }

  #make(schema: unknown, name: string, depth: number, making: Making): unknown {
    making.left -= 1;
    const flat = flatSchema(schema, this.#definitions, making.choice);
    const { keywords } = flat;
    const listed = Array.isArray(keywords.enum) ? keywords.enum : null;
    // One of several alternatives, of which the list admits some.
    if ('const' in keywords && listed?.includes(keywords.const) !== false) return keywords.const;
    if (listed !== null) return listed.find((each) => each !== null) ?? null;
    switch (typeOf(flat)) {
      case 'object':
        return this.#object(flat, depth, making);
      case 'array':
        return this.#array(keywords, name, depth, making);
      case 'integer':
      case 'number':
        return numberOf(keywords, name, making.serial);
      case 'boolean':
        return true;
      case 'null':
        return null;
      case 'string':
        return textOf(keywords, name, making.serial);
      default:
        return name === '' ? {} : textOf(keywords, name, making.serial);
    }
  }

  #object(
    { keywords, properties, required }: ReturnType<typeof flatSchema>,
    depth: number,
    making: Making,
  ): Readonly<Record<string, unknown>> {
    const made: Record<string, unknown> = {};
    const names = new Set([...required, ...Object.keys(properties)]);
    for (const name of names) {
      const schema = Object.hasOwn(properties, name) ? properties[name] : keywords.additionalProperties;
      const isWanted = required.has(name) || (depth < making.optionalDepth && making.left > 0);
      if (!isWanted || depth > MAX_DEPTH || (isJsonObject(schema) && schema.writeOnly === true)) continue;
      made[name] = this.#make(schema ?? {}, name, depth + 1, making);
    }
    for (let at = Object.keys(made).length; at < Number(keywords.minProperties ?? 0) && at < 20; at += 1)
      made[`member${at}`] = this.#make(keywords.additionalProperties ?? {}, 'member', depth + 1, making);
    return made;
  }

  #array(
    keywords: Readonly<Record<string, unknown>>,
    name: string,
    depth: number,
    making: Making,
  ): readonly unknown[] {
    const least = Number(keywords.minItems ?? 0);
    const usual = depth < making.optionalDepth && making.left > 0 && depth <= MAX_DEPTH ? 1 : 0;
    const count = Math.min(Math.max(least, usual), Number(keywords.maxItems ?? 100), 100);
    const first = Array.isArray(keywords.prefixItems) ? keywords.prefixItems : [];
    return Array.from({ length: count }, (_, at) => {
      const serial = making.serial + at;
      const inner = { ...making, serial };
      const item = this.#make(first[at] ?? keywords.items ?? {}, name.replace(/s$/, ''), depth + 1, inner);
      making.left = inner.left;
      return item;
    });
  }
}

/** Names of members that identify something. */
export function isIdentifier(name: string): boolean {
  return (
    /^(?:id|uuid|guid|sid|gid|key|slug|login|email|name|code|number|username|title)$/i.test(name) ||
    /(?:_|-)(?:id|uuid|guid|sid|key|slug|name|number|code)$|[a-z](?:Id|ID|Uuid|UUID|Guid|Sid|Key|Name|Slug|Number|Code)$/.test(
      name,
    )
  );
}

function numberOf(keywords: Readonly<Record<string, unknown>>, name: string, serial: number): number {
  const isWhole = keywords.type === 'integer' || [keywords.type].flat().includes('integer');
  const step = Number(keywords.multipleOf ?? 1);
  const nudge = isWhole ? 1 : step === 1 ? 0.5 : step;
  const low = Math.max(
    Number(keywords.minimum ?? Number.NEGATIVE_INFINITY),
    Number(keywords.exclusiveMinimum ?? Number.NEGATIVE_INFINITY) + nudge,
  );
  const high = Math.min(
    Number(keywords.maximum ?? Number.POSITIVE_INFINITY),
    Number(keywords.exclusiveMaximum ?? Number.POSITIVE_INFINITY) - nudge,
  );
  const wanted = isIdentifier(name) ? serial : 1;
  const value = Math.min(Math.max(wanted, low), high);
  return step === 1 || step <= 0 ? value : Math.ceil(value / step) * step;
}

const FORMATS: Readonly<Record<string, (serial: number) => string>> = {
  'date-time': () => '2026-03-02T08:15:00Z',
  date: () => '2026-03-02',
  time: () => '08:15:00Z',
  duration: () => 'PT1H',
  uuid: (serial) => `c0f0e000-0000-4000-8000-${String(serial).padStart(12, '0')}`,
  email: (serial) => `person-${serial}@example.com`,
  'idn-email': (serial) => `person-${serial}@example.com`,
  uri: (serial) => `https://example.com/things/${serial}`,
  url: (serial) => `https://example.com/things/${serial}`,
  'uri-reference': (serial) => `/things/${serial}`,
  hostname: (serial) => `host-${serial}.example.com`,
  ipv4: () => '192.0.2.1',
  ipv6: () => '2001:db8::1',
  byte: () => 'Y29uZm9ybQ==',
  'json-pointer': () => '/member',
  regex: () => '^.*$',
};

function textOf(keywords: Readonly<Record<string, unknown>>, name: string, serial: number): string {
  const { format, pattern, minLength = 0, maxLength = Number.POSITIVE_INFINITY } = keywords;
  const make = typeof format === 'string' && Object.hasOwn(FORMATS, format) ? FORMATS[format] : undefined;
  if (make !== undefined && typeof pattern !== 'string') return make(serial);
  if (typeof pattern === 'string') return patterned(keywords, serial, make);
  const noun = name.replaceAll(/[^A-Za-z0-9]+/g, '-').toLowerCase() || 'text';
  const text = isIdentifier(name) ? `${noun}-${serial}` : noun;
  const long = text.padEnd(Math.min(Number(minLength), 10_000), 'x');
  if (long.length <= Number(maxLength)) return long;
  return isIdentifier(name) ? `${serial}`.slice(-Number(maxLength)) : long.slice(0, Number(maxLength));
}

function patterned(
  keywords: Readonly<Record<string, unknown>>,
  serial: number,
  make: (serial: number) => string = (of) => `text-${of}`,
): string {
  const { pattern, minLength, maxLength } = keywords;
  const text = make(serial);
  try {
    return withinTimeLimit(PATTERN_MS, () => {
      const matcher = new RegExp(String(pattern), 'u');
      const fit = [text, `urn:example:thing-${serial}`].find(
        (each) =>
          matcher.test(each) &&
          each.length >= Number(minLength ?? 0) &&
          each.length <= Number(maxLength ?? 100),
      );
      if (fit !== undefined) return fit;
      const schema = {
        type: 'string' as const,
        pattern: String(pattern),
        ...(minLength !== undefined && { minLength: Number(minLength) }),
        ...(maxLength !== undefined && { maxLength: Number(maxLength) }),
      };
      return String(generateSync(schema, { seed: serial }));
    });
  } catch {
    return text;
  }
}

import { HarnessError } from '../../base/exit.ts';
import { isJsonObject } from '../../base/json-text.ts';
import { decodeUtf8, utf8Beginning } from '../octets/utf8.ts';

/** How many octets are stored, at most; the rest is counted as omitted. */
export interface StorageLimits {
  /** Of each body. */
  readonly bodyOctets: number;
  /** Of each WebSocket frame's payload. */
  readonly frameOctets: number;
}

/** One declaration of a shape: how its values are written as JSON data, and how they are read back. */
export interface Codec<Value> {
  write(value: Value, limits: StorageLimits): unknown;
  /** @throws NotOfShape */
  read(json: unknown): Value;
}

/** The values of a shape. */
export type ValueOf<Shape extends Codec<unknown>> = ReturnType<Shape['read']>;

/** A value is not of its shape; the message begins with the path of the fault. */
export class NotOfShape extends HarnessError {
  readonly #problem: string;
  readonly #path: string;

  constructor(problem: string, path = '') {
    super(`${path || 'the value'} ${problem}`);
    this.#problem = problem;
    this.#path = path;
  }

  /** The same from one step further out: the step is a member's name, or `[index]`. */
  static below(step: string, error: unknown): unknown {
    if (!(error instanceof NotOfShape)) return error;
    const joint = error.#path === '' || error.#path.startsWith('[') ? '' : '.';
    return new NotOfShape(error.#problem, `${step}${joint}${error.#path}`);
  }
}

function refuse(json: unknown, wanted: string): never {
  const kind = json === null ? 'null' : Array.isArray(json) ? 'an array' : typeof json;
  throw new NotOfShape(`is ${kind === 'undefined' ? 'missing' : kind}, expected ${wanted}`);
}

const asItIs = <Value>(value: Value) => value;

function plain<Value>(is: (json: unknown) => json is Value, wanted: string): Codec<Value> {
  return { write: asItIs, read: (json) => (is(json) ? json : refuse(json, wanted)) };
}

export const text = plain((json) => typeof json === 'string', 'a string');
export const number = plain((json) => typeof json === 'number', 'a number');
export const flag = plain((json) => typeof json === 'boolean', 'true or false');

export function choice<const Value extends string | number>(...values: readonly Value[]): Codec<Value> {
  const is = (json: unknown): json is Value => values.some((value) => value === json);
  return plain(is, `one of ${values.join(', ')}`);
}

export function nullable<Value>(shape: Codec<Value>): Codec<Value | null> {
  return {
    write: (value, limits) => (value === null ? null : shape.write(value, limits)),
    read: (json) => (json === null ? null : shape.read(json)),
  };
}

/** Items by their shapes, up to where there is none. */
function readItems<Value>(
  json: unknown,
  shapeAt: (at: number, length: number) => Codec<Value> | undefined,
): readonly Value[] {
  if (!Array.isArray(json)) return refuse(json, 'an array');
  const items: Value[] = [];
  try {
    for (let shape = shapeAt(0, json.length); shape; shape = shapeAt(items.length, json.length)) {
      items.push(shape.read(json[items.length]));
    }
  } catch (error) {
    throw NotOfShape.below(`[${items.length}]`, error);
  }
  return items;
}

export function list<Value>(shape: Codec<Value>): Codec<readonly Value[]> {
  return {
    write:
      shape.write === asItIs ? asItIs : (values, limits) => values.map((value) => shape.write(value, limits)),
    read: (json) => readItems(json, (at, length) => (at < length ? shape : undefined)),
  };
}

/** What may be missing: a member of a record, the last items of a row. */
interface Optional<Value> extends Codec<Value> {
  readonly mayBeMissing: true;
}

export function optional<Value>(shape: Codec<Value>): Optional<Value> {
  return { ...shape, mayBeMissing: true };
}

/** An array with these items, which are stored as they are. */
export function row<Items extends readonly unknown[]>(
  ...shapes: { readonly [At in keyof Items]-?: Codec<Items[At]> }
): Codec<Readonly<Items>> {
  const shapeAt = (at: number, length: number): Codec<unknown> | undefined => {
    const shape = shapes[at];
    return shape && (at < length || !('mayBeMissing' in shape)) ? shape : undefined;
  };
  return { write: asItIs, read: (json) => readItems(json, shapeAt) as Readonly<Items> };
}

type Members = Readonly<Record<string, Codec<unknown>>>;

type RecordOf<Shapes extends Members> = {
  readonly [Name in keyof Shapes as Shapes[Name] extends Optional<unknown> ? never : Name]: ValueOf<
    Shapes[Name]
  >;
} & {
  readonly [Name in keyof Shapes as Shapes[Name] extends Optional<unknown> ? Name : never]?: ValueOf<
    Shapes[Name]
  >;
};

/** An object with these members. Others are left alone in reading, since later versions may write more. */
export function record<const Shapes extends Members>(shapes: Shapes): Codec<RecordOf<Shapes>> {
  const members = Object.entries(shapes);
  return {
    write(value: Readonly<Record<string, unknown>>, limits) {
      const json: Record<string, unknown> = {};
      for (const [name, shape] of members) {
        const member = value[name];
        if (member !== undefined) json[name] = shape.write(member, limits);
      }
      return json;
    },
    read(json) {
      if (!isJsonObject(json)) return refuse(json, 'an object');
      const value: Record<string, unknown> = {};
      let step = '';
      try {
        for (const [name, shape] of members) {
          step = name;
          const member = json[name];
          if (member !== undefined || !('mayBeMissing' in shape)) value[name] = shape.read(member);
        }
      } catch (error) {
        throw NotOfShape.below(step, error);
      }
      return value as RecordOf<Shapes>;
    },
  };
}

/** One of several records, chosen by the value of the member `name`. */
export function variant<const Shapes extends Members>(
  name: string,
  shapes: Shapes,
): Codec<ValueOf<Shapes[keyof Shapes]>> {
  type Value = ValueOf<Shapes[keyof Shapes]>;
  const kind = record({ [name]: choice(...Object.keys(shapes)) });
  const shapeOf = (value: unknown) => shapes[String(kind.read(value)[name])];
  return {
    write: (value, limits) => shapeOf(value)?.write(value, limits),
    read: (json) => shapeOf(json)?.read(json) as Value,
  };
}

/** Values that are stored as those of another shape. */
export function storedAs<Stored, Value>(
  shape: Codec<Stored>,
  {
    store,
    restore,
  }: {
    readonly store: (value: Value, limits: StorageLimits) => Stored;
    /** Throws NotOfShape for what no value was ever stored as. */
    readonly restore: (stored: Stored) => Value;
  },
): Codec<Value> {
  return {
    write: (value, limits) => shape.write(store(value, limits), limits),
    read: (json) => restore(shape.read(json)),
  };
}

/** Members of octets as JSON: text where they are UTF-8, else base64; `omitted` counts those beyond the limit. */
export const STORED_OCTETS = { text: optional(text), base64: optional(text), omitted: optional(number) };

interface StoredOctets {
  readonly text?: string | undefined;
  readonly base64?: string | undefined;
  readonly omitted?: number | undefined;
}

/** Stores at most `limit` octets; text is cut between characters. */
export function storeOctets(octets: Uint8Array, limit: number): StoredOctets {
  const kept = utf8Beginning(octets, limit);
  const omitted = octets.length > kept.length ? { omitted: octets.length - kept.length } : {};
  const text = decodeUtf8(kept);
  return text === null ? { base64: Buffer.from(kept).toString('base64'), ...omitted } : { text, ...omitted };
}

/** @throws NotOfShape where there are none. */
export function restoreOctets({ text, base64 }: StoredOctets): Uint8Array {
  if (text !== undefined) return new Uint8Array(Buffer.from(text, 'utf8'));
  if (base64 !== undefined) return new Uint8Array(Buffer.from(base64, 'base64'));
  throw new NotOfShape('has neither text nor base64');
}

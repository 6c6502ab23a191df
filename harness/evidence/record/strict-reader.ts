import { HarnessError } from '../../exit.ts';
import { isJsonObject } from '../../json-text.ts';

/**
 * Takes parsed JSON apart once, at the border: each reader returns a value of its type or throws HarnessError with
 * the path of what is not. `where` is that path, for the message.
 */
export type Read<Value> = (value: unknown, where: string) => Value;

function refuse(value: unknown, where: string, wanted: string): never {
  const kind = value === null ? 'null' : Array.isArray(value) ? 'an array' : typeof value;
  throw new HarnessError(
    `${where || 'the value'} is ${kind === 'undefined' ? 'missing' : kind}, expected ${wanted}`,
  );
}

export const readString: Read<string> = (value, where) =>
  typeof value === 'string' ? value : refuse(value, where, 'a string');

export const readNumber: Read<number> = (value, where) =>
  typeof value === 'number' ? value : refuse(value, where, 'a number');

export const readBoolean: Read<boolean> = (value, where) =>
  typeof value === 'boolean' ? value : refuse(value, where, 'true or false');

export const readArray: Read<readonly unknown[]> = (value, where) =>
  Array.isArray(value) ? value : refuse(value, where, 'an array');

export function readEach<Value>(read: Read<Value>): Read<readonly Value[]> {
  return (value, where) => readArray(value, where).map((item, index) => read(item, `${where}[${index}]`));
}

export function readNullable<Value>(read: Read<Value>): Read<Value | null> {
  return (value, where) => (value === null ? null : read(value, where));
}

export function readOneOf<Value extends string | number>(...values: readonly Value[]): Read<Value> {
  return (value, where) =>
    values.find((candidate) => candidate === value) ?? refuse(value, where, `one of ${values.join(', ')}`);
}

/** An object whose members are read one by one. */
export class RecordReader {
  readonly #record: object;
  readonly #where: string;

  constructor(value: unknown, where: string) {
    if (!isJsonObject(value)) refuse(value, where, 'an object');
    this.#record = value;
    this.#where = where;
  }

  has(name: string): boolean {
    return Object.hasOwn(this.#record, name);
  }

  get<Value>(name: string, read: Read<Value>): Value {
    const value: unknown = this.has(name) ? Reflect.get(this.#record, name) : undefined;
    return read(value, this.#where === '' ? name : `${this.#where}.${name}`);
  }

  /** undefined when the member is not there. */
  optional<Value>(name: string, read: Read<Value>): Value | undefined {
    return this.has(name) ? this.get(name, read) : undefined;
  }
}

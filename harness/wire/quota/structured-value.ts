import { type BareItem, ParseError } from 'structured-headers';
import { hasMembers } from '../../base/json-text.ts';
import { visible } from '../octets/visible.ts';
import type { Told } from './dialect.ts';

/** Structured field values (RFC 9651) of quota fields; what is malformed goes among the faults. */

/** The value where it is an integer of at least `least`; else null, and a fault. */
export function integer(told: Told, what: string, value: unknown, least: 0 | 1 = 0): number | null {
  if (typeof value === 'number' && Number.isInteger(value) && value >= least) return value;
  const wanted = least === 0 ? 'a non-negative integer' : 'a positive integer';
  told.faults.push(`${what} is ${shown(value)}, not ${wanted}`);
  return null;
}

/** Reads integer parameters of an item: null where one is missing, and a fault where it may not be. */
export function parametersOf(
  told: Told,
  field: string,
  name: string | null,
  parameters: ReadonlyMap<string, BareItem>,
) {
  const read = (key: string, least: 0 | 1) => {
    const value = parameters.get(key);
    return value === undefined ? null : integer(told, `${field} ${text(name)} ${key}`, value, least);
  };
  return {
    optional: read,
    required(key: string, least: 0 | 1) {
      if (!parameters.has(key)) told.faults.push(`${field} ${text(name)} without ${key}`);
      return read(key, least);
    },
  };
}

/** What `parse` reads of the field; null, and a fault, when it is no structured field. */
export function parsed<Value>(
  told: Told,
  field: string,
  value: string,
  parse: (value: string) => Value,
): Value | null {
  // The library reads `1.0` as it reads `1`; to a structured field they are different types (RFC 9651 §3.3).
  const decimal = /(?:^|[\s,;=])(-?[0-9]{1,20}\.0+)(?![0-9])/.exec(value.replace(/"[^"]*"/g, '""'))?.[1];
  if (decimal !== undefined) told.faults.push(`${field} has the decimal ${decimal} for an integer`);
  try {
    return parse(value);
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    const reason = error.message.replace(/^Parse error: /, '');
    told.malformed(field, value, `no structured field (${visible(reason, 100)})`);
    return null;
  }
}

/** A value for a message: one line of at most 40 characters. */
export function shown(value: unknown): string {
  return visible(hasMembers(value) ? String(value) : (JSON.stringify(value) ?? ''), 40);
}

/** The name of a policy for a message; `it` where it has none. */
export function text(name: string | null): string {
  return name === null ? 'it' : `"${visible(name, 40)}"`;
}

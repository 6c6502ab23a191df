import { type BareItem, ParseError } from 'structured-headers';
import { hasMembers } from '../../json-text.ts';
import { visible } from '../octets/visible.ts';
import type { QuotaNotes } from './quota-reading.ts';

/** Structured field values (RFC 9651) of quota fields; what is malformed goes into the notes. */

export interface ParameterRule {
  readonly key: string;
  readonly required: boolean;
  readonly least: number;
}

/** An integer parameter of a quota policy; null, with a fault among `notes`, when it is missing though required or is none. */
export function parameterInteger(
  field: string,
  name: string | null,
  parameters: ReadonlyMap<string, BareItem>,
  { key, required, least }: ParameterRule,
  notes: QuotaNotes,
): number | null {
  const value = parameters.get(key);
  if (value !== undefined) return integer(`${field} ${text(name)} ${key}`, value, least, notes);
  if (required) notes.faults.push(`${field} ${text(name)} without ${key}`);
  return null;
}

/** The value where it is an integer of at least `least`; else null, with a fault among `notes`. */
export function integer(what: string, value: unknown, least: number, notes: QuotaNotes): number | null {
  if (typeof value === 'number' && Number.isInteger(value) && value >= least) return value;
  const wanted = least === 0 ? 'a non-negative integer' : 'a positive integer';
  notes.faults.push(`${what} is ${shown(value)}, not ${wanted}`);
  return null;
}

/** The library reads `1.0` as it reads `1`; to a structured field they are different types (RFC 9651 §3.3). */
export function noDecimals(field: string, value: string, notes: QuotaNotes): void {
  const decimal = /(?:^|[\s,;=])(-?[0-9]{1,20}\.0+)(?![0-9])/.exec(value.replace(/"[^"]*"/g, '""'))?.[1];
  if (decimal !== undefined) notes.faults.push(`${field} has the decimal ${decimal} for an integer`);
}

/** What `parse` reads of the field; null, with a fault among `notes`, when it is no structured field (RFC 9651). */
export function parsed<Value>(
  field: string,
  value: string,
  parse: (value: string) => Value,
  notes: QuotaNotes,
): Value | null {
  try {
    return parse(value);
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    const reason = error.message.replace(/^Parse error: /, '');
    notes.faults.push(`${field} is no structured field (${visible(reason, 100)}): "${visible(value, 60)}"`);
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

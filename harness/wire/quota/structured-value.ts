import { type BareItem, ParseError } from 'structured-headers';
import { hasMembers, isJsonObject } from '../../base/json-text.ts';
import { visible } from '../octets/utf8.ts';
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

/** The problem types of draft-ietf-httpapi-ratelimit-headers-11, which all have the member `violated-policies`. */
const QUOTA_PROBLEM =
  /^https?:\/\/(?:www\.)?iana\.org\/assignments\/http-problem-types#(?:quota-exceeded|temporary-reduced-capacity|abnormal-usage-detected)$/;

const MEMBER = 'violated-policies';

/** The content is a problem of a quota, and says which policies it is about. */
export function namesPolicies(problem: unknown): problem is Readonly<Record<string, unknown>> {
  if (!isJsonObject(problem)) return false;
  const type: unknown = Reflect.get(problem, 'type');
  return typeof type === 'string' && QUOTA_PROBLEM.test(type) && Object.hasOwn(problem, MEMBER);
}

/**
 * What is wrong with those policies, null when nothing is: a list of names, each of which RateLimit-Policy has.
 * `announced`: the names there; none where no such header has names.
 */
export function violatedPoliciesFault(
  problem: Readonly<Record<string, unknown>>,
  announced: readonly string[],
): string | null {
  const named = problem[MEMBER];
  if (!Array.isArray(named) || !named.every((name) => typeof name === 'string')) {
    return `${visible(JSON.stringify(named) ?? '', 60)}, which is no list of names`;
  }
  const unknown = announced.length === 0 ? undefined : named.find((name) => !announced.includes(name));
  return unknown === undefined ? null : `"${visible(unknown, 60)}", which RateLimit-Policy does not have`;
}

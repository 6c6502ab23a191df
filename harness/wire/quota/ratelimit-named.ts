import { type BareItem, ParseError, parseList, serializeList } from 'structured-headers';
import { hasMembers } from '../../base/json-text.ts';
import { visible } from '../octets/utf8.ts';
import {
  longestReset,
  type QuotaDialect,
  type QuotaFields,
  type QuotaPolicy,
  type QuotaState,
  UNKNOWN_POLICY,
} from './dialect.ts';

/** The name under which the policy of a limit is announced, by its place among them. */
export function policyName(at: number): string {
  return at === 0 ? 'default' : `further-${at}`;
}

/**
 * The RateLimit fields of draft-ietf-httpapi-ratelimit-headers-08 and later, lists of named items:
 * `RateLimit-Policy: "burst";q=100;w=60` and `RateLimit: "burst";r=50;t=30`.
 */
export const NAMED_POLICIES: QuotaDialect = {
  name: 'ratelimit-draft-08',
  speaks: (given) =>
    given.has('') ||
    (!given.has('limit', 'remaining', 'reset') && /^(?![0-9])/.test(given.get('policy') ?? '0')),
  read(given) {
    readPolicies(given);
    const { quota, remaining, resetSeconds, windowSeconds } = mainPolicy(given) ?? UNKNOWN_POLICY;
    return { limit: quota, remaining, resetSeconds, windowSeconds };
  },
  write(state) {
    const states = [state, ...(state.further ?? [])];
    return [
      [
        'RateLimit-Policy',
        // `w` counts whole seconds; a window that is none goes unannounced.
        listOf(states, ({ limit, windowMs }) => [
          ['q', limit],
          ...(windowMs % 1000 === 0 ? [['w', windowMs / 1000] as const] : []),
        ]),
      ],
      [
        'RateLimit',
        listOf(states, ({ remaining, resetSeconds }) => [
          ['r', remaining],
          ['t', resetSeconds],
        ]),
      ],
    ];
  },
  examples: [
    'RateLimit-Policy: "default";q=100;w=60 | RateLimit: "default";r=50;t=30 → 100, 50, 30, 60',
    'RateLimit: "20-in-3sec"; r=19; t=3 → –, 19, 3, –',
    'RateLimit-Policy: "default";q=100 → 100, –, –, –',
  ],
};

function listOf(
  states: readonly QuotaState[],
  parameters: (state: QuotaState) => readonly (readonly [string, number])[],
): string {
  return serializeList(states.map((state, at) => [policyName(at), new Map(parameters(state))]));
}

function readPolicies(given: QuotaFields): void {
  const policies = namedItems(given, 'RateLimit-Policy', 'policy').map((item) => ({
    name: item.name,
    quota: item.required('q', 0),
    windowSeconds: item.optional('w', 1),
    unit: item.unit(),
    partition: item.partition(),
  }));
  const limits = namedItems(given, 'RateLimit', '').map((item) => ({
    name: item.name,
    remaining: item.required('r', 0),
    resetSeconds: item.optional('t', 0),
    partition: item.partition(),
  }));
  const partitions = new Map(policies.toReversed().map((policy) => [partitionOf(policy), policy]));
  const byName = new Map(policies.toReversed().map((policy) => [policy.name, policy]));
  for (const limit of limits) {
    const named = partitions.get(partitionOf(limit)) ?? byName.get(limit.name);
    if (!named && policies.length > 0) {
      given.contradictions.push(
        `RateLimit tells of ${text(limit.name)}, which RateLimit-Policy does not have`,
      );
    }
    const { quota = null, windowSeconds = null, unit = 'requests' } = named ?? {};
    given.policies.push({ quota, windowSeconds, unit, ...limit });
  }
  const limited = new Set(limits.map(({ name }) => name));
  for (const named of policies) {
    if (partitions.get(partitionOf(named)) !== named) {
      given.contradictions.push(`RateLimit-Policy has ${text(named.name)} twice`);
    }
    if (!limited.has(named.name)) {
      given.policies.push({ ...named, remaining: null, resetSeconds: null });
    }
  }
  for (const { name, windowSeconds: window, resetSeconds } of given.policies) {
    if (window !== null && resetSeconds !== null && resetSeconds > longestReset(window)) {
      given.contradictions.push(`${text(name)}: ${resetSeconds} s until more of a window of ${window} s`);
    }
  }
}

/** A policy may be announced once for each partition. */
function partitionOf({ name, partition }: Pick<QuotaPolicy, 'name' | 'partition'>): string {
  return JSON.stringify([name, partition]);
}

/** The plan's own policy where its window tells, else the one with the least left: it is the next to be felt. */
function mainPolicy({ policies, windowSeconds }: QuotaFields): QuotaPolicy | undefined {
  const least = [...policies].sort(
    (a, b) => (a.remaining ?? Number.POSITIVE_INFINITY) - (b.remaining ?? Number.POSITIVE_INFINITY),
  );
  return (
    policies.find((policy) => windowSeconds !== null && policy.windowSeconds === windowSeconds) ?? least[0]
  );
}

function namedItems(given: QuotaFields, field: string, member: string) {
  const value = given.get(member);
  if (value === undefined) return [];
  const items = parsed(given, field, value, parseList);
  if (items?.length === 0) given.faults.push(`${field} is empty`);
  return (items ?? []).map(([item, parameters]) => {
    const name = typeof item === 'string' ? item : shown(item);
    if (typeof item !== 'string') given.faults.push(`${field}: ${text(name)} is not a string in quotes`);
    return { name, ...parametersOf(given, field, name, parameters) };
  });
}

/** Structured field values (RFC 9651) of quota fields; malformed ones are faults. */

/** The value where it is an integer of at least `least`; else null, and a fault. */
export function integer(given: QuotaFields, what: string, value: unknown, least: 0 | 1 = 0): number | null {
  if (typeof value === 'number' && Number.isInteger(value) && value >= least) return value;
  const wanted = least === 0 ? 'a non-negative integer' : 'a positive integer';
  given.faults.push(`${what} is ${shown(value)}, not ${wanted}`);
  return null;
}

/** Reads the parameters of an item: null where one is missing, and a fault where it may not be. */
export function parametersOf(
  given: QuotaFields,
  field: string,
  name: string | null,
  parameters: ReadonlyMap<string, BareItem>,
) {
  const read = (key: string, least: 0 | 1) => {
    const value = parameters.get(key);
    return value === undefined ? null : integer(given, `${field} ${text(name)} ${key}`, value, least);
  };
  return {
    optional: read,
    required(key: string, least: 0 | 1) {
      if (!parameters.has(key)) given.faults.push(`${field} ${text(name)} without ${key}`);
      return read(key, least);
    },
    unit(): string {
      const unit = parameters.get('qu') ?? 'requests';
      if (typeof unit === 'string') return unit;
      given.faults.push(`${field} ${text(name)}: qu is not a string`);
      return 'requests';
    },
    partition(): string | null {
      const key = parameters.get('pk');
      if (key === undefined) return null;
      if (key instanceof ArrayBuffer) return Buffer.from(key).toString('base64');
      given.faults.push(`${field} ${text(name)}: pk is not a byte sequence`);
      return null;
    },
  };
}

/** What `parse` reads of the field; null, and a fault, when it is no structured field. */
export function parsed<Value>(
  given: QuotaFields,
  field: string,
  value: string,
  parse: (value: string) => Value,
): Value | null {
  // The library reads `1.0` as it reads `1`; to a structured field they are different types (RFC 9651 §3.3).
  const decimal = /(?:^|[\s,;=])(-?[0-9]{1,20}\.0+)(?![0-9])/.exec(value.replace(/"[^"]*"/g, '""'))?.[1];
  if (decimal !== undefined) given.faults.push(`${field} has the decimal ${decimal} for an integer`);
  try {
    return parse(value);
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    const reason = error.message.replace(/^Parse error: /, '');
    given.malformed(field, value, `no structured field (${visible(reason, 100)})`);
    return null;
  }
}

/** A value for a message: one line of at most 40 characters. */
function shown(value: unknown): string {
  return visible(hasMembers(value) ? String(value) : (JSON.stringify(value) ?? ''), 40);
}

/** The name of a policy for a message; `it` where it has none. */
function text(name: string | null): string {
  return name === null ? 'it' : `"${visible(name, 40)}"`;
}

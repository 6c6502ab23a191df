import { type BareItem, parseList } from 'structured-headers';
import {
  longestReset,
  MOST_POLICIES,
  QuotaNotes,
  type QuotaPolicy,
  type QuotaReading,
} from './quota-reading.ts';
import { noDecimals, parameterInteger, parsed, shown, text } from './structured-value.ts';

/** The two fields, and the plan's window where it is known. */
interface NamedValues {
  readonly combined: string | undefined;
  readonly policy: string | undefined;
  readonly windowSeconds: number | null;
}

/**
 * The RateLimit fields of draft-ietf-httpapi-ratelimit-headers-08 and later, lists of named items:
 * `RateLimit-Policy: "burst";q=100;w=60` and `RateLimit: "burst";r=50;t=30`.
 */
export function readNamedPolicies({ combined, policy, windowSeconds }: NamedValues): QuotaReading {
  const notes = new QuotaNotes();
  const policies = namedItems('RateLimit-Policy', policy, notes).map(({ name, parameters }) => ({
    name,
    quota: parameterInteger(
      'RateLimit-Policy',
      name,
      parameters,
      { key: 'q', required: true, least: 0 },
      notes,
    ),
    windowSeconds: parameterInteger(
      'RateLimit-Policy',
      name,
      parameters,
      { key: 'w', required: false, least: 1 },
      notes,
    ),
    unit: unitOf(name, parameters, notes),
    partition: partitionOf('RateLimit-Policy', name, parameters, notes),
  }));
  const limits = namedItems('RateLimit', combined, notes).map(({ name, parameters }) => ({
    name,
    remaining: parameterInteger('RateLimit', name, parameters, { key: 'r', required: true, least: 0 }, notes),
    resetSeconds: parameterInteger(
      'RateLimit',
      name,
      parameters,
      { key: 't', required: false, least: 0 },
      notes,
    ),
    partition: partitionOf('RateLimit', name, parameters, notes),
  }));
  for (const limit of limits) {
    const named =
      policies.find((policy) => isSame(policy, limit)) ?? policies.find(({ name }) => name === limit.name);
    if (!named && policies.length > 0) {
      notes.contradictions.push(
        `RateLimit tells of ${text(limit.name)}, which RateLimit-Policy does not have`,
      );
    }
    const { quota = null, windowSeconds: window = null, unit = 'requests' } = named ?? {};
    notes.policies.push({ quota, windowSeconds: window, unit, ...limit });
  }
  for (const [at, named] of policies.entries()) {
    if (policies.slice(0, at).some((earlier) => isSame(earlier, named))) {
      notes.contradictions.push(`RateLimit-Policy has ${text(named.name)} twice`);
    }
    if (!limits.some(({ name }) => name === named.name)) {
      notes.policies.push({ ...named, remaining: null, resetSeconds: null });
    }
  }
  for (const { name, windowSeconds: window, resetSeconds } of notes.policies) {
    if (window !== null && resetSeconds !== null && resetSeconds > longestReset(window)) {
      notes.contradictions.push(`${text(name)}: ${resetSeconds} s until more of a window of ${window} s`);
    }
  }
  const main = mainPolicy(notes.policies, windowSeconds);
  return notes.reading('ratelimit-draft-08', {
    limit: main?.quota ?? null,
    remaining: main?.remaining ?? null,
    resetSeconds: main?.resetSeconds ?? null,
    windowSeconds: main?.windowSeconds ?? null,
  });
}

type Partition = Pick<QuotaPolicy, 'name' | 'partition'>;

/** A policy may be told of once for each partition. */
function isSame(one: Partition, other: Partition): boolean {
  return one.name === other.name && one.partition === other.partition;
}

/** The plan's own policy where its window tells, else the one with the least left: it is the next to be felt. */
function mainPolicy(policies: readonly QuotaPolicy[], windowSeconds: number | null): QuotaPolicy | undefined {
  const least = [...policies].sort(
    (a, b) => (a.remaining ?? Number.POSITIVE_INFINITY) - (b.remaining ?? Number.POSITIVE_INFINITY),
  );
  return (
    policies.find((policy) => windowSeconds !== null && policy.windowSeconds === windowSeconds) ?? least[0]
  );
}

interface NamedItem {
  readonly name: string | null;
  readonly parameters: ReadonlyMap<string, BareItem>;
}

function namedItems(field: string, value: string | undefined, notes: QuotaNotes): readonly NamedItem[] {
  if (value === undefined) return [];
  noDecimals(field, value, notes);
  const items = parsed(field, value, parseList, notes);
  if (items?.length === 0) notes.faults.push(`${field} is empty`);
  return (items ?? []).slice(0, MOST_POLICIES).map(([item, parameters]) => {
    if (typeof item === 'string') return { name: item, parameters };
    notes.faults.push(`${field}: ${text(shown(item))} is not a string in quotes`);
    return { name: shown(item), parameters };
  });
}

function unitOf(name: string | null, parameters: ReadonlyMap<string, BareItem>, notes: QuotaNotes): string {
  const unit = parameters.get('qu') ?? 'requests';
  if (typeof unit === 'string') return unit;
  notes.faults.push(`RateLimit-Policy ${text(name)}: qu is not a string`);
  return 'requests';
}

function partitionOf(
  field: string,
  name: string | null,
  parameters: ReadonlyMap<string, BareItem>,
  notes: QuotaNotes,
): string | null {
  const key = parameters.get('pk');
  if (key === undefined) return null;
  if (key instanceof ArrayBuffer) return Buffer.from(key).toString('base64');
  notes.faults.push(`${field} ${text(name)}: pk is not a byte sequence`);
  return null;
}

import { type InnerList, type Item, parseDictionary, parseItem, parseList } from 'structured-headers';
import type { FieldLine } from '../exchange.ts';
import { fieldValue } from '../fields/grammar/field-lines.ts';
import {
  longestReset,
  MOST_POLICIES,
  type QuotaDialect,
  QuotaNotes,
  type QuotaOccasion,
  type QuotaReading,
  ROUNDING_SECONDS,
} from './quota-reading.ts';
import { readNamedPolicies } from './ratelimit-named.ts';
import { integer, noDecimals, parameterInteger, parsed } from './structured-value.ts';

/**
 * The RateLimit fields of draft-ietf-httpapi-ratelimit-headers, in the four syntaxes they have had. All but the
 * first are structured fields (RFC 9651). null when the response has none of them.
 */
export function readRateLimitFields(
  fields: readonly FieldLine[],
  serverNow: Date,
  { windowMs }: QuotaOccasion,
): QuotaReading | null {
  const all: RateLimitValues = {
    combined: fieldValue(fields, 'ratelimit'),
    policy: fieldValue(fields, 'ratelimit-policy'),
    limit: fieldValue(fields, 'ratelimit-limit'),
    remaining: fieldValue(fields, 'ratelimit-remaining'),
    reset: fieldValue(fields, 'ratelimit-reset'),
    isGitLab: ['ratelimit-observed', 'ratelimit-resettime'].some(
      (name) => fieldValue(fields, name) !== undefined,
    ),
    serverNow,
    windowSeconds: windowMs === undefined ? null : windowMs / 1000,
  };
  if (all.combined !== undefined) {
    return /(^|[\s,])(limit|remaining|reset)=/.test(all.combined)
      ? readDictionary(all, all.combined)
      : readNamedPolicies(all);
  }
  if (all.limit !== undefined || all.remaining !== undefined || all.reset !== undefined)
    return readThreeFields(all);
  if (all.policy !== undefined)
    return /^[0-9]/.test(all.policy) ? readThreeFields(all) : readNamedPolicies(all);
  return null;
}

interface RateLimitValues {
  readonly combined: string | undefined;
  readonly policy: string | undefined;
  readonly limit: string | undefined;
  readonly remaining: string | undefined;
  readonly reset: string | undefined;
  readonly isGitLab: boolean;
  readonly serverNow: Date;
  readonly windowSeconds: number | null;
}

/** -07: `RateLimit: limit=100, remaining=50, reset=5`. */
function readDictionary(all: RateLimitValues, combined: string): QuotaReading {
  const notes = new QuotaNotes();
  const dictionary =
    parsed('RateLimit', combined, parseDictionary, notes) ?? new Map<string, Item | InnerList>();
  const member = (key: string, required: boolean) => {
    const found = dictionary.get(key);
    if (found === undefined) {
      if (required) notes.faults.push(`RateLimit without ${key}`);
      return null;
    }
    return integer(`RateLimit ${key}`, found[0], 0, notes);
  };
  const [limit, remaining, resetSeconds] = [
    member('limit', true),
    member('remaining', false),
    member('reset', true),
  ];
  noDecimals('RateLimit', combined, notes);
  return withIntegerPolicies('ratelimit-draft-07', all, notes, { limit, remaining, resetSeconds });
}

/** -00 to -06: `RateLimit-Limit`, `-Remaining` and `-Reset`; up to -03 the policies follow the limit in its field. */
function readThreeFields(all: RateLimitValues): QuotaReading {
  const notes = new QuotaNotes();
  const isOld = all.limit !== undefined && /[,;]/.test(all.limit);
  const number = (name: string, value: string | undefined) => {
    if (value === undefined) return null;
    noDecimals(name, value, notes);
    const item = parsed(name, value, parseItem, notes);
    return item === null ? null : integer(name, item[0], 0, notes);
  };
  let limit: number | null = null;
  if (isOld && all.limit !== undefined) {
    const [first, ...policies] = parsed('RateLimit-Limit', all.limit, parseList, notes) ?? [];
    limit = first === undefined ? null : integer('RateLimit-Limit', first[0], 0, notes);
    noDecimals('RateLimit-Limit', all.limit, notes);
    addIntegerPolicies('RateLimit-Limit', policies, notes);
  } else {
    limit = number('RateLimit-Limit', all.limit);
  }
  const remaining = number('RateLimit-Remaining', all.remaining);
  const reset = number('RateLimit-Reset', all.reset);
  if (all.limit === undefined) notes.faults.push('RateLimit-Limit is missing');
  if (all.reset === undefined) notes.faults.push('RateLimit-Reset is missing');
  // No window lasts 30 years.
  const isEpoch = reset !== null && reset > 1e9;
  if (!isEpoch) {
    const dialect = isOld ? 'ratelimit-draft-03' : 'ratelimit-draft-06';
    return withIntegerPolicies(dialect, all, notes, { limit, remaining, resetSeconds: reset });
  }
  if (!all.isGitLab)
    notes.faults.push(`RateLimit-Reset is a Unix time (${reset}), not seconds until the reset`);
  const resetSeconds = reset - all.serverNow.getTime() / 1000;
  if (resetSeconds < -ROUNDING_SECONDS)
    notes.contradictions.push('RateLimit-Reset lies before the Date of the response');
  const dialect = all.isGitLab ? 'gitlab' : 'ratelimit-epoch';
  return withIntegerPolicies(dialect, all, notes, {
    limit,
    remaining,
    resetSeconds: Math.max(0, resetSeconds),
  });
}

type Numbers = Pick<QuotaReading, 'limit' | 'remaining' | 'resetSeconds'>;

/** Up to -07 policies are integers with a window, `100;w=60`; the one in force is the one with the limit's number. */
function withIntegerPolicies(
  dialect: QuotaDialect,
  { policy, windowSeconds }: RateLimitValues,
  notes: QuotaNotes,
  numbers: Numbers,
): QuotaReading {
  if (policy !== undefined) {
    noDecimals('RateLimit-Policy', policy, notes);
    addIntegerPolicies('RateLimit-Policy', parsed('RateLimit-Policy', policy, parseList, notes) ?? [], notes);
  }
  const { limit, resetSeconds } = numbers;
  const matching = notes.policies.filter(({ quota }) => quota === limit);
  if (limit !== null && notes.policies.length > 0 && matching.length === 0) {
    notes.contradictions.push(`a limit of ${limit}, which no policy has`);
  }
  const inForce = matching.find((one) => one.windowSeconds === windowSeconds) ?? matching[0];
  const window = inForce?.windowSeconds ?? null;
  if (window !== null && resetSeconds !== null && resetSeconds > longestReset(window)) {
    notes.contradictions.push(`${resetSeconds} s until the reset of a window of ${window} s`);
  }
  return notes.reading(dialect, { ...numbers, windowSeconds: window });
}

function addIntegerPolicies(field: string, items: readonly (Item | InnerList)[], notes: QuotaNotes): void {
  for (const [value, parameters] of items.slice(0, MOST_POLICIES)) {
    const quota = integer(`${field} policy`, value, 0, notes);
    if (quota === null) continue;
    notes.policies.push({
      name: null,
      quota,
      windowSeconds: parameterInteger(
        field,
        String(quota),
        parameters,
        { key: 'w', required: true, least: 1 },
        notes,
      ),
      unit: 'requests',
      partition: null,
      remaining: null,
      resetSeconds: null,
    });
  }
}

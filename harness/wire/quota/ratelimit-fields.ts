import { type InnerList, type Item, parseDictionary, parseItem, parseList } from 'structured-headers';
import {
  longestReset,
  type QuotaDialect,
  type QuotaFamily,
  type QuotaFields,
  type QuotaNumbers,
  UNKNOWN_POLICY,
} from './dialect.ts';
import { integer, NAMED_POLICIES, parametersOf, parsed } from './ratelimit-named.ts';

/** Draft -07: one dictionary, the policies in a field of their own. */
const DICTIONARY: QuotaDialect = {
  name: 'ratelimit-draft-07',
  speaks: (given) => /(^|[\s,])(limit|remaining|reset)=/.test(given.get('') ?? ''),
  read(given) {
    const dictionary =
      parsed(given, 'RateLimit', given.get('') ?? '', parseDictionary) ?? new Map<string, Item | InnerList>();
    const member = (key: string) => {
      const found = dictionary.get(key);
      if (found === undefined && key !== 'remaining') given.faults.push(`RateLimit without ${key}`);
      return found === undefined ? null : integer(given, `RateLimit ${key}`, found[0]);
    };
    const [limit, remaining, resetSeconds] = [member('limit'), member('remaining'), member('reset')];
    return withIntegerPolicies(given, { limit, remaining, resetSeconds });
  },
  examples: ['RateLimit: limit=100, remaining=50, reset=5 | RateLimit-Policy: 100;w=60 → 100, 50, 5, 60'],
};

const speaksInThreeFields = (given: QuotaFields) =>
  given.has('limit', 'remaining', 'reset') || /^[0-9]/.test(given.get('policy') ?? '');

/** No window lasts 30 years. */
const tellsEpoch = (given: QuotaFields) => /^[0-9]{10,15}$/.test(given.get('reset') ?? '');

/** The fields of drafts 04 to 06, documented by GitLab with an epoch and further fields. */
const GITLAB: QuotaDialect = {
  name: 'gitlab',
  speaks: (given) => tellsEpoch(given) && given.has('observed', 'resettime'),
  read: readThreeFields,
  examples: [
    'RateLimit-Limit: 60 | RateLimit-Observed: 1 | RateLimit-Remaining: 59 | RateLimit-Reset: 1795262420 | RateLimit-ResetTime: Sat, 21 Nov 2026 12:00:20 GMT → 60, 59, 20, –',
  ],
};

/** The same with an epoch, which no draft has. */
const EPOCH: QuotaDialect = {
  name: 'ratelimit-epoch',
  speaks: tellsEpoch,
  read(given) {
    given.faults.push(`RateLimit-Reset is a Unix time (${given.get('reset')}), not seconds until the reset`);
    return readThreeFields(given);
  },
  examples: [],
};

/** Drafts -00 to -03: the policies follow the limit in its field. */
const POLICIES_IN_LIMIT: QuotaDialect = {
  name: 'ratelimit-draft-03',
  speaks: (given) => /[,;]/.test(given.get('limit') ?? ''),
  read: readThreeFields,
  examples: [
    'RateLimit-Limit: 100, 100;w=60, 1000;w=3600 | RateLimit-Remaining: 50 | RateLimit-Reset: 5 → 100, 50, 5, 60',
  ],
};

/** Drafts -04 to -06: `RateLimit-Policy` beside three fields of integers. */
const THREE_FIELDS: QuotaDialect = {
  name: 'ratelimit-draft-06',
  speaks: speaksInThreeFields,
  read: readThreeFields,
  examples: [
    'RateLimit-Limit: 100 | RateLimit-Remaining: 0 | RateLimit-Reset: 50 | RateLimit-Policy: 100;w=60 → 100, 0, 50, 60',
    'ratelimit-limit:100 | ratelimit-remaining:99 | ratelimit-reset:60 → 100, 99, 60, –',
  ],
};

/**
 * The RateLimit fields of draft-ietf-httpapi-ratelimit-headers, in the four syntaxes they have had. All but the first
 * are structured fields (RFC 9651).
 */
export const RATELIMIT: QuotaFamily = {
  called: 'the RateLimit fields',
  fields: /^ratelimit(?:-(.+))?$/i,
  dialects: [DICTIONARY, NAMED_POLICIES, GITLAB, EPOCH, POLICIES_IN_LIMIT, THREE_FIELDS],
};

function readThreeFields(given: QuotaFields): QuotaNumbers {
  const number = (name: string, member: string) => {
    const value = given.get(member);
    const item = value === undefined ? null : parsed(given, name, value, parseItem);
    return item === null ? null : integer(given, name, item[0]);
  };
  let limit: number | null = null;
  if (POLICIES_IN_LIMIT.speaks(given)) {
    const [first, ...policies] = parsed(given, 'RateLimit-Limit', given.get('limit') ?? '', parseList) ?? [];
    limit = first === undefined ? null : integer(given, 'RateLimit-Limit', first[0]);
    addIntegerPolicies(given, 'RateLimit-Limit', policies);
  } else {
    limit = number('RateLimit-Limit', 'limit');
  }
  const remaining = number('RateLimit-Remaining', 'remaining');
  const reset = number('RateLimit-Reset', 'reset');
  for (const [name, member] of [
    ['RateLimit-Limit', 'limit'],
    ['RateLimit-Reset', 'reset'],
  ] as const) {
    if (!given.has(member)) given.faults.push(`${name} is missing`);
  }
  const resetSeconds =
    reset !== null && tellsEpoch(given) ? given.secondsUntil(reset * 1000, 'RateLimit-Reset') : reset;
  return withIntegerPolicies(given, { limit, remaining, resetSeconds });
}

/** Up to -07 policies are integers with a window, `100;w=60`; the one in force is the one with the limit's number. */
function withIntegerPolicies(given: QuotaFields, numbers: Omit<QuotaNumbers, 'windowSeconds'>): QuotaNumbers {
  const policy = given.get('policy');
  if (policy !== undefined) {
    addIntegerPolicies(given, 'RateLimit-Policy', parsed(given, 'RateLimit-Policy', policy, parseList) ?? []);
  }
  const { limit, resetSeconds } = numbers;
  const matching = given.policies.filter(({ quota }) => quota === limit);
  if (limit !== null && given.policies.length > 0 && matching.length === 0) {
    given.contradictions.push(`a limit of ${limit}, which no policy has`);
  }
  const inForce = matching.find((one) => one.windowSeconds === given.windowSeconds) ?? matching[0];
  const window = inForce?.windowSeconds ?? null;
  if (window !== null && resetSeconds !== null && resetSeconds > longestReset(window)) {
    given.contradictions.push(`${resetSeconds} s until the reset of a window of ${window} s`);
  }
  return { ...numbers, windowSeconds: window };
}

function addIntegerPolicies(given: QuotaFields, field: string, items: readonly (Item | InnerList)[]): void {
  for (const [value, parameters] of items) {
    const quota = integer(given, `${field} policy`, value);
    if (quota === null) continue;
    const windowSeconds = parametersOf(given, field, String(quota), parameters).required('w', 1);
    given.policies.push({ ...UNKNOWN_POLICY, quota, windowSeconds });
  }
}

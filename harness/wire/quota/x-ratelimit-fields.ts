import { parseList } from 'structured-headers';
import { structured } from '../fields/grammar/structured-field.ts';
import {
  type QuotaDialect,
  type QuotaFamily,
  type QuotaFields,
  type QuotaNumbers,
  type QuotaPolicy,
  ROUNDING_SECONDS,
  UNKNOWN_POLICY,
} from './dialect.ts';

/** `X-RateLimit-Reset` is an epoch with fractions, `-Reset-After` the same moment as seconds from now. */
const DISCORD: QuotaDialect = {
  name: 'discord',
  speaks: (given) => given.has('reset-after', 'bucket'),
  read(given) {
    const reset = readReset(given, 'reset');
    const after = decimal(given.get('reset-after'));
    if (given.has('reset-after') && after === null) fault(given, 'reset-after', 'not seconds');
    if (after !== null && reset !== null && Math.abs(after - reset) > 1 + ROUNDING_SECONDS) {
      given.contradictions.push(
        `the reset ${reset.toFixed(1)} s after the Date of the response (${given.serverNow.toISOString()}), but ${after} s from now`,
      );
    }
    return { ...counts(given), resetSeconds: after ?? reset };
  },
  examples: [
    'X-RateLimit-Limit: 5 | X-RateLimit-Remaining: 0 | X-RateLimit-Reset: 1795262401.250 | X-RateLimit-Reset-After: 1.250 | X-RateLimit-Bucket: abcd1234 → 5, 0, 1.25, –',
  ],
};

const HAPI: QuotaDialect = {
  name: 'hapi',
  speaks: (given) => given.has('userlimit', 'userremaining', 'userreset'),
  read: (given) => ({
    ...counts(given, 'userlimit', 'userremaining'),
    resetSeconds: readReset(given, 'userreset'),
  }),
  examples: [
    'X-RateLimit-UserLimit: 300 | X-RateLimit-UserRemaining: 299 | X-RateLimit-UserReset: 1795262402000 → 300, 299, 2, –',
  ],
};

/** A policy for each of these that fields like `limit-minute` and `remaining-minute` tell of. */
function addPolicies(
  given: QuotaFields,
  of: readonly string[],
  more: (each: string) => Partial<QuotaPolicy>,
): void {
  for (const name of of.filter((each) => given.has(`limit-${each}`, `remaining-${each}`))) {
    const { limit: quota, remaining } = counts(given, `limit-${name}`, `remaining-${name}`);
    given.policies.push({ ...UNKNOWN_POLICY, name, quota, remaining, ...more(name) });
  }
}

const SECONDS: Readonly<Record<string, number>> = {
  second: 1,
  minute: 60,
  hour: 3600,
  day: 86_400,
  month: 30 * 86_400,
  year: 365 * 86_400,
};

/** Fields per unit of time. */
const KONG: QuotaDialect = {
  name: 'kong',
  speaks: (given) => given.has(...Object.keys(SECONDS).map((unit) => `limit-${unit}`)),
  read(given) {
    addPolicies(given, Object.keys(SECONDS), (unit) => ({ windowSeconds: SECONDS[unit] ?? null }));
    const plan = given.policies.find((policy) => policy.windowSeconds === given.windowSeconds);
    const { quota, remaining, windowSeconds } = plan ?? given.policies[0] ?? UNKNOWN_POLICY;
    return { limit: quota, remaining, resetSeconds: null, windowSeconds };
  },
  examples: [
    'X-RateLimit-Limit-Minute: 20 | X-RateLimit-Remaining-Minute: 19 | X-RateLimit-Limit-Hour: 500 → 20, 19, –, 60',
  ],
};

/** Fields per thing that is counted, the resets as durations; so do services that are made to be asked like OpenAI's. */
const OPENAI: QuotaDialect = {
  name: 'openai',
  speaks: (given) => given.has(...COUNTED.flatMap((unit) => [`limit-${unit}`, `remaining-${unit}`])),
  read(given) {
    addPolicies(given, COUNTED, (unit) => ({ unit, resetSeconds: readDuration(given, `reset-${unit}`) }));
    const { quota, remaining, resetSeconds } =
      given.policies.find(({ unit }) => unit === 'requests') ?? UNKNOWN_POLICY;
    return { limit: quota, remaining, resetSeconds, windowSeconds: null };
  },
  write: ({ limit, remaining, resetSeconds }) => [
    ['x-ratelimit-limit-requests', String(limit)],
    ['x-ratelimit-remaining-requests', String(remaining)],
    ['x-ratelimit-reset-requests', `${Math.floor(resetSeconds / 60)}m${resetSeconds % 60}s`],
  ],
  variant: {
    name: 'openai-quota-fields',
    summary: 'announces its quota in fields per thing that is counted, the reset as a duration',
  },
  examples: [
    'x-ratelimit-limit-requests: 60 | x-ratelimit-limit-tokens: 150000 | x-ratelimit-remaining-requests: 59 | x-ratelimit-remaining-tokens: 149984 | x-ratelimit-reset-requests: 1s | x-ratelimit-reset-tokens: 6m0s → 60, 59, 1, –',
    'x-ratelimit-limit-requests: 14400 | x-ratelimit-reset-requests: 1h2m59.56s → 14400, –, 3779.56, –',
    'x-ratelimit-remaining-requests: 7 | x-ratelimit-reset-requests: 12ms → –, 7, 0.012, –',
  ],
};

const COUNTED = ['requests', 'tokens', 'input-tokens', 'output-tokens'];
const DURATION =
  /^(?:([0-9]{1,9})h)?(?:([0-9]{1,9})m)?(?:([0-9]{1,9}(?:\.[0-9]{1,9})?)s)?(?:([0-9]{1,9}(?:\.[0-9]{1,9})?)ms)?$/;

/** Seconds of a duration such as `6m0s` or `12ms`; a mere number is seconds. */
function readDuration(given: QuotaFields, member: string): number | null {
  const value = given.get(member) ?? '';
  const [, hours = 0, minutes = 0, seconds = 0, milliseconds = 0] = DURATION.exec(value) ?? [];
  if (value !== '' && DURATION.test(value)) {
    return Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds) + Number(milliseconds) / 1000;
  }
  const number = decimal(value);
  if (number === null && given.has(member)) fault(given, member, 'not a duration');
  return number;
}

/** `10, 10;w=1;name="per-ip"`: the limit in force, then every policy. */
const ENVOY: QuotaDialect = {
  name: 'envoy',
  speaks: (given) => envoyPolicies(given).length > 1,
  read(given) {
    const [first = UNKNOWN_POLICY, ...policies] = envoyPolicies(given);
    const limit = first.quota;
    given.policies.push(...policies);
    const inForce = policies.find(({ quota }) => quota === limit);
    if (!inForce) given.contradictions.push(`a limit of ${limit}, which no policy has`);
    return {
      limit,
      remaining: count(given, 'remaining'),
      resetSeconds: readReset(given, 'reset'),
      windowSeconds: inForce?.windowSeconds ?? null,
    };
  },
  examples: [
    'X-RateLimit-Limit: 10, 10;w=1;name="per-ip", 1000;w=3600 | X-RateLimit-Remaining: 9 | X-RateLimit-Reset: 1 → 10, 9, 1, 1',
  ],
};

function envoyPolicies(given: QuotaFields): readonly QuotaPolicy[] {
  const value = given.get('limit') ?? '';
  if (!value.includes(';')) return [];
  const policies = structured(() => parseList(value)) ?? [];
  return policies.map(([quota, parameters]) => {
    const [window, name] = [parameters.get('w'), parameters.get('name')];
    return {
      ...UNKNOWN_POLICY,
      name: typeof name === 'string' ? name : null,
      quota: typeof quota === 'number' ? quota : null,
      windowSeconds: typeof window === 'number' ? window : null,
    };
  });
}

/** Epoch seconds, with `-Used` and `-Resource`. */
const GITHUB: QuotaDialect = {
  name: 'github',
  speaks: (given) => resetOf(given, 'reset')?.unit === 'epoch' && given.has('used', 'resource'),
  read: readPlain,
  examples: [
    'x-ratelimit-limit: 60 | x-ratelimit-remaining: 58 | x-ratelimit-used: 2 | x-ratelimit-resource: core | x-ratelimit-reset: 1795266000 → 60, 58, 3600, –',
  ],
};

type Unit = 'delta' | 'delta-ms' | 'epoch' | 'epoch-ms' | 'date';

/** The three common fields, the reset in one of the units that people give it. */
function plain(unit: Unit, more: Pick<QuotaDialect, 'examples' | 'write' | 'variant'>): QuotaDialect {
  return {
    name: `x-ratelimit-${unit}`,
    speaks: (given) => resetOf(given, 'reset')?.unit === unit,
    read: readPlain,
    ...more,
  };
}

const PLAIN: readonly QuotaDialect[] = [
  plain('delta', {
    examples: ['X-RateLimit-Limit: 100 | X-RateLimit-Remaining: 42 | X-RateLimit-Reset: 30 → 100, 42, 30, –'],
  }),
  plain('delta-ms', {
    examples: [
      'X-RateLimit-Limit: 100 | X-RateLimit-Remaining: 42 | X-RateLimit-Reset: 29500 → 100, 42, 29.5, –',
    ],
  }),
  plain('epoch', {
    write: ({ limit, remaining, resetAt }) => [
      ['X-RateLimit-Limit', String(limit)],
      ['X-RateLimit-Remaining', String(remaining)],
      ['X-RateLimit-Reset', String(resetAt)],
    ],
    variant: {
      name: 'x-ratelimit-fields',
      summary: 'announces its quota in X-RateLimit fields, the reset in epoch seconds',
    },
    examples: [
      'X-RateLimit-Limit: 100 | X-RateLimit-Remaining: 42 | X-RateLimit-Reset: 1795262430.5 → 100, 42, 30.5, –',
      'X-Rate-Limit-Limit: 100 | X-Rate-Limit-Remaining: 42 | X-Rate-Limit-Reset: 1795262430 → 100, 42, 30, –',
    ],
  }),
  plain('epoch-ms', {
    examples: [
      'X-RateLimit-Limit: 100 | X-RateLimit-Remaining: 42 | X-RateLimit-Reset: 1795262401500 → 100, 42, 1.5, –',
    ],
  }),
  plain('date', {
    examples: [
      'X-RateLimit-Limit: 100 | X-RateLimit-Remaining: 42 | X-RateLimit-Reset: Sat Nov 21 2026 12:00:45 GMT+0000 (UTC) → 100, 42, 45, –',
    ],
  }),
  {
    name: 'x-ratelimit',
    speaks: () => true,
    read: readPlain,
    examples: ['X-RateLimit-Limit: 100 | X-RateLimit-Remaining: 42 → 100, 42, –, –'],
  },
];

/**
 * The `X-RateLimit-*` fields (and `X-Rate-Limit-*`). No standard defines them; their reset is seconds to some, a
 * Unix time in seconds or milliseconds or a date to others.
 */
export const X_RATELIMIT: QuotaFamily = {
  called: 'the X- fields',
  fields: /^x-rate-?limit-(.+)$/i,
  dialects: [DISCORD, HAPI, KONG, OPENAI, ENVOY, GITHUB, ...PLAIN],
};

function readPlain(given: QuotaFields): QuotaNumbers {
  const numbers = { ...counts(given), resetSeconds: readReset(given, 'reset') };
  const { limit, remaining } = numbers;
  const used = count(given, 'used');
  if (limit !== null && remaining !== null && used !== null && limit !== used + remaining) {
    given.contradictions.push(`${used} used and ${remaining} remaining of a limit of ${limit}`);
  }
  return numbers;
}

function counts(given: QuotaFields, limit = 'limit', remaining = 'remaining') {
  return { limit: count(given, limit), remaining: count(given, remaining), windowSeconds: null };
}

/** A whole number of requests. */
function count(given: QuotaFields, member: string): number | null {
  const value = given.get(member);
  if (value === undefined) return null;
  if (/^[0-9]{1,15}$/.test(value)) return Number(value);
  fault(given, member, 'not a number of requests');
  return null;
}

/** Tells the unit of a reset by its size: notes on each border stand beside it. null where it is none, or missing. */
function resetOf(
  given: QuotaFields,
  member: string,
): { readonly unit: Unit; readonly number: number } | null {
  const value = given.get(member) ?? '';
  const number = decimal(value);
  if (number === null) {
    const date = /[A-Za-z]/.test(value) ? Date.parse(value.slice(0, 100)) : Number.NaN;
    return Number.isNaN(date) ? null : { unit: 'date', number: date };
  }
  // The year 2001 in milliseconds and in seconds; no delay is as long.
  if (number > 1e12) return { unit: 'epoch-ms', number };
  if (number > 1e9) return { unit: 'epoch', number };
  const window = given.windowSeconds ?? 0;
  // Too long for the window in seconds, but not in milliseconds.
  const isMs =
    window > 0 &&
    number > Math.ceil(window) + ROUNDING_SECONDS &&
    number <= (window + ROUNDING_SECONDS) * 1000;
  return { unit: isMs ? 'delta-ms' : 'delta', number };
}

/** Seconds until a reset, in whichever unit it is given. */
function readReset(given: QuotaFields, member: string): number | null {
  const reset = resetOf(given, member);
  if (reset === null) {
    if (given.has(member)) fault(given, member, 'neither a number nor a date');
    return null;
  }
  const { unit, number } = reset;
  if (unit === 'delta') return number;
  if (unit === 'delta-ms') return number / 1000;
  return given.secondsUntil(unit === 'epoch' ? number * 1000 : number, fieldName(member));
}

/** A non-negative number, with a fraction or without. */
function decimal(value: string | undefined): number | null {
  return value !== undefined && /^[0-9]{1,16}(\.[0-9]{1,16})?$/.test(value) ? Number(value) : null;
}

function fault(given: QuotaFields, member: string, reason: string): void {
  given.malformed(fieldName(member), given.get(member) ?? '', reason);
}

function fieldName(member: string): string {
  return `X-RateLimit-${member.replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase())}`;
}

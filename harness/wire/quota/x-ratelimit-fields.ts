import { parseList } from 'structured-headers';
import { structured } from '../fields/grammar/structured-field.ts';
import {
  MOST_POLICIES,
  type QuotaDialect,
  type QuotaFamily,
  type QuotaNumbers,
  type QuotaPolicy,
  ROUNDING_SECONDS,
  type Told,
  UNTOLD,
} from './dialect.ts';

/** `X-RateLimit-Reset` is an epoch with fractions, `-Reset-After` the same moment as seconds from now. */
const DISCORD: QuotaDialect = {
  name: 'discord',
  speaks: (told) => told.has('reset-after', 'bucket'),
  read(told) {
    const reset = readReset(told, 'reset');
    const after = decimal(told.get('reset-after'));
    if (told.has('reset-after') && after === null) fault(told, 'reset-after', 'not seconds');
    if (after !== null && reset !== null && Math.abs(after - reset) > 1 + ROUNDING_SECONDS) {
      told.contradictions.push(
        `the reset ${reset.toFixed(1)} s after the Date of the response (${told.serverNow.toISOString()}), but ${after} s from now`,
      );
    }
    return { ...counts(told), resetSeconds: after ?? reset };
  },
  examples: [
    'X-RateLimit-Limit: 5 | X-RateLimit-Remaining: 0 | X-RateLimit-Reset: 1795262401.250 | X-RateLimit-Reset-After: 1.250 | X-RateLimit-Bucket: abcd1234 → 5, 0, 1.25, –',
  ],
};

const HAPI: QuotaDialect = {
  name: 'hapi',
  speaks: (told) => told.has('userlimit', 'userremaining', 'userreset'),
  read: (told) => ({
    ...counts(told, 'userlimit', 'userremaining'),
    resetSeconds: readReset(told, 'userreset'),
  }),
  examples: [
    'X-RateLimit-UserLimit: 300 | X-RateLimit-UserRemaining: 299 | X-RateLimit-UserReset: 1795262402000 → 300, 299, 2, –',
  ],
};

/** A policy for each of these that fields like `limit-minute` and `remaining-minute` tell of. */
function addPolicies(told: Told, of: readonly string[], more: (each: string) => Partial<QuotaPolicy>): void {
  for (const name of of.filter((each) => told.has(`limit-${each}`, `remaining-${each}`))) {
    const { limit: quota, remaining } = counts(told, `limit-${name}`, `remaining-${name}`);
    told.policies.push({ ...UNTOLD, name, quota, remaining, ...more(name) });
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
  speaks: (told) => told.has(...Object.keys(SECONDS).map((unit) => `limit-${unit}`)),
  read(told) {
    addPolicies(told, Object.keys(SECONDS), (unit) => ({ windowSeconds: SECONDS[unit] ?? null }));
    const plan = told.policies.find((policy) => policy.windowSeconds === told.windowSeconds);
    const { quota, remaining, windowSeconds } = plan ?? told.policies[0] ?? UNTOLD;
    return { limit: quota, remaining, resetSeconds: null, windowSeconds };
  },
  examples: [
    'X-RateLimit-Limit-Minute: 20 | X-RateLimit-Remaining-Minute: 19 | X-RateLimit-Limit-Hour: 500 → 20, 19, –, 60',
  ],
};

/** Fields per thing that is counted, the resets as durations; so do services that are made to be asked like OpenAI's. */
const OPENAI: QuotaDialect = {
  name: 'openai',
  speaks: (told) => told.has(...COUNTED.flatMap((unit) => [`limit-${unit}`, `remaining-${unit}`])),
  read(told) {
    addPolicies(told, COUNTED, (unit) => ({ unit, resetSeconds: readDuration(told, `reset-${unit}`) }));
    const { quota, remaining, resetSeconds } =
      told.policies.find(({ unit }) => unit === 'requests') ?? UNTOLD;
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
function readDuration(told: Told, member: string): number | null {
  const value = told.get(member) ?? '';
  const [, hours = 0, minutes = 0, seconds = 0, milliseconds = 0] = DURATION.exec(value) ?? [];
  if (value !== '' && DURATION.test(value)) {
    return Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds) + Number(milliseconds) / 1000;
  }
  const number = decimal(value);
  if (number === null && told.has(member)) fault(told, member, 'not a duration');
  return number;
}

/** `10, 10;w=1;name="per-ip"`: the limit in force, then every policy. */
const ENVOY: QuotaDialect = {
  name: 'envoy',
  speaks: (told) => envoyPolicies(told).length > 1,
  read(told) {
    const [first = UNTOLD, ...policies] = envoyPolicies(told);
    const limit = first.quota;
    told.policies.push(...policies);
    const inForce = policies.find(({ quota }) => quota === limit);
    if (!inForce) told.contradictions.push(`a limit of ${limit}, which no policy has`);
    return {
      limit,
      remaining: count(told, 'remaining'),
      resetSeconds: readReset(told, 'reset'),
      windowSeconds: inForce?.windowSeconds ?? null,
    };
  },
  examples: [
    'X-RateLimit-Limit: 10, 10;w=1;name="per-ip", 1000;w=3600 | X-RateLimit-Remaining: 9 | X-RateLimit-Reset: 1 → 10, 9, 1, 1',
  ],
};

function envoyPolicies(told: Told): readonly QuotaPolicy[] {
  const value = told.get('limit') ?? '';
  if (!value.includes(';')) return [];
  const policies = structured(() => parseList(value)) ?? [];
  return policies.slice(0, MOST_POLICIES).map(([quota, parameters]) => {
    const [window, name] = [parameters.get('w'), parameters.get('name')];
    return {
      ...UNTOLD,
      name: typeof name === 'string' ? name : null,
      quota: typeof quota === 'number' ? quota : null,
      windowSeconds: typeof window === 'number' ? window : null,
    };
  });
}

/** Epoch seconds, with `-Used` and `-Resource`. */
const GITHUB: QuotaDialect = {
  name: 'github',
  speaks: (told) => resetOf(told, 'reset')?.unit === 'epoch' && told.has('used', 'resource'),
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
    speaks: (told) => resetOf(told, 'reset')?.unit === unit,
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

function readPlain(told: Told): QuotaNumbers {
  const numbers = { ...counts(told), resetSeconds: readReset(told, 'reset') };
  const { limit, remaining } = numbers;
  const used = count(told, 'used');
  if (limit !== null && remaining !== null && used !== null && limit !== used + remaining) {
    told.contradictions.push(`${used} used and ${remaining} remaining of a limit of ${limit}`);
  }
  return numbers;
}

function counts(told: Told, limit = 'limit', remaining = 'remaining') {
  return { limit: count(told, limit), remaining: count(told, remaining), windowSeconds: null };
}

/** A whole number of requests. */
function count(told: Told, member: string): number | null {
  const value = told.get(member);
  if (value === undefined) return null;
  if (/^[0-9]{1,15}$/.test(value)) return Number(value);
  fault(told, member, 'not a number of requests');
  return null;
}

/** Tells the unit of a reset by its size: notes on each border stand beside it. null where it is none, or missing. */
function resetOf(told: Told, member: string): { readonly unit: Unit; readonly number: number } | null {
  const value = told.get(member) ?? '';
  const number = decimal(value);
  if (number === null) {
    const date = /[A-Za-z]/.test(value) ? Date.parse(value.slice(0, 100)) : Number.NaN;
    return Number.isNaN(date) ? null : { unit: 'date', number: date };
  }
  // The year 2001 in milliseconds and in seconds; no delay is as long.
  if (number > 1e12) return { unit: 'epoch-ms', number };
  if (number > 1e9) return { unit: 'epoch', number };
  const window = told.windowSeconds ?? 0;
  // Too long for the window in seconds, but not in milliseconds.
  const isMs =
    window > 0 &&
    number > Math.ceil(window) + ROUNDING_SECONDS &&
    number <= (window + ROUNDING_SECONDS) * 1000;
  return { unit: isMs ? 'delta-ms' : 'delta', number };
}

/** Seconds until a reset, in whichever unit it is told. */
function readReset(told: Told, member: string): number | null {
  const reset = resetOf(told, member);
  if (reset === null) {
    if (told.has(member)) fault(told, member, 'neither a number nor a date');
    return null;
  }
  const { unit, number } = reset;
  if (unit === 'delta') return number;
  if (unit === 'delta-ms') return number / 1000;
  return told.secondsUntil(unit === 'epoch' ? number * 1000 : number, fieldName(member));
}

/** A non-negative number, with a fraction or without. */
function decimal(value: string | undefined): number | null {
  return value !== undefined && /^[0-9]{1,16}(\.[0-9]{1,16})?$/.test(value) ? Number(value) : null;
}

function fault(told: Told, member: string, reason: string): void {
  told.malformed(fieldName(member), told.get(member) ?? '', reason);
}

function fieldName(member: string): string {
  return `X-RateLimit-${member.replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase())}`;
}

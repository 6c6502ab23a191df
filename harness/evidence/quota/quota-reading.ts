/** Ways of telling a quota in response fields; stable names, observed as `limits.dialect`. */
const QUOTA_DIALECTS = [
  /** Nothing is told. */
  'none',
  /** draft-ietf-httpapi-ratelimit-headers-00 to -03: the policy stands in `RateLimit-Limit`. */
  'ratelimit-draft-03',
  /** -04 to -06: `RateLimit-Policy` beside three fields of integers. */
  'ratelimit-draft-06',
  /** -07: one dictionary, `RateLimit: limit=100, remaining=50, reset=5`. */
  'ratelimit-draft-07',
  /** -08 and later: lists of named items, `RateLimit: "default";r=50;t=30`. */
  'ratelimit-draft-08',
  /** The fields of draft 06 with an epoch in `RateLimit-Reset`, which no draft has. */
  'ratelimit-epoch',
  /** The same, documented by GitLab, with its further fields. */
  'gitlab',
  /** `X-RateLimit-*` (or `X-Rate-Limit-*`) without a reset. */
  'x-ratelimit',
  /** … with seconds until the reset. */
  'x-ratelimit-delta',
  'x-ratelimit-delta-ms',
  /** … with the Unix time of the reset. */
  'x-ratelimit-epoch',
  'x-ratelimit-epoch-ms',
  /** … with a date in some textual form. */
  'x-ratelimit-date',
  /** Epoch seconds, with `-Used` and `-Resource`. */
  'github',
  /** Policies in `X-RateLimit-Limit`: `10, 10;w=1;name="per-ip"`. */
  'envoy',
  /** `-Reset-After` beside an epoch with fractions. */
  'discord',
  /** Fields per unit of time: `X-RateLimit-Limit-Minute`. */
  'kong',
  /** `X-RateLimit-UserLimit` and its like. */
  'hapi',
] as const;

export type QuotaDialect = (typeof QUOTA_DIALECTS)[number];

/** One quota that the response tells of. */
export interface QuotaPolicy {
  /** null where the dialect has no names. */
  readonly name: string | null;
  readonly quota: number | null;
  readonly windowSeconds: number | null;
  /** What is counted: `requests` unless told otherwise. */
  readonly unit: string;
  /** Partition key, in base64; null for none. */
  readonly partition: string | null;
  readonly remaining: number | null;
  readonly resetSeconds: number | null;
}

/** What a response tells of the client's quota. */
export interface QuotaReading {
  readonly dialect: QuotaDialect;
  /** Of the policy for the plan's window where that is known and told, else of the one with the least left. */
  readonly limit: number | null;
  readonly remaining: number | null;
  /** Seconds from the response until the quota is renewed, may have a fraction; epochs are held against its Date. */
  readonly resetSeconds: number | null;
  readonly windowSeconds: number | null;
  readonly policies: readonly QuotaPolicy[];
  /** Values that are malformed by the dialect's own rules, one line each. */
  readonly faults: readonly string[];
  /** Well-formed values that cannot all be true, one line each. */
  readonly contradictions: readonly string[];
  /** The same response in further dialects. */
  readonly others: readonly QuotaReading[];
}

/** When a quota was told, and what the plan says. */
export interface QuotaOccasion {
  /** When the response was received: stands in for a missing Date. */
  readonly receivedAt: Date;
  /** The plan's window in ms: tells seconds from milliseconds and the plan's policy from others. */
  readonly windowMs?: number;
}

/** A reading while it is put together. */
export class QuotaNotes {
  readonly policies: QuotaPolicy[] = [];
  readonly faults: string[] = [];
  readonly contradictions: string[] = [];

  /** The reading whose main numbers are given, checked against one another. */
  reading(
    dialect: QuotaDialect,
    numbers: Pick<QuotaReading, 'limit' | 'remaining' | 'resetSeconds' | 'windowSeconds'>,
  ): QuotaReading {
    const { limit, remaining } = numbers;
    if (limit !== null && remaining !== null && remaining > limit) {
      this.contradictions.push(`${remaining} remaining of a limit of ${limit}`);
    }
    const { policies, faults, contradictions } = this;
    return { dialect, ...numbers, policies, faults, contradictions, others: [] };
  }
}

/** The quota is whole seconds on the wire; rounding up adds at most one. */
export const ROUNDING_SECONDS = 1;

/** Nobody honest tells of more. */
export const MOST_POLICIES = 50;

/** A sliding counter remembers two windows; nobody has to wait longer than that. In seconds. */
export function longestReset(windowSeconds: number): number {
  return 2 * windowSeconds + ROUNDING_SECONDS;
}

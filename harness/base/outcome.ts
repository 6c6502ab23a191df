/** The strength of a check: what its grounds allow a violation to mean. */
export type Level = 'MUST' | 'SHOULD' | 'NONE';

export const OUTCOMES = [
  'pass',
  'fail',
  'warning',
  'observed',
  'known',
  'skipped',
  'blocked',
  'error',
] as const;

/**
 * What became of a check. `skipped`: does not apply to this service. `blocked`: applies, but could not be
 * exercised; never green. `error`: the harness's own fault. `known`: a listed known failure.
 */
export type Outcome = (typeof OUTCOMES)[number];

/** A ground of a check as it stands for one service. */
export interface ResolvedGround {
  readonly kind: 'clause' | 'standard' | 'practice';
  /** Clause key, or section of the standard (`RFC 9110 §15.5.2`), or name of the practice. */
  readonly ref: string;
  /** `stated | advised | not-shown | config` for a clause; `MUST | SHOULD | MAY` for a standard; `practice`. */
  readonly standing: string;
  /** For a person: where it is written, e.g. `search-service.md, Limits, row 1`. */
  readonly place: string;
}

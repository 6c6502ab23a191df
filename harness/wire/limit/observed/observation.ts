import type { QuotaReading } from '../../quota/quota.ts';

/** One request of a measurement, as far as a limiter is concerned. Times are ms on one monotonic clock. */
export interface LimitObservation {
  readonly sentMs: number;
  /** When its answer was in: the limiter decided somewhere between the two. */
  readonly finishedMs: number;
  /** `lost`: no answer came, so nothing is known of what the limiter did. */
  readonly fate: 'admitted' | 'refused' | 'lost';
  /**
   * Whether the quota was asked for it at all: what other suites sent may have been answered before that
   * (a 401 may count or not).
   */
  readonly counted: 'surely' | 'maybe';
  readonly part: LimitPart;
  readonly status: number | null;
  /** What the quota fields of its answer told; null when they were not read. */
  readonly quota: QuotaReading | null;
  /** From the receipt of the answer; null without a valid Retry-After. */
  readonly retryAfterMs: number | null;
  /** Retry-After was a date, which is rounded up while the Date it is held against is cut off. */
  readonly retryAfterIsDate: boolean;
  /** The answer's own Date, ms since the epoch, cut to the second; null without one. */
  readonly dateMs: number | null;
}

/** Which part of the measurement a request belongs to. */
export type LimitPart =
  /** Sent by other suites within the window, or alone to read the fields. */
  | 'before'
  | 'serial'
  | 'parallel'
  /** Alone, to see whether the quota is back. */
  | 'probe';

/** The documented limit. */
export interface DocumentedLimit {
  readonly requests: number;
  readonly windowMs: number;
}

/** A stretch of time in ms on the observations' clock. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Lower and upper bound of a number that is known no closer; both included. */
export interface Bounds {
  readonly least: number;
  readonly most: number;
}

/** Those whose fate is known and that were not sent together, in the order of sending. */
export function oneByOne(observations: readonly LimitObservation[]): readonly LimitObservation[] {
  return observations
    .filter(({ fate, part }) => fate !== 'lost' && part !== 'parallel')
    .toSorted((a, b) => a.sentMs - b.sentMs);
}

import type { Exchange } from '../../exchange.ts';
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
  /** The quota fields of its answer; null when they were not read. */
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

/** What a limiter's refusal looks like, so that it is known wherever it comes. */
export interface RefusalFace {
  /** null: it ends the connection and answers nothing (RFC 6585 §7.2). */
  readonly status: number | null;
  /** Its content, without the numbers in it; '' where it has none. */
  readonly content: string;
}

/** RFC 6585 §4: it says of itself what it is. */
const TOO_MANY = 429;
/** As much of the content as tells one refusal from another, in octets. */
const TELLING = 2_048;

export function faceOf({ response }: Pick<Exchange, 'response'>): RefusalFace {
  const content = Buffer.from(response?.body.bytes ?? []).subarray(0, TELLING);
  // Ids and times differ from one refusal to the next.
  const steady = content.toString('latin1').replaceAll(/[0-9a-f]*\d[0-9a-f]*/gi, '#');
  return { status: response?.status ?? null, content: steady };
}

/** Statuses of a server that fails, for now (RFC 9110 §15.6). */
const FAILURES: ReadonlySet<number> = new Set([500, 502, 503, 504]);

export function isFailure(status: number | null): boolean {
  return status !== null && FAILURES.has(status);
}

type BurstAnswer = Pick<Exchange, 'response' | 'failure'>;

/** The connection ended instead of an answer. */
export function isDropped({ response, failure }: BurstAnswer): boolean {
  return response === null && (failure?.kind === 'reset' || failure?.kind === 'closed');
}

/** Whether that is the limiter's refusal; `face` is the one that was met, null while none was. */
export function isLimitersRefusal(answer: BurstAnswer, face: RefusalFace | null): boolean {
  if (answer.response?.status === TOO_MANY) return true;
  if (face === null || face.status === TOO_MANY) return false;
  if (face.status === null) return isDropped(answer);
  const { status, content } = faceOf(answer);
  // An answer to HEAD has no content.
  return status === face.status && (content === face.content || content === '' || face.content === '');
}

/**
 * Every tolerance of the rate-limit measurement, in ms unless said otherwise, each with its reason. Nothing else in
 * the inference, the planner or the checks is lenient.
 */
export const TOLERANCE = {
  /** A limiter notes the moment by its own clock, which ticks and is scheduled apart from ours. */
  limiterClock: 20,
  /** After a promised moment, before the request that tries it: one tick of either clock and the way there. */
  afterPromise: 50,
  /** Retry-After, `t` and resets are whole seconds; rounding up makes them late by up to one. */
  wholeSeconds: 1_000,
  /** Of the window: what a store that keeps time in whole seconds may add to it, where that is less than a second. */
  expiryShare: 0.1,
  /** How many windows more than needed Retry-After may ask for. */
  generousWindows: 2,
  /** The same for short windows, in ms. */
  generous: 10_000,
  /** Date is cut to the second and may have been written up to a second before it was sent (cached by servers). */
  dateField: 1_000,
  /** Of the time per request at the documented rate: an answer that waits that long in a row is being paced. */
  pacedShare: 0.5,
  /** Of one slot (W/N): a bucket has surely refilled one request after it. */
  slotsToRefill: 1.5,
  /** Of the window: apart enough for two groups of requests to leave a sliding window at moments that differ. */
  spreadShare: 0.1,
  /** The documented number more than the limit itself that is sent before it is called unmet. */
  patienceShare: 0.1,
  patience: 2,
  /** Of the plan: bounds of a limit that flows back further apart than this do not tell the documented number. */
  tellingShare: 0.1,
  /** The same for small plans, in requests: one that may have come back just before. */
  tellingLeast: 1,
} as const;

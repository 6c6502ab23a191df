import type {
  DocumentedLimit,
  LimitObservation,
  Span,
} from '../../../harness/wire/limit/observed/observation.ts';

/** What to do next to find out about a limit. Times are ms on the observations' clock. */
export type LimitStep =
  /** One request after the other until the first refusal, `upTo` at the most. */
  | { readonly kind: 'serial'; readonly upTo: number }
  /** That many at once, each on a connection of its own. */
  | { readonly kind: 'parallel'; readonly count: number; readonly firstWave?: number }
  /** The same, once no limiter remembers any request: not before `fromMs`. */
  | { readonly kind: 'anew'; readonly count: number; readonly fromMs: number }
  /** Everything that needs a spent quota: the other key, the variants. */
  | { readonly kind: 'while-spent' }
  /** `isFurther`: where it cannot be sent, the others tell what they tell. */
  | { readonly kind: 'probe'; readonly reason: string; readonly isFurther?: boolean }
  /** One request alone behind all others. It tells kinds of limiter apart, and nothing of how the quota came back. */
  | { readonly kind: 'tell'; readonly reason: string }
  | { readonly kind: 'wait'; readonly untilMs: number; readonly reason: string }
  | { readonly kind: 'stop'; readonly reason: string };

/** What is known when the next step is to be chosen. */
export interface LimitKnowledge {
  readonly documented: DocumentedLimit;
  /** In the order of sending; requests of other suites within the window included. */
  readonly observations: readonly LimitObservation[];
  /** `while-spent` was done. */
  readonly spentAsked: boolean;
  /** A second limit refuses requests that are sent together, however much is left of the documented one. */
  readonly isHasteRefused?: boolean;
  /** A further probe could not be sent, and none is asked for any more. */
  readonly isFurtherLeftOut?: boolean;
  /** When the quota was about to be spent anew; undefined before. What was sent earlier tells no next step. */
  readonly anewMs?: number;
  readonly nowMs: number;
  /** What our wall clock is ahead of the observations' clock. */
  readonly ownOffsetMs: number;
}

export function wait(untilMs: number, reason: string): LimitStep {
  return { kind: 'wait', untilMs, reason };
}

/**
 * When the window began in which the quota was spent, or is about to be, if windows begin with the first of these
 * requests behind the last one: between its sending and its answer. null where there are none.
 */
export function windowStart(observations: readonly LimitObservation[], windowMs: number): Span | null {
  let start: LimitObservation | null = null;
  for (const each of observations) {
    if (start === null || each.sentMs >= start.sentMs + windowMs) start = each;
    if (each.fate === 'refused') break;
  }
  return start && { fromMs: start.sentMs, toMs: start.finishedMs };
}

/** The same where those open no window of which it is not known whether they count. */
export function surelyOpened(observations: readonly LimitObservation[], windowMs: number): Span | null {
  return windowStart(
    observations.filter(({ counted }) => counted === 'surely'),
    windowMs,
  );
}

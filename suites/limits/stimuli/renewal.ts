import {
  type LimitObservation,
  oneByOne,
  TOLERANCE,
} from '../../../harness/wire/limit/observed/observation.ts';
import { PARALLEL_OVERSHOOT } from './burst-size.ts';
import { type LimitKnowledge, type LimitStep, surelyOpened, wait } from './step.ts';

/** What shows that a quota is renewed as a whole, and too soon. */

/** Of the window: where a request alone shows that a window is shorter than documented. */
export const LATE_SHARE = 0.95;
const WITHIN_WINDOW = [0.25, 0.5, LATE_SHARE] as const;
/** Of the limit: where as many were served together later, and too slowly to show it, more tell nothing new. */
const MOST_LATER = 2;
/** Of the limit: as many at once are a quota that was renewed as a whole. */
const WHOLE_SHARE = 0.9;

/**
 * Requests in turn took so long that none was refused: a bucket flows back meanwhile, and a short window begins anew. A few
 * together are more than a bucket gives back. If all of them are served, the rest shows as many as no limiter of the plan
 * serves within one window. null if that is known, or too late.
 */
export function renewalBurst(known: LimitKnowledge): LimitStep | null {
  const { documented, observations, nowMs, isHasteRefused } = known;
  const { requests, windowMs } = documented;
  const together = observations.filter(({ part }) => part === 'parallel');
  const spentMs = Math.min(...together.flatMap(({ fate, sentMs }) => (fate === 'refused' ? [sentMs] : [])));
  const alone = observations.find(({ part, sentMs }) => part === 'probe' && sentMs > spentMs);
  const later = together.filter(({ sentMs }) => alone !== undefined && sentMs > alone.sentMs);
  const tookMs = Math.max(...together.map(({ sentMs, finishedMs }) => finishedMs - sentMs));
  const sinceMs = nowMs + 2 * tookMs + TOLERANCE.limiterClock - windowMs;
  const served = observations.filter(
    ({ fate, counted, sentMs }) => fate === 'admitted' && counted === 'surely' && sentMs >= sinceMs,
  ).length;
  const left = 2 * requests - served + PARALLEL_OVERSHOOT;
  const isKnown = later.some(({ fate }) => fate === 'refused') || served > 2 * requests;
  if (isHasteRefused || isKnown || left > requests || later.length > MOST_LATER * requests) return null;
  const flowed = 1 + ((nowMs + tookMs - spentMs) * requests) / windowMs;
  const few = Math.ceil(2 * flowed) + PARALLEL_OVERSHOOT;
  return { kind: 'parallel', count: later.length > 0 ? left : Math.min(few, left) };
}

interface Renewal {
  /** The last refusal before the quota was back. */
  readonly last: LimitObservation;
  readonly back: LimitObservation;
  /** When it was spent anew. */
  readonly spentMs: number;
  /** Requests alone after that. */
  readonly behind: readonly LimitObservation[];
}

/** A quota that was back before the window was over in which it was spent, and was spent anew; null where none was. */
function earlyRenewal({ documented, observations }: LimitKnowledge): Renewal | null {
  const { requests, windowMs } = documented;
  const alone = oneByOne(observations).filter(({ part }) => part === 'serial' || part === 'probe');
  const latest = observations.findLast(({ part }) => part === 'parallel');
  const before = alone.filter(({ sentMs }) => latest !== undefined && sentMs < latest.sentMs);
  const backAt = before.findLastIndex(
    ({ fate }, at) => fate === 'admitted' && before[at - 1]?.fate === 'refused',
  );
  const [last, back] = [before[backAt - 1], before[backAt]];
  if (last === undefined || back === undefined) return null;
  // The last window that refused requests can have fallen in, if windows begin with a request.
  const opened = surelyOpened(
    observations.filter(({ fate, sentMs }) => fate === 'admitted' && sentMs <= last.sentMs),
    windowMs,
  );
  const together = observations.filter(({ part, sentMs }) => part === 'parallel' && sentMs >= back.sentMs);
  const spentMs = Math.max(0, ...together.map(({ finishedMs }) => finishedMs));
  const isServed = ({ fate, sentMs }: LimitObservation) => fate === 'admitted' && sentMs > last.sentMs;
  const isSpent = together.some(({ fate }) => fate === 'refused');
  // Where requests in turn were never refused, a window may have ended among them.
  const isEarly =
    back.finishedMs < (opened?.fromMs ?? 0) + windowMs - TOLERANCE.limiterClock ||
    !alone.some(({ part, fate }) => part === 'serial' && fate === 'refused');
  if (!isEarly || !isSpent || observations.filter(isServed).length < WHOLE_SHARE * requests) return null;
  return { last, back, spentMs, behind: alone.filter(({ sentMs }) => sentMs >= spentMs) };
}

/** Whether a request was served although the quota was spent anew less than a window after it was spent. */
export function isBackAgain(known: LimitKnowledge): boolean {
  return earlyRenewal(known)?.behind.some(({ fate }) => fate === 'admitted') === true;
}

/**
 * The quota was back before the window was over in which it was spent: by a window of a clock, or since windows are short.
 * Spent anew, it is not back before one window after the last refusal. null if that is seen, or need not be.
 */
export function renewalProbe(known: LimitKnowledge): LimitStep | null {
  const { documented, nowMs, isFurtherLeftOut = false } = known;
  const { windowMs } = documented;
  const renewal = isFurtherLeftOut ? null : earlyRenewal(known);
  if (renewal === null) return null;
  const { last, back, spentMs, behind } = renewal;
  if (isBackAgain(known)) return renewalBurst(known);
  const certainlyMs = TOLERANCE.afterPromise + TOLERANCE.limiterClock;
  const latestMs = last.sentMs + windowMs - certainlyMs;
  const lastMs = behind.at(-1)?.sentMs ?? spentMs;
  const atMs = WITHIN_WINDOW.map((share) => back.finishedMs + share * windowMs + certainlyMs).find(
    (each) => each < latestMs && each > lastMs + certainlyMs,
  );
  if (atMs === undefined) return null;
  const reason = 'is the quota back again before a window is over?';
  return nowMs < atMs ? wait(atMs, reason) : { kind: 'probe', reason, isFurther: true };
}

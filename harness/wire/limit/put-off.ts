import { type DocumentedLimit, type LimitObservation, oneByOne } from './observed/observation.ts';
import { TOLERANCE } from './tolerances.ts';

/**
 * Whether refused requests put the end of the wait off, from what was refused and served and no model of a limiter;
 * null where that does not tell. They do not where a request is served less than a window after one that was refused.
 * They do where a request is refused at a moment at which every limiter that does not mind them serves again, and one is
 * served after a window of silence.
 */
export function putOff(
  observations: readonly LimitObservation[],
  documented: DocumentedLimit,
): boolean | null {
  // Since something was served for sure.
  let since: LimitObservation[] = [];
  let isLate = false;
  for (const each of oneByOne(observations)) {
    if (each.fate === 'refused') {
      const backMs = lawfullyBackMs(since, documented);
      const first = since.find(({ fate }) => fate === 'refused');
      const promisedMs = first === undefined ? 0 : first.finishedMs + (first.retryAfterMs ?? 0);
      if (backMs !== null && each.sentMs >= Math.max(backMs, promisedMs)) isLate = true;
    } else if (each.counted === 'surely') {
      const last = since.findLast(({ fate }) => fate === 'refused');
      if (last !== undefined) {
        if (each.finishedMs < last.sentMs + documented.windowMs - TOLERANCE.limiterClock) return false;
        if (isLate) return true;
      }
      since = [];
    }
    since.push(each);
  }
  return null;
}

/**
 * When every limiter that minds no refused requests serves again, whatever its windows begin with: one window after the
 * quota was spent, and the time in which one request flows back. null while nothing was refused.
 */
export function lawfullyBackMs(
  observations: readonly LimitObservation[],
  { requests, windowMs }: DocumentedLimit,
): number | null {
  const inOrder = oneByOne(observations);
  const first = inOrder.find(({ fate }) => fate === 'refused');
  if (first === undefined) return null;
  const spentMs = inOrder
    .filter(({ fate }) => fate === 'admitted')
    .reduce((latest, { finishedMs }) => Math.max(latest, finishedMs), first.finishedMs);
  return spentMs + windowMs + (TOLERANCE.slotsToRefill * windowMs) / requests + expiryMs(windowMs);
}

/** By how much a counter may outlive its window: many a store keeps time in whole seconds. */
export function expiryMs(windowMs: number): number {
  const clocks = TOLERANCE.afterPromise + TOLERANCE.limiterClock;
  return Math.max(clocks, Math.min(TOLERANCE.wholeSeconds, windowMs * TOLERANCE.expiryShare));
}

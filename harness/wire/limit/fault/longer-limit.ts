import { isApart } from '../apart.ts';
import type { DocumentedLimit, LimitObservation, Span } from '../observed/observation.ts';
import { TOLERANCE } from '../tolerances.ts';
import type { Kept } from './further-limit.ts';
import { isOfAnother } from './second-limit.ts';
import { flowedIn, remainingOf, resetOf } from './told-of-limit.ts';

/** Requests told to remain right before a refusal: so many, others have not spent in a moment. */
const LEFT_OVER = 3;

/**
 * How a limit is kept for which no request is sent: told by all that was sent anyway, in the order of sending. `main`: the
 * documented limit beside which it stands.
 */
export function keptAnyway(
  observations: readonly LimitObservation[],
  limit: DocumentedLimit,
  main: DocumentedLimit,
): Exclude<Kept, { kind: 'above' }> {
  const admitted = observations.filter(({ fate, counted }) => fate === 'admitted' && counted === 'surely');
  const served = servedBeyond(admitted, limit);
  if (served !== null) return { kind: 'broken', got: `${served} served` };
  const refusedAt = observations.findIndex(
    (each) => each.fate === 'refused' && isOfAnother(each, main) && remainingOf(each.quota, limit) === 0,
  );
  if (refusedAt !== -1) {
    const { part } = observations[refusedAt] ?? {};
    const left = remainingOf(observations[refusedAt - 1]?.quota ?? null, limit);
    if (part === 'serial' && left !== null && left >= LEFT_OVER)
      return { kind: 'broken', got: `a refusal while ${left} were told to remain` };
    return { kind: 'kept' };
  }
  return {
    kind: 'unmet',
    reason: `${mostWithin(admitted, limit)} were served in this run, and it takes ${limit.requests + 1}`,
  };
}

/** The most of them in one window. */
function mostWithin(admitted: readonly LimitObservation[], limit: DocumentedLimit): number {
  let most = 0;
  for (let from = 0; admitted.length - from > most; from += 1)
    most = Math.max(most, within(admitted, from, limit).length);
  return most;
}

/** The requests of one window that begins with this one. */
function within(
  admitted: readonly LimitObservation[],
  from: number,
  { windowMs }: DocumentedLimit,
): readonly LimitObservation[] {
  const sinceMs = admitted[from]?.sentMs ?? 0;
  return admitted.slice(from).filter(({ finishedMs }) => finishedMs - sinceMs < windowMs);
}

/**
 * How many were served in a stretch that is shorter than the window, where that is more than any limiter of this rate lets
 * through; null where it is not. A window may end within a stretch: that explains twice as many, but neither two stretches
 * within which no window of a clock can end both times, nor one whose window was told to last longer.
 */
function servedBeyond(admitted: readonly LimitObservation[], limit: DocumentedLimit): number | null {
  const { requests, windowMs } = limit;
  let before: Span | null = null;
  let from = 0;
  // With fewer left than the limit lets through, none can be beyond it.
  while (from + requests < admitted.length) {
    const first = admitted[from];
    if (first === undefined) break;
    const stretch = within(admitted, from, limit);
    const spanMs = (to: number) => (stretch[to]?.finishedMs ?? first.finishedMs) - first.sentMs;
    const beyond = (times: number) =>
      stretch.findIndex((_, at) => at + 1 > times * requests + flowedIn(limit, spanMs(at)));
    const twice = beyond(2);
    if (twice !== -1) return twice + 1;
    const once = beyond(1);
    if (once === -1) {
      from += 1;
      continue;
    }
    const span = { fromMs: first.sentMs, toMs: first.sentMs + spanMs(once) };
    const resetSeconds = resetOf(first.quota, limit);
    const lasts = resetSeconds !== null && resetSeconds * 1_000 - TOLERANCE.wholeSeconds > spanMs(once);
    if (lasts || (before !== null && isApart(before, span, windowMs))) return once + 1;
    before ??= span;
    from += once + 1;
  }
  return null;
}

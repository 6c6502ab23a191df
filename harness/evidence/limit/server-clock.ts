import type { Bounds, LimitObservation } from './observation.ts';
import { TOLERANCE } from './tolerances.ts';

/**
 * What is to be added to the observations' clock for the service's Unix time, in ms. Each Date bounds it; where ours
 * lies within all the bounds, the two clocks are taken for one.
 */
export function serverClock(observations: readonly LimitObservation[], ownOffsetMs: number): Bounds {
  let least = Number.NEGATIVE_INFINITY;
  let most = Number.POSITIVE_INFINITY;
  for (const { dateMs, sentMs, finishedMs } of observations) {
    if (dateMs === null) continue;
    least = Math.max(least, dateMs - finishedMs);
    most = Math.min(most, dateMs + 1_000 + TOLERANCE.dateField - sentMs);
  }
  const own = { least: ownOffsetMs - TOLERANCE.limiterClock, most: ownOffsetMs + TOLERANCE.limiterClock };
  // Without any Date, or with Dates that contradict each other, nothing better than our own clock is known.
  if (least > most || !Number.isFinite(least)) return own;
  return ownOffsetMs >= least && ownOffsetMs <= most ? own : { least, most };
}

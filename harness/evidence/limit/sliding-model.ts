import { countBelow } from '../../base/ascending.ts';
import type { Bounds } from './observation.ts';
import { atLeast, atMost, type Decision, type Fit, NO_BOUNDS } from './sequence.ts';
import { TOLERANCE } from './tolerances.ts';
import { describe } from './window-model.ts';

/**
 * A log of one window's length: at any moment it holds at most the limit. With `refusalsCount` a refused request is
 * logged as well.
 */
export function fitSlidingLog(decisions: readonly Decision[], windowMs: number, refusalsCount: boolean): Fit {
  const logged = decisions.filter(({ fate }) => refusalsCount || fate === 'admitted');
  const admitted = sorted(
    decisions.filter(({ fate }) => fate === 'admitted').map(({ earliestMs }) => earliestMs),
  );
  const latest = sorted(logged.map(({ latestMs }) => latestMs));
  const surelyEarliest = sorted(logged.filter(({ sure }) => sure).map(({ earliestMs }) => earliestMs));
  const slack = TOLERANCE.limiterClock;
  let limit: Bounds | null = NO_BOUNDS;
  let surelyLogged = 0;
  let refused = 0;
  for (const decision of decisions) {
    const { earliestMs, latestMs, fate, sure } = decision;
    if (fate === 'admitted') {
      if (!sure) continue;
      // Of those decided so far one was the last, no later than this: all before it were in the log with it.
      const expired = countBelow(surelyEarliest, latestMs - windowMs + slack);
      limit = atLeast(limit, Math.max(0, surelyLogged - expired) + 1);
    } else {
      // Of refusals under way together one was the first, with none of the others before it.
      const expired = countBelow(latest, earliestMs - windowMs - slack);
      limit = atMost(limit, countBelow(admitted, latestMs) + (refusalsCount ? refused : 0) - expired);
      refused += 1;
    }
    if (sure && (refusalsCount || fate === 'admitted')) surelyLogged += 1;
    if (limit === null) return { explains: false, reason: `${fate} ${describe(decision, decisions)}` };
  }
  return { explains: true, limit, windows: [] };
}

/** How a sliding counter counts. */
export interface CounterConduct {
  /** A moment at which a window begins. */
  readonly phaseMs: number;
  readonly refusalsCount: boolean;
  /** The older counter's share is cut to a whole number. */
  readonly whole: boolean;
}

/**
 * Two counters of one window each, the older one weighed by what of it still lies within the last window's length.
 */
export function fitSlidingCounter(
  decisions: readonly Decision[],
  windowMs: number,
  conduct: CounterConduct,
): Fit {
  const { phaseMs, refusalsCount, whole } = conduct;
  const slack = TOLERANCE.limiterClock;
  const counts = new Map<number, number>();
  const sureCounts = new Map<number, number>();
  // What the estimate may reach for one more to be admitted; some compare before they add the request, some after.
  let threshold = { least: 0, most: Number.POSITIVE_INFINITY };
  for (const decision of decisions) {
    const { earliestMs, latestMs, fate } = decision;
    // The estimate falls with time within a window and never jumps at its end: early is most, late is least.
    const most = estimate(counts, earliestMs - slack);
    const least = decision.sure ? estimate(sureCounts, latestMs + slack) : 0;
    threshold =
      fate === 'admitted'
        ? { ...threshold, least: Math.max(threshold.least, least) }
        : { ...threshold, most: Math.min(threshold.most, most) };
    if (threshold.least > threshold.most) {
      return { explains: false, reason: `${fate} ${describe(decision, decisions)}` };
    }
    if (fate === 'admitted' || refusalsCount) {
      const window = Math.floor(((earliestMs + latestMs) / 2 - phaseMs) / windowMs);
      counts.set(window, (counts.get(window) ?? 0) + 1);
      if (decision.sure) sureCounts.set(window, (sureCounts.get(window) ?? 0) + 1);
    }
  }
  const limit = { least: Math.ceil(threshold.least), most: Math.floor(threshold.most) + 1 };
  return { explains: true, limit, windows: [] };

  function estimate(of: ReadonlyMap<number, number>, atMs: number): number {
    const window = Math.floor((atMs - phaseMs) / windowMs);
    const share = 1 - ((atMs - phaseMs) / windowMs - window);
    const older = (of.get(window - 1) ?? 0) * share;
    return (whole ? Math.floor(older) : older) + (of.get(window) ?? 0);
  }
}

function sorted(moments: readonly number[]): readonly number[] {
  return moments.toSorted((a, b) => a - b);
}

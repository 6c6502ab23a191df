import type { Bounds } from '../observed/observation.ts';
import { TOLERANCE } from '../observed/observation.ts';
import { atLeast, atMost, countBelow, type Decision, describe, type Fit, NO_BOUNDS } from './window.ts';

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
export interface CounterRules {
  /** A moment at which a window begins, known to `toleranceMs` either way. */
  readonly phaseMs: number;
  readonly toleranceMs: number;
  readonly refusalsCount: boolean;
  /** The older counter's share is cut to a whole number. */
  readonly whole: boolean;
}

/**
 * Two counters of one window each, the older one weighed by what of it still lies within the last window's length. A
 * request near a window's end may be in either counter: each estimate is held between what it may be at most and at
 * least.
 */
export function fitSlidingCounter(
  decisions: readonly Decision[],
  windowMs: number,
  { phaseMs, toleranceMs, refusalsCount, whole }: CounterRules,
): Fit {
  const windowOf = (atMs: number) => Math.floor((atMs - phaseMs) / windowMs);
  const latest = new Counters();
  const surelyEarliest = new Counters();
  // What the estimate has reached where one more was admitted, and where it was not.
  let threshold = { least: 0, most: Number.POSITIVE_INFINITY };
  let limit = NO_BOUNDS;
  for (const decision of decisions) {
    const { fate, sure } = decision;
    const earliestMs = decision.earliestMs - toleranceMs;
    const latestMs = decision.latestMs + toleranceMs;
    if (fate === 'refused') threshold = { ...threshold, most: Math.min(threshold.most, most()) };
    else if (sure)
      threshold = { ...threshold, least: Math.max(threshold.least, weighed(surelyEarliest, latestMs)) };
    // One more is admitted where the estimate lies below the limit, or with that request does not exceed it.
    limit = { least: Math.floor(threshold.least) + 1, most: Math.ceil(threshold.most) };
    if (limit.least > limit.most) {
      return { explains: false, reason: `${fate} ${describe(decision, decisions)}` };
    }
    if (fate === 'admitted' || refusalsCount) {
      latest.add(windowOf(latestMs));
      if (sure) surelyEarliest.add(windowOf(earliestMs));
    }

    /** Within a window the estimate falls with time, and where one begins everything of the window before weighs whole. */
    function most(): number {
      const first = windowOf(earliestMs);
      const atBegin = windowOf(latestMs) > first ? latest.since(first) : 0;
      return Math.max(weighed(latest, earliestMs), atBegin);
    }
  }
  return { explains: true, limit, windows: [] };

  function weighed(counters: Counters, atMs: number): number {
    const window = windowOf(atMs);
    const share = 1 - ((atMs - phaseMs) / windowMs - window);
    const older = counters.of(window - 1) * share;
    return (whole ? Math.floor(older) : older) + counters.since(window);
  }
}

/** How many requests each window counted. */
class Counters {
  readonly #counts = new Map<number, number>();

  add(window: number): void {
    this.#counts.set(window, this.of(window) + 1);
  }

  of(window: number): number {
    return this.#counts.get(window) ?? 0;
  }

  since(window: number): number {
    let sum = 0;
    for (const [each, count] of this.#counts) if (each >= window) sum += count;
    return sum;
  }
}

function sorted(moments: readonly number[]): readonly number[] {
  return moments.toSorted((a, b) => a - b);
}

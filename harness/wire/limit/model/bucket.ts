import type { Bounds, DocumentedLimit } from '../observed/observation.ts';
import { TOLERANCE } from '../tolerances.ts';
import { type Decision, type Fit, NO_BOUNDS } from './sequence.ts';
import { describe } from './window.ts';

/**
 * A bucket that is refilled evenly at the documented rate; the limit found is its size, which need not be the
 * documented number (1 for a limiter that allows no burst). A leaky bucket as a meter (GCRA) is the same from outside.
 */
export function fitTokenBucket(decisions: readonly Decision[], documented: DocumentedLimit): Fit {
  const perMs = documented.requests / documented.windowMs;
  const slack = TOLERANCE.limiterClock;
  // How much is missing from the full bucket, when every request could have come early, or late.
  let missing: Bounds = { least: 0, most: 0 };
  let previousMs: number | null = null;
  // Since the bucket was last full, the widest stretch in which a request was decided.
  let widestMs = 0;
  let size: Bounds = NO_BOUNDS;
  for (const decision of decisions) {
    const middleMs = (decision.earliestMs + decision.latestMs) / 2;
    const halfMs = (decision.latestMs - decision.earliestMs) / 2;
    const flowed = previousMs === null ? 0 : Math.max(0, middleMs - previousMs) * perMs;
    missing = { least: Math.max(0, missing.least - flowed), most: Math.max(0, missing.most - flowed) };
    previousMs = Math.max(previousMs ?? middleMs, middleMs);
    widestMs = missing.most === 0 ? halfMs : Math.max(widestMs, halfMs);
    const unsure = (halfMs + widestMs + slack) * perMs;
    if (decision.fate === 'admitted') {
      if (decision.sure) size = { ...size, least: Math.max(size.least, missing.least - unsure + 1) };
      missing = { least: missing.least + (decision.sure ? 1 : 0), most: missing.most + 1 };
    } else {
      size = { ...size, most: Math.min(size.most, missing.most + unsure + 1) };
    }
    if (size.least > size.most) {
      return { explains: false, reason: `${decision.fate} ${describe(decision, decisions)}` };
    }
  }
  return {
    explains: true,
    limit: { least: Math.ceil(size.least - 1e-9), most: Math.floor(size.most + 1e-9) },
    windows: [],
  };
}

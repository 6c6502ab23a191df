import type { DocumentedLimit } from '../observed/observation.ts';
import { TOLERANCE } from '../tolerances.ts';
import type { Group } from './second-limit.ts';

/** How a limit of a shorter window is kept, told by what was served on the way to the main one. */
export type Kept =
  | { readonly kind: 'kept' }
  /** Completes "expected request 11 within 1 s to be the first refused, got …". */
  | { readonly kind: 'broken'; readonly got: string }
  /** More was served than it allows, unless a window of a clock has ended within these. */
  | { readonly kind: 'above'; readonly group: Group }
  | { readonly kind: 'unmet'; readonly reason: string };

/** After so long without a request a limiter has forgotten all: a weighed counter remembers two windows. In ms. */
export function freshAfterMs({ windowMs }: DocumentedLimit): number {
  return 2 * windowMs + TOLERANCE.afterPromise + TOLERANCE.limiterClock;
}

/** `quietMs`: for so long nothing was sent before the first of them; `isMet`: a second limit refused before the main one. */
export function howKept(
  groups: readonly Group[],
  limit: DocumentedLimit,
  { quietMs, isMet }: { readonly quietMs: number; readonly isMet: boolean },
): Kept {
  const [first] = groups;
  const group = groups.find((each) => isAbove(each, limit));
  if (group !== undefined) return { kind: 'above', group };
  // The last refusal is of the main limit.
  const refused = isMet ? groups.slice(0, -1).filter((each) => isWithin(each, limit)) : [];
  if (refused.length === 0) {
    return {
      kind: 'unmet',
      reason: 'requests are too slow from here to meet it, or the main limit comes first',
    };
  }
  const counts = refused.map(({ admitted }) => admitted);
  const isFresh = quietMs >= freshAfterMs(limit) - TOLERANCE.limiterClock;
  if (isFresh && refused[0] === first && counts.every((count) => count < limit.requests)) {
    return { kind: 'broken', got: `request ${Math.max(...counts) + 1}` };
  }
  return { kind: 'kept' };
}

/** Whether more was served at once than a fresh quota of it has, and what flows back meanwhile. */
export function isAbove(group: Group, limit: DocumentedLimit): boolean {
  const { fromMs, toMs, admitted, unsure } = group;
  const flowed = ((toMs - fromMs + 2 * TOLERANCE.limiterClock) * limit.requests) / limit.windowMs;
  return isWithin(group, limit) && admitted - unsure > limit.requests + Math.floor(flowed);
}

function isWithin({ fromMs, toMs }: Group, { windowMs }: DocumentedLimit): boolean {
  return toMs - fromMs < windowMs;
}

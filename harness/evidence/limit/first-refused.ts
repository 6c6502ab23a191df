import type { Bounds, DocumentedLimit, LimitObservation } from './observation.ts';
import { TOLERANCE } from './tolerances.ts';

/** The index of the first refused request of a window. */
export interface FirstRefused {
  /** 1-based. */
  readonly at: number;
  /** How well that is known, in words; null when exactly. */
  readonly uncertainty: string | null;
}

/** What the bounds say of the documented number; null when they are too wide to say anything. */
export function firstRefusedWithin(
  { least, most }: Bounds,
  { requests }: Pick<DocumentedLimit, 'requests'>,
): FirstRefused | null {
  if (least === most) return { at: least, uncertainty: null };
  const exact = requests + 1;
  const uncertainty = `between ${least} and ${most}`;
  if (exact < least || exact > most) return { at: exact < least ? least : most, uncertainty };
  // The documented number was admitted for sure; what flowed back meanwhile came on top.
  const flowing = least === exact;
  const wide = most - least > Math.max(TOLERANCE.tellingLeast, requests * TOLERANCE.tellingShare);
  return wide && !flowing ? null : { at: exact, uncertainty };
}

/** Where no limiter explains what was seen: the requests of the first burst, with those that may not have counted. */
export function countedBounds(
  firstRefused: number | null,
  observations: readonly Pick<LimitObservation, 'counted'>[],
): Bounds | null {
  if (firstRefused === null) return null;
  const maybe = observations.filter(({ counted }) => counted === 'maybe').length;
  return { least: Math.max(1, firstRefused - maybe), most: firstRefused };
}

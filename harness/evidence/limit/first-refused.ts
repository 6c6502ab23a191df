import type { FirstRefusedBounds } from './infer.ts';
import type { DocumentedLimit, LimitObservation } from './observation.ts';
import { TOLERANCE } from './tolerances.ts';

/** The index of the first refused request of a window. */
export interface FirstRefused {
  /** 1-based. */
  readonly at: number;
  /** How well that is known, in words; null when exactly. */
  readonly uncertainty: string | null;
}

/**
 * What the bounds say of the documented number; null when they are too wide to say anything. A window that may have
 * ended meanwhile leaves nothing to be said; of what flows back, so much may be left open as no count can tell.
 */
export function firstRefusedWithin(
  { least, most, whole }: FirstRefusedBounds,
  { requests }: Pick<DocumentedLimit, 'requests'>,
): FirstRefused | null {
  if (least === most) return { at: least, uncertainty: null };
  const exact = requests + 1;
  const uncertainty = `between ${least} and ${most}`;
  if (exact < least || exact > most) return { at: exact < least ? least : most, uncertainty };
  const isOpen = whole !== null && (whole.least !== exact || whole.most !== exact);
  const isWide = most - least > Math.max(TOLERANCE.tellingLeast, requests * TOLERANCE.tellingShare);
  return isOpen || isWide ? null : { at: exact, uncertainty };
}

/** Where no limiter explains what was seen: the requests of the first burst, with those that may not have counted. */
export function countedBounds(
  firstRefused: number | null,
  observations: readonly Pick<LimitObservation, 'counted'>[],
): FirstRefusedBounds | null {
  if (firstRefused === null) return null;
  const maybe = observations.filter(({ counted }) => counted === 'maybe').length;
  const whole = { least: Math.max(1, firstRefused - maybe), most: firstRefused };
  return { ...whole, whole };
}

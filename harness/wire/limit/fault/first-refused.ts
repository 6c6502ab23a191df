import type { FirstRefusedBounds } from '../infer.ts';
import type { DocumentedLimit } from '../observed/observation.ts';
import { TOLERANCE } from '../tolerances.ts';

/** The index of the first refused request of a window. */
export interface FirstRefused {
  /** 1-based. */
  readonly at: number;
  /** How well that is known, in words; null when exactly. */
  readonly uncertainty: string | null;
}

/**
 * The documented number, where the bounds leave no other; null where they do. A window that may have ended meanwhile
 * leaves others; of what flows back, so much may stay open as no count can tell.
 */
export function documentedWithin(
  { least, most, whole }: FirstRefusedBounds,
  { requests }: Pick<DocumentedLimit, 'requests'>,
): FirstRefused | null {
  const at = requests + 1;
  const isOpen = whole !== null && (whole.least !== at || whole.most !== at);
  const isWide = most - least > Math.max(TOLERANCE.tellingLeast, requests * TOLERANCE.tellingShare);
  if (at < least || at > most || isOpen || isWide) return null;
  return { at, uncertainty: least === most ? null : `between ${least} and ${most}` };
}

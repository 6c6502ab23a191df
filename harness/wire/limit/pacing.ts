import type { DocumentedLimit, LimitObservation } from './observed/observation.ts';
import { TOLERANCE } from './tolerances.ts';

/** Shorter slots than this, in ms, cannot be told from an ordinary answer's time. */
const TELLABLE_SLOT_MS = 10;
/** So many answers in a row, at the least, have to be held back. */
const IN_A_ROW = 5;
/** Of all that were sent one after another. */
const LASTING_SHARE = 0.25;

/**
 * Whether requests sent one after another are held back so that they keep to the documented rate; says so in words,
 * or null. A service that is slow from the first request on holds nothing back.
 */
export function pacing(
  observations: readonly LimitObservation[],
  { requests, windowMs }: DocumentedLimit,
): string | null {
  const slotMs = windowMs / requests;
  if (slotMs < TELLABLE_SLOT_MS) return null;
  const served = observations.filter(({ fate, part }) => fate === 'admitted' && part !== 'parallel');
  const took = served.map(({ sentMs, finishedMs }) => finishedMs - sentMs);
  const serial = served.filter(({ part }) => part === 'serial');
  const isHeld = ({ sentMs, finishedMs }: LimitObservation) =>
    finishedMs - sentMs >= TOLERANCE.pacedShare * slotMs;
  // The first ones may have found room: from some request on all are held back.
  const free = serial.findLastIndex((each) => !isHeld(each));
  const held = serial.slice(free + 1);
  const quickest = Math.min(...took);
  if (held.length < IN_A_ROW || held.length < serial.length * LASTING_SHARE) return null;
  const [first, last] = [held[0], held.at(-1)];
  if (first === undefined || last === undefined) return null;
  const perRequestMs = (last.finishedMs - first.finishedMs) / (held.length - 1);
  if (perRequestMs < slotMs * 0.8) return null;
  // A service that is as slow from its first answer on holds nothing back.
  if (quickest >= (TOLERANCE.pacedShare * slotMs) / 2) return null;
  return `answers came every ${Math.round(perRequestMs)} ms, at the documented rate (${Math.round(slotMs)} ms each), the quickest of all took ${Math.round(quickest)} ms`;
}

import { countBelow } from '../limit/model/sequence.ts';

/**
 * The heaviest that requests sent at these moments, in ascending order, can weigh for a sliding-window counter: those of
 * its window whole, those of the window before by what of it lies within the last window's length. Where its windows
 * begin is not known; what counts is the worst moment for it.
 */
export function heaviestWeight(sentMs: readonly number[], atMs: number, windowMs: number): number {
  const weightFrom = (beginMs: number) => {
    if (beginMs > atMs || beginMs <= atMs - windowMs) return 0;
    const newer = sentMs.length - countBelow(sentMs, beginMs);
    const older = sentMs.length - newer - countBelow(sentMs, beginMs - windowMs);
    return newer + older * (1 - (atMs - beginMs) / windowMs);
  };
  // The weight is greatest where a request is just within the newer window, or just within the older one.
  let heaviest = weightFrom(atMs);
  for (const each of sentMs) heaviest = Math.max(heaviest, weightFrom(each), weightFrom(each + windowMs));
  return heaviest;
}

/** Times in ms, on one clock. */
interface Room {
  readonly fromMs: number;
  readonly windowMs: number;
  /** What may weigh there already for one more to be admitted. */
  readonly most: number;
}

/** As exact as waits are. */
const EXACT_MS = 1;

/** The first moment from then on at which so little is left of their weight; it never grows by itself. */
export function roomFrom(sentMs: readonly number[], { fromMs, windowMs, most }: Room): number {
  const hasRoom = (atMs: number) => heaviestWeight(sentMs, atMs, windowMs) <= Math.max(0, most);
  if (sentMs.length <= most || hasRoom(fromMs)) return fromMs;
  let [low, high] = [fromMs, fromMs + 2 * windowMs];
  while (high - low > EXACT_MS) {
    const middle = (low + high) / 2;
    if (hasRoom(middle)) high = middle;
    else low = middle;
  }
  return high;
}

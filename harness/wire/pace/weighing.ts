import { countBelow } from '../limit/model/fit.ts';
import type { DocumentedLimit } from '../limit/observed/observation.ts';

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
interface QuotaRoom {
  readonly fromMs: number;
  readonly windowMs: number;
  /** What may weigh there already for one more to be admitted. */
  readonly most: number;
}

/** As exact as waits are. */
const EXACT_MS = 1;

/** The first moment from then on at which so little is left of their weight; it never grows by itself. */
export function roomFrom(sentMs: readonly number[], { fromMs, windowMs, most }: QuotaRoom): number {
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

/** A quota: that many requests in any window of that length. */
export type Rate = DocumentedLimit;

/** A polite rate, if no plan is known. */
const COURTEOUS: Rate = { requests: 300, windowMs: 60_000 };
/** Of a known plan, this share is used: a limiter that counts a little differently is not met by accident. */
const SHARE_OF_PLAN = 0.9;

/** What a run keeps to, outside the bursts that meet a limit on purpose. */
export function keptRate(plan: Rate | null): Rate {
  if (plan === null) return COURTEOUS;
  return { requests: Math.max(1, Math.floor(SHARE_OF_PLAN * plan.requests)), windowMs: plan.windowMs };
}

/** How long the operations suite may take, in ms: to wait for the quota, and for answers. */
export const OPERATIONS_MS = 5 * 60_000;
/** What an answer is taken to last there, in ms. */
const ANSWER_MS = 200;
/** Of a window that is longer than that, the other half is left to the other suites. */
const SHARE_OF_WINDOW = 0.5;

/** How many requests to operations fit into that time, at the rate that is kept to. */
export function requestsToOperations(plan: Rate | null): number {
  const { requests, windowMs } = keptRate(plan);
  const admitted = Math.floor(requests * Math.max(OPERATIONS_MS / windowMs, SHARE_OF_WINDOW));
  return Math.max(1, Math.min(admitted, OPERATIONS_MS / ANSWER_MS));
}

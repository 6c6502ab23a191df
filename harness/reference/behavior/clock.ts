import { setTimeout as delay } from 'node:timers/promises';

/** Time as the reference provider sees it; a parameter, so that tests run on virtual time. */
export interface Clock {
  /** Milliseconds since the Unix epoch; never runs backwards. */
  now(): number;
  /** Resolves when `ms` milliseconds have passed on this clock. */
  sleep(ms: number): Promise<void>;
}

/** Wall clock at start, monotonic from there: a corrected system clock cannot move a quota window. */
export const systemClock: Clock = {
  now: () => performance.timeOrigin + performance.now(),
  sleep: (ms) => delay(ms),
};

/** `Sun, 06 Nov 1994 08:49:37 GMT` (IMF-fixdate, RFC 9110 §5.6.7) of milliseconds since the epoch. */
export function imfFixdate(epochMs: number): string {
  return new Date(epochMs).toUTCString();
}

import { type Clock, wallOffsetMs } from '../../wire/pace/clock.ts';

export interface EpochClock {
  /** Milliseconds since the Unix epoch; never runs backwards. */
  now(): number;
  sleep(ms: number): Promise<void>;
}

/** Wall clock at start, monotonic from there: a corrected system clock cannot move a quota window. */
export function epochClock(clock: Clock): EpochClock {
  const offsetMs = wallOffsetMs(clock);
  return { now: () => offsetMs + clock.now(), sleep: (ms) => clock.sleep(ms) };
}

/** `Sun, 06 Nov 1994 08:49:37 GMT` (IMF-fixdate, RFC 9110 §5.6.7) of milliseconds since the epoch. */
export function imfFixdate(epochMs: number): string {
  return new Date(epochMs).toUTCString();
}

import { setTimeout as delay } from 'node:timers/promises';
import type { Clock as ProviderClock } from '../provider/reference/clock.ts';
import type { Clock } from '../transport/clock.ts';

/** One time for both sides of a proof. */
export interface ProofClock {
  readonly session: Clock;
  readonly provider: ProviderClock;
}

/** Octets on their way need real time, and so do requests that are meant to overtake each other. In ms. */
const REAL_UP_TO_MS = 50;
/** Always the same phase of the windows of the clock. */
const BEGIN_MS = Date.UTC(2026, 0, 1, 12, 0, 20);
/** How long requests that are sent together may take to arrive, in ms. */
const TOGETHER_MS = 40;
/** A wait this long is no wait but a deadline, and comes true only if something hangs. In ms. */
export const DEADLINE_MS = 10 * 60_000;

/**
 * Time that leaps over whatever either side waits for on purpose: a window of a minute is over at once, and next to
 * it a busy machine's milliseconds count for nothing.
 */
export function proofClock(): ProofClock {
  const startedMs = performance.now();
  let leaptMs = 0;
  const now = () => performance.now() - startedMs + leaptMs;

  const isReal = (ms: number) => ms <= REAL_UP_TO_MS || ms >= DEADLINE_MS;

  /** Leaps to the end of a wait, once it has really lasted for `pauseMs`. */
  async function leap(ms: number, pauseMs: number): Promise<void> {
    const due = now() + ms;
    await delay(pauseMs);
    leaptMs += Math.max(0, due - now());
  }

  async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    if (!isReal(ms)) await leap(ms, 0);
    else await delay(ms, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
    signal?.throwIfAborted();
  }

  return {
    session: { now, wallNow: () => new Date(BEGIN_MS + now()), sleep },
    // Requests that come together are all there before the first of them is over.
    provider: {
      now: () => BEGIN_MS + now(),
      sleep: (ms) => (isReal(ms) ? delay(ms) : leap(ms, TOGETHER_MS)),
    },
  };
}

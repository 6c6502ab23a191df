import { setTimeout as delay } from 'node:timers/promises';
import type { Clock as ProviderClock } from '../reference/behavior/clock.ts';
import type { Clock } from '../wire/pace/clock.ts';

/** One time for both sides of a proof. */
export interface ProofClock {
  readonly session: Clock;
  readonly provider: ProviderClock;
  /** Its time stands still from then on; waits that are under way never end. */
  stop(): void;
}

interface ProofClockOptions {
  /** Whether whatever either side waits for on purpose is over at once; not so, a wait takes its time. */
  readonly leaps: boolean;
}

/** How often the event loop is looked at when it has nothing else to do, in real ms. */
const TICK_MS = 1;
/** What the clock goes on each time, in its ms: the fewest turns of the event loop that a wait lasts for follow. */
const STEP_MS = 5;
/** Octets on their way need their time, and so do requests that are meant to overtake each other. In ms. */
const KEPT_UP_TO_MS = 50;
/** Always the same phase of the windows of the clock. */
const BEGIN_MS = Date.UTC(2026, 0, 1, 12, 0, 20);
/** How long requests that are sent together may take to arrive, in ms. */
const TOGETHER_MS = 40;
/** A wait this long is no wait but a deadline, and comes true only if something hangs. In ms. */
export const DEADLINE_MS = 10 * 60_000;

/**
 * Time that passes as this process gets on, one step with each turn of its event loop and no more. Both sides of a
 * proof live in it: what takes long, on a busy machine or beside other cases, holds both of them up and is not held
 * against either. A wait lasts for a number of turns at the least, and no longer than it must where nothing happens.
 *
 * With `leaps` it also leaps over whatever either side waits for on purpose: a window of a minute is over at once.
 */
export function proofClock({ leaps }: ProofClockOptions = { leaps: true }): ProofClock {
  let passedMs = 0;
  let seenMs = performance.now();
  const ticking = setInterval(() => {
    passedMs += STEP_MS;
    seenMs = performance.now();
  }, TICK_MS).unref();
  /** Within a turn whatever comes later has a later time, and all of it one before the next step. */
  const now = () => {
    const turnMs = performance.now() - seenMs;
    return passedMs + STEP_MS * (turnMs / (turnMs + TICK_MS));
  };

  const isLeapt = (ms: number) => leaps && ms > KEPT_UP_TO_MS && ms < DEADLINE_MS;

  /** Until the clock shows `dueMs`, or the signal is aborted. */
  async function last(dueMs: number, signal?: AbortSignal): Promise<void> {
    for (let leftMs = dueMs - now(); leftMs > 0 && !signal?.aborted; leftMs = dueMs - now()) {
      const { promise, resolve } = Promise.withResolvers<unknown>();
      // Like the ticking it keeps no thread alive: the provider does, and once that has ended nobody waits.
      const timer = setTimeout(resolve, Math.ceil((leftMs / STEP_MS) * TICK_MS)).unref();
      signal?.addEventListener('abort', resolve);
      await promise;
      clearTimeout(timer);
      signal?.removeEventListener('abort', resolve);
    }
  }

  /** Leaps to the end of a wait, once it has lasted for `pauseMs`. */
  async function leap(ms: number, pauseMs: number): Promise<void> {
    const dueMs = now() + ms;
    await (pauseMs === 0 ? delay(0) : last(now() + pauseMs));
    passedMs += Math.max(0, dueMs - now());
  }

  async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    if (isLeapt(ms)) await leap(ms, 0);
    else await last(now() + ms, signal);
    signal?.throwIfAborted();
  }

  return {
    session: { now, wallNow: () => new Date(BEGIN_MS + now()), sleep },
    // Requests that come together are all there before the first of them is over.
    provider: {
      now: () => BEGIN_MS + now(),
      sleep: (ms) => (isLeapt(ms) ? leap(ms, TOGETHER_MS) : last(now() + ms)),
    },
    stop: () => clearInterval(ticking),
  };
}

import { promisify } from 'node:util';
import type { Clock } from '../../wire/pace/clock.ts';

/** The time of a record. */
export interface ReplayClock extends Clock {
  /** Resolves at that moment of `now()`, in ms; at once when it is past. */
  until(atMs: number): Promise<void>;
  /** It is that late at the least. */
  reach(atMs: number): void;
}

/** Turns of the event loop without a new wait after which nobody has anything left to do but wait. */
const QUIET_TURNS = 3;

interface Waiting {
  readonly dueMs: number;
  readonly wake: () => void;
}

/** Time that passes only while everybody waits: it is then the moment at which the first wait is over. */
export function replayClock(beginMs: number, beginAt: Date): ReplayClock {
  let nowMs = beginMs;
  let stirred = 0;
  let isWatching = false;
  const waitings = new Set<Waiting>();

  async function watch(): Promise<void> {
    if (isWatching) return;
    isWatching = true;
    while (waitings.size > 0) {
      const seen = stirred;
      for (let turn = 0; turn < QUIET_TURNS; turn += 1) await turnOfLoop();
      // Whoever waited may have given up meanwhile: then there is no moment to go to.
      if (seen !== stirred || waitings.size === 0) continue;
      nowMs = Math.max(nowMs, Math.min(...[...waitings].map(({ dueMs }) => dueMs)));
      for (const waiting of [...waitings].filter(({ dueMs }) => dueMs <= nowMs)) {
        waitings.delete(waiting);
        waiting.wake();
      }
    }
    isWatching = false;
  }

  async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    if (ms <= 0) return;
    stirred += 1;
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting: Waiting = { dueMs: nowMs + ms, wake: resolve };
    waitings.add(waiting);
    const aborted = () => resolve();
    signal?.addEventListener('abort', aborted, { once: true });
    void watch();
    await promise;
    waitings.delete(waiting);
    signal?.removeEventListener('abort', aborted);
    signal?.throwIfAborted();
  }

  return {
    now: () => nowMs,
    wallNow: () => new Date(beginAt.getTime() + nowMs - beginMs),
    sleep,
    until: (atMs) => sleep(atMs - nowMs),
    reach: (atMs) => {
      nowMs = Math.max(nowMs, atMs);
    },
  };
}

const turnOfLoop = promisify(setImmediate);

import { promisify } from 'node:util';
import type { Clock } from './clock.ts';

/**
 * How time passes while something waits: resolves with the number of ms that have passed, Infinity for all that are left
 * of the first wait. `begun` is the number of waits that have begun so far.
 */
type TimePassage = (begun: () => number) => Promise<number>;

/** A clock of a time of its own, in ms. */
export interface VirtualClock extends Clock {
  /** Resolves at that moment of `now()`; at once if it is past. */
  until(atMs: number): Promise<void>;
  /** Moves time on to that moment at least, and ends the waits that are over by then. */
  reach(atMs: number): void;
  /** The moment at which the first wait is over; null if nothing waits. */
  firstDueMs(): number | null;
  /** Its time stands still from then on; waits that are under way never end. */
  stop(): void;
}

interface VirtualTime {
  /** `now()` at the beginning. 0 when left out. */
  readonly beginMs?: number;
  /** The wall clock at the beginning. */
  readonly beginAt: Date;
  /** Time moves by `reach` alone when left out. */
  readonly passage?: TimePassage;
  /** How much later it is each time the clock is read. 0 when left out. */
  readonly instantMs?: number;
}

interface Sleeper {
  readonly dueMs: number;
  end(): void;
}

export function virtualClock({ beginMs = 0, beginAt, passage, instantMs = 0 }: VirtualTime): VirtualClock {
  const waits = new Set<Sleeper>();
  let nowMs = beginMs;
  let begun = 0;
  let isStopped = false;
  let isPassing = false;

  const firstDueMs = () =>
    waits.size === 0 ? null : [...waits].reduce((first, { dueMs }) => Math.min(first, dueMs), Infinity);

  function now(): number {
    nowMs += instantMs;
    return nowMs;
  }

  function reach(atMs: number): void {
    nowMs = Math.max(nowMs, atMs);
    for (const wait of [...waits]) if (wait.dueMs <= nowMs) wait.end();
  }

  async function pass(passage: TimePassage): Promise<void> {
    if (isPassing) return;
    isPassing = true;
    while (!isStopped && waits.size > 0) {
      const passedMs = await passage(() => begun);
      // Whatever waited may have given up meanwhile: then there is no moment to go to.
      const dueMs = firstDueMs();
      if (!isStopped && dueMs !== null) reach(passedMs === Infinity ? dueMs : nowMs + passedMs);
    }
    isPassing = false;
  }

  const sleep = (ms: number, signal?: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      signal?.throwIfAborted();
      const aborted = () => {
        waits.delete(wait);
        reject(signal?.reason);
      };
      const wait: Sleeper = {
        dueMs: now() + Math.max(0, ms),
        end() {
          waits.delete(wait);
          signal?.removeEventListener('abort', aborted);
          resolve();
        },
      };
      signal?.addEventListener('abort', aborted, { once: true });
      waits.add(wait);
      begun += 1;
      if (passage) void pass(passage);
    });

  return {
    now,
    wallNow: () => new Date(beginAt.getTime() + now() - beginMs),
    sleep,
    until: (atMs) => (atMs <= nowMs ? Promise.resolve() : sleep(atMs - nowMs)),
    reach,
    firstDueMs,
    stop() {
      isStopped = true;
    },
  };
}

/** Leaps from wait to wait, once no wait has begun for a number of turns of the event loop. */
export function leapsAfter(turns: number): TimePassage {
  return async (begun) => {
    const before = begun();
    for (let turn = 0; turn < turns; turn += 1) await turnOfLoop();
    return begun() === before ? Infinity : 0;
  };
}

export const turnOfLoop = promisify(setImmediate);

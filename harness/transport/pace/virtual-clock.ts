import { HarnessError } from '../../exit.ts';
import type { Clock } from './clock.ts';

export interface VirtualClock extends Clock {
  /** Moves time on by `ms`, waking due sleepers in the order of their time; work they start in turn is due as well. */
  advance(ms: number): Promise<void>;
  /**
   * Moves time on from sleeper to sleeper until `work` has settled, and yields what it yields.
   * @throws HarnessError when `work` waits for something other than this clock.
   */
  drive<T>(work: Promise<T>): Promise<T>;
}

interface Sleeper {
  readonly due: number;
  wake(): void;
}

/** How often `drive` lets promises settle with nobody asleep before it calls that a deadlock. */
const IDLE_TURNS = 20;

/** A clock that stands still until it is told: for tests of waiting, and for simulating a backoff. Times in ms. */
export function virtualClock(start: { readonly startMs?: number; readonly wall?: Date } = {}): VirtualClock {
  const startMs = start.startMs ?? 0;
  const wallStart = (start.wall ?? new Date('2026-01-01T00:00:00.000Z')).getTime();
  let now = startMs;
  const sleepers = new Set<Sleeper>();

  /** The sleeper that is due first; the earlier one where two are due together. */
  function first(): Sleeper | null {
    let found: Sleeper | null = null;
    for (const sleeper of sleepers) if (!found || sleeper.due < found.due) found = sleeper;
    return found;
  }

  async function wakeUntil(time: number): Promise<void> {
    await settled();
    for (let next = first(); next && next.due <= time; next = first()) {
      now = Math.max(now, next.due);
      next.wake();
      await settled();
    }
  }

  return {
    now: () => now,
    wallNow: () => new Date(wallStart + (now - startMs)),
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        signal?.throwIfAborted();
        const due = now + Math.max(0, ms);
        const aborted = () => {
          sleepers.delete(sleeper);
          reject(signal?.reason);
        };
        const sleeper: Sleeper = {
          due,
          wake() {
            sleepers.delete(sleeper);
            signal?.removeEventListener('abort', aborted);
            resolve();
          },
        };
        signal?.addEventListener('abort', aborted, { once: true });
        sleepers.add(sleeper);
      }),
    async advance(ms) {
      const target = now + ms;
      await wakeUntil(target);
      now = target;
    },
    async drive(work) {
      let done = false;
      const finished = work.then(
        () => {
          done = true;
        },
        () => {
          done = true;
        },
      );
      for (let idle = 0; !done && idle < IDLE_TURNS; ) {
        await settled();
        const next = first();
        if (!done && next) await wakeUntil(next.due);
        idle = next ? 0 : idle + 1;
      }
      if (!done) throw new HarnessError('the work waits for something that is not on the virtual clock');
      await finished;
      return work;
    },
  };
}

/** Lets every promise that can settle without time passing do so. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

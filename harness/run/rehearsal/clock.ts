import { randomFill } from 'node:crypto';
import { promisify } from 'node:util';
import type { Clock as ProviderClock } from '../../provider/reference/conduct/clock.ts';
import type { Clock } from '../../transport/pace/clock.ts';

/** One time for both sides of a rehearsal. */
export interface RehearsalClock {
  readonly session: Clock;
  readonly provider: ProviderClock;
  /** Its time stands still from then on; waits that are under way never end. */
  stop(): void;
}

/** Always the same phase of the windows of the clock. */
const BEGIN_MS = Date.UTC(2026, 0, 1, 12, 0, 20);
/** Whoever looks at the clock twice sees a later time; in ms. */
const INSTANT_MS = 0.001;
/** Turns of the event loop, and real ms, in which nothing arrives: then nothing is on its way between sockets. */
const QUIET = { turns: 8, ms: 10 };
/** Threads on which Node compresses, unless told otherwise. */
const POOL = 4;

interface Waiting {
  readonly dueMs: number;
  readonly wake: () => void;
}

/**
 * Time that passes only while both sides wait: as soon as nothing is on its way between them, it is the moment at which
 * the first wait is over. So a window of a minute is over at once, and a deadline comes true only if nobody meets it.
 * Both sides have to live in this process, on sockets of this machine.
 */
export function rehearsalClock(): RehearsalClock {
  let nowMs = 0;
  let isStopped = false;
  let isWatching = false;
  const waitings = new Set<Waiting>();

  const now = () => {
    nowMs += INSTANT_MS;
    return nowMs;
  };

  async function watch(): Promise<void> {
    if (isWatching) return;
    isWatching = true;
    while (!isStopped && waitings.size > 0) {
      await quiet();
      await Promise.all(Array.from({ length: POOL }, behindOthers));
      if (await quiet()) passOn();
    }
    isWatching = false;
  }

  /** To the end of the wait that ends first. */
  function passOn(): void {
    nowMs = Math.max(nowMs, Math.min(...[...waitings].map(({ dueMs }) => dueMs)));
    for (const waiting of [...waitings].filter(({ dueMs }) => dueMs <= nowMs)) waiting.wake();
  }

  async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting = { dueMs: nowMs + ms, wake: resolve };
    waitings.add(waiting);
    signal?.addEventListener('abort', resolve as () => void, { once: true });
    void watch();
    await promise;
    waitings.delete(waiting);
    signal?.removeEventListener('abort', resolve as () => void);
    signal?.throwIfAborted();
  }

  return {
    session: { now, wallNow: () => new Date(BEGIN_MS + now()), sleep },
    provider: { now: () => BEGIN_MS + now(), sleep: (ms) => sleep(ms) },
    stop: () => {
      isStopped = true;
    },
  };
}

/** Until nothing has arrived for a while. @returns whether nothing has from the beginning. */
async function quiet(): Promise<boolean> {
  // What a callback has to do with an event is done before the event is counted.
  await turnOfLoop();
  await turnOfLoop();
  let isFirst = true;
  let seen = eventsSoFar();
  let sinceMs = performance.now();
  for (let turns = 0; turns < QUIET.turns || performance.now() - sinceMs < QUIET.ms; turns++) {
    await turnOfLoop();
    if (eventsSoFar() === seen) continue;
    [isFirst, seen, turns, sinceMs] = [false, eventsSoFar(), 0, performance.now()];
  }
  return isFirst;
}

function eventsSoFar(): number {
  return performance.nodeTiming.uvMetricsInfo.events;
}

const turnOfLoop = promisify(setImmediate);
/** One octet's work in the queue of the threads that compress, which the event loop does not see. */
const behindOthers = () => promisify(randomFill)(Buffer.alloc(1));

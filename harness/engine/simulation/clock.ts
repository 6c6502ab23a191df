import { randomFill } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Clock as ProviderClock } from '../../reference/behavior/clock.ts';
import type { Clock } from '../../wire/pace/clock.ts';
import { type Wire, watchWire } from './wire.ts';

/** One time for a session and a provider that live in this process. */
export interface SimulatedClock {
  readonly session: Clock;
  readonly provider: ProviderClock;
  /** Does what waits for another process. Until it has settled nothing is leapt over: time passes as it does there. */
  outside<T>(work: () => Promise<T>): Promise<T>;
  /** Its time stands still from then on; waits that are under way never end. */
  stop(): void;
}

/** Where between two full minutes it begins unless told so: always the same phase of the windows of the clock. */
const PHASE_MS = 20_000;
const MINUTE_MS = 60_000;
/** Whoever looks at the clock twice sees a later time; in ms. */
const INSTANT_MS = 0.001;
/**
 * Turns of the event loop in which nothing arrives: then nothing is on its way between sockets. Where the sockets
 * themselves cannot tell that all that was sent has arrived, so many real ms as well.
 */
const QUIET = { turns: 8, ms: 10 };
/**
 * What a process is started with in which time is simulated: a single thread compresses, so that what is asked of it
 * last is done last, however busy the machine is.
 */
export const SIMULATION_ENVIRONMENT: Readonly<Record<string, string>> = { UV_THREADPOOL_SIZE: '1' };
/** Threads on which Node compresses. */
const POOL = Number(process.env.UV_THREADPOOL_SIZE) || 4;
/** How often it is looked whether a wait is over while time passes as elsewhere, in real ms. */
const LOOK_MS = 5;

interface Waiting {
  readonly dueMs: number;
  readonly wake: () => void;
}

/**
 * Time that passes only while both sides wait: as soon as nothing is on its way between them, it is the moment at which
 * the first wait is over. So a window of a minute is over at once, and a deadline comes true only if nobody meets it.
 * Both sides have to live in this process, on sockets of this machine.
 */
export function simulatedClock(phaseMs = PHASE_MS): SimulatedClock {
  const beginMs = Math.ceil(Date.now() / MINUTE_MS) * MINUTE_MS + phaseMs;
  let nowMs = 0;
  /** Works outside that are under way, and the real time at which it was looked at last. */
  let outside = { works: 0, seenMs: 0 };
  let isStopped = false;
  let isWatching = false;
  const waitings = new Set<Waiting>();
  const wire = watchWire();

  const now = () => {
    keepUp();
    nowMs += INSTANT_MS;
    return nowMs;
  };

  /** Time passes here as much as outside. */
  function keepUp(): void {
    if (outside.works === 0) return;
    const seenMs = performance.now();
    nowMs += seenMs - outside.seenMs;
    outside = { ...outside, seenMs };
  }

  async function watch(): Promise<void> {
    if (isWatching) return;
    isWatching = true;
    while (!isStopped && waitings.size > 0) {
      if (outside.works > 0) {
        await delay(LOOK_MS);
        keepUp();
      } else if (await nothingIsOnItsWay(wire)) {
        leap();
      }
      wakeThoseDue();
    }
    isWatching = false;
  }

  /** To the end of the wait that ends first. */
  function leap(): void {
    if (isStopped || outside.works > 0 || waitings.size === 0) return;
    nowMs = Math.max(nowMs, Math.min(...[...waitings].map(({ dueMs }) => dueMs)));
  }

  function wakeThoseDue(): void {
    for (const waiting of [...waitings].filter(({ dueMs }) => dueMs <= nowMs)) waiting.wake();
  }

  async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting = { dueMs: now() + ms, wake: resolve };
    waitings.add(waiting);
    signal?.addEventListener('abort', resolve as () => void, { once: true });
    void watch();
    await promise;
    waitings.delete(waiting);
    signal?.removeEventListener('abort', resolve as () => void);
    signal?.throwIfAborted();
  }

  return {
    session: { now, wallNow: () => new Date(beginMs + now()), sleep },
    provider: { now: () => beginMs + now(), sleep: (ms) => sleep(ms) },
    async outside(work) {
      keepUp();
      outside = { works: outside.works + 1, seenMs: performance.now() };
      try {
        return await work();
      } finally {
        keepUp();
        outside = { ...outside, works: outside.works - 1 };
      }
    },
    stop: () => {
      isStopped = true;
      wire.stop();
    },
  };
}

async function nothingIsOnItsWay(wire: Wire): Promise<boolean> {
  await quiet(wire);
  await Promise.all(Array.from({ length: POOL }, behindOthers));
  return quiet(wire);
}

/** Until nothing has arrived for a while. @returns whether nothing has from the beginning. */
async function quiet(wire: Wire): Promise<boolean> {
  // What a callback has to do with an event is done before the event is counted.
  await turnOfLoop();
  await turnOfLoop();
  let isFirst = true;
  let seen = eventsSoFar();
  let sinceMs = performance.now();
  const isLongEnough = () => performance.now() - sinceMs >= QUIET.ms || wire.isStill();
  for (let turns = 0; turns < QUIET.turns || !isLongEnough(); turns++) {
    // The loop waits for what arrives, and does not turn on the spot: others want the processor as well.
    await (turns < QUIET.turns ? turnOfLoop() : delay(1));
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
const behindOthers = () => filled(Buffer.alloc(1));
const filled = promisify(randomFill<Buffer>);

import type { Timing } from '../exchange.ts';

/** Time as a parameter: everything that waits or measures takes one, so that tests need no sleeping. */
export interface Clock {
  /** Milliseconds on a monotonic clock; only differences mean something. */
  now(): number;
  /** The wall clock, for HTTP dates and time stamps. */
  wallNow(): Date;
  /**
   * Resolves when at least `ms` milliseconds have passed on `now()`, never earlier.
   * Rejects with the signal's reason when it is aborted first.
   */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** What the wall clock is ahead of `now()`, in ms. */
export function wallOffsetMs(clock: Clock): number {
  return clock.wallNow().getTime() - clock.now();
}

/** The longest single wait of a Node timer (2^31 - 1 ms); a longer one would fire at once. */
const LONGEST_TIMER_MS = 2_147_483_647;

export const systemClock: Clock = {
  now: () => performance.now(),
  wallNow: () => new Date(),
  // Every deadline is one, and most are called off: Node's own promise of a timer makes an error with a trace for each.
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const due = performance.now() + ms;
      let timer: NodeJS.Timeout | undefined;
      const aborted = () => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      const look = () => {
        // A Node timer may fire a fraction of a millisecond early; a rate limit would notice, so look again.
        const left = due - performance.now();
        if (left > 0) {
          timer = setTimeout(look, Math.min(Math.ceil(left), LONGEST_TIMER_MS));
          return;
        }
        signal?.removeEventListener('abort', aborted);
        resolve();
      };
      signal?.addEventListener('abort', aborted, { once: true });
      look();
    }),
};

/** Never shown. */
const CALLED_OFF = new Error('the deadline was called off');

/**
 * A process that wakes later than this, in ms, was busy, and has not yet looked at octets that came meanwhile. No answer
 * is awaited for a shorter time.
 */
const LATE_MS = 100;

/**
 * Calls `expired` after `ms` unless the returned function was called before. Where this process is busy when the time
 * is over, it has as much time again as it was late: an answer that was not read is no fault of the server.
 */
export function startDeadline(clock: Clock, ms: number, expired: () => void): () => void {
  const cancellation = new AbortController();
  const { signal } = cancellation;
  const dueMs = clock.now() + ms;
  const whileLate = () => {
    const lateMs = clock.now() - dueMs;
    return lateMs > LATE_MS && ms >= LATE_MS ? clock.sleep(Math.min(lateMs, ms), signal) : undefined;
  };
  const over = () => {
    if (!signal.aborted) expired();
  };
  // The only rejection is our own cancellation.
  clock
    .sleep(ms, signal)
    .then(whileLate)
    .then(over, () => undefined);
  // An error made for each call would cost more than the deadline does.
  return () => cancellation.abort(CALLED_OFF);
}

/** Waits for work that cannot be stopped, but no longer than `ms`; whether it was done by then. */
export function inTime(clock: Clock, ms: number, work: Promise<unknown>): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const cancel = startDeadline(clock, ms, () => resolve(false));
    work.then(() => resolve(true), reject).finally(cancel);
  });
}

/** Takes the times of one exchange or conversation. Each mark keeps its first time. */
export class Stopwatch {
  readonly #clock: Clock;
  readonly #startedAt: string;
  readonly #startedMs: number;
  #connectMs: number | null = null;
  #responseMs: number | null = null;
  #wholeMs: number | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#startedAt = clock.wallNow().toISOString();
    this.#startedMs = clock.now();
  }

  /** Milliseconds since the start. */
  get elapsed(): number {
    return this.#clock.now() - this.#startedMs;
  }

  markConnected(): void {
    this.#connectMs ??= this.elapsed;
  }

  markResponse(): void {
    this.#responseMs ??= this.elapsed;
  }

  /** The message is read to its end, though its connection may be listened to. */
  markWhole(): void {
    this.#wholeMs ??= this.elapsed;
  }

  /** The times so far; the duration ends now, unless the message has ended before. */
  get timing(): Timing {
    return {
      startedAt: this.#startedAt,
      startedMs: this.#startedMs,
      connectMs: this.#connectMs,
      responseMs: this.#responseMs,
      durationMs: this.#wholeMs ?? this.elapsed,
    };
  }
}

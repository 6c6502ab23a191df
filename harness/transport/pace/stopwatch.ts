import type { Timing } from '../../evidence/exchange.ts';
import type { Clock } from './clock.ts';

/** Takes the times of one exchange or conversation. Each mark keeps its first time. */
export class Stopwatch {
  readonly #clock: Clock;
  readonly #startedAt: string;
  readonly #startedMs: number;
  #connectMs: number | null = null;
  #responseMs: number | null = null;

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

  /** The times so far; the duration ends now. */
  get timing(): Timing {
    return {
      startedAt: this.#startedAt,
      startedMs: this.#startedMs,
      connectMs: this.#connectMs,
      responseMs: this.#responseMs,
      durationMs: this.elapsed,
    };
  }
}

import type { JournalEvent } from '../../../report/results/fold/events.ts';
import type { BudgetWait } from '../../../wire/pace/budget.ts';
import type { Clock } from '../../../wire/pace/clock.ts';

/** Waiting on purpose, told to whoever watches. It is not held against a check's own time. */
export interface PausePort {
  /** Waits until that moment of the session's clock, in ms; not at all when it is past. */
  until(untilMs: number, reason: string): Promise<void>;
  /** Tells of a wait until then that the probe does by itself. */
  announce(untilMs: number, reason: string): void;
}

/** Sums up the waits on purpose and journals each. */
export class Pauses {
  /** How long was waited so far, in ms. */
  totalMs = 0;
  readonly #clock: Clock;
  readonly #service: string;
  readonly #record: (event: JournalEvent) => void;

  constructor(clock: Clock, service: string, record: (event: JournalEvent) => void) {
    this.#clock = clock;
    this.#service = service;
    this.#record = record;
  }

  announce({ reason, untilMs, until }: BudgetWait): void {
    this.totalMs += untilMs - this.#clock.now();
    this.#record({
      type: 'waiting',
      service: this.#service,
      reason,
      fromMs: this.#clock.wallNow().getTime(),
      untilMs: until.getTime(),
    });
  }

  portFor(signal: AbortSignal): PausePort {
    const clock = this.#clock;
    const announce = (untilMs: number, reason: string) => {
      const until = new Date(clock.wallNow().getTime() + untilMs - clock.now());
      this.announce({ reason, untilMs, until });
    };
    return {
      announce,
      async until(untilMs, reason) {
        const forMs = untilMs - clock.now();
        if (forMs <= 0) return;
        announce(untilMs, reason);
        await clock.sleep(forMs, signal);
      },
    };
  }
}

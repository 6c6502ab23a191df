import type { BudgetWait } from '../transport/pace/budget.ts';
import type { Clock } from '../transport/pace/clock.ts';

/** Sums up the waits on purpose and tells of each. */
export class Waiting {
  totalMs = 0;
  readonly #clock: Clock;
  readonly #tell: (wait: BudgetWait) => void;

  constructor(clock: Clock, tell: (wait: BudgetWait) => void) {
    this.#clock = clock;
    this.#tell = tell;
  }

  announce(wait: BudgetWait): void {
    this.totalMs += wait.untilMs - this.#clock.now();
    this.#tell(wait);
  }
}

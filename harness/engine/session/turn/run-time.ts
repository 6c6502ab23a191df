import { Blocked } from '../../../base/verdict.ts';
import type { ServiceConfig } from '../../../config/service.ts';
import type { JournalEvent } from '../../../report/results/fold/events.ts';
import type { Budget, BudgetWait } from '../../../wire/pace/budget.ts';
import { type Clock, startDeadline } from '../../../wire/pace/clock.ts';
import type { TransportOptions } from '../../../wire/socket/options.ts';

/** What every run may take, in ms. */
const EVERY_RUN_MS = 30 * 60_000;
/** So many windows of the plan may be waited for until the limit is measured. */
const WINDOWS = 10;

interface Parts {
  readonly config: ServiceConfig;
  readonly transport: Pick<TransportOptions, 'clock'>;
  readonly budget: Budget;
  readonly answerTimes: AnswerTimes;
}

/** How long the run of a service takes, and the end of it when that is too long. */
export class RunTime {
  readonly #parts: Parts;
  readonly #openedMs: number;
  readonly #over = new AbortController();
  readonly #endDeadline: () => void = () => undefined;

  constructor(parts: Parts) {
    const { config, transport } = parts;
    this.#parts = parts;
    this.#openedMs = transport.clock.now();
    const { runMs } = config.timeouts;
    if (runMs === undefined || runMs === Number.POSITIVE_INFINITY) return;
    this.#endDeadline = startDeadline(transport.clock, runMs, () => this.#end('timeouts.run'));
  }

  /** Ends with the run, for the reason why. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  /** Why it has ended; null while it has not. */
  get overtime(): string | null {
    return this.signal.aborted ? this.signal.reason.message : null;
  }

  /** So far, in ms. */
  get tookMs(): number {
    return this.#parts.transport.clock.now() - this.#openedMs;
  }

  /** Where nobody has said how long it may take, it ends once that is much more than it takes as a rule. */
  endIfTooSlow(): void {
    if (this.#parts.config.timeouts.runMs !== undefined || this.signal.aborted) return;
    const mostMs = mostRunMs(this.#parts);
    if (this.tookMs <= mostMs) return;
    this.#end(`${Math.round(mostMs / 60_000)} min: it is too slow to be judged in that (timeouts.run)`);
  }

  /** Nothing is under way any more that might take too long. */
  stop(): void {
    this.#endDeadline();
  }

  #end(longerThan: string): void {
    this.#over.abort(new Blocked(`the run of this service took longer than ${longerThan}`));
  }
}

/**
 * How long the run of a service may take where nobody has said it, in ms: for each request as long as the rate asks that is
 * kept to, and twice as long as an answer takes as a rule.
 */
function mostRunMs({ config, budget: { plan, rate }, answerTimes }: Parts): number {
  const eachMs = rate.windowMs / rate.requests + 2 * answerTimes.usualMs;
  return EVERY_RUN_MS + WINDOWS * (plan?.windowMs ?? 0) + config.safety.maxRequests * eachMs;
}

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

/** So many of the latest answers show how long the service takes now. */
const LATEST = 9;
/** So often as long as an answer takes as a rule, what should come at once is waited for. */
const TIMES = 3;
/** And no longer than that, in ms. */
const LONGEST_MS = 30_000;

/** How long the service takes for its answers, from which follows how long to wait for what may not come. */
export class AnswerTimes {
  readonly #longestMs: number;
  #latest: readonly number[] = [];

  /** `responseMs`: how long an answer is waited for at all. */
  constructor(responseMs: number) {
    this.#longestMs = Math.min(responseMs, LONGEST_MS);
  }

  /** An ordinary request was answered after so many ms. */
  answered(afterMs: number): void {
    this.#latest = [...this.#latest, afterMs].slice(-LATEST);
  }

  /** What an answer takes as a rule, in ms; 0 before the first. */
  get usualMs(): number {
    return this.#latest.toSorted((a, b) => a - b)[Math.floor(this.#latest.length / 2)] ?? 0;
  }

  /** How long to wait for something of the service, in ms: what does for a quick one, and more where it takes its time. */
  patienceMs(quickMs: number): number {
    return Math.max(quickMs, Math.min(Math.ceil(TIMES * this.usualMs), this.#longestMs));
  }
}

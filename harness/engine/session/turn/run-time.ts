import { Blocked } from '../../../base/verdict.ts';
import type { ServiceConfig } from '../../../config/service.ts';
import type { JournalEvent } from '../../../report/results/fold/events.ts';
import type { Budget, BudgetWait } from '../../../wire/pace/budget.ts';
import { type Clock, startDeadline } from '../../../wire/pace/clock.ts';
import type { TransportOptions } from '../../../wire/socket/options.ts';

/** Milliseconds granted to every run. */
const EVERY_RUN_MS = 30 * 60_000;
/** Number of windows of the plan granted for measuring the limit. */
const WINDOWS = 10;

interface Parts {
  readonly config: ServiceConfig;
  readonly transport: Pick<TransportOptions, 'clock'>;
  readonly budget: Budget;
  readonly answerTimes: AnswerTimes;
}

/** Duration of the run of a service, and its end if it is too long. */
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

  /** Its reason is that of the end. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  /** The reason of the end; null before it. */
  get overtime(): string | null {
    return this.signal.aborted ? this.signal.reason.message : null;
  }

  get tookMs(): number {
    return this.#parts.transport.clock.now() - this.#openedMs;
  }

  /** Without `timeouts.run`, ends a run that takes much longer than usual. */
  endIfTooSlow(): void {
    if (this.#parts.config.timeouts.runMs !== undefined || this.signal.aborted) return;
    const mostMs = mostRunMs(this.#parts);
    if (this.tookMs <= mostMs) return;
    this.#end(`${Math.round(mostMs / 60_000)} min: it is too slow to be judged in that (timeouts.run)`);
  }

  /** Ends the deadline. */
  stop(): void {
    this.#endDeadline();
  }

  #end(longerThan: string): void {
    this.#over.abort(new Blocked(`the run of this service took longer than ${longerThan}`));
  }
}

/** Default longest run in ms: for each request the time by the permitted rate and two usual responses. */
function mostRunMs({ config, budget: { plan, rate }, answerTimes }: Parts): number {
  const eachMs = rate.windowMs / rate.requests + 2 * answerTimes.usualMs;
  return EVERY_RUN_MS + WINDOWS * (plan?.windowMs ?? 0) + config.safety.maxRequests * eachMs;
}

/** Deliberate, announced waits. They do not count against the time of a check. */
export interface PausePort {
  /** Waits until that time of the session's clock in ms. */
  until(untilMs: number, reason: string): Promise<void>;
  /** Announces a wait that the probe does itself. */
  announce(untilMs: number, reason: string): void;
}

/** Adds up and journals deliberate waits. */
export class Pauses {
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

/** Number of latest responses that show the present speed. */
const LATEST = 9;
/** A prompt response is awaited this many times as long as a usual one. */
const TIMES = 3;
/** At most, in ms. */
const LONGEST_MS = 30_000;

/** Response times of the service, and the patience that follows from them. */
export class AnswerTimes {
  readonly #longestMs: number;
  #latest: readonly number[] = [];

  /** `responseMs`: the timeout of a response. */
  constructor(responseMs: number) {
    this.#longestMs = Math.min(responseMs, LONGEST_MS);
  }

  /** After an ordinary request. */
  answered(afterMs: number): void {
    this.#latest = [...this.#latest, afterMs].slice(-LATEST);
  }

  /** Median in ms; 0 before the first. */
  get usualMs(): number {
    return this.#latest.toSorted((a, b) => a - b)[Math.floor(this.#latest.length / 2)] ?? 0;
  }

  /** Milliseconds to wait: `quickMs`, or longer for a slow service. */
  patienceMs(quickMs: number): number {
    return Math.max(quickMs, Math.min(Math.ceil(TIMES * this.usualMs), this.#longestMs));
  }
}

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
/** Usual response time in ms from which a service is slow. */
const SLOW_MS = 2_000;
/** A limiter may hold responses back to the documented rate: number of its intervals that a response may take. */
const INTERVALS = 2;
/** Milliseconds granted to a slow service, beside the deliberate waits. */
const SLOW_RUN_MS = 110_000;

interface Parts {
  readonly config: ServiceConfig;
  readonly transport: Pick<TransportOptions, 'clock'>;
  readonly budget: Budget;
  readonly answerTimes: AnswerTimes;
  readonly pauses: Pick<Pauses, 'totalMs'>;
}

/** Duration of the run of a service, and its end if it is too long. */
export function openRunTime(parts: Parts) {
  const { config, answerTimes, pauses } = parts;
  const { clock } = parts.transport;
  const { plan, rate } = parts.budget;
  const { runMs } = config.timeouts;
  const openedMs = clock.now();
  const over = new AbortController();
  const signal: AbortSignal = over.signal;
  const tookMs = () => clock.now() - openedMs;
  const end = (longerThan: string) =>
    over.abort(new Blocked(`the run of this service took longer than ${longerThan}`));
  const isLimited = runMs !== undefined && runMs !== Number.POSITIVE_INFINITY;
  /** Without `timeouts.run`, ends a run that takes much longer than the permitted rate and usual responses explain. */
  function endIfTooSlow(): void {
    if (runMs !== undefined || signal.aborted) return;
    const { usualMs } = answerTimes;
    const heldBackMs = plan === null ? 0 : (INTERVALS * plan.windowMs) / plan.requests;
    if (usualMs >= Math.max(SLOW_MS, heldBackMs) && tookMs() - pauses.totalMs() > SLOW_RUN_MS) {
      const each = `${(usualMs / 1000).toFixed(1)} s`;
      end(`${SLOW_RUN_MS / 1000} s: each response takes ${each} (more time: timeouts.run)`);
      return;
    }
    const eachMs = rate.windowMs / rate.requests + 2 * usualMs;
    const mostMs = EVERY_RUN_MS + WINDOWS * (plan?.windowMs ?? 0) + config.safety.maxRequests * eachMs;
    if (tookMs() <= mostMs) return;
    end(`${Math.round(mostMs / 60_000)} min: it is too slow to be judged in that (timeouts.run)`);
  }

  answerTimes.whenAnswered(endIfTooSlow);
  return {
    tookMs,
    /** Its reason is that of the end. */
    signal,
    /** The reason of the end; null before it. */
    overtime: (): string | null => (signal.aborted ? signal.reason.message : null),
    endIfTooSlow,
    /** Ends the deadline. */
    stop: isLimited ? startDeadline(clock, runMs, () => end('timeouts.run')) : () => undefined,
  };
}

/** Deliberate, announced waits. They do not count against the time of a check. */
export interface PausePort {
  /** Waits until that time of the session's clock in ms. */
  until(untilMs: number, reason: string): Promise<void>;
  /** Announces a wait that the probe does itself. */
  announce(untilMs: number, reason: string): void;
}

export type Pauses = ReturnType<typeof openPauses>;

/** Adds up and journals deliberate waits. */
export function openPauses(clock: Clock, service: string, record: (event: JournalEvent) => void) {
  let totalMs = 0;
  let endMs = Number.NEGATIVE_INFINITY;
  const announce = ({ reason, untilMs, until }: BudgetWait): void => {
    // Waits at the same time are one.
    totalMs += Math.max(0, untilMs - Math.max(endMs, clock.now()));
    endMs = Math.max(endMs, untilMs);
    const fromMs = clock.wallNow().getTime();
    record({ type: 'waiting', service, reason, fromMs, untilMs: until.getTime() });
  };
  const announceUntil = (untilMs: number, reason: string) =>
    announce({ reason, untilMs, until: new Date(clock.wallNow().getTime() + untilMs - clock.now()) });
  return {
    /** Without the rest of a wait that goes on. */
    totalMs: () => totalMs - Math.max(0, endMs - clock.now()),
    announce,
    portFor: (signal: AbortSignal): PausePort => ({
      announce: announceUntil,
      async until(untilMs, reason) {
        const forMs = untilMs - clock.now();
        if (forMs <= 0) return;
        announceUntil(untilMs, reason);
        await clock.sleep(forMs, signal);
      },
    }),
  };
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
  #listener: () => void = () => undefined;

  /** `responseMs`: the timeout of a response. */
  constructor(responseMs: number) {
    this.#longestMs = Math.min(responseMs, LONGEST_MS);
  }

  /** After an ordinary request. */
  answered(afterMs: number): void {
    this.#latest = [...this.#latest, afterMs].slice(-LATEST);
    this.#listener();
  }

  /** Called after each of them. */
  whenAnswered(listener: () => void): void {
    this.#listener = listener;
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

import { Blocked } from '../../../base/verdict.ts';
import { startDeadline } from '../../../wire/pace/clock.ts';
import type { SessionContext } from './session-context.ts';

/** What every run may take, in ms. */
const EVERY_RUN_MS = 30 * 60_000;
/** So many windows of the plan may be waited for until the limit is measured. */
const WINDOWS = 10;

type Parts = Pick<SessionContext, 'config' | 'transport' | 'budget' | 'answerTimes'>;

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

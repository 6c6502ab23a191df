import type { Exchange, FieldLine } from '../../evidence/exchange.ts';
import type { BudgetWait } from './budget.ts';
import type { Clock } from './clock.ts';
import { retryVerdict } from './retry-rules.ts';

/** A request that may be sent more than once, because no attempt of it is evidence. */
export interface RepeatableCall {
  readonly request: { readonly method: string; readonly fields: readonly FieldLine[] };
  /** Sends it; the same method, fields and content each time. `attempt` counts from 1. */
  send(attempt: number): Promise<Exchange>;
}

export interface BackoffOptions {
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** Largest first wait of our own. */
  readonly baseMs: number;
  /** Largest wait of our own at all. */
  readonly capMs: number;
  /** The first one included. */
  readonly maxAttempts: number;
  /** From the start to the sending of the last attempt; a longer Retry-After is not waited for. */
  readonly maxTotalMs: number;
  /** Shared by all calls that use one key; a gate of its own when left out. */
  readonly gate?: RetryGate;
  /** Statuses that alone are reason enough; every one of the rules when left out, and failures of the connection. */
  readonly onlyFor?: ReadonlySet<number>;
  readonly signal?: AbortSignal;
  /** Told before each wait. */
  readonly waiting?: (wait: BudgetWait) => void;
}

export interface Retried {
  /** The last exchange; null when the key was paused for longer than this call may take. */
  readonly exchange: Exchange | null;
  readonly attempts: number;
  /** Why no further attempt was made although one could have helped; null when there was no need. */
  readonly gaveUp: string | null;
}

/**
 * What calls with one key know together: how often in a row the provider has refused, and until when nobody asks.
 * A call that was refused while another already had the gate closed does not make the wait grow once more.
 */
export class RetryGate {
  readonly #clock: Clock;
  #closedUntilMs = Number.NEGATIVE_INFINITY;
  #refusals = 0;
  #era = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get closedUntilMs(): number {
    return this.#closedUntilMs;
  }

  /** Grows with each refusal that counts; a call remembers in which era it was sent. */
  get era(): number {
    return this.#era;
  }

  /** Notes a refusal; yields how many came before it in a row. */
  refuse(era: number): number {
    if (era === this.#era) {
      this.#era += 1;
      this.#refusals += 1;
    }
    return Math.max(0, this.#refusals - 1);
  }

  closeFor(ms: number): void {
    this.#closedUntilMs = Math.max(this.#closedUntilMs, this.#clock.now() + ms);
  }

  /** Notes that a request was served: the waits begin small again. */
  serve(era: number): void {
    if (era === this.#era) this.#refusals = 0;
  }
}

/**
 * Sends a call until it is answered for good or giving up is the better answer: capped exponential backoff with
 * full jitter, Retry-After as a lower bound, bounded attempts and time (see `retry-rules.ts` for what is repeated
 * at all). Rejects only with what `send` rejects with, or with the signal's reason.
 */
export async function retrying(call: RepeatableCall, options: BackoffOptions): Promise<Retried> {
  const { baseMs, capMs, clock, maxAttempts, random, signal } = options;
  const gate = options.gate ?? new RetryGate(clock);
  const latestMs = clock.now() + options.maxTotalMs;
  let exchange: Exchange | null = null;

  async function waitUntil(untilMs: number, reason: string): Promise<void> {
    const forMs = untilMs - clock.now();
    options.waiting?.({ reason, untilMs, until: new Date(clock.wallNow().getTime() + forMs) });
    await clock.sleep(forMs, signal);
  }

  /** Waits while others have the gate closed; false when that takes too long. */
  async function pass(): Promise<boolean> {
    while (gate.closedUntilMs > clock.now()) {
      // Not all at the same moment.
      const untilMs = gate.closedUntilMs + random() * baseMs;
      if (untilMs > latestMs) return false;
      await waitUntil(untilMs, 'another request with the same key was refused');
    }
    return true;
  }

  for (let attempt = 1; ; attempt++) {
    signal?.throwIfAborted();
    if (!(await pass())) return { exchange, attempts: attempt - 1, gaveUp: 'the key is paused for too long' };
    const { era } = gate;
    exchange = await call.send(attempt);
    const verdict = retryVerdict(call.request, exchange, clock.wallNow());
    const meant = options.onlyFor?.has(exchange.response?.status ?? 0) ?? true;
    if (!verdict || !meant) {
      gate.serve(era);
      return { exchange, attempts: attempt, gaveUp: null };
    }
    const ownMs = random() * Math.min(capMs, baseMs * 2 ** gate.refuse(era));
    const askedMs = verdict.retryAfterMs === null ? 0 : verdict.retryAfterMs + random() * baseMs;
    const waitMs = Math.max(ownMs, askedMs);
    const untilMs = clock.now() + waitMs;
    // Others wait as well, but for no more than a wait that this call itself would accept.
    if (waitMs <= options.maxTotalMs) gate.closeFor(waitMs);
    const gaveUp = reasonToGiveUp();
    if (gaveUp !== null) return { exchange, attempts: attempt, gaveUp: `${verdict.reason}: ${gaveUp}` };
    await waitUntil(untilMs, `${verdict.reason}, attempt ${attempt} of ${maxAttempts}`);

    function reasonToGiveUp(): string | null {
      if (!verdict?.allowed) return `${call.request.method} is not repeated`;
      if (attempt >= maxAttempts) return `${maxAttempts} attempts were made`;
      if (untilMs <= latestMs) return null;
      return `a wait of ${Math.ceil(waitMs / 1000)} s is longer than there is time for`;
    }
  }
}

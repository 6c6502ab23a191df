import { SAFE_METHODS } from '../../credential/request.ts';
import type { Exchange, ExchangeFailureKind, FieldLine } from '../../evidence/exchange.ts';
import { fieldValue, fieldValues } from '../../evidence/fields/grammar/field-lines.ts';
import { readHttpDate } from '../../evidence/fields/grammar/http-date.ts';
import { readRetryAfter, retryAfterMs } from '../../evidence/fields/retry-after.ts';
import type { BudgetWait } from './budget.ts';
import type { Clock } from './clock.ts';

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

/** Which requests may be sent again after an answer of that kind. */
type Repeatable =
  /** The request was refused before it was processed: safe methods, and others with an idempotency key. */
  | 'refused-unprocessed'
  /** It may have been processed: safe methods only (RFC 9110 §9.2.2). */
  | 'maybe-processed';

/** RFC 6585 §4, RFC 9110 §15.6.3 to §15.6.5. Any other status is an answer, and stays one however often it is asked for. */
const BY_STATUS: Readonly<Record<number, Repeatable>> = {
  429: 'refused-unprocessed',
  503: 'refused-unprocessed',
  502: 'maybe-processed',
  504: 'maybe-processed',
};

const BY_FAILURE: Readonly<Partial<Record<ExchangeFailureKind, Repeatable>>> = {
  refused: 'maybe-processed',
  reset: 'maybe-processed',
  closed: 'maybe-processed',
  'connect-timeout': 'maybe-processed',
  'response-timeout': 'maybe-processed',
};

/** What the outcome of one attempt means for the next. */
export interface RetryVerdict {
  /** `status 429`, `reset`: why a further attempt could help. */
  readonly reason: string;
  /** Whether this request may be sent again for that reason. */
  readonly allowed: boolean;
  /** What Retry-After asks for, in ms from now; null without a usable one: absent, malformed, zero or past. */
  readonly retryAfterMs: number | null;
}

/** null when the exchange is an answer to be taken as it is. */
export function retryVerdict(
  request: { readonly method: string; readonly fields: readonly FieldLine[] },
  exchange: Exchange,
  now: Date,
): RetryVerdict | null {
  const { response, failure } = exchange;
  const byStatus = response ? BY_STATUS[response.status] : undefined;
  const repeatable = byStatus ?? (failure ? BY_FAILURE[failure.kind] : undefined);
  if (!repeatable) return null;
  const safe = SAFE_METHODS.has(request.method);
  const keyed = fieldValues(request.fields, 'idempotency-key').length > 0;
  return {
    reason: byStatus && response ? `status ${response.status}` : (failure?.kind ?? 'failure'),
    allowed: safe || (keyed && repeatable === 'refused-unprocessed'),
    retryAfterMs: response ? askedWaitMs(response.fields, now) : null,
  };
}

/**
 * `Retry-After: 0`, a date that is past and garbage do not mean "at once": whoever reads them so makes thousands
 * of requests a second.
 */
function askedWaitMs(fields: readonly FieldLine[], receivedAt: Date): number | null {
  const date = readHttpDate(fieldValue(fields, 'date') ?? '', receivedAt);
  const moments = { receivedAt, date: date.kind === 'date' ? date.at : null };
  const waits = fieldValues(fields, 'retry-after')
    .map((value) => retryAfterMs(readRetryAfter(value, receivedAt), moments))
    .filter((ms) => ms !== null && ms > 0);
  return waits.length === 0 ? null : Math.max(...waits.map(Number));
}

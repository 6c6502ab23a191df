import type { Exchange, FieldLine } from '../exchange.ts';
import { fieldValue, fieldValues } from '../fields/grammar/field-grammar.ts';
import { readHttpDate, readRetryAfter, retryAfterMs } from '../fields/grammar/http-date.ts';
import { SAFE_METHODS } from '../request.ts';
import type { BudgetWait } from './budget.ts';
import type { Clock } from './clock.ts';

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
  /** From the first refusal to the sending of the last attempt; a longer Retry-After is not waited for. */
  readonly maxTotalMs: number;
  readonly signal: AbortSignal;
  /** Whether it was refused for its rate, before it was processed (RFC 6585 §4). */
  readonly isRefused: (exchange: Exchange) => boolean;
  /** Called before each wait, with whether the refusal has asked for one. */
  readonly waiting: (wait: BudgetWait & { readonly isAsked: boolean }) => void;
}

/**
 * Sends a request again for as long as it is refused for its rate, or until giving up is the better answer: capped
 * exponential backoff with full jitter, Retry-After as a lower bound, bounded attempts and time. Only safe methods
 * are repeated, and no other answer. @returns the last attempt.
 */
export async function untilAdmitted<R extends { readonly exchange: Exchange }>(
  send: () => Promise<R>,
  { clock, random, baseMs, capMs, maxAttempts, maxTotalMs, signal, isRefused, waiting }: BackoffOptions,
): Promise<R> {
  let latestMs: number | undefined;
  for (let attempt = 1; ; attempt++) {
    const sent = await send();
    const { request, response } = sent.exchange;
    const mayComeBack = isRefused(sent.exchange) && SAFE_METHODS.has(request.method);
    if (!mayComeBack || attempt >= maxAttempts) return sent;
    latestMs ??= clock.now() + maxTotalMs;
    const ownMs = random() * Math.min(capMs, baseMs * 2 ** (attempt - 1));
    const askedMs = askedWaitMs(response?.fields ?? [], clock.wallNow());
    const forMs = Math.max(ownMs, askedMs === null ? 0 : askedMs + random() * baseMs);
    const untilMs = clock.now() + forMs;
    if (untilMs > latestMs) return sent;
    const isAsked = askedMs !== null;
    const how = response === null ? 'no answer' : `status ${response.status}`;
    const reason = `${how}${isAsked ? '' : ' without Retry-After'}, attempt ${attempt} of ${maxAttempts}`;
    waiting({ reason, untilMs, until: new Date(clock.wallNow().getTime() + forMs), isAsked });
    await clock.sleep(forMs, signal);
  }
}

/**
 * What Retry-After asks for, in ms; null without a usable one. `Retry-After: 0`, a date that is past and garbage do not
 * mean "at once": a client that reads them so makes thousands of requests a second.
 */
function askedWaitMs(fields: readonly FieldLine[], receivedAt: Date): number | null {
  const date = readHttpDate(fieldValue(fields, 'date') ?? '', receivedAt);
  const moments = { receivedAt, date: date.kind === 'date' ? date.at : null };
  const waits = fieldValues(fields, 'retry-after')
    .map((value) => retryAfterMs(readRetryAfter(value, receivedAt), moments))
    .filter((ms) => ms !== null && ms > 0);
  return waits.length === 0 ? null : Math.max(...waits.map(Number));
}

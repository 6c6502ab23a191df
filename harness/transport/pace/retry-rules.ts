import type { Exchange, ExchangeFailureKind, FieldLine } from '../../evidence/exchange.ts';
import { fieldValue, fieldValues } from '../../evidence/fields/grammar/field-lines.ts';
import { readHttpDate } from '../../evidence/fields/grammar/http-date.ts';
import { readRetryAfter, retryAfterMs } from '../../evidence/fields/retry-after.ts';
import { SAFE_METHODS } from '../http/request.ts';

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

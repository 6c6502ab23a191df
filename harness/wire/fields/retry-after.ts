import { visible } from '../octets/visible.ts';
import { readHttpDate } from './grammar/http-date.ts';

/** Retry-After by RFC 9110 §10.2.3. */
export type RetryAfter =
  | { readonly kind: 'delay'; readonly seconds: number }
  | {
      readonly kind: 'date';
      readonly at: Date;
      /** A sender must use `imf-fixdate` (§5.6.7). */
      readonly form: 'imf-fixdate' | 'rfc850' | 'asctime';
    }
  | { readonly kind: 'invalid'; readonly reason: string };

/**
 * Reads a Retry-After field value: `1*DIGIT` seconds or an HTTP-date; `2.5`, `-1`, `3s`, ISO 8601 and lists are
 * invalid. More seconds than Number.MAX_SAFE_INTEGER are read as that many. `now` settles two-digit years.
 */
export function readRetryAfter(value: string, now: Date): RetryAfter {
  if (/^[0-9]+$/.test(value)) {
    return { kind: 'delay', seconds: Math.min(Number(value), Number.MAX_SAFE_INTEGER) };
  }
  const date = readHttpDate(value, now);
  if (date.kind === 'date') return date;
  const looksLikeDate = /^[A-Z][a-z]{2,8},? .{0,20}[0-9]{2}:[0-9]{2}/.test(value);
  const reason = looksLikeDate ? date.reason : 'neither whole seconds nor an HTTP-date';
  return { kind: 'invalid', reason: `${reason}: "${visible(value, 60)}"` };
}

/** The moments that a Retry-After is measured from. */
interface ResponseMoments {
  /** When the response was received. */
  readonly receivedAt: Date;
  /** The response's own Date: its clock made the date in Retry-After. null without a valid one. */
  readonly date: Date | null;
}

/**
 * Milliseconds to wait, from the receipt of the response: a delay counts from there, a date is compared with the
 * response's own Date so that a skewed clock does no harm. Never negative; null for an invalid value.
 */
export function retryAfterMs(retryAfter: RetryAfter, { receivedAt, date }: ResponseMoments): number | null {
  switch (retryAfter.kind) {
    case 'delay':
      return retryAfter.seconds * 1000;
    case 'date':
      return Math.max(0, retryAfter.at.getTime() - (date ?? receivedAt).getTime());
    case 'invalid':
      return null;
  }
}

import type { Exchange } from '../exchange.ts';

/** What a limiter's refusal looks like, so that it is known wherever it comes. */
export interface RefusalFace {
  /** null: it ends the connection and answers nothing (RFC 6585 §7.2). */
  readonly status: number | null;
  /** Its content, without the numbers in it; '' where it has none. */
  readonly content: string;
}

/** RFC 6585 §4: it says of itself what it is. */
const TOO_MANY = 429;
/** As much of the content as tells one refusal from another, in octets. */
const TELLING = 2_048;

export function faceOf({ response }: Pick<Exchange, 'response'>): RefusalFace {
  const content = Buffer.from(response?.body.bytes ?? []).subarray(0, TELLING);
  // Ids and times differ from one refusal to the next.
  const steady = content.toString('latin1').replaceAll(/[0-9a-f]*\d[0-9a-f]*/gi, '#');
  return { status: response?.status ?? null, content: steady };
}

/** Statuses of a server that fails, for now (RFC 9110 §15.6). */
const FAILURES: ReadonlySet<number> = new Set([500, 502, 503, 504]);

export function isFailure(status: number | null): boolean {
  return status !== null && FAILURES.has(status);
}

type Answer = Pick<Exchange, 'response' | 'failure'>;

/** The connection ended instead of an answer. */
export function isDropped({ response, failure }: Answer): boolean {
  return response === null && (failure?.kind === 'reset' || failure?.kind === 'closed');
}

/** Whether that is the limiter's refusal; `face` is the one that was met, null while none was. */
export function isLimitersRefusal(answer: Answer, face: RefusalFace | null): boolean {
  if (answer.response?.status === TOO_MANY) return true;
  if (face === null || face.status === TOO_MANY) return false;
  if (face.status === null) return isDropped(answer);
  const { status, content } = faceOf(answer);
  // An answer to HEAD has no content.
  return status === face.status && (content === face.content || content === '' || face.content === '');
}

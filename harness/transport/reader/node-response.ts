import type { IncomingMessage } from 'node:http';
import type { FieldLine, RecordedResponse } from '../../evidence/exchange.ts';
import type { Redaction } from '../../evidence/redaction/redaction.ts';
import { type Clock, startDeadline } from '../pace/clock.ts';
import { REDACTION_MARGIN, recordBody } from '../recording.ts';
import type { ResponseLimits } from '../transport.ts';

/** A response that Node's own client read, which tells nothing of its framing. */
export function recordNodeResponse(
  redaction: Redaction,
  answer: IncomingMessage,
  body: Uint8Array,
  limits: ResponseLimits,
): RecordedResponse {
  const lines = pairs(answer.rawHeaders);
  return {
    status: answer.statusCode ?? 0,
    reason: redaction.text(answer.statusMessage ?? ''),
    httpVersion: answer.httpVersion,
    fields: redaction.fields(lines),
    trailers: redaction.fields(pairs(answer.rawTrailers)),
    body: recordBody(redaction, body, lines, limits.bodyBytes),
    informational: [],
    framingFaults: null,
  };
}

/** What comes of the body of a refusal, at most `limit` octets and a margin, in at most `ms`. */
export function bodyOf(
  answer: IncomingMessage,
  limit: number,
  clock: Clock,
  ms: number,
): Promise<Uint8Array> {
  return new Promise((resolve) => {
    const pieces: Buffer[] = [];
    let length = 0;
    const settle = () => {
      cancelDeadline();
      resolve(Buffer.concat(pieces).subarray(0, limit + REDACTION_MARGIN));
    };
    const cancelDeadline = startDeadline(clock, ms, settle);
    answer.on('data', (piece: Buffer) => {
      pieces.push(piece);
      length += piece.length;
      if (length > limit + REDACTION_MARGIN) settle();
    });
    answer.on('end', settle).on('error', settle).on('close', settle);
  });
}

function pairs(raw: readonly string[]): FieldLine[] {
  return Array.from({ length: raw.length / 2 }, (_, index) => [
    raw[2 * index] ?? '',
    raw[2 * index + 1] ?? '',
  ]);
}

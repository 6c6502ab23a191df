import { isUtf8 } from 'node:buffer';
import { decodeContent, encodeContent } from '../exchange/content/content-coding.ts';
import type {
  ExchangeFailure,
  FieldLine,
  RecordedBody,
  RecordedRequest,
  RecordedResponse,
} from '../exchange.ts';
import { fieldValues } from '../fields/grammar/field-grammar.ts';
import { looksCompressed, possibleContents } from '../octets/compressed.ts';
import type { ResponseReader } from '../reader/http1-reader.ts';
import type { ReaderLimits, ReadResponse } from '../reader/lines.ts';
import { marker, traces } from '../redaction/marker.ts';
import type { Redaction } from '../redaction/redaction.ts';
import { wholeLines } from '../stream/listening.ts';
import type { ResponseLimits } from './options.ts';

/**
 * Octets read beyond the limit, so that a secret that lies across it is seen whole, taken out, and not left as
 * the part before the cut.
 */
export const REDACTION_MARGIN = 16 * 1024;

/** What the reader may take in so that at most `limits` is recorded. */
export function readerLimits(limits: ResponseLimits): ReaderLimits {
  return { bodyBytes: limits.bodyBytes + REDACTION_MARGIN, fieldBytes: limits.fieldBytes };
}

/** A request as it went out: recorded alike, but for the secrets. */
export interface SentRequest
  extends Pick<
    RecordedRequest,
    'method' | 'target' | 'fields' | 'httpVersion' | 'piecemeal' | 'spelled' | 'hasBehind'
  > {
  /** All octets behind the head; null for none. */
  readonly body: Uint8Array | null;
}

export function recordRequest(
  redaction: Redaction,
  sent: SentRequest,
  url: string,
  limits: ResponseLimits,
): RecordedRequest {
  return {
    method: redaction.text(sent.method),
    url: redaction.text(url),
    target: redaction.text(sent.target),
    fields: redaction.fields(sent.fields),
    body: sent.body ? recordBody(redaction, sent.body, sent.fields, limits.bodyBytes) : null,
    ...(sent.httpVersion && { httpVersion: sent.httpVersion }),
    ...(sent.piecemeal && { piecemeal: true }),
    ...(sent.spelled && { spelled: sent.spelled }),
    ...(sent.hasBehind && { hasBehind: true }),
  };
}

/** A response as far as it was read, by whichever version of HTTP. */
export interface ReadMessage {
  /** null before its head is whole. */
  readonly response: ReadResponse | null;
  /** null where the transport cannot see them. */
  readonly faults: readonly string[] | null;
}

/** The response as it was read, redacted; null before its head is whole. `isLeft`: it goes on, and was read no further. */
export function recordResponse(
  redaction: Redaction,
  reader: ReadMessage,
  limits: ResponseLimits,
  isLeft = false,
): RecordedResponse | null {
  const { response } = reader;
  if (!response) return null;
  return {
    status: response.status,
    reason: response.reason === null ? null : redaction.text(response.reason),
    httpVersion: response.httpVersion,
    fields: redaction.fields(response.fields),
    trailers: redaction.fields(response.trailers),
    body: isLeft
      ? {
          ...recordBody(redaction, wholeLines(response.body), response.fields, limits.bodyBytes),
          truncated: true,
        }
      : recordBody(redaction, response.body, response.fields, limits.bodyBytes),
    informational: response.informational.map(({ status, fields }) => ({
      status,
      fields: redaction.fields(fields),
    })),
    framingFaults: reader.faults,
  };
}

/** The failure that a reader's end amounts to; null when the message is whole and within its limit. */
export function readerFailure(reader: ResponseReader, limits: ResponseLimits): ExchangeFailure | null {
  const received = reader.response?.body.length ?? 0;
  if (reader.failure === 'body-too-large' || received > limits.bodyBytes) {
    return { kind: 'body-too-large', message: `the body goes on after ${limits.bodyBytes} octets` };
  }
  switch (reader.failure) {
    case null:
      return null;
    case 'fields-too-large':
      return {
        kind: 'fields-too-large',
        message: `fields and framing go on after ${limits.fieldBytes} octets`,
      };
    case 'malformed':
      return { kind: 'malformed', message: `not HTTP/1.1: ${reader.faults.join(', ') || 'no status line'}` };
    case 'closed':
      return { kind: 'closed', message: closedMessage(reader) };
  }
}

function closedMessage(reader: ResponseReader): string {
  if (!reader.sawOctets) return 'the connection was closed without an answer';
  if (!reader.headWhole) return 'the connection was closed within the header section';
  return `the connection was closed within the body: ${reader.faults.join(', ')}`;
}

/** `limit`: octets that are kept. Secrets are cut out of compressed content too, which stays in its codings. */
function recordBody(
  redaction: Redaction,
  body: Uint8Array,
  fields: readonly FieldLine[],
  limit: number,
): RecordedBody {
  const { bytes, withheld } = redactContent(redaction, body, fieldValues(fields, 'content-encoding'));
  return {
    // A copy, so that evidence holds on to no larger buffer.
    bytes: new Uint8Array(bytes.subarray(0, limit)),
    received: body.length,
    truncated: body.length > limit,
    ...(withheld && { withheld }),
  };
}

/**
 * Takes secrets out of content. Where a search by value does not see them, in compressed content, it is encoded anew
 * without them, in the same codings. Compressed content that cannot be searched is not kept at all; of such as turns
 * out to hold a secret, in whatever coding, only that it does. All other content stays octet for octet.
 */
function redactContent(
  redaction: Redaction,
  content: Uint8Array,
  contentEncoding: readonly string[],
): Pick<RecordedBody, 'bytes' | 'withheld'> {
  const kept = redaction.octets(content);
  // As far as it goes, since content that breaks off may hold a secret as well as any.
  const { octets, fault, limit } = decodeContent(content, contentEncoding, true);
  const isRead = fault === null && limit === null;
  const inner = isRead ? octets : content;
  // Text has been searched as it is.
  if (!isUtf8(inner)) {
    const found = markersWithin(redaction, inner);
    if (found.length > 0) {
      const held = isRead
        ? 'its content is compressed in a way that is not named, and holds a secret'
        : limit;
      return { bytes: Buffer.from(found.join(' ')), withheld: { fault, limit: held } };
    }
    if (!isRead) return { bytes: new Uint8Array(), withheld: { fault, limit } };
    if (looksCompressed(inner) && possibleContents(inner).length === 0)
      return {
        bytes: new Uint8Array(),
        withheld: { fault, limit: 'its content is compressed, and cannot be read' },
      };
  }
  // Content in no coding has been searched already.
  if (!isRead || inner === content) return { bytes: kept };
  const redacted = redaction.octets(inner);
  if (Buffer.compare(redacted, inner) === 0) return { bytes: kept };
  return { bytes: encodeContent(redacted, contentEncoding) };
}

/** Compressed content within compressed content is looked into so far. */
const DEEPEST_CODINGS = 2;

/** Markers of the secrets in compressed octets, whatever they are compressed with. */
export function markersWithin(
  redaction: Redaction,
  octets: Uint8Array,
  depth: number = DEEPEST_CODINGS,
): readonly string[] {
  if (depth === 0) return [];
  const found = possibleContents(octets).flatMap((content) => [
    ...traces(redaction.octets(content)).map(marker),
    ...(isUtf8(content) ? [] : markersWithin(redaction, content, depth - 1)),
  ]);
  return [...new Set(found)];
}

import * as zlib from 'node:zlib';
import { decodeContent } from '../../evidence/exchange/content-coding.ts';
import type {
  ExchangeFailure,
  FieldLine,
  RecordedBody,
  RecordedRequest,
  RecordedResponse,
} from '../../evidence/exchange.ts';
import { listElements } from '../../evidence/fields/grammar/field-grammar.ts';
import { fieldValues } from '../../evidence/fields/grammar/field-lines.ts';
import type { Redaction } from '../../evidence/redaction/redaction.ts';
import type { ResponseReader } from '../reader/http1-reader.ts';
import type { ReaderLimits } from '../reader/reading.ts';
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

interface SentRequest {
  readonly method: string;
  readonly target: string;
  readonly fields: readonly FieldLine[];
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
  };
}

/** The response as the reader has it, redacted; null before its head is whole. */
export function recordResponse(
  redaction: Redaction,
  reader: ResponseReader,
  limits: ResponseLimits,
): RecordedResponse | null {
  const { response } = reader;
  if (!response) return null;
  return {
    status: response.status,
    reason: redaction.text(response.reason),
    httpVersion: response.httpVersion,
    fields: redaction.fields(response.fields),
    trailers: redaction.fields(response.trailers),
    body: recordBody(redaction, response.body, response.fields, limits.bodyBytes),
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
export function recordBody(
  redaction: Redaction,
  body: Uint8Array,
  fields: readonly FieldLine[],
  limit: number,
): RecordedBody {
  const redacted = redactEncoded(redaction, redaction.octets(body), fieldValues(fields, 'content-encoding'));
  return {
    // A copy, so that what is kept as evidence holds on to no larger buffer.
    bytes: new Uint8Array(redacted.subarray(0, limit)),
    received: body.length,
    truncated: body.length > limit,
  };
}

type Encode = (octets: Uint8Array) => Uint8Array;

/** The codings that `decodeContent` undoes, by name. */
const ENCODE: Readonly<Record<string, Encode>> = {
  identity: (octets) => octets,
  gzip: (octets) => zlib.gzipSync(octets),
  'x-gzip': (octets) => zlib.gzipSync(octets),
  deflate: (octets) => zlib.deflateSync(octets),
  br: (octets) => zlib.brotliCompressSync(octets),
  zstd: (octets) => zlib.zstdCompressSync(octets),
};

/**
 * Takes secrets out of compressed content, where a search by value does not see them: content whose decoded form
 * holds one is encoded anew without it, in the same codings. All other content stays octet for octet.
 */
export function redactEncoded(
  redaction: Redaction,
  content: Uint8Array,
  contentEncoding: readonly string[],
): Uint8Array {
  const codings = listElements(contentEncoding.join(',')).map((coding) => coding.toLowerCase());
  if (codings.length === 0 || content.length === 0) return content;
  // As far as it goes, since content that breaks off may hold a secret as well as any.
  const decoded = decodeContent(content, contentEncoding, true);
  if (decoded.fault !== null || decoded.limit !== null) return content;
  const redacted = redaction.octets(decoded.octets);
  if (Buffer.compare(redacted, decoded.octets) === 0) return content;
  return codings.reduce(
    (octets, coding) => (ENCODE[coding] ?? ENCODE.identity)?.(octets) ?? octets,
    redacted,
  );
}

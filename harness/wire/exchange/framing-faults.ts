/**
 * What a response's message framing can get wrong by RFC 9112 (and by RFC 9110 where it is named). Each group is judged by
 * a check of its own. Here: the lines of the head, and whatever follows the message.
 */
const LINES = {
  /** RFC 9112 §2.2: a recipient may accept a single LF; no sender may send it. */
  bareLf: 'bare LF',
  /** §2.2 */
  bareCr: 'bare CR',
  /** §2.2: only a server tolerates empty lines before a start line. */
  emptyLineFirst: 'empty line before the status line',
  /** §4 */
  malformedStatusLine: 'malformed status line',
  /** §4: the space before the reason phrase stays even where the phrase is empty. */
  missingReasonSpace: 'no space after the status code',
  /** §4 */
  badReason: 'invalid character in the reason phrase',
  /** RFC 9110 §15 */
  statusOutOfRange: 'status outside 100..599',
  /** §2.3 */
  badVersion: 'HTTP version is not 1.0 or 1.1',
  /** §2.2 */
  spaceBeforeFirstField: 'white space before the first field line',
  /** §5.2 */
  obsFold: 'obs-fold',
  /** §5.1 */
  spaceBeforeColon: 'space before colon',
  /** §5 */
  noColon: 'field line without a colon',
  /** RFC 9110 §5.1 */
  badFieldName: 'invalid character in a field name',
  /** RFC 9110 §5.5 */
  badFieldValue: 'control character in a field value',
  /** RFC 9110 §5.5 */
  nul: 'NUL in a field value',
  /** §9.3: nothing may follow on a connection without pipelined requests. */
  bytesAfterBody: 'bytes after the body',
} as const;

/** Content-Length, and the octets that it declares. */
const LENGTH = {
  /** §6.3, RFC 9110 §8.6 */
  duplicateLength: 'duplicate Content-Length',
  /** §6.3 (5) */
  conflictingLength: 'conflicting Content-Length',
  /** RFC 9110 §8.6 */
  badLength: 'invalid Content-Length',
  /** §6.2 */
  lengthAndCoding: 'Content-Length together with Transfer-Encoding',
  /** §6.3 (6), §8 */
  shortBody: 'fewer octets than Content-Length',
} as const;

/** Transfer codings and chunks. */
const CHUNKS = {
  /** §6.1 */
  codingInOldVersion: 'Transfer-Encoding in an HTTP/1.0 response',
  /** §6.1: chunked is applied once, and last. */
  chunkedNotLast: 'chunked is not the last transfer coding',
  /** §7 */
  unknownCoding: 'unregistered transfer coding',
  /** §7.1 */
  badChunkSize: 'bad chunk size',
  /** §7.1.1: white space is allowed only around the semicolon of an extension. */
  spaceAfterChunkSize: 'white space after a chunk size',
  /** §7.1 */
  badChunkEnd: 'chunk data not followed by CRLF',
  /** §7.1, §8 */
  missingFinalChunk: 'missing final chunk',
  /** §7.1.2, §8 */
  incompleteTrailers: 'incomplete trailer section',
} as const;

/** Content where there is none to be. */
const NO_CONTENT = {
  /** RFC 9110 §8.6 */
  lengthOnBodyless: 'Content-Length on a 1xx or 204 response',
  /** §6.1 */
  codingOnBodyless: 'Transfer-Encoding on a 1xx or 204 response',
  /** §6.3 (1) */
  bodyOnHead: 'a body on the response to HEAD',
  bodyOn204: 'a body on a 204 response',
  bodyOn304: 'a body on a 304 response',
} as const;

export const FRAMING_FAULT = { ...LINES, ...LENGTH, ...CHUNKS, ...NO_CONTENT };

export type FramingFault = (typeof FRAMING_FAULT)[keyof typeof FRAMING_FAULT];

/** Those over which the clients that are in use give up, so that an answer with one of them is no answer. */
export const REFUSED_BY_CLIENTS: ReadonlySet<string> = new Set<FramingFault>([
  FRAMING_FAULT.bareLf,
  FRAMING_FAULT.bareCr,
  FRAMING_FAULT.malformedStatusLine,
  FRAMING_FAULT.spaceBeforeFirstField,
  FRAMING_FAULT.obsFold,
  FRAMING_FAULT.spaceBeforeColon,
  FRAMING_FAULT.noColon,
  FRAMING_FAULT.badFieldName,
  FRAMING_FAULT.badFieldValue,
  FRAMING_FAULT.nul,
  FRAMING_FAULT.duplicateLength,
  FRAMING_FAULT.conflictingLength,
  FRAMING_FAULT.badLength,
  FRAMING_FAULT.lengthAndCoding,
  FRAMING_FAULT.badChunkSize,
  FRAMING_FAULT.badChunkEnd,
]);

const MATTERS = { lines: LINES, length: LENGTH, chunks: CHUNKS, 'no-content': NO_CONTENT };

/** What of a message's framing a fault concerns. */
export type FramingMatter = keyof typeof MATTERS;

/** The first of these faults that concerns this; null for none. */
export function faultOfMatter(faults: readonly string[], matter: FramingMatter): string | null {
  const concerned: readonly string[] = Object.values(MATTERS[matter]);
  return faults.find((fault) => concerned.includes(fault)) ?? null;
}

import type { Reply } from '../evidence/exchange/reply.ts';
import { FRAMING_FAULT, type FramingFault } from '../transport/reader/framing-faults.ts';

/** What of a message's framing a fault concerns; each is judged by a check of its own. */
export type FramingMatter =
  /** Content-Length, and the octets that it declares. */
  | 'length'
  /** Transfer codings and chunks. */
  | 'chunks'
  /** Content where there is none to be. */
  | 'no-content'
  /** The lines of the head, and whatever follows the message. */
  | 'lines';

const MATTER_OF: Readonly<Record<FramingFault, FramingMatter>> = {
  [FRAMING_FAULT.bareLf]: 'lines',
  [FRAMING_FAULT.bareCr]: 'lines',
  [FRAMING_FAULT.emptyLineFirst]: 'lines',
  [FRAMING_FAULT.malformedStatusLine]: 'lines',
  [FRAMING_FAULT.missingReasonSpace]: 'lines',
  [FRAMING_FAULT.badReason]: 'lines',
  [FRAMING_FAULT.statusOutOfRange]: 'lines',
  [FRAMING_FAULT.badVersion]: 'lines',
  [FRAMING_FAULT.spaceBeforeFirstField]: 'lines',
  [FRAMING_FAULT.obsFold]: 'lines',
  [FRAMING_FAULT.spaceBeforeColon]: 'lines',
  [FRAMING_FAULT.noColon]: 'lines',
  [FRAMING_FAULT.badFieldName]: 'lines',
  [FRAMING_FAULT.badFieldValue]: 'lines',
  [FRAMING_FAULT.nul]: 'lines',
  [FRAMING_FAULT.bytesAfterBody]: 'lines',
  [FRAMING_FAULT.duplicateLength]: 'length',
  [FRAMING_FAULT.conflictingLength]: 'length',
  [FRAMING_FAULT.badLength]: 'length',
  [FRAMING_FAULT.lengthAndCoding]: 'length',
  [FRAMING_FAULT.shortBody]: 'length',
  [FRAMING_FAULT.codingInOldVersion]: 'chunks',
  [FRAMING_FAULT.chunkedNotLast]: 'chunks',
  [FRAMING_FAULT.unknownCoding]: 'chunks',
  [FRAMING_FAULT.badChunkSize]: 'chunks',
  [FRAMING_FAULT.spaceAfterChunkSize]: 'chunks',
  [FRAMING_FAULT.badChunkEnd]: 'chunks',
  [FRAMING_FAULT.missingFinalChunk]: 'chunks',
  [FRAMING_FAULT.incompleteTrailers]: 'chunks',
  [FRAMING_FAULT.lengthOnBodyless]: 'no-content',
  [FRAMING_FAULT.codingOnBodyless]: 'no-content',
  [FRAMING_FAULT.bodyOnHead]: 'no-content',
  [FRAMING_FAULT.bodyOn204]: 'no-content',
  [FRAMING_FAULT.bodyOn304]: 'no-content',
};

/** The first fault of that kind in a message read from the raw socket; null when there is none. */
export function framingFault({ exchange }: Reply, matter: FramingMatter): string | null {
  const faults = exchange.response?.framingFaults ?? [];
  return faults.find((fault) => isFramingFault(fault) && MATTER_OF[fault] === matter) ?? null;
}

function isFramingFault(text: string): text is FramingFault {
  return Object.hasOwn(MATTER_OF, text);
}

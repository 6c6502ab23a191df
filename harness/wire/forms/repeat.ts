import type { Conversation } from '../conversation.ts';
import type { Exchange, RecordedRequest } from '../exchange.ts';
import { latin1Text } from '../octets/utf8.ts';
import { curlCommand, type TlsSetup } from './curl.ts';
import { octetsCommand } from './octets-command.ts';
import { LONGEST_VALUE, longestWritten } from './shell-word.ts';

export interface Reach {
  readonly tls?: TlsSetup | undefined;
  /** Octets get there as they are: no proxy is on the way. */
  readonly isDirect: boolean;
  /** What a client says in a conversation does not depend on what it has heard. */
  readonly isOneSided: boolean;
}

/**
 * One line for a POSIX shell that sends once more what was sent: with curl where curl can, else the very octets. Null
 * where neither repeats it.
 */
export function repeatCommand(
  evidence: Exchange | Conversation,
  { tls, isDirect, isOneSided }: Reach,
): string | null {
  const request = evidence.kind === 'exchange' ? evidence.request : evidence.handshake.request;
  if (valuesOf(request).some((value) => longestWritten(value) > LONGEST_VALUE)) return null;
  const isTalk =
    evidence.kind === 'conversation' &&
    evidence.events.some(({ from, type }) => from === 'client' && (type === 'frame' || type === 'octets'));
  if (!isTalk) {
    const curl = curlCommand(evidence, tls);
    if (curl !== null) return curl;
  }
  return isDirect && (!isTalk || isOneSided) ? octetsCommand(evidence, tls) : null;
}

function valuesOf({ method, target, fields, body, hasBehind }: RecordedRequest): readonly string[] {
  const content = body === null ? '' : latin1Text(body.bytes);
  // Further requests have values of their own, a line each.
  return [method, target, ...fields.flat(), ...(hasBehind ? content.split('\r\n') : [content])];
}

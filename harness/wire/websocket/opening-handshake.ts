import { createHash, randomBytes } from 'node:crypto';
import type { FieldLine } from '../exchange.ts';
import { fieldValues } from '../fields/grammar/field-grammar.ts';
import type { HttpRequest } from '../request.ts';

/** RFC 6455 §1.3 */
const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const KEY_OCTETS = 16;

interface HandshakeParts {
  /** Below the endpoint's address, as it is to be sent. */
  readonly target: string;
  readonly origin?: string | null;
  /** Offered in this order. */
  readonly subprotocols?: readonly string[];
}

/** A well-formed opening handshake (RFC 6455 §4.1); what a probe wants wrong it changes in the result. */
export function handshakeRequest({ target, origin, subprotocols = [] }: HandshakeParts): HttpRequest {
  const fields: FieldLine[] = [
    ['Upgrade', 'websocket'],
    ['Connection', 'Upgrade'],
    ['Sec-WebSocket-Key', randomKey()],
    ['Sec-WebSocket-Version', '13'],
  ];
  if (origin) fields.push(['Origin', origin]);
  if (subprotocols.length > 0) fields.push(['Sec-WebSocket-Protocol', subprotocols.join(', ')]);
  return { method: 'GET', target, fields };
}

/** 16 random octets in base64 (§4.1). */
export function randomKey(): string {
  return randomBytes(KEY_OCTETS).toString('base64');
}

/** The `Sec-WebSocket-Accept` that a key calls for (§4.2.2). */
export function acceptFor(key: string): string {
  return createHash('sha1')
    .update(key + GUID)
    .digest('base64');
}

/** The same for the key of a request; null unless it has one field with 16 octets in base64. */
export function expectedAccept(fields: readonly FieldLine[]): string | null {
  const [key, ...others] = fieldValues(fields, 'sec-websocket-key');
  if (key === undefined || others.length > 0) return null;
  const octets = Buffer.from(key, 'base64');
  return octets.length === KEY_OCTETS && octets.toString('base64') === key ? acceptFor(key) : null;
}

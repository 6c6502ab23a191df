import { createHash, randomBytes } from 'node:crypto';
import type { HttpRequest } from '../../credential/request.ts';
import type { FieldLine } from '../../evidence/exchange.ts';
import { fieldValues } from '../../evidence/fields/grammar/field-lines.ts';

/** RFC 6455 §1.3 */
const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const KEY_OCTETS = 16;

export interface HandshakeParts {
  /** Below the endpoint's address, as it is to be sent. */
  readonly target: string;
  /** `Sec-WebSocket-Key`; random when left out. */
  readonly key?: string;
  /** `Sec-WebSocket-Version`; `13` when left out, none when null. */
  readonly version?: string | null;
  readonly origin?: string | null;
  /** Offered in this order. */
  readonly subprotocols?: readonly string[];
  /** `Sec-WebSocket-Extensions` as it is to be sent. */
  readonly extensions?: string | null;
  /** Come last. */
  readonly fields?: readonly FieldLine[];
}

/** A well-formed opening handshake (RFC 6455 §4.1); what a probe wants wrong it changes in the result. */
export function handshakeRequest(parts: HandshakeParts): HttpRequest {
  const version = parts.version === undefined ? '13' : parts.version;
  const fields: FieldLine[] = [
    ['Upgrade', 'websocket'],
    ['Connection', 'Upgrade'],
    ['Sec-WebSocket-Key', parts.key ?? randomKey()],
  ];
  if (version !== null) fields.push(['Sec-WebSocket-Version', version]);
  if (parts.origin) fields.push(['Origin', parts.origin]);
  if (parts.subprotocols?.length) fields.push(['Sec-WebSocket-Protocol', parts.subprotocols.join(', ')]);
  if (parts.extensions) fields.push(['Sec-WebSocket-Extensions', parts.extensions]);
  return { method: 'GET', target: parts.target, fields: [...fields, ...(parts.fields ?? [])] };
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

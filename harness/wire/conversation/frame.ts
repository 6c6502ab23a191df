import { decodeUtf8 } from '../octets/utf8.ts';

/** Opcodes of RFC 6455 §5.2. */
export const OPCODE = {
  continuation: 0x0,
  text: 0x1,
  binary: 0x2,
  close: 0x8,
  ping: 0x9,
  pong: 0xa,
} as const;

const NAMES = new Map<number, string>(Object.entries(OPCODE).map(([name, opcode]) => [opcode, name]));

/** RFC 7692 §6: RSV1 alone, on the first frame of a compressed message. */
export const COMPRESSED = 4;

/** So many octets the payload of a control frame has at the most (RFC 6455 §5.5). */
export const LONGEST_CONTROL = 125;

/** `text`, `close` …; `reserved opcode 3` for those that nobody has defined. */
export function opcodeName(opcode: number): string {
  return NAMES.get(opcode) ?? `reserved opcode ${opcode}`;
}

/** §5.2: somebody has defined it. */
export function isDefined(opcode: number): boolean {
  return NAMES.has(opcode);
}

/** §5.5: the opcodes 8 to 15. */
export function isControl(opcode: number): boolean {
  return opcode >= 0x8;
}

/** The payload of a Close frame (§5.5.1). */
export interface ClosePayload {
  /** null when the payload is empty, or too short to hold one. */
  readonly code: number | null;
  /** '' when there is none; null when it is not UTF-8. */
  readonly reason: string | null;
}

/** Never throws: a payload of one octet has no code, which is a fault of the frame. */
export function readClosePayload(payload: Uint8Array): ClosePayload {
  if (payload.length < 2) return { code: null, reason: '' };
  return { code: ((payload[0] ?? 0) << 8) | (payload[1] ?? 0), reason: decodeUtf8(payload.subarray(2)) };
}

/** Meanings of the registered close codes (§7.4.1, IANA WebSocket Close Code Number Registry). */
const CLOSE_CODES: Readonly<Record<number, string>> = {
  1000: 'normal closure',
  1001: 'going away',
  1002: 'protocol error',
  1003: 'unsupported data',
  1004: 'reserved',
  1005: 'no status received',
  1006: 'abnormal closure',
  1007: 'invalid payload data',
  1008: 'policy violation',
  1009: 'message too big',
  1010: 'mandatory extension',
  1011: 'internal error',
  1012: 'service restart',
  1013: 'try again later',
  1014: 'bad gateway',
  1015: 'TLS handshake',
};

/** In words, by its range where it is not registered (§7.4.2). */
export function closeCodeMeaning(code: number): string {
  if (code >= 4000 && code <= 4999) return 'private use';
  if (code >= 3000 && code <= 3999) return 'registered by libraries';
  return CLOSE_CODES[code] ?? 'not assigned';
}

/** §7.4: may stand in a Close frame on the wire; 1004, 1005, 1006 and 1015 never may. */
export function mayBeSent(code: number): boolean {
  const isReserved = [1004, 1005, 1006, 1015].includes(code);
  return (code >= 1000 && code <= 1014 && !isReserved) || (code >= 3000 && code <= 4999);
}

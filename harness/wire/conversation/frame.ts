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

/** A frame to put on the wire, however wrong: nothing is checked but that the numbers fit their bits. */
export interface FrameToSend {
  readonly opcode: number;
  /** True when left out. */
  readonly fin?: boolean;
  /** RSV1..RSV3 as a number 0..7 (RSV1 = 4). */
  readonly rsv?: number;
  readonly payload?: Uint8Array;
  /** Masking key, four octets; null for none. */
  readonly mask: Uint8Array | null;
  /** Octets to write the length in: 0 (7 bits), 2 or 8. The fewest that hold it when left out. */
  readonly lengthOctets?: 0 | 2 | 8;
  /** A length to announce in place of the payload's own. */
  readonly announcedLength?: bigint;
}

export const MASK_OCTETS = 4;
/** In place of a length (RFC 6455 §5.2): it follows in 2 octets, or in 8. */
export const LENGTH_16 = 126;
export const LENGTH_64 = 127;

export function encodeFrame(frame: FrameToSend): Uint8Array {
  const payload = frame.payload ?? new Uint8Array();
  const length = frame.announcedLength ?? BigInt(payload.length);
  const lengthOctets = frame.lengthOctets ?? fewestLengthOctets(length);
  const head = Buffer.alloc(2 + lengthOctets);
  head[0] = (frame.fin === false ? 0 : 0x80) | ((frame.rsv ?? 0) << 4) | frame.opcode;
  if (lengthOctets === 0) head[1] = Number(length);
  if (lengthOctets === 2) {
    head[1] = LENGTH_16;
    head.writeUInt16BE(Number(length), 2);
  }
  if (lengthOctets === 8) {
    head[1] = LENGTH_64;
    head.writeBigUInt64BE(length, 2);
  }
  if (frame.mask === null) return Buffer.concat([head, payload]);
  head[1] = (head[1] ?? 0) | 0x80;
  const masked = Buffer.from(payload);
  applyMask(masked, frame.mask, 0);
  return Buffer.concat([head, frame.mask, masked]);
}

function fewestLengthOctets(length: bigint): 0 | 2 | 8 {
  if (length < LENGTH_16) return 0;
  return length <= 0xffff ? 2 : 8;
}

/** RFC 6455 §5.3, in place; `offset` is the index in the payload of the first octet given. */
export function applyMask(octets: Uint8Array, mask: Uint8Array, offset: number): void {
  for (let index = 0; index < octets.length; index++) {
    octets[index] = (octets[index] ?? 0) ^ (mask[(offset + index) % MASK_OCTETS] ?? 0);
  }
}

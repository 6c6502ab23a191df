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

import { randomBytes } from 'node:crypto';

/** RFC 6455 §5.2 frame with its payload unmasked. */
export interface Frame {
  readonly fin: boolean;
  /** RSV1..RSV3 as a number 0..7 (RSV1 = 4). */
  readonly rsv: number;
  readonly opcode: number;
  /** Whether it is masked on the wire. */
  readonly masked: boolean;
  /** Octets that announce the length: 0 (7 bit), 2 or 8. */
  readonly lengthOctets: 0 | 2 | 8;
  readonly payload: Buffer;
}

export const OPCODE = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

/** Control opcodes have their highest bit set (RFC 6455 §5.5). */
export function isControl(frame: Frame): boolean {
  return frame.opcode >= 8;
}

/** What carries a message, or a part of one. */
export function isData(frame: Frame): boolean {
  return !isControl(frame);
}

/** The shortest length encoding for this number of octets (RFC 6455 §5.2). */
function minimalLengthOctets(length: number): 0 | 2 | 8 {
  if (length < 126) return 0;
  return length < 65_536 ? 2 : 8;
}

/** Another payload with the length encoding it calls for. */
export function withPayload(frame: Frame, payload: Buffer): Frame {
  return { ...frame, payload, lengthOctets: minimalLengthOctets(payload.length) };
}

/** The code of a Close frame; null where it has none (RFC 6455 §5.5.1). */
export function closeCodeOf(frame: Frame): number | null {
  return frame.payload.length < 2 ? null : frame.payload.readUInt16BE(0);
}

/** A Close frame's payload with another code. */
export function closingWith(frame: Frame, code: number): Frame {
  const octets = Buffer.alloc(2);
  octets.writeUInt16BE(code);
  return withPayload(frame, octets);
}

/** A whole frame of the service. */
export function frameOf(opcode: number, payload: Buffer): Frame {
  return withPayload({ fin: true, rsv: 0, opcode, masked: false, lengthOctets: 0, payload }, payload);
}

function maskInPlace(payload: Buffer, key: Buffer): void {
  for (let index = 0; index < payload.length; index += 1) {
    payload[index] = (payload[index] ?? 0) ^ (key[index % 4] ?? 0);
  }
}

function encodedLength(frame: Frame, maskBit: number): Buffer {
  const { payload, lengthOctets } = frame;
  const octets = Buffer.alloc(1 + lengthOctets);
  octets[0] = maskBit | { 0: payload.length, 2: 126, 8: 127 }[lengthOctets];
  // A buffer's length needs no more than six octets; those before them are 0.
  const width = Math.min(6, lengthOctets);
  if (width > 0) octets.writeUIntBE(payload.length, 1 + lengthOctets - width, width);
  return octets;
}

export function encodeFrame(frame: Frame): Buffer {
  const first = Buffer.from([(frame.fin ? 0x80 : 0) | (frame.rsv << 4) | frame.opcode]);
  if (!frame.masked) return Buffer.concat([first, encodedLength(frame, 0), frame.payload]);
  const key = randomBytes(4);
  const payload = Buffer.from(frame.payload);
  maskInPlace(payload, key);
  return Buffer.concat([first, encodedLength(frame, 0x80), key, payload]);
}

interface FrameHead {
  readonly headOctets: number;
  readonly length: number;
  readonly lengthOctets: 0 | 2 | 8;
  readonly masked: boolean;
}

function readHead(octets: Buffer): FrameHead | null {
  if (octets.length < 2) return null;
  const masked = octets.readUInt8(1) >= 0x80;
  const announced = octets.readUInt8(1) & 0x7f;
  const lengthOctets = announced === 127 ? 8 : announced === 126 ? 2 : 0;
  const headOctets = 2 + lengthOctets + (masked ? 4 : 0);
  if (octets.length < headOctets) return null;
  const length =
    lengthOctets === 8
      ? Number(octets.readBigUInt64BE(2))
      : lengthOctets === 2
        ? octets.readUInt16BE(2)
        : announced;
  return { headOctets, length, lengthOctets, masked };
}

/** Cuts a stream of octets into frames. */
export class FrameReader {
  readonly #limit: number;
  #pending: Buffer = Buffer.alloc(0);

  /** `limit`: octets of payload that are still read; a longer frame is given up. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The frames that are complete now; `givenUp` has the octets from the first one that is too long on. */
  read(octets: Buffer): { readonly frames: readonly Frame[]; readonly givenUp: Buffer | null } {
    this.#pending = this.#pending.length === 0 ? octets : Buffer.concat([this.#pending, octets]);
    const frames: Frame[] = [];
    for (;;) {
      const head = readHead(this.#pending);
      if (head === null) return { frames, givenUp: null };
      if (head.length > this.#limit) return { frames, givenUp: this.#pending };
      const end = head.headOctets + head.length;
      if (this.#pending.length < end) return { frames, givenUp: null };
      frames.push(this.#cut(head, end));
      this.#pending = this.#pending.subarray(end);
    }
  }

  #cut(head: FrameHead, end: number): Frame {
    const first = this.#pending.readUInt8(0);
    const payload = Buffer.from(this.#pending.subarray(head.headOctets, end));
    if (head.masked) maskInPlace(payload, this.#pending.subarray(head.headOctets - 4, head.headOctets));
    return {
      fin: first >= 0x80,
      rsv: (first >> 4) & 7,
      opcode: first & 15,
      masked: head.masked,
      lengthOctets: head.lengthOctets,
      payload,
    };
  }
}

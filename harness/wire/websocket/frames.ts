import { createHash, type Hash } from 'node:crypto';
import {
  applyMask,
  COMPRESSED,
  isControl,
  LENGTH_16,
  LENGTH_64,
  MASK_OCTETS,
  mayBeSent,
  OPCODE,
} from '../conversation/frame.ts';
import type { Inflation } from '../conversation/inflation.ts';
import { decodeUtf8 } from '../octets/utf8.ts';
import { OctetCollector } from '../reader/lines.ts';

/** A frame as it was on the wire. */
export interface WireFrame {
  readonly fin: boolean;
  readonly rsv: number;
  readonly opcode: number;
  readonly masked: boolean;
  /** Payload length as announced; beyond 2^53 rounded, as numbers are. */
  readonly length: number;
  readonly lengthOctets: 0 | 2 | 8;
  /** Unmasked; its first octets when the frame is longer than the decoder keeps, or broke off. */
  readonly payload: Uint8Array;
  /** Octets of payload that came, kept or not. */
  readonly received: number;
  /** The payload came to its announced end. */
  readonly whole: boolean;
  /** SHA-256 of the unmasked payload that came, in hexadecimal; null unless `payload` is shorter than that. */
  readonly digest: string | null;
}

/** A frame of which the head is in. */
interface OpenFrame {
  readonly head: Pick<WireFrame, 'fin' | 'rsv' | 'opcode' | 'masked' | 'lengthOctets'>;
  readonly mask: Uint8Array | null;
  readonly length: bigint;
  readonly kept: OctetCollector;
  readonly hash: Hash;
  received: bigint;
}

/**
 * Reads frames from octets in whatever pieces they come, judging nothing. Keeps `keep` octets of each payload and
 * never more than came, whatever length is announced.
 */
export class FrameDecoder {
  readonly #keep: number;
  #head = Buffer.alloc(0);
  #open: OpenFrame | null = null;

  constructor(keep: number) {
    this.#keep = keep;
  }

  /** The frames that these octets complete. */
  push(octets: Uint8Array): WireFrame[] {
    const frames: WireFrame[] = [];
    let rest = octets;
    // A frame without payload is complete with its head, hence also the turn with nothing left.
    for (;;) {
      if (!this.#open) {
        rest = this.#takeHead(rest);
        if (!this.#open) return frames;
      }
      rest = this.#takePayload(this.#open, rest);
      if (this.#open.received < this.#open.length) return frames;
      frames.push(frameOf(this.#open));
      this.#open = null;
    }
  }

  /** The rest when the octets end here: a frame cut short, or the octets of less than a frame's head. */
  end(): { readonly frame: WireFrame | null; readonly octets: Uint8Array } {
    return { frame: this.#open && frameOf(this.#open), octets: this.#head };
  }

  #takeHead(octets: Uint8Array): Uint8Array {
    const before = this.#head.length;
    const available = Buffer.concat([this.#head, octets.subarray(0, LONGEST_HEAD - before)]);
    const needed = available.length < 2 ? 2 : headLength(available[1] ?? 0);
    if (available.length < needed) {
      this.#head = available;
      return octets.subarray(octets.length);
    }
    this.#head = Buffer.alloc(0);
    this.#open = openFrame(available.subarray(0, needed));
    return octets.subarray(needed - before);
  }

  #takePayload(frame: OpenFrame, octets: Uint8Array): Uint8Array {
    const missing = frame.length - frame.received;
    const count = missing < BigInt(octets.length) ? Number(missing) : octets.length;
    if (count === 0) return octets;
    const piece = Buffer.from(octets.subarray(0, count));
    if (frame.mask) applyMask(piece, frame.mask, Number(frame.received % BigInt(MASK_OCTETS)));
    frame.kept.append(piece.subarray(0, this.#keep - frame.kept.length));
    if (frame.length > this.#keep) frame.hash.update(piece);
    frame.received += BigInt(count);
    return octets.subarray(count);
  }
}

const LONGEST_HEAD = 2 + 8 + MASK_OCTETS;

function headLength(second: number): number {
  return 2 + lengthOctetsOf(second) + (second & 0x80 ? MASK_OCTETS : 0);
}

function lengthOctetsOf(second: number): 0 | 2 | 8 {
  const seven = second & 0x7f;
  if (seven === LENGTH_16) return 2;
  return seven === LENGTH_64 ? 8 : 0;
}

function openFrame(head: Buffer): OpenFrame {
  const [first = 0, second = 0] = head;
  const lengthOctets = lengthOctetsOf(second);
  const length = {
    0: () => BigInt(second & 0x7f),
    2: () => BigInt(head.readUInt16BE(2)),
    8: () => head.readBigUInt64BE(2),
  }[lengthOctets]();
  const masked = (second & 0x80) !== 0;
  return {
    head: { fin: (first & 0x80) !== 0, rsv: (first >> 4) & 7, opcode: first & 0x0f, masked, lengthOctets },
    mask: masked ? Uint8Array.from(head.subarray(2 + lengthOctets)) : null,
    length,
    kept: new OctetCollector(),
    hash: createHash('sha256'),
    received: 0n,
  };
}

function frameOf(frame: OpenFrame): WireFrame {
  const received = Number(frame.received);
  return {
    ...frame.head,
    length: Number(frame.length),
    payload: frame.kept.octets,
    received,
    whole: frame.received === frame.length,
    digest: frame.kept.length < received ? frame.hash.copy().digest('hex') : null,
  };
}

/** Payload of a Close frame: code, and reason in UTF-8 (RFC 6455 §5.5.1); empty without a code. */
export function closePayload(code?: number, reason = ''): Uint8Array {
  if (code === undefined) return new Uint8Array();
  const payload = Buffer.alloc(2 + Buffer.byteLength(reason));
  payload.writeUInt16BE(code, 0);
  payload.write(reason, 2);
  return payload;
}

/** What a client answers a Close with: its code, or 1002 for one that must not be on the wire (§7.4). */
export function closeAnswer(payload: Uint8Array): Uint8Array {
  if (payload.length === 0) return new Uint8Array();
  const code = payload.length === 1 ? 0 : Buffer.from(payload).readUInt16BE(0);
  return closePayload(mayBeSent(code) ? code : 1002);
}

/** What a client answers to a text of the service; null for a text that is no heartbeat. */
export type HeartbeatAnswer = (text: string) => string | null;

/** Octets of the longest text that is looked at: heartbeats are short. */
const LONGEST_OCTETS = 4 * 1024;
/** The most that are answered on one connection: a server that sends one upon each answer is not served without end. */
const MOST_ANSWERS = 500;

/** Finds heartbeats above the frames, whole or in fragments, compressed or not, and says what answers them. */
export class Heartbeats {
  readonly #answerTo: HeartbeatAnswer;
  readonly #inflation: Inflation | null;
  #fragments: WireFrame[] = [];
  #answers = 0;

  /** `inflation`: where permessage-deflate was agreed on, for the messages of the service. */
  constructor(answerTo: HeartbeatAnswer, inflation: Inflation | null) {
    this.#answerTo = answerTo;
    this.#inflation = inflation;
  }

  /** The answer to the heartbeat that this frame ends; null where it ends none. */
  answerTo(frame: WireFrame): string | null {
    if (isControl(frame.opcode)) return null;
    if (frame.opcode !== OPCODE.continuation) this.#fragments = [];
    this.#fragments.push(frame);
    if (!frame.fin) return null;
    const fragments = this.#fragments;
    this.#fragments = [];
    const octets = this.#octetsOf(fragments);
    if (fragments[0]?.opcode !== OPCODE.text || octets === null || octets.length > LONGEST_OCTETS)
      return null;
    const text = decodeUtf8(octets);
    const answer = text === null ? null : this.#answerTo(text);
    if (answer === null || this.#answers === MOST_ANSWERS) return null;
    this.#answers += 1;
    return answer;
  }

  /** null where not all of it was kept, or it cannot be read. */
  #octetsOf(fragments: readonly WireFrame[]): Uint8Array | null {
    const isWhole = fragments.every(({ payload, received }) => payload.length === received);
    const compressed = this.#inflation !== null && fragments[0]?.rsv === COMPRESSED;
    if (!isWhole) {
      if (compressed) this.#inflation?.lose();
      return null;
    }
    const octets = Buffer.concat(fragments.map(({ payload }) => payload));
    return compressed ? (this.#inflation?.next(octets).octets ?? null) : octets;
  }
}

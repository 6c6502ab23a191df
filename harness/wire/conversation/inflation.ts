import { constants, deflateRawSync, inflateRawSync, type ZlibOptions } from 'node:zlib';
import { reasonOf } from '../../base/thrown.ts';
import type { Extension } from '../fields/extension.ts';

/** The window of LZ77 is never larger (RFC 7692 §7.1.2): as a power of two, in octets. */
const MOST_WINDOW_BITS = 15;
const LEAST_WINDOW_BITS = 8;
/** zlib looks at the window between one piece of this size and the next, in octets: the least that it takes. */
const PIECE_OCTETS = 64;
/** A message is inflated to no more than this, in octets: a few may stand for very many. */
const MOST_OCTETS = 4 * 1024 * 1024;
/** RFC 7692 §7.2.2: what the sender took away from the end. */
const TAIL = Uint8Array.of(0x00, 0x00, 0xff, 0xff);

interface Inflated {
  /** null if they are unknown. */
  readonly octets: Uint8Array | null;
  /** One line; null for none, and for a message that is too long, or follows one that was lost. */
  readonly fault: string | null;
}

/** Undoes permessage-deflate for the messages of one side, in their order (RFC 7692 §7.2.2). */
export class Inflation {
  readonly #keepsContext: boolean;
  readonly #windowBits: number;
  #window = Buffer.alloc(0);
  #isLost = false;

  /** `keepsContext`: a message may refer to those before it. `windowBits`: 8 to 15, by how far back it may refer. */
  constructor(keepsContext: boolean, windowBits = MOST_WINDOW_BITS) {
    this.#keepsContext = keepsContext;
    this.#windowBits = windowBits;
  }

  /** The octets of the next compressed message; nothing is known of those behind one that was lost. */
  next(payload: Uint8Array): Inflated {
    if (this.#isLost) return { octets: null, fault: null };
    try {
      const octets = this.#inflated(Buffer.concat([payload, TAIL]));
      if (this.#keepsContext) {
        this.#window = Buffer.concat([this.#window, octets]).subarray(-(2 ** this.#windowBits));
      }
      return { octets: new Uint8Array(octets), fault: null };
    } catch (error) {
      this.lose();
      return { octets: null, fault: error instanceof RangeError ? null : reasonOf(error) };
    }
  }

  /** The octets of the first fragments of a message; null if they are unknown. */
  begun(payload: Uint8Array): Uint8Array | null {
    if (this.#isLost) return null;
    try {
      return this.#inflated(payload);
    } catch {
      return null;
    }
  }

  #inflated(payload: Uint8Array): Buffer {
    return inflateRawSync(payload, {
      finishFlush: constants.Z_SYNC_FLUSH,
      maxOutputLength: MOST_OCTETS,
      windowBits: this.#windowBits,
      ...(this.#windowBits < MOST_WINDOW_BITS && { chunkSize: PIECE_OCTETS }),
      ...(this.#window.length > 0 && { dictionary: this.#window }),
    });
  }

  /** A message was not recorded whole: where messages refer to each other, the later ones are lost too. */
  lose(): void {
    this.#isLost ||= this.#keepsContext;
  }
}

/** For the messages of either side as the server's answer has it; null where permessage-deflate was not agreed on. */
export function agreedInflation(
  extensions: readonly Extension[],
  side: 'client' | 'server',
): Inflation | null {
  const agreed = extensions.find(({ name }) => name.toLowerCase() === 'permessage-deflate');
  if (agreed === undefined) return null;
  return new Inflation(
    !agreed.parameters.has(`${side}_no_context_takeover`),
    agreedWindowBits(agreed.parameters, side),
  );
}

/** How far back the messages of a side may refer by the parameters of permessage-deflate, as a power of two. */
export function agreedWindowBits(parameters: Extension['parameters'], side: 'client' | 'server'): number {
  const bits = Number(parameters.get(`${side}_max_window_bits`) ?? MOST_WINDOW_BITS);
  return bits >= LEAST_WINDOW_BITS && bits <= MOST_WINDOW_BITS ? bits : MOST_WINDOW_BITS;
}

/** Compresses the messages of one side (RFC 7692 §7.2.1). */
export class Deflation {
  #before = Buffer.alloc(0);
  readonly #keepsContext: boolean;
  readonly #windowBits: number;

  /** `keepsContext`: a message refers to those before it, no further back than `windowBits`, as `Inflation` has them. */
  constructor(keepsContext: boolean, windowBits = MOST_WINDOW_BITS) {
    this.#keepsContext = keepsContext;
    this.#windowBits = windowBits;
  }

  /** The payload of a compressed message. An empty one is a single empty block (§7.2.3.6). */
  next(octets: Uint8Array): Uint8Array {
    // zlib knows no smaller window of its own, and refers 262 octets less far back than that reaches.
    const windowBits = Math.max(this.#windowBits, LEAST_WINDOW_BITS + 1);
    const whole = flushed(octets, {
      windowBits,
      ...(this.#before.length > 0 && { dictionary: this.#before }),
    });
    if (this.#keepsContext)
      this.#before = Buffer.concat([this.#before, octets]).subarray(-(2 ** this.#windowBits));
    return payloadOf(whole);
  }
}

/** The payload of a message that holds these octets a number of times, compressed once. */
export function deflatedRepeatedly(octets: Uint8Array, times: number): Uint8Array {
  const once = flushed(octets);
  return payloadOf(Buffer.concat(Array.from({ length: times }, () => once)));
}

/** Compressed, up to the end of an octet. */
function flushed(octets: Uint8Array, options: ZlibOptions = {}): Buffer {
  return deflateRawSync(octets, { ...options, finishFlush: constants.Z_SYNC_FLUSH });
}

/** Without the octets 00 00 FF FF of the flush; nothing at all would be no block. */
function payloadOf(whole: Buffer): Uint8Array {
  const payload = whole.subarray(0, whole.length - 4);
  return new Uint8Array(payload.length === 0 ? Buffer.of(0) : payload);
}

/** The payload of a message whose last block is marked as such (§7.2.3.4), with the empty block that then follows. */
export function deflatedToEnd(octets: Uint8Array): Uint8Array {
  return new Uint8Array(Buffer.concat([deflateRawSync(octets), Buffer.of(0)]));
}

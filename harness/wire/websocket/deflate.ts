import { constants, deflateRawSync, type ZlibOptions } from 'node:zlib';

/** Compresses the messages of one side (RFC 7692 §7.2.1). */
export class Deflation {
  #before = Buffer.alloc(0);
  readonly #keepsContext: boolean;

  /** `keepsContext`: a message refers to those before it. */
  constructor(keepsContext: boolean) {
    this.#keepsContext = keepsContext;
  }

  /** The payload of a compressed message. An empty one is a single empty block (§7.2.3.6). */
  next(octets: Uint8Array): Uint8Array {
    const whole = flushed(octets, this.#before.length > 0 ? { dictionary: this.#before } : {});
    if (this.#keepsContext) this.#before = Buffer.concat([this.#before, octets]).subarray(-WINDOW_OCTETS);
    return payloadOf(whole);
  }
}

/** The payload of a message that holds these octets so many times, which are compressed once. */
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

const WINDOW_OCTETS = 32 * 1024;

/** The payload of a message whose last block is marked as such (§7.2.3.4), with the empty block that then follows. */
export function deflatedToEnd(octets: Uint8Array): Uint8Array {
  return new Uint8Array(Buffer.concat([deflateRawSync(octets), Buffer.of(0)]));
}

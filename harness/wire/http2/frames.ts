import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';

/**
 * The frames that a server sends (RFC 9113 §4.1), as far as the HTTP/2 library does not tell: which stream ended, which
 * was reset and by which code, and the last stream that GOAWAY says was processed. Fields are left to the library.
 */

const HEADER_OCTETS = 9;
const END_STREAM = 0x1;
const TYPE = { data: 0x0, headers: 0x1, reset: 0x3, settings: 0x4, goaway: 0x7, window: 0x8 } as const;

/** §7 */
const ERROR_NAMES = [
  'NO_ERROR',
  'PROTOCOL_ERROR',
  'INTERNAL_ERROR',
  'FLOW_CONTROL_ERROR',
  'SETTINGS_TIMEOUT',
  'STREAM_CLOSED',
  'FRAME_SIZE_ERROR',
  'REFUSED_STREAM',
  'CANCEL',
  'COMPRESSION_ERROR',
  'CONNECT_ERROR',
  'ENHANCE_YOUR_CALM',
  'INADEQUATE_SECURITY',
  'HTTP_1_1_REQUIRED',
] as const;

export const REFUSED_STREAM = 7;
export const CANCEL = 8;
export const ENHANCE_YOUR_CALM = 11;

/** `CANCEL`, or the number of an unknown code. */
export function errorName(code: number): string {
  return ERROR_NAMES[code] ?? `error ${code}`;
}

interface GoAway {
  readonly lastStream: number;
  readonly code: number;
}

/** Frames without content between two whole responses: SETTINGS, PING, resets and empty ones come in floods alone. */
const MOST_FRAMES = 2_000;

/** Reads frame headers out of the octets of a connection, in whatever pieces they come. */
export class FrameWatch {
  /** Streams that ended with a whole message. */
  readonly ended = new Set<number>();
  /** The error code of each stream that was reset. */
  readonly resets = new Map<number, number>();
  /** The last one that came. */
  goaway: GoAway | null = null;
  /** First octets in place of frames, as latin1 text; null if it is HTTP/2 so far. */
  foreign: string | null = null;
  /** The connection preface of a server came (§3.4). */
  isHttp2 = false;
  #frames = 0;
  readonly #header = Buffer.alloc(HEADER_OCTETS);
  #filled = 0;
  readonly #payload = Buffer.alloc(8);
  #read = 0;
  #length = 0;

  /** A whole response came. */
  calm(): void {
    this.#frames = 0;
  }

  get isFlood(): boolean {
    return this.#frames > MOST_FRAMES;
  }

  /** A stream that is over is not asked about again. */
  forget(stream: number): void {
    this.ended.delete(stream);
    this.resets.delete(stream);
  }

  push(octets: Uint8Array): void {
    let at = 0;
    while (at < octets.length && this.foreign === null) {
      if (this.#filled < HEADER_OCTETS) {
        this.#header[this.#filled] = octets[at] ?? 0;
        this.#filled += 1;
        at += 1;
        if (this.#filled === HEADER_OCTETS) this.#begin(octets, at);
        continue;
      }
      const used = Math.min(this.#length - this.#read, octets.length - at);
      if (this.#read < this.#payload.length)
        this.#payload.set(
          octets.subarray(at, at + Math.min(used, this.#payload.length - this.#read)),
          this.#read,
        );
      this.#read += used;
      at += used;
      this.#endIfWhole();
    }
  }

  /** §3.4: SETTINGS come first. */
  #begin(octets: Uint8Array, at: number): void {
    this.#length = this.#header.readUIntBE(0, 3);
    this.#read = 0;
    if (!this.isHttp2) {
      if (this.#header[3] !== TYPE.settings || this.#header.readUInt32BE(5) !== 0) {
        this.foreign =
          this.#header.toString('latin1') + Buffer.from(octets.subarray(at, at + 80)).toString('latin1');
        return;
      }
      this.isHttp2 = true;
    }
    this.#endIfWhole();
  }

  #endIfWhole(): void {
    if (this.#read < this.#length) return;
    this.#filled = 0;
    const [type, flags] = [this.#header[3], this.#header[4] ?? 0];
    const stream = this.#header.readUInt32BE(5) & 0x7fffffff;
    const carriesEnd = (type === TYPE.data || type === TYPE.headers) && (flags & END_STREAM) !== 0;
    const isEmpty = type === TYPE.data && this.#length === 0 && !carriesEnd;
    // Content that is sent brings many of the latter, where the window of the server is small.
    if (isEmpty || (type !== TYPE.data && type !== TYPE.window)) this.#frames += 1;
    if (this.isFlood) return;
    if (carriesEnd) this.ended.add(stream);
    // The first one counts.
    if (type === TYPE.reset && this.#length === 4 && !this.resets.has(stream))
      this.resets.set(stream, this.#payload.readUInt32BE(0));
    if (type === TYPE.goaway && this.#length >= 8)
      this.goaway = {
        lastStream: this.#payload.readUInt32BE(0) & 0x7fffffff,
        code: this.#payload.readUInt32BE(4),
      };
  }
}

/** A socket whose received octets pass a watch first. It ends with the socket, and the socket with it. */
export function watched(socket: Socket, watch: FrameWatch): Duplex {
  const duplex = new Duplex({
    allowHalfOpen: true,
    read: () => void socket.resume(),
    write: (octets, _, done) => void socket.write(octets, done),
    final: (done) => void socket.end(done),
    destroy(error, done) {
      socket.destroy();
      done(error);
    },
  });
  socket.on('data', (octets) => {
    watch.push(octets);
    if (watch.isFlood || watch.foreign !== null) duplex.destroy();
    else if (!duplex.push(octets)) socket.pause();
  });
  socket.on('end', () => duplex.push(null));
  socket.on('error', (error) => duplex.destroy(error));
  socket.on('close', () => duplex.destroy());
  return duplex;
}

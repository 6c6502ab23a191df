import { Writable } from 'node:stream';

/** Octets of the end of the output that are kept. */
const KEPT = 64 * 1024;
/** How V8 begins the line in which it says why it gives up. */
const FATAL = /^FATAL ERROR: (.+)$/gm;

/**
 * Takes what the workers and the engine write past all channels, so that it neither mixes with the verdict on
 * stdout nor shows what nobody has redacted. Only the end is kept: it tells why a worker died.
 */
export class WorkerOutput extends Writable {
  #end = Buffer.alloc(0);

  override _write(octets: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#end = Buffer.concat([this.#end, octets]).subarray(-KEPT);
    done();
  }

  /** The last fatal error that V8 told of (out of memory, for one); null when it told of none. */
  fatalError(): string | null {
    return [...this.#end.toString('latin1').matchAll(FATAL)].at(-1)?.[1] ?? null;
  }
}

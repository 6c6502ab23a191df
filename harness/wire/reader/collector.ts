const LF = 0x0a;

/** What became of octets given to a collector. */
export interface TakenLine {
  /** Octets used, the line's LF included. */
  readonly used: number;
  /** The whole line as latin1 text, its end included; null while there is none. */
  readonly line: string | null;
  /** The line goes on although there was no room for more. */
  readonly overflow: boolean;
}

/** Puts together a line that comes in pieces. */
export class LineCollector {
  #text = '';

  /** Octets of the line so far. */
  get length(): number {
    return this.#text.length;
  }

  startsWith(text: string): boolean {
    return this.#text.startsWith(text);
  }

  /** The first characters of the line so far. */
  start(length: number): string {
    return this.#text.slice(0, length);
  }

  /** Takes octets from index `at` up to and with LF, but exactly as many as there is room for, whatever the pieces. */
  take(octets: Uint8Array, at: number, room: number): TakenLine {
    const newline = octets.indexOf(LF, at);
    const wanted = (newline === -1 ? octets.length : newline + 1) - at;
    const used = Math.min(wanted, room);
    this.#text += Buffer.from(octets.buffer, octets.byteOffset + at, used).toString('latin1');
    const overflow = used < wanted;
    return { used, line: newline === -1 || overflow ? null : this.#text, overflow };
  }

  clear(): void {
    this.#text = '';
  }
}

/** Gathers octets that come in pieces into one array: a body in a million tiny chunks costs no more than itself. */
export class OctetCollector {
  #store = Buffer.alloc(0);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** What was gathered so far; not to be written to. */
  get octets(): Uint8Array {
    return this.#store.subarray(0, this.#length);
  }

  append(octets: Uint8Array): void {
    const needed = this.#length + octets.length;
    if (needed > this.#store.length) {
      const larger = Buffer.alloc(Math.max(needed, 2 * this.#store.length, 256));
      this.#store.copy(larger, 0, 0, this.#length);
      this.#store = larger;
    }
    this.#store.set(octets, this.#length);
    this.#length = needed;
  }
}

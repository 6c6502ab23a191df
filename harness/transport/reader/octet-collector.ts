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

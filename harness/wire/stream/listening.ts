import type { HeardStream } from '../exchange.ts';
import { fieldValue, readMediaType } from '../fields/grammar/field-grammar.ts';
import { type Clock, type Stopwatch, startDeadline } from '../pace/clock.ts';
import type { ReadResponse } from '../reader/lines.ts';
import type { StreamReader } from './part.ts';
import { streamReader } from './stream.ts';

/** How much of a stream is enough. */
export interface Listening {
  readonly items: number;
  /** Milliseconds from its head; 0 for the head alone. */
  readonly forMs: number;
}

/** Octets of content after which a stream is left: as much as is stored of a body. */
const MOST_OCTETS = 48 * 1024;
/** Times that are kept. */
const MOST_PARTS = 2_000;

interface Begun {
  readonly reader: StreamReader | null;
  cancel(): void;
}

/** Listens to the content of a success, which may have no end, and says when enough has come. Other responses are read as usual. */
export class Listener {
  readonly #wanted: Listening;
  readonly #clock: Clock;
  readonly #stopwatch: Stopwatch;
  readonly #arrivals: number[] = [];
  #items = 0;
  #octets = 0;
  #begun: Begun | null = null;
  #left: HeardStream['left'];

  constructor(wanted: Listening, clock: Clock, stopwatch: Stopwatch) {
    this.#wanted = wanted;
    this.#clock = clock;
    this.#stopwatch = stopwatch;
  }

  /** It is listened to: deadlines of whole responses do not apply. */
  get isListening(): boolean {
    return this.#begun !== null;
  }

  /** null if the response is no success. */
  get heard(): HeardStream | null {
    if (this.#begun === null) return null;
    return { arrivals: this.#arrivals, ...(this.#left && { left: this.#left }) };
  }

  /** Takes what has come so far; whether that is enough. `leave` is called once enough time has passed. */
  hear(response: Pick<ReadResponse, 'status' | 'fields' | 'body'>, leave: () => void): boolean {
    this.#begin(response, leave);
    if (this.#begun === null) return false;
    const octets = response.body.subarray(this.#octets);
    this.#octets = response.body.length;
    const atMs = this.#stopwatch.elapsed;
    for (const { kind } of this.#begun.reader?.push(octets) ?? []) {
      this.#arrivals.push(atMs);
      if (kind === 'item') this.#items += 1;
    }
    if (this.#items >= this.#wanted.items) this.#left ??= 'items';
    if (this.#octets >= MOST_OCTETS || this.#arrivals.length >= MOST_PARTS) this.#left ??= 'octets';
    return this.#left !== undefined;
  }

  #begin({ status, fields }: Pick<ReadResponse, 'status' | 'fields'>, leave: () => void): void {
    if (this.#begun !== null || status < 200 || status >= 300) return;
    const isCoded = fieldValue(fields, 'content-encoding') !== undefined;
    const { mediaType } = readMediaType(fieldValue(fields, 'content-type') ?? '');
    const cancel = startDeadline(this.#clock, this.#wanted.forMs, () => {
      this.#left ??= 'time';
      leave();
    });
    this.#begun = { reader: isCoded ? null : streamReader(mediaType?.essence ?? ''), cancel };
  }

  /** `isWhole`: the stream has ended by itself. */
  end(isWhole: boolean): void {
    this.#begun?.cancel();
    if (isWhole) this.#left = undefined;
  }
}

/** The beginning of content that was left, up to the last whole line: what follows may be a part of anything. */
export function wholeLines(content: Uint8Array): Uint8Array {
  return content.subarray(0, Math.max(content.lastIndexOf(0x0a), content.lastIndexOf(0x0d)) + 1);
}

import { parseJson } from '../../base/json-text.ts';
import { decodeUtf8 } from '../octets/utf8.ts';
import { OctetCollector } from '../reader/lines.ts';
import {
  filler,
  MOST_OCTETS,
  NO_UTF8,
  type StreamFault,
  type StreamPart,
  type StreamReader,
  TOO_LONG,
} from './part.ts';

const LF = 0x0a;
const RECORD_SEPARATOR = 0x1e;

/** Gathers the text between octets of certain values. */
abstract class Records implements StreamReader {
  #text = new OctetCollector();
  #isOver = false;

  push(octets: Uint8Array): readonly StreamPart[] {
    const parts: StreamPart[] = [];
    for (let at = 0; at < octets.length && !this.#isOver; ) {
      const mark = firstOf(octets, this.marks, at);
      const end = mark === -1 ? octets.length : mark;
      this.#text.append(octets.subarray(at, end));
      at = end + 1;
      if (this.#text.length > MOST_OCTETS) {
        this.#isOver = true;
        parts.push(TOO_LONG);
      } else if (mark !== -1) parts.push(...this.#taken(octets[mark] ?? null));
    }
    return parts;
  }

  end(): readonly StreamPart[] {
    return this.#isOver ? [] : this.#taken(null);
  }

  #taken(mark: number | null): readonly StreamPart[] {
    const { octets } = this.#text;
    const parts = this.read(octets, mark);
    if (parts === null) this.#text.append(Uint8Array.of(mark ?? LF));
    else this.#text = new OctetCollector();
    return parts ?? [];
  }

  protected abstract readonly marks: readonly number[];
  /** `mark`: the octet behind the text, null for the end of the stream. null: the text goes on behind it. */
  protected abstract read(octets: Uint8Array, mark: number | null): readonly StreamPart[] | null;
}

/** A value a line, of which the last need not be ended; empty lines are none. */
export class JsonLinesReader extends Records {
  protected readonly marks = [LF];

  protected read(octets: Uint8Array, mark: number | null): readonly StreamPart[] {
    const text = decodeUtf8(octets);
    if (text?.trim() === '') return mark === null ? [] : [filler()];
    return [record(text)];
  }
}

/** Lines of one value after which it is looked for its end; of a longer one, the next separator shows it. */
const MOST_LINES = 64;

/** RFC 7464 §2.2: each value has a record separator before it, and LF behind it. */
export class JsonSequenceReader extends Records {
  protected readonly marks = [RECORD_SEPARATOR, LF];
  /** A separator has come, and no value since then. */
  #isOpen = false;
  #lines = 0;

  protected read(octets: Uint8Array, mark: number | null): readonly StreamPart[] | null {
    const text = decodeUtf8(octets);
    const isOpen = this.#isOpen;
    if (mark === LF) {
      this.#lines += 1;
      if (text !== null && text.trim() === '') return [];
      const whole = this.#lines <= MOST_LINES && text !== null ? record(text) : null;
      if (!isOpen || whole === null || whole.faults.length > 0) return null;
      this.#isOpen = false;
      return [whole];
    }
    this.#isOpen = mark === RECORD_SEPARATOR;
    this.#lines = 0;
    if (text?.trim() === '') return [];
    if (!isOpen) return [record(text, [fault('no record separator before a value')])];
    return [record(text, octets.at(-1) === LF ? [] : [fault('no line feed after a value')])];
  }
}

function fault(message: string): StreamFault {
  return { matter: 'record', message };
}

function record(text: string | null, faults: readonly StreamFault[] = []): StreamPart {
  const value = text === null ? undefined : parseJson(text);
  const own = text === null ? [NO_UTF8] : value === undefined ? [fault('no JSON')] : [];
  return { kind: 'item', value, faults: [...faults, ...own] };
}

/** The index of the first of these octets; -1 if there is none. */
function firstOf(octets: Uint8Array, wanted: readonly number[], from: number): number {
  for (let at = from; at < octets.length; at += 1) if (wanted.includes(octets[at] ?? -1)) return at;
  return -1;
}

import { isUtf8 } from 'node:buffer';
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
const CR = 0x0d;
const BOM = Buffer.from([0xef, 0xbb, 0xbf]);

/** Malformed sequences become U+FFFD, and a byte order mark within the stream stays. */
const lenient = new TextDecoder('utf-8', { ignoreBOM: true });

/** Fields of the event that is being read. */
interface Fields {
  event?: string;
  data?: string[];
  id?: string;
  retry?: number;
}

/** Reads `text/event-stream` by WHATWG HTML §9.2.6, as a browser does. */
export class EventStreamReader implements StreamReader {
  #line = new OctetCollector();
  #isFirstLine = true;
  #isAfterCr = false;
  #isOver = false;
  #fields: Fields = {};
  #faults: StreamFault[] = [];
  #hasLines = false;
  #dataOctets = 0;
  #lastEventId = '';

  push(octets: Uint8Array): readonly StreamPart[] {
    const parts: StreamPart[] = [];
    let at = 0;
    while (at < octets.length && !this.#isOver) {
      if (this.#isAfterCr) {
        this.#isAfterCr = false;
        if (octets[at] === LF) {
          at += 1;
          continue;
        }
      }
      const end = lineEnd(octets, at);
      this.#line.append(octets.subarray(at, end));
      at = end + 1;
      if (this.#line.length + this.#dataOctets > MOST_OCTETS) {
        this.#isOver = true;
        parts.push(TOO_LONG);
      } else if (end < octets.length) {
        this.#isAfterCr = octets[end] === CR;
        const part = this.#endLine();
        if (part !== null) parts.push(part);
      }
    }
    return parts;
  }

  /** An unfinished event is discarded. */
  end(): readonly StreamPart[] {
    return [];
  }

  #endLine(): StreamPart | null {
    const whole = this.#line.octets;
    const hasMark = this.#isFirstLine && BOM.equals(whole.subarray(0, BOM.length));
    const octets = hasMark ? whole.subarray(BOM.length) : whole;
    this.#isFirstLine = false;
    const faults = isUtf8(octets) ? [] : [NO_UTF8];
    const line = lenient.decode(octets);
    this.#line = new OctetCollector();
    if (line === '') return this.#dispatch();
    if (line.startsWith(':')) return filler(faults);
    this.#hasLines = true;
    for (const each of faults) this.#note(each);
    const [, name = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    this.#take(name, value);
    return null;
  }

  /** Each fault once: lines without end are hostile. */
  #note(fault: StreamFault): void {
    if (!this.#faults.some(({ message }) => message === fault.message)) this.#faults.push(fault);
  }

  /** Other fields are ignored. */
  #take(name: string, value: string): void {
    const fault = (message: string) => this.#note({ matter: 'field', message });
    switch (name) {
      case 'event':
        this.#fields.event = value;
        break;
      case 'data':
        this.#fields.data ??= [];
        this.#fields.data.push(value);
        this.#dataOctets += value.length + 1;
        break;
      case 'id':
        if (value.includes('\0')) fault('an id with the character U+0000');
        else this.#fields.id = value;
        break;
      case 'retry':
        if (!/^\d*$/.test(value)) fault('a retry that is no whole number of milliseconds');
        else if (/^\d{1,15}$/.test(value)) this.#fields.retry = Number(value);
        break;
    }
  }

  #dispatch(): StreamPart | null {
    const { event: type, data, id, retry } = this.#fields;
    const faults = this.#faults;
    const hasLines = this.#hasLines;
    this.#fields = {};
    this.#faults = [];
    this.#hasLines = false;
    this.#dataOctets = 0;
    this.#lastEventId = id ?? this.#lastEventId;
    if (data === undefined) return hasLines ? filler(faults) : null;
    const text = data.join('\n');
    return {
      kind: 'item',
      value: {
        ...(type !== undefined && { event: type }),
        data: text,
        ...(id !== undefined && { id }),
        ...(retry !== undefined && { retry }),
      },
      faults,
      event: { type: type || 'message', data: text, lastEventId: this.#lastEventId },
    };
  }
}

/** The index of the first CR or LF; the length if there is none. */
function lineEnd(octets: Uint8Array, from: number): number {
  for (let at = from; at < octets.length; at += 1) if (octets[at] === LF || octets[at] === CR) return at;
  return octets.length;
}

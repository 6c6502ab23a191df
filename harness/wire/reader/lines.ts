import { FRAMING_FAULT, type FramingFault } from '../exchange/framing-faults.ts';
import type { FieldLine } from '../exchange.ts';
import { fieldValues, isToken, listElements, trimSpace } from '../fields/grammar/field-grammar.ts';

/** The lines of a response's framing: status line, field lines and chunk sizes (RFC 9112 §4, §5, §7.1). */

/** As many characters as it takes to tell any of these lines. */
export const LONGEST_START = 'HTTP/'.length;

interface LineStart {
  /** Whether a line of that kind can begin so; at most `LONGEST_START` characters are given, at least one. */
  possible(start: string): boolean;
  readonly fault: FramingFault | null;
}

const beginsLineEnd = (start: string) => /^\r?\n|^\r$/.test(start);

/** Garbage is a fault at its first octet that can begin no such line, not at the deadline. */
export const LINE_STARTS: Readonly<Record<string, LineStart>> = {
  status: {
    // An empty line first is a fault, but one that can be read past.
    possible: (start) => beginsLineEnd(start) || 'HTTP/'.startsWith(start.toUpperCase()),
    fault: null,
  },
  'chunk-size': { possible: (start) => /^[0-9a-f]/i.test(start), fault: FRAMING_FAULT.badChunkSize },
  'chunk-end': { possible: beginsLineEnd, fault: FRAMING_FAULT.badChunkEnd },
};

export interface ResponseHead {
  readonly status: number;
  readonly reason: string;
  /** As the status line has it: `1.1`, `1.0` … */
  readonly httpVersion: string;
}

/** RFC 9112 §4: `status-line = HTTP-version SP status-code SP [ reason-phrase ]`. */
const STRICT = /^HTTP\/(\d\.\d) (\d{3})(?:( )(.*))?$/s;
/** What a forgiving reader still understands. */
const LENIENT = /^HTTP\/(\d+(?:\.\d+)?)[ \t]+(\d{1,9})(?:([ \t]+)(.*))?$/is;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for (RFC 9112 §4, RFC 9110 §5.5)
const CONTROL = /[\u0000-\u0008\u000a-\u001f\u007f]/;

/** Reads a status line, naming its faults; null when no status can be read from it. */
export function parseStatusLine(line: string, fault: (fault: FramingFault) => void): ResponseHead | null {
  const strict = STRICT.exec(line);
  const match = strict ?? LENIENT.exec(line);
  if (!strict) fault(FRAMING_FAULT.malformedStatusLine);
  if (!match) return null;
  const [, httpVersion = '', digits = '', space, reason = ''] = match;
  const status = Number(digits);
  if (httpVersion !== '1.1' && httpVersion !== '1.0') fault(FRAMING_FAULT.badVersion);
  if (status < 100 || status > 599) fault(FRAMING_FAULT.statusOutOfRange);
  if (space === undefined) fault(FRAMING_FAULT.missingReasonSpace);
  if (CONTROL.test(reason)) fault(FRAMING_FAULT.badReason);
  return { status, reason, httpVersion };
}

/** Collects the lines of one header or trailer section as they come, naming the faults of each. */
export class FieldSection {
  readonly #lines: FieldLine[] = [];
  readonly #fault: (fault: FramingFault) => void;

  constructor(fault: (fault: FramingFault) => void) {
    this.#fault = fault;
  }

  /** The section so far: names as received, values without the white space around them. */
  get lines(): readonly FieldLine[] {
    return this.#lines;
  }

  /** Takes one line, as latin1 text without its line end. */
  add(line: string): void {
    if (/^[ \t]/.test(line)) {
      this.#addContinuation(line);
      return;
    }
    const colon = line.indexOf(':');
    if (colon === -1) this.#fault(FRAMING_FAULT.noColon);
    const rawName = colon === -1 ? line : line.slice(0, colon);
    const name = trimSpace(rawName);
    if (name !== rawName) this.#fault(FRAMING_FAULT.spaceBeforeColon);
    if (!isToken(name)) this.#fault(FRAMING_FAULT.badFieldName);
    const value = colon === -1 ? '' : trimSpace(line.slice(colon + 1));
    this.#checkValue(value);
    this.#lines.push([name, value]);
  }

  /** RFC 9112 §5.2: a folded line counts as one space and more of the value before. */
  #addContinuation(line: string): void {
    const last = this.#lines.pop();
    if (!last) {
      this.#fault(FRAMING_FAULT.spaceBeforeFirstField);
      return;
    }
    this.#fault(FRAMING_FAULT.obsFold);
    const more = trimSpace(line);
    this.#checkValue(more);
    this.#lines.push([last[0], `${last[1]} ${more}`]);
  }

  #checkValue(value: string): void {
    if (value.includes('\0')) this.#fault(FRAMING_FAULT.nul);
    if (CONTROL.test(value.replaceAll('\0', ''))) this.#fault(FRAMING_FAULT.badFieldValue);
  }
}

interface ChunkSize {
  readonly octets: number;
  /** Nothing stands on the line but the size. */
  readonly plain: boolean;
}

/** Reads the line before a chunk (RFC 9112 §7.1), its extensions skipped (§7.1.1); null when there is no size. */
export function parseChunkSize(line: string, fault: (fault: FramingFault) => void): ChunkSize | null {
  const match = /^([0-9a-f]{1,16})([ \t]*)(;.*)?$/i.exec(line);
  const octets = Number.parseInt(match?.[1] ?? '', 16);
  if (!match || !Number.isSafeInteger(octets)) {
    fault(FRAMING_FAULT.badChunkSize);
    return null;
  }
  const [, , space, extension] = match;
  if (space !== '' && extension === undefined) fault(FRAMING_FAULT.spaceAfterChunkSize);
  return { octets, plain: space === '' && extension === undefined };
}

/** How far a response's body reaches (RFC 9112 §6.3). */
export type BodyFraming =
  | { readonly kind: 'none' }
  | { readonly kind: 'length'; readonly octets: number }
  | { readonly kind: 'chunked' }
  | { readonly kind: 'until-close' }
  /** The fields contradict each other or make no sense: an unrecoverable error. */
  | { readonly kind: 'unknowable' };

/** RFC 9112 §7: `x-gzip` and `x-compress` are aliases of old; `chunked` is dealt with apart. */
const CODINGS = new Set(['chunked', 'gzip', 'x-gzip', 'compress', 'x-compress', 'deflate']);

/** Decides by RFC 9112 §6.3 in its order, naming what the fields get wrong. */
export function bodyFraming(
  head: ResponseHead,
  method: string,
  fields: readonly FieldLine[],
  fault: (fault: FramingFault) => void,
): BodyFraming {
  const codings = listElements(fieldValues(fields, 'transfer-encoding').join(',')).map((coding) =>
    coding.toLowerCase(),
  );
  const lengths = fieldValues(fields, 'content-length');
  const { status } = head;

  if ((status >= 100 && status < 200) || status === 204) {
    if (lengths.length > 0) fault(FRAMING_FAULT.lengthOnBodyless);
    if (codings.length > 0) fault(FRAMING_FAULT.codingOnBodyless);
    return { kind: 'none' };
  }
  // RFC 9110 §9.3.6: what follows is the tunnel.
  if (method === 'CONNECT' && status >= 200 && status < 300) return { kind: 'none' };
  const length = contentLength(lengths, fault);
  if (codings.length > 0 && lengths.length > 0) fault(FRAMING_FAULT.lengthAndCoding);
  if (codings.length > 0 && head.httpVersion === '1.0') fault(FRAMING_FAULT.codingInOldVersion);
  if (method === 'HEAD' || status === 304) return { kind: 'none' };
  if (codings.length > 0) return codingFraming(codings, fault);
  if (length === 'unknowable') return { kind: 'unknowable' };
  return length === null ? { kind: 'until-close' } : { kind: 'length', octets: length };
}

function codingFraming(codings: readonly string[], fault: (fault: FramingFault) => void): BodyFraming {
  if (codings.some((coding) => !CODINGS.has(coding))) fault(FRAMING_FAULT.unknownCoding);
  if (codings.indexOf('chunked') !== -1 && codings.indexOf('chunked') !== codings.length - 1) {
    fault(FRAMING_FAULT.chunkedNotLast);
  }
  return { kind: codings.at(-1) === 'chunked' ? 'chunked' : 'until-close' };
}

/** RFC 9110 §8.6: one decimal number; equal repetitions may be folded into one, which is a fault all the same. */
function contentLength(
  lines: readonly string[],
  fault: (fault: FramingFault) => void,
): number | null | 'unknowable' {
  if (lines.length === 0) return null;
  const values = lines.flatMap((line) => line.split(',').map((value) => value.trim()));
  const [first = ''] = values;
  if (values.some((value) => !/^\d{1,16}$/.test(value) || !Number.isSafeInteger(Number(value)))) {
    fault(FRAMING_FAULT.badLength);
    return 'unknowable';
  }
  if (values.some((value) => Number(value) !== Number(first))) {
    fault(FRAMING_FAULT.conflictingLength);
    return 'unknowable';
  }
  if (values.length > 1) fault(FRAMING_FAULT.duplicateLength);
  return Number(first);
}

/** How much of a response is read before the reader gives up. Octets, but for the counts. */
export interface ReaderLimits {
  /** Content kept; what goes beyond ends the reading. */
  readonly bodyBytes: number;
  /** Status lines, field lines, chunk-size lines and trailers together. */
  readonly fieldBytes: number;
  /** Lines in one field section. */
  readonly fieldLines?: number;
}

/** The response as far as it came. */
export interface ReadResponse extends Omit<ResponseHead, 'reason'> {
  /** null in HTTP/2, which has none. */
  readonly reason: string | null;
  readonly fields: readonly FieldLine[];
  readonly trailers: readonly FieldLine[];
  /** At most `bodyBytes` octets of content, chunked coding undone, content coding left as it was. */
  readonly body: Uint8Array;
  readonly informational: readonly { readonly status: number; readonly fields: readonly FieldLine[] }[];
}

/** Why there is no whole response; `closed` is the end of TCP before the message's own. */
export type ReaderFailure = 'malformed' | 'fields-too-large' | 'body-too-large' | 'closed';

export interface ReaderOptions {
  /** Method of the request: the response to HEAD has no body. */
  readonly method: string;
  readonly limits: ReaderLimits;
  /** Takes what follows the whole message, where that is no fault: it is the next response. */
  readonly surplus?: (octets: Uint8Array) => void;
}

const LF = 0x0a;

/** What became of octets given to a collector. */
interface TakenLine {
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

  /** The octets so far; not to be written to. */
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

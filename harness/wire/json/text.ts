import { decodeUtf8, latin1Text, utf8Beginning, utf8FaultAt, visible } from '../octets/utf8.ts';
import { JsonNesting } from './nesting.ts';
import { DEEPEST_JSON } from './shape.ts';

/** What there is to say of octets as one JSON text by RFC 8259. */
export type JsonRemarkKind =
  /** Faults. §2: no text at all. */
  | 'empty'
  /** §8.1 */
  | 'invalid-utf8'
  /** §8.1: a byte order mark must not be added. */
  | 'byte-order-mark'
  /** §6: NaN or Infinity. */
  | 'number'
  /** §2 to §7: the first place where the grammar is left in another way. */
  | 'syntax'
  /** §2: something after the text. */
  | 'trailing-content'
  /** Cautions, of texts that are read in different ways. §4: names SHOULD be unique. */
  | 'duplicate-name'
  /** §6: an integer beyond 2^53 - 1, which readers round. */
  | 'big-integer'
  /** §6: a number that overflows to infinity. */
  | 'number-range'
  /** §8.2: half a surrogate pair. */
  | 'lone-surrogate';

interface JsonRemark {
  readonly kind: JsonRemarkKind;
  /** One line: the fault and its place. */
  readonly message: string;
  /** Offset in octets. */
  readonly offset: number;
  /** JSON Pointer (RFC 6901) of the value or member; '' for the whole text. Cut, with an ellipsis, where it is long. */
  readonly path: string;
}

export interface JsonText {
  /**
   * The value, of several members with one name the last; undefined when there is no text to read, and when it is
   * nested deeper than `DEEPEST_JSON`. It is there despite a byte order mark or trailing octets.
   */
  readonly value: unknown;
  /** Empty when the octets are one JSON text. In the order of their offsets; at most 100 of a kind. */
  readonly faults: readonly JsonRemark[];
  /** At most 100 of a kind. */
  readonly cautions: readonly JsonRemark[];
  /**
   * Why there is no value although nothing may be wrong, one line: the grammar is held to the end however deep the
   * text is nested (§9 permits limits, and this reader needs none for it), its names and values are not.
   */
  readonly limit: string | null;
}

const QUOTATION_MARK = 0x22;

/** Of a kind: many of one hide none of another. */
const MOST_REMARKS = 100;

/** Reads octets as one JSON text by RFC 8259, strictly; never throws, and takes linear time and bounded depth. */
export function readJsonText(octets: Uint8Array): JsonText {
  const text = new JsonReader(octets).read();
  const badAt = utf8FaultAt(octets);
  if (badAt === null) return text;
  // The grammar is one of octets below 0x80, so that one octet which is not UTF-8 hides no other fault.
  const message = `octet ${badAt}, which is not UTF-8${otherEncoding(octets)}`;
  const fault = { kind: 'invalid-utf8', message, offset: badAt, path: '' } as const;
  const faults = [fault, ...text.faults].sort((a, b) => a.offset - b.offset);
  return { ...text, value: undefined, faults };
}

/** A likely explanation, since text in another encoding is wrong in a place that explains nothing. */
function otherEncoding(octets: Uint8Array): string {
  const [first, second] = octets;
  const marked = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  return marked || (first === 0) !== (second === 0) ? ' (it looks like UTF-16)' : '';
}

/** What the grammar allows next. */
type SyntaxExpectation = 'value' | 'value or ]' | 'name' | 'name or }' | ', or end';

/** Thrown at the first place where the grammar is left; never leaves this file. */
class Stopped extends Error {}

/** Octets of the text at hand that a message needs. */
const AHEAD = 8;

const LITERALS = ['true', 'false', 'null'];
const NUMBERLIKE = ['NaN', 'Infinity', '-Infinity'];
const NUMBER = /^-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$/;

class JsonReader {
  readonly #octets: Uint8Array;
  readonly #faults: JsonRemark[] = [];
  readonly #cautions: JsonRemark[] = [];
  readonly #counts = new Map<JsonRemarkKind, number>();
  readonly #nesting = new JsonNesting();
  #at = 0;

  constructor(octets: Uint8Array) {
    this.#octets = octets;
  }

  read(): JsonText {
    const octets = this.#octets;
    if (octets[0] === 0xef && octets[1] === 0xbb && octets[2] === 0xbf) {
      this.#fault('byte-order-mark', 'a byte order mark', 0);
      this.#at = 3;
    }
    this.#skipSpace();
    if (this.#at === octets.length) {
      const message = octets.length === 0 ? 'no content' : 'nothing but white space';
      this.#fault('empty', message, 0);
      return this.#result(undefined);
    }
    const start = this.#at;
    try {
      this.#readText();
    } catch (thrown) {
      if (thrown instanceof Stopped) return this.#result(undefined);
      throw thrown;
    }
    const end = this.#at;
    this.#skipSpace();
    if (this.#at < octets.length) {
      this.#fault('trailing-content', `${this.#here()} after the JSON text`, this.#at);
    }
    const readable =
      this.#nesting.deepest <= DEEPEST_JSON && !this.#faults.some(({ kind }) => kind === 'number');
    const text = readable ? decodeUtf8(octets.subarray(start, end)) : null;
    return this.#result(text === null ? undefined : JSON.parse(text));
  }

  #result(value: unknown): JsonText {
    const { deepest } = this.#nesting;
    const limit =
      deepest > DEEPEST_JSON
        ? `it is nested ${deepest} levels deep, of which ${DEEPEST_JSON} are looked into`
        : null;
    return { value, faults: this.#faults, cautions: this.#cautions, limit };
  }

  /** A loop with its own stack: a mebibyte of `[` must not exhaust the harness's. */
  #readText(): void {
    let expectation: SyntaxExpectation = 'value';
    while (true) {
      this.#skipSpace();
      expectation = this.#readToken(expectation);
      if (this.#nesting.depth === 0) return;
    }
  }

  #readToken(expectation: SyntaxExpectation): SyntaxExpectation {
    const char = this.#char();
    switch (expectation) {
      case 'value or ]':
        if (char === ']') return this.#close();
        return this.#readValue(char);
      case 'value':
        return this.#readValue(char);
      case 'name or }':
        if (char === '}') return this.#close();
        return this.#readName(char);
      case 'name':
        return this.#readName(char);
      default: {
        const { inObject } = this.#nesting;
        const closing = inObject ? '}' : ']';
        if (char === closing) return this.#close();
        if (char !== ',') this.#stop(`${this.#here()} where , or ${closing} should be`);
        this.#at++;
        if (inObject) return 'name';
        this.#nesting.nextElement();
        return 'value';
      }
    }
  }

  #readValue(char: string): SyntaxExpectation {
    if (char === '{' || char === '[') {
      this.#at++;
      this.#nesting.enter(char === '{' ? 'object' : 'array');
      return char === '{' ? 'name or }' : 'value or ]';
    }
    if (char === '"') this.#readString();
    else this.#readScalar();
    return ', or end';
  }

  #readName(char: string): SyntaxExpectation {
    if (char === '}') this.#stop('a comma before }');
    if (char !== '"') this.#stop(`${this.#here()} where a name in double quotes should be`);
    const start = this.#at;
    const name = this.#readString();
    if (this.#nesting.member(name) === 'again') {
      this.#caution('duplicate-name', `the name ${quoted(name)} twice`, start);
    }
    this.#skipSpace();
    if (this.#char() !== ':') this.#stop(`${this.#here()} after the name ${quoted(name)}, where : should be`);
    this.#at++;
    return 'value';
  }

  #close(): SyntaxExpectation {
    this.#at++;
    this.#nesting.leave();
    return ', or end';
  }

  #readString(): string {
    const start = this.#at;
    let escaped = false;
    this.#at++;
    for (let octet = this.#octets[this.#at]; octet !== QUOTATION_MARK; octet = this.#octets[this.#at]) {
      if (octet === undefined) this.#stop('a string that never ends', start);
      if (octet < 0x20) this.#stop(`${this.#here()} unescaped in a string`);
      if (octet === 0x5c) {
        escaped = true;
        this.#readEscape();
      } else {
        this.#at++;
      }
    }
    this.#at++;
    const octets = this.#octets.subarray(start, this.#at);
    const text = decodeUtf8(octets) ?? latin1Text(octets);
    if (!escaped) return text.slice(1, -1);
    const string = String(JSON.parse(text));
    if (!string.isWellFormed()) this.#caution('lone-surrogate', 'half a surrogate pair in a string', start);
    return string;
  }

  #readEscape(): void {
    const sequence = latin1Text(this.#octets.subarray(this.#at, this.#at + 6));
    const match = /^\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4})/.exec(sequence);
    if (match === null) this.#stop(`an escape that JSON does not have: ${quoted(sequence.slice(0, 2))}`);
    this.#at += match[0].length;
  }

  #readScalar(): void {
    const start = this.#at;
    let end = start;
    while (/[A-Za-z0-9+.-]/.test(String.fromCharCode(this.#octets[end] ?? 0))) end++;
    const word = latin1Text(this.#octets.subarray(start, end));
    if (NUMBERLIKE.includes(word)) {
      this.#fault('number', `${word}, which is no JSON number,`, start);
    } else if (!LITERALS.includes(word)) {
      this.#checkNumber(word, start);
    }
    this.#at = end;
  }

  #checkNumber(word: string, start: number): void {
    const match = NUMBER.exec(word);
    if (match === null) {
      if (this.#char() === ']') this.#stop('a comma before ]');
      this.#stop(`${word === '' ? this.#here() : quoted(word)} where a value should be`);
    }
    const [, fraction, exponent] = match;
    const value = Number(word);
    if (!Number.isFinite(value)) {
      this.#caution('number-range', `${visible(word, 60)}, which is beyond the range of a double,`, start);
    } else if (fraction === undefined && exponent === undefined && !Number.isSafeInteger(value)) {
      this.#caution(
        'big-integer',
        `${visible(word, 60)}, which is beyond 2^53 - 1 and read as ${value},`,
        start,
      );
    }
  }

  #skipSpace(): void {
    while (true) {
      const octet = this.#octets[this.#at];
      if (octet !== 0x20 && octet !== 0x0a && octet !== 0x0d && octet !== 0x09) return;
      this.#at++;
    }
  }

  /** The octet at hand as a character; '' at the end. */
  #char(): string {
    const octet = this.#octets[this.#at];
    return octet === undefined ? '' : String.fromCharCode(octet);
  }

  /** The text at hand, for a message. */
  #here(): string {
    if (this.#at >= this.#octets.length) return 'the end';
    const ahead = utf8Beginning(this.#octets.subarray(this.#at), AHEAD);
    const rest = decodeUtf8(ahead) ?? latin1Text(ahead);
    const [character = ''] = rest;
    if (rest.startsWith('//') || rest.startsWith('/*')) return 'a comment';
    return character === '\0' ? 'NUL (is it UTF-16?)' : quoted(character);
  }

  #stop(message: string, offset = this.#at): never {
    this.#fault('syntax', message, offset);
    throw new Stopped();
  }

  #fault(kind: JsonRemarkKind, message: string, offset: number): void {
    if (this.#isRoomFor(kind)) this.#faults.push(this.#remark(kind, message, offset));
  }

  #caution(kind: JsonRemarkKind, message: string, offset: number): void {
    if (this.#isRoomFor(kind)) this.#cautions.push(this.#remark(kind, message, offset));
  }

  /** Counts one more of the kind. */
  #isRoomFor(kind: JsonRemarkKind): boolean {
    const count = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, count);
    return count <= MOST_REMARKS;
  }

  #remark(kind: JsonRemarkKind, message: string, offset: number): JsonRemark {
    const path = this.#nesting.pointer();
    const where = path === '' ? '' : ` in ${visible(path, 60)}`;
    // An empty text has no place.
    const at = kind === 'empty' ? '' : `, at octet ${offset}`;
    return { kind, message: `${message}${where}${at}`, offset, path };
  }
}

/** For a message: on one line, and not endless. */
function quoted(text: string): string {
  return `"${visible(text, 60)}"`;
}

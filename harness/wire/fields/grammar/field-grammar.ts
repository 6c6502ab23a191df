import type { FieldLine } from '../../exchange.ts';
import { visible } from '../../octets/utf8.ts';

/**
 * The words that HTTP field values are made of (RFC 9110 §5.6). Values are latin1 octets.
 */

const TOKEN = /[!#$%&'*+\-.^_`|~0-9A-Za-z]+/y;
/** §5.6.4, with obs-text. */
const QUOTED_STRING = /"(?:[\t !#-[\]-~\x80-\xff]|\\[\t -~\x80-\xff])*"/y;
const OPTIONAL_SPACE = /[ \t]*/y;

/** The whole text is a token (§5.6.2). */
export function isToken(text: string): boolean {
  return /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(text);
}

/** Without the optional white space around it (§5.6.3); in linear time, which a regular expression would not be. */
export function trimSpace(text: string): string {
  let start = 0;
  let end = text.length;
  const isSpace = (at: number) => text.charAt(at) === ' ' || text.charAt(at) === '\t';
  while (start < end && isSpace(start)) start++;
  while (end > start && isSpace(end - 1)) end--;
  return text.slice(start, end);
}

/** Reads a field value from left to right. Each step either takes what it is asked for or takes nothing. */
export class FieldReader {
  readonly value: string;
  at = 0;

  constructor(value: string) {
    this.value = value;
  }

  get done(): boolean {
    return this.at >= this.value.length;
  }

  /** The character at hand; '' at the end. */
  get next(): string {
    return this.value.charAt(this.at);
  }

  /** Takes what a sticky expression matches here; null when it does not. */
  take(pattern: RegExp): string | null {
    pattern.lastIndex = this.at;
    const match = pattern.exec(this.value);
    if (match === null) return null;
    this.at += match[0].length;
    return match[0];
  }

  takeChar(char: string): boolean {
    if (this.next !== char || char === '') return false;
    this.at++;
    return true;
  }

  /** OWS, and BWS, which is the same (§5.6.3). */
  skipSpace(): void {
    this.take(OPTIONAL_SPACE);
  }

  token(): string | null {
    return this.take(TOKEN);
  }

  /** A quoted-string without its quotes and escapes; null when none begins here or it never ends. */
  quotedString(): string | null {
    const taken = this.take(QUOTED_STRING);
    return taken === null ? null : taken.slice(1, -1).replace(/\\(.)/gs, '$1');
  }

  /** `token / quoted-string`, as the value of a parameter is (§5.6.6). */
  word(): string | null {
    return this.next === '"' ? this.quotedString() : this.token();
  }

  /** The rest, shortened, for a message. */
  rest(): string {
    const rest = this.value.slice(this.at, this.at + 40);
    return rest === '' ? 'the end' : `\`${rest}\``;
  }

  /** Goes on to the next comma that is not in a quoted-string, or to the end; a quote that never ends takes it all. */
  skipElement(): void {
    while (!this.done && this.next !== ',') {
      if (this.next !== '"') this.at++;
      else if (this.quotedString() === null) this.at = this.value.length;
    }
  }
}

/** Elements of a list (§5.6.1), trimmed; empty ones, which a recipient ignores, left out. */
export function listElements(value: string): readonly string[] {
  const reader = new FieldReader(value);
  const elements: string[] = [];
  while (!reader.done) {
    const start = reader.at;
    reader.skipElement();
    const element = trimSpace(value.slice(start, reader.at));
    if (element !== '') elements.push(element);
    reader.takeChar(',');
  }
  return elements;
}

interface Parameters {
  /** Names in lower case. */
  readonly parameters: ReadonlyMap<string, string>;
  /** One line; null when the grammar is kept. */
  readonly fault: string | null;
}

/** Reads `*( OWS ";" OWS [ parameter ] )` (§5.6.6) to the end of the value. */
export function readParameters(reader: FieldReader): Parameters {
  const parameters = new Map<string, string>();
  const end = (fault: string | null) => ({ parameters, fault });
  while (true) {
    reader.skipSpace();
    if (reader.done) return end(null);
    if (!reader.takeChar(';')) return end(`${reader.rest()} where ; or the end should be`);
    reader.skipSpace();
    if (reader.done || reader.next === ';') continue;
    const name = reader.token()?.toLowerCase();
    if (name === undefined) return end(`${reader.rest()} where a parameter name should be`);
    if (!reader.takeChar('=')) return end(`${reader.rest()} after the parameter ${name}, where = should be`);
    const value = reader.word();
    if (value === null)
      return end(`${reader.rest()} after ${name}=, where a token or a quoted-string should be`);
    if (parameters.has(name)) return end(`the parameter ${name} twice`);
    parameters.set(name, value);
  }
}

/** Values of the field lines with that name, in order, without the white space around them. Names in any case. */
export function fieldValues(fields: readonly FieldLine[], name: string): readonly string[] {
  const wanted = name.toLowerCase();
  return fields.filter(([given]) => given.toLowerCase() === wanted).map(([, value]) => trimSpace(value));
}

/** The combined field value (RFC 9110 §5.3): the lines joined with `, `; undefined when there is none. */
export function fieldValue(fields: readonly FieldLine[], name: string): string | undefined {
  const values = fieldValues(fields, name);
  return values.length === 0 ? undefined : values.join(', ');
}

/** The lines of a message as Node tells them, names and values in turn (`rawHeaders`). */
export function linesIn(raw: readonly string[]): readonly FieldLine[] {
  return raw.flatMap((name, at): readonly FieldLine[] => (at % 2 === 0 ? [[name, raw[at + 1] ?? '']] : []));
}

/** A media type by RFC 9110 §8.3.1; type, subtype and parameter names are in lower case, as they are compared. */
export interface MediaType {
  readonly type: string;
  readonly subtype: string;
  /** `type/subtype`. */
  readonly essence: string;
  /** Structured syntax suffix (RFC 6839): `json` of `problem+json`; null without one. */
  readonly suffix: string | null;
  /** Values as sent; they may be case-insensitive, as that of `charset` is. */
  readonly parameters: ReadonlyMap<string, string>;
}

export type MediaTypeReading =
  | { readonly mediaType: MediaType; readonly fault: null }
  /** One line that says where the grammar was left. */
  | { readonly mediaType: null; readonly fault: string };

/** Reads one Content-Type field value. A list, as two field lines amount to, is none. */
export function readMediaType(value: string): MediaTypeReading {
  const reader = new FieldReader(trimSpace(value));
  const refuse = (reason: string) => ({ mediaType: null, fault: `${reason} in "${visible(value, 100)}"` });
  const type = reader.token()?.toLowerCase();
  if (type === undefined) return refuse('no type');
  if (!reader.takeChar('/')) return refuse(`no / after ${type}`);
  const subtype = reader.token()?.toLowerCase();
  if (subtype === undefined) return refuse('no subtype');
  const { parameters, fault } = readParameters(reader);
  if (fault !== null) return refuse(visible(fault, 200));
  const plus = subtype.lastIndexOf('+');
  const suffix = plus > 0 ? subtype.slice(plus + 1) : null;
  return { mediaType: { type, subtype, essence: `${type}/${subtype}`, suffix, parameters }, fault: null };
}

/** JSON-RPC over HTTP has names of its own, from before there were suffixes (RFC 6839). */
const JSON_TYPES: ReadonlySet<string> = new Set([
  'application/json',
  'application/json-rpc',
  'application/jsonrequest',
]);

/** `application/json`, or any type with the suffix `+json`; JSON-RPC, too. */
export function isJsonType({ essence, suffix }: MediaType): boolean {
  return suffix === 'json' || JSON_TYPES.has(essence);
}

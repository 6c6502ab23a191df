import { LineCounter, parseDocument } from 'yaml';
import { formatPlace, type Place, UsageError } from '../../base/exit.ts';
import { hasMembers, parseJson } from '../../base/json-text.ts';
import { pointerToken } from '../../wire/json/shape.ts';
import { yamlFault } from '../yaml/located.ts';
import { jsonFault } from '../yaml/read-text.ts';
import { withIndentedLines } from './indented-lines.ts';
import { readYamlText, type YamlPlaces, type YamlText, type YamlTextFault } from './yaml-text.ts';

export interface DocumentNode {
  readonly file: SourceFile;
  /** Unescaped tokens of the JSON Pointer (RFC 6901). */
  readonly pointer: readonly string[];
  readonly value: unknown;
  /** Where it is put together of parts that stand elsewhere. */
  readonly parts?: ReadonlyMap<string, DocumentNode>;
}

/** A fault of the document itself; the rest of it is used. */
export interface DocumentRemark {
  /** `openapi.yaml:12:5` */
  readonly place: string;
  /** The fault, and the effect on the run: one line. */
  readonly text: string;
}

export interface SourceFile {
  /** Real path, by which a file is known. */
  readonly path: string;
  readonly shown: string;
  readonly root: unknown;
  readonly placeOf: (pointer: readonly string[]) => Place;
  /** Faults of its syntax that change nothing: keys that are repeated. */
  readonly remarks?: readonly DocumentRemark[];
  /** What messages call the value at a pointer; the pointer itself where nothing better is known. */
  readonly keyOf?: (pointer: readonly string[]) => string;
}

/** The Reference Object's `$ref`; null where there is none. */
export function refOf(value: unknown): string | null {
  return hasMembers(value) && typeof value.$ref === 'string' ? value.$ref : null;
}

/** A member or an item; its value is undefined where there is none. */
export function child(at: DocumentNode, name: string): DocumentNode {
  const part = at.parts?.get(name);
  if (part !== undefined) return part;
  const value = hasMembers(at.value) && Object.hasOwn(at.value, name) ? at.value[name] : undefined;
  return { file: at.file, pointer: [...at.pointer, name], value };
}

/** Members of an object, or items of an array; none of anything else. */
export function children(at: DocumentNode): readonly (readonly [name: string, at: DocumentNode])[] {
  if (at.parts !== undefined) return [...at.parts];
  return hasMembers(at.value) ? Object.keys(at.value).map((name) => [name, child(at, name)] as const) : [];
}

/** An error at the place in the document where a value stands. */
export function faultAt({ file, pointer }: DocumentNode, problem: string, remedy: string): UsageError {
  const { placeOf, keyOf = (inner) => (inner.length === 0 ? '' : pointerText(inner)) } = file;
  return new UsageError(problem, { place: placeOf(pointer), key: keyOf(pointer), remedy });
}

/** A JSON Pointer as a URI fragment (RFC 6901 §6), for messages. */
export function pointerText(pointer: readonly string[]): string {
  return `#${pointer.map(pointerToken).join('')}`;
}

/** Places of the values of a JSON text, looked up on demand. The text is known to be JSON. */
export class JsonPlaces {
  readonly #text: string;
  /** Offsets of members and items, by the offset of what they are in. */
  readonly #within = new Map<number, ReadonlyMap<string, number>>();

  constructor(text: string) {
    this.#text = text;
  }

  /** The offset of the value at a pointer, or of the nearest around it. */
  offsetOf(pointer: readonly string[]): number {
    let at = this.#pastSpace(0);
    for (const token of pointer) {
      const inner = this.#membersAt(at).get(token);
      if (inner === undefined) return at;
      at = inner;
    }
    return at;
  }

  #membersAt(start: number): ReadonlyMap<string, number> {
    const known = this.#within.get(start);
    if (known !== undefined) return known;
    const members = new Map<string, number>();
    this.#within.set(start, members);
    const opening = this.#text[start];
    if (opening !== '{' && opening !== '[') return members;
    for (let at = this.#pastSpace(start + 1); !isClosing(this.#text[at]); ) {
      let name = String(members.size);
      if (opening === '{') {
        const end = this.#pastValue(at);
        name = JSON.parse(this.#text.slice(at, end));
        // Past the colon.
        at = this.#pastSpace(this.#pastSpace(end) + 1);
      }
      members.set(name, at);
      at = this.#pastSpace(this.#pastValue(at));
      if (this.#text[at] === ',') at = this.#pastSpace(at + 1);
    }
    return members;
  }

  #pastSpace(at: number): number {
    SPACE.lastIndex = at;
    SPACE.test(this.#text);
    return SPACE.lastIndex;
  }

  #pastValue(start: number): number {
    let depth = 0;
    for (let at = start; ; ) {
      TOKEN.lastIndex = at;
      TOKEN.test(this.#text);
      const first = this.#text[at];
      at = TOKEN.lastIndex;
      if (first === '{' || first === '[') depth += 1;
      else if (isClosing(first)) depth -= 1;
      if (depth === 0) return at;
    }
  }
}

const SPACE = /[ \t\r\n]*/y;
/** A bracket, a string, or the text between them; outside of brackets that is one number or word. */
const TOKEN = /[{}[\]]|"[^"\\]*(?:\\.[^"\\]*)*"|[^{}[\]",:\s]+|[,:\s]+/y;

function isClosing(char: string | undefined): boolean {
  return char === '}' || char === ']' || char === undefined;
}

const MAX_DEPTH = 200;
const MAX_NODES = 2_000_000;
/** YAML takes many times the memory of JSON. In characters. */
const MAX_YAML = 16 * 1024 * 1024;
/** Characters of a faulty text for which the slow parser, whose errors have codes, is asked for the fault. */
const MAX_EXPLAINED = 8 * 1024 * 1024;

/** Plain data with its places. @throws UsageError for other text, and for a too large or deep document. */
export function sourceOf(text: string, path: string, shown: string, isRepair = false): SourceFile {
  const isJson = /\.json$/i.test(path);
  const looksLikeJson = /^\s*[{[]/.test(text.slice(0, 1000));
  const json = isJson || looksLikeJson ? parsedJson(text.replace(/^\uFEFF/, ' '), shown, isJson) : undefined;
  if (json !== undefined) {
    holdToBounds(json, shown);
    return { path, shown, root: json, placeOf: placesOf(text, shown, () => new JsonPlaces(text)) };
  }
  if (text.length > MAX_YAML) {
    const problem = `is YAML of more than ${MAX_YAML / 1024 / 1024} MiB`;
    throw new UsageError(problem, { place: { file: shown }, remedy: 'save it as JSON, or split it' });
  }
  const yaml = readYamlText(text);
  if ('reason' in yaml) {
    const indented = isRepair ? null : withIndentedLines(text);
    try {
      if (indented !== null) return sourceOf(indented, path, shown, true);
    } catch {
      // The fault of the text itself is reported.
    }
    throw syntaxFault(text, yaml, shown);
  }
  holdToBounds(yaml.root, shown);
  const placeOf = placesOf(text, shown, () => yaml.places);
  const remarks = repeatedKeys(yaml, text, shown);
  return { path, shown, root: yaml.root, placeOf, remarks };
}

/** The last value of a repeated key counts, as other parsers have it. */
function repeatedKeys(
  { repeatedKeys: keys }: YamlText,
  text: string,
  shown: string,
): readonly DocumentRemark[] {
  if (keys.length === 0) return [];
  const lines = linesOf(text);
  return keys.map(({ key, offset }) => ({
    place: formatPlace(placeAt(lines, offset, shown)),
    text: `the key ${JSON.stringify(key)} is repeated; its last value counts`,
  }));
}

function syntaxFault(text: string, { reason, offset }: YamlTextFault, shown: string): UsageError {
  const lines = linesOf(text);
  const { errors } =
    text.length > MAX_EXPLAINED
      ? { errors: [] }
      : parseDocument(text, { prettyErrors: false, stringKeys: true, uniqueKeys: false });
  const [first] = errors;
  if (first !== undefined) return yamlFault(first.code, placeAt(lines, first.pos[0], shown));
  const place = placeAt(lines, offset, shown);
  return new UsageError(`is not YAML: ${reason}`, { place, remedy: 'correct the syntax there' });
}

function parsedJson(text: string, shown: string, isJson: boolean): unknown {
  const value = parseJson(text);
  // What looks like JSON may be YAML.
  if (value !== undefined || (!isJson && text.length <= MAX_EXPLAINED)) return value;
  const { problem, ...at } = jsonFault(text) ?? { problem: 'is not JSON' };
  throw new UsageError(problem, { place: { file: shown, ...at }, remedy: 'correct the syntax there' });
}

/** Places of a text, read when the first is asked for. */
function placesOf(text: string, shown: string, read: () => JsonPlaces | YamlPlaces): SourceFile['placeOf'] {
  let places: JsonPlaces | YamlPlaces | undefined;
  let lines: LineCounter | undefined;
  return (pointer) => {
    places ??= read();
    lines ??= linesOf(text);
    return placeAt(lines, places.offsetOf(pointer), shown);
  };
}

function linesOf(text: string): LineCounter {
  const lines = new LineCounter();
  for (let at = 0; at !== 0 || lines.lineStarts.length === 0; at = text.indexOf('\n', at) + 1) {
    lines.addNewLine(at);
  }
  return lines;
}

function placeAt(lines: LineCounter, offset: number, file: string): Place {
  const { line, col } = lines.linePos(offset);
  return { file, line, column: col };
}

/** @throws UsageError for a value that is too large or too deep. */
export function holdToBounds(root: unknown, shown: string): void {
  const detail = { place: { file: shown }, remedy: 'leave out the parts that are not needed here' };
  const tooMuch = (problem: string) => new UsageError(problem, detail);
  let nodes = 0;
  const visit = (node: unknown, depth: number): void => {
    nodes += 1;
    if (nodes > MAX_NODES) throw tooMuch(`holds more than ${MAX_NODES} values`);
    if (depth > MAX_DEPTH) throw tooMuch(`is nested more than ${MAX_DEPTH} deep`);
    if (hasMembers(node)) for (const value of Object.values(node)) visit(value, depth + 1);
  };
  visit(root, 0);
}

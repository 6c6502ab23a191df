import { type Document, isNode, LineCounter, parseDocument } from 'yaml';
import { type Place, UsageError } from '../../base/exit.ts';
import { hasMembers, parseJson } from '../../base/json-text.ts';
import { jsonFault } from '../yaml/json-fault.ts';
import { yamlFault } from '../yaml/located.ts';
import type { SourceFile } from './at.ts';
import { JsonPlaces } from './json-places.ts';

const MAX_DEPTH = 200;
const MAX_NODES = 2_000_000;
/** YAML is read many times slower than JSON, and takes many times the memory. In characters. */
const MAX_YAML = 8 * 1024 * 1024;

/**
 * A JSON or YAML text as plain data that knows its places.
 *
 * @throws UsageError for what is neither, and for what is larger or deeper than a document has reason to be.
 */
export function sourceOf(text: string, path: string, shown: string): SourceFile {
  const isJson = /\.json$/i.test(path);
  const looksLikeJson = /^\s*[{[]/.test(text.slice(0, 1000));
  const json = isJson || looksLikeJson ? parsedJson(text.replace(/^\uFEFF/, ' '), shown, isJson) : undefined;
  if (json !== undefined) {
    holdToBounds(json, shown);
    return { path, shown, root: json, placeOf: jsonPlaces(text, shown) };
  }
  if (text.length > MAX_YAML) {
    throw new UsageError(`is YAML of more than ${MAX_YAML / 1024 / 1024} MiB`, {
      place: { file: shown },
      remedy: 'save it as JSON, or split it',
    });
  }
  const { document, placeOf } = parsedYaml(text, shown);
  const root = plain(document, shown);
  holdToBounds(root, shown);
  return { path, shown, root, placeOf };
}

function parsedJson(text: string, shown: string, isJson: boolean): unknown {
  const value = parseJson(text);
  // What looks like JSON may be YAML.
  if (value !== undefined || (!isJson && text.length <= MAX_YAML)) return value;
  const { problem, ...at } = jsonFault(text) ?? { problem: 'is not JSON' };
  throw new UsageError(problem, { place: { file: shown, ...at }, remedy: 'correct the syntax there' });
}

function jsonPlaces(text: string, shown: string): SourceFile['placeOf'] {
  const places = new JsonPlaces(text);
  let lines: LineCounter | undefined;
  return (pointer) => {
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

interface ParsedYaml {
  readonly document: Document.Parsed;
  readonly placeOf: (pointer: readonly string[]) => Place;
}

function parsedYaml(text: string, shown: string): ParsedYaml {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    stringKeys: true,
    uniqueKeys: false,
    merge: true,
  });
  const at = (offset: number): Place => placeAt(lines, offset, shown);
  const [first] = document.errors;
  if (first) throw yamlFault(first.code, at(first.pos[0]));
  return {
    document,
    placeOf: (pointer) => {
      for (let length = pointer.length; length >= 0; length -= 1) {
        const node = document.getIn(pointer.slice(0, length), true);
        if (isNode(node) && node.range) return at(node.range[0]);
      }
      return { file: shown };
    },
  };
}

function plain(document: Document.Parsed, shown: string): unknown {
  try {
    return document.toJS({ maxAliasCount: 1000 });
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error;
    throw new UsageError('aliases expand into more than a document can hold', {
      place: { file: shown },
      remedy: 'write the values out, or use $ref',
    });
  }
}

function holdToBounds(root: unknown, shown: string): void {
  const tooMuch = (problem: string) =>
    new UsageError(problem, { place: { file: shown }, remedy: 'leave out what is not needed here' });
  let nodes = 0;
  const visit = (node: unknown, depth: number): void => {
    nodes += 1;
    if (nodes > MAX_NODES) throw tooMuch(`holds more than ${MAX_NODES} values`);
    if (depth > MAX_DEPTH) throw tooMuch(`is nested more than ${MAX_DEPTH} deep`);
    if (hasMembers(node)) for (const value of Object.values(node)) visit(value, depth + 1);
  };
  visit(root, 0);
}

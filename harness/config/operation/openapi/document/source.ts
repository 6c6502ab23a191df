import { type Document, isNode, LineCounter, parseDocument } from 'yaml';
import { type Place, UsageError } from '../../../../base/exit.ts';
import { hasMembers } from '../../../../base/json-text.ts';
import { reasonOf } from '../../../../base/thrown.ts';
import { yamlFault } from '../../../yaml/located.ts';
import type { SourceFile } from './at.ts';

const MAX_DEPTH = 200;
const MAX_NODES = 2_000_000;
/** YAML is read many times slower than JSON, and takes many times the memory. In characters. */
const MAX_YAML = 8 * 1024 * 1024;
/** A JSON text larger than this is not read a second time to learn the line of a fault. */
const MAX_PLACED_JSON = 2 * 1024 * 1024;

/**
 * A JSON or YAML text as plain data that knows its places.
 *
 * @throws UsageError for what is neither, and for what is larger or deeper than a document has reason to be.
 */
export function sourceOf(text: string, path: string, shown: string): SourceFile {
  const looksLikeJson = /^\s*[{[]/.test(text.slice(0, 1000));
  const json = looksLikeJson ? parsedJson(text, shown) : undefined;
  if (json !== undefined) {
    const placed = lazily(() => (text.length > MAX_PLACED_JSON ? null : parsedYaml(text, shown)));
    holdToBounds(json, shown);
    return { path, shown, root: json, placeOf: (pointer) => placed()?.placeOf(pointer) ?? { file: shown } };
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

function parsedJson(text: string, shown: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // The YAML reader reads it too, and says better where the fault is.
    if (text.length <= MAX_YAML) return undefined;
    const [, offset] = /at position (\d+)/.exec(reasonOf(error)) ?? [];
    throw new UsageError('is no JSON', {
      place: offset === undefined ? { file: shown } : placeAt(text, Number(offset), shown),
      remedy: 'correct the syntax there',
    });
  }
}

function placeAt(text: string, offset: number, file: string): Place {
  const before = text.slice(0, offset);
  const line = before.split('\n').length;
  return { file, line, column: offset - before.lastIndexOf('\n') };
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
  const at = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { file: shown, line, column: col };
  };
  const [first] = document.errors;
  if (first) {
    const { problem, remedy } = yamlFault(first.code);
    throw new UsageError(problem, { place: at(first.pos[0]), remedy });
  }
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
  let nodes = 0;
  const rest: { readonly node: unknown; readonly depth: number }[] = [{ node: root, depth: 0 }];
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    nodes += 1;
    if (next.depth > MAX_DEPTH || nodes > MAX_NODES) {
      throw new UsageError(
        nodes > MAX_NODES ? `holds more than ${MAX_NODES} values` : `is nested more than ${MAX_DEPTH} deep`,
        { place: { file: shown }, remedy: 'leave out what is not needed here' },
      );
    }
    if (!hasMembers(next.node)) continue;
    for (const value of Object.values(next.node)) rest.push({ node: value, depth: next.depth + 1 });
  }
}

function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

import {
  type ErrorCode,
  isAlias,
  isCollection,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
} from 'yaml';
import { type Place, UsageError } from '../../base/exit.ts';
import { hasMembers, isJsonObject } from '../../base/json-text.ts';
import { faultsOf, type Origin } from './origin.ts';
import { readText } from './read-text.ts';

/** YAML as a tree in which every value still knows where it comes from. */
export type Located = LocatedMap | LocatedList | LocatedScalar;

export interface LocatedMap {
  readonly kind: 'map';
  readonly origin: Origin;
  readonly entries: ReadonlyMap<string, LocatedEntry>;
}

export interface LocatedEntry {
  /** Where the key stands; `value.origin` says where the value does. */
  readonly keyPlace: Place | null;
  readonly value: Located;
}

interface LocatedList {
  readonly kind: 'list';
  readonly origin: Origin;
  readonly items: readonly Located[];
}

interface LocatedScalar {
  readonly kind: 'scalar';
  readonly origin: Origin;
  readonly value: string | number | boolean | null;
}

const MAX_BYTES = 256 * 1024;
/** Aliases are expanded, so this bounds what a few lines of nested aliases can grow into. */
const MAX_NODES = 20_000;
const MAX_DEPTH = 32;

/** Reads a YAML file whose top level is a mapping. `path` is named in errors as given. */
export async function readLocated(path: string): Promise<LocatedMap> {
  const read = await readText(path, MAX_BYTES);
  if ('text' in read) return parseLocated(read.text, path);
  const { problem, remedy, ...at } = read.fault;
  throw new UsageError(problem, { place: { file: path, ...at }, remedy });
}

/** @throws UsageError at the first fault of syntax, and when the top level is not a mapping. */
function parseLocated(text: string, file: string): LocatedMap {
  const conflict = /^(?:<{7}|={7}|>{7})(?: |$)/m.exec(text);
  if (conflict) {
    throw new UsageError('a merge conflict stands here', {
      place: { file, line: text.slice(0, conflict.index).split('\n').length, column: 1 },
      remedy: 'keep one side of it, and remove the lines that mark it',
    });
  }
  const lines = new LineCounter();
  const placeOf = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { file, line, column: col };
  };
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    stringKeys: true,
    // Checked below, where it costs one look-up per key instead of a comparison with every other key.
    uniqueKeys: false,
  });
  const [first] = [...document.errors, ...document.warnings].sort((a, b) => a.pos[0] - b.pos[0]);
  if (first) {
    const place = placeOf(first.pos[0]);
    // Where the reader gave up on nesting depends on its stack, so the column would say nothing.
    const isDeep = first.code === 'RESOURCE_EXHAUSTION';
    throw yamlFault(first.code, isDeep ? { file, line: place.line ?? 1 } : place);
  }
  if (document.contents === null || (isScalar(document.contents) && document.contents.value === null)) {
    const remedy = 'start from one of the shipped files, or let `conform init` write one';
    throw new UsageError('the file is empty', { place: { file, line: 1, column: 1 }, remedy });
  }
  const tree = expand(document.contents, placeOf);
  if (tree.kind === 'map') return tree;
  const place = placeOf(document.contents.range?.[0] ?? 0);
  throw new UsageError('the file must hold keys and values', { place, remedy: 'write `key: value` lines' });
}

/** Where a node stands: its own place and key, or those of the alias through which it is reached. */
interface Standpoint {
  readonly place: Place;
  readonly key: string;
  readonly depth: number;
  readonly viaAlias: boolean;
}

function expand(root: Node, placeOf: (offset: number) => Place): Located {
  const anchors = new Map<string, Node>();
  let nodes = 0;

  const visit = (node: unknown, from: Standpoint): Located => {
    nodes += 1;
    const own = isRanged(node) ? placeOf(node.range[0]) : from.place;
    const at: Standpoint = from.viaAlias ? from : { ...from, place: own };
    const { key, depth } = at;
    const fault = (problem: string, remedy: string) =>
      new UsageError(problem, { place: at.place, key, remedy });
    if (nodes > MAX_NODES)
      throw fault('aliases expand into more than a config can hold', 'write the values out, or alias less');
    if (depth > MAX_DEPTH)
      throw fault('is nested too deeply', 'a config is a few levels deep: see the schema');
    const origin: Origin = { kind: 'file', place: own, environment: null, reference: null };
    const inside = (name: string, place: Place): Standpoint =>
      at.viaAlias
        ? { ...at, depth: depth + 1 }
        : { place, key: keyWithin(key, name), depth: depth + 1, viaAlias: false };

    if (isAlias(node)) {
      const target = anchors.get(node.source);
      if (!target)
        throw fault('the alias points at no anchor before it', 'set the anchor first, or write the value');
      return visit(target, { ...at, depth: depth + 1, viaAlias: true });
    }
    if (isCollection(node) || isScalar(node)) if (node.anchor !== undefined) anchors.set(node.anchor, node);
    if (isMap(node)) {
      const entries = new Map<string, LocatedEntry>();
      for (const pair of node.items) {
        const [name, keyPlace] = nameOf(pair, own, placeOf);
        const inner = inside(name, keyPlace);
        if (entries.has(name)) {
          const detail = { place: keyPlace, key: inner.key, remedy: 'keep one of the two' };
          throw new UsageError('the key stands here for the second time', detail);
        }
        entries.set(name, { keyPlace, value: visit(pair.value, inner) });
      }
      return { kind: 'map', origin, entries };
    }
    if (isSeq(node)) {
      const items = node.items.map((item, index) => visit(item, inside(String(index), own)));
      return { kind: 'list', origin, items };
    }
    const value = isScalar(node) ? node.value : null;
    if (value === null || isPlain(value)) return { kind: 'scalar', origin, value };
    throw fault('is neither text nor a finite number', 'write a plain value');
  };
  return visit(root, { place: placeOf(0), key: '', depth: 0, viaAlias: false });
}

function nameOf(pair: Pair, around: Place, placeOf: (offset: number) => Place): [string, Place] {
  const { key } = pair;
  const place = isRanged(key) ? placeOf(key.range[0]) : around;
  // `__proto__` would turn the plain object that the schema is held against into something else.
  if (!isScalar(key) || typeof key.value !== 'string' || key.value === '' || key.value === '__proto__')
    throw new UsageError('this cannot be a key', { place, remedy: 'write `key: value`' });
  return [key.value, place];
}

function isRanged(node: unknown): node is { readonly range: readonly [number, number, number] } {
  return hasMembers(node) && Array.isArray(node.range);
}

const INDENT = 'give the keys of one block the same number of spaces in front';
const QUOTE = `put the value in quotes; inside { } and [ ] a reference too: "\${env:NAME}"`;

/** The reader's codes for authors of a config. Its own messages quote the file, which may hold a key. */
const FAULTS: Readonly<Partial<Record<ErrorCode, readonly [problem: string, remedy: string]>>> = {
  TAB_AS_INDENT: ['a tab is used to indent', 'YAML wants spaces: replace the tab by spaces'],
  BAD_INDENT: ['the indentation does not fit the block', INDENT],
  BAD_SCALAR_START: ['a plain value cannot begin with this character', QUOTE],
  BLOCK_AS_IMPLICIT_KEY: ['a second ": " stands in the same value', QUOTE],
  MULTILINE_IMPLICIT_KEY: ['a key is not followed by ":"', 'write `key: value` on one line'],
  MISSING_CHAR: ['a closing quote, bracket or ":" is missing', 'add the closing one'],
  UNEXPECTED_TOKEN: ['this does not fit here', QUOTE],
  BAD_DQ_ESCAPE: ['unknown escape in a double-quoted value', 'use single quotes, or \\\\ for \\'],
  MULTIPLE_DOCS: ['a second YAML document begins here', 'one file holds one document: remove `---`'],
  TAG_RESOLVE_FAILED: ['YAML tags are not understood', 'remove the `!tag`'],
  NON_STRING_KEY: ['a key must be plain text', 'write `key: value`'],
  BAD_DIRECTIVE: ['unknown YAML directive', 'remove the line that begins with %'],
  RESOURCE_EXHAUSTION: ['is nested too deeply', 'a config is a few levels deep: see the schema'],
};

export function yamlFault(code: ErrorCode, place: Place): UsageError {
  const [problem, remedy] = FAULTS[code] ?? [`is not YAML (${code})`, 'correct the syntax'];
  return new UsageError(problem, { place, remedy });
}

export function plainOf(tree: Located): unknown {
  if (tree.kind === 'scalar') return tree.value;
  const children = childrenOf(tree).map(([name, child]) => [name, plainOf(child)] as const);
  return tree.kind === 'list' ? children.map(([, value]) => value) : Object.fromEntries(children);
}

/** Plain data as a tree of one origin. */
export function located(value: unknown, origin: Origin): Located {
  if (Array.isArray(value))
    return { kind: 'list', origin, items: value.map((item) => located(item, origin)) };
  if (isJsonObject(value)) {
    const entries = Object.entries(value).map(([name, inner]) => {
      return [name, { keyPlace: null, value: located(inner, origin) }] as const;
    });
    return { kind: 'map', origin, entries: new Map(entries) };
  }
  return { kind: 'scalar', origin, value: isPlain(value) ? value : null };
}

function isPlain(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value);
}

export function childrenOf(node: Located): readonly (readonly [name: string, child: Located])[] {
  if (node.kind === 'scalar') return [];
  if (node.kind === 'list') return node.items.map((item, index) => [String(index), item] as const);
  return [...node.entries].map(([name, { value }]) => [name, value] as const);
}

export function withChildren<N extends Located>(node: N, change: (name: string, of: Located) => Located): N {
  if (node.kind === 'scalar') return node;
  if (node.kind === 'list')
    return { ...node, items: node.items.map((item, index) => change(String(index), item)) };
  const changed = ([name, entry]: [string, LocatedEntry]) =>
    [name, { ...entry, value: change(name, entry.value) }] as const;
  return { ...node, entries: new Map([...node.entries].map(changed)) };
}

/** The same mapping with this under a key of it, which stands in no file. */
export function withEntry(map: LocatedMap, name: string, value: Located): LocatedMap {
  return { ...map, entries: new Map(map.entries).set(name, { keyPlace: null, value }) };
}

export function withoutKeys(map: LocatedMap, ...names: readonly string[]): LocatedMap {
  return { ...map, entries: new Map([...map.entries].filter(([name]) => !names.includes(name))) };
}

export function keyWithin(key: string, name: string): string {
  return key === '' ? name : `${key}.${name}`;
}

/** Dotted key to origin for every value of the tree; `''` is the tree itself. */
export function originsOf(tree: Located, key = ''): Map<string, Origin> {
  const inner = childrenOf(tree).flatMap(([name, child]) => [...originsOf(child, keyWithin(key, name))]);
  return new Map([[key, tree.origin], ...inner]);
}

/** The fault of a file whose name differs from the one under this key. */
export function misnamed(file: LocatedMap, key: string, name: string): readonly UsageError[] {
  const own = file.entries.get(key)?.value;
  if (own?.kind !== 'scalar' || own.value === name) return [];
  const problem = `is not the name of this file, which is ${JSON.stringify(name)}`;
  return [faultsOf(originsOf(file))(key, problem, `name it ${name}, or rename the file`)];
}

import { isJsonObject } from '../../base/json-text.ts';
import { visible } from '../octets/utf8.ts';
import { FieldReader } from './grammar/field-grammar.ts';

/** One link of the Link field (RFC 8288 §3). */
interface Link {
  /** The target as sent. */
  readonly target: string;
  /** Relation types, in lower case. */
  readonly relations: readonly string[];
  /** Names in lower case; of several with one name the first (§3.4). */
  readonly parameters: ReadonlyMap<string, string>;
}

export interface LinkReading {
  readonly links: readonly Link[];
  /** One line each; at most 20. */
  readonly faults: readonly string[];
}

const TARGET = /<[^<>]*>/y;

/** Reads all Link field lines of a message; after a fault it goes on behind the next comma. */
export function parseLinks(lines: readonly string[]): LinkReading {
  const reader = new FieldReader(lines.join(', '));
  const links: Link[] = [];
  const faults: string[] = [];
  while (true) {
    reader.skipSpace();
    if (reader.takeChar(',')) continue;
    if (reader.done) return { links, faults };
    const target = reader.take(TARGET)?.slice(1, -1);
    const fault =
      target === undefined ? `${reader.rest()} where <target> should be` : readLink(reader, target, links);
    if (fault !== null && faults.length < 20) faults.push(visible(fault, 200));
    if (fault !== null) reader.skipElement();
  }
}

/** Adds the link whose parameters follow; returns their fault. */
function readLink(reader: FieldReader, target: string, links: Link[]): string | null {
  const parameters = new Map<string, string>();
  while (true) {
    reader.skipSpace();
    if (reader.done || reader.next === ',') {
      const relations = (parameters.get('rel') ?? '')
        .toLowerCase()
        .split(/[ \t]+/)
        .filter(Boolean);
      links.push({ target, relations, parameters });
      return null;
    }
    if (!reader.takeChar(';')) return `${reader.rest()} where ; or a comma should be`;
    reader.skipSpace();
    if (reader.done || reader.next === ';' || reader.next === ',') continue;
    const name = reader.token()?.toLowerCase();
    if (name === undefined) return `${reader.rest()} where a parameter name should be`;
    reader.skipSpace();
    let value: string | null = '';
    if (reader.takeChar('=')) {
      reader.skipSpace();
      value = reader.word();
      if (value === null)
        return `${reader.rest()} after ${name}=, where a token or a quoted-string should be`;
    }
    if (!parameters.has(name)) parameters.set(name, value);
  }
}

/**
 * Relations by which a client goes from one resource of an interface to the next (IANA's registry of link relations).
 * All others lead to what has a purpose and a place of its own: documentation, a licence, a status page, a picture.
 */
const NAVIGATION: ReadonlySet<string> = new Set([
  ...['self', 'item', 'items', 'collection', 'up', 'parent', 'edit', 'search'],
  ...['first', 'last', 'next', 'prev', 'previous', 'current', 'start'],
]);

/** Those that are the name of a link and of nothing else: a member `parent` or `current` may be a path on a disk. */
const PLAIN: ReadonlySet<string> = new Set(['self', 'next', 'prev', 'previous']);

/** Members that say that they are an address, and not whose. */
const ADDRESS = /^(?:href|url|uri|link)$/;
/** Members that hold links by their relations, or one after the other. */
const LINKS = /^_?links?$/;
/** `next_url`, `nextHref`: the relation stands before it. */
const ADDRESS_ENDING = /(?:_url|_uri|_href|_link|Url|Uri|Href|Link)$/;

/** Whether a client goes on by a link of one of these relations. */
export function navigates(relations: readonly string[]): boolean {
  return relations.some((relation) => NAVIGATION.has(relation.toLowerCase()));
}

/**
 * Links in a parsed JSON body by which a client goes on: absolute http(s) URLs and paths. In the order of the body,
 * each once, as sent. All of it is looked through, for its octets are bounded.
 */
export function findBodyLinks(value: unknown): readonly string[] {
  const links = new Set<string>();
  const waiting: Node[] = [{ member: 'self', relation: 'self', value }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { relation, value: found } = next;
    if (typeof found === 'string') {
      if (navigates([relation]) && isAddress(found)) links.add(found);
    } else if (Array.isArray(found)) {
      for (const item of found.toReversed()) waiting.push({ ...next, value: item });
    } else if (isJsonObject(found)) {
      for (const [member, item] of Object.entries(found).reverse()) {
        waiting.push({ member, relation: relationOf(member, item, next, found.rel), value: item });
      }
    }
  }
  return [...links];
}

interface Node {
  readonly member: string;
  readonly relation: string;
  readonly value: unknown;
}

/** What a member of that node is to it, by its name, and by `rel` where that stands beside it; '' for no link. */
function relationOf(member: string, value: unknown, within: Node, rel: unknown): string {
  if (ADDRESS.test(member)) return typeof rel === 'string' ? rel : within.relation;
  if (ADDRESS_ENDING.test(member)) return member.replace(ADDRESS_ENDING, '');
  const isLink = typeof value !== 'string' || LINKS.test(within.member) || PLAIN.has(member);
  return isLink && !LINKS.test(member) ? member : '';
}

function isAddress(text: string): boolean {
  return /^https?:\/\//i.test(text) ? URL.canParse(text) : /^\/(?!\/)\S*$/.test(text);
}

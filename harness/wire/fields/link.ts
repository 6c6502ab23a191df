import { visible } from '../octets/utf8.ts';
import { FieldReader } from './grammar/field-grammar.ts';

/** One link of the Link field (RFC 8288 §3). */
export interface Link {
  /** The target as sent. */
  readonly target: string;
  /** Relation types, in lower case. */
  readonly relations: readonly string[];
  /** Names in lower case; of several with one name the first (§3.4). */
  readonly parameters: ReadonlyMap<string, string>;
}

interface LinkReading {
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

/** Adds the link whose parameters follow; returns what is wrong with them. */
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

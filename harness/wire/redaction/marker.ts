import { latin1Text } from '../octets/utf8.ts';

/**
 * The marker that stands where a secret stood: `[redacted:NAME]` for the whole value in any of its forms,
 * `[redacted:NAME:part]` for a fragment of it or for the value in another letter case.
 *
 * A provider may send that very text itself. Recording therefore quotes it: every `[redacted:` received gets an
 * exclamation mark, `[redacted!:`, and one more for each it already had. So whatever parses as a marker in recorded
 * evidence was put there by the harness, and the received text can still be read from the quotation.
 */
const MARKER = /\[redacted:([A-Za-z0-9_][A-Za-z0-9_./@-]*)(:part)?\]/g;
const LITERAL = /\[redacted(!*):/g;
const LITERAL_START = '[redacted';

/** A secret of which a marker tells. */
export interface Trace {
  /** The secret's name. */
  readonly name: string;
  /** True when only a fragment was found, or the value in another letter case. */
  readonly part: boolean;
}

/** A marker and where it stands in its text, in UTF-16 code units, end exclusive. */
export interface MarkerPlace extends Trace {
  readonly start: number;
  readonly end: number;
}

/** The secret's name as a marker can carry it: anything but letters, digits and `_ . / @ -` becomes `_`. */
export function markerName(name: string): string {
  const clean = name.replace(/[^A-Za-z0-9_./@-]/g, '_').slice(0, 100);
  return /^[A-Za-z0-9_]/.test(clean) ? clean : `_${clean}`;
}

/** Wrong keys that are made of the right one, and so give it away: they are secrets of their own. */
export type Derivation = 'truncated' | 'extended' | 'case-flipped' | 'altered';

/** The name under which markers show it: `SEARCH_API_KEY.truncated`, which no environment variable is called. */
export function derivedName(name: string, derivation: Derivation): string {
  return `${name}.${derivation}`;
}

/**
 * The name of a secret that is no credential of the service in whose evidence it is found: `ORDER_ID@config`,
 * `MESSAGING_API_KEY@messaging`.
 */
export function nameElsewhere(name: string, place: string): string {
  return `${name}@${place}`;
}

/** Whether the secret is one of the service's own credentials. */
export function isCredential({ name }: Trace): boolean {
  return !name.includes('@');
}

/** The text in place of a secret, or of part of one: `[redacted:NAME]`, `[redacted:NAME:part]`. */
export function marker({ name, part }: Trace): string {
  return `[redacted:${name}${part ? ':part' : ''}]`;
}

/** Quotes marker-like text that was received, so that it cannot pass for a marker. */
export function quoteMarkers(received: string): string {
  return received.includes(LITERAL_START) ? received.replace(LITERAL, '[redacted$1!:') : received;
}

/** Every marker in recorded text, in order. */
export function findMarkers(recorded: string): readonly MarkerPlace[] {
  if (!recorded.includes(LITERAL_START)) return [];
  return Array.from(recorded.matchAll(MARKER), (match) => ({
    name: match[1] ?? '',
    part: match[2] !== undefined,
    start: match.index,
    end: match.index + match[0].length,
  }));
}

/** Recorded text with something else in the place of each marker; null when it has none. */
export function withMarkersAs(other: string | ((name: string) => string), recorded: string): string | null {
  if (!recorded.includes(LITERAL_START)) return null;
  return recorded.replaceAll(MARKER, (_, name: string) => (typeof other === 'string' ? other : other(name)));
}

/**
 * Which secrets left a marker in recorded text or octets, each name and kind once, in order of appearance. Only
 * for what `redaction.ts` has been through as it was received: in a decoded value (a parsed JSON string, say) a
 * provider's own text could pass for a marker.
 */
export function traces(recorded: string | Uint8Array): readonly Trace[] {
  const seen = new Map<string, Trace>();
  for (const { name, part } of findMarkers(typeof recorded === 'string' ? recorded : latin1Text(recorded))) {
    const trace = { name, part };
    if (!seen.has(marker(trace))) seen.set(marker(trace), trace);
  }
  return [...seen.values()];
}

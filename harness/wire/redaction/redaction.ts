import { HarnessError } from '../../base/exit.ts';
import type { FieldLine } from '../exchange.ts';
import { isLatin1, latin1Octets, latin1Text } from '../octets/utf8.ts';
import {
  FragmentSearch,
  formsOf,
  type Occurrence,
  type Pattern,
  type SecretForm,
} from './fragment-search.ts';
import { findMarkers, type MarkerPlace, marker, markerName, quoteMarkers } from './marker.ts';
import { base64Decoding, DECODINGS, type OctetView, viewOctets, viewText } from './octet-view.ts';

/** Shorter values would be found everywhere. In characters. */
const SHORTEST_SECRET = 6;
/** Longer values cost too much memory. In characters. */
const LONGEST_SECRET = 16_384;
/** Encodings undone one inside the other: a percent-encoded URL in a JSON string has two. */
const DEEPEST_NESTING = 2;
/** Values that come again and again are remembered as they are shown: how many values, up to which length, how long in all. */
const REMEMBERED = {
  fields: { values: 1_000, length: 200, total: 200_000 },
  content: { values: 100, length: 100_000, total: 400_000 },
};
/** Shown for a value that another service has learned, until all services know it. */
const SOMEBODYS = 'secret';

/** Takes the known secrets out, by value, of everything that is recorded or shown. */
export interface Redaction {
  /**
   * Makes a value known from now on, under the first name it is given. `name` is what markers say; several values may
   * share one. Throws HarnessError for a value shorter than 6 or longer than 16384 characters.
   */
  add(name: string, value: string): void;
  /**
   * For text as it was sent or received: cuts out every form of every secret, and quotes marker-like text
   * (`marker.ts`) so that what then parses as a marker is one.
   */
  text(received: string): string;
  /** The same over octets; those around a cut stay as they are. May return its argument. */
  octets(received: Uint8Array): Uint8Array;
  /** The same over the names and values of field lines, whose characters are latin1 octets. */
  fields(received: readonly FieldLine[]): readonly FieldLine[];
  /** For text on its way to a sink that may hold evidence already redacted: like `text`, but markers stay markers. */
  sink(text: string): string;
}

interface KnownForm extends SecretForm, Pattern {
  readonly value: string;
}

/**
 * Where redactions of many services look for the same values, each with names of its own for them: with many services
 * the forms of their secrets are most of what a redaction holds.
 */
export class SoughtSecrets {
  readonly forms = new FragmentSearch<KnownForm>();
  readonly #values = new Set<string>();

  get size(): number {
    return this.#values.size;
  }

  add(value: string): void {
    if (this.#values.has(value)) return;
    this.#values.add(value);
    for (const form of formsOf(value)) {
      this.forms.add({ ...form, value, shortest: shortestFragment(form.octets.length) });
    }
  }
}

/** A stretch of the original, in its units (octets or UTF-16 code units), that gives a secret away. */
type Find = MarkerPlace;

/** A secret, and the name under which it may be shown. */
interface NamedSecret {
  readonly name: string;
  reveal(): string;
}

/**
 * Knows these secrets at first; each as by `add`. `sought`: what others of the same process look for as well; what only
 * they know of is cut out too, and named as another service's.
 */
export function createRedaction(
  secrets: readonly NamedSecret[] = [],
  sought: SoughtSecrets = new SoughtSecrets(),
): Redaction {
  const names = new Map<string, string>();
  const nameOf = (value: string) => names.get(value) ?? SOMEBODYS;

  const find = (view: OctetView): readonly Find[] => {
    const finds = new FindList();
    if (names.size > 0) search({ forms: sought.forms, nameOf }, view, DEEPEST_NESTING, finds);
    return finds.all;
  };

  const octetsAnew = (received: Uint8Array): Uint8Array => {
    const finds = find(viewOctets(received)).map((found) => onCharacterBoundaries(found, received));
    const pieces = cut(received.length, finds, (start, end) => {
      const kept = received.subarray(start, end);
      const plain = latin1Text(kept);
      const quoted = quoteMarkers(plain);
      return quoted === plain ? kept : quoted;
    });
    if (finds.length === 0 && typeof pieces[0] !== 'string') return received;
    const parts = pieces.map((piece) => (typeof piece === 'string' ? latin1Octets(piece) : piece));
    return new Uint8Array(Buffer.concat(parts));
  };

  const secretsKnown = () => names.size + sought.size;
  const text = remembering(REMEMBERED.fields, secretsKnown, (received: string) =>
    cut(received.length, find(viewText(received)), (start, end) =>
      quoteMarkers(received.slice(start, end)),
    ).join(''),
  );
  const fieldText = remembering(REMEMBERED.fields, secretsKnown, (received: string) =>
    isLatin1(received) ? latin1Text(octetsAnew(latin1Octets(received))) : text(received),
  );
  const contentBefore = remembering(REMEMBERED.content, secretsKnown, (received: string) => {
    const content = latin1Octets(received);
    const shown = octetsAnew(content);
    return shown === content ? null : shown;
  });
  const octets = (received: Uint8Array): Uint8Array =>
    received.length > REMEMBERED.content.length
      ? octetsAnew(received)
      : (contentBefore(latin1Text(received)) ?? received);

  const splitIn = remembering(REMEMBERED.content, secretsKnown, (joined: string) => {
    const markers = findMarkers(joined);
    return find(viewText(joined)).filter(
      ({ start, end }) =>
        joined.slice(start, end).includes('\n') &&
        !markers.some((place) => place.start < end && start < place.end),
    );
  });

  /** A secret may lie across several values, none of which gives it away. */
  const withoutSplit = (lines: readonly FieldLine[]): readonly FieldLine[] => {
    const finds = splitIn(lines.map(([, value]) => value).join('\n'));
    if (finds.length === 0) return lines;
    let at = 0;
    return lines.map(([name, value]) => {
      const from = at;
      at += value.length + 1;
      const within = (place: number) => Math.min(Math.max(0, place - from), value.length);
      const own = finds
        .map((each) => ({ ...each, part: true, start: within(each.start), end: within(each.end) }))
        .filter(({ start, end }) => start < end);
      return [name, cut(value.length, own, (start, end) => value.slice(start, end)).join('')] as const;
    });
  };

  const redaction: Redaction = {
    add(name, value) {
      if (value.length < SHORTEST_SECRET || value.length > LONGEST_SECRET) {
        throw new HarnessError(
          `the secret ${markerName(name)} has ${value.length} characters; only ${SHORTEST_SECRET} to ${LONGEST_SECRET} can be redacted`,
        );
      }
      if (names.has(value)) return;
      names.set(value, markerName(name));
      sought.add(value);
    },
    octets,
    text,
    fields: (received) =>
      withoutSplit(received.map(([name, value]) => [fieldText(name), fieldText(value)] as const)),
    sink(shown) {
      const markers = findMarkers(shown);
      const finds = find(viewText(shown)).filter(
        (found) => !markers.some((place) => place.start <= found.start && found.end <= place.end),
      );
      return cut(shown.length, finds, (start, end) => shown.slice(start, end)).join('');
    },
  };
  for (const secret of secrets) redaction.add(secret.name, secret.reveal());
  return redaction;
}

/** What `anew` gives for text of at most this length, remembered until another secret is known. */
function remembering<T>(
  { values, length, total }: (typeof REMEMBERED)['fields'],
  secretsKnown: () => number,
  anew: (received: string) => T,
): (received: string) => T {
  const shownBefore = new Map<string, T>();
  let [known, held] = [0, 0];
  return (received) => {
    if (received.length > length) return anew(received);
    if (secretsKnown() !== known || shownBefore.size >= values || held > total) {
      shownBefore.clear();
      held = 0;
    }
    known = secretsKnown();
    const before = shownBefore.get(received);
    if (before !== undefined) return before;
    const shown = anew(received);
    shownBefore.set(received, shown);
    held += received.length;
    return shown;
  };
}

/** Eight characters or 60 % of the value, whichever is more: less is neither usable nor telling. */
function shortestFragment(length: number): number {
  return Math.min(length, Math.max(8, Math.ceil(length * 0.6)));
}

interface Search {
  readonly forms: FragmentSearch<KnownForm>;
  readonly nameOf: (value: string) => string;
}

/** Looks in a view, and in what it reads as when its encodings are undone. */
function search(means: Search, view: OctetView, depth: number, finds: FindList): void {
  means.forms.scan(view.octets, (occurrence) => finds.add(identify(occurrence, view, means.nameOf)));
  if (depth === 0) return;
  for (const decoding of DECODINGS) {
    const decoded = decoding(view);
    if (decoded) search(means, decoded, depth - 1, finds);
  }
  const decoded = base64Decoding(view);
  if (!decoded) return;
  // A secret by itself in base64 is known as that, to the character.
  const hidden = new FindList();
  search(means, decoded, depth - 1, hidden);
  for (const found of hidden.all) {
    if (!finds.all.some(({ part, start, end }) => !part && start < found.end && found.start < end))
      finds.add(found);
  }
}

/** Says how much of the secret it is, in the units of the original. */
function identify(
  { pattern: form, whole, ...place }: Occurrence<KnownForm>,
  view: OctetView,
  nameOf: Search['nameOf'],
): Find {
  const { octets } = view;
  let { start, end } = place;
  const exact = whole && (form.caseless || Buffer.compare(form.octets, octets.subarray(start, end)) === 0);
  if (exact && form.sharesBefore && isBase64(octets[start - 1])) start--;
  if (exact && form.sharesAfter && isBase64(octets[end])) {
    end++;
    while (octets[end] === 0x3d) end++;
  }
  return { name: nameOf(form.value), part: !exact, start: view.start(start), end: view.end(end - 1) };
}

function isBase64(octet: number | undefined): boolean {
  return octet !== undefined && /[A-Za-z0-9+/_-]/.test(String.fromCharCode(octet));
}

/** Finds as they come; a growing fragment, reported octet by octet, stays one find. */
class FindList {
  readonly all: Find[] = [];
  readonly #latest = new Map<string, number>();

  add(found: Find): void {
    const key = marker(found);
    const index = this.#latest.get(key);
    const latest = index === undefined ? undefined : this.all[index];
    if (index !== undefined && latest && found.start < latest.end && latest.start < found.end) {
      this.all[index] = union(latest, found);
    } else {
      this.#latest.set(key, this.all.push(found) - 1);
    }
  }
}

function union(a: Find, b: Find): Find {
  return { ...a, start: Math.min(a.start, b.start), end: Math.max(a.end, b.end) };
}

/**
 * The original in pieces, each find replaced by its marker. Whole secrets come before fragments and longer finds
 * before shorter ones; of a find that another overlaps, the rest is still cut out.
 */
function cut<Kept>(
  length: number,
  finds: readonly Find[],
  keep: (start: number, end: number) => Kept,
): (Kept | string)[] {
  if (finds.length === 0) return length === 0 ? [] : [keep(0, length)];
  const ranked = merge(finds).sort(
    (a, b) => Number(a.part) - Number(b.part) || b.end - b.start - (a.end - a.start),
  );
  // 1 + index of the find that an octet falls to; 0 for none.
  const owners = new Int32Array(length);
  ranked.forEach((found, index) => {
    for (let at = found.start; at < found.end; at++) {
      if (owners[at] === 0) owners[at] = index + 1;
    }
  });
  const pieces: (Kept | string)[] = [];
  for (let start = 0; start < length; ) {
    const owner = owners[start] ?? 0;
    let end = start + 1;
    while (end < length && owners[end] === owner) end++;
    const found = ranked[owner - 1];
    pieces.push(found ? marker(found) : keep(start, end));
    start = end;
  }
  return pieces;
}

/** Joins the finds of one secret that overlap: afterwards each octet is in few of them, so cutting is linear. */
function merge(finds: readonly Find[]): Find[] {
  const merged: Find[] = [];
  for (const group of Map.groupBy(finds, marker).values()) {
    let current: Find | null = null;
    for (const found of group.sort((a, b) => a.start - b.start)) {
      if (current && found.start < current.end) {
        current = union(current, found);
      } else {
        if (current) merged.push(current);
        current = found;
      }
    }
    if (current) merged.push(current);
  }
  return merged;
}

/** A find never takes half a UTF-8 character, or the rest would no longer be UTF-8 and be judged so. */
function onCharacterBoundaries(found: Find, octets: Uint8Array): Find {
  let { start, end } = found;
  const within = (at: number) => isContinuation(octets[at]) && (octets[at - 1] ?? 0) >= 0x80;
  for (let step = 0; step < 3 && start > 0 && within(start); step++) start--;
  for (let step = 0; step < 3 && within(end); step++) end++;
  return { ...found, start, end };
}

function isContinuation(octet: number | undefined): boolean {
  return octet !== undefined && (octet & 0xc0) === 0x80;
}

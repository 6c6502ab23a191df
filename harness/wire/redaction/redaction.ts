import { hash } from 'node:crypto';
import { HarnessError } from '../../base/exit.ts';
import type { FieldLine } from '../exchange.ts';
import { isLatin1, latin1Octets, latin1Text } from '../octets/utf8.ts';
import {
  FragmentSearch,
  formsOf,
  type Occurrence,
  type Pattern,
  preparePattern,
  type SecretForm,
} from './fragment-search.ts';
import { findMarkers, type MarkerPlace, marker, markerName, nameElsewhere, quoteMarkers } from './marker.ts';
import { base64Readings, DECODINGS, type OctetView, Unpacking, viewOctets, viewText } from './octet-view.ts';
import { type MemoryBounds, remembering } from './remembering.ts';
import { Stretches } from './stretches.ts';

/** Shorter values would be found everywhere. In characters. */
export const SHORTEST_SECRET = 6;
/** Longer values cost too much memory. In characters. */
export const LONGEST_SECRET = 16_384;
/**
 * Octets of readings, for each octet of the original, by the number of encodings undone, one inside the other: a
 * percent-encoded URL in a JSON string has two.
 */
const READ_OCTETS = [1, 8, 6, 3];
/** The same for any original. */
const LEAST_READ_OCTETS = 1_500_000;
/** Bounds of remembered texts. */
const REMEMBERED = {
  forms: { values: 64, length: 2_000, total: 20_000 },
  fields: { values: 1_000, length: 200, total: 200_000 },
  content: { values: 100, length: 1_100_000, total: 1_200_000 },
};
/** Shown for a value that another service has learned, until all services know it. */
const SOMEBODYS = 'secret';
/** Stands for content that is compressed, and that nothing can be looked for in. */
const UNREAD = { value: '', name: nameElsewhere('compressed', 'unread') };

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
    for (const form of knownForms(value)) this.forms.add(form);
  }
}

/** Each session of a run looks for the same. */
const knownForms = remembering(REMEMBERED.forms, (value: string) =>
  formsOf(value).map((form) =>
    preparePattern({ ...form, value, shortest: shortestFragment(form.octets.length) }),
  ),
);

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
  const nameOf = (value: string) => (value === UNREAD.value ? UNREAD.name : (names.get(value) ?? SOMEBODYS));

  const find = (view: OctetView): readonly Find[] =>
    names.size === 0 ? [] : new Search(sought.forms, view).finds(nameOf);

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

  /** Until another secret is known. */
  const shownBefore = <T>(bounds: MemoryBounds, anew: (received: string) => T) =>
    remembering(bounds, anew, () => names.size + sought.size);
  const text = shownBefore(REMEMBERED.fields, (received: string) =>
    cut(received.length, find(viewText(received)), (start, end) =>
      quoteMarkers(received.slice(start, end)),
    ).join(''),
  );
  const fieldText = shownBefore(REMEMBERED.fields, (received: string) =>
    isLatin1(received) ? latin1Text(octetsAnew(latin1Octets(received))) : text(received),
  );
  const contentBefore = shownBefore(REMEMBERED.content, (received: string) => {
    const content = latin1Octets(received);
    const shown = octetsAnew(content);
    return shown === content ? null : shown;
  });
  const octets = (received: Uint8Array): Uint8Array =>
    received.length > REMEMBERED.content.length
      ? octetsAnew(received)
      : (contentBefore(latin1Text(received)) ?? received);

  const splitIn = shownBefore(REMEMBERED.content, (joined: string) => {
    const markers = new Stretches(findMarkers(joined));
    return merge(find(viewText(joined))).filter(
      (found) => joined.slice(found.start, found.end).includes('\n') && !markers.touches(found),
    );
  });

  /** A secret may lie across several values, none of which gives it away. */
  const withoutSplit = (lines: readonly FieldLine[]): readonly FieldLine[] => {
    const finds = splitIn(lines.map(([, value]) => value).join('\n'));
    if (finds.length === 0) return lines;
    const inOrder = finds.toSorted((a, b) => a.start - b.start);
    let [at, next] = [0, 0];
    let open: Find[] = [];
    return lines.map(([name, value]) => {
      const from = at;
      at += value.length + 1;
      const within = (place: number) => Math.min(Math.max(0, place - from), value.length);
      for (; (inOrder[next]?.start ?? at) < at; next++) open.push(...inOrder.slice(next, next + 1));
      const own = open
        .map((each) => ({ ...each, part: true, start: within(each.start), end: within(each.end) }))
        .filter(({ start, end }) => start < end);
      open = open.filter(({ end }) => end > at);
      return [name, cut(value.length, own, (start, end) => value.slice(start, end)).join('')] as const;
    });
  };

  const sink = shownBefore(REMEMBERED.fields, (shown: string) => {
    const markers = new Stretches(findMarkers(shown));
    const finds = find(viewText(shown)).filter((found) => !markers.covers(found));
    return cut(shown.length, finds, (start, end) => shown.slice(start, end)).join('');
  });

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
    sink,
  };
  for (const secret of secrets) redaction.add(secret.name, secret.reveal());
  return redaction;
}

/** Eight characters or 60 % of the value, whichever is more: less is neither usable nor telling. */
function shortestFragment(length: number): number {
  return Math.min(length, Math.max(8, Math.ceil(length * 0.6)));
}

/** One search of an original through all readings of it. */
class Search {
  /** By how many layers of base64 they were found behind. */
  readonly #finds: FindList[] = [];
  readonly #forms: FragmentSearch<KnownForm>;
  readonly #unpacking: Unpacking;
  /** Octets that may still be read at each depth. */
  readonly #left: number[];
  readonly #readBefore = new Set<string>();

  constructor(forms: FragmentSearch<KnownForm>, view: OctetView) {
    const { length } = view.octets;
    this.#forms = forms;
    this.#unpacking = new Unpacking(length);
    this.#left = READ_OCTETS.map((octets) => Math.max(LEAST_READ_OCTETS, octets * length));
    this.#read(view, 0, 0);
  }

  /** `nameOf` gives the name under which a value may be shown. */
  finds(nameOf: (value: string) => string): readonly Find[] {
    const all: Find[] = [];
    for (const finds of this.#finds) {
      // A secret by itself in base64 is known as that, to the character.
      const known = new Stretches(all.filter(({ part }) => !part));
      for (const found of finds.named(nameOf)) if (!known.touches(found)) all.push(found);
    }
    return all;
  }

  /** Looks in a view, and in its readings with encodings undone. */
  #read(view: OctetView, depth: number, layers: number): void {
    const finds = this.#finds[layers] ?? new FindList();
    this.#finds[layers] = finds;
    this.#forms.scan(view.octets, (occurrence) => identify(occurrence, view, finds));
    if ((this.#left[depth + 1] ?? 0) <= 0) return;
    const { readings, unread } = base64Readings(view, this.#unpacking);
    for (const decoded of readings) this.#readInner(decoded, depth + 1, layers + 1);
    for (const { start, end } of unread) finds.add(UNREAD.value, true, start, end);
    for (const decoding of DECODINGS) {
      const decoded = decoding(view);
      if (decoded) this.#readInner(decoded, depth + 1, layers);
    }
  }

  /** Encodings that are independent of each other give the same in either order. */
  #readInner(view: OctetView, depth: number, layers: number): void {
    const left = this.#left[depth] ?? 0;
    if (left <= 0) return;
    if (depth > 1) {
      const digest = hash('sha1', view.octets);
      if (this.#readBefore.has(digest)) return;
      this.#readBefore.add(digest);
    }
    this.#left[depth] = left - view.octets.length;
    this.#read(view, depth, layers);
  }
}

/** Says how much of the secret it is, in the units of the original. */
function identify(
  { pattern: form, whole, ...place }: Occurrence<KnownForm>,
  view: OctetView,
  finds: FindList,
): void {
  const { octets } = view;
  let { start, end } = place;
  const exact = whole && (form.caseless || isSame(form.octets, octets, start));
  if (exact && form.sharesBefore && isBase64(octets[start - 1])) start--;
  if (exact && form.sharesAfter && isBase64(octets[end])) {
    end++;
    while (octets[end] === 0x3d) end++;
  }
  finds.add(form.value, !exact, view.start(start), view.end(end - 1));
}

function isSame(form: Uint8Array, octets: Uint8Array, start: number): boolean {
  for (let at = 0; at < form.length; at++) if (form[at] !== octets[start + at]) return false;
  return true;
}

function isBase64(octet: number | undefined): boolean {
  return octet !== undefined && /[A-Za-z0-9+/_-]/.test(String.fromCharCode(octet));
}

/** A find of a value that is not named yet. */
interface Sighting {
  readonly value: string;
  readonly part: boolean;
  start: number;
  end: number;
}

/** Finds as they come; a growing fragment, reported octet by octet, stays one find. */
class FindList {
  readonly #all: Sighting[] = [];
  readonly #latest = { whole: new Map<string, Sighting>(), part: new Map<string, Sighting>() };

  add(value: string, part: boolean, start: number, end: number): void {
    const latest = part ? this.#latest.part : this.#latest.whole;
    const before = latest.get(value);
    if (before !== undefined && start < before.end && before.start < end) {
      before.start = Math.min(before.start, start);
      before.end = Math.max(before.end, end);
      return;
    }
    const sighting = { value, part, start, end };
    latest.set(value, sighting);
    this.#all.push(sighting);
  }

  named(nameOf: (value: string) => string): readonly Find[] {
    return this.#all.map(({ value, ...place }) => ({ name: nameOf(value), ...place }));
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

import { contentsWithin, looksCompressed, mayBeCompressed } from '../octets/compressed.ts';
import { latin1Octets, latin1Text } from '../octets/utf8.ts';
import { remembering } from './remembering.ts';
import type { TextRange } from './stretches.ts';

/**
 * Octets as someone would read them after undoing an encoding, each with the place it came from. A secret is looked
 * for in views, and cut out of the original, whatever mixture of escapes spelled it.
 */
export interface OctetView {
  readonly octets: Uint8Array;
  /** Where in the original (octet or UTF-16 code unit) what an octet was read from begins … */
  readonly start: (at: number) => number;
  /** … and ends, exclusive. */
  readonly end: (at: number) => number;
}

/** Octets as they are. */
export function viewOctets(octets: Uint8Array): OctetView {
  return { octets, start: (at) => at, end: (at) => at + 1 };
}

/** Text as its UTF-8 octets; places are UTF-16 code units. */
export function viewText(text: string): OctetView {
  const units = viewOctets(latin1Octets(text));
  const length = Buffer.byteLength(text);
  if (length === text.length) return units;
  const view = new Rewriting(units, length);
  for (let at = 0; at < text.length; ) {
    const codePoint = text.codePointAt(at) ?? 0;
    const taken = codePoint > 0xffff ? 2 : 1;
    if (codePoint > 0x7f) view.replace(at, taken, utf8(codePoint));
    at += taken;
  }
  return view.finished();
}

/** Undoes one encoding where it finds it; null when the view holds none of it. Takes linear time. */
type Decoding = (view: OctetView) => OctetView | null;

/** `%41`, in either case (RFC 3986 §2.1). */
const percentDecoding = decoding([0x25], (octets, at) => {
  const octet = hexNumber(octets, at + 1, 2);
  return octet === null ? null : { octets: [octet], length: 3 };
});

const ESCAPED: Readonly<Record<string, number>> = {
  '"': 0x22,
  "'": 0x27,
  '\\': 0x5c,
  '/': 0x2f,
  b: 0x08,
  f: 0x0c,
  n: 0x0a,
  r: 0x0d,
  t: 0x09,
};

/** `\u0041` and `\n` (RFC 8259 §7), and `\x41` as script and log formats have it. */
const backslashDecoding = decoding([0x5c], (octets, at) => {
  const letter = String.fromCharCode(octets[at + 1] ?? 0);
  if (letter === 'u') {
    const unit = hexNumber(octets, at + 2, 4);
    if (unit === null) return null;
    const low =
      unit >= 0xd800 && unit <= 0xdbff && octets[at + 6] === 0x5c && octets[at + 7] === 0x75
        ? hexNumber(octets, at + 8, 4)
        : null;
    return low !== null && low >= 0xdc00 && low <= 0xdfff
      ? { octets: utf8(0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00)), length: 12 }
      : { octets: utf8(unit), length: 6 };
  }
  if (letter === 'x') {
    const octet = hexNumber(octets, at + 2, 2);
    return octet === null ? null : { octets: [octet], length: 4 };
  }
  const octet = ESCAPED[letter];
  return octet === undefined ? null : { octets: [octet], length: 2 };
});

/** Long enough for `&#x0010FFFF;` and for every named reference in the table. */
const LONGEST_REFERENCE = 24;
const REFERENCE = /^&(?:#0*([0-9]{1,7});?|#[xX]0*([0-9a-fA-F]{1,6});?|([A-Za-z]+);)/;

/** `&amp;`, `&#65;`, `&#x41;`; numbers also without the semicolon, as browsers read them. */
const htmlDecoding = decoding([0x26], (_, at, text) => {
  const match = REFERENCE.exec(text().slice(at, at + LONGEST_REFERENCE));
  if (match === null) return null;
  const [whole, decimal, hex, name] = match;
  const codePoint =
    name !== undefined
      ? HTML_ENTITIES.get(name)?.codePointAt(0)
      : decimal !== undefined
        ? Number(decimal)
        : Number.parseInt(hex ?? '', 16);
  if (codePoint === undefined || codePoint > 0x10ffff) return null;
  return { octets: utf8(codePoint), length: whole.length };
});

/** Line breaks and the indentation after them taken out: wrapped base64, folded fields. */
const unwrapping = decoding([0x0d, 0x0a], (octets, at) => {
  let end = at + 1;
  while (octets[end] === 0x20 || octets[end] === 0x09) end++;
  return { octets: [], length: end - at };
});

/** NUL taken out: ASCII in UTF-16 and UTF-32, of either order. */
const narrowing = decoding([0], () => ({ octets: [], length: 1 }));

/** From the end of one string of a JSON text to the beginning of the next, with the name between them. */
const BETWEEN_STRINGS = /^"[\s,[\]{}]{1,16}(?:"[^"\\]{0,64}"\s{0,8}:[\s[{]{0,8})?"/;
const LONGEST_BETWEEN = 120;

/** Strings that follow each other in a JSON text, joined: a value that was cut in two is whole again. */
const joining = decoding([0x22], (octets, at, text) => {
  const next = octets[at + 1];
  if (next !== 0x2c && next !== 0x5d && next !== 0x7d && next !== 0x0a && next !== 0x20) return null;
  const [between] = BETWEEN_STRINGS.exec(text().slice(at, at + LONGEST_BETWEEN)) ?? [];
  return between === undefined ? null : { octets: [], length: between.length };
});

/** Every encoding of octets as octets that is undone before secrets are looked for. */
export const DECODINGS: readonly Decoding[] = [
  percentDecoding,
  backslashDecoding,
  htmlDecoding,
  unwrapping,
  narrowing,
  joining,
];

/** Shorter ones are words. */
const BASE64 = /[A-Za-z0-9+/_-]{16,}/g;
/** Digests, identifiers and dates, which are no base64. */
const DIGITS = /^[0-9a-f-]*$/;
/** Characters before the first group of a run. */
const LEADS = [0, 1, 2, 3];
/** Characters that show whether a run is text. */
const SAMPLE = 16;
const READABLE = /^(?:[\t\n\r -~]*|.?(?:[^\0]\0)+.?)$/s;

/** Readings of base64. */
interface Base64Readings {
  /** With each run of base64 decoded, and with each that is compressed unpacked as well. */
  readonly readings: readonly OctetView[];
  /** Where runs are compressed content that was not unpacked, in the units of the original. */
  readonly unread: readonly TextRange[];
}

/** The group of four characters that a gzip, zstd or zlib stream begins with; zlib with a window of 32 KiB. */
const PACKED_GROUP = /H4sI|KLUv|e(?:J[w-z]|N[o-r]|A[E-H]|F[4-7])[A-Za-z0-9+/_-]/;

/**
 * Base64 (RFC 4648 §4, §5) decoded, group by group of four characters; wherever groups may begin, since the end of a
 * path before it would be base64 as well.
 */
export function base64Readings(view: OctetView, unpacking: Unpacking): Base64Readings {
  const runs = Array.from(latin1Text(view.octets).matchAll(BASE64), ({ 0: run, index }) => ({
    run,
    index,
    ...wordOf(run),
  })).filter(({ decodes }) => decodes);
  if (runs.length === 0) return { readings: [], unread: [] };
  const readings = LEADS.flatMap((lead) => {
    let decoded: Rewriting | null = null;
    let done = 0;
    for (const { run, index, readable } of runs) {
      if ((readable & (1 << lead)) === 0) continue;
      decoded ??= new Rewriting(view, view.octets.length);
      const from = index + lead;
      // The first reading keeps the text between the runs.
      if (lead > 0) decoded.replace(done, from - done, BETWEEN);
      decoded.replaceGroups(
        from,
        run.length - lead,
        Buffer.from(lead === 0 ? run : run.slice(lead), 'base64'),
      );
      done = index + run.length;
    }
    return decoded?.finished() ?? [];
  });
  const packed: { readonly from: number; readonly length: number; readonly content: Uint8Array }[] = [];
  const unread: TextRange[] = [];
  const packable = runs.filter(({ mayBePacked }) => mayBePacked);
  const likelyFirst = [
    ...packable.filter(({ packedAt }) => packedAt >= 0),
    ...packable.filter(({ packedAt }) => packedAt < 0),
  ];
  for (const { run, index, packedAt } of likelyFirst) {
    const lead = Math.max(0, packedAt);
    const content = unpacking.contentOf(run.slice(lead));
    const [from, length] = [index + lead, run.length - lead];
    if (content === null) {
      unread.push({ start: view.start(from), end: view.end(from + length - 1) });
    } else if (content.length > 0) {
      packed.push({ from, length, content });
    }
  }
  if (packed.length > 0) {
    const room = packed.reduce((sum, { content }) => sum + content.length, view.octets.length);
    const unpacked = new Rewriting(view, room);
    packed.sort((a, b) => a.from - b.from);
    for (const { from, length, content } of packed) unpacked.replace(from, length, content);
    readings.unshift(unpacked.finished());
  }
  return { readings, unread };
}

/** Stands for the text between two runs. */
const BETWEEN = [0x20];

/** The same words come in many texts, and in many readings of one. */
const REMEMBERED_WORDS = { values: 4_000, length: 200, total: 400_000 };

/** Properties of a run of base64 characters, which depend on nothing else. */
interface Base64Word {
  /** False for digests, identifiers and dates. */
  readonly decodes: boolean;
  /** The leads behind which it looks readable, a bit for each. */
  readonly readable: number;
  /** Where compressed content is likely to begin; -1 if nowhere. */
  readonly packedAt: number;
  readonly mayBePacked: boolean;
}

const DIGITS_ALONE: Base64Word = { decodes: false, readable: 0, packedAt: -1, mayBePacked: false };

const wordOf = remembering(REMEMBERED_WORDS, (run): Base64Word => {
  if (DIGITS.test(run)) return DIGITS_ALONE;
  const packedAt = PACKED_GROUP.exec(run)?.index ?? -1;
  return {
    decodes: true,
    readable: LEADS.reduce((bits, lead) => bits | (Number(looksReadable(run, lead)) << lead), 0),
    packedAt,
    mayBePacked: mayBeCompressed(Buffer.from(run.slice(Math.max(0, packedAt)), 'base64')),
  };
});

/** Whether one end of a run is text, in ASCII or UTF-16; a secret in other octets has forms of its own. */
function looksReadable(run: string, lead: number): boolean {
  const end = lead + Math.floor((run.length - lead) / 4) * 4;
  return [run.slice(lead, lead + SAMPLE), run.slice(Math.max(lead, end - SAMPLE), end)].some((sample) =>
    READABLE.test(latin1Text(Buffer.from(sample, 'base64'))),
  );
}

/** Attempts to unpack, for any text, and octets of it for one attempt more. */
const ATTEMPTS = 16;
const OCTETS_PER_ATTEMPT = 1_024;
/** Octets that may be unpacked, for any text, and for each of its octets. */
const LEAST_ROOM = 256 * 1024;
const ROOM_PER_OCTET = 4;
/** Rooms that attempts without a result may fill. */
const ROOMS_IN_VAIN = 4;

const NOTHING = new Uint8Array();

/** Words that unpack to nothing. */
const unpackToNothing = new Set<string>();

/** Unpacks content within one text, at a cost that goes by the length of the text. */
export class Unpacking {
  /** By base64: the same is met in many readings of a text. */
  readonly #known = new Map<string, Uint8Array | null>();
  #attempts: number;
  #room: number;
  /** Octets that may still be unpacked without a result. */
  #vain: number;

  constructor(length: number) {
    this.#attempts = ATTEMPTS + Math.floor(length / OCTETS_PER_ATTEMPT);
    this.#room = LEAST_ROOM + ROOM_PER_OCTET * length;
    this.#vain = ROOMS_IN_VAIN * this.#room;
  }

  /** All that base64 unpacks to, in whatever coding; empty if it does not; null if that would take too much. */
  contentOf(base64: string): Uint8Array | null {
    if (unpackToNothing.has(base64)) return NOTHING;
    const known = this.#known.get(base64);
    const content = known === undefined ? this.#unpacked(base64) : known;
    if (known === undefined) this.#known.set(base64, content);
    if (content === null || content.length > this.#room) return null;
    this.#room -= content.length;
    return content;
  }

  #unpacked(base64: string): Uint8Array | null {
    const octets = Buffer.from(base64, 'base64');
    if (this.#vain <= 0) return null;
    if (this.#attempts <= 0) return looksCompressed(octets) ? null : NOTHING;
    this.#attempts -= 1;
    const contents = this.#room > 0 ? contentsWithin(octets, this.#room) : null;
    if (contents === null) {
      this.#vain -= this.#room;
      return null;
    }
    if (contents.length === 0 && base64.length <= REMEMBERED_WORDS.length) {
      if (unpackToNothing.size >= REMEMBERED_WORDS.values) unpackToNothing.clear();
      unpackToNothing.add(base64);
    }
    return Buffer.concat(contents);
  }
}

/** The octets for which an escape stands, and the number of octets that it takes. */
interface Unescaped {
  readonly octets: readonly number[];
  readonly length: number;
}

/** `read` gives the escape that begins at a place; `text`: all octets, a character for each. */
function decoding(
  introducers: readonly number[],
  read: (octets: Uint8Array, at: number, text: () => string) => Unescaped | null,
): Decoding {
  return (view) => {
    const { octets } = view;
    let whole: string | null = null;
    const text = () => {
      whole ??= latin1Text(octets);
      return whole;
    };
    // `indexOf` of a Buffer is far quicker than that of a Uint8Array.
    const searched = Buffer.from(octets.buffer, octets.byteOffset, octets.byteLength);
    const places = introducers.map((introducer) => placesOf(searched, introducer));
    let decoded: Rewriting | null = null;
    for (let at = 0; at < octets.length; ) {
      at = Math.min(...places.map((next) => next(at)));
      const unescaped = at < octets.length ? read(octets, at, text) : null;
      if (unescaped !== null) {
        decoded ??= new Rewriting(view, octets.length);
        decoded.replace(at, unescaped.length, unescaped.octets);
      }
      at += unescaped?.length ?? 1;
    }
    return decoded?.finished() ?? null;
  };
}

/** Where an octet comes next, from a place on that only grows; the length where it comes no more. */
function placesOf(octets: Buffer, octet: number): (from: number) => number {
  let next = -1;
  return (from) => {
    if (next < from) next = octets.indexOf(octet, from);
    if (next < 0) next = octets.length;
    return next;
  };
}

/** RFC 3629 §3; a lone surrogate becomes the three octets it would have. */
function utf8(codePoint: number): readonly number[] {
  if (codePoint < 0x80) return [codePoint];
  const continuations = codePoint < 0x800 ? 1 : codePoint < 0x10000 ? 2 : 3;
  const lead = [0, 0xc0, 0xe0, 0xf0][continuations] ?? 0;
  const octets = [lead | (codePoint >> (6 * continuations))];
  for (let left = continuations - 1; left >= 0; left--)
    octets.push(0x80 | ((codePoint >> (6 * left)) & 0x3f));
  return octets;
}

/** Octets from `start` to `end` that stand for those of the view from `from` to `to`; ends are exclusive. */
interface Replacement {
  readonly start: number;
  readonly end: number;
  readonly from: number;
  readonly to: number;
  /** Each three octets stand for four of the view. */
  readonly grouped: boolean;
}

/** Octets that are copied faster one by one than together. */
const FEW = 64;

/** A view whose stretches are replaced, from the first to the last. */
class Rewriting {
  readonly #view: OctetView;
  readonly #octets: Uint8Array;
  #length = 0;
  /** How much of the view is copied or replaced. */
  #done = 0;
  readonly #replacements: Replacement[] = [];

  /** `capacity`: the most octets of the result. */
  constructor(view: OctetView, capacity: number) {
    this.#view = view;
    this.#octets = new Uint8Array(capacity);
  }

  replace(from: number, length: number, octets: ArrayLike<number>): void {
    this.#put(from, length, octets, false);
  }

  /** The same for octets of which each three were read from four. */
  replaceGroups(from: number, length: number, octets: ArrayLike<number>): void {
    this.#put(from, length, octets, true);
  }

  #put(from: number, length: number, octets: ArrayLike<number>, grouped: boolean): void {
    this.#copyUpTo(from);
    const start = this.#length;
    this.#octets.set(octets, start);
    this.#length += octets.length;
    this.#done = from + length;
    this.#replacements.push({ start, end: this.#length, from, to: this.#done, grouped });
  }

  finished(): OctetView {
    this.#copyUpTo(this.#view.octets.length);
    return {
      octets: this.#octets.subarray(0, this.#length),
      start: (at) => this.#view.start(this.#source(at).from),
      end: (at) => this.#view.end(this.#source(at).to - 1),
    };
  }

  #copyUpTo(end: number): void {
    const { octets } = this.#view;
    if (end - this.#done < FEW) {
      for (let at = this.#done; at < end; at++) this.#octets[this.#length++] = octets[at] ?? 0;
    } else {
      this.#octets.set(octets.subarray(this.#done, end), this.#length);
      this.#length += end - this.#done;
    }
    this.#done = end;
  }

  /** What of the view an octet was made of. */
  #source(at: number): Pick<Replacement, 'from' | 'to'> {
    let [low, high] = [0, this.#replacements.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#replacements[middle]?.start ?? 0) <= at) low = middle + 1;
      else high = middle;
    }
    const latest = this.#replacements[low - 1];
    if (latest === undefined) return { from: at, to: at + 1 };
    if (at < latest.end) {
      if (!latest.grouped) return latest;
      const from = latest.from + Math.floor((at - latest.start) / 3) * 4;
      return { from, to: Math.min(from + 4, latest.to) };
    }
    const from = latest.to + (at - latest.end);
    return { from, to: from + 1 };
  }
}

/** The value of each hexadecimal digit, by its octet; -1 for any other. */
const HEX_DIGITS = Int8Array.from({ length: 256 }, (_, octet) =>
  /[0-9a-f]/i.test(String.fromCharCode(octet)) ? Number.parseInt(String.fromCharCode(octet), 16) : -1,
);

/** null unless all the digits are hexadecimal. */
function hexNumber(octets: Uint8Array, at: number, digits: number): number | null {
  let number = 0;
  for (let place = at; place < at + digits; place++) {
    const digit = HEX_DIGITS[octets[place] ?? 0] ?? -1;
    if (digit < 0) return null;
    number = number * 16 + digit;
  }
  return number;
}

/** The named character references of HTML (§13.5) that stand for an ASCII character: name to character. */
const HTML_ENTITIES: ReadonlyMap<string, string> = new Map([
  ['Tab', '\t'],
  ['NewLine', '\n'],
  ...[
    'excl! quot" QUOT" num# dollar$ percnt% amp& AMP& apos\' lpar( rpar) ast* midast* plus+ comma, period. sol/',
    'colon: semi; lt< LT< equals= gt> GT> quest? commat@ lsqb[ lbrack[ bsol\\ rsqb] rbrack] Hat^ lowbar_',
    'UnderBar_ grave` DiacriticalGrave` lcub{ lbrace{ verbar| vert| VerticalLine| rcub} rbrace}',
  ].flatMap((named) => named.split(' ').map((each) => [each.slice(0, -1), each.slice(-1)] as const)),
]);

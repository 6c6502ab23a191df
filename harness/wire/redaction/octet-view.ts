import { latin1Octets, latin1Text } from '../octets/utf8.ts';

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

/** Every encoding that is undone before secrets are looked for; two of them may be nested in one another. */
export const DECODINGS: readonly Decoding[] = [
  percentDecoding,
  backslashDecoding,
  htmlDecoding,
  unwrapping,
  joining,
];

/** Shorter ones are words. */
const BASE64 = /[A-Za-z0-9+/_-]{16,}/g;
const TEXT = /^[\t\n\r -~]*$/;

/** Text in base64 (RFC 4648 §4, §5), group by group of four characters. */
export const base64Decoding: Decoding = (view) => {
  let decoded: Rewriting | null = null;
  for (const { 0: run, index } of latin1Text(view.octets).matchAll(BASE64)) {
    const octets = Buffer.from(run, 'base64');
    if (!TEXT.test(octets.toString('latin1'))) continue;
    decoded ??= new Rewriting(view, view.octets.length);
    for (let group = 0; group * 4 < run.length; group++) {
      const length = Math.min(4, run.length - group * 4);
      decoded.replace(index + group * 4, length, [...octets.subarray(group * 3, group * 3 + 3)]);
    }
  }
  return decoded?.finished() ?? null;
};

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
    const places = introducers.map((introducer) => placesOf(octets, introducer));
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
function placesOf(octets: Uint8Array, octet: number): (from: number) => number {
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
}

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

  replace(from: number, length: number, octets: readonly number[]): void {
    this.#copyUpTo(from);
    const start = this.#length;
    for (const octet of octets) this.#octets[this.#length++] = octet;
    this.#done = from + length;
    this.#replacements.push({ start, end: this.#length, from, to: this.#done });
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
    this.#octets.set(this.#view.octets.subarray(this.#done, end), this.#length);
    this.#length += end - this.#done;
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
    if (at < latest.end) return latest;
    const from = latest.to + (at - latest.end);
    return { from, to: from + 1 };
  }
}

/** null unless all the digits are hexadecimal. */
function hexNumber(octets: Uint8Array, at: number, digits: number): number | null {
  const text = latin1Text(octets.subarray(at, at + digits));
  return text.length === digits && /^[0-9a-f]+$/i.test(text) ? Number.parseInt(text, 16) : null;
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

import { isLatin1, latin1Text } from '../octets/utf8.ts';

/**
 * Finds every occurrence of any of many patterns, and of any long enough fragment of one. A few grams of each pattern
 * are known, so far apart that every fragment that counts holds one of them; where the text has such a gram, it is
 * compared with the pattern on either side. ASCII letters match in either case.
 */
export interface Pattern {
  /** At least six. */
  readonly octets: Uint8Array;
  /** The fewest octets of a fragment that counts; at least six. */
  readonly shortest: number;
}

/** What a text and a pattern share, as long as it goes: in octets of the text, end exclusive. */
export interface Occurrence<P extends Pattern> {
  readonly pattern: P;
  /** The pattern is there from its first octet to its last. */
  readonly whole: boolean;
  readonly start: number;
  readonly end: number;
}

/** Octets of a gram. */
const GRAM = 6;
/** A gram's number has 30 bits, five of them new with each octet; its upper half is looked up first. */
const BITS = 0x3fff_ffff;
const UPPER = 14;

/**
 * Comparisons for each octet of a text, and for any text. A text that needs more repeats itself, as do the patterns:
 * from there on a gram counts as the widest of its patterns, so that no text makes a search last.
 */
const PATIENCE = 64;
const LEAST_PATIENCE = 20_000;

/** ASCII letters in lower case. */
const FOLDED = Uint8Array.from({ length: 256 }, (_, octet) =>
  octet >= 0x41 && octet <= 0x5a ? octet | 0x20 : octet,
);
const SCATTERED = Int32Array.from(FOLDED, (octet) => Math.imul(octet + 1, 0x9e37_79b1));

/** The number of the latest six octets. */
function withOctet(gram: number, octet: number): number {
  return ((gram << 5) + (SCATTERED[octet] ?? 0)) & BITS;
}

/** A pattern that has a gram at `offset`. */
interface Site<P> {
  readonly pattern: P;
  readonly folded: Uint8Array;
  readonly offset: number;
}

/** All patterns that have one gram, and how far the longest of them reach before and after its first octet. */
interface Gram<P> {
  readonly sites: Site<P>[];
  before: number;
  after: number;
}

/** A pattern with its grams, which several searches can share. */
export interface PreparedPattern<P extends Pattern> {
  readonly pattern: P;
  readonly folded: Uint8Array;
  readonly grams: readonly { readonly number: number; readonly offset: number }[];
}

export function preparePattern<P extends Pattern>(pattern: P): PreparedPattern<P> {
  const folded = pattern.octets.map((octet) => FOLDED[octet] ?? 0);
  const grams: { number: number; offset: number }[] = [];
  for (let offset = 0; offset + GRAM <= folded.length; offset += pattern.shortest + 1 - GRAM) {
    let number = 0;
    for (let at = offset; at < offset + GRAM; at++) number = withOctet(number, folded[at] ?? 0);
    grams.push({ number, offset });
  }
  return { pattern, folded, grams };
}

export class FragmentSearch<P extends Pattern> {
  readonly #grams = new Map<number, Gram<P>>();
  /** Whether a gram's number may have sites, by its upper half. */
  readonly #mayHave = new Uint8Array(1 << (30 - UPPER));

  add({ pattern, folded, grams }: PreparedPattern<P>): void {
    for (const { number, offset } of grams) {
      const known = this.#grams.get(number) ?? { sites: [], before: 0, after: 0 };
      known.sites.push({ pattern, folded, offset });
      known.before = Math.max(known.before, offset);
      known.after = Math.max(known.after, folded.length - offset);
      this.#grams.set(number, known);
      this.#mayHave[number >>> UPPER] = 1;
    }
  }

  /** Takes linear time. */
  scan(text: Uint8Array, report: (occurrence: Occurrence<P>) => void): void {
    const mayHave = this.#mayHave;
    const latest = new Map<P, { readonly begin: number; readonly end: number }>();
    let patience = Math.max(LEAST_PATIENCE, PATIENCE * text.length);
    let gram = 0;
    for (let at = 0; at < text.length; at++) {
      gram = withOctet(gram, text[at] ?? 0);
      if (mayHave[gram >>> UPPER] === 0) continue;
      const known = this.#grams.get(gram);
      if (known === undefined) continue;
      const first = at + 1 - GRAM;
      if (patience <= 0) {
        const pattern = known.sites[0]?.pattern;
        const start = Math.max(0, first - known.before);
        const end = Math.min(text.length, first + known.after);
        if (pattern) report({ pattern, whole: false, start, end });
        continue;
      }
      for (const { pattern, folded, offset } of known.sites) {
        patience -= 1;
        const begin = first - offset;
        const before = latest.get(pattern);
        if (before?.begin === begin && at < before.end) continue;
        const { start, end } = shared(text, folded, begin, at);
        patience -= end - start;
        latest.set(pattern, { begin, end });
        if (end - start >= pattern.shortest) {
          report({ pattern, whole: end - start === folded.length, start, end });
        }
      }
    }
  }
}

/** As far as text and pattern are the same around `at`, the pattern lying from `begin` on. */
function shared(text: Uint8Array, folded: Uint8Array, begin: number, at: number) {
  const isSame = (place: number) => FOLDED[text[place] ?? 0] === folded[place - begin];
  const first = Math.max(0, begin);
  const last = Math.min(text.length, begin + folded.length);
  let start = at + 1;
  while (start > first && isSame(start - 1)) start--;
  let end = at + 1;
  while (end < last && isSame(end)) end++;
  return { start, end };
}

/**
 * The octet sequences that give a secret away wherever they stand. Escaped spellings (percent, JSON, HTML) are not
 * among them: text is searched decoded as well (`octet-view.ts`), so that every mixture of escapes is met.
 */
export interface SecretForm {
  readonly octets: Uint8Array;
  /** The form means the same in either letter case (hexadecimal digits). */
  readonly caseless: boolean;
  /** Base64 only: one more character on this side carries some bits of the secret. */
  readonly sharesBefore: boolean;
  readonly sharesAfter: boolean;
}

/**
 * Every form of a value: as it is and reversed, each in base64 and base64url (at each of the three alignments that
 * it can have inside a longer text, and that reversed too) and in hexadecimal; and in UTF-16, which may be in base64.
 */
export function formsOf(value: string): readonly SecretForm[] {
  const plain = [...spellings(value), ...reversals(value)];
  const wide = wideOf(value);
  const forms = [
    ...plain.map(verbatim),
    ...[...plain, ...wide, ...escapedSpellings(value)].flatMap(base64Forms),
    ...plain.map((octets) => ({ ...verbatim(Buffer.from(octets.toString('hex'))), caseless: true })),
    ...[...wide, ...wideOf(reversed(value))].map(verbatim),
  ];
  const distinct = new Map<string, SecretForm>();
  for (const form of forms) {
    const key = latin1Text(form.octets);
    if (!distinct.has(key)) distinct.set(key, form);
  }
  return [...distinct.values()];
}

function verbatim(octets: Uint8Array): SecretForm {
  return { octets, caseless: false, sharesBefore: false, sharesAfter: false };
}

/** UTF-16, of either order. */
function wideOf(text: string): readonly Buffer[] {
  return [Buffer.from(text, 'utf16le'), Buffer.from(text, 'utf16le').swap16()];
}

function spellings(value: string): readonly Buffer[] {
  const utf8 = Buffer.from(value);
  const spelled = [utf8];
  // Field values lose their outer white space on the way, and forms write `+` for a space.
  if (value.trim().length >= 6) spelled.push(Buffer.from(value.trim()));
  if (value.includes(' ')) spelled.push(Buffer.from(value.replaceAll(' ', '+')));
  if (utf8.length !== value.length) {
    // Latin-1 on the wire, and UTF-8 octets that someone took for Latin-1 and encoded again.
    if (isLatin1(value)) spelled.push(Buffer.from(value, 'latin1'));
    spelled.push(Buffer.from(utf8.toString('latin1')));
  }
  return spelled;
}

/** Spellings that may have been encoded in base64 as a whole, where no decoding of ours looks. */
function escapedSpellings(value: string): readonly Buffer[] {
  const percent = percentEncoded(value);
  return [JSON.stringify(value).slice(1, -1), percent, percent.replaceAll('%20', '+')]
    .filter((spelling) => spelling !== value)
    .map((spelling) => Buffer.from(spelling));
}

function reversals(value: string): readonly Buffer[] {
  return [reversed(value), reversed(percentEncoded(value))].map((text) => Buffer.from(text));
}

function reversed(text: string): string {
  return Array.from(text).reverse().join('');
}

function percentEncoded(value: string): string {
  return encodeURIComponent(value.toWellFormed());
}

/** RFC 4648 §4 and §5, at the three alignments: only the characters that the secret alone determines. */
function base64Forms(octets: Buffer): readonly SecretForm[] {
  return [0, 1, 2].flatMap((before) => {
    const text = Buffer.concat([Buffer.alloc(before), octets]).toString('base64');
    const firstBit = before * 8;
    const lastBit = (before + octets.length) * 8;
    const core = text.slice(Math.ceil(firstBit / 6), Math.floor(lastBit / 6));
    const form = {
      octets: Buffer.from(core),
      caseless: false,
      sharesBefore: firstBit % 6 !== 0,
      sharesAfter: lastBit % 6 !== 0,
    };
    const urlSafe = core.replaceAll('+', '-').replaceAll('/', '_');
    const turned = { ...form, sharesBefore: form.sharesAfter, sharesAfter: form.sharesBefore };
    return [
      form,
      { ...form, octets: Buffer.from(urlSafe) },
      // ASCII, so octets are characters.
      ...[core, urlSafe, encodeURIComponent(core)].map((text) => ({
        ...turned,
        octets: Buffer.from(text).reverse(),
      })),
    ];
  });
}

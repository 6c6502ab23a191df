/**
 * Finds every occurrence of any of many patterns, and of any long enough fragment of one. A few grams of each pattern
 * are known, so far apart that every fragment that counts holds one of them; where the text has such a gram, it is
 * compared with the pattern on either side. ASCII letters match in either case.
 */
export interface Pattern {
  /** At least six. */
  readonly octets: Uint8Array;
  /** A fragment of at least so many octets counts; at least six. */
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
 * Comparisons for each octet of a text. Who needs more repeats itself without end, text and pattern both: from there
 * on a gram counts as the whole pattern, so that nobody can make a search last.
 */
const PATIENCE = 256;

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

export class FragmentSearch<P extends Pattern> {
  readonly #sites = new Map<number, Site<P>[]>();
  /** Whether a gram's number may have sites, by its upper half. */
  readonly #mayHave = new Uint8Array(1 << (30 - UPPER));

  add(pattern: P): void {
    const folded = pattern.octets.map((octet) => FOLDED[octet] ?? 0);
    for (let offset = 0; offset + GRAM <= folded.length; offset += pattern.shortest + 1 - GRAM) {
      const gram = folded.subarray(offset, offset + GRAM).reduce(withOctet, 0);
      const site = { pattern, folded, offset };
      const known = this.#sites.get(gram);
      if (known) known.push(site);
      else this.#sites.set(gram, [site]);
      this.#mayHave[gram >>> UPPER] = 1;
    }
  }

  /** Takes linear time. */
  scan(text: Uint8Array, report: (occurrence: Occurrence<P>) => void): void {
    const mayHave = this.#mayHave;
    const latest = new Map<P, { readonly begin: number; readonly end: number }>();
    let patience = PATIENCE * text.length;
    let gram = 0;
    for (let at = 0; at < text.length; at++) {
      gram = withOctet(gram, text[at] ?? 0);
      if (mayHave[gram >>> UPPER] === 0) continue;
      for (const { pattern, folded, offset } of this.#sites.get(gram) ?? []) {
        const begin = at + 1 - GRAM - offset;
        const before = latest.get(pattern);
        if (before?.begin === begin && at < before.end) continue;
        const { start, end } = patience > 0 ? shared(text, folded, begin, at) : clipped(text, folded, begin);
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
  const { start: first, end: last } = clipped(text, folded, begin);
  let start = at + 1;
  while (start > first && isSame(start - 1)) start--;
  let end = at + 1;
  while (end < last && isSame(end)) end++;
  return { start, end };
}

/** All that the pattern can lie on. */
function clipped({ length }: Uint8Array, folded: Uint8Array, begin: number) {
  return { start: Math.max(0, begin), end: Math.min(length, begin + folded.length) };
}

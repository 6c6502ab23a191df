/**
 * Finds, in one pass over octets, every occurrence of any of many patterns and of any long enough fragment of one.
 * A suffix automaton of all patterns (Blumer et al. 1985) follows the longest text that ends at each octet and
 * stands in some pattern; whether that is long enough is known beforehand for each of its states. ASCII letters
 * match in either case.
 */
export interface Pattern {
  readonly octets: Uint8Array;
  /** A fragment of at least so many octets counts. */
  readonly shortest: number;
}

export interface Occurrence {
  /**
   * Indices of the patterns that occur as a whole (several when they differ in letter case alone), or the one
   * whose fragment it is.
   */
  readonly patterns: readonly number[];
  readonly whole: boolean;
  /** In octets, end exclusive. */
  readonly start: number;
  readonly end: number;
}

const ROOT = 0;
const NONE = -1;

export class FragmentAutomaton {
  readonly #edges: EdgeTable;
  readonly #length: Int32Array;
  readonly #link: Int32Array;
  /** Patterns that end in a state, by state. */
  readonly #ending = new Map<number, number[]>();
  /** The state itself or the nearest on its suffix path where a whole pattern ends; ROOT for none. */
  readonly #wholeAt: Int32Array;
  /** The state itself or the nearest on its suffix path whose longest text is long enough; ROOT for none. */
  readonly #partAt: Int32Array;
  /** The shortest length that counts among the patterns a state's texts stand in, and whose pattern it is. */
  readonly #shortest: Int32Array;
  readonly #owner: Int32Array;
  #states = 1;

  constructor(patterns: readonly Pattern[]) {
    const total = patterns.reduce((sum, { octets }) => sum + octets.length, 0);
    // A suffix automaton of n octets has at most 2n states and 3n edges.
    const states = 2 * total + 2;
    this.#edges = new EdgeTable(3 * total + 2);
    this.#length = new Int32Array(states);
    this.#link = new Int32Array(states).fill(NONE);
    this.#wholeAt = new Int32Array(states);
    this.#partAt = new Int32Array(states);
    this.#shortest = new Int32Array(states).fill(0x7fffffff);
    this.#owner = new Int32Array(states).fill(NONE);
    patterns.forEach((pattern, index) => {
      this.#insert(pattern, index);
    });
    this.#assign(patterns);
    this.#settle();
  }

  /**
   * Reports what ends at each octet: the longest whole pattern, and the longest fragment when it is longer.
   * Returns how many edges it followed or gave up: at most two for each octet.
   */
  scan(octets: Uint8Array, report: (occurrence: Occurrence) => void): number {
    let state = ROOT;
    let length = 0;
    let steps = 0;
    for (let at = 0; at < octets.length; at++) {
      const octet = fold(octets[at] ?? 0);
      let next = this.#edges.get(state, octet);
      steps++;
      while (next === NONE && state !== ROOT) {
        state = this.#link[state] ?? ROOT;
        length = this.#length[state] ?? 0;
        next = this.#edges.get(state, octet);
        steps++;
      }
      if (next === NONE) continue;
      state = next;
      length++;
      this.#reportAt(state, length, at + 1, report);
    }
    return steps;
  }

  #reportAt(state: number, length: number, end: number, report: (occurrence: Occurrence) => void): void {
    // Only the longest text of a state can be a pattern, and of its suffixes only those on the suffix path.
    const suffix = this.#link[state] ?? ROOT;
    const whole = (length === this.#length[state] ? this.#wholeAt[state] : this.#wholeAt[suffix]) ?? ROOT;
    const wholeLength = this.#length[whole] ?? 0;
    if (whole !== ROOT) {
      const patterns = this.#ending.get(whole) ?? [];
      report({ patterns, whole: true, start: end - wholeLength, end });
    }
    const longEnough = length >= (this.#shortest[state] ?? 0);
    const part = longEnough ? state : (this.#partAt[suffix] ?? ROOT);
    const partLength = longEnough ? length : (this.#length[part] ?? 0);
    if (part !== ROOT && partLength > wholeLength) {
      report({ patterns: [this.#owner[part] ?? 0], whole: false, start: end - partLength, end });
    }
  }

  #insert(pattern: Pattern, index: number): void {
    let last = ROOT;
    for (const octet of pattern.octets) last = this.#extend(last, fold(octet));
    const ending = this.#ending.get(last);
    if (ending) ending.push(index);
    else this.#ending.set(last, [index]);
  }

  #extend(last: number, octet: number): number {
    const known = this.#edges.get(last, octet);
    if (known !== NONE) {
      return this.#length[known] === (this.#length[last] ?? 0) + 1 ? known : this.#split(last, octet, known);
    }
    const added = this.#states++;
    this.#length[added] = (this.#length[last] ?? 0) + 1;
    let from = last;
    let to = this.#edges.get(from, octet);
    while (from !== NONE && to === NONE) {
      this.#edges.set(from, octet, added);
      from = this.#link[from] ?? NONE;
      to = from === NONE ? NONE : this.#edges.get(from, octet);
    }
    if (from === NONE) this.#link[added] = ROOT;
    else if (this.#length[to] === (this.#length[from] ?? 0) + 1) this.#link[added] = to;
    else this.#link[added] = this.#split(from, octet, to);
    return added;
  }

  /** Gives the shorter texts of `state` a state of their own, since they now stand in more places than the longer. */
  #split(from: number, octet: number, state: number): number {
    const clone = this.#states++;
    this.#length[clone] = (this.#length[from] ?? 0) + 1;
    this.#link[clone] = this.#link[state] ?? ROOT;
    this.#edges.copy(state, clone);
    this.#link[state] = clone;
    for (let at = from; at !== NONE && this.#edges.get(at, octet) === state; at = this.#link[at] ?? NONE) {
      this.#edges.set(at, octet, clone);
    }
    return clone;
  }

  /** Tells every state the most lenient of the patterns that its texts stand in. */
  #assign(patterns: readonly Pattern[]): void {
    const visited = new Int32Array(this.#states).fill(NONE);
    patterns.forEach(({ octets, shortest }, index) => {
      let state = ROOT;
      for (const octet of octets) {
        state = this.#edges.get(state, fold(octet));
        for (let at = state; at !== ROOT && visited[at] !== index; at = this.#link[at] ?? ROOT) {
          visited[at] = index;
          if (shortest < (this.#shortest[at] ?? 0)) {
            this.#shortest[at] = shortest;
            this.#owner[at] = index;
          }
        }
      }
    });
  }

  /** Looks along every suffix path once, so that `scan` need not: shorter texts first, since links lead to those. */
  #settle(): void {
    const byLength = Array.from({ length: this.#states }, (_, state) => state).sort(
      (a, b) => (this.#length[a] ?? 0) - (this.#length[b] ?? 0),
    );
    for (const state of byLength) {
      if (state === ROOT) continue;
      const suffix = this.#link[state] ?? ROOT;
      this.#wholeAt[state] = this.#ending.has(state) ? state : (this.#wholeAt[suffix] ?? ROOT);
      const longEnough = (this.#length[state] ?? 0) >= (this.#shortest[state] ?? 0);
      this.#partAt[state] = longEnough ? state : (this.#partAt[suffix] ?? ROOT);
    }
  }
}

/** ASCII letters in lower case. */
function fold(octet: number): number {
  return octet >= 0x41 && octet <= 0x5a ? octet | 0x20 : octet;
}

/** Edges of a sparse graph over octets: open addressing in flat memory, since a long secret has 10^5 of them. */
class EdgeTable {
  readonly #keys: Int32Array;
  readonly #targets: Int32Array;
  readonly #mask: number;
  readonly #fromRoot = new Int32Array(256).fill(NONE);
  readonly #octets = new Set<number>();

  constructor(edges: number) {
    const size = 2 ** Math.ceil(Math.log2(edges * 2));
    this.#keys = new Int32Array(size).fill(NONE);
    this.#targets = new Int32Array(size);
    this.#mask = size - 1;
  }

  get(state: number, octet: number): number {
    if (state === ROOT) return this.#fromRoot[octet] ?? NONE;
    const slot = this.#slot(state * 256 + octet);
    return this.#keys[slot] === NONE ? NONE : (this.#targets[slot] ?? NONE);
  }

  set(state: number, octet: number, target: number): void {
    this.#octets.add(octet);
    if (state === ROOT) {
      this.#fromRoot[octet] = target;
      return;
    }
    const key = state * 256 + octet;
    const slot = this.#slot(key);
    this.#keys[slot] = key;
    this.#targets[slot] = target;
  }

  copy(from: number, to: number): void {
    for (const octet of this.#octets) {
      const target = this.get(from, octet);
      if (target !== NONE) this.set(to, octet, target);
    }
  }

  /** Where the key is, or the free slot where it would be. */
  #slot(key: number): number {
    let slot = Math.imul(key, 0x9e3779b1) >>> 0;
    slot = (slot ^ (slot >>> 15)) & this.#mask;
    while (this.#keys[slot] !== NONE && this.#keys[slot] !== key) slot = (slot + 1) & this.#mask;
    return slot;
  }
}

import { DEEPEST_JSON, pointerToken } from './shape.ts';

/** In characters; a longer pointer is cut and ends in an ellipsis. */
const LONGEST_POINTER = 1000;

/** An array or object being read. */
interface NestingLevel {
  /** Names so far; null for an array. */
  readonly names: Set<string> | null;
  /** Name or index of the member being read. */
  member: string | number;
}

/**
 * Where a reader of JSON stands: which arrays and objects it is in. However deep they go, their kinds are known; the
 * names and places of members only down to `DEEPEST_JSON`.
 */
export class JsonNesting {
  /** Of each level, whether it is an object. */
  readonly #kinds: boolean[] = [];
  readonly #levels: NestingLevel[] = [];
  #deepest = 0;

  /** 0 outside of all arrays and objects. */
  get depth(): number {
    return this.#kinds.length;
  }

  /** The largest depth so far. */
  get deepest(): number {
    return this.#deepest;
  }

  get inObject(): boolean {
    return this.#kinds.at(-1) === true;
  }

  enter(kind: 'object' | 'array'): void {
    const isObject = kind === 'object';
    this.#kinds.push(isObject);
    this.#deepest = Math.max(this.#deepest, this.depth);
    if (this.depth > DEEPEST_JSON) return;
    this.#levels.push(isObject ? { names: new Set(), member: '' } : { names: null, member: 0 });
  }

  leave(): void {
    if (this.depth <= DEEPEST_JSON) this.#levels.pop();
    this.#kinds.pop();
  }

  /** The next element of the array at hand. */
  nextElement(): void {
    const level = this.#level;
    if (level) level.member = Number(level.member) + 1;
  }

  /** The member of this name of the object at hand; `again` where it had one of that name, as far as names are kept. */
  member(name: string): 'first' | 'again' {
    const level = this.#level;
    if (!level?.names) return 'first';
    level.member = name;
    if (level.names.has(name)) return 'again';
    level.names.add(name);
    return 'first';
  }

  /** JSON Pointer (RFC 6901) of the member at hand, '' outside of all; cut, with an ellipsis, where it is long. */
  pointer(): string {
    const known = this.#levels.map(({ member }) => pointerToken(member)).join('');
    const pointer = this.depth > DEEPEST_JSON ? `${known}/…` : known;
    return pointer.length > LONGEST_POINTER ? `${pointer.slice(0, LONGEST_POINTER)}…` : pointer;
  }

  /** The array or object at hand; undefined outside of all, and below the levels that are looked into. */
  get #level(): NestingLevel | undefined {
    return this.depth > DEEPEST_JSON ? undefined : this.#levels.at(-1);
  }
}

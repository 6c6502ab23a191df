import { pointerToken } from './shape.ts';

/** Levels of arrays and objects down to which names are compared and a value is made. */
export const DEEPEST_JSON = 512;
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
 * names and places of members only down to `DEEPEST_JSON`, so that depth costs an octet a level.
 */
export class JsonNesting {
  readonly #levels: NestingLevel[] = [];
  readonly #deeper = new DeepLevels();
  #deepest = 0;

  /** 0 outside of all arrays and objects. */
  get depth(): number {
    return this.#levels.length + this.#deeper.depth;
  }

  /** The largest depth so far. */
  get deepest(): number {
    return this.#deepest;
  }

  get inObject(): boolean {
    return this.#deeper.depth > 0 ? this.#deeper.inObject : (this.#levels.at(-1)?.names ?? null) !== null;
  }

  enter(kind: 'object' | 'array'): void {
    const isObject = kind === 'object';
    if (this.#levels.length === DEEPEST_JSON) this.#deeper.enter(isObject);
    else this.#levels.push(isObject ? { names: new Set(), member: '' } : { names: null, member: 0 });
    this.#deepest = Math.max(this.#deepest, this.depth);
  }

  leave(): void {
    if (this.#deeper.depth > 0) this.#deeper.leave();
    else this.#levels.pop();
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
    const pointer = this.#deeper.depth > 0 ? `${known}/…` : known;
    return pointer.length > LONGEST_POINTER ? `${pointer.slice(0, LONGEST_POINTER)}…` : pointer;
  }

  /** The array or object at hand; undefined outside of all, and below the levels that are looked into. */
  get #level(): NestingLevel | undefined {
    return this.#deeper.depth > 0 ? undefined : this.#levels.at(-1);
  }
}

/** Which of the levels below `DEEPEST_JSON` are objects: one octet each, however many there are. */
class DeepLevels {
  depth = 0;
  #kinds = new Uint8Array(64);

  get inObject(): boolean {
    return this.#kinds[this.depth - 1] === 1;
  }

  enter(isObject: boolean): void {
    if (this.depth === this.#kinds.length) {
      const larger = new Uint8Array(this.depth * 2);
      larger.set(this.#kinds);
      this.#kinds = larger;
    }
    this.#kinds[this.depth] = isObject ? 1 : 0;
    this.depth++;
  }

  leave(): void {
    this.depth--;
  }
}

/**
 * Where the values of a JSON text stand. An object or an array is looked through when something in it is asked for,
 * and only once. The text is known to be JSON.
 */
export class JsonPlaces {
  readonly #text: string;
  /** Offsets of members and items, by the offset of what they are in. */
  readonly #within = new Map<number, ReadonlyMap<string, number>>();

  constructor(text: string) {
    this.#text = text;
  }

  /** The offset of the value at a pointer, or of the nearest around it. */
  offsetOf(pointer: readonly string[]): number {
    let at = this.#pastSpace(0);
    for (const token of pointer) {
      const inner = this.#membersAt(at).get(token);
      if (inner === undefined) return at;
      at = inner;
    }
    return at;
  }

  #membersAt(start: number): ReadonlyMap<string, number> {
    const known = this.#within.get(start);
    if (known !== undefined) return known;
    const members = new Map<string, number>();
    this.#within.set(start, members);
    const opening = this.#text[start];
    if (opening !== '{' && opening !== '[') return members;
    for (let at = this.#pastSpace(start + 1); !isClosing(this.#text[at]); ) {
      let name = String(members.size);
      if (opening === '{') {
        const end = this.#pastValue(at);
        name = JSON.parse(this.#text.slice(at, end));
        // Past the colon.
        at = this.#pastSpace(this.#pastSpace(end) + 1);
      }
      members.set(name, at);
      at = this.#pastSpace(this.#pastValue(at));
      if (this.#text[at] === ',') at = this.#pastSpace(at + 1);
    }
    return members;
  }

  #pastSpace(at: number): number {
    SPACE.lastIndex = at;
    SPACE.test(this.#text);
    return SPACE.lastIndex;
  }

  #pastValue(start: number): number {
    let depth = 0;
    for (let at = start; ; ) {
      TOKEN.lastIndex = at;
      TOKEN.test(this.#text);
      const first = this.#text[at];
      at = TOKEN.lastIndex;
      if (first === '{' || first === '[') depth += 1;
      else if (isClosing(first)) depth -= 1;
      if (depth === 0) return at;
    }
  }
}

const SPACE = /[ \t\r\n]*/y;
/** A bracket, a string, or what stands between them; outside of brackets that is one number or word. */
const TOKEN = /[{}[\]]|"[^"\\]*(?:\\.[^"\\]*)*"|[^{}[\]",:\s]+|[,:\s]+/y;

function isClosing(char: string | undefined): boolean {
  return char === '}' || char === ']' || char === undefined;
}

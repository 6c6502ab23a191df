import { createHash } from 'node:crypto';

/** What a JSON value looks like, in the words of JSON Schema; equal shapes serialise to equal JSON. */
export interface Shape {
  /** Types seen, sorted: one as a string, several as an array; left out where nothing was seen. */
  readonly type?: string | readonly string[];
  /** Of objects, by name, sorted. */
  readonly properties?: Readonly<Record<string, Shape>>;
  /** Names that every object seen has, sorted. */
  readonly required?: readonly string[];
  /** The digest of the shape of further members of an object, or of levels below the deepest one that is shown. */
  readonly further?: string;
  /** Of arrays: what all their items have in common; left out while every array was empty. */
  readonly items?: Shape;
}

/** Levels of arrays and objects down to which names are compared and a value is made. */
export const DEEPEST_JSON = 512;
/** Levels that are shown by their members and items. */
const DEEPEST_SHOWN = 20;
/** Members of an object that are shown by their names. */
const MOST_MEMBERS = 500;

/**
 * The shape of a parsed JSON value. Items of an array are taken together, so that a list of ten and a list of two look
 * the same; integers are numbers. null for undefined: there is no value.
 */
export function shapeOf(value: unknown): Shape | null {
  if (value === undefined) return null;
  const seen = new SeenValues();
  seen.add(value, 0);
  return seen.shapeAt(0);
}

/** What the values at one place look like; takes linear time, however many there are. */
class SeenValues {
  readonly #types = new Set<string>();
  readonly #members = new Map<string, { readonly values: SeenValues; times: number }>();
  #objects = 0;
  #items: SeenValues | null = null;

  add(value: unknown, depth: number): void {
    if (depth > DEEPEST_JSON) return;
    const type = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
    this.#types.add(type);
    if (Array.isArray(value)) {
      for (const item of value) {
        this.#items ??= new SeenValues();
        this.#items.add(item, depth + 1);
      }
    } else if (typeof value === 'object' && value !== null) {
      this.#objects += 1;
      for (const [name, member] of Object.entries(value)) {
        const known = this.#members.get(name) ?? { values: new SeenValues(), times: 0 };
        this.#members.set(name, known);
        known.values.add(member, depth + 1);
        known.times += 1;
      }
    }
  }

  shapeAt(depth: number): Shape {
    const types = [...this.#types].sort();
    const [only] = types;
    const type = only !== undefined && { type: types.length === 1 ? only : types };
    const inner = {
      ...(this.#objects > 0 && this.#shapeOfObjects(depth + 1)),
      ...(this.#items && { items: this.#items.shapeAt(depth + 1) }),
    };
    // The deepest level that is shown holds the digest of all below.
    const isShown = depth !== DEEPEST_SHOWN || Object.keys(inner).length === 0;
    return { ...type, ...(isShown ? inner : { further: digestOf(inner) }) };
  }

  #shapeOfObjects(depth: number) {
    const all = [...this.#members]
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, { values, times }]) => [name, values.shapeAt(depth), times === this.#objects] as const);
    const shown = all.slice(0, MOST_MEMBERS);
    const further = all.slice(MOST_MEMBERS);
    return {
      properties: Object.fromEntries(shown.map(([name, shape]) => [name, shape])),
      required: shown.filter(([, , isInAll]) => isInAll).map(([name]) => name),
      ...(further.length > 0 && { further: digestOf(further) }),
    };
  }
}

function digestOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex');
}

/** A name or index as a token of a JSON Pointer (RFC 6901 §3), its slash included: `/a~1b`. */
export function pointerToken(member: string | number): string {
  return `/${String(member).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** The name or index that a token of a JSON Pointer stands for (RFC 6901 §4); without the slash: `a~1b`. */
export function tokenMember(token: string): string {
  return token.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** The names and indices of a JSON Pointer; none for '', the whole document. */
export function pointerMembers(pointer: string): readonly string[] {
  return pointer.split('/').slice(1).map(tokenMember);
}

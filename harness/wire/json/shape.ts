/** What a JSON value looks like, in the words of JSON Schema; equal shapes serialise to equal JSON. */
export interface Shape {
  /** Types seen, sorted: one as a string, several as an array; left out where nothing was seen. */
  readonly type?: string | readonly string[];
  /** Of objects, by name, sorted. */
  readonly properties?: Readonly<Record<string, Shape>>;
  /** Names that every object seen has, sorted. */
  readonly required?: readonly string[];
  /** Of arrays: what all their items have in common; left out while every array was empty. */
  readonly items?: Shape;
}

/** Deeper levels are all `{}`. */
const DEEPEST = 20;
const MOST_ITEMS = 500;

/**
 * The shape of a parsed JSON value. Items of an array are taken together, so that a list of ten and a list of two look
 * the same; integers are numbers. null for undefined: there is no value.
 */
export function shapeOf(value: unknown): Shape | null {
  return value === undefined ? null : shapeOfValue(value, 0);
}

function shapeOfValue(value: unknown, depth: number): Shape {
  if (depth > DEEPEST) return {};
  if (value === null) return { type: 'null' };
  if (Array.isArray(value)) {
    const items = value.slice(0, MOST_ITEMS).map((item) => shapeOfValue(item, depth + 1));
    return items.length === 0 ? { type: 'array' } : { type: 'array', items: items.reduce(either) };
  }
  if (typeof value !== 'object') return { type: typeof value };
  const members = Object.entries(value).slice(0, MOST_ITEMS).sort(byName);
  return {
    type: 'object',
    properties: Object.fromEntries(members.map(([name, member]) => [name, shapeOfValue(member, depth + 1)])),
    required: members.map(([name]) => name),
  };
}

/** The shape that covers both. */
function either(one: Shape, other: Shape): Shape {
  const types = [...new Set([one.type ?? [], other.type ?? []].flat())].sort();
  const [only] = types;
  const items = one.items && other.items ? either(one.items, other.items) : (one.items ?? other.items);
  const properties = bothProperties(one.properties, other.properties);
  const required =
    one.required && other.required
      ? one.required.filter((name) => other.required?.includes(name))
      : (one.required ?? other.required);
  return {
    ...(only !== undefined && { type: types.length === 1 ? only : types }),
    ...(properties && { properties }),
    ...(required && { required }),
    ...(items && { items }),
  };
}

type ShapeProperties = Readonly<Record<string, Shape>> | undefined;

function bothProperties(one: ShapeProperties, other: ShapeProperties): ShapeProperties {
  if (!one || !other) return one ?? other;
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])].sort();
  return Object.fromEntries(
    names.flatMap((name) => {
      const [left, right] = [one[name], other[name]];
      const shape = left && right ? either(left, right) : (left ?? right);
      return shape ? [[name, shape] as const] : [];
    }),
  );
}

function byName([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number {
  return one < other ? -1 : one > other ? 1 : 0;
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

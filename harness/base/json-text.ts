/** What a JSON text holds. */

export type JsonObject = Readonly<Record<string, unknown>>;

/** No array, and not null. */
export function isJsonObject(value: unknown): value is JsonObject {
  return hasMembers(value) && !Array.isArray(value);
}

/** An object or an array. */
export function hasMembers(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null;
}

/** The items of an array; none of anything else. */
export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** undefined where it is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** null where it is no JSON, or no object. */
export function parseJsonObject(text: string): JsonObject | null {
  const value = parseJson(text);
  return isJsonObject(value) ? value : null;
}

/** Plain data in which each text, and each name of a member, is another. */
export function withTexts(value: unknown, other: (text: string) => string): unknown {
  if (typeof value === 'string') return other(value);
  if (Array.isArray(value)) return value.map((inner) => withTexts(inner, other));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [other(name), withTexts(inner, other)]),
  );
}

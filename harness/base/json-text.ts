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

/** Bounds of remembered texts: number of values, and UTF-16 units of each and of all. */
export interface MemoryBounds {
  readonly values: number;
  readonly length: number;
  readonly total: number;
}

/** `anew`, with its latest results remembered within these bounds until `version` gives another number. */
export function remembering<T>(
  { values, length, total }: MemoryBounds,
  anew: (text: string) => T,
  version: () => number = () => 0,
): (text: string) => T {
  const results = new Map<string, T>();
  let [known, held] = [0, 0];
  // A new iterator would step over all that was deleted, so one continues from the oldest that is left.
  const oldest = results.keys();
  return (text) => {
    if (text.length > length) return anew(text);
    if (version() !== known) {
      results.clear();
      held = 0;
    }
    known = version();
    const before = results.get(text);
    if (before !== undefined) return before;
    const result = anew(text);
    held += text.length;
    while (results.size > 0 && (results.size >= values || held > total)) {
      const { value = '' } = oldest.next();
      results.delete(value);
      held -= value.length;
    }
    results.set(text, result);
    return result;
  };
}

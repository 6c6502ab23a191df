/** Anything can be thrown; this is what to say of it. */

/** Why, without where it came from. */
export function reasonOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** The same on one line, for what others wrote. */
export function reasonLineOf(thrown: unknown): string {
  return reasonOf(thrown).replaceAll(/\s+/g, ' ').trim();
}

/** `ENOENT`, `EPERM`: the code that the system, Node or a library gives an error; null where it has none. */
export function codeOf(thrown: unknown): string | null {
  return thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : null;
}

/** With the stack, for what nobody foresaw. */
export function traceOf(thrown: unknown): string {
  return thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
}

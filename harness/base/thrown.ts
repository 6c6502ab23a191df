/** Anything can be thrown: how to describe it. */

/** The reason, without the stack. */
export function reasonOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** The same on one line, for messages of other programs. */
export function reasonLineOf(thrown: unknown): string {
  return reasonOf(thrown).replaceAll(/\s+/g, ' ').trim();
}

/** `ENOENT`, `EPERM`: the code that the system, Node or a library gives an error; null if none. */
export function codeOf(thrown: unknown): string | null {
  return thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : null;
}

/** With the stack, for unforeseen errors. */
export function traceOf(thrown: unknown): string {
  return thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
}

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

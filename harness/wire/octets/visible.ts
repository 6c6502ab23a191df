const NAMED: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\0': '\\0' };
/** Control and format characters (bidirectional overrides among them), line separators, lone surrogates. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/**
 * Text from elsewhere as it can be shown on one line: whatever would move the cursor, reorder the line or not
 * be seen is written `\n`, `\x1b`, `\u{202e}`. For people's eyes: a backslash that was there stays single. At most
 * `limit` UTF-16 code units and an ellipsis.
 */
export function visible(text: string, limit = 1000): string {
  const shown = text
    .slice(0, limit)
    .replace(INVISIBLE, (character) => NAMED[character] ?? escaped(character.codePointAt(0) ?? 0));
  const cut = shown.length > limit ? shown.slice(0, limit) : shown;
  return text.length > limit || cut !== shown ? `${cut}…` : cut;
}

function escaped(codePoint: number): string {
  const hex = codePoint.toString(16);
  return codePoint < 0x100 ? `\\x${hex.padStart(2, '0')}` : `\\u{${hex}}`;
}

import { isUtf8 } from 'node:buffer';

/**
 * Text from octets, strictly: octets that are not UTF-8 by RFC 3629 (overlong forms, surrogates, beyond U+10FFFF, cut
 * short) has no text.
 */

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The text, a leading U+FEFF kept; null when the octets are not UTF-8. */
export function decodeUtf8(octets: Uint8Array): string | null {
  try {
    return strict.decode(octets);
  } catch {
    return null;
  }
}

/** The whole characters at the beginning of a longer text; null as soon as what follows them can be none. */
function wholeCharacters(octets: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(octets, { stream: true });
  } catch {
    return null;
  }
}

/** Offset of the first octet of the first sequence that is not UTF-8; null if there is none. */
export function utf8FaultAt(octets: Uint8Array): number | null {
  if (isUtf8(octets)) return null;
  let [right, wrong] = [0, octets.length + 1];
  while (wrong - right > 1) {
    const middle = (right + wrong) >> 1;
    if (wholeCharacters(octets.subarray(0, middle)) === null) wrong = middle;
    else right = middle;
  }
  return Buffer.byteLength(wholeCharacters(octets.subarray(0, right)) ?? '');
}

/** The longest beginning of at most `limit` octets that does not cut a UTF-8 character in two. */
export function utf8Beginning(octets: Uint8Array, limit: number): Uint8Array {
  if (octets.length <= limit) return octets;
  let end = limit;
  while (end > 0 && limit - end < 3 && ((octets[end] ?? 0) & 0xc0) === 0x80) end--;
  return octets.subarray(0, end);
}

/** Octets as text and back, one character for each (ISO 8859-1): how field values are kept. */

/** A character for each octet. */
export function latin1Text(octets: Uint8Array): string {
  return Buffer.from(octets.buffer, octets.byteOffset, octets.byteLength).toString('latin1');
}

/** For text that is latin1. */
export function latin1Octets(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'latin1'));
}

/** Every character is U+00FF or below. */
export function isLatin1(text: string): boolean {
  return Buffer.from(text, 'latin1').toString('latin1') === text;
}

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

/** Percent-encoding (RFC 3986 §2.1) undone; a text that is not encoded so stays as it is. */
export function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

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

import { describe, expect, it } from 'vitest';
import fc from '../../base/fixtures/properties.ts';
import { decodeUtf8, utf8Beginning, utf8FaultAt } from './utf8.ts';

describe('UTF-8', () => {
  it.each([
    ['an overlong form', [0x61, 0xc0, 0xaf], 1],
    ['a surrogate', [0xed, 0xa0, 0x80], 0],
    ['beyond U+10FFFF', [0xf4, 0x90, 0x80, 0x80], 0],
    ['a sequence cut short', [0x61, 0x62, 0xe2, 0x82], 2],
    ['a stray continuation', [0x61, 0x80], 1],
    ['Latin-1', [0x63, 0x61, 0x66, 0xe9, 0x22], 3],
  ])('refuses %s and says where', (_, octets, at) => {
    expect(decodeUtf8(Uint8Array.from(octets))).toBeNull();
    expect(utf8FaultAt(Uint8Array.from(octets))).toBe(at);
  });

  it('keeps a byte order mark', () => {
    expect(decodeUtf8(Uint8Array.of(0xef, 0xbb, 0xbf, 0x7b))).toBe('\ufeff{');
  });

  it('finds a fault exactly where there is no text', () => {
    const octet = fc.constantFrom(
      0x41,
      0x7f,
      0x80,
      0x9f,
      0xa0,
      0xbf,
      0xc2,
      0xe0,
      0xed,
      0xef,
      0xf0,
      0xf4,
      0xf5,
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 8 }), fc.array(octet, { maxLength: 8 }), (some, chosen) => {
        const octets = Uint8Array.from([...some, ...chosen]);
        const at = utf8FaultAt(octets);
        expect(at === null).toBe(decodeUtf8(octets) !== null);
        if (at !== null) expect(decodeUtf8(octets.subarray(0, at))).not.toBeNull();
      }),
      { numRuns: 2000 },
    );
  });

  it('cuts between characters', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.nat(40), (text, limit) => {
        const octets = new Uint8Array(Buffer.from(text));
        const beginning = utf8Beginning(octets, limit);
        expect(beginning.length).toBeLessThanOrEqual(limit);
        expect(beginning.length).toBeGreaterThanOrEqual(Math.min(octets.length, limit - 3));
        expect(decodeUtf8(beginning)).not.toBeNull();
      }),
    );
  });
});

import * as zlib from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { decodeContent } from './content-coding.ts';

const octetsOf = (text: string) => new Uint8Array(Buffer.from(text));
const TEXT = 'the same words, the same words, the same words';

describe('decodeContent', () => {
  it.each([
    ['gzip', zlib.gzipSync],
    ['X-GZIP', zlib.gzipSync],
    ['deflate', zlib.deflateSync],
    ['br', zlib.brotliCompressSync],
    ['zstd', zlib.zstdCompressSync],
    ['identity', octetsOf],
  ])('undoes %s', (coding, encode: (text: string) => Uint8Array) => {
    const { octets, fault } = decodeContent(encode(TEXT), [coding], false);
    expect(fault).toBeNull();
    expect(Buffer.from(octets).toString()).toBe(TEXT);
  });

  it('undoes the last coding first', () => {
    const encoded = zlib.brotliCompressSync(zlib.gzipSync(TEXT));
    expect(Buffer.from(decodeContent(encoded, ['gzip', 'br'], false).octets).toString()).toBe(TEXT);
    expect(Buffer.from(decodeContent(encoded, ['gzip, br'], false).octets).toString()).toBe(TEXT);
  });

  it.each([
    [
      'plain text that claims to be gzip',
      octetsOf(TEXT),
      ['gzip'],
      'content that is not gzip (incorrect header check)',
    ],
    [
      'content that ends too early',
      zlib.gzipSync(TEXT).subarray(0, 30),
      ['gzip'],
      'content that is not gzip',
    ],
  ])('says what is wrong with %s', (_, octets, codings, fault) => {
    const decoded = decodeContent(octets, codings, false);
    expect(decoded.fault).toContain(fault);
    expect(decoded.limit).toBeNull();
    expect(decoded.octets).toHaveLength(0);
  });

  it.each([
    ['a coding that nobody knows', octetsOf(TEXT), ['rot13'], 'not registered or not known'],
    ['a name that every object has', octetsOf(TEXT), ['constructor'], 'not registered or not known'],
    ['too many codings', octetsOf(TEXT), ['gzip, gzip, gzip, gzip'], '4 content codings'],
    ['a bomb', zlib.gzipSync(Buffer.alloc(9 * 1024 * 1024)), ['gzip'], 'expands beyond 8388608 octets'],
  ])('gives up on %s, which may be right', (_, octets, codings, limit) => {
    const decoded = decodeContent(octets, codings, false);
    expect(decoded.limit).toContain(limit);
    expect(decoded.fault).toBeNull();
    expect(decoded.octets).toHaveLength(0);
  });

  it('decodes what was cut as far as it goes', () => {
    for (const [coding, encoded] of [
      ['gzip', zlib.gzipSync(TEXT.repeat(100))],
      ['deflate', zlib.deflateSync(TEXT.repeat(100))],
    ] as const) {
      const { octets, fault } = decodeContent(encoded.subarray(0, encoded.length - 12), [coding], true);
      expect(fault).toBeNull();
      expect(Buffer.from(octets).toString().startsWith(TEXT.slice(0, 10))).toBe(true);
    }
  });

  it('leaves no content and no coding alone', () => {
    expect(decodeContent(new Uint8Array(), ['gzip'], false)).toEqual({
      octets: new Uint8Array(),
      fault: null,
      limit: null,
    });
    expect(decodeContent(octetsOf(TEXT), [], false).octets).toEqual(octetsOf(TEXT));
  });
});

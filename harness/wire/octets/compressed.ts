import * as zlib from 'node:zlib';
import { codeOf } from '../../base/thrown.ts';

/** A bomb hides nothing worth its size. In octets. */
export const LARGEST_CONTENT = 8 * 1024 * 1024;

/** Content that was cut is decoded as far as it goes. */
const cutShort = { finishFlush: zlib.constants.Z_SYNC_FLUSH };
const brotliCutShort = { finishFlush: zlib.constants.BROTLI_OPERATION_FLUSH };
const zstdCutShort = { finishFlush: zlib.constants.ZSTD_e_flush };

/** One way in which octets may be compressed, and whether they begin as such octets do. */
interface Decoder {
  readonly mayBe: (octets: Uint8Array) => boolean;
  readonly decode: (octets: Uint8Array, limit: number) => Uint8Array;
}

const within = (limit: number) => ({ ...cutShort, maxOutputLength: limit });

const DECODERS: readonly Decoder[] = [
  { mayBe: isGzip, decode: (octets, limit) => zlib.gunzipSync(octets, within(limit)) },
  { mayBe: isZlib, decode: (octets, limit) => zlib.inflateSync(octets, within(limit)) },
  { mayBe: isDeflate, decode: (octets, limit) => zlib.inflateRawSync(octets, within(limit)) },
  {
    mayBe: isBrotli,
    decode: (octets, limit) =>
      zlib.brotliDecompressSync(octets, { ...brotliCutShort, maxOutputLength: limit }),
  },
  {
    mayBe: isZstd,
    decode: (octets, limit) => zlib.zstdDecompressSync(octets, { ...zstdCutShort, maxOutputLength: limit }),
  },
];

/** Octets after a gzip stream would be read as another one. */
const GZIP_BEGINNING: Decoder = {
  mayBe: isGzip,
  decode: (octets, limit) => zlib.inflateRawSync(octets.subarray(gzipHeaderLength(octets)), within(limit)),
};

/** RFC 1952 §2.3.1. */
function isGzip([a, b]: Uint8Array): boolean {
  return a === 0x1f && b === 0x8b;
}

/** RFC 8878 §3.1.1. */
function isZstd([a, b, c, d]: Uint8Array): boolean {
  return a === 0x28 && b === 0xb5 && c === 0x2f && d === 0xfd;
}

/** RFC 1950 §2.2. */
function isZlib([method = 0, flags = 0]: Uint8Array): boolean {
  return (method & 0x0f) === 8 && (method * 256 + flags) % 31 === 0;
}

/** RFC 1951 §3.2.3: the type of the first block, and the sizes in its header. */
function isDeflate([first = 0, a = 0, b = 0, c = 0, d = 0]: Uint8Array): boolean {
  const type = (first >> 1) & 3;
  if (type === 0) return (a ^ c) === 0xff && (b ^ d) === 0xff;
  return type === 1 || (type === 2 && first >> 3 <= 29 && (a & 0x1f) <= 29);
}

/** RFC 7932 §9.1: a window of 4 MiB, which encoders choose. */
function isBrotli([first = 0]: Uint8Array): boolean {
  return (first & 0x0f) === 0x0b;
}

/** Everything that octets may be read as when they are compressed in a way that is not named, as far as it goes. */
export function possibleContents(octets: Uint8Array): readonly Uint8Array[] {
  return decodings(octets, DECODERS, LARGEST_CONTENT).flatMap((content) => content ?? []);
}

/** The same within a limit, in octets, where octets begin as such a coding does; null if there is more. */
export function contentsWithin(octets: Uint8Array, limit: number): readonly Uint8Array[] | null {
  const likely = [...DECODERS, GZIP_BEGINNING].filter(({ mayBe }) => mayBe(octets));
  const contents = decodings(octets, likely, limit);
  return contents.every((content) => content !== null) ? contents : null;
}

/** null for content that is longer. */
function decodings(
  octets: Uint8Array,
  decoders: readonly Decoder[],
  limit: number,
): readonly (Uint8Array | null)[] {
  const { stackTraceLimit } = Error;
  // Most attempts fail, and a stack costs more than the attempt.
  Error.stackTraceLimit = 0;
  try {
    return decoders.flatMap(({ decode }) => {
      try {
        const content = decode(octets, limit);
        return content.length > 0 ? [content] : [];
      } catch (error) {
        return codeOf(error) === 'ERR_BUFFER_TOO_LARGE' ? [null] : [];
      }
    });
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** RFC 1952 §2.3; of its optional parts only the name is known. */
function gzipHeaderLength(octets: Uint8Array): number {
  return (octets[3] ?? 0) & 8 ? octets.indexOf(0, 10) + 1 : 10;
}

/** Whether octets begin as a gzip or zstd stream does. */
export function looksCompressed(octets: Uint8Array): boolean {
  return isGzip(octets) || isZstd(octets);
}

/** Whether octets may be the beginning of compressed content, in any coding. */
export function mayBeCompressed(octets: Uint8Array): boolean {
  return DECODERS.some(({ mayBe }) => mayBe(octets));
}

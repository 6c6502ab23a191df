import * as zlib from 'node:zlib';
import { decodeContent } from '../../evidence/exchange/content-coding.ts';
import { listElements } from '../../evidence/fields/grammar/field-grammar.ts';
import type { Redaction } from '../../evidence/redaction/redaction.ts';

type Encode = (octets: Uint8Array) => Uint8Array;

/** The codings that `decodeContent` undoes, by name. */
const ENCODE: Readonly<Record<string, Encode>> = {
  identity: (octets) => octets,
  gzip: (octets) => zlib.gzipSync(octets),
  'x-gzip': (octets) => zlib.gzipSync(octets),
  deflate: (octets) => zlib.deflateSync(octets),
  br: (octets) => zlib.brotliCompressSync(octets),
  zstd: (octets) => zlib.zstdCompressSync(octets),
};

/**
 * Takes secrets out of compressed content, where a search by value does not see them: content whose decoded form
 * holds one is encoded anew without it, in the same codings. All other content stays octet for octet.
 */
export function redactEncoded(
  redaction: Redaction,
  content: Uint8Array,
  contentEncoding: readonly string[],
): Uint8Array {
  const codings = listElements(contentEncoding.join(',')).map((coding) => coding.toLowerCase());
  if (codings.length === 0 || content.length === 0) return content;
  // As far as it goes, since content that breaks off may hold a secret as well as any.
  const decoded = decodeContent(content, contentEncoding, true);
  if (decoded.fault !== null || decoded.limit !== null) return content;
  const redacted = redaction.octets(decoded.octets);
  if (Buffer.compare(redacted, decoded.octets) === 0) return content;
  return codings.reduce(
    (octets, coding) => (ENCODE[coding] ?? ENCODE.identity)?.(octets) ?? octets,
    redacted,
  );
}

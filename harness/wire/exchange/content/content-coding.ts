import * as zlib from 'node:zlib';
import { codeOf, reasonOf } from '../../../base/thrown.ts';
import { listElements } from '../../fields/grammar/field-grammar.ts';
import { LARGEST_CONTENT } from '../../octets/compressed.ts';

/** Content as it is once its codings are undone. */
export interface DecodedContent {
  /** Empty when it cannot be decoded. */
  readonly octets: Uint8Array;
  /** Why the content is not in the coding that its field names, one line; null if it is, or that is unknown. */
  readonly fault: string | null;
  /** Why this decoder gave up on content that may be right, one line; null when it did not. */
  readonly limit: string | null;
}

/** Each coding multiplies the work; no honest server uses more. */
const MOST_CODINGS = 3;

const bound = { maxOutputLength: LARGEST_CONTENT };
/** Content that was cut is decoded as far as it goes. */
const cutShort = { ...bound, finishFlush: zlib.constants.Z_SYNC_FLUSH };
const brotliCutShort = { ...bound, finishFlush: zlib.constants.BROTLI_OPERATION_FLUSH };
const zstdCutShort = { ...bound, finishFlush: zlib.constants.ZSTD_e_flush };

type Decode = (octets: Uint8Array, truncated: boolean) => Uint8Array;

interface ContentCoding {
  readonly decode: Decode;
  readonly encode: (octets: Uint8Array) => Uint8Array;
}

const GZIP: ContentCoding = {
  decode: (octets, truncated) => zlib.gunzipSync(octets, truncated ? cutShort : bound),
  encode: (octets) => zlib.gzipSync(octets),
};

/** RFC 9110 §8.4.1, RFC 7932, RFC 8878, by name. */
const CODINGS = {
  identity: { decode: (octets) => octets, encode: (octets) => octets },
  gzip: GZIP,
  'x-gzip': GZIP,
  deflate: {
    decode: (octets, truncated) => zlib.inflateSync(octets, truncated ? cutShort : bound),
    encode: (octets) => zlib.deflateSync(octets),
  },
  br: {
    decode: (octets, truncated) => zlib.brotliDecompressSync(octets, truncated ? brotliCutShort : bound),
    encode: (octets) => zlib.brotliCompressSync(octets),
  },
  zstd: {
    decode: (octets, truncated) => zlib.zstdDecompressSync(octets, truncated ? zstdCutShort : bound),
    encode: (octets) => zlib.zstdCompressSync(octets),
  },
} satisfies Readonly<Record<string, ContentCoding>>;

/** Octets in these codings, one after the other; those that are not known are left out. */
export function encodeContent(octets: Uint8Array, contentEncoding: readonly string[]): Uint8Array {
  return codingsIn(contentEncoding).reduce(
    (content, name) => codingOf(name)?.encode(content) ?? content,
    octets,
  );
}

function codingsIn(contentEncoding: readonly string[]): readonly string[] {
  return listElements(contentEncoding.join(', ')).map((coding) => coding.toLowerCase());
}

function codingOf(name: string): ContentCoding | undefined {
  const codings: Readonly<Record<string, ContentCoding>> = CODINGS;
  return Object.hasOwn(codings, name) ? codings[name] : undefined;
}

/**
 * Undoes the codings that the Content-Encoding field lines name, the last applied first (RFC 9110 §8.4). No
 * content is in every coding. `truncated`: the end of the content was not read.
 */
export function decodeContent(
  octets: Uint8Array,
  contentEncoding: readonly string[],
  truncated: boolean,
): DecodedContent {
  const codings = codingsIn(contentEncoding);
  if (codings.length === 0 || octets.length === 0) return { octets, fault: null, limit: null };
  const beyond = (limit: string): DecodedContent => ({ octets: new Uint8Array(), fault: null, limit });
  if (codings.length > MOST_CODINGS) {
    return beyond(`it has ${codings.length} content codings, and at most ${MOST_CODINGS} are undone`);
  }
  let content = octets;
  for (const coding of codings.toReversed()) {
    const known = codingOf(coding);
    if (known === undefined)
      return beyond('it has a content coding that is not registered or not known here');
    try {
      content = known.decode(content, truncated);
    } catch (error) {
      const code = codeOf(error);
      if (code === null) throw error;
      if (code === 'ERR_BUFFER_TOO_LARGE') {
        return beyond(`its ${coding} content expands beyond ${LARGEST_CONTENT} octets`);
      }
      const fault = `content that is not ${coding} (${reasonOf(error)})`;
      return { octets: new Uint8Array(), fault, limit: null };
    }
  }
  return { octets: content, fault: null, limit: null };
}

import { createHash } from 'node:crypto';
import { type Dictionary, parseDictionary } from 'structured-headers';
import { visible } from '../../octets/visible.ts';
import { structured } from '../grammar/structured-field.ts';

/** Hash algorithms (RFC 9530 §7.2) that can be tried, each with the name that Node has for it. */
const HASHES: ReadonlyMap<string, string> = new Map([
  ['sha-512', 'sha512'],
  ['sha-256', 'sha256'],
  ['sha', 'sha1'],
  ['md5', 'md5'],
]);

/** Not to be used where somebody may change a message on purpose (RFC 9530 §5). */
const DEPRECATED: ReadonlySet<string> = new Set(['md5', 'sha', 'unixsum', 'unixcksum', 'adler', 'crc32c']);

interface Digests {
  /** By their algorithms; of those that are well formed. */
  readonly values: ReadonlyMap<string, Uint8Array>;
  /** What is wrong with the field, without the digest: that is another one each time. Null when nothing is. */
  readonly fault: string | null;
}

/** Reads Content-Digest or Repr-Digest (RFC 9530 §2, §3): a dictionary of byte sequences. Never throws. */
export function readDigests(value: string): Digests {
  const values = new Map<string, Uint8Array>();
  const dictionary = structured((): Dictionary => parseDictionary(value));
  let fault = dictionary === null ? 'no dictionary of algorithms and digests' : null;
  for (const [algorithm, [digest]] of dictionary ?? []) {
    if (digest instanceof ArrayBuffer) values.set(algorithm, new Uint8Array(digest));
    else fault ??= `${visible(algorithm, 40)} without colons around it`;
  }
  return { values, fault };
}

/** The first algorithm whose digest is not that of the octets; null when there is none. Unknown ones are left alone. */
export function wrongDigest({ values }: Digests, octets: Uint8Array): string | null {
  for (const [algorithm, digest] of values) {
    const hash = HASHES.get(algorithm);
    if (hash !== undefined && !createHash(hash).update(octets).digest().equals(digest)) return algorithm;
  }
  return null;
}

/** The algorithms where each of them is deprecated; null when one is not, or there is none. */
export function weakDigests({ values }: Digests): readonly string[] | null {
  const algorithms = [...values.keys()];
  return algorithms.length > 0 && algorithms.every((each) => DEPRECATED.has(each)) ? algorithms : null;
}

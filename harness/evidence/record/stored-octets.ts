import { decodeUtf8, utf8Beginning } from '../octets/utf8.ts';
import type { RecordReader } from './strict-reader.ts';
import { readNumber, readString } from './strict-reader.ts';

/** Octets as JSON: as text where they are UTF-8, else in base64; `omitted` counts those beyond the limit. */
export interface StoredOctets {
  readonly text?: string;
  readonly base64?: string;
  readonly omitted?: number;
}

/** Stores at most `limit` octets; text is cut between characters. */
export function storeOctets(octets: Uint8Array, limit: number): StoredOctets {
  const kept = utf8Beginning(octets, limit);
  const omitted = octets.length > kept.length ? { omitted: octets.length - kept.length } : {};
  const text = decodeUtf8(kept);
  return text === null ? { base64: Buffer.from(kept).toString('base64'), ...omitted } : { text, ...omitted };
}

/** The octets that are stored in the members `text` or `base64` of a record, and how many are not. */
export function restoreOctets(record: RecordReader): {
  readonly octets: Uint8Array;
  readonly omitted: number;
} {
  const text = record.optional('text', readString);
  const octets =
    text === undefined ? Buffer.from(record.get('base64', readString), 'base64') : Buffer.from(text, 'utf8');
  return { octets: new Uint8Array(octets), omitted: record.optional('omitted', readNumber) ?? 0 };
}

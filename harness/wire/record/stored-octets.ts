import { decodeUtf8, utf8Beginning } from '../octets/utf8.ts';
import { NotOfShape, number, optional, text } from './codec.ts';

/** Members of octets as JSON: text where they are UTF-8, else base64; `omitted` counts those beyond the limit. */
export const STORED_OCTETS = { text: optional(text), base64: optional(text), omitted: optional(number) };

interface StoredOctets {
  readonly text?: string | undefined;
  readonly base64?: string | undefined;
  readonly omitted?: number | undefined;
}

/** Stores at most `limit` octets; text is cut between characters. */
export function storeOctets(octets: Uint8Array, limit: number): StoredOctets {
  const kept = utf8Beginning(octets, limit);
  const omitted = octets.length > kept.length ? { omitted: octets.length - kept.length } : {};
  const text = decodeUtf8(kept);
  return text === null ? { base64: Buffer.from(kept).toString('base64'), ...omitted } : { text, ...omitted };
}

/** @throws NotOfShape where there are none. */
export function restoreOctets({ text, base64 }: StoredOctets): Uint8Array {
  if (text !== undefined) return new Uint8Array(Buffer.from(text, 'utf8'));
  if (base64 !== undefined) return new Uint8Array(Buffer.from(base64, 'base64'));
  throw new NotOfShape('has neither text nor base64');
}

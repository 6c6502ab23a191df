import { visible } from '../../octets/visible.ts';
import { FieldReader, readParameters, trimSpace } from './field-grammar.ts';

/** A media type by RFC 9110 §8.3.1; type, subtype and parameter names are in lower case, as they are compared. */
export interface MediaType {
  readonly type: string;
  readonly subtype: string;
  /** `type/subtype`. */
  readonly essence: string;
  /** Structured syntax suffix (RFC 6839): `json` of `problem+json`; null without one. */
  readonly suffix: string | null;
  /** Values as sent; they may be case-insensitive, as that of `charset` is. */
  readonly parameters: ReadonlyMap<string, string>;
}

export type MediaTypeReading =
  | { readonly mediaType: MediaType; readonly fault: null }
  /** One line that says where the grammar was left. */
  | { readonly mediaType: null; readonly fault: string };

/** Reads one Content-Type field value. A list, as two field lines amount to, is none. */
export function readMediaType(value: string): MediaTypeReading {
  const reader = new FieldReader(trimSpace(value));
  const refuse = (reason: string) => ({ mediaType: null, fault: `${reason} in "${visible(value, 100)}"` });
  const type = reader.token()?.toLowerCase();
  if (type === undefined) return refuse('no type');
  if (!reader.takeChar('/')) return refuse(`no / after ${type}`);
  const subtype = reader.token()?.toLowerCase();
  if (subtype === undefined) return refuse('no subtype');
  const { parameters, fault } = readParameters(reader);
  if (fault !== null) return refuse(visible(fault, 200));
  const plus = subtype.lastIndexOf('+');
  const suffix = plus > 0 ? subtype.slice(plus + 1) : null;
  return { mediaType: { type, subtype, essence: `${type}/${subtype}`, suffix, parameters }, fault: null };
}

/** JSON-RPC over HTTP has names of its own, from before there were suffixes (RFC 6839). */
const JSON_TYPES: ReadonlySet<string> = new Set([
  'application/json',
  'application/json-rpc',
  'application/jsonrequest',
]);

/** `application/json`, or any type with the suffix `+json`; JSON-RPC, too. */
export function isJsonType({ essence, suffix }: MediaType): boolean {
  return suffix === 'json' || JSON_TYPES.has(essence);
}

import type { ClauseKey } from './vocabulary.ts';

/** What a check appeals to. `authority.ts` weighs it for one service. */
export type Ground =
  /** A clause of the contract; `key` is one of the vocabulary. */
  | { readonly kind: 'clause'; readonly key: string }
  /** A section of a standard, e.g. `RFC 9110 §15.5.2`, and how strongly it binds (RFC 2119). */
  | { readonly kind: 'standard'; readonly ref: string; readonly word: RequirementWord }
  /** Security or operating practice, e.g. `OWASP API2:2023`. */
  | { readonly kind: 'practice'; readonly ref: string };

export type RequirementWord = 'MUST' | 'SHOULD' | 'MAY';

export function clause(key: ClauseKey): Ground {
  return { kind: 'clause', key };
}

/** `section` as the RFC numbers it: `15.5.2`, `A.1`. */
export function rfc(number: number, section: string, word: RequirementWord): Ground {
  return { kind: 'standard', ref: `RFC ${number} §${section}`, word };
}

export function practice(name: string): Ground {
  return { kind: 'practice', ref: name };
}

/** RateLimit header fields for HTTP. */
export const quotaFieldsDraft: Ground = practice('draft-ietf-httpapi-ratelimit-headers-11');

type RfcGround = (section: string, word: RequirementWord) => Ground;

/** UTF-8. */
export const rfc3629: RfcGround = (section, word) => rfc(3629, section, word);
/** The WebSocket protocol. */
export const rfc6455: RfcGround = (section, word) => rfc(6455, section, word);
/** Additional HTTP status codes, 429 among them. */
export const rfc6585: RfcGround = (section, word) => rfc(6585, section, word);
/** Compression extensions for WebSocket. */
export const rfc7692: RfcGround = (section, word) => rfc(7692, section, word);
/** JSON. */
export const rfc8259: RfcGround = (section, word) => rfc(8259, section, word);
/** HTTP semantics. */
export const rfc9110: RfcGround = (section, word) => rfc(9110, section, word);
/** HTTP caching. */
export const rfc9111: RfcGround = (section, word) => rfc(9111, section, word);
/** HTTP/1.1. */
export const rfc9112: RfcGround = (section, word) => rfc(9112, section, word);
/** Problem details for HTTP APIs. */
export const rfc9457: RfcGround = (section, word) => rfc(9457, section, word);

import { createHash, createHmac, createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { type JsonObject, parseJsonObject } from '../../base/json-text.ts';

/** A signed token in its compact form (RFC 7515 §7.1), as far as it can be read without a key. */
interface JsonWebToken {
  readonly header: JsonObject;
  /** The claims (RFC 7519 §4). */
  readonly claims: JsonObject;
  /** Header, claims and signature as they are written. */
  readonly parts: readonly [header: string, claims: string, signature: string];
}

const PART = /^[A-Za-z0-9_-]+$/;

function readToken(text: string): JsonWebToken | null {
  const [header = '', claims = '', signature = '', ...more] = text.split('.');
  if (more.length > 0 || ![header, claims, signature].every((part) => PART.test(part))) return null;
  const [head, body] = [header, claims].map((part) =>
    parseJsonObject(Buffer.from(part, 'base64url').toString('utf8')),
  );
  if (!head || !body || typeof head.alg !== 'string') return null;
  return { header: head, claims: body, parts: [header, claims, signature] };
}

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** What services have been found to use in place of a secret. */
const GUESSABLE = 'secret';

/** The prefix of the seed of such a key (RFC 8410 §7). */
const ED25519 = Buffer.from('302e020100300506032b657004220420', 'hex');
/** Of a key that protects nothing: the same in every run, so that a recorded run can be judged again. */
const OWN_SEED = createHash('sha256').update('conform').digest();

/** Tokens with the claims of the right one, or more, without a valid signature (RFC 8725 §2 and §3). */
const FORGERIES = {
  /** RFC 8725 §3.2: no algorithm at all. */
  unsecured: ({ header, parts: [, claims] }: JsonWebToken) =>
    `${part({ ...header, alg: 'none' })}.${claims}.`,
  /** The algorithm is named, and the signature left out. */
  unsigned: ({ parts: [header, claims] }: JsonWebToken) => `${header}.${claims}.`,
  /** Other claims under the signature of the right ones. */
  changed: ({ claims, parts: [header, , signature] }: JsonWebToken) =>
    `${header}.${part({ ...claims, sub: 'conform', admin: true })}.${signature}`,
  /** RFC 8725 §2.1: a secret that is easily guessed. */
  guessed: ({ header, parts: [, claims] }: JsonWebToken) => {
    const input = `${part({ ...header, alg: 'HS256' })}.${claims}`;
    return `${input}.${createHmac('sha256', GUESSABLE).update(input).digest('base64url')}`;
  },
  /** RFC 8725 §3.10: signed with a key that the token itself brings along. */
  'self-certified': ({ header, parts: [, claims] }: JsonWebToken) => {
    const key = createPrivateKey({ key: Buffer.concat([ED25519, OWN_SEED]), format: 'der', type: 'pkcs8' });
    const { kid: _, ...rest } = header;
    const jwk = createPublicKey(key).export({ format: 'jwk' });
    const input = `${part({ ...rest, alg: 'EdDSA', jwk })}.${claims}`;
    return `${input}.${sign(null, Buffer.from(input), key).toString('base64url')}`;
  },
} satisfies Record<string, (token: JsonWebToken) => string>;

export type TokenForgery = keyof typeof FORGERIES;

export function isForgery(kind: string): kind is TokenForgery {
  return Object.hasOwn(FORGERIES, kind);
}

/** A forgery of a key; null where the key is no such token, or the forgery would be the right one. */
export function forged(kind: TokenForgery, key: string): string | null {
  const token = readToken(key);
  const forgery = token && FORGERIES[kind](token);
  return forgery === key ? null : forgery;
}

export function isToken(key: string): boolean {
  return readToken(key) !== null;
}

/** A token with these parts, as it would be signed. */
export function writtenToken(header: JsonObject, claims: JsonObject, signature: Buffer): string {
  return `${part(header)}.${part(claims)}.${signature.toString('base64url')}`;
}

/** When a key says that it ends (RFC 7519 §4.1.4); null where it is no token, or says nothing of it. */
export function expiryOf(key: string): Date | null {
  const seconds = readToken(key)?.claims.exp;
  return typeof seconds === 'number' && Math.abs(seconds) < 1e11 ? new Date(seconds * 1000) : null;
}

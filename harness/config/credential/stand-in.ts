import type { Secret } from '../../base/secret.ts';
import { expiryOf, isToken, writtenToken } from './json-web-token.ts';
import { isCaseless } from './placing.ts';

/** Properties of a secret that checks depend on; they give nothing of the secret away. */
export interface SecretProfile {
  readonly name: string;
  /** `caseless`: in other letters it is the same; `token`: signed (RFC 7519). */
  readonly form: 'text' | 'caseless' | 'token';
  /** When a token says that it ends: ISO 8601, UTC; null where it does not. */
  readonly expiresAt: string | null;
}

export function formOf(secret: Secret): SecretProfile {
  const value = secret.reveal();
  const form = isToken(value) ? 'token' : isCaseless(value) ? 'caseless' : 'text';
  return { name: secret.name, form, expiresAt: expiryOf(value)?.toISOString() ?? null };
}

const PREFIX = 'stands-in-for-';
const HEX_PREFIX = Buffer.from(PREFIX).toString('hex');

/** A placeholder for a secret of this form when a record is judged: the same each time, and no secret. */
export function standInFor({ name, form, expiresAt }: SecretProfile): string {
  const text = `${PREFIX}${name}`;
  if (form === 'text') return text;
  if (form === 'caseless') return Buffer.from(text).toString('hex');
  const ends = expiresAt === null ? {} : { exp: Date.parse(expiresAt) / 1000 };
  return writtenToken({ alg: 'RS256', typ: 'JWT' }, { sub: text, ...ends }, Buffer.from(text));
}

/** Whether a text, no token, was made by `standInFor`. */
export function isStandIn(value: string): boolean {
  return value.startsWith(PREFIX) || value.startsWith(HEX_PREFIX);
}

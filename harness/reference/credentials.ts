import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { ABSENT, type CarriedKey, type Reader } from '../config/credential/carrier.ts';
import type { Credentials, Lender } from '../config/credential/scheme.ts';
import type { FieldLine } from '../wire/exchange.ts';
import { type HttpAnswer, served } from './http/answer.ts';
import { queryParameters, type ReceivedRequest } from './http/message.ts';

/** The three credentials of a realtime application; the secret never travels. */
export interface App {
  readonly id: string;
  readonly key: string;
  readonly secret: string;
}

/** Where in a request a credential may stand; `signature` stands in several parameters of the query. */
export type Placement = Reader | 'signature';

interface AcceptedKey {
  /** Whom the quota is counted for; not secret. */
  readonly identity: string;
  /** As readers read it: the key; for basic authentication `user:password`. */
  readonly value: string;
  /** When it ends, in ms on the provider's clock; left out where it does not. */
  readonly untilMs?: number;
}

/** Who may call, and how. No placement at all: everybody. */
export interface Access {
  /** Protection space named in challenges (RFC 9110 §11.5). */
  readonly realm: string;
  readonly placements: readonly Placement[];
  readonly keys: readonly AcceptedKey[];
  readonly app: App | null;
  /** Who presents none is served as well. */
  readonly isOptional: boolean;
  /** Where keys are given out; null for nowhere. */
  readonly lending: Lending | null;
}

interface Lending {
  readonly path: string;
  answer(request: ReceivedRequest, nowMs: number): HttpAnswer;
}

/**
 * Who may call with these credentials; the one place where they are revealed to the provider. Those of an application
 * open the signature as a further way in.
 */
export function accessBy(realm: string, credentials: Credentials, isOptional = false): Access {
  const { carrier, secret, second, app, lender } = credentials;
  const reader = carrier?.reader ?? null;
  const given = reader === null ? [] : [secret, second].filter((key) => key !== null);
  const keys = given.map((key, index): AcceptedKey => {
    return { identity: `key-${index + 1}`, value: reader?.textOf(key.reveal()) ?? '' };
  });
  return {
    realm,
    placements: [...(reader === null ? [] : [reader]), ...(app === null ? [] : (['signature'] as const))],
    keys,
    app: app && { ...app, secret: app.secret.reveal() },
    isOptional,
    lending: lender && lendingBy(lender, keys),
  };
}

/** All keys given out here belong to one client. */
function lendingBy(lender: Lender, keys: AcceptedKey[]): Lending {
  return {
    path: lender.path,
    answer({ method, fields, body }, nowMs) {
      const lent = lender.lend({ method, fields, body: body.toString('utf8') });
      const { key } = lent;
      if (key) keys.push({ identity: 'client', value: key.value, untilMs: nowMs + key.forMs });
      // RFC 6749 §5.1: no cache may store a token.
      const answer = served(lent.content, [...lent.fields, ['Cache-Control', 'no-store']]);
      return { ...answer, responseKind: 'key-lent', status: lent.status };
    },
  };
}

/** What opened the service once, or opens another one. */

export const REVOKED_KEY = 'example-revoked-key-not-secret';

/** A JSON web token (RFC 7519) with these claims, signed with a secret unknown to the service. */
export function exampleToken(claims: object): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const input = `${part({ alg: 'HS256', typ: 'JWT' })}.${part(claims)}`;
  return `${input}.${createHmac('sha256', 'known-to-nobody').update(input).digest('base64url')}`;
}

export const FOREIGN_TOKEN = exampleToken({ iss: 'https://login.example/', sub: 'client', aud: 'messaging' });

/** What a signature is held to; defects loosen one each. */
export interface SignatureRules {
  /** How far `auth_timestamp` may be from now, either way, in milliseconds. */
  readonly toleranceMs: number;
  /** Content must come with its digest in `body_md5`, and the digest must be right. */
  readonly digestDemanded: boolean;
  readonly signatureMatches: (presented: string, expected: string) => boolean;
  /** What a signature may be over: exactly the request. */
  readonly spellings: (of: SignedText) => readonly SignedText[];
}

interface SignedText {
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly (readonly [string, string])[];
}

/** The published tolerance of the HTTP API: 600 s. */
export const SIGNATURE_RULES: SignatureRules = {
  toleranceMs: 600_000,
  digestDemanded: true,
  signatureMatches: sameText,
  spellings: (of) => [of],
};

/** Compares in a time that does not depend on where the texts differ. */
export function sameText(presented: string, expected: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text, 'latin1').digest();
  return timingSafeEqual(digest(presented), digest(expected));
}

/**
 * HMAC-SHA256 in hex over method, path and the other parameters: names in lower case, sorted,
 * joined as `name=value` with `&`, values not percent-encoded.
 */
export function signatureOf(
  secret: string,
  method: string,
  path: string,
  parameters: Iterable<readonly [string, string]>,
): string {
  const joined = [...parameters]
    .map(([name, value]): readonly [string, string] => [name.toLowerCase(), value])
    .filter(([name]) => name !== 'auth_signature')
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
  return createHmac('sha256', secret).update(`${method.toUpperCase()}\n${path}\n${joined}`).digest('hex');
}

const AUTH_PARAMETERS = ['auth_key', 'auth_timestamp', 'auth_version', 'auth_signature'] as const;

/** True when the request bears a fresh signature by this application over exactly this request. */
export function bearsSignature(
  request: ReceivedRequest,
  app: App,
  rules: SignatureRules,
  nowMs: number,
): boolean {
  const parameters = queryParameters(request.query);
  // A doubled parameter could be signed as one value and read as the other.
  if (AUTH_PARAMETERS.some((name) => parameters.getAll(name).length !== 1)) return false;
  if (!sameText(parameters.get('auth_key') ?? '', app.key)) return false;
  if (parameters.get('auth_version') !== '1.0') return false;
  const timestamp = parameters.get('auth_timestamp') ?? '';
  if (!/^\d{1,12}$/.test(timestamp)) return false;
  if (Math.abs(nowMs - Number(timestamp) * 1000) > rules.toleranceMs) return false;
  if (rules.digestDemanded && !digestIsRight(request.body, parameters.getAll('body_md5'))) return false;
  const signed = { method: request.method, path: request.path, parameters: [...parameters] };
  return rules
    .spellings(signed)
    .map((of) => signatureOf(app.secret, of.method, of.path, of.parameters))
    .some((expected) => rules.signatureMatches(parameters.get('auth_signature') ?? '', expected));
}

function digestIsRight(body: Buffer, digests: readonly string[]): boolean {
  if (body.length === 0 && digests.length === 0) return true;
  const digest = createHash('md5').update(body).digest('hex');
  return digests.length === 1 && sameText(digests.join(), digest);
}

export type Authentication =
  | { readonly admitted: true; readonly identity: string }
  | { readonly admitted: false; readonly reason: 'missing' | 'unreadable' | 'wrong' };

/** How credentials are read and judged; the part of the behavior that authentication defects replace. */
export interface CredentialBehavior {
  /** Whether the scheme name of an Authorization field is the expected one (lower case). */
  readonly schemeMatches: (presented: string, expected: string) => boolean;
  readonly keyMatches: (presented: string, key: string) => boolean;
  readonly signature: SignatureRules;
  /** The last word. */
  readonly authenticate: (
    request: ReceivedRequest,
    access: Access,
    behavior: CredentialBehavior,
    nowMs: number,
  ) => Authentication;
}

function readCredential(
  request: ReceivedRequest,
  placement: Placement,
  behavior: CredentialBehavior,
): CarriedKey {
  if (placement !== 'signature') return placement.read(request, behavior.schemeMatches);
  return queryParameters(request.query).has('auth_key') ? { state: 'present', value: '' } : ABSENT;
}

/**
 * Strict: every placement that is used must carry one readable, right credential, so that a wrong one
 * cannot hide behind a right one.
 */
function authenticate(
  request: ReceivedRequest,
  access: Access,
  behavior: CredentialBehavior,
  nowMs: number,
): Authentication {
  if (access.placements.length === 0) return ANONYMOUS;
  const identities: string[] = [];
  for (const placement of access.placements) {
    const presented = readCredential(request, placement, behavior);
    if (presented.state === 'absent') continue;
    if (presented.state === 'unreadable') return { admitted: false, reason: 'unreadable' };
    if (placement === 'signature') {
      if (access.app === null || !bearsSignature(request, access.app, behavior.signature, nowMs))
        return { admitted: false, reason: 'wrong' };
      identities.push(`app-${access.app.id}`);
      continue;
    }
    const key = access.keys.find(
      ({ value, untilMs = Number.POSITIVE_INFINITY }) =>
        nowMs < untilMs && behavior.keyMatches(presented.value, value),
    );
    if (key === undefined)
      return { admitted: false, reason: presented.value === '' ? 'unreadable' : 'wrong' };
    identities.push(key.identity);
  }
  const [identity] = identities;
  if (identity !== undefined) return { admitted: true, identity };
  return access.isOptional ? ANONYMOUS : { admitted: false, reason: 'missing' };
}

const ANONYMOUS: Authentication = { admitted: true, identity: 'anonymous' };

export const CONFORMING_CREDENTIALS: CredentialBehavior = {
  schemeMatches: (presented, expected) => presented.toLowerCase() === expected,
  keyMatches: sameText,
  signature: SIGNATURE_RULES,
  authenticate,
};

export function challenges(access: Access, reason: 'missing' | 'unreadable' | 'wrong'): readonly FieldLine[] {
  const values = access.placements.map((placement) =>
    placement === 'signature'
      ? `AppSignature realm="${access.realm}"`
      : placement.challenge(access.realm, reason),
  );
  return [...new Set(values)].map((value): FieldLine => ['WWW-Authenticate', value]);
}

/** Which request fields an authorised answer depends on, for Vary. */
export function credentialFields(access: Access): readonly string[] {
  const names = access.placements.flatMap((placement) =>
    placement === 'signature' ? [] : [placement.field],
  );
  return [...new Set(names.filter((name) => name !== null))];
}

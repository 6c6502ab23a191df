import type { Credentials } from '../../config/service.ts';
import { type HttpRequest, withoutQuery, withQuery } from '../../credential/request.ts';
import type { Secret } from '../../credential/secret.ts';
import type { FieldLine } from '../../evidence/exchange.ts';
import { latin1Text } from '../../evidence/octets/latin1.ts';
import { HarnessError } from '../../exit.ts';
import { signRequest } from './signing.ts';

/** What signing depends on; the other schemes ignore it. */
export interface PlacingMoment {
  readonly at: Date;
  /** Path of the base URL, without a trailing slash. */
  readonly pathPrefix?: string;
}

/** A place where a key can travel as it is. */
export type KeyPlace =
  | { readonly in: 'header'; readonly name: string }
  /** Behind the scheme Bearer. */
  | { readonly in: 'authorization'; readonly name: 'Authorization' }
  | { readonly in: 'query'; readonly name: string };

/**
 * The request with the configured credential in its place, instead of any that was there; with `none`, without any.
 * @throws HarnessError when there is no second credential.
 */
export function placeCredential(
  credentials: Credentials,
  use: 'right' | 'second' | 'none',
  request: HttpRequest,
  moment: PlacingMoment,
): HttpRequest {
  if (use === 'none' || credentials.scheme === 'none') return withoutCredential(credentials, request);
  const secret = use === 'right' ? credentialSecret(credentials) : credentials.secondKey;
  if (!secret) throw new HarnessError('no second credential is configured');
  return withCredentialValue(credentials, secret.reveal(), request, moment);
}

/** The request with this value where the configured key (or password, or signing secret) would be. */
export function withCredentialValue(
  credentials: Credentials,
  value: string,
  request: HttpRequest,
  moment: PlacingMoment,
): HttpRequest {
  const bare = withoutCredential(credentials, request);
  switch (credentials.scheme) {
    case 'none':
      return bare;
    case 'bearer':
      return withField(bare, ['Authorization', `Bearer ${wireText(value)}`]);
    case 'basic':
      return withField(bare, ['Authorization', `Basic ${basicToken(credentials.username, value)}`]);
    case 'header':
      return withField(bare, [credentials.name, wireText(value)]);
    case 'query':
      return { ...bare, target: withQuery(bare.target, [[credentials.name, value]]) };
    case 'signed':
      return signRequest({ key: credentials.app.key, secret: value }, bare, moment);
  }
}

/** The request with this key in a place of the caller's choice. */
export function withKeyAt(place: KeyPlace, value: string, request: HttpRequest): HttpRequest {
  switch (place.in) {
    case 'header':
      return withField(request, [place.name, wireText(value)]);
    case 'authorization':
      return withField(request, [place.name, `Bearer ${wireText(value)}`]);
    case 'query':
      return { ...request, target: withQuery(request.target, [[place.name, value]]) };
  }
}

/** The request without what the configured scheme, or the Authorization field, would carry. */
function withoutCredential(credentials: Credentials, request: HttpRequest): HttpRequest {
  const names = [
    'authorization',
    ...(credentials.scheme === 'header' ? [credentials.name.toLowerCase()] : []),
  ];
  const fields = request.fields.filter(([name]) => !names.includes(name.toLowerCase()));
  const target = queryNames(credentials).reduce(withoutQuery, request.target);
  return { ...request, fields, target };
}

/** The secret that a configured credential rests on; null for scheme `none`. */
export function credentialSecret(credentials: Credentials): Secret | null {
  switch (credentials.scheme) {
    case 'none':
      return null;
    case 'basic':
      return credentials.password;
    case 'signed':
      return credentials.app.secret;
    default:
      return credentials.key;
  }
}

/** RFC 7617 §2, with UTF-8 as its charset (§2.1). */
export function basicToken(username: string, password: string): string {
  return Buffer.from(`${username}:${password}`).toString('base64');
}

/** Text as a field value carries it: one character for each octet of its UTF-8. */
export function wireText(text: string): string {
  return latin1Text(Buffer.from(text));
}

const SIGNING_PARAMETERS = ['auth_key', 'auth_timestamp', 'auth_version', 'body_md5', 'auth_signature'];

function queryNames(credentials: Credentials): readonly string[] {
  if (credentials.scheme === 'query') return [credentials.name];
  return credentials.scheme === 'signed' ? SIGNING_PARAMETERS : [];
}

function withField(request: HttpRequest, field: FieldLine): HttpRequest {
  return { ...request, fields: [...request.fields, field] };
}

import { createHmac } from 'node:crypto';

/** What opened the service once, or opens another one. */

export const REVOKED_KEY = 'example-revoked-key-not-secret';

/** A JSON web token (RFC 7519) that says this, signed with a secret that nobody knows. */
export function exampleToken(claims: object): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const input = `${part({ alg: 'HS256', typ: 'JWT' })}.${part(claims)}`;
  return `${input}.${createHmac('sha256', 'known-to-nobody').update(input).digest('base64url')}`;
}

export const FOREIGN_TOKEN = exampleToken({
  iss: 'https://login.example/',
  sub: 'client',
  aud: 'messaging',
});

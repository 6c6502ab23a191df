import { bearerField } from '../carrier.ts';
import { KEYED } from '../keys.ts';
import {
  isAuthorizationKey,
  keyLines,
  ofOneVariable,
  type SecurityScheme,
  scheme,
  shippedKey,
} from '../scheme.ts';

/** RFC 6750 §2.1. */
export const bearer = scheme({
  name: 'bearer',
  summary: 'Authorization: Bearer KEY',
  keys: KEYED,
  use: () => ({ carrier: bearerField }),
  // The documents' bearer sample is what the config says too: no contradiction is left.
  facts: { 'auth.sample': { field: 'Authorization', value: 'Bearer <API_KEY>' } },
  opens: asksForBearer,
  first: ofOneVariable(keyLines),
  proof: { setting: 'bearer', words: null, conforming: ['search', 'realtime'], values: shippedKey },
});

/** OAuth 2.0 access tokens are bearer tokens (RFC 6750). */
export function asksForBearer(demand: SecurityScheme): boolean {
  const { type, scheme: word } = demand;
  return (
    /^(?:oauth2|openIdConnect)$/.test(type) ||
    (type === 'http' && word === 'bearer') ||
    isAuthorizationKey(demand)
  );
}

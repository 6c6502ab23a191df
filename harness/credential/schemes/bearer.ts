import { bearerField } from '../carrier.ts';
import { keyLines, ofOneVariable } from '../first-use.ts';
import { KEYED } from '../keys.ts';
import { isAuthorizationKey, scheme, shippedKey } from '../scheme.ts';

/** RFC 6750 §2.1. */
export const bearer = scheme({
  name: 'bearer',
  summary: 'Authorization: Bearer KEY',
  keys: KEYED,
  use: () => ({ carrier: bearerField }),
  // The documents' bearer sample is what the config says too: no contradiction is left.
  facts: { 'auth.sample': { field: 'Authorization', value: 'Bearer <API_KEY>' } },
  // OAuth 2.0 access tokens are bearer tokens (RFC 6750).
  opens: (demand) =>
    /^(?:oauth2|openIdConnect)$/.test(demand.type) ||
    (demand.type === 'http' && demand.scheme === 'bearer') ||
    isAuthorizationKey(demand),
  first: ofOneVariable(keyLines),
  proof: { setting: 'bearer', words: null, conforming: ['search', 'realtime'], values: shippedKey },
});

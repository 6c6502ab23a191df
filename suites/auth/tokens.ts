import {
  type CheckDefinition,
  check,
  credentialed,
  practice,
  rfc,
} from '../../harness/engine/check/suite.ts';
import { ordinary, refuses, truncatedCredential } from './bad-credentials.ts';
import * as token from './stimuli/token.ts';

/** Where a cut signature is taken nobody verifies any. */
const verifying = [...ordinary, truncatedCredential];

/** How far clocks may be apart, in ms; many services allow 5 minutes. */
const LEEWAY_MS = 10 * 60_000;

/** Where the key is a signed token: only who may sign decides what it says. */
export const tokens: readonly CheckDefinition[] = [
  // RFC 8725 §3.2: none is no algorithm to be accepted; RFC 7519 §7.2: the signature is verified.
  refuses('auth.unsigned-token', token.unsignedTokens, {
    what: 'a token without a signature',
    why: 'Anyone can write such a token, and be whoever they like.',
    change: 'Set the algorithms that you accept in your JWT library, and never none.',
    accept: [400, 401, 403],
    grounds: [practice('RFC 8725 §3.2')],
    restsOn: verifying,
  }),
  refuses('auth.changed-token', token.changedToken, {
    what: 'a token with changed claims',
    why: 'The claims say who the client is. If they are not protected, everybody is an administrator.',
    change: 'Verify the signature before you read the claims: verify, not decode.',
    accept: [400, 401, 403],
    grounds: [practice('RFC 8725 §3.3')],
  }),
  refuses('auth.guessed-token', token.guessedToken, {
    what: 'a token signed with the word secret',
    why: 'A secret that stands in every example lets anyone sign tokens for your service.',
    change: 'Use a long random secret, and accept only the algorithm that you sign with.',
    accept: [400, 401, 403],
    grounds: [practice('RFC 8725 §3.5')],
    restsOn: verifying,
  }),
  refuses('auth.self-certified-token', token.selfCertifiedToken, {
    what: 'a token that brings its own key along',
    why: 'Whoever may choose the key that verifies a token can sign any token.',
    change: 'Ignore jwk, jku and x5u in the header of tokens. Verify with the keys of your issuer alone.',
    accept: [400, 401, 403],
    grounds: [practice('RFC 8725 §3.10')],
    restsOn: verifying,
  }),

  // RFC 7519 §4.1.4: a token must not be accepted on or after its expiration time.
  check('auth.expired-token', {
    title: 'serves no token that has expired',
    headline: 'The API accepts a token that has expired: {got}',
    why: 'A stolen or forgotten token works for ever.',
    change: 'Check exp when you verify a token, with a few minutes of leeway at most.',
    grounds: [rfc(7519, '4.1.4', 'MUST')],
    applies: [credentialed],
    uses: [token.tokenOverdue],
    async judge({ probe, violated }) {
      const overdueMs = (await probe(token.tokenOverdue)) ?? 0;
      if (overdueMs <= LEEWAY_MS) return;
      violated('a token to be refused once it has expired', 'one accepted more than 10 minutes later');
    },
  }),
];

import {
  type Condition,
  check,
  clause,
  credentialed,
  given,
  observation,
  type Probe,
  practice,
  pusherDialect,
  type Reply,
  rfc,
  signed,
  unsafeMethods,
} from '../../harness/engine/check/suite.ts';
import {
  missingCredential,
  ordinary,
  refusalClass,
  refuses,
  truncatedCredential,
  wrongCredential,
} from './bad-credentials.ts';
import * as credential from './stimuli/credential.ts';
import * as signature from './stimuli/signature.ts';

const grounds = [clause('auth.scheme'), practice('OWASP API2:2023')];

/** `what` completes "refuses a request that was signed for …" and "A request signed for … gets status 200". */
const holdsTo = (
  id: string,
  what: string,
  probe: Probe<Reply>,
  options: { readonly applies?: readonly Condition[] } = {},
) =>
  check(id, {
    title: `refuses a request that was signed for ${what}`,
    headline: `A request signed for ${what} gets {answer}`,
    why: 'What a signature does not cover can be changed by anyone between the client and the service.',
    change:
      'Compute the signature over method, path, query and a digest of the body, and compare it with the one sent.',
    grounds,
    restsOn: [refusalClass, missingCredential, wrongCredential],
    ...options,
    uses: [probe],
    judge: ({ expect }) => expect().toHaveStatus(400, 401, 403),
  });

/** If a cut signature is accepted, no signature is verified. */
const verifying = [...ordinary, truncatedCredential];

/** How far clocks may be apart, in ms; many services allow 5 minutes. */
const LEEWAY_MS = 10 * 60_000;

/** Where the key is a signed token: only who may sign decides what it says. */
export const tokens = [
  // RFC 8725 §3.2: none is no algorithm to be accepted; RFC 7519 §7.2: the signature is verified.
  refuses('auth.unsigned-token', credential.unsignedTokens, {
    what: 'a token without a signature',
    why: 'Anyone can write such a token, and be whoever they like.',
    change: 'Set the algorithms that you accept in your JWT library, and never none.',
    accept: [400, 401, 403],
    grounds: [practice('RFC 8725 §3.2')],
    restsOn: verifying,
  }),
  refuses('auth.changed-token', credential.changedToken, {
    what: 'a token with changed claims',
    why: 'The claims say who the client is. If they are not protected, everybody is an administrator.',
    change: 'Verify the signature before you read the claims: verify, not decode.',
    accept: [400, 401, 403],
    grounds: [practice('RFC 8725 §3.3')],
  }),
  refuses('auth.guessed-token', credential.guessedToken, {
    what: 'a token signed with the word secret',
    why: 'A secret that stands in every example lets anyone sign tokens for your service.',
    change: 'Use a long random secret, and accept only the algorithm that you sign with.',
    accept: [400, 401, 403],
    grounds: [practice('RFC 8725 §3.5')],
    restsOn: verifying,
  }),
  refuses('auth.self-certified-token', credential.selfCertifiedToken, {
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
    uses: [credential.tokenOverdue],
    async judge({ probe, violated }) {
      if ((await probe(credential.tokenOverdue)) <= LEEWAY_MS) return;
      violated('a token to be refused once it has expired', 'one accepted more than 10 minutes later');
    },
  }),
];

/** A signature speaks for one request at one time; `auth.wrong-credential` is its wrong secret. */
export const signatures = given(
  [signed],
  [
    // auth.scheme: what is signed is what is asked.
    holdsTo('auth.signed-method', 'another method', signature.signedForOtherMethod),
    holdsTo('auth.signed-path', 'another path', signature.signedForOtherPath),
    holdsTo('auth.signed-query', 'fewer parameters', signature.signedForOtherQuery),
    holdsTo('auth.signed-content', 'other content', signature.signedForOtherContent, {
      applies: [pusherDialect, unsafeMethods],
    }),

    check('auth.signed-stale', {
      title: 'refuses a signature that is an hour old',
      headline: 'A signature that is an hour old gets {answer}',
      why: 'Whoever records one signed request can send it again at any time.',
      change: 'Check the signed timestamp, and refuse what is older than a few minutes.',
      grounds,
      uses: [signature.staleSignature],
      judge: ({ expect }) => expect().toHaveStatus(400, 401, 403),
    }),

    // auth.usage does not show whether a signature may come twice.
    observation('auth.signed-replay', {
      title: 'accepts the same signature twice, or refuses it the second time',
      why: 'A signature that works twice lets anyone who recorded a request send it again.',
      grounds: [clause('auth.usage')],
      uses: [signature.replayedSignature],
      async observe({ probe }) {
        const { served, response } = await probe(signature.replayedSignature);
        const note = served
          ? 'a replayed request is served'
          : `a replayed request is refused with ${response.status}`;
        return { seen: served, note };
      },
    }),
  ],
);

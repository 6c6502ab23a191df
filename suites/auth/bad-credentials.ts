import { type CheckDefinition, check } from '../../harness/check/check.ts';
import { credentialed, hasSecondKey, inAuthorizationField } from '../../harness/check/requirement.ts';
import { clause, practice, rfc9110 } from '../../harness/contract/ground.ts';
import type { Reply } from '../../harness/evidence/exchange/reply.ts';
import * as credential from '../../harness/probe/request/credential.ts';
import { secondKeySample } from '../../harness/probe/request/second-key.ts';
import type { Probe } from '../../harness/session.ts';

/** A present but wrong credential may be answered 403 as well (RFC 9110 §15.5.4). */
const REFUSED = [401, 403] as const;
/** An oversized or malformed credential may be refused as a bad request before anybody looks at it, in the query too. */
const REFUSED_OR_BAD = [400, 401, 403, 414, 431] as const;

export const badCredentials: readonly CheckDefinition[] = [
  // RFC 9110 §15.5.2: 401 says that valid credentials are lacking.
  check(
    'auth.missing-credential',
    {
      title: 'refuses a request without a credential with 401',
      grounds: [clause('auth.scheme'), rfc9110('15.5.2', 'MUST')],
      applies: [credentialed],
      provenBy: ['accepts-missing-key', 'refusal-is-404'],
    },
    async ({ probe, expect }) => {
      expect(await probe(credential.withoutCredential)).toHaveStatus(401);
    },
  ),

  refuses('auth.wrong-credential', 'a wrong key', credential.wrongCredential, REFUSED, [
    'accepts-any-key',
    'wrong-key-is-500',
    'accepts-any-signature',
  ]),
  refuses('auth.empty-credential', 'an empty key', credential.emptyCredential, REFUSED_OR_BAD, [
    'accepts-empty-key',
  ]),
  refuses('auth.truncated-credential', 'a key cut short', credential.truncatedCredential, REFUSED, [
    'accepts-key-prefix',
  ]),
  refuses(
    'auth.extended-credential',
    'the key with something behind it',
    credential.extendedCredential,
    REFUSED,
    ['accepts-key-with-suffix'],
  ),
  refuses(
    'auth.case-flipped-credential',
    'the key in other letter case',
    credential.caseFlippedCredential,
    REFUSED,
    ['accepts-key-case-insensitively'],
  ),
  refuses(
    'auth.non-ascii-credential',
    'a key in another script in good order',
    credential.nonAsciiCredential,
    REFUSED_OR_BAD,
    ['accepts-any-key'],
  ),
  refuses(
    'auth.quoted-credential',
    'a key with quotes in good order',
    credential.quotedCredential,
    REFUSED_OR_BAD,
    ['accepts-any-key'],
  ),
  refuses(
    'auth.oversized-credential',
    'a 9 KiB key in good order',
    credential.oversizedCredential,
    REFUSED_OR_BAD,
    ['accepts-any-key'],
  ),

  // Accepting the key under whatever scheme name hides mistakes of clients and widens what proxies must guard.
  check(
    'auth.other-scheme',
    {
      title: 'refuses the right key under another authentication scheme',
      grounds: [practice('OWASP API2:2023')],
      applies: [inAuthorizationField],
      provenBy: ['accepts-any-scheme'],
    },
    async ({ probe, expect }) => {
      expect(await probe(credential.otherScheme)).toHaveStatus(...REFUSED_OR_BAD);
    },
  ),

  // RFC 9110 §11.1: the authentication scheme is a case-insensitive token.
  check(
    'auth.scheme-case',
    {
      title: 'takes the scheme name in any letter case',
      grounds: [rfc9110('11.1', 'MUST')],
      applies: [inAuthorizationField],
      provenBy: ['scheme-case-sensitive'],
    },
    async ({ probe, expect, blocked }) => {
      const reply = await probe(credential.lowerCaseScheme);
      if (reply.answered && reply.response.statusClass === 5)
        return blocked('the request failed for another reason');
      expect(reply).toHaveStatusClass(2);
    },
  ),

  check(
    'auth.second-key',
    {
      title: 'serves the second key as well',
      grounds: [clause('auth.scheme')],
      applies: [hasSecondKey],
      provenBy: ['refuses-second-key'],
    },
    async ({ probe, expect }) => {
      expect(await probe(secondKeySample)).toHaveStatusClass(2);
    },
  ),
];

/** Not the right credential, whatever it looks like: it opens nothing. */
function refuses(
  id: string,
  what: string,
  stimulus: Probe<Reply>,
  accepted: readonly number[],
  defects: readonly [string, ...string[]],
): CheckDefinition {
  return check(
    id,
    {
      title: `refuses ${what}`,
      grounds: [clause('auth.scheme')],
      applies: [credentialed],
      provenBy: defects,
    },
    async ({ probe, expect, blocked }) => {
      expect(await probe(stimulus)).toHaveStatus(...accepted);
      const { exchange } = await probe(credential.rightAfterWrong);
      const status = exchange.response?.status ?? 0;
      if (status !== 401 && status !== 403) return;
      blocked(
        `the right credential is refused as well after the wrong ones (status ${status}): the client may be shut out, so this proves nothing`,
      );
    },
  );
}

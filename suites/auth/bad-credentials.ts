import {
  type CheckDefinition,
  check,
  clause,
  credentialed,
  inAuthorizationField,
  type Probe,
  practice,
  type Reply,
  rfc9110,
  secondKey,
} from '../../harness/check/suite.ts';
import * as credential from '../../harness/probe/request/credential.ts';

/** RFC 9110 §15.5.4: who understands a request and refuses it may say 403, to a missing credential too. */
const REFUSED = [401, 403] as const;
/** An oversized or malformed credential may be refused as a bad request before anybody looks at it, in the query too. */
const REFUSED_OR_BAD = [400, 401, 403, 414, 431] as const;

interface BadCredential {
  readonly id: string;
  /** Completes "refuses …". */
  readonly what: string;
  readonly probe: Probe<Reply>;
  /** Statuses that will do. Default: those of a credential that is wrong and no more. */
  readonly accept?: readonly number[];
  readonly restsOn: readonly CheckDefinition[];
  /** Its name in `errors.codes`, which may say more. */
  readonly condition?: 'wrongCredential';
}

/** Not the right credential, whatever it looks like: it opens nothing. */
const refuses = ({ id, what, probe, accept = REFUSED, restsOn, condition }: BadCredential) =>
  check(id, {
    title: `refuses ${what}`,
    grounds: [...(condition ? [clause('errors.codes')] : []), clause('auth.scheme')],
    applies: [credentialed],
    restsOn,
    async judge({ expect, probe: ask, blocked, documentedStatus }) {
      const documented = condition === undefined ? null : documentedStatus(condition);
      await expect(probe).toHaveStatus(...(documented ?? accept));
      const { status } = await ask(credential.rightAfterWrong);
      if (status !== 401 && status !== 403) return;
      blocked(
        `the right credential is refused as well after the wrong ones (status ${status}): the client may be shut out, so this proves nothing`,
      );
    },
  });

// responses.status-codes: whoever lacks the right credential is at fault, and nobody else.
export const refusalClass = check('auth.refusal-class', {
  title: 'refuses a missing or wrong credential with a client error: no redirect, no 5xx',
  grounds: [clause('auth.scheme'), clause('responses.status-codes')],
  applies: [credentialed],
  async judge({ probe, expect, blocked }) {
    const replies = [await probe(credential.withoutCredential), await probe(credential.wrongCredential)];
    const refusals = replies.filter(({ served }) => !served);
    if (refusals.length === 0) blocked('no refusal to judge: a missing and a wrong credential are served');
    await expect(refusals).toHaveStatusClass(4);
  },
});

// RFC 9110 §15.5.2 and §15.5.4: which of the two it is, `errors.codes` may say.
export const missingCredential = check('auth.missing-credential', {
  title: 'refuses a request without a credential',
  grounds: [clause('errors.codes'), clause('auth.scheme')],
  applies: [credentialed],
  restsOn: [refusalClass],
  judge: ({ expect, documentedStatus }) =>
    expect(credential.withoutCredential).toHaveStatus(...(documentedStatus('missingCredential') ?? REFUSED)),
});

// auth.scheme: each request carries the credential, and no other one will do.
export const wrongCredential = refuses({
  id: 'auth.wrong-credential',
  what: 'a wrong key',
  probe: credential.wrongCredential,
  condition: 'wrongCredential',
  restsOn: [refusalClass, missingCredential],
});

const ordinary = [refusalClass, missingCredential, wrongCredential];

const truncatedCredential = refuses({
  id: 'auth.truncated-credential',
  what: 'a key cut short',
  probe: credential.truncatedCredential,
  restsOn: ordinary,
});

export const badCredentials: readonly CheckDefinition[] = [
  missingCredential,
  wrongCredential,
  refuses({
    id: 'auth.empty-credential',
    what: 'an empty key',
    probe: credential.emptyCredential,
    accept: REFUSED_OR_BAD,
    restsOn: ordinary,
  }),
  truncatedCredential,
  refuses({
    id: 'auth.extended-credential',
    what: 'the key with something behind it',
    probe: credential.extendedCredential,
    // Who looks at a part of the key alone takes it shorter and longer.
    restsOn: [...ordinary, truncatedCredential],
  }),
  refuses({
    id: 'auth.case-flipped-credential',
    what: 'the key in other letter case',
    probe: credential.caseFlippedCredential,
    restsOn: ordinary,
  }),
  refuses({
    id: 'auth.non-ascii-credential',
    what: 'a key in another script in good order',
    probe: credential.nonAsciiCredential,
    accept: REFUSED_OR_BAD,
    restsOn: ordinary,
  }),
  refuses({
    id: 'auth.quoted-credential',
    what: 'a key with quotes in good order',
    probe: credential.quotedCredential,
    accept: REFUSED_OR_BAD,
    restsOn: ordinary,
  }),
  refuses({
    id: 'auth.oversized-credential',
    what: 'a 9 KiB key in good order',
    probe: credential.oversizedCredential,
    accept: REFUSED_OR_BAD,
    restsOn: ordinary,
  }),

  // Accepting the key under whatever scheme name hides mistakes of clients and widens what proxies must guard.
  check('auth.other-scheme', {
    title: 'refuses the right key under another authentication scheme',
    grounds: [practice('OWASP API2:2023')],
    applies: [inAuthorizationField],
    restsOn: [refusalClass, missingCredential],
    judge: ({ expect }) => expect(credential.otherScheme).toHaveStatus(...REFUSED_OR_BAD),
  }),

  // RFC 9110 §11.1: the authentication scheme is a case-insensitive token.
  check('auth.scheme-case', {
    title: 'takes the scheme name in any letter case',
    grounds: [rfc9110('11.1', 'MUST')],
    applies: [inAuthorizationField],
    async judge({ expect, probe, blocked }) {
      const reply = await probe(credential.lowerCaseScheme);
      if (reply.answered && reply.response.statusClass === 5) {
        return blocked('the request failed for another reason');
      }
      await expect(reply).toHaveStatusClass(2);
    },
  }),

  // auth.scheme: what the config calls a working key works.
  check('auth.second-key', {
    title: 'serves the second key as well',
    grounds: [clause('auth.scheme')],
    applies: [secondKey],
    judge: ({ expect }) => expect(credential.secondKeySample).toHaveStatusClass(2),
  }),
];

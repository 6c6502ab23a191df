import {
  type CheckDefinition,
  type Condition,
  capitalized,
  check,
  clause,
  credentialDemanded,
  credentialed,
  credentialInField,
  credentialOptional,
  type Ground,
  inAuthorizationField,
  type Probe,
  practice,
  type Reply,
  rfc9110,
  secondKey,
  when,
} from '../../harness/engine/check/suite.ts';
import type { RowNotes } from '../row.ts';
import * as credential from './stimuli/credential.ts';

/** RFC 9110 §15.5.4: who understands a request and refuses it may say 403, to a missing credential too. */
const REFUSED = [401, 403] as const;
/** An oversized or malformed credential may be refused as a bad request before anybody looks at it, in the query too. */
const REFUSED_OR_BAD = [400, 401, 403, 414, 431] as const;

interface BadCredential extends RowNotes {
  /** Completes "refuses …", and with a capital letter "… gets status 200". */
  readonly what: string;
  /** Statuses that will do. Default: those of a credential that is wrong and no more. */
  readonly accept?: readonly number[];
  /** Default: what is said of a missing and of a wrong credential. */
  readonly restsOn?: readonly CheckDefinition[];
  /** Its name in `errors.codes`, which may say more. */
  readonly condition?: 'wrongCredential';
  /** Beside those that hold of any credential. */
  readonly grounds?: readonly Ground[];
  /** Where it is one. Default: where a credential is sent at all. */
  readonly applies?: readonly Condition[];
}

/** Not the right credential, whatever it looks like: it opens nothing. */
export const refuses = (
  id: string,
  probe: Probe<Reply> | Probe<readonly Reply[]> | readonly Probe<Reply>[],
  {
    what,
    accept = REFUSED,
    condition,
    grounds = [],
    applies = [credentialed],
    restsOn = ordinary,
    ...notes
  }: BadCredential,
): CheckDefinition =>
  check(id, {
    ...notes,
    title: `refuses ${what}${accept === REFUSED ? '' : ' cleanly'}`,
    headline: `${capitalized(what)} gets {answer}`,
    grounds: [...(condition ? [clause('errors.codes')] : []), clause('auth.scheme'), ...grounds],
    applies,
    restsOn,
    uses: [...[probe].flat(), credential.rightAfterWrong],
    async judge({ expect, probe: ask, blocked, documentedStatus }) {
      const documented = condition === undefined ? null : documentedStatus(condition);
      await expect(...[probe].flat()).toHaveStatus(...(documented ?? accept));
      const { status } = await ask(credential.rightAfterWrong);
      if (status !== 401 && status !== 403) return;
      blocked(
        `the right credential is refused too after the wrong ones (status ${status}): the client may be locked out, so this proves nothing`,
      );
    },
  });

export const refusalClass = check('auth.refusal-class', {
  title: 'refuses a missing or wrong credential with a 4xx status: no redirect, no 5xx',
  headline: 'A missing or wrong credential gets {answer}',
  why: 'A program cannot fill in a login page, and it takes a 5xx for a fault that will pass and tries again.',
  change: 'Answer 401 from the API itself, and keep redirects to a login page for browsers.',
  grounds: [clause('auth.scheme'), clause('responses.status-codes')],
  applies: [credentialed],
  uses: [credential.withoutCredential, credential.wrongCredential],
  async judge({ probe, expect, blocked }) {
    const replies = [await probe(credential.withoutCredential), await probe(credential.wrongCredential)];
    const refusals = replies.filter(({ served }) => !served);
    if (refusals.length === 0)
      blocked('there is no refusal to judge: a missing and a wrong credential are served');
    await expect(refusals).toHaveStatusClass(4);
  },
});

// RFC 9110 §15.5.2 and §15.5.4: which of the two it is, `errors.codes` may say.
export const missingCredential = check('auth.missing-credential', {
  title: 'refuses a request without a credential',
  headline: 'A request without a credential gets {answer}',
  why: 'If the API answers without a credential, anyone can use it. By 401 a client knows that it has to sign in.',
  change: 'Look for the credential before the handler runs, and answer 401 when there is none.',
  grounds: [clause('errors.codes'), clause('auth.scheme')],
  applies: [credentialDemanded],
  restsOn: [refusalClass],
  uses: [credential.withoutCredential],
  judge: ({ expect, documentedStatus }) =>
    expect().toHaveStatus(...(documentedStatus('missingCredential') ?? REFUSED)),
});

// auth.scheme: each request carries the credential, and no other one will do.
export const wrongCredential = refuses('auth.wrong-credential', credential.wrongCredential, {
  what: 'a wrong key',
  why: 'If any key opens the API, the key protects nothing.',
  change: 'Compare the key in full and answer 401 before the handler runs.',
  condition: 'wrongCredential',
  restsOn: [refusalClass, missingCredential],
});

export const ordinary: readonly CheckDefinition[] = [refusalClass, missingCredential, wrongCredential];

export const truncatedCredential = refuses('auth.truncated-credential', credential.truncatedCredential, {
  what: 'a key cut short',
  why: 'A key that works in part is far easier to guess.',
  change: 'Compare the key in full, its length included.',
});

const quotedCredential = refuses('auth.quoted-credential', credential.quotedCredential, {
  what: 'a key with quotes',
  why: 'A server that fails over quotes may be putting the key into a query or a command unescaped.',
  change: 'Pass the key on as a parameter, never as part of a query, and answer 400 or 401.',
  accept: REFUSED_OR_BAD,
});

/** The config names keys that must be refused. */
export const keysToRefuse = when(
  ({ credentials }) => credentials.refused.length > 0,
  'no key is configured that must be refused (credentials.refused)',
);

/** A client that is shut out may be told in other words why. */
const SHUT_OUT = [400, 401, 402, 403, 404, 410, 423] as const;

// auth.scheme: what the config says is no key any more, or none of this service, opens nothing.
export const refusedKeys = refuses('auth.refused-keys', credential.refusedKeys, {
  what: 'a key that is known not to be good',
  why: 'Whoever has an old or foreign key keeps access: a key that leaked, or a client that is no longer one.',
  change:
    'Look at each request whether the key still stands, and is for this service: exp, aud, iss of a token.',
  accept: SHUT_OUT,
  grounds: [practice('OWASP API2:2023')],
  applies: [credentialed, keysToRefuse],
});

export const secondKeyServed = check('auth.second-key', {
  title: 'accepts the second key as well',
  headline: 'The second key gets {answer}',
  why: 'Clients with a valid key are shut out, and no key can be replaced without downtime.',
  change: 'Accept every key that you have issued, or correct credentials.secondKey in the config.',
  grounds: [clause('auth.scheme')],
  applies: [secondKey],
  uses: [credential.secondKeySample],
  judge: ({ expect }) => expect().toHaveStatusClass(2),
});

export const badCredentials = [
  missingCredential,

  check('auth.optional-credential', {
    title: 'serves a request without a credential, as the documents say',
    headline: 'A request without a credential gets {answer}, and the documents say that it needs none',
    why: 'Clients that follow the documents and have no key are shut out.',
    change: 'Serve requests without a credential, or take auth.optional out of the contract.',
    grounds: [clause('auth.optional')],
    applies: [credentialed, credentialOptional],
    uses: [credential.withoutCredential],
    judge: ({ expect }) => expect().toHaveStatusClass(2),
  }),

  wrongCredential,
  refuses('auth.empty-credential', credential.emptyCredential, {
    what: 'an empty key',
    why: 'An empty key is what a client sends whose setting is missing. It must open nothing and break nothing.',
    change: 'Treat an empty key like a missing one, and answer 401.',
    accept: REFUSED_OR_BAD,
    // Where none is needed, an empty one may be none.
    applies: [credentialDemanded],
  }),
  truncatedCredential,
  refuses('auth.extended-credential', credential.extendedCredential, {
    what: 'the key with something behind it',
    why: 'Only the beginning of the key is compared, so it protects less than its length promises.',
    change: 'Compare the key in full, up to the end of the header.',
    // Who looks at a part of the key alone takes it shorter and longer.
    restsOn: [...ordinary, truncatedCredential],
  }),
  refuses('auth.case-flipped-credential', credential.caseFlippedCredential, {
    what: 'the key in other letter case',
    why: 'A key whose letter case does not matter has far fewer combinations to try.',
    change: 'Compare the key byte by byte, without changing its letter case first.',
  }),
  refuses('auth.altered-credential', credential.alteredCredential, {
    what: 'another key of the same length',
    why: 'Only the length or the end of the key is compared, so keys can be guessed.',
    change: 'Compare the whole key, every byte of it.',
  }),
  refuses('auth.prefixed-credential', credential.prefixedCredential, {
    what: 'the key with something before it',
    why: 'The service looks for the key anywhere in the header, so it takes what merely contains a key.',
    change: 'Compare the whole value behind the scheme name with the key.',
  }),
  refuses('auth.placeholder-credential', credential.placeholders, {
    what: 'what stands for no key, such as null or undefined',
    why: 'A client without a key sends null or undefined. If that opens the API, so does every client without a key.',
    change: 'Compare with the keys that you have issued alone, and refuse where your own setting is missing.',
    accept: REFUSED_OR_BAD,
  }),
  refuses('auth.other-user', credential.otherUser, {
    what: 'the right password of another user',
    why: 'If the user name does not matter, each password opens every account.',
    change: 'Look up the user first, and compare the password with the one of that user.',
  }),
  refuses('auth.non-ascii-credential', credential.nonAsciiCredential, {
    what: 'a non-ASCII key',
    why: 'Anyone can send such a key. A crash over it fills the logs, and may take other requests down.',
    change: 'Refuse a key with such characters with 400 or 401, before anything decodes it.',
    accept: REFUSED_OR_BAD,
  }),
  quotedCredential,
  refuses('auth.injected-credential', credential.injectedCredential, {
    what: 'a piece of SQL in place of the key',
    why: 'If it opens the API, the key is put into a query, and anyone can read or change the database.',
    change: 'Pass the key on as a parameter, never as part of a query.',
    accept: REFUSED_OR_BAD,
    restsOn: [...ordinary, quotedCredential],
  }),
  refuses('auth.oversized-credential', credential.oversizedCredential, {
    what: 'a 9 KiB key',
    why: 'A long key is a cheap way to keep a server busy, or to make it fail.',
    change: 'Limit the length of the key, and answer 400, 401 or 431 beyond it.',
    accept: REFUSED_OR_BAD,
  }),

  // Accepting the key under whatever scheme name hides mistakes of clients and widens what proxies must guard.
  check('auth.other-scheme', {
    title: 'refuses the right key under another authentication scheme',
    headline: 'The right key under another scheme gets {answer}',
    why: 'Proxies and scanners watch the scheme that you document. A key that works under any name slips past them.',
    change: 'Check the scheme name in Authorization as well as the key, and answer 401 to any other.',
    grounds: [practice('OWASP API2:2023')],
    applies: [inAuthorizationField, credentialDemanded],
    restsOn: [refusalClass, missingCredential],
    uses: [credential.otherScheme],
    judge: ({ expect }) => expect().toHaveStatus(...REFUSED_OR_BAD),
  }),

  // RFC 9110 §11.1: the authentication scheme is a case-insensitive token.
  check('auth.scheme-case', {
    title: 'accepts the scheme name in any letter case',
    headline: 'The scheme name in other letter case gets {answer}',
    why: 'Client libraries write bearer or Bearer as they like, so some of them cannot sign in.',
    change: 'Ignore letter case in the scheme name. Compare the key itself exactly.',
    grounds: [rfc9110('11.1', 'MUST')],
    applies: [inAuthorizationField],
    uses: [credential.lowerCaseScheme],
    async judge({ expect, probe, blocked }) {
      const reply = await probe(credential.lowerCaseScheme);
      if (reply.answered && reply.response.statusClass === 5)
        return blocked('the request failed for another reason');
      await expect(reply).toHaveStatusClass(2);
    },
  }),

  // RFC 9110 §5.1 and §5.5: names are the same in any letter case, white space around a value is no part of it.
  check('auth.credential-spacing', {
    title: 'accepts the key with spaces around the header value and the header name in any letter case',
    headline: 'The key in a header with spaces around its value gets {answer}',
    why: 'Proxies and libraries rewrite headers like this, and their users cannot sign in.',
    change: 'Ignore the letter case of header names, and trim the value before you compare it.',
    grounds: [rfc9110('5.5', 'MUST'), rfc9110('5.1', 'MUST')],
    applies: [credentialInField],
    uses: [credential.spacedField],
    judge: ({ expect }) => expect().toHaveStatusClass(2),
  }),

  // RFC 9110 §11.4: credentials = auth-scheme [ 1*SP ... ]; §2.3: a recipient parses what matches the grammar.
  check('auth.scheme-spacing', {
    title: 'accepts several spaces behind the scheme name',
    headline: 'Several spaces behind the scheme name get {answer}',
    why: 'The standard allows them, so a client that sends them is shut out for no reason.',
    change: 'Split the header at one or more spaces, not at exactly one.',
    grounds: [practice('RFC 9110 §11.4')],
    applies: [inAuthorizationField],
    uses: [credential.spacedScheme],
    judge: ({ expect }) => expect().toHaveStatusClass(2),
  }),

  refusedKeys,
  secondKeyServed,
];

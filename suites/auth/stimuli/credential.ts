import type { Sample } from '../../../harness/base/clause.ts';
import { NotApplicable, unlessInapplicable } from '../../../harness/base/verdict.ts';
import { expiryOf, type TokenForgery } from '../../../harness/config/credential/json-web-token.ts';
import {
  type CredentialChoice,
  type CredentialSpelling,
  UNKNOWN_KEY,
  type WrongCredential,
} from '../../../harness/config/credential/placing.ts';
import { derived, type Probe, probe, risky } from '../../../harness/engine/session/probe.ts';
import type { Reply } from '../../../harness/wire/exchange/reply.ts';
import type { FieldLine } from '../../../harness/wire/exchange.ts';
import { type Difference, sampleAgain, served, variation } from '../../stimuli/sample.ts';

/** The sample with every kind of credential but the right one. */

const withCredential = (name: string, purpose: string, credential: CredentialChoice): Probe<Reply> =>
  variation(name, purpose, { credential });
export const withoutCredential = withCredential('without-credential', 'without a credential', 'none');

/** With that wrong credential in place of the right one. */
const withWrong = (wrong: WrongCredential, purpose: string): Probe<Reply> =>
  withCredential(`${wrong}-credential`, purpose, { wrong });
export const wrongCredential = withWrong('wrong', 'with a wrong key');
export const emptyCredential = withWrong('empty', 'with an empty key');
export const truncatedCredential = withWrong('truncated', 'with the key cut short');
export const extendedCredential = withWrong('extended', 'with the key and a suffix');
export const caseFlippedCredential = withWrong('case-flipped', 'with the key in other letter case');
export const nonAsciiCredential = risky(withWrong('non-ascii', 'with a non-ASCII key'));
export const quotedCredential = withWrong('quoted', 'with a key that holds quotes');
export const oversizedCredential: Probe<Reply> = {
  ...risky(withWrong('oversized', 'with a 9 KiB key')),
  risks: ['long-head'],
};
export const alteredCredential = withWrong('altered', 'with another key of the same length');
export const prefixedCredential = withWrong('prefixed', 'with something before the key');
export const injectedCredential = withWrong('injected', 'with a piece of SQL for a key');
/** From a client without a key: a value that stands for none, or an unfilled template. */
export const placeholders: readonly Probe<Reply>[] = [
  withWrong('null', 'with null for a key'),
  withWrong('undefined', 'with undefined for a key'),
  withWrong('template', 'with {token} for a key'),
  withWrong('wildcard', 'with * for a key'),
];
export const otherUser = withCredential('other-user', 'with the right password of another user', {
  wrong: 'other-user',
});
export const otherScheme = withCredential('other-scheme', 'with the right key under another scheme', {
  wrong: 'other-scheme',
});

/** With the sample's key as a signed token (RFC 7519), forged in that way. */
const forgedToken = (wrong: TokenForgery, purpose: string): Probe<Reply> =>
  withCredential(`${wrong}-token`, purpose, { wrong });
export const unsignedTokens = [
  forgedToken('unsecured', 'with its token under the algorithm none'),
  forgedToken('unsigned', 'with its token without a signature'),
];
export const changedToken = forgedToken('changed', 'with other claims under the signature of its token');
export const guessedToken = forgedToken(
  'guessed',
  'with its token signed with a secret that anybody guesses',
);
export const selfCertifiedToken = forgedToken(
  'self-certified',
  'with its token signed with a key that it brings along',
);

/** How long before the sample its token had expired, in ms; null if it had not. */
export const tokenOverdue = derived('token-overdue', [served], async ({ ask, config }) => {
  const { exchange } = await ask(served);
  const { carrier, secret } = config.credentials;
  const expiry = carrier?.bare && secret ? expiryOf(secret.reveal()) : null;
  if (expiry === null) throw new NotApplicable('the key is no token that says when it ends');
  const overdueMs = Date.parse(exchange.timing.startedAt) - expiry.getTime();
  return overdueMs > 0 ? overdueMs : null;
});

/** The right credential, written in that way. */
const spelled = (name: string, purpose: string, spelling: CredentialSpelling): Probe<Reply> =>
  withCredential(name, purpose, { spelled: spelling });
/** Scheme names are case-insensitive. */
export const lowerCaseScheme = spelled(
  'lower-case-scheme',
  'with the scheme name in other letter case',
  'other-case-scheme',
);
export const spacedField = variation(
  'spaced-field',
  'with white space around the value, and the name in other letter case',
  { credential: { spelled: 'spaced-field' }, raw: true },
);
export const spacedScheme = spelled(
  'spaced-scheme',
  'with several spaces behind the scheme name',
  'spaced-scheme',
);
export const rightThenWrong = spelled(
  'right-then-wrong',
  'with two credentials, the second one wrong',
  'right-then-wrong',
);
export const wrongThenRight = spelled(
  'wrong-then-right',
  'with two credentials, the first one wrong',
  'wrong-then-right',
);

export const headWithoutCredential = variation('head-without-credential', 'without a credential', {
  method: 'HEAD',
  credential: 'none',
});

/** A way around the credential: the request that has none, and the same one with it. */
export interface WayAround {
  readonly anonymous: Probe<Reply>;
  /** Its refusal means something only where this is served. */
  readonly twin: Probe<Reply>;
  /** Something else may stand there, open to everybody. */
  readonly isOtherPath?: true;
}

const each = (names: readonly string[], value: string) => names.map((name): FieldLine => [name, value]);

/** Fields for which some services, or their gateways, forget to ask for the credential. */
const AS_HTML: readonly FieldLine[] = [['Accept', 'text/html']];
const AS_GET = each(['X-HTTP-Method-Override', 'X-Method-Override'], 'GET');
const AS_LOCAL: readonly FieldLine[] = [
  ...each(['X-Forwarded-For', 'X-Real-IP', 'X-Client-IP', 'True-Client-IP'], '127.0.0.1'),
  ['Forwarded', 'for=127.0.0.1;host=localhost'],
];
/** Only a gateway may claim this; any client can write it. */
const AS_ADMIN: readonly FieldLine[] = [
  ...each(['X-User-Id', 'X-User', 'X-Username', 'X-Forwarded-User', 'X-Remote-User', 'Remote-User'], 'admin'),
  ...each(['X-Authenticated-User', 'X-Auth-User', 'X-Auth-Request-User', 'X-WEBAUTH-USER'], 'admin'),
  ...each(['X-Consumer-Username', 'X-Authenticated-Userid', 'X-Goog-Authenticated-User-Email'], 'admin'),
  ...each(['X-MS-CLIENT-PRINCIPAL-NAME', 'X-Amzn-Oidc-Identity', 'X-Account-Id', 'X-Tenant-Id'], 'admin'),
  ['X-Admin', 'true'],
  ['X-Role', 'admin'],
  ['X-Internal-Request', 'true'],
  ['X-SSL-Client-Verify', 'SUCCESS'],
  ['X-Forwarded-Client-Cert', 'Subject="CN=admin"'],
];

/** All of them with the right credential: if that is served, none of them is an obstacle. */
const allOddFields = variation(
  'all-odd-fields',
  'as text/html, under method override fields, posing as a client of its own network and as its administrator',
  { fields: [...AS_HTML, ...AS_GET, ...AS_LOCAL, ...AS_ADMIN] },
);

/** The same request without a credential; `twin` carries it. */
const anonymousOf = (name: string, purpose: string, difference: Difference): Probe<Reply> =>
  variation(`${name}-without-credential`, `${purpose}, without a credential`, {
    ...difference,
    credential: 'none',
  });

function underFields(name: string, purpose: string, fields: readonly FieldLine[]): WayAround {
  const alone = { ...variation(`${name}-with-credential`, purpose, { fields }), usualCost: 0 };
  return {
    anonymous: anonymousOf(name, purpose, { fields }),
    twin: derived(`${name}-twin`, [allOddFields, alone], async ({ ask }) => {
      const together = await ask(allOddFields);
      return together.served ? together : ask(alone);
    }),
  };
}

function underSpelling(name: string, purpose: string, target: (sample: Sample) => string): WayAround {
  return {
    anonymous: anonymousOf(name, purpose, { target }),
    twin: variation(`${name}-with-credential`, purpose, { target }),
    isOtherPath: true,
  };
}

export const otherRepresentation = underFields('other-representation', 'as text/html', AS_HTML);
export const methodOverride = underFields('method-override', 'under method override fields', AS_GET);
export const localClient = underFields('as-local-client', 'posing as a client of its own network', AS_LOCAL);
export const claimedIdentity = underFields(
  'as-known-user',
  'posing as a user whom a gateway has let in',
  AS_ADMIN,
);

/** A wrong key in every place that is not the configured one, and none in that. */
export const wrongKeyElsewhere = variation(
  'wrong-key-elsewhere',
  'with a wrong key in other headers, cookies and the query, and none in its place',
  {
    target: ({ path }) =>
      `${path}?api_key=${UNKNOWN_KEY}&apikey=${UNKNOWN_KEY}&token=${UNKNOWN_KEY}&access_token=${UNKNOWN_KEY}`,
    fields: [
      ...each(['X-API-Key', 'Api-Key', 'X-Auth-Token', 'X-Access-Token', 'Proxy-Authorization'], UNKNOWN_KEY),
      ['Cookie', `session=${UNKNOWN_KEY}; token=${UNKNOWN_KEY}; access_token=${UNKNOWN_KEY}`],
    ],
    credential: 'none',
  },
);

/** With the validator of what the credential opens, and without the credential. */
export const conditionalWithoutCredential = probe(
  'conditional-without-credential',
  { needs: [served] },
  async ({ ask, http }) => {
    const { entityTag } = (await ask(served)).response;
    if (entityTag === null) throw new NotApplicable('the sample has no ETag');
    return http.send({
      purpose: 'with the ETag of the sample in If-None-Match, without a credential',
      fields: [['If-None-Match', entityTag]],
      credential: 'none',
    });
  },
);

/** Other spellings of the documented path that a lenient router takes for the same. */
export const respelled: readonly WayAround[] = [
  underSpelling('trailing-slash', 'with a slash after the path', ({ path }) => `${path}/`),
  underSpelling('encoded-path', 'with the last letter of the path percent-encoded', ({ path }) =>
    path.replace(/[A-Za-z](?=[^A-Za-z]*$)/, percentEncoded),
  ),
];

function percentEncoded(letter: string): string {
  return `%${letter.charCodeAt(0).toString(16)}`;
}

/** With each of the keys that the config says must be refused. */
export const refusedKeys = probe(
  'refused-keys',
  { needs: [served], cost: ({ credentials }) => credentials.refused.length, credential: 'wrong' },
  async ({ ask, config: { credentials }, http }) => {
    if (credentials.refused.length === 0)
      throw new NotApplicable('no key is configured that must be refused (credentials.refused)');
    await ask(served);
    const replies: Reply[] = [];
    for (const [index, { position, because }] of credentials.refused.entries()) {
      const purpose = `with refused key ${position} (${because})`;
      replies.push(await http.send({ purpose, credential: { refused: index } }));
    }
    return replies;
  },
);

/** Every request whose credential must not be accepted. */
export const REFUSED = [
  withoutCredential,
  wrongCredential,
  emptyCredential,
  truncatedCredential,
  extendedCredential,
  caseFlippedCredential,
  alteredCredential,
  prefixedCredential,
  injectedCredential,
  ...placeholders,
  otherUser,
  ...unsignedTokens,
  changedToken,
  guessedToken,
  selfCertifiedToken,
  nonAsciiCredential,
  quotedCredential,
  oversizedCredential,
] as const;

const ORDINARY = REFUSED.filter(({ place }) => place === 'ordinary');

/**
 * The right credential after all those wrong ones: a service that has shut out the client meanwhile refuses for
 * another reason than the credential. The second sample serves for it when it came after them.
 */
export const rightAfterWrong = probe(
  'right-after-wrong',
  { needs: [...ORDINARY, refusedKeys, sampleAgain], usualCost: 0 },
  async ({ ask, http }) => {
    const wrong: Reply[] = [];
    for (const each of [...ORDINARY, refusedKeys]) {
      const replies = await ask<Reply | readonly Reply[]>(each).catch(unlessInapplicable);
      if (replies !== null) wrong.push(...[replies].flat());
    }
    const again = await ask(sampleAgain);
    const isLast = wrong.every(({ exchange }) => exchange.timing.startedMs < again.exchange.timing.startedMs);
    return isLast ? again : http.send({ purpose: 'as documented, after all the wrong credentials' });
  },
);

/** The documented sample with the second configured key. */
export const secondKeySample = variation('second-key-sample', 'with the second key', {
  credential: 'second',
});

// --- what a browser sends for a page of another origin (Fetch §3.3) ---

/** Of a page that the service has nothing to do with. */
export const FOREIGN_ORIGIN = 'https://elsewhere.invalid';

/** A page of another origin asks a browser to send the key along. */
export const foreignOrigin = variation('foreign-origin', 'for a page of another origin', {
  fields: [['Origin', FOREIGN_ORIGIN]],
});

/** What a browser asks before it sends the credential for a page of another origin (Fetch §4.8). */
export const preflight = probe(
  'preflight',
  { needs: [served] },
  async ({ ask, http, config, documented }) => {
    await ask(served);
    const { carrier } = config.credentials;
    if (carrier?.in !== 'header')
      throw new NotApplicable('the credential is in no header that a browser would ask about first');
    return http.send({
      purpose: 'of a browser that asks before it sends the credential for a page of another origin',
      method: 'OPTIONS',
      withoutSampleFields: true,
      fields: [
        ['Origin', FOREIGN_ORIGIN],
        ['Access-Control-Request-Method', documented.method],
        ['Access-Control-Request-Headers', (carrier.name ?? '').toLowerCase()],
      ],
      credential: 'none',
    });
  },
);

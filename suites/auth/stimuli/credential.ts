import type { Sample } from '../../../harness/base/clause.ts';
import { NotApplicable, unlessInapplicable } from '../../../harness/base/verdict.ts';
import { UNKNOWN_KEY, type WrongCredential } from '../../../harness/config/credential/placing.ts';
import { derived, type Probe, probe, risky } from '../../../harness/engine/session/probe.ts';
import type { Reply } from '../../../harness/wire/exchange/reply.ts';
import type { FieldLine } from '../../../harness/wire/exchange.ts';
import { sampleAgain, served, variation } from '../../stimuli/sample.ts';
import { forgedTokens } from './token.ts';

/** The sample with every kind of credential but the right one. */

export const withoutCredential = variation('without-credential', {
  purpose: 'without a credential',
  credential: 'none',
});

/** With that wrong credential in place of the right one. */
const withWrong = (wrong: WrongCredential, purpose: string): Probe<Reply> =>
  variation(`${wrong}-credential`, { purpose, credential: { wrong } });
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
/** What a client sends that has no key: the value that stands for none, or a template that nobody has filled in. */
export const placeholders: readonly Probe<Reply>[] = [
  withWrong('null', 'with null for a key'),
  withWrong('undefined', 'with undefined for a key'),
  withWrong('template', 'with {token} for a key'),
  withWrong('wildcard', 'with * for a key'),
];
export const otherUser = variation('other-user', {
  purpose: 'with the right password of another user',
  credential: { wrong: 'other-user' },
});
export const otherScheme = variation('other-scheme', {
  purpose: 'with the right key under another scheme',
  credential: { wrong: 'other-scheme' },
});
/** Not wrong at all: scheme names are case-insensitive. */
export const lowerCaseScheme = variation('lower-case-scheme', {
  purpose: 'with the scheme name in other letter case',
  credential: { spelled: 'other-case-scheme' },
});
export const spacedField = variation('spaced-field', {
  purpose: 'with white space around the value, and the name in other letter case',
  credential: { spelled: 'spaced-field' },
  raw: true,
});
export const spacedScheme = variation('spaced-scheme', {
  purpose: 'with several spaces behind the scheme name',
  credential: { spelled: 'spaced-scheme' },
});
export const rightThenWrong = variation('right-then-wrong', {
  purpose: 'with two credentials, the second one wrong',
  credential: { spelled: 'right-then-wrong' },
});
export const wrongThenRight = variation('wrong-then-right', {
  purpose: 'with two credentials, the first one wrong',
  credential: { spelled: 'wrong-then-right' },
});

export const headWithoutCredential = variation('head-without-credential', {
  purpose: 'without a credential',
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

/** Fields for which some services, or what stands before them, forget to ask for the credential. */
const ODD_FIELDS = {
  otherRepresentation: [['Accept', 'text/html']],
  methodOverride: [
    ['X-HTTP-Method-Override', 'GET'],
    ['X-Method-Override', 'GET'],
  ],
  localClient: [
    ...['X-Forwarded-For', 'X-Real-IP', 'X-Client-IP', 'True-Client-IP'].map(
      (name): FieldLine => [name, '127.0.0.1'],
    ),
    ['Forwarded', 'for=127.0.0.1;host=localhost'],
  ],
  claimedIdentity: [
    ...['X-User-Id', 'X-User', 'X-Username', 'X-Forwarded-User', 'X-Remote-User', 'Remote-User'],
    ...['X-Authenticated-User', 'X-Auth-User', 'X-Auth-Request-User', 'X-WEBAUTH-USER'],
    ...['X-Consumer-Username', 'X-Authenticated-Userid', 'X-Goog-Authenticated-User-Email'],
    ...['X-MS-CLIENT-PRINCIPAL-NAME', 'X-Amzn-Oidc-Identity', 'X-Account-Id', 'X-Tenant-Id'],
  ].map((name): FieldLine => [name, 'admin']),
  claimedRole: [
    ['X-Admin', 'true'],
    ['X-Role', 'admin'],
    ['X-Internal-Request', 'true'],
    ['X-SSL-Client-Verify', 'SUCCESS'],
    ['X-Forwarded-Client-Cert', 'Subject="CN=admin"'],
  ],
} as const satisfies Record<string, readonly FieldLine[]>;

/** With all of them at once and the right credential: where that is served, none of them stands in the way. */
const allOddFields = variation('all-odd-fields', {
  purpose:
    'as text/html, under method override fields, posing as a client of its own network and as its administrator',
  fields: Object.values(ODD_FIELDS).flat(),
});

function underFields(name: string, purpose: string, fields: readonly FieldLine[]): WayAround {
  const alone = { ...variation(`${name}-with-credential`, { purpose, fields }), usualCost: 0 };
  return {
    anonymous: variation(`${name}-without-credential`, {
      purpose: `${purpose}, without a credential`,
      fields,
      credential: 'none',
    }),
    twin: derived(`${name}-twin`, [allOddFields, alone], async ({ ask }) => {
      const together = await ask(allOddFields);
      return together.served ? together : ask(alone);
    }),
  };
}

function underSpelling(name: string, purpose: string, target: (sample: Sample) => string): WayAround {
  return {
    anonymous: variation(`${name}-without-credential`, {
      purpose: `${purpose}, without a credential`,
      target,
      credential: 'none',
    }),
    twin: variation(`${name}-with-credential`, { purpose, target }),
    isOtherPath: true,
  };
}

export const otherRepresentation = underFields(
  'other-representation',
  'as text/html',
  ODD_FIELDS.otherRepresentation,
);
export const methodOverride = underFields(
  'method-override',
  'under method override fields',
  ODD_FIELDS.methodOverride,
);
export const localClient = underFields(
  'as-local-client',
  'posing as a client of its own network',
  ODD_FIELDS.localClient,
);

/** What only a gateway that has asked for the credential may say; anybody can write it. */
export const claimedIdentity = underFields('as-known-user', 'posing as a user whom a gateway has let in', [
  ...ODD_FIELDS.claimedIdentity,
  ...ODD_FIELDS.claimedRole,
]);

/** A wrong key in every place that is not the configured one, and none in that. */
export const wrongKeyElsewhere = variation('wrong-key-elsewhere', {
  purpose: 'with a wrong key in other headers, cookies and the query, and none in its place',
  target: ({ path }) =>
    `${path}?api_key=${UNKNOWN_KEY}&apikey=${UNKNOWN_KEY}&token=${UNKNOWN_KEY}&access_token=${UNKNOWN_KEY}`,
  fields: [
    ...['X-API-Key', 'Api-Key', 'X-Auth-Token', 'X-Access-Token', 'Proxy-Authorization'].map(
      (name): FieldLine => [name, UNKNOWN_KEY],
    ),
    ['Cookie', `session=${UNKNOWN_KEY}; token=${UNKNOWN_KEY}; access_token=${UNKNOWN_KEY}`],
  ],
  credential: 'none',
});

/** With the validator of what the credential opens, and without the credential. */
export const conditionalWithoutCredential: Probe<Reply> = probe(
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
export const refusedKeys: Probe<readonly Reply[]> = probe(
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
  ...forgedTokens,
  nonAsciiCredential,
  quotedCredential,
  oversizedCredential,
] as const;

const ORDINARY = REFUSED.filter(({ place }) => place === 'ordinary');

/**
 * The right credential after all those wrong ones: a service that has shut out the client meanwhile refuses for
 * another reason than the credential. The second sample serves for it when it came after them.
 */
export const rightAfterWrong: Probe<Reply> = probe(
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
export const secondKeySample = variation('second-key-sample', {
  purpose: 'with the second key',
  credential: 'second',
});

// --- what a browser sends for a page of another origin (Fetch §3.3) ---

/** Of a page that the service has nothing to do with. */
export const FOREIGN_ORIGIN = 'https://elsewhere.invalid';

/** A page of another origin asks a browser to send the key along. */
export const foreignOrigin = variation('foreign-origin', {
  purpose: 'for a page of another origin',
  fields: [['Origin', FOREIGN_ORIGIN]],
});

/** What a browser asks before it sends the credential for a page of another origin (Fetch §4.8). */
export const preflight: Probe<Reply> = probe(
  'preflight',
  { needs: [served] },
  async ({ ask, http, config, documented }) => {
    await ask(served);
    const { carrier } = config.credentials;
    if (carrier?.in !== 'header') {
      throw new NotApplicable('the credential is in no header that a browser would ask about first');
    }
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

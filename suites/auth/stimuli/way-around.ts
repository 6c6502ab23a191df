import type { Sample } from '../../../harness/base/clause.ts';
import { NotApplicable } from '../../../harness/base/verdict.ts';
import { UNKNOWN_KEY } from '../../../harness/config/credential/placing.ts';
import { derived, type Probe, probe } from '../../../harness/engine/session/probe.ts';
import type { Reply } from '../../../harness/wire/exchange/reply.ts';
import type { FieldLine } from '../../../harness/wire/exchange.ts';
import { type Difference, served, variation } from '../../stimuli/sample.ts';

/** Requests that get around the credential in some services, and those of browsers. */

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

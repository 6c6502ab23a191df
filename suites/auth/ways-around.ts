import { type CheckDefinition, check } from '../../harness/check/check.ts';
import { credentialed } from '../../harness/check/requirement.ts';
import { clause, practice } from '../../harness/contract/ground.ts';
import type { Reply } from '../../harness/evidence/exchange/reply.ts';
import * as credential from '../../harness/probe/request/credential.ts';
import { headSample } from '../../harness/probe/request/target.ts';

/** Requests that carry no credential and hope that nobody asks. */
export const waysAround: readonly CheckDefinition[] = [
  guards('auth.head', 'HEAD as of GET', 'head-skips-auth', [
    { anonymous: credential.headWithoutCredential, twin: headSample },
  ]),
  guards('auth.other-representation', 'whatever representation is asked for', 'html-skips-auth', [
    credential.otherRepresentation,
  ]),
  guards('auth.method-override', 'requests under method override fields', 'method-override-skips-auth', [
    credential.methodOverride,
  ]),
  guards('auth.local-client', 'clients that say they are local ones', 'trusts-forwarded-for', [
    credential.localClient,
  ]),
  guards(
    'auth.path-spelling',
    'every spelling of the path',
    'trailing-slash-skips-auth',
    credential.respelled,
  ),

  // A wildcard or a repeated Origin together with credentials lets any page use what the browser holds.
  check(
    'auth.foreign-origin',
    {
      title: 'does not let pages of every origin act with credentials',
      grounds: [practice('OWASP API8:2023')],
      applies: [credentialed],
      provenBy: ['reflects-any-origin'],
    },
    async ({ probe, expect }) => {
      expect(await probe(credential.foreignOrigin)).toConform(
        'pages of other origins kept out',
        ({ response }) => {
          const allowed = response.field('access-control-allow-origin') ?? '';
          const withCredentials = response.field('access-control-allow-credentials') === 'true';
          return withCredentials && /^(?:\*|null|https:\/\/elsewhere\.invalid)$/.test(allowed)
            ? `Access-Control-Allow-Origin: ${allowed} with Access-Control-Allow-Credentials: true`
            : null;
        },
      );
    },
  ),
];

/** Demands the credential here as elsewhere. What is not served with it either, or is refused otherwise, shows nothing. */
function guards(
  id: string,
  what: string,
  defect: string,
  ways: readonly credential.WayAround[],
): CheckDefinition {
  return check(
    id,
    {
      title: `demands the credential of ${what}`,
      grounds: [clause('auth.scheme'), practice('OWASP API2:2023')],
      applies: [credentialed],
      provenBy: [defect],
    },
    async ({ probe, expect, notApplicable }) => {
      const telling: Reply[] = [];
      for (const { anonymous, twin } of ways) {
        const reply = await probe(anonymous);
        const refused = [401, 403].includes(reply.exchange.response?.status ?? 0);
        if (reply.served || (refused && (await probe(twin)).served)) telling.push(reply);
      }
      if (telling.length === 0)
        return notApplicable('such a request is not served with the credential either');
      expect(...telling).toHaveStatus(401, 403);
    },
  );
}

import { type CheckDefinition, check } from '../../harness/check/check.ts';
import type { CheckContext } from '../../harness/check/context.ts';
import { credentialed } from '../../harness/check/requirement.ts';
import { clause, practice } from '../../harness/contract/ground.ts';
import type { Reply } from '../../harness/evidence/reply.ts';
import * as credential from '../../harness/probe/credential.ts';
import { headSample } from '../../harness/probe/target.ts';

/** Requests that carry no credential and hope that nobody asks. */
export const waysAround: readonly CheckDefinition[] = [
  guards('auth.head', 'HEAD as of GET', 'head-skips-auth', async ({ probe, notApplicable }) => {
    const { served } = await probe(headSample);
    return served
      ? [await probe(credential.headWithoutCredential)]
      : notApplicable('HEAD is not served at all');
  }),
  guards(
    'auth.other-representation',
    'whatever representation is asked for',
    'html-skips-auth',
    async ({ probe }) => [await probe(credential.otherRepresentationWithoutCredential)],
  ),
  guards(
    'auth.method-override',
    'requests under method override fields',
    'method-override-skips-auth',
    async ({ probe }) => [await probe(credential.methodOverrideWithoutCredential)],
  ),
  guards(
    'auth.local-client',
    'clients that say they are local ones',
    'trusts-forwarded-for',
    async ({ probe }) => [await probe(credential.asLocalClientWithoutCredential)],
  ),
  guards(
    'auth.path-spelling',
    'every spelling of the path',
    'trailing-slash-skips-auth',
    async ({ probe }) => {
      const replies: Reply[] = [];
      for (const spelling of credential.respelledWithoutCredential) replies.push(await probe(spelling));
      return replies;
    },
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

/** Demands the credential here as elsewhere. A request that is refused for another reason shows nothing. */
function guards(
  id: string,
  what: string,
  defect: string,
  anonymous: (context: CheckContext) => Promise<readonly Reply[]>,
): CheckDefinition {
  return check(
    id,
    {
      title: `demands the credential of ${what}`,
      grounds: [clause('auth.scheme'), practice('OWASP API2:2023')],
      applies: [credentialed],
      provenBy: [defect],
    },
    async (context) => {
      const telling = (await anonymous(context)).filter(
        ({ served, exchange }) => served || [401, 403].includes(exchange.response?.status ?? 0),
      );
      if (telling.length === 0) return context.notApplicable('such a request is refused for another reason');
      context.expect(...telling).toHaveStatus(401, 403);
    },
  );
}

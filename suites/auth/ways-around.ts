import {
  type CheckDefinition,
  check,
  clause,
  credentialed,
  practice,
  type Reply,
} from '../../harness/check/suite.ts';
import * as credential from '../../harness/probe/request/credential.ts';
import { headSample } from '../../harness/probe/request/target.ts';
import { missingCredential } from './bad-credentials.ts';

interface Way {
  readonly id: string;
  /** Completes "demands the credential of …". */
  readonly what: string;
  readonly ways: readonly credential.WayAround[];
}

/** Demands the credential here as elsewhere. What is not served with it either, or is refused otherwise, shows nothing. */
function guards({ id, what, ways }: Way): CheckDefinition {
  return check(id, {
    title: `demands the credential of ${what}`,
    grounds: [clause('auth.scheme'), practice('OWASP API2:2023')],
    applies: [credentialed],
    restsOn: [missingCredential],
    async judge({ probe, expect, notApplicable }) {
      const telling: Reply[] = [];
      for (const { anonymous, twin } of ways) {
        const reply = await probe(anonymous);
        const refused = reply.status === 401 || reply.status === 403;
        if (reply.served || (refused && (await probe(twin)).served)) telling.push(reply);
      }
      if (telling.length === 0) notApplicable('such a request is not served with the credential either');
      await expect(telling).toHaveStatus(401, 403);
    },
  });
}

/** Requests that carry no credential and hope that nobody asks. */
export const waysAround: readonly CheckDefinition[] = [
  // auth.scheme: the credential is demanded of every request, however it comes.
  guards({
    id: 'auth.head',
    what: 'HEAD as of GET',
    ways: [{ anonymous: credential.headWithoutCredential, twin: headSample }],
  }),
  guards({
    id: 'auth.other-representation',
    what: 'whatever representation is asked for',
    ways: [credential.otherRepresentation],
  }),
  guards({
    id: 'auth.method-override',
    what: 'requests under method override fields',
    ways: [credential.methodOverride],
  }),
  guards({
    id: 'auth.local-client',
    what: 'clients that say they are local ones',
    ways: [credential.localClient],
  }),
  guards({ id: 'auth.path-spelling', what: 'every spelling of the path', ways: credential.respelled }),

  // A repeated Origin together with credentials lets any page use what the browser holds; with a wildcard a browser
  // refuses it (Fetch §3.3.5, CORS check).
  check('auth.foreign-origin', {
    title: 'does not let pages of every origin act with credentials',
    grounds: [practice('OWASP API8:2023')],
    applies: [credentialed],
    judge: ({ expect }) =>
      expect(credential.foreignOrigin).toConform('pages of other origins kept out', ({ response }) => {
        const allowed = response.field('access-control-allow-origin') ?? '';
        const withCredentials = response.field('access-control-allow-credentials') === 'true';
        return withCredentials && ['null', credential.FOREIGN_ORIGIN].includes(allowed)
          ? `Access-Control-Allow-Origin: ${allowed} with Access-Control-Allow-Credentials: true`
          : null;
      }),
  }),
];

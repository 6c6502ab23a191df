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
  /** Completes "asks for a credential …". */
  readonly where: string;
  readonly headline: string;
  readonly why: string;
  readonly change: string;
  readonly ways: readonly credential.WayAround[];
}

/** Asks for a credential here as elsewhere. What is not served with it either, or is refused otherwise, shows nothing. */
function guards({ id, where, ways, ...notes }: Way): CheckDefinition {
  return check(id, {
    ...notes,
    title: `asks for a credential ${where}`,
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
    where: 'on HEAD as on GET',
    headline: 'HEAD without a credential gets {answer}',
    why: 'HEAD shows headers, sizes and whether something exists. It has to be guarded like GET.',
    change: 'Put the check in front of all methods, HEAD included.',
    ways: [{ anonymous: credential.headWithoutCredential, twin: headSample }],
  }),
  guards({
    id: 'auth.other-representation',
    where: 'whatever format is asked for',
    headline: 'A request for another format, without a credential, gets {answer}',
    why: 'Who asks for a page or a file instead of JSON gets around the check.',
    change: 'Check the credential before you choose the format of the answer.',
    ways: [credential.otherRepresentation],
  }),
  guards({
    id: 'auth.method-override',
    where: 'when a header overrides the method',
    headline: 'A method override without a credential gets {answer}',
    why: 'A header such as X-HTTP-Method-Override turns a guarded call into an open one.',
    change: 'Ignore method override headers, or check the credential after you apply them.',
    ways: [credential.methodOverride],
  }),
  guards({
    id: 'auth.local-client',
    where: 'from clients that claim to be local',
    headline: 'A client that claims to be local, without a credential, gets {answer}',
    why: 'Anyone can write X-Forwarded-For: 127.0.0.1 into a request.',
    change:
      'Take the address of a client from your own proxy alone, and ask for the credential whatever it is.',
    ways: [credential.localClient],
  }),
  guards({
    id: 'auth.path-spelling',
    where: 'for every spelling of the path',
    headline: 'Another spelling of the path, without a credential, gets {answer}',
    why: 'A slash, a dot or an encoded letter in the path opens what the plain path guards.',
    change: 'Normalize the path before the check, or let the check cover every path.',
    ways: credential.respelled,
  }),

  // A repeated Origin together with credentials lets any page use what the browser holds; with a wildcard a browser
  // refuses it (Fetch §3.3.5, CORS check).
  check('auth.foreign-origin', {
    title: 'does not let pages of any origin use the credentials of their visitors',
    headline: 'Pages of any origin may use the login of their visitors: {got}',
    why: 'Any web page can call the API in the name of whoever visits it, and read the answers.',
    change:
      'List the origins that you trust. Never repeat the Origin of a request together with Access-Control-Allow-Credentials.',
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

import {
  type CheckDefinition,
  check,
  clause,
  credentialDemanded,
  credentialed,
  IN_CONTENT,
  IN_JSON,
  practice,
  type Reply,
  rfc9110,
  THROUGHOUT,
  when,
} from '../../harness/engine/check/suite.ts';
import { pagePolicy } from '../cors/stimuli/page.ts';
import type { RowNotes } from '../row.ts';
import { everyExchange } from '../stimuli/record.ts';
import { sample } from '../stimuli/sample.ts';
import { headSample, unknownPath, unknownPathWithoutCredential } from '../stimuli/target.ts';
import { missingCredential, wrongCredential } from './bad-credentials.ts';
import * as credential from './stimuli/credential.ts';
import * as way from './stimuli/way-around.ts';

/** Another way to the documented resource, which needs the credential as well. */
export interface Guarded extends RowNotes<'headline' | 'restsOn'> {
  /** Completes "asks for a credential …". */
  readonly where: string;
}

/** auth.scheme: the credential is demanded of every request, however it comes. */
export const guarded = (id: string, { where, ...notes }: Guarded & Pick<CheckDefinition, 'uses' | 'judge'>) =>
  check(id, {
    restsOn: [missingCredential],
    ...notes,
    title: `asks for a credential ${where}`,
    grounds: [clause('auth.scheme'), practice('OWASP API2:2023')],
    applies: [credentialDemanded],
  });

/** Asks for a credential here as elsewhere. What is not served with it either, or is refused otherwise, shows nothing. */
const guards = (id: string, ways: readonly way.WayAround[], notes: Guarded) =>
  guarded(id, {
    ...notes,
    uses: [sample, ...ways.flatMap(({ anonymous, twin }) => [anonymous, twin])],
    async judge({ probe, expect, notApplicable }) {
      const telling: Reply[] = [];
      const unlike: Reply[] = [];
      for (const { anonymous, twin, isOtherPath } of ways) {
        const reply = await probe(anonymous);
        if (reply.served && isOtherPath && !reply.response.hasContentLike((await probe(sample)).response)) {
          unlike.push(reply);
          continue;
        }
        const refused = reply.status === 401 || reply.status === 403;
        if (reply.served || (refused && (await probe(twin)).served)) telling.push(reply);
      }
      if (telling.length > 0) await expect(telling).toHaveStatus(401, 403);
      if (unlike.length > 0) await expect(unlike, sample).toBeRead('another resource', IN_JSON);
      else if (telling.length === 0) notApplicable('such a request is not served with the credential either');
    },
  });

/** Requests that carry no credential and hope that nobody asks. */
export const waysAround = [
  guards('auth.head', [{ anonymous: credential.headWithoutCredential, twin: headSample }], {
    where: 'on HEAD as on GET',
    headline: 'HEAD without a credential gets {answer}',
    why: 'HEAD shows headers, sizes and whether something exists. It has to be guarded like GET.',
    change: 'Put the check in front of all methods, HEAD included.',
  }),
  guards('auth.other-representation', [way.otherRepresentation], {
    where: 'whatever format is asked for',
    headline: 'A request for another format, without a credential, gets {answer}',
    why: 'Who asks for a page or a file instead of JSON gets around the check.',
    change: 'Check the credential before you choose the format of the answer.',
  }),
  guards('auth.method-override', [way.methodOverride], {
    where: 'when a header overrides the method',
    headline: 'A method override without a credential gets {answer}',
    why: 'A header such as X-HTTP-Method-Override turns a guarded call into an open one.',
    change: 'Ignore method override headers, or check the credential after you apply them.',
  }),
  guards('auth.local-client', [way.localClient], {
    where: 'from clients that claim to be local',
    headline: 'A client that claims to be local, without a credential, gets {answer}',
    why: 'Anyone can write X-Forwarded-For: 127.0.0.1 into a request.',
    change:
      'Take the address of a client from your own proxy alone, and ask for the credential whatever it is.',
  }),
  guards('auth.path-spelling', way.respelled, {
    where: 'for every spelling of the path',
    headline: 'Another spelling of the path, without a credential, gets {answer}',
    why: 'A slash, a dot or an encoded letter in the path opens what the plain path guards.',
    change: 'Normalize the path before the check, or let the check cover every path.',
  }),

  guards('auth.claimed-identity', [way.claimedIdentity], {
    where: 'whoever a header says that the client is',
    headline: 'A header that names a user, without a credential, gets {answer}',
    why: 'Anyone can write X-Forwarded-User: admin into a request that reaches the service past its gateway.',
    change: 'Take such headers from your own gateway alone, and remove them from what clients send.',
  }),

  check('auth.wrong-key-elsewhere', {
    title: 'refuses a wrong key in any other header, cookie or parameter',
    headline: 'A wrong key in another header, a cookie or the query gets {answer}',
    why: 'A second way of signing in that only looks whether a key is there lets everybody in.',
    change: 'Compare the key at every place from which you take it, session cookies included.',
    grounds: [clause('auth.scheme'), practice('OWASP API2:2023')],
    applies: [credentialDemanded],
    restsOn: [missingCredential, wrongCredential],
    uses: [way.wrongKeyElsewhere],
    judge: ({ expect }) => expect().toBeUnserved(),
  }),

  // RFC 9110 §13.2.1: a precondition is ignored where the answer without it would be no 2xx.
  check('auth.conditional', {
    title: 'asks for a credential before it compares an ETag',
    headline: 'The right ETag without a credential gets {answer}',
    why: 'Anyone can find out whether protected content has changed, and caches renew what they may not hold.',
    change: 'Check the credential first, and look at If-None-Match only for requests that you would serve.',
    grounds: [rfc9110('13.2.1', 'MUST')],
    applies: [credentialDemanded],
    restsOn: [missingCredential],
    uses: [way.conditionalWithoutCredential],
    judge: ({ expect }) =>
      expect().toConform('a refusal, as without If-None-Match', (reply) =>
        reply.served || reply.response.status === 304 ? `status ${reply.response.status}` : null,
      ),
  }),
];

const everyOrigin = when((config) => {
  const policy = pagePolicy(config);
  return policy === null || policy.origins.includes('*');
}, 'the documents name the origins that may call: cors.unnamed-origin holds it to that');
const originsOpen = when(
  (config) => pagePolicy(config) === null,
  'the documents name the origins that may call: cors.preflight holds it to that',
);

// A repeated Origin together with credentials lets any page use what the browser holds; with a wildcard a browser
// refuses it (Fetch §3.3.5, CORS check).
export const foreignOriginKept = check('auth.foreign-origin', {
  title: 'does not let pages of any origin use the credentials of their visitors',
  headline: 'Pages of any origin may use the login of their visitors: {got}',
  why: 'Any web page can call the API in the name of whoever visits it, and read the answers.',
  change:
    'List the origins that you trust. Never repeat the Origin of a request together with Access-Control-Allow-Credentials.',
  grounds: [practice('OWASP API8:2023')],
  applies: [credentialed, everyOrigin],
  uses: [way.foreignOrigin, way.preflight],
  judge: ({ expect }) =>
    expect()
      .where(({ status }) => status !== null, 'no response came that could let pages in')
      .toConform('pages of other origins kept out', ({ response }) => {
        const allowed = response.field('access-control-allow-origin') ?? '';
        const withCredentials = response.field('access-control-allow-credentials') === 'true';
        return withCredentials && ['null', way.FOREIGN_ORIGIN].includes(allowed)
          ? `Access-Control-Allow-Origin: ${allowed} with Access-Control-Allow-Credentials: true`
          : null;
      }),
});

// Fetch §4.8: a preflight never carries a credential, and whatever is no 2xx ends the call.
const preflightAnswered = check('auth.preflight', {
  title: 'answers the preflight of a page that may read its answers',
  headline: 'The preflight of a page that may call the API gets {answer}',
  why: 'Browsers ask with OPTIONS, and without the credential. If that is refused, the page cannot call at all.',
  change:
    'Answer preflights before you ask for a credential: 204 with the origin, method and headers that you allow.',
  grounds: [practice('Fetch §4.8, CORS-preflight fetch')],
  applies: [credentialed, originsOpen],
  uses: [way.foreignOrigin, way.preflight],
  async judge({ probe, expect, notApplicable }) {
    const foreign = await probe(way.foreignOrigin);
    if (foreign.status === null) notApplicable('no response came that could let pages in');
    const allowed = foreign.response.field('access-control-allow-origin');
    if (allowed !== '*' && allowed !== way.FOREIGN_ORIGIN)
      notApplicable('no page of another origin may read its answers');
    await expect(way.preflight).toConform(
      'a 2xx status that allows the origin and the header of the credential',
      ({ served, response, exchange }) => {
        if (!served) return `status ${response.status}`;
        const origin = response.field('access-control-allow-origin');
        if (origin !== '*' && origin !== way.FOREIGN_ORIGIN)
          return `Access-Control-Allow-Origin: ${origin ?? 'none'}`;
        const names = response.elements('access-control-allow-headers').map((name) => name.toLowerCase());
        const asked =
          exchange.request.fields.find(([name]) => name === 'Access-Control-Request-Headers')?.[1] ?? '';
        // The wildcard does not stand for Authorization (Fetch §3.3.3).
        const isAllowed = names.includes(asked) || (names.includes('*') && asked !== 'authorization');
        return isAllowed ? null : `${asked} not allowed by Access-Control-Allow-Headers`;
      },
    );
  },
});

/** What pages of other origins get, and what a request gets that no credential opens. */
export const browsers = [
  foreignOriginKept,

  preflightAnswered,

  check('auth.content-withheld', {
    title: 'keeps what the credential opens out of refusals and preflights',
    headline: 'What only the key should open is sent without it: {got}',
    why: 'The status says no, and the body gives the data away all the same.',
    change: 'End the request where you refuse it, so that no handler writes its answer behind the refusal.',
    grounds: [clause('auth.scheme'), practice('OWASP API2:2023')],
    applies: [credentialed],
    restsOn: [missingCredential],
    uses: [
      way.preflight,
      sample,
      credential.withoutCredential,
      unknownPath,
      unknownPathWithoutCredential,
      everyExchange,
    ],
    async judge({ probe, expect, violated, blocked, notApplicable }) {
      await expect(sample).toBeRead('content that is known again', IN_CONTENT);
      const holdsContent = recognizing((await probe(sample)).response.text ?? '');
      if (holdsContent === null) return notApplicable('the sample has too little content to be known again');
      const open = await probe(unknownPathWithoutCredential);
      const isGuarded = !(await probe(credential.withoutCredential)).served;
      if (isGuarded && open.served && holdsContent(open))
        violated('nothing of what is served', 'all of it at a path that does not exist', open.evidence);
      const isEverywhere = holdsContent(await probe(unknownPath));
      await expect(way.preflight, everyExchange)
        .where(({ served, exchange }) => exchange.request.method === 'OPTIONS' || !served)
        .where(({ exchange }) => exchange.credential === 'none' || exchange.credential === 'wrong')
        .toConform(
          'nothing of what is served',
          (reply) => {
            if (!holdsContent(reply)) return null;
            if (isEverywhere)
              blocked(
                'a refusal and a path that does not exist have the content of the sample: any answer may',
              );
            return `all of it with status ${reply.response.status}`;
          },
          THROUGHOUT,
        );
    },
  }),
];

/** Characters that no other answer contains by accident, and content that no other answer is by accident. */
const LEAST_PART = 24;
const LEAST_WHOLE = 8;

/** Whether a response has the content; null if it cannot be recognized. */
function recognizing(content: string): ((reply: Reply) => boolean) | null {
  const text = content.trim();
  const textIn = ({ response }: Reply) => response.text ?? '';
  if (text.length >= LEAST_PART) return (reply) => textIn(reply).includes(text);
  // An error may be as empty as a success.
  const values = text.replaceAll(/"[^"]*"\s*:|\b(?:null|true|false)\b|[\s{}[\]:,"]/g, '');
  if (text.length < LEAST_WHOLE || values === '') return null;
  return (reply) => textIn(reply).trim() === text;
}

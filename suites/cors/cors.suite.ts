import {
  type CheckDefinition,
  check,
  clause,
  clients,
  credentialDemanded,
  observation,
  type Probe,
  practice,
  settled,
  suite,
  when,
} from '../../harness/engine/check/suite.ts';
import { FOREIGN_ORIGIN, foreignOrigin, preflight } from '../auth/stimuli/way-around.ts';
import { foreignOriginKept } from '../auth/ways-around.ts';
import { everyExchange, isForTheCredential } from '../stimuli/record.ts';
import { sample } from '../stimuli/sample.ts';
import * as page from './stimuli/page.ts';
import * as answer from './stimuli/page-answer.ts';

const originsNamed = settled('cors.origins');
const credentialsAllowed = when(
  (config) => page.pagePolicy(config)?.credentials === true,
  'the documents do not say that pages may send cookies (cors.origins)',
);
const credentialsForbidden = when(
  (config) => page.pagePolicy(config)?.credentials === false,
  'the documents do not say that pages may send no cookies (cors.origins)',
);
const someOrigins = when(
  (config) => !page.pagePolicy(config)?.origins.includes('*'),
  'pages of every origin may call it (cors.origins)',
);
const exposedStated = when(
  (config) => page.pagePolicy(config)?.exposed.length,
  'the documents name no header that pages may read (cors.origins)',
);

const UNTOLD = 'no answer says whose pages may read it (Access-Control-Allow-Origin)';
const NONE_NAMED = 'no such answer was for a page of a named origin';
const grounds = [clause('cors.origins')];

/** Requests for pages are sent only where origins are named; elsewhere the record of others has to do. */
const everyAnswerWith =
  (...pages: readonly Probe<unknown>[]): CheckDefinition['uses'] =>
  (config) =>
    originsNamed(config) === null ? [...pages, everyExchange] : [everyExchange];
const withPages = everyAnswerWith(page.namedPages, page.namedPreflights);

// Fetch §4.9: browsers compare the value with the origin of the page; a list or a doubled header is none.
const originForm = check('cors.origin-form', {
  title: 'names one origin, every origin or none in Access-Control-Allow-Origin',
  headline: 'Access-Control-Allow-Origin is not one origin: {got}',
  why: 'Browsers compare the value with the origin of the page. A list, or the header twice, fits no page.',
  change: 'Set the header in one place, in the service or in its proxy, to the one origin of the request.',
  grounds: [clients('browsers take one origin or * in Access-Control-Allow-Origin')],
  uses: withPages,
  judge: ({ expect }) =>
    expect(everyExchange)
      .where(({ response }) => response.has(answer.ALLOW_ORIGIN), UNTOLD)
      .toConform('one origin, or *', answer.allowOriginFault),
});

// Fetch §3.3.3: `true`, in small letters.
const credentialsForm = check('cors.credentials-form', {
  title: 'writes Access-Control-Allow-Credentials as true',
  headline: 'Access-Control-Allow-Credentials is not true in small letters: {got}',
  why: 'Browsers take true alone. With another word they keep the answer from the page.',
  change: 'Send Access-Control-Allow-Credentials: true, once and in small letters.',
  grounds: [clients('browsers take the word true in small letters alone')],
  uses: withPages,
  judge: ({ expect }) =>
    expect(everyExchange)
      .where(({ response }) => response.has('access-control-allow-credentials'), 'no answer allows cookies')
      .toConform('true', answer.allowCredentialsFault),
});

/** Forms of the headers for pages. */
const forms = [
  originForm,
  credentialsForm,

  // Fetch §3.3.3: if the list cannot be read, the preflight has failed.
  check('cors.list-form', {
    title: 'lists methods and headers for pages with commas',
    headline: 'A list of methods or headers for pages is malformed: {got}',
    why: 'Browsers cannot read the list, and do not send the request that it was for.',
    change: 'Write names with commas between them: GET, PUT, DELETE.',
    grounds: [clients('browsers end a preflight whose lists they cannot read')],
    uses: withPages,
    judge: ({ expect }) =>
      expect(everyExchange)
        .where(({ response }) => response.has(answer.ALLOW_ORIGIN), UNTOLD)
        .toConform('names with commas between them', answer.nameListFault),
  }),

  // Fetch §3.3.3: delta-seconds; else browsers keep the permission for five seconds.
  check('cors.max-age-form', {
    title: 'says in seconds how long a preflight holds',
    headline: 'Access-Control-Max-Age is no number of seconds: {got}',
    why: 'Browsers pass over the value, and ask again before nearly every request.',
    change: 'Write a number of seconds: Access-Control-Max-Age: 600.',
    grounds: [practice('Fetch §3.3.3, Access-Control-Max-Age')],
    uses: withPages,
    judge: ({ expect }) =>
      expect(everyExchange)
        .where(answer.saysHowLong, 'no answer has Access-Control-Max-Age')
        .toConform('a number of seconds', answer.maxAgeFault),
  }),

  // Fetch §3.3.5: a cache would give an answer for one origin to the page of another.
  check('cors.vary', {
    title: 'says that an answer depends on the origin (Vary: Origin)',
    headline: 'Answers differ by origin and do not say so in Vary: {got}',
    why: 'A cache gives the answer for one page to another one, and the browser keeps it from that page.',
    change: 'Send Vary: Origin with every answer to such a request, also if it allows no page.',
    grounds: [practice('Fetch §3.3.5, CORS protocol and HTTP caches')],
    restsOn: [originForm, foreignOriginKept],
    uses: everyAnswerWith(page.namedPages, foreignOrigin, sample),
    async judge({ probe, expect }) {
      const { all, shortfall } = await probe(everyExchange);
      const cached = all.filter(
        (reply) =>
          reply.served && reply.isOrdinary && ['GET', 'HEAD'].includes(reply.exchange.request.method),
      );
      const apart = cached.filter(
        (reply) =>
          answer.originOf(reply) !== null && cached.some((other) => answer.differsByOrigin(reply, other)),
      );
      await expect({ all: apart, shortfall })
        .where(() => true, 'no answer differs by the origin of the page')
        .toConform('Origin in Vary', (reply) =>
          answer.mayBeShared(reply) ? `Vary: ${reply.response.vary.join(', ') || 'none'}` : null,
        );
    },
  }),
];

// Fetch §4.9, CORS check.
export const namedOrigin = check('cors.named-origin', {
  title: 'lets pages of the named origins read its answers',
  headline: 'A page of a named origin may not read the answer: {got}',
  why: 'The request is served, and the browser gives the page an error all the same.',
  change: 'Answer a request with that Origin with Access-Control-Allow-Origin and the same origin.',
  grounds,
  applies: [originsNamed],
  restsOn: [originForm],
  uses: [page.namedPages],
  judge: ({ expect }) =>
    expect()
      .where(({ served }) => served, 'the sample is not served for a page')
      .toConform('Access-Control-Allow-Origin with the origin of the page', answer.unreadable),
});

// Fetch §3.3.5: with credentials the wildcard stands for no origin.
const wildcard = check('cors.wildcard-with-credentials', {
  title: 'names the origin where pages may send cookies, and no wildcard',
  headline: 'Pages may send cookies, and the allowed origin is a wildcard: {got}',
  why: 'Browsers take no wildcard for a request with cookies, and keep the answer from the page.',
  change: 'Send the origin of the request in place of *, if it is one that you trust, and Vary: Origin.',
  grounds: [...grounds, clients('browsers take no * for a request with cookies')],
  applies: [originsNamed, credentialsAllowed],
  restsOn: [originForm],
  uses: [page.namedPages, page.errorForPage, page.namedPreflights, everyExchange],
  judge: ({ expect, service }) =>
    expect()
      .where(answer.isForNamed(page.pagePolicy(service)), NONE_NAMED)
      .toConform('the origin of the page', (reply) =>
        answer.allowsAny(reply) ? 'Access-Control-Allow-Origin: *' : null,
      ),
});

/** The answers to requests for pages of named origins, and of others. */
const answers = [
  namedOrigin,
  wildcard,

  check('cors.credentials', {
    title: 'lets the named pages send cookies, as documented',
    headline: 'Pages of a named origin may not send cookies: {got}',
    why: 'A page that sends cookies along, as the documents allow, gets an error in place of the answer.',
    change: 'Send Access-Control-Allow-Credentials: true with each answer to a named origin.',
    grounds,
    applies: [originsNamed, credentialsAllowed],
    restsOn: [credentialsForm, wildcard, namedOrigin],
    uses: [page.namedPages, page.namedPreflights],
    judge: ({ expect }) =>
      expect()
        .where(({ served }) => served, NONE_NAMED)
        .toConform('Access-Control-Allow-Credentials: true', (reply) =>
          answer.letsRead(reply, answer.originOf(reply)) && !answer.allowsCredentials(reply) ? 'none' : null,
        ),
  }),

  check('cors.no-credentials', {
    title: 'lets no page send cookies, as documented',
    headline: 'Pages may send cookies, and the documents say that they may not',
    why: 'A page can act with the cookies of its reader.',
    change: 'Leave Access-Control-Allow-Credentials out.',
    grounds,
    applies: [originsNamed, credentialsForbidden],
    uses: [page.namedPages, page.namedPreflights, everyExchange],
    judge: ({ expect, service }) =>
      expect()
        .where(answer.isForNamed(page.pagePolicy(service)), NONE_NAMED)
        .toConform('no Access-Control-Allow-Credentials', (reply) =>
          answer.allowsCredentials(reply) ? 'Access-Control-Allow-Credentials: true' : null,
        ),
  }),

  // A browser gives a page no status of an answer that it may not read.
  check('cors.errors', {
    title: 'lets the named pages read its errors as well',
    headline: 'A page may read successes, and not an error: {got}',
    why: 'The page sees a failed connection, and never the status and the reason.',
    change: 'Set the headers for pages before anything else is decided, so that errors have them too.',
    grounds,
    applies: [originsNamed],
    restsOn: [namedOrigin],
    uses: [page.errorForPage, page.namedPages, everyExchange],
    judge: ({ expect, service }) =>
      expect()
        .where(answer.isForNamed(page.pagePolicy(service)))
        .where(
          (reply) =>
            reply.response.status >= 400 &&
            reply.response.status !== 429 &&
            !isForTheCredential(reply) &&
            !answer.isPreflight(reply),
          NONE_NAMED,
        )
        .toConform('Access-Control-Allow-Origin as with a success', answer.unreadable),
  }),

  check('cors.refusals', {
    title: 'lets the named pages read refusals of a credential',
    headline: 'A page may not read the refusal of its credential: {got}',
    why: 'The page cannot tell an expired key from a lost connection, and never signs in again.',
    change: 'Set the headers for pages before the credential is checked.',
    grounds,
    applies: [originsNamed, credentialDemanded],
    restsOn: [namedOrigin],
    uses: [page.refusalForPage, page.namedPages, everyExchange],
    judge: ({ expect, service }) =>
      expect()
        .where(answer.isForNamed(page.pagePolicy(service)))
        .where(
          (reply) => isForTheCredential(reply) && !reply.served && !answer.isPreflight(reply),
          NONE_NAMED,
        )
        .toConform('Access-Control-Allow-Origin as with a success', answer.unreadable),
  }),

  // Fetch §4.1: a page reads the listed headers alone.
  check('cors.exposed', {
    title: 'lets pages read the headers that the documents name',
    headline: 'A header that pages may read is not exposed: {got}',
    why: 'The header is sent, and the browser hides it from the page.',
    change: 'Name it in Access-Control-Expose-Headers of each answer that has it.',
    grounds,
    applies: [originsNamed, exposedStated],
    restsOn: [namedOrigin],
    uses: [page.namedPages, everyExchange],
    judge({ expect, service }) {
      const policy = page.pagePolicy(service);
      return expect()
        .where(answer.isReadBy(policy))
        .where((reply) => answer.hasStated(reply, policy), NONE_NAMED)
        .toConform('each of them in Access-Control-Expose-Headers', (reply) =>
          answer.hiddenStated(reply, policy),
        );
    },
  }),

  check('cors.quota-exposed', {
    title: 'lets pages read how much of their quota is left',
    headline: 'Pages cannot read the quota headers: {got}',
    why: 'A page cannot see its limit coming, nor how long it has to wait.',
    change: 'Name the quota headers and Retry-After in Access-Control-Expose-Headers.',
    grounds: [practice('quota headers that pages can read')],
    applies: [originsNamed],
    restsOn: [namedOrigin],
    uses: [page.namedPages, everyExchange],
    judge({ expect, service }) {
      const policy = page.pagePolicy(service);
      return expect()
        .where(answer.isReadBy(policy))
        .where((reply) => answer.hasQuota(reply, policy), NONE_NAMED)
        .toConform('each of them in Access-Control-Expose-Headers', (reply) =>
          answer.hiddenQuota(reply, policy),
        );
    },
  }),
];

// Fetch §4.8: a preflight has no credential.
const preflightCredential = check('cors.preflight-credential', {
  title: 'asks for no credential in a preflight',
  headline: 'A preflight without a credential gets {answer}',
  why: 'Browsers never send one with a preflight, so the page cannot call at all.',
  change: 'Answer preflights before the credential is checked.',
  grounds: [...grounds, clients('browsers send preflights without a credential')],
  applies: [originsNamed],
  uses: [page.namedPreflights],
  judge: ({ expect }) =>
    expect().toConform('no demand for a credential', ({ response: { status } }) =>
      status === 401 || status === 403 || status === 407 ? `status ${status}` : null,
    ),
});

// Fetch §4.8: an ok status, 200 to 299, and the CORS check.
const preflightStatus = check('cors.preflight', {
  title: 'answers the preflights of the named pages with 2xx and their origin',
  headline: 'The preflight of a named page is not answered with its origin: {got}',
  why: 'The browser ends the call before it sends the request.',
  change:
    'Answer OPTIONS with Access-Control-Request-Method with 204 and the origin, wherever something is served.',
  grounds: [...grounds, clients('browsers take a 2xx with the origin of the page')],
  applies: [originsNamed],
  restsOn: [preflightCredential, originForm],
  uses: [page.namedPreflights],
  judge: ({ expect, note, service }) => {
    const unasked = page.unaskedOperations(service);
    if (unasked > 0) note(`The preflights of ${unasked} more operations were not sent.`);
    return expect().toConform('status 2xx and the origin of the page', (reply) =>
      reply.served ? answer.unreadable(reply) : `status ${reply.response.status}`,
    );
  },
});

/** Those of the operations, too. */
const preflights = [
  preflightCredential,
  preflightStatus,

  // Fetch §4.8: byte by byte; GET, HEAD and POST need no permission.
  check('cors.preflight-methods', {
    title: 'allows the documented methods in preflights',
    headline: 'A documented method is not allowed to pages: {got}',
    why: 'The browser does not send the request.',
    change: 'Name the method in Access-Control-Allow-Methods, in capitals. With cookies * is no wildcard.',
    grounds: [...grounds, clients('browsers send no method that the preflight did not allow')],
    applies: [originsNamed],
    restsOn: [preflightStatus],
    uses: [page.namedPreflights],
    judge({ expect, service }) {
      const policy = page.pagePolicy(service);
      return expect()
        .where(({ served }) => served, 'no preflight is answered')
        .toConform('the method in Access-Control-Allow-Methods', (reply) =>
          answer.refusedMethod(reply, policy),
        );
    },
  }),

  // Fetch §4.8: in any letter case; * stands neither for Authorization nor for anything with credentials.
  check('cors.preflight-headers', {
    title: 'allows the documented headers in preflights',
    headline: 'A documented header is not allowed to pages: {got}',
    why: 'The browser does not send the request.',
    change:
      'Name the header in Access-Control-Allow-Headers. The wildcard * never stands for Authorization, and with cookies for nothing.',
    grounds: [...grounds, clients('browsers send no header that the preflight did not allow')],
    applies: [originsNamed],
    restsOn: [preflightStatus],
    uses: [page.namedPreflights],
    judge({ expect, service }) {
      const policy = page.pagePolicy(service);
      return expect()
        .where(({ served }) => served, 'no preflight is answered')
        .toConform('the headers in Access-Control-Allow-Headers', (reply) =>
          answer.refusedHeaders(reply, policy),
        );
    },
  }),

  // Private Network Access was never finished, and few browsers ask.
  observation('cors.private-network', {
    title: 'says whether public pages may call it in a private network',
    why: 'Some browsers ask before a public page calls a private network.',
    grounds: [practice('Private Network Access')],
    applies: [originsNamed],
    uses: [page.privatePreflight],
    async observe({ probe }) {
      const { response } = await probe(page.privatePreflight);
      const value = response.field('access-control-allow-private-network') ?? null;
      return {
        seen: value,
        note: value === null ? 'nothing is said of private networks' : `it says ${value}`,
      };
    },
  }),
];

const unnamedOrigin = check('cors.unnamed-origin', {
  title: 'lets no page of another origin read its answers',
  headline: 'A page of an origin that is not named may read the answer: {got}',
  why: 'The documents name the origins that may call. Any other page may as well.',
  change: 'Compare the Origin of the request with your list, and send no header for pages otherwise.',
  grounds,
  applies: [originsNamed, someOrigins],
  restsOn: [wildcard],
  uses: [foreignOrigin, preflight],
  judge: ({ expect }) =>
    expect().toConform('no permission for that origin', (reply) =>
      answer.letsRead(reply, FOREIGN_ORIGIN)
        ? `Access-Control-Allow-Origin: ${reply.response.field(answer.ALLOW_ORIGIN)}`
        : null,
    ),
});

/** Origins that are not named. */
const others = [
  unnamedOrigin,

  // Any page can get this origin, in a sandboxed frame.
  check('cors.null-origin', {
    title: 'does not let pages of the origin null in',
    headline: 'Pages of the origin null may read the answer',
    why: 'Any page can make itself one of the origin null, in a frame of its own.',
    change: 'Take null out of your list of origins.',
    grounds: [...grounds, practice('OWASP API8:2023')],
    applies: [originsNamed, someOrigins],
    restsOn: [unnamedOrigin],
    uses: [page.nullOrigin],
    judge: ({ expect }) =>
      expect().toConform('no permission for null', (reply) =>
        answer.letsRead(reply, 'null') ? 'Access-Control-Allow-Origin: null' : null,
      ),
  }),

  // A comparison by prefix, suffix or regular expression lets in what an attacker can register.
  check('cors.look-alikes', {
    title: 'does not let in an origin that looks like a named one',
    headline: 'An origin that only looks like a named one may read the answer: {got}',
    why: 'Whoever registers such a name, or listens there, can call with the rights of your own pages.',
    change: 'Compare the whole origin, with scheme and port: no prefix, no suffix, no loose pattern.',
    grounds: [...grounds, practice('OWASP API8:2023')],
    applies: [originsNamed, someOrigins],
    restsOn: [unnamedOrigin],
    uses: [page.lookAlikePages],
    judge: ({ expect }) =>
      expect().toConform('no permission for that origin', (reply) => {
        const origin = answer.originOf(reply);
        return answer.letsRead(reply, origin) ? `${origin} let in` : null;
      }),
  }),
];

export const cors = suite('cors', 'Pages of other origins (CORS)', [
  ...forms,
  ...answers,
  ...preflights,
  ...others,
]);

import {
  check,
  clients,
  credentialDemanded,
  practice,
  suite,
  when,
} from '../../harness/engine/check/suite.ts';
import { FOREIGN_ORIGIN, foreignOrigin, preflight } from '../auth/stimuli/way-around.ts';
import { everyExchange, isForTheCredential } from '../stimuli/record.ts';
import { credentialsForm, forms, grounds, originForm, originsNamed } from './forms.ts';
import { preflights } from './preflights.ts';
import * as page from './stimuli/page.ts';
import * as answer from './stimuli/page-answer.ts';

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

const NONE_NAMED = 'no such answer was for a page of a named origin';
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
    expect().toConform('Access-Control-Allow-Origin with the origin of the page', (reply) =>
      // Without Origin it is served.
      reply.served ? answer.unreadable(reply) : `status ${reply.response.status}`,
    ),
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

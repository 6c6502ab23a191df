import { check, given, IN_JSON, practice, type Reply, rfc, when } from '../../harness/engine/check/suite.ts';
import * as token from './stimuli/token-endpoint.ts';

const tokensIssued = when(
  ({ credentials }) => credentials.trials,
  'no token is fetched from a token endpoint (credentials.tokenUrl)',
);
/** Wrong requests to another server are for its owner. */
const issuedHere = when(
  ({ credentials }) => !credentials.isLentElsewhere,
  'the tokens are issued by another server (credentials.tokenUrl)',
);

const NONE_ISSUED = 'no token was issued';
const NONE_REFUSED = 'no such request was refused';
const isRefused = ({ status }: Reply) => status !== null && status >= 400 && status < 500;

// RFC 6749 §3.2.1: the client authenticates itself.
const wrongSecret = check('auth.token-wrong-secret', {
  title: 'issues no token for a wrong client secret or to an unknown client',
  headline: 'A token is issued to a client with a wrong name or secret: {got}',
  why: 'Anyone who knows, or invents, the name of a client gets a token for the API.',
  change: 'Compare the whole secret of the client before anything is issued.',
  grounds: [rfc(6749, '3.2.1', 'MUST')],
  applies: [issuedHere],
  uses: [token.wrongSecret, token.wrongClient],
  judge: ({ expect }) => expect().toBeUnserved(),
});

// RFC 6749 §5.2: 400, or 401; 401 with a challenge if the client came with Authorization.
const refusalStatus = check('auth.token-refusal-status', {
  title: 'refuses a wrong client at the token endpoint with 401 and a challenge',
  headline: 'A wrong client secret at the token endpoint gets {got}',
  why: 'Libraries tell a wrong secret from a broken server by the status.',
  change:
    'Answer invalid_client with 401 and WWW-Authenticate: Basic if the client used Authorization, else 400 or 401.',
  grounds: [rfc(6749, '5.2', 'MUST')],
  applies: [issuedHere],
  restsOn: [wrongSecret],
  uses: [token.wrongSecret, token.wrongClient],
  judge: ({ expect }) =>
    expect()
      .where(({ served }) => !served, NONE_REFUSED)
      .toConform('400, or 401 with a challenge to Authorization', (reply) => {
        const { status } = reply.response;
        if (status !== 401) return status === 400 && !token.isByField(reply) ? null : `status ${status}`;
        const isChallenged = !token.isByField(reply) || reply.response.has('www-authenticate');
        return isChallenged ? null : 'status 401 without WWW-Authenticate';
      }),
});

// RFC 6749 §5.2
const errorForm = check('auth.token-error-form', {
  title: 'explains refusals of its token endpoint in JSON, by an error code',
  headline: 'A refusal of the token endpoint is not in the form of OAuth: {got}',
  why: 'Libraries read the error from JSON, and report an unknown failure if it is not there.',
  change: 'Answer with application/json, and the code, such as invalid_client, in the member error.',
  grounds: [rfc(6749, '5.2', 'MUST')],
  applies: [issuedHere],
  restsOn: [refusalStatus],
  uses: [token.wrongSecret, token.wrongClient, token.unknownScope, token.unknownGrant],
  judge: ({ expect }) =>
    expect().where(isRefused, NONE_REFUSED).toConform('JSON with an error code', token.errorFault, IN_JSON),
});

/** Of the token endpoint of the service itself; answers with tokens are judged wherever they come from. */
const checks = [
  // RFC 6749 §5.1
  check('auth.token-not-stored', {
    title: 'lets no cache store a token',
    headline: 'A cache may store the answer with the token: {got}',
    why: 'Whoever reads the cache can call with the token.',
    change: 'Send Cache-Control: no-store with each answer that has a token.',
    grounds: [rfc(6749, '5.1', 'MUST')],
    uses: [token.issuedTokens],
    judge: ({ expect }) =>
      expect()
        .where(() => true, NONE_ISSUED)
        .toConform('Cache-Control: no-store', ({ response }) =>
          response.cacheControl.has('no-store')
            ? null
            : `Cache-Control: ${response.field('cache-control') ?? 'none'}`,
        ),
  }),

  check('auth.token-answer', {
    title: 'issues tokens as JSON with access_token and token_type',
    headline: 'The answer with the token is not in the form of OAuth: {got}',
    why: 'Libraries refuse a token whose answer they cannot read.',
    change: 'Answer with application/json and the members access_token and token_type.',
    grounds: [rfc(6749, '5.1', 'MUST')],
    uses: [token.issuedTokens],
    judge: ({ expect }) =>
      expect()
        .where(() => true, NONE_ISSUED)
        .toConform('JSON with access_token and token_type', token.tokenAnswerFault, IN_JSON),
  }),

  check('auth.token-lifetime-form', {
    title: 'says in seconds how long a token is valid',
    headline: 'The lifetime of a token is no number of seconds: {got}',
    why: 'Clients do not know when to fetch the next token, and call with one that has expired.',
    change: 'Write expires_in as a JSON number of seconds: 3600.',
    grounds: [rfc(6749, '5.1', 'MUST')],
    uses: [token.issuedTokens],
    judge: ({ expect }) =>
      expect()
        .where(() => true, NONE_ISSUED)
        .toConform('a number of seconds in expires_in', token.lifetimeFault, IN_JSON),
  }),

  wrongSecret,
  refusalStatus,
  errorForm,

  // RFC 6749 §5.2: invalid_client is for an unknown client and for failed authentication.
  check('auth.token-client-error', {
    title: 'calls a wrong client secret invalid_client',
    headline: 'A wrong client secret is called {got}',
    why: 'Clients fetch a new secret on invalid_client alone.',
    change: 'Answer a wrong client or secret with the error invalid_client.',
    grounds: [rfc(6749, '5.2', 'MUST')],
    applies: [issuedHere],
    restsOn: [errorForm],
    uses: [token.wrongSecret, token.wrongClient],
    judge: ({ expect }) =>
      expect()
        .where(isRefused, NONE_REFUSED)
        .toConform(
          'invalid_client',
          (reply) => {
            const error = token.errorOf(reply);
            return ['invalid_client', 'unauthorized_client'].includes(error) ? null : error;
          },
          IN_JSON,
        ),
  }),

  // RFC 6749 §3.3: refused with invalid_scope, or left out of the scope in the response.
  check('auth.token-scope', {
    title: 'refuses an unknown scope, or says which scope was granted instead',
    headline: 'A request for an unknown scope gets {got}',
    why: 'The client believes that it may do what it asked for.',
    change: 'Answer with 400 and invalid_scope, or name the granted scope in the member scope.',
    grounds: [rfc(6749, '3.3', 'MUST')],
    applies: [issuedHere],
    uses: [token.unknownScope],
    judge: ({ expect }) =>
      expect().toConform('invalid_scope, or the scope that was granted', token.scopeFault, IN_JSON),
  }),

  // RFC 6749 §5.2
  check('auth.token-grant-type', {
    title: 'refuses a grant type that it does not know',
    headline: 'An unknown grant type gets {answer}',
    why: 'Whoever names another grant type gets around the checks of the real one.',
    change: 'Answer with 400 and unsupported_grant_type.',
    grounds: [rfc(6749, '5.2', 'MUST')],
    applies: [issuedHere],
    uses: [token.unknownGrant],
    judge: ({ expect }) => expect().toHaveStatus(400, 401),
  }),

  // RFC 6749 §3.2: the client uses POST; what stands in a URL is logged.
  check('auth.token-by-get', {
    title: 'issues no token by GET',
    headline: 'A token is issued by GET: {got}',
    why: 'Addresses with secrets and tokens end up in logs and caches.',
    change: 'Take POST alone at the token endpoint, and answer GET with 405.',
    grounds: [practice('RFC 6749 §3.2, POST at the token endpoint')],
    applies: [issuedHere],
    uses: [token.byGet],
    judge: ({ expect }) => expect().toBeUnserved(),
  }),
];

export const tokenEndpoint = given([tokensIssued], checks);

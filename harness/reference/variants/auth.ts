import { cookiePair, headerField, queryParameter } from '../../config/credential/carrier.ts';
import { EVERY, REALTIME, REST, SEARCH, tableOf, under, type Variant } from '../behavior/deviation.ts';
import { alsoAt, inAccess, inCredentials } from '../behavior/patches/parts.ts';
import { aroundHandling, beforehand, onAnswer, onReceipt, together } from '../behavior/patches/patch.ts';
import { allowingOrigin, namingMetadata } from '../behavior/patches/requests.ts';
import { ISSUING, onIssue, onTokenRefusal } from '../behavior/patches/tokens.ts';
import { answerWithin } from '../behavior/preconditions.ts';
import { REVOKED_KEY } from '../credentials.ts';
import { CREDENTIAL_REFUSALS, type HttpAnswer, problem, type ResponseKind } from '../http/answer.ts';
import { asProblem, having, holding, withMembers } from '../http/answer-changes.ts';
import { fieldValue, fieldValues, sending, withField, withFields, withoutField } from '../http/message.ts';
import { findRoute } from '../http/routes.ts';

const NOT_OFFERED: readonly ResponseKind[] = ['method-not-allowed', 'unknown-method'];

/** 403 without a challenge in place of the answer. */
function forbidden(answer: HttpAnswer): HttpAnswer {
  return asProblem(403)(withoutField(answer, 'WWW-Authenticate'));
}

export const AUTH_VARIANTS = tableOf<Variant>(EVERY, {
  'refuses-403-for-wrong-key': {
    summary: 'answers a wrong key with 403, a missing one with 401',
    changes: ['auth.refusal-status', 'websocket.refusal'],
    patch: onAnswer('wrong-credential', forbidden),
  },
  'refuses-403-for-missing-key': {
    summary: 'answers a missing key with 403, like a wrong one (RFC 9110 §15.5.4)',
    changes: ['auth.refusal-status', 'websocket.refusal'],
    patch: onAnswer(CREDENTIAL_REFUSALS, forbidden),
  },
  'compares-decoded-keys': {
    summary: 'compares the octets that keys stand for in base64, and not how they are written (RFC 4648)',
    unseen: 'no wrong key that is tried means the right one',
    patch: inCredentials(({ keyMatches }) => ({
      keyMatches: (presented, key) =>
        keyMatches(presented, key) || Buffer.from(presented, 'base64').equals(Buffer.from(key, 'base64')),
    })),
  },
  'not-found-before-auth': {
    summary: 'says 404 for an unknown path before it looks at the credential',
    changes: ['status.unknown-path-without-credential'],
    patch: onAnswer(CREDENTIAL_REFUSALS, (answer, { path }, { service: { routes, sockets } }) => {
      const known = findRoute<{ readonly template: string }>([...routes, ...sockets], path) !== null;
      return known ? answer : problem('not-found');
    }),
  },
  'method-before-auth': {
    summary: 'says 405 or 501 for a method before it looks at the credential',
    unseen: 'all that is tried without a credential is a method that it serves',
    patch: aroundHandling(async (request, next, kernel) => {
      const answer = await next(request, kernel);
      if (!CREDENTIAL_REFUSALS.includes(answer.responseKind)) return answer;
      const match = findRoute(kernel.service.routes, request.path);
      const anyway = answerWithin(request, match, kernel);
      return NOT_OFFERED.includes(anyway.responseKind) ? anyway : answer;
    }),
  },
  'says-that-a-key-is-revoked': {
    setting: 'revoked keys',
    summary: 'answers a key that was revoked with 403, and says since when',
    patch: onAnswer('wrong-credential', (answer, request) =>
      fieldValue(request, 'authorization')?.endsWith(REVOKED_KEY)
        ? asProblem(403, 'Revoked on 1 March')(withoutField(answer, 'WWW-Authenticate'))
        : answer,
    ),
  },
  'api-key-header': {
    setting: 'header',
    summary: 'takes the key in X-API-Key as well',
    patch: alsoAt(headerField('X-API-Key')),
  },
  'query-key': {
    setting: 'query',
    summary: 'takes the key in the query parameter api_key as well',
    patch: alsoAt(queryParameter('api_key')),
  },
  'cookie-key': {
    setting: 'cookie',
    summary: 'takes the key in the cookie session as well',
    patch: alsoAt(cookiePair('session')),
  },
  'documents-query-key': {
    setting: 'query documented',
    summary: 'takes the key in the query as well, as its documents say',
    changes: ['auth.location'],
    patch: alsoAt(queryParameter('api_key')),
  },
  'wildcard-origin': {
    summary: 'allows every origin and credentials at once, which no browser takes (Fetch, CORS check)',
    patch: together(
      allowingOrigin(() => '*', 'Authorization, X-API-Key'),
      onAnswer('every', (answer) =>
        withFields(answer, {
          'Access-Control-Allow-Origin': '*',
          'Access-Control-Allow-Credentials': 'true',
        }),
      ),
    ),
  },
  'answers-preflights': {
    summary: 'lets pages of every origin call with a key of their own, and answers their preflights',
    patch: allowingOrigin(() => '*', 'Authorization, X-API-Key, Content-Type'),
  },
  'refuses-foreign-preflights': {
    summary: 'answers the preflights of one origin, and refuses those of others with 403',
    patch: beforehand((request) =>
      sending('access-control-request-method')(request) ? forbidden(problem('wrong-credential')) : null,
    ),
  },
  'names-resource-metadata': {
    services: REST.services,
    summary: 'tells in its challenges where clients learn how to get a token (RFC 9728)',
    patch: namingMetadata(),
  },
  'refuses-odd-keys-with-400': {
    summary: 'says 400 to a key that holds what none of its keys does',
    patch: onAnswer('wrong-credential', () => problem('malformed'), sending('authorization', /['{*]/)),
  },
  'refuses-unknown-parameters': {
    services: REST.services,
    summary: 'says 400 to parameters that it does not know before it looks at the credential',
    patch: beforehand(({ query }) =>
      /(?:^|&)apikey=/.test(query ?? '') ? problem('invalid-parameter') : null,
    ),
  },
  'ignores-proxy-fields': {
    summary: 'says 400 to requests that claim to come from a gateway',
    patch: beforehand((request) => (sending('x-original-url')(request) ? problem('malformed') : null)),
  },
  'first-credential-wins': {
    summary: 'heeds the first of several Authorization fields',
    changes: ['auth.two-credentials'],
    patch: onReceipt((request) => {
      const [first] = fieldValues(request, 'authorization');
      return first === undefined ? request : withField(request, 'Authorization', first);
    }),
  },
  'revalidated-caches': {
    summary: 'lets every cache keep its answers, and none reuse them unasked',
    patch: onAnswer('served', having('Cache-Control', 'public, max-age=0, must-revalidate')),
  },
  'several-challenges': {
    summary: 'offers two schemes in one WWW-Authenticate field',
    patch: onAnswer(CREDENTIAL_REFUSALS, (answer) => {
      const offered = fieldValues(answer, 'www-authenticate').join(', ');
      return withField(answer, 'WWW-Authenticate', `Negotiate, ${offered}, Basic realm="people, by hand"`);
    }),
  },
  'bearer-only': {
    services: REALTIME.services,
    summary: 'takes a bearer key and no signature',
    changes: ['auth.schemes'],
    patch: inAccess(({ placements }) => ({
      placements: placements.filter((placement) => placement !== 'signature'),
    })),
  },
});

/** Of the endpoint that issues the tokens of the service. */
export const TOKEN_ENDPOINT_VARIANTS = tableOf<Variant>(under(ISSUING, SEARCH), {
  'token-type-in-small-letters': {
    summary: 'calls its tokens bearer, which is the same in any letter case (RFC 6749 §7.1)',
    patch: onIssue((answer) => withMembers(answer, { token_type: 'bearer' })),
  },
  'token-errors-in-detail': {
    summary: 'describes an error of the token endpoint, and where it is documented',
    patch: onTokenRefusal((answer) =>
      withMembers(answer, { error_description: 'See the page.', error_uri: 'https://login.example/errors' }),
    ),
  },
  'token-scope-narrowed': {
    summary: 'grants the scopes that it knows, and names them',
    patch: onTokenRefusal((answer) =>
      answer.body.includes('invalid_scope')
        ? {
            ...holding('{"access_token":"a-token-that-opens-nothing","token_type":"Bearer","scope":"read"}')(
              answer,
            ),
            status: 200,
          }
        : answer,
    ),
  },
  'token-without-lifetime': {
    summary: 'does not say how long a token is valid',
    patch: onIssue((answer) => withMembers(answer, { expires_in: undefined })),
  },
  'token-stored-nowhere': {
    summary: 'keeps tokens out of caches of HTTP/1.0 as well',
    patch: onIssue((answer) =>
      withFields(answer, { 'Cache-Control': 'no-cache, no-store, must-revalidate', Pragma: 'no-cache' }),
    ),
  },
  'token-with-more-members': {
    summary: 'says more of a token than it must',
    patch: onIssue((answer) => withMembers(answer, { scope: 'read', issued_at: 1, id: 'x' })),
  },
  'token-type-with-charset': {
    summary: 'names UTF-8 with the media type of its tokens and errors',
    patch: onAnswer('key-lent', having('Content-Type', 'application/json;charset=UTF-8')),
  },
  'token-grant-type-is-invalid-request': {
    summary: 'calls an unknown grant type an invalid request',
    patch: onTokenRefusal((answer) =>
      answer.body.includes('unsupported_grant_type')
        ? withMembers(answer, { error: 'invalid_request' })
        : answer,
    ),
  },
  'token-by-get-is-404': {
    summary: 'knows no token endpoint by other methods than POST',
    patch: onAnswer('key-lent', (answer) => (answer.status === 405 ? problem('not-found') : answer)),
  },
});

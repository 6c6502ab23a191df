import { queryParameter } from '../../../config/credential/carrier.ts';
import { type Defect, EVERY, tableOf } from '../../behavior/deviation.ts';
import { admitting, alsoAt, inAccess, inCredentials, matchingKeys } from '../../behavior/patches/parts.ts';
import { aroundHandling, onAnswer, onFinished, type Patch, together } from '../../behavior/patches/patch.ts';
import { FOREIGN_TOKEN, REVOKED_KEY } from '../../credentials.ts';
import { CREDENTIAL_REFUSALS, type HttpAnswer, problem } from '../../http/answer.ts';
import { asProblem, failed, having, holding, lacking, withMembers } from '../../http/answer-changes.ts';
import {
  fieldValue,
  listMembers,
  type ReceivedRequest,
  sending,
  withField,
  withFields,
  withoutField,
} from '../../http/message.ts';
import { findRoute } from '../../http/routes.ts';

const inRefusals = (change: (answer: HttpAnswer, request: ReceivedRequest) => HttpAnswer): Patch =>
  onAnswer(CREDENTIAL_REFUSALS, change);

/** The path as a lenient router reads it: without slashes at its end. */
function respelled(path: string): string {
  return path.replace(/(?<=.)\/+$/, '');
}

/** What the client gave as its credential, wherever a field may hold it. */
function presentedKey(request: ReceivedRequest): string {
  const value =
    fieldValue(request, 'authorization') ?? fieldValue(request, 'x-api-key') ?? request.query ?? '';
  return value.replace(/^\S+ +/, '');
}

const failingOver = (odd: (key: string) => boolean): Patch =>
  onAnswer('wrong-credential', failed, (request) => odd(presentedKey(request)));

export const AUTH_DEFECTS = tableOf<Defect>(EVERY, {
  'accepts-missing-key': {
    cause: 'A request without a credential is answered {status:200}',
    fails: ['auth.missing-credential'],
    patch: admitting((_, reason) => reason === 'missing'),
  },
  'accepts-any-key': {
    cause: 'A wrong key is answered {status:200}',
    fails: ['auth.wrong-credential'],
    patch: matchingKeys((presented) => presented !== ''),
  },
  'demands-optional-key': {
    setting: 'optional key',
    cause: 'A request without a credential, which the documents allow, is answered {status:401}',
    fails: ['auth.optional-credential'],
    patch: inAccess(() => ({ isOptional: false })),
  },
  'takes-wrong-key-for-none': {
    setting: 'optional key',
    cause: 'A wrong key is answered {status:200}, as if there were none',
    fails: ['auth.wrong-credential'],
    patch: admitting((_, reason) => reason === 'wrong'),
  },
  'accepts-empty-key': {
    cause: 'An empty key is answered {status:200}',
    fails: ['auth.empty-credential'],
    patch: matchingKeys((presented) => presented === ''),
  },
  'accepts-key-prefix': {
    cause: 'The first part of the key is enough: it is answered {status:200}',
    fails: ['auth.truncated-credential'],
    patch: matchingKeys((presented, key) => presented !== '' && key.startsWith(presented)),
  },
  'accepts-key-with-suffix': {
    cause: 'The key with more characters after it is answered {status:200}',
    fails: ['auth.extended-credential'],
    patch: matchingKeys((presented, key) => presented.startsWith(key)),
  },
  'accepts-key-case-insensitively': {
    cause: 'The key in the other letter case is answered {status:200}',
    fails: ['auth.case-flipped-credential'],
    patch: matchingKeys((presented, key) => presented.toLowerCase() === key.toLowerCase()),
  },
  'ignores-token-signature': {
    // RFC 7519 §7.2
    cause: 'A token is served whatever its signature is',
    setting: 'oauth2',
    fails: ['auth.truncated-credential'],
    patch: matchingKeys((presented, key) => {
      const [said, known] = [presented, key].map((token) => token.split('.').slice(0, 2).join('.'));
      return presented.split('.').length === 3 && said === known;
    }),
  },
  'scheme-case-sensitive': {
    cause: 'The scheme name in another letter case is answered {status:401}',
    fails: ['auth.scheme-case'],
    patch: inCredentials(() => ({
      schemeMatches: (presented, expected) =>
        presented === expected.charAt(0).toUpperCase() + expected.slice(1),
    })),
  },
  'accepts-any-scheme': {
    cause: 'The right key under another scheme is answered {status:200}',
    fails: ['auth.other-scheme'],
    patch: inCredentials(() => ({ schemeMatches: () => true })),
  },
  'refusal-without-challenge': {
    // RFC 9110 §15.5.2
    cause: 'The 401 has no WWW-Authenticate header',
    fails: ['auth.challenge'],
    patch: inRefusals(lacking('WWW-Authenticate')),
  },
  'malformed-challenge': {
    cause: 'The WWW-Authenticate header of the 401 cannot be parsed',
    fails: ['auth.challenge'],
    patch: inRefusals(having('WWW-Authenticate', 'Bearer realm="api, =please log in')),
  },
  'refusal-is-200': {
    cause: 'Every refused credential is answered {status:200}, as if it were right',
    fails: ['auth.missing-credential'],
    alsoFails: { 'json.problem-details': 'the content still names the status that it should have' },
    patch: inRefusals((answer) => ({ ...answer, status: 200 })),
  },
  'refusal-redirects-to-login': {
    cause: 'Every refused credential is answered {status:302}, a redirect',
    fails: ['auth.refusal-class'],
    alsoFails: { 'json.problem-details': 'the content still names the status that it should have' },
    patch: inRefusals((answer) => ({ ...withField(answer, 'Location', '/login'), status: 302 })),
  },
  'refusal-is-500': {
    cause: 'Every refused credential is answered {status:500}, a server error',
    fails: ['auth.refusal-class'],
    patch: inRefusals(failed),
  },
  'wrong-key-is-500': {
    cause: 'A wrong key is answered {status:500}, a server error',
    fails: ['auth.refusal-class'],
    changes: ['auth.refusal-status'],
    patch: onAnswer('wrong-credential', failed),
  },
  'non-ascii-key-is-500': {
    cause: 'A key with letters of another script is answered {status:500}, a server error',
    fails: ['auth.non-ascii-credential'],
    patch: failingOver((key) => /[^ -~]|%[89a-f][0-9a-f]/i.test(key)),
  },
  'quoted-key-is-500': {
    cause: 'A key with a quote is answered {status:500}, a server error',
    fails: ['auth.quoted-credential'],
    patch: failingOver((key) => key.includes("'")),
  },
  'oversized-key-is-500': {
    cause: 'An overlong key is answered {status:500}, a server error',
    fails: ['auth.oversized-credential'],
    patch: failingOver((key) => key.length > 8_192),
  },
  'refusal-is-404': {
    cause: 'Every refused credential is answered {status:404}',
    fails: ['auth.missing-credential'],
    patch: inRefusals((answer) => ({ ...problem('not-found'), responseKind: answer.responseKind })),
  },
  'refuses-403-for-401': {
    setting: 'error codes',
    cause: 'A request without a credential is answered {status:403}, not 401',
    fails: ['auth.missing-credential'],
    changes: ['auth.refusal-status'],
    patch: onAnswer('unauthenticated', (answer) => asProblem(403)(withoutField(answer, 'WWW-Authenticate'))),
  },
  'refusal-is-html': {
    cause: 'The body of the 401 is {media type:text/html}, not JSON',
    fails: ['auth.refusal-json'],
    patch: inRefusals(
      holding('<!doctype html><title>401</title><h1>Unauthorized</h1>', 'text/html; charset=utf-8'),
    ),
  },
  'echoes-key-in-refusal': {
    cause: 'The body of the 401 repeats the key that was sent',
    fails: ['auth.key-not-echoed'],
    patch: onAnswer('wrong-credential', (answer, request) =>
      withMembers(answer, { detail: `The key ${presentedKey(request)} is not known.` }),
    ),
  },
  'head-skips-auth': {
    cause: 'HEAD without a credential is answered {status:200}',
    fails: ['auth.head'],
    patch: admitting(({ method }) => method === 'HEAD'),
  },
  'method-override-skips-auth': {
    cause: 'A request without a credential is served when it has a method override header',
    fails: ['auth.method-override'],
    patch: admitting(sending('x-http-method-override')),
  },
  'public-cache': {
    cause: 'Shared caches may keep a response that only the holder of the key may see',
    fails: ['auth.private-answer'],
    patch: onAnswer('served', having('Cache-Control', 'public, max-age=60')),
  },
  'shared-cache-by-must-revalidate': {
    cause: '`must-revalidate` lets shared caches keep a response that only the holder of the key may see',
    fails: ['auth.private-answer'],
    patch: onAnswer('served', having('Cache-Control', 'max-age=60, must-revalidate')),
  },
  'key-field-answer-cacheable': {
    setting: 'header',
    cause: 'A response to a key in its own header may be cached for everybody',
    fails: ['auth.private-key-answer'],
    patch: onFinished('served', (answer) =>
      withoutField(withField(answer, 'Cache-Control', 'max-age=60'), 'Vary'),
    ),
  },
  'echoes-request-in-404': {
    cause: 'The body of the 404 repeats the credential of the request',
    fails: ['auth.key-not-echoed'],
    patch: onAnswer('not-found', (answer, { fields }) =>
      withMembers(answer, { request: Object.fromEntries(fields) }),
    ),
  },
  'refusal-cacheable': {
    cause: 'Caches may keep the 401',
    fails: ['auth.refusal-not-cached'],
    patch: inRefusals(having('Cache-Control', 'public, max-age=60')),
  },
  'html-skips-auth': {
    cause: 'A request for HTML is served without a credential',
    fails: ['auth.other-representation'],
    patch: admitting((request) => listMembers(request, 'accept').includes('text/html')),
  },
  'trailing-slash-skips-auth': {
    cause: 'The path with a slash after it is served without a credential',
    fails: ['auth.path-spelling'],
    patch: together(
      admitting(({ target }) => respelled(target) !== target),
      aroundHandling((request, next, kernel) => {
        const known = findRoute(kernel.service.routes, request.path) !== null;
        return next(known ? request : { ...request, path: respelled(request.path) }, kernel);
      }),
    ),
  },
  'trusts-forwarded-for': {
    cause: 'A request without a credential is served when X-Forwarded-For names a local address',
    fails: ['auth.local-client'],
    patch: admitting(sending('x-forwarded-for', /^127\./)),
  },
  'reflects-any-origin': {
    cause: 'Pages of every origin may act with the credentials of their readers',
    fails: ['auth.foreign-origin'],
    alsoFails: { 'auth.preflight': 'it refuses preflights like any other request' },
    patch: onAnswer('served', (answer, request) => {
      const origin = fieldValue(request, 'origin');
      return origin === undefined
        ? answer
        : withFields(answer, {
            'Access-Control-Allow-Origin': origin,
            'Access-Control-Allow-Credentials': 'true',
          });
    }),
  },
  'challenge-without-parameters': {
    cause: 'The WWW-Authenticate header of the 401 names a scheme and nothing else',
    fails: ['auth.challenge-parameters'],
    patch: inRefusals(having('WWW-Authenticate', 'Bearer')),
  },
  'challenge-names-other-scheme': {
    // RFC 9110 §15.5.2
    cause: 'The 401 asks for a scheme that the service does not take',
    fails: ['auth.challenge-scheme'],
    patch: inRefusals(having('WWW-Authenticate', 'Negotiate')),
  },
  'challenge-error-without-credential': {
    cause: 'The 401 calls a token invalid where none was sent',
    fails: ['auth.challenge-error'],
    patch: onAnswer(
      'unauthenticated',
      having('WWW-Authenticate', 'Bearer realm="api", error="invalid_token"'),
    ),
  },
  'accepts-key-in-query': {
    cause: 'The key in the query opens as well, where logs keep it',
    fails: ['auth.key-in-query'],
    changes: ['auth.location'],
    patch: alsoAt(queryParameter('api_key')),
  },
  'accepts-revoked-key': {
    setting: 'revoked keys',
    services: ['search', 'realtime'],
    cause: 'A key that was revoked is answered {status:200}',
    fails: ['auth.refused-keys'],
    patch: matchingKeys((presented) => presented === REVOKED_KEY),
  },
  'fails-over-revoked-key': {
    setting: 'revoked keys',
    services: ['search', 'realtime'],
    cause: 'A key that was revoked is answered {status:500}',
    fails: ['auth.refused-keys'],
    patch: failingOver((key) => key === REVOKED_KEY),
  },
  'accepts-token-for-others': {
    setting: 'foreign token',
    services: ['search'],
    // RFC 8725 §3.8
    cause: 'A token for another audience is answered {status:200}',
    fails: ['auth.refused-keys'],
    patch: matchingKeys((presented) => presented === FOREIGN_TOKEN),
  },
  'refuses-second-key': {
    cause: 'The second key of the account is answered {status:401}',
    fails: ['auth.second-key'],
    patch: inAccess(({ keys }) => ({ keys: keys.slice(0, 1) })),
  },
});

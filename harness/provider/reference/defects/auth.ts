import { queryParameter } from '../../../credential/carrier.ts';
import { type Defect, EVERY, tableOf } from '../conduct/deviation.ts';
import {
  alsoAt,
  aroundHandling,
  inCredentials,
  onAnswer,
  onFinished,
  type Patch,
  together,
} from '../conduct/patch.ts';
import type { Access } from '../credentials/access.ts';
import type { Authentication } from '../credentials/authentication.ts';
import { asProblem, failed, withContent, withText } from '../http/answer-changes.ts';
import {
  type Answer,
  fieldValue,
  listMembers,
  type ReceivedRequest,
  withField,
  withoutField,
} from '../http/message.ts';
import { CREDENTIAL_REFUSALS } from '../http/occasion.ts';
import { problem } from '../http/problem.ts';
import { findRoute } from '../http/routes.ts';

/** Whom a service takes a client for that it should have refused: the holder of its first key. */
function firstHolder(access: Access): Authentication {
  return { admitted: true, identity: access.keys[0]?.identity ?? 'anonymous' };
}

/** Admits some of the requests that should be refused. */
const admitting = (
  when: (refused: Authentication & { readonly admitted: false }, request: ReceivedRequest) => boolean,
): Patch =>
  inCredentials(({ authenticate }) => ({
    authenticate: (request, access, conduct, nowMs) => {
      const judged = authenticate(request, access, conduct, nowMs);
      return !judged.admitted && when(judged, request) ? firstHolder(access) : judged;
    },
  }));

const matchingKeys = (matches: (presented: string, key: string) => boolean): Patch =>
  inCredentials(({ keyMatches }) => ({
    keyMatches: (presented, key) => keyMatches(presented, key) || matches(presented, key),
  }));

const inRefusals = (change: (answer: Answer, request: ReceivedRequest) => Answer): Patch =>
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
  onAnswer('wrong-credential', (answer, request) => (odd(presentedKey(request)) ? failed(answer) : answer));

export const AUTHENTICATION_DEFECTS = tableOf<Defect>(EVERY, {
  'accepts-missing-key': {
    summary: 'serves requests that carry no credential at all',
    breaks: 'a request without a credential is answered 200',
    trips: ['auth.missing-credential'],
    patch: admitting(({ reason }) => reason === 'missing'),
  },
  'accepts-any-key': {
    summary: 'takes whatever stands in the place of the key',
    breaks: 'a wrong key is answered 200',
    trips: ['auth.wrong-credential'],
    patch: matchingKeys((presented) => presented !== ''),
  },
  'accepts-empty-key': {
    summary: 'takes an empty key for a right one',
    breaks: '`Authorization: Bearer` with nothing after it is answered 200',
    trips: ['auth.empty-credential'],
    patch: matchingKeys((presented) => presented === ''),
  },
  'accepts-key-prefix': {
    summary: 'compares only as many characters as were presented',
    breaks: 'the beginning of the key is answered 200',
    trips: ['auth.truncated-credential'],
    patch: matchingKeys((presented, key) => presented !== '' && key.startsWith(presented)),
  },
  'accepts-key-with-suffix': {
    summary: 'compares only as many characters as the key has',
    breaks: 'the key with more characters after it is answered 200',
    trips: ['auth.extended-credential'],
    patch: matchingKeys((presented, key) => presented.startsWith(key)),
  },
  'accepts-key-case-insensitively': {
    summary: 'ignores the case of the key',
    breaks: 'the key with its letters in the other case is answered 200',
    trips: ['auth.case-flipped-credential'],
    patch: matchingKeys((presented, key) => presented.toLowerCase() === key.toLowerCase()),
  },
  'ignores-token-signature': {
    summary: 'reads what a token says and not whether it is signed (RFC 7519 §7.2)',
    breaks: 'a token with its signature cut short, or made longer, is answered 200',
    setting: 'oauth2',
    trips: ['auth.truncated-credential'],
    patch: matchingKeys((presented, key) => {
      const [said, known] = [presented, key].map((token) => token.split('.').slice(0, 2).join('.'));
      return presented.split('.').length === 3 && said === known;
    }),
  },
  'scheme-case-sensitive': {
    summary: 'knows the authentication scheme in one spelling only (RFC 9110 §11.1)',
    breaks: '`bearer` in lower case with the right key is answered 401',
    trips: ['auth.scheme-case'],
    patch: inCredentials(() => ({
      schemeMatches: (presented, expected) =>
        presented === expected.charAt(0).toUpperCase() + expected.slice(1),
    })),
  },
  'accepts-any-scheme': {
    summary: 'looks for the key behind any scheme name',
    breaks: 'the right key behind a scheme that is not the documented one is answered 200',
    trips: ['auth.other-scheme'],
    patch: inCredentials(() => ({ schemeMatches: () => true })),
  },
  'refusal-without-challenge': {
    summary: 'refuses with 401 but says not how to authenticate (RFC 9110 §15.5.2)',
    breaks: 'the 401 has no WWW-Authenticate field',
    trips: ['auth.challenge'],
    patch: inRefusals((answer) => withoutField(answer, 'WWW-Authenticate')),
  },
  'malformed-challenge': {
    summary: 'sends a challenge that is none (RFC 9110 §11.6.1)',
    breaks: 'WWW-Authenticate of the 401 cannot be parsed',
    trips: ['auth.challenge'],
    patch: inRefusals((answer) => withField(answer, 'WWW-Authenticate', 'Bearer realm="api, =please log in')),
  },
  'refusal-is-200': {
    summary: 'dresses a refused credential as success',
    breaks: 'a request without a credential is answered 200 with an error in the content',
    trips: ['auth.missing-credential'],
    patch: inRefusals((answer) => ({ ...answer, status: 200 })),
  },
  'refusal-redirects-to-login': {
    summary: 'sends a program without a credential to a login page',
    breaks: 'a request without a credential is answered 302 to /login',
    trips: ['auth.refusal-class'],
    patch: inRefusals((answer) => ({ ...withField(answer, 'Location', '/login'), status: 302 })),
  },
  'refusal-is-500': {
    summary: 'fails over a credential that it does not know',
    breaks: 'a request without a credential is answered 500',
    trips: ['auth.refusal-class'],
    patch: inRefusals(failed),
  },
  'wrong-key-is-500': {
    summary: 'fails over a key that it cannot look up',
    breaks: 'a wrong key is answered 500, a missing one 401',
    trips: ['auth.refusal-class'],
    shows: ['auth.refusal-status'],
    patch: onAnswer('wrong-credential', failed),
  },
  'non-ascii-key-is-500': {
    summary: 'reads a key as ASCII and fails over any other octet',
    breaks: 'a key in another script is answered 500, a wrong one 401',
    trips: ['auth.non-ascii-credential'],
    patch: failingOver((key) => /[^ -~]|%[89a-f][0-9a-f]/i.test(key)),
  },
  'quoted-key-is-500': {
    summary: 'puts the key into a query of its database as it is',
    breaks: 'a key with a quote is answered 500, a wrong one 401',
    trips: ['auth.quoted-credential'],
    patch: failingOver((key) => key.includes("'")),
  },
  'oversized-key-is-500': {
    summary: 'has room for short keys only',
    breaks: 'a key of 9 KiB is answered 500, a wrong one 401',
    trips: ['auth.oversized-credential'],
    patch: failingOver((key) => key.length > 8_192),
  },
  'refusal-is-404': {
    summary: 'hides the resource from clients without a credential',
    breaks: 'a request without a credential is answered 404',
    trips: ['auth.missing-credential'],
    patch: inRefusals((answer) => ({ ...problem('not-found'), occasion: answer.occasion })),
  },
  'refuses-403-for-401': {
    setting: 'error codes',
    summary: 'answers a missing key with 403 where its documents say 401',
    breaks: 'a request without a credential is answered 403',
    trips: ['auth.missing-credential'],
    shows: ['auth.refusal-status'],
    patch: onAnswer('unauthenticated', (answer) =>
      asProblem(withoutField(answer, 'WWW-Authenticate'), 403, 'Forbidden'),
    ),
  },
  'refusal-is-html': {
    summary: 'refuses with a page for people',
    breaks: 'the content of the 401 is text/html',
    trips: ['auth.refusal-json'],
    patch: inRefusals((answer) =>
      withContent(
        answer,
        'text/html; charset=utf-8',
        '<!doctype html><title>401</title><h1>Unauthorized</h1>',
      ),
    ),
  },
  'echoes-key-in-refusal': {
    summary: 'repeats the presented key in the refusal',
    breaks: 'the content of the 401 contains the key that was sent',
    trips: ['auth.key-not-echoed'],
    patch: onAnswer('wrong-credential', (answer, request) =>
      withText(answer, (text) =>
        JSON.stringify({ ...JSON.parse(text), detail: `The key ${presentedKey(request)} is not known.` }),
      ),
    ),
  },
  'head-skips-auth': {
    summary: 'asks for a credential on GET only',
    breaks: 'HEAD without a credential is answered 200',
    trips: ['auth.head'],
    patch: admitting((_, request) => request.method === 'HEAD'),
  },
  'method-override-skips-auth': {
    summary: 'admits whoever sends a method override',
    breaks: 'a request without a credential but with X-HTTP-Method-Override is answered 200',
    trips: ['auth.method-override'],
    patch: admitting((_, request) => fieldValue(request, 'x-http-method-override') !== undefined),
  },
  'public-cache': {
    summary: 'lets shared caches keep what only the holder of a key may see (RFC 9111 §3.5)',
    breaks: 'an authorised answer says `Cache-Control: public, max-age=60`',
    trips: ['auth.private-answer'],
    patch: onAnswer('served', (answer) => withField(answer, 'Cache-Control', 'public, max-age=60')),
  },
  'shared-cache-by-must-revalidate': {
    summary: 'lets shared caches keep an authorised answer by a directive that sounds strict (RFC 9111 §3.5)',
    breaks: 'an authorised answer says `Cache-Control: max-age=60, must-revalidate`',
    trips: ['auth.private-answer'],
    patch: onAnswer('served', (answer) => withField(answer, 'Cache-Control', 'max-age=60, must-revalidate')),
  },
  'key-field-answer-cacheable': {
    setting: 'header',
    summary: 'forgets that caches know nothing of a key in a field of its own',
    breaks: 'an answer to X-API-Key says `Cache-Control: max-age=60` and has no Vary',
    trips: ['auth.private-key-answer'],
    patch: onFinished('served', (answer) =>
      withoutField(withField(answer, 'Cache-Control', 'max-age=60'), 'Vary'),
    ),
  },
  'echoes-request-in-404': {
    summary: 'tells in its errors what it was sent, credential included',
    breaks: 'the content of the 404 has the Authorization field of the request',
    trips: ['auth.key-not-echoed'],
    patch: onAnswer('not-found', (answer, request) =>
      withText(answer, (text) =>
        JSON.stringify({ ...JSON.parse(text), request: Object.fromEntries(request.fields) }),
      ),
    ),
  },
  'refusal-cacheable': {
    summary: 'lets caches keep a refused credential',
    breaks: 'the 401 says `Cache-Control: public, max-age=60`',
    trips: ['auth.refusal-not-cached'],
    patch: inRefusals((answer) => withField(answer, 'Cache-Control', 'public, max-age=60')),
  },
  'html-skips-auth': {
    summary: 'asks browsers for no credential',
    breaks: 'a request without a credential that accepts text/html is answered 200',
    trips: ['auth.other-representation'],
    patch: admitting((_, request) => listMembers(request, 'accept').includes('text/html')),
  },
  'trailing-slash-skips-auth': {
    summary: 'guards a path in one spelling and routes it in several',
    breaks: 'the path with a slash after it is answered 200 without a credential',
    trips: ['auth.path-spelling'],
    patch: together(
      admitting((_, request) => respelled(request.target) !== request.target),
      aroundHandling((request, next, kernel) => {
        const known = findRoute(kernel.service.routes, request.path) !== null;
        return next(known ? request : { ...request, path: respelled(request.path) }, kernel);
      }),
    ),
  },
  'trusts-forwarded-for': {
    summary: 'takes the client for a local one because a field says so',
    breaks: 'a request without a credential but with `X-Forwarded-For: 127.0.0.1` is answered 200',
    trips: ['auth.local-client'],
    patch: admitting((_, request) => fieldValue(request, 'x-forwarded-for')?.startsWith('127.') === true),
  },
  'reflects-any-origin': {
    summary: 'lets pages of every origin act with credentials',
    breaks: 'Access-Control-Allow-Origin repeats any Origin, with Access-Control-Allow-Credentials: true',
    trips: ['auth.foreign-origin'],
    patch: onAnswer('served', (answer, request) => {
      const origin = fieldValue(request, 'origin');
      return origin === undefined
        ? answer
        : withField(
            withField(answer, 'Access-Control-Allow-Origin', origin),
            'Access-Control-Allow-Credentials',
            'true',
          );
    }),
  },
  'challenge-without-parameters': {
    summary: 'sends a bare `Bearer` as its challenge (RFC 6750 §3)',
    breaks: 'WWW-Authenticate of the 401 names a scheme and nothing else',
    trips: ['auth.challenge-parameters'],
    patch: inRefusals((answer) => withField(answer, 'WWW-Authenticate', 'Bearer')),
  },
  'challenge-names-other-scheme': {
    summary: 'asks for a scheme that it does not take (RFC 9110 §15.5.2)',
    breaks: 'WWW-Authenticate of the 401 is `Negotiate`',
    trips: ['auth.challenge-scheme'],
    patch: inRefusals((answer) => withField(answer, 'WWW-Authenticate', 'Negotiate')),
  },
  'challenge-error-without-credential': {
    summary: 'complains of a token that nobody sent (RFC 6750 §3.1)',
    breaks: 'WWW-Authenticate of the 401 to no credential has error="invalid_token"',
    trips: ['auth.challenge-error'],
    patch: onAnswer('unauthenticated', (answer) =>
      withField(answer, 'WWW-Authenticate', 'Bearer realm="api", error="invalid_token"'),
    ),
  },
  'accepts-key-in-query': {
    summary: 'takes the key from the query as well, where logs and histories keep it',
    breaks: 'the key in `?api_key=` is answered 200 without an Authorization field',
    trips: ['auth.key-in-query'],
    shows: ['auth.location'],
    patch: alsoAt(queryParameter('api_key')),
  },
  'refuses-second-key': {
    summary: 'knows one key only',
    breaks: 'the second key of the account is answered 401',
    trips: ['auth.second-key'],
    patch: inCredentials(({ authenticate }) => ({
      authenticate: (request, access, conduct, nowMs) =>
        authenticate(request, { ...access, keys: access.keys.slice(0, 1) }, conduct, nowMs),
    })),
  },
});

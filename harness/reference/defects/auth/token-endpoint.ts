import type { JsonObject } from '../../../base/json-text.ts';
import { type Defect, SEARCH, tableOf, under } from '../../behavior/deviation.ts';
import { onAnswer, onFinished, onReceipt, type Patch } from '../../behavior/patches/patch.ts';
import { ISSUING, onIssue, onTokenRefusal } from '../../behavior/patches/tokens.ts';
import type { HttpAnswer } from '../../http/answer.ts';
import {
  asProblem,
  failed,
  having,
  holding,
  lacking,
  withContent,
  withMembers,
} from '../../http/answer-changes.ts';
import { fieldValue, type ReceivedRequest } from '../../http/message.ts';

const isIssuer = ({ path }: ReceivedRequest) => path === '/oauth/token';

/** A token that opens nothing. */
const issued =
  (more: JsonObject = {}) =>
  (answer: HttpAnswer): HttpAnswer => ({
    ...withContent(
      answer,
      'application/json',
      JSON.stringify({ access_token: 'a-token-that-opens-nothing', token_type: 'Bearer', ...more }),
    ),
    status: 200,
  });

/** In place of some refusals. */
const instead = (error: string, change: (answer: HttpAnswer) => HttpAnswer): Patch =>
  onTokenRefusal((answer) => (answer.body.includes(error) ? change(answer) : answer));
const issuedTo = (isMeant: (user: string) => boolean): Patch =>
  onAnswer('key-lent', (answer, request) => {
    const [, pair = ''] = /^Basic (.+)$/.exec(fieldValue(request, 'authorization') ?? '') ?? [];
    const [user = ''] = Buffer.from(pair, 'base64').toString().split(':');
    return answer.status === 401 && isMeant(user) ? issued()(answer) : answer;
  });
const withError = (error: string): Patch =>
  instead('invalid_client', (answer) => withMembers(answer, { error }));

/** Of the endpoint that issues the tokens of the service. */
export const TOKEN_ENDPOINT_DEFECTS = tableOf<Defect>(under(ISSUING, SEARCH), {
  'tokens-for-any-secret': {
    cause: 'A client gets a token whatever its secret is',
    fails: ['auth.token-wrong-secret'],
    patch: issuedTo((user) => user === 'example-client'),
  },
  'tokens-for-any-client': {
    cause: 'An unknown client gets a token',
    fails: ['auth.token-wrong-secret'],
    patch: issuedTo((user) => user !== 'example-client'),
  },
  'token-refusal-is-403': {
    cause: 'A wrong client secret is answered {status:403}',
    fails: ['auth.token-refusal-status'],
    patch: instead('invalid_client', (answer) => ({ ...answer, status: 403 })),
  },
  'token-refusal-is-500': {
    cause: 'A wrong client secret is answered {status:500}, a server error',
    fails: ['auth.token-refusal-status'],
    patch: instead('invalid_client', failed),
  },
  'token-refusal-redirects': {
    cause: 'A wrong client secret leads to a page to sign in',
    fails: ['auth.token-refusal-status'],
    patch: instead('invalid_client', (answer) => ({ ...having('Location', '/login')(answer), status: 302 })),
  },
  'token-refusal-without-challenge': {
    cause: 'The refusal of a wrong client secret has no WWW-Authenticate',
    fails: ['auth.token-refusal-status'],
    patch: instead('invalid_client', lacking('WWW-Authenticate')),
  },
  'token-refusal-is-text': {
    cause: 'The token endpoint explains refusals in plain text',
    fails: ['auth.token-error-form'],
    patch: onTokenRefusal(holding('Bad client credentials', 'text/plain')),
  },
  'token-refusal-is-problem': {
    cause: 'The token endpoint explains refusals as problems, without an error code',
    fails: ['auth.token-error-form'],
    patch: onTokenRefusal((answer) => asProblem(answer.status)(answer)),
  },
  'token-error-with-quotes': {
    cause: 'The error of the token endpoint has quotes in it',
    fails: ['auth.token-error-form'],
    patch: withError('invalid "client"'),
  },
  'token-error-is-object': {
    cause: 'The error of the token endpoint is an object',
    fails: ['auth.token-error-form'],
    patch: instead('invalid_client', holding('{"error":{"code":401,"message":"invalid client"}}')),
  },
  'token-error-of-grant': {
    cause: 'A wrong client secret is called invalid_grant',
    fails: ['auth.token-client-error'],
    patch: withError('invalid_grant'),
  },
  'tokens-stored': {
    cause: 'Nothing keeps caches from storing tokens',
    fails: ['auth.token-not-stored'],
    patch: onFinished('key-lent', lacking('Cache-Control')),
  },
  'tokens-stored-for-a-while': {
    cause: 'Caches may store a token while it is valid',
    fails: ['auth.token-not-stored'],
    patch: onIssue(having('Cache-Control', 'private, max-age=120')),
  },
  'token-lifetime-is-text': {
    cause: 'The lifetime of a token is a text',
    fails: ['auth.token-lifetime-form'],
    patch: onIssue((answer) => withMembers(answer, { expires_in: '120' })),
  },
  'token-lifetime-is-negative': {
    cause: 'The lifetime of a token is negative',
    fails: ['auth.token-lifetime-form'],
    patch: onIssue((answer) => withMembers(answer, { expires_in: -1 })),
  },
  'token-is-html': {
    cause: 'Tokens are issued as text/html',
    fails: ['auth.token-answer'],
    patch: onIssue(having('Content-Type', 'text/html')),
  },
  'token-scope-ignored': {
    cause: 'An unknown scope is passed over without a word',
    fails: ['auth.token-scope'],
    patch: instead('invalid_scope', issued()),
  },
  'token-scope-granted': {
    cause: 'Any scope is granted, whether it exists or not',
    fails: ['auth.token-scope'],
    patch: instead('invalid_scope', issued({ scope: 'read conform:no-such-scope' })),
  },
  'token-grant-type-ignored': {
    cause: 'A token is issued whatever the grant type is',
    fails: ['auth.token-grant-type'],
    patch: instead('unsupported_grant_type', issued()),
  },
  'token-grant-type-is-500': {
    cause: 'An unknown grant type is answered {status:500}, a server error',
    fails: ['auth.token-grant-type'],
    patch: instead('unsupported_grant_type', failed),
  },
  'tokens-by-get': {
    cause: 'Tokens are issued by GET',
    fails: ['auth.token-by-get'],
    patch: onReceipt(
      (request) => ({ ...request, method: 'POST', body: Buffer.from(request.query ?? '') }),
      (request) => isIssuer(request) && request.method === 'GET',
    ),
  },
});

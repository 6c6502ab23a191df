import type { JsonObject } from '../../../base/json-text.ts';
import { type Defect, REST, tableOf } from '../../behavior/deviation.ts';
import {
  aroundHandling,
  insteadOfServing,
  onAnswer,
  onReceipt,
  type Patch,
} from '../../behavior/patches/patch.ts';
import { asSuccess, failed, having, withMembers } from '../../http/answer-changes.ts';
import { objectIn, queryParameters, type ReceivedRequest, withQuery } from '../../http/message.ts';
import { searchOfQuery } from '../../services/rest-service.ts';

/** One resource of the collection. */
const isItem = ({ path }: ReceivedRequest): boolean => /^\/v1\/resources\/[^/]+$/.test(path);
const isMatches = ({ path }: ReceivedRequest): boolean => path === '/v1/matches';
const asksIn = (request: ReceivedRequest): URLSearchParams => queryParameters(request.query);

/** Members of the body of `POST /v1/matches`, and parameters of all operations. */
const KNOWN: ReadonlySet<string> = new Set(['text', 'kind', 'pageSize']);

/** The request without members of its JSON body that nobody documented. */
function withoutUnknownMembers(request: ReceivedRequest): ReceivedRequest {
  const body = objectIn(request);
  if (body === null) return request;
  const known = Object.entries(body).filter(([name]) => KNOWN.has(name));
  return { ...request, body: Buffer.from(JSON.stringify(Object.fromEntries(known))) };
}

/** Never answers a search whose body is like that. */
const silentOn = (isFatal: (body: JsonObject) => boolean): Patch =>
  aroundHandling((request, next, kernel) => {
    const body = isMatches(request) && request.method === 'POST' ? objectIn(request) : null;
    return body !== null && isFatal(body) ? new Promise<never>(() => undefined) : next(request, kernel);
  });

/** What the service does wrong in the operations beyond the documented sample. */
export const OPERATION_DEFECTS = tableOf<Defect>(REST, {
  'operation-wrong-status': {
    summary: 'answers an operation with another success than the documented one',
    cause: 'An operation is answered with another status than documented',
    fails: ['operations.status'],
    patch: insteadOfServing(isItem, (answer) => ({ ...answer, status: 202 })),
  },
  'operation-wrong-media-type': {
    summary: 'answers an operation in another media type than the documented one',
    cause: 'An operation is answered with another media type than documented',
    fails: ['operations.content-type'],
    patch: insteadOfServing(isItem, having('Content-Type', 'text/json')),
  },
  'operation-breaks-schema': {
    summary: 'answers an operation with a body that does not fit its schema',
    cause: 'The body of an operation breaks its schema',
    fails: ['operations.schema'],
    patch: insteadOfServing(isItem, (answer) => withMembers(answer, { name: 7 })),
  },
  'operation-skips-auth': {
    summary: 'serves an operation to anybody',
    cause: 'One operation is served without a credential',
    fails: ['operations.auth-required'],
    patch: onAnswer('unauthenticated', asSuccess('{"id":"products"}'), isItem),
  },
  'operation-serves-unknown-method': {
    summary: 'takes an unknown method of an operation for GET',
    cause: 'One operation is served for a method that does not exist',
    fails: ['operations.unknown-method'],
    patch: onAnswer('unknown-method', asSuccess('{"id":"products"}'), isItem),
  },
  'operation-500-on-bad-type': {
    summary: 'fails over a parameter of the wrong type',
    cause: 'A parameter of the wrong type is answered {status:500}, a server error',
    fails: ['operations.negative-type'],
    patch: onAnswer(
      'invalid-parameter',
      failed,
      (request) => !/^-?\d+$/.test(asksIn(request).get('pageSize') ?? '0'),
    ),
  },
  'operation-accepts-missing-input': {
    summary: 'serves an operation without a parameter that it requires',
    cause: 'An operation is served without a required input',
    fails: ['operations.negative-missing'],
    patch: onReceipt((request) =>
      isMatches(request) && request.method === 'GET' && !asksIn(request).has('text')
        ? { ...request, query: 'text=a' }
        : request,
    ),
  },
  'operation-accepts-surplus-member': {
    summary: 'overlooks members of a body that its schema rules out',
    cause: 'An operation takes a body with an unknown member',
    fails: ['operations.negative-surplus'],
    patch: onReceipt((request) =>
      isMatches(request) && request.method === 'POST' && request.body.length > 0
        ? withoutUnknownMembers(request)
        : request,
    ),
  },
  'operation-hangs-on-missing-member': {
    summary: 'waits for a member of the body that does not come, and never answers',
    cause: 'A body without a required member gets no response',
    fails: ['operations.negative-missing'],
    patch: silentOn((body) => !('text' in body)),
  },
  'operation-hangs-on-long-member': {
    summary: 'never comes to an end with a text that is longer than it takes',
    cause: 'A text beyond its documented length gets no response',
    fails: ['operations.negative-range'],
    patch: silentOn(({ text }) => typeof text === 'string' && text.length > 100),
  },
  'operation-500-on-extra': {
    summary: 'fails over a parameter that it does not know',
    cause: 'An unknown parameter is answered {status:500}, a server error',
    fails: ['operations.extra-handled'],
    patch: insteadOfServing(
      (request) => isItem(request) && [...asksIn(request).keys()].some((name) => !KNOWN.has(name)),
      failed,
    ),
  },
  'operation-accepts-bad-range': {
    summary: 'serves a parameter beyond its range',
    cause: 'A value out of its range is accepted',
    fails: ['operations.negative-range'],
    patch: onReceipt((request) =>
      searchOfQuery(asksIn(request)) === null && /^\d+$/.test(asksIn(request).get('pageSize') ?? '')
        ? withQuery(request, (query) => query.delete('pageSize'))
        : request,
    ),
  },
});

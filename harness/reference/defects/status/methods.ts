import { type Defect, EVERY, REST, tableOf } from '../../behavior/deviation.ts';
import {
  aroundHandling,
  droppedInsteadOf,
  insteadOfServing,
  onAnswer,
  onFinished,
  type Patch,
  together,
} from '../../behavior/patches/patch.ts';
import { acceptsJson, cutOf, ranged } from '../../behavior/patches/representations.ts';
import { offeringQuery } from '../../behavior/patches/requests.ts';
import { PROBLEM_NAMES, type ResponseKind } from '../../http/answer.ts';
import { asProblem, dropped, failed, having, lacking } from '../../http/answer-changes.ts';
import { type RequestCondition, sending, withField, withoutField } from '../../http/message.ts';

const WITH_ALLOW: readonly ResponseKind[] = ['options', 'method-not-allowed'];

const inAllow = (change: (value: string) => string): Patch =>
  onAnswer(WITH_ALLOW, (answer) => ({
    ...answer,
    fields: answer.fields.map(([name, value]) => [name, name === 'Allow' ? change(value) : value]),
  }));

const hasContent: RequestCondition = ({ method, body }) => method === 'GET' && body.length > 0;

const isOfServer: RequestCondition = ({ target }) => target === '*';

const by =
  (wanted: string): RequestCondition =>
  ({ method }) =>
    method === wanted;

const isPost = by('POST');

/** Handles a method that is not offered as if it were GET. */
const answeredLikeGet = (when: RequestCondition): Patch =>
  aroundHandling(async (request, next, kernel) => {
    const answer = await next(request, kernel);
    return when(request) && answer.responseKind === 'method-not-allowed'
      ? next({ ...lacking('If-Match')(request), method: 'GET' }, kernel)
      : answer;
  });

export const METHOD_DEFECTS = tableOf<Defect>(EVERY, {
  'undocumented-method-refusal': {
    services: REST.services,
    setting: 'error codes',
    cause: 'PROPFIND, which is not offered, is answered {status:404}, not as the documents say',
    fails: ['status.documented-method-refusal'],
    patch: onAnswer('method-not-allowed', (answer) => asProblem(404)(withoutField(answer, 'Allow'))),
  },
  'allow-without-commas': {
    cause: 'Allow has spaces between its methods, and no commas',
    fails: ['status.allow-form'],
    patch: inAllow((value) => value.replaceAll(',', '')),
  },
  'allow-in-brackets': {
    cause: 'Allow has brackets around its methods',
    fails: ['status.allow-form'],
    patch: inAllow((value) => `[${value}]`),
  },
  'allow-in-small-letters': {
    // RFC 9110 §9.1
    cause: 'Allow has its methods in small letters',
    fails: ['status.allow-form'],
    patch: inAllow((value) => value.toLowerCase()),
  },
  'allow-lacks-get': {
    cause: 'Allow lacks the method that the documents show',
    fails: ['status.allow-complete'],
    patch: inAllow((value) => value.replace('GET, ', '')),
  },
  'options-names-every-method': {
    cause: 'OPTIONS names methods that are answered {status:405}',
    fails: ['status.allow-kept'],
    patch: onAnswer('options', having('Allow', 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS, PROPFIND')),
  },
  'options-names-trace': {
    cause: 'OPTIONS names TRACE, which is answered {status:405}',
    fails: ['status.allow-kept'],
    patch: onAnswer('options', having('Allow', 'GET, HEAD, OPTIONS, TRACE')),
  },
  'post-like-get': {
    services: REST.services,
    cause: 'POST, which is not offered, is answered {status:200} like GET',
    fails: ['status.post-like-get'],
    patch: answeredLikeGet(isPost),
  },
  'allow-lacks-post': {
    services: REST.services,
    setting: 'saved searches',
    cause: 'Allow lacks a method that was served at the same address',
    fails: ['status.allow-served'],
    patch: onAnswer('unknown-method', (answer) =>
      asProblem(405)(withField(answer, 'Allow', 'GET, HEAD, OPTIONS')),
    ),
  },
  'put-500': {
    services: REST.services,
    cause: 'PUT, which is not offered, is answered {status:500}, a server error',
    fails: ['status.changes-handled'],
    patch: onAnswer('method-not-allowed', failed, by('PUT')),
  },
  'patch-unanswered': {
    services: REST.services,
    cause: 'PATCH, which is not offered, gets no response',
    fails: ['status.changes-handled'],
    patch: onFinished('method-not-allowed', dropped, by('PATCH')),
  },
  'delete-of-nothing-500': {
    services: REST.services,
    cause: 'DELETE of what does not exist is answered {status:500}, a server error',
    fails: ['status.changes-handled'],
    patch: onAnswer('not-found', failed, by('DELETE')),
  },
  'put-like-get': {
    services: REST.services,
    cause: 'PUT, which is not offered, is answered {status:200} like GET',
    fails: ['status.change-like-get'],
    patch: answeredLikeGet(by('PUT')),
  },
  'patch-like-get': {
    services: REST.services,
    cause: 'PATCH, which is not offered, is answered {status:200} like GET',
    fails: ['status.change-like-get'],
    patch: answeredLikeGet(by('PATCH')),
  },
  'post-500': {
    services: REST.services,
    cause: 'POST, which is not offered, is answered {status:500}, a server error',
    fails: ['status.post-handled'],
    patch: onAnswer('method-not-allowed', failed, isPost),
  },
  'post-unanswered': {
    services: REST.services,
    cause: 'POST, which is not offered, gets no response',
    fails: ['status.post-handled'],
    patch: onFinished('method-not-allowed', dropped, isPost),
  },
  'options-of-server-500': {
    // RFC 9110 §9.3.7
    cause: '`OPTIONS *` is answered {status:500}, a server error',
    fails: ['status.options-server'],
    patch: onAnswer(['options', ...PROBLEM_NAMES], failed, isOfServer),
  },
  'options-of-server-unanswered': {
    cause: '`OPTIONS *` gets no response',
    fails: ['status.options-server'],
    patch: onFinished('every', dropped, isOfServer),
  },
  'get-body-500': {
    cause: 'A GET with a body is answered {status:500}, a server error',
    fails: ['status.get-body'],
    patch: insteadOfServing(hasContent, failed),
  },
  'get-body-unanswered': {
    cause: 'A GET with a body gets no response',
    fails: ['status.get-body'],
    patch: onFinished('served', dropped, hasContent),
  },
  'accept-query-is-no-list': {
    services: REST.services,
    cause: 'Accept-Query is no list of media types',
    fails: ['status.accept-query'],
    patch: offeringQuery({ accepts: 'application/json;;q=1, text' }),
  },
  'query-without-type-served': {
    services: REST.services,
    cause: 'A QUERY without Content-Type is answered {status:200}',
    fails: ['status.query-type'],
    alsoFails: { 'status.allow-served': 'Allow does not name QUERY' },
    patch: offeringQuery({ takes: (type) => type === undefined || type === 'application/json' }),
  },
  'query-of-any-type-served': {
    services: REST.services,
    cause: 'A QUERY of an unknown type is answered {status:200}',
    fails: ['status.query-type'],
    patch: offeringQuery({ takes: (type) => type !== undefined }),
  },
  'query-of-unknown-type-500': {
    services: REST.services,
    cause: 'A QUERY of an unknown type is answered {status:500}, a server error',
    fails: ['status.query-type'],
    patch: offeringQuery({ refuses: (answer, type) => (type === undefined ? answer : failed(answer)) }),
  },
  'offers-query-and-refuses-it': {
    services: REST.services,
    cause: 'QUERY is offered and answered {status:501}',
    fails: ['status.query-type'],
    patch: onAnswer('options', having('Accept-Query', 'application/json')),
  },
});

const failingOn = (when: RequestCondition): Patch => insteadOfServing(when, failed);

/** What the service does with requests that are unusual, hostile or at the edge of what HTTP allows. */
export const ROBUSTNESS_DEFECTS = tableOf<Defect>(EVERY, {
  'long-url-drops-connection': {
    cause: 'An overlong URL gets no response',
    fails: ['status.overlong-target'],
    patch: droppedInsteadOf('target-too-long'),
  },
  'long-url-500': {
    cause: 'An overlong URL is answered {status:500}, a server error',
    fails: ['status.overlong-target'],
    patch: onAnswer('target-too-long', failed),
  },
  'long-field-500': {
    cause: 'An overlong header is answered {status:500}, a server error',
    fails: ['status.overlong-field'],
    patch: onAnswer('fields-too-large', failed),
  },
  'malformed-percent-500': {
    cause: 'Broken percent-encoding in the path is answered {status:500}, a server error',
    fails: ['status.malformed-target'],
    patch: onAnswer('malformed', failed, ({ path }) => path.includes('%')),
  },
  'hostile-query-500': {
    cause: 'Quotes and markup in the query are answered {status:500}, a server error',
    fails: ['status.hostile-query'],
    patch: failingOn(({ query }) => /['<\0]|%27|%3c|%00/i.test(query ?? '')),
  },
  'accept-unknown-500': {
    cause: 'An unknown media type in Accept is answered {status:500}, a server error',
    fails: ['negotiation.unknown-accept'],
    patch: failingOn((request) => !acceptsJson(request)),
  },
  'range-500': {
    cause: 'A Range header is answered {status:500}, a server error',
    fails: ['caching.range'],
    patch: failingOn(sending('range')),
  },
  'range-without-content-range': {
    cause: 'A 206 has no Content-Range header',
    fails: ['caching.partial-content'],
    patch: together(
      ranged({ cut: (range, octets) => (range.includes('=-') ? undefined : cutOf(range, octets)) }),
      onAnswer('served', (answer) =>
        answer.status === 206 ? withoutField(answer, 'Content-Range') : answer,
      ),
    ),
  },
  'if-none-match-500': {
    cause: 'An If-None-Match header is answered {status:500}, a server error',
    fails: ['caching.conditional'],
    patch: onAnswer(['served', 'not-modified'], failed, sending('if-none-match')),
  },
  'expect-continue-500': {
    cause: '`Expect: 100-continue` is answered {status:500}, a server error',
    fails: ['status.expect-continue'],
    patch: failingOn(sending('expect')),
  },
  'content-type-on-get-415': {
    cause: 'A GET with `Content-Type: application/json` is answered {status:415}',
    fails: ['status.documented-content-type'],
    patch: insteadOfServing(sending('content-type'), asProblem(415)),
  },
  'unknown-client-500': {
    cause: 'A client other than this one is answered {status:500}, a server error',
    fails: ['status.unmarked'],
    patch: failingOn((request) => !sending('x-conform-run')(request)),
  },
  'missing-user-agent-500': {
    cause: 'A request without a User-Agent is answered {status:500}, a server error',
    fails: ['status.missing-user-agent'],
    patch: failingOn((request) => !sending('user-agent')(request)),
  },
});

import { type JsonObject, parseJson, parseJsonObject } from '../../../base/json-text.ts';
import type { AnswerChange } from '../../behavior/behavior.ts';
import { type Defect, REST, SEARCH, tableOf } from '../../behavior/deviation.ts';
import {
  aroundHandling,
  insteadOfServing,
  onAnswer,
  onReceipt,
  type Patch,
  slowed,
} from '../../behavior/patches/patch.ts';
import { problem } from '../../http/answer.ts';
import {
  asProblem,
  asSuccess,
  failed,
  having,
  lacking,
  withJson,
  withMembers,
} from '../../http/answer-changes.ts';
import {
  fieldValue,
  objectIn,
  queryParameters,
  type ReceivedRequest,
  type RequestCondition,
  withQuery,
} from '../../http/message.ts';
import { inBody } from '../../services/item-patches.ts';
import { isDate, searchOfQuery } from '../../services/rest-service.ts';

/** One resource of the collection. */
const isItem: RequestCondition = ({ path }) => /^\/v1\/resources\/[^/]+$/.test(path);
const isResources: RequestCondition = ({ path }) => path === '/v1/resources';
const isMatches: RequestCondition = ({ path }) => path === '/v1/matches';
const findsNothing: RequestCondition = (request) =>
  isMatches(request) && soughtBy(request).startsWith('qxzv');
const asksIn = (request: ReceivedRequest): URLSearchParams => queryParameters(request.query);

/** Members of the body of `POST /v1/matches`, and parameters of all operations. */
const KNOWN: ReadonlySet<string> = new Set(['text', 'kind', 'pageSize', 'boost', 'since', 'fields']);

/** The request without undocumented members of its JSON body. */
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

export const OPERATION_DEFECTS = tableOf<Defect>(REST, {
  'no-hits-is-404': {
    cause: 'A search that finds nothing is answered {status:404}',
    fails: ['operations.no-hits'],
    patch: insteadOfServing(findsNothing, asProblem(404)),
  },
  'no-hits-is-500': {
    cause: 'A search that finds nothing is answered {status:500}, a server error',
    fails: ['operations.no-hits'],
    patch: insteadOfServing(findsNothing, failed),
  },
  'operation-wrong-status': {
    cause: 'An operation is answered with another status than documented',
    fails: ['operations.status'],
    patch: insteadOfServing(isItem, (answer) => ({ ...answer, status: 202 })),
  },
  'operation-wrong-media-type': {
    cause: 'An operation is answered with another media type than documented',
    fails: ['operations.content-type'],
    patch: insteadOfServing(isItem, having('Content-Type', 'text/json')),
  },
  'operation-breaks-schema': {
    cause: 'The body of an operation breaks its schema',
    fails: ['operations.schema'],
    patch: insteadOfServing(isItem, (answer) => withMembers(answer, { name: 7 })),
  },
  'operation-undocumented-status': {
    cause: 'Bad input is refused with {status:422}, which is not documented',
    fails: ['operations.answer-status'],
    patch: onAnswer('invalid-parameter', asProblem(422, 'Unprocessable Content'), isMatches),
  },
  'operation-undocumented-refusal': {
    cause: 'An operation is refused with {status:407}, which is not documented',
    fails: ['operations.undocumented-refusal'],
    patch: onAnswer('invalid-parameter', asProblem(407, 'Proxy Authentication Required'), isMatches),
  },
  'operation-lacks-header': {
    cause: 'A response header that is documented as required is missing',
    fails: ['operations.answer-headers'],
    patch: insteadOfServing(({ path }) => path === '/v1/resources', lacking('Link')),
  },
  'operation-header-breaks-schema': {
    cause: 'A response header does not fit its schema',
    fails: ['operations.answer-headers'],
    alsoFails: { 'headers.link-form': 'it is no link either' },
    patch: insteadOfServing(({ path }) => path === '/v1/resources', having('Link', 'none')),
  },
  'operation-refusal-breaks-schema': {
    cause: 'A refusal breaks the schema that is documented for it',
    fails: ['operations.schema'],
    patch: onAnswer(['unauthenticated', 'wrong-credential'], (answer) =>
      withJson(answer, ({ type: _, ...problem }) => problem),
    ),
  },
  'operation-skips-auth': {
    cause: 'One operation is served without a credential',
    fails: ['operations.auth-required'],
    alsoFails: { 'operations.schema': 'what is served then is not the resource' },
    patch: onAnswer('unauthenticated', asSuccess('{"id":"products"}'), isItem),
  },
  'operation-serves-unknown-method': {
    cause: 'One operation is served for a method that does not exist',
    fails: ['operations.unknown-method'],
    patch: onAnswer('unknown-method', asSuccess('{"id":"products"}'), isItem),
  },
  'operation-500-on-bad-type': {
    cause: 'A parameter of the wrong type is answered {status:500}, a server error',
    fails: ['operations.negative-type'],
    patch: onAnswer(
      'invalid-parameter',
      failed,
      (request) => !/^-?\d+$/.test(asksIn(request).get('pageSize') ?? '0'),
    ),
  },
  'operation-accepts-missing-input': {
    cause: 'An operation is served without a required input',
    fails: ['operations.negative-missing'],
    patch: onReceipt(
      (request) => ({ ...request, query: 'text=a' }),
      (request) => isMatches(request) && request.method === 'GET' && !asksIn(request).has('text'),
    ),
  },
  'operation-accepts-surplus-member': {
    cause: 'An operation takes a body with an unknown member',
    fails: ['operations.negative-surplus'],
    patch: onReceipt(
      withoutUnknownMembers,
      (request) => isMatches(request) && request.method === 'POST' && request.body.length > 0,
    ),
  },
  'operation-hangs-on-missing-member': {
    cause: 'A body without a required member gets no response',
    fails: ['operations.negative-missing'],
    patch: silentOn((body) => !('text' in body)),
  },
  'operation-hangs-on-long-member': {
    cause: 'A text beyond its documented length gets no response',
    fails: ['operations.negative-range'],
    patch: silentOn(({ text }) => typeof text === 'string' && text.length > 100),
  },
  'operation-500-on-extra': {
    cause: 'An unknown parameter is answered {status:500}, a server error',
    fails: ['operations.extra-handled'],
    patch: insteadOfServing(
      (request) => isItem(request) && [...asksIn(request).keys()].some((name) => !KNOWN.has(name)),
      failed,
    ),
  },
  'operation-accepts-bad-range': {
    cause: 'A value out of its range is accepted',
    fails: ['operations.negative-range'],
    patch: onReceipt((request) =>
      searchOfQuery(asksIn(request)) === null && /^\d+$/.test(asksIn(request).get('pageSize') ?? '')
        ? withQuery(request, (query) => query.delete('pageSize'))
        : request,
    ),
  },
});

const isQuery: RequestCondition = (request) => isMatches(request) && request.method === 'POST';
const fieldsOf = ({ fields }: JsonObject): readonly unknown[] => (Array.isArray(fields) ? fields : []);
/** The text that a search is for, in its query or its body. */
const soughtBy = (request: ReceivedRequest): string =>
  asksIn(request).get('text') ?? String(objectIn(request)?.text ?? '');

const refusingInput = (when: RequestCondition): Patch =>
  insteadOfServing(
    (request) => isMatches(request) && when(request),
    (_, { method }) => problem(method === 'POST' ? 'invalid-content' : 'invalid-parameter'),
  );

/** Constraints that are documented, and not checked, or checked in another way. */
export const CONSTRAINT_DEFECTS = tableOf<Defect>(REST, {
  'operation-accepts-other-pattern': {
    cause: 'Text that does not match its pattern is accepted',
    fails: ['operations.negative-pattern'],
    patch: inBody(isQuery, (body) =>
      fieldsOf(body).some((field) => typeof field === 'string' && /\W/.test(field))
        ? { ...body, fields: ['title'] }
        : body,
    ),
  },
  'operation-rounds-numbers': {
    cause: 'A number between the documented steps is rounded',
    fails: ['operations.negative-multiple'],
    patch: inBody(isQuery, ({ boost, ...body }) =>
      typeof boost === 'number' && !Number.isInteger(boost * 2) && boost >= 0.5
        ? { ...body, boost: Math.round(boost * 2) / 2 }
        : { ...body, ...(boost !== undefined && { boost }) },
    ),
  },
  'operation-accepts-repeated-items': {
    cause: 'A list with the same item twice is accepted',
    fails: ['operations.negative-items'],
    patch: inBody(isQuery, (body) =>
      fieldsOf(body).length > 0 ? { ...body, fields: [...new Set(fieldsOf(body))] } : body,
    ),
  },
  'operation-accepts-long-lists': {
    cause: 'A list with too many items is accepted',
    fails: ['operations.negative-items'],
    patch: inBody(isQuery, (body) =>
      fieldsOf(body).length > 4 ? { ...body, fields: fieldsOf(body).slice(0, 4) } : body,
    ),
  },
  'operation-accepts-no-date': {
    cause: 'Text that is no date is accepted as one',
    fails: ['operations.negative-format'],
    patch: inBody(isQuery, ({ since, ...body }) =>
      typeof since !== 'string' || isDate(since) ? { ...body, ...(since !== undefined && { since }) } : body,
    ),
  },
  'operation-refuses-bound': {
    cause: 'The documented maximum itself is refused',
    fails: ['operations.boundary-accepted'],
    patch: refusingInput((request) => asksIn(request).get('pageSize') === '100'),
  },
  'operation-counts-bytes': {
    cause: 'The length of a text is counted in bytes',
    fails: ['operations.length-in-characters'],
    patch: refusingInput((request) => Buffer.byteLength(soughtBy(request)) > 100),
  },
  'operation-refuses-example': {
    cause: 'A documented example is refused',
    fails: ['operations.example-accepted'],
    patch: refusingInput((request) => soughtBy(request) === 'product'),
  },
  'operation-500-on-emoji': {
    cause: 'A text with an emoji is answered {status:500}, a server error',
    fails: ['operations.unusual-text'],
    patch: insteadOfServing((request) => /\p{Emoji_Presentation}/u.test(soughtBy(request)), failed),
  },
  'operation-500-on-combining': {
    cause: 'A combining sequence is answered {status:500}, a server error',
    fails: ['operations.unusual-text'],
    patch: insteadOfServing((request) => /\p{M}/u.test(soughtBy(request)), failed),
  },
  'operation-500-on-quote': {
    cause: 'A quote in a path parameter is answered {status:500}, a server error',
    fails: ['operations.path-value'],
    patch: onAnswer('not-found', failed, (request) => isItem(request) && /'|%27/.test(request.path)),
  },
  'operation-500-on-large-id': {
    cause: 'A large number in a path parameter is answered {status:500}, a server error',
    fails: ['operations.path-value'],
    patch: onAnswer('not-found', failed, ({ path }) => /\/\d{20,}$/.test(path)),
  },
});

const textOf = ({ body }: ReceivedRequest): string => body.toString('utf8');
const typeOf = (request: ReceivedRequest): string => fieldValue(request, 'content-type') ?? '';
const codingOf = (request: ReceivedRequest): string | undefined => fieldValue(request, 'content-encoding');
const isJson: RequestCondition = (request) => parseJson(textOf(request)) !== undefined;

/** About the body of a POST that searches. */
const posted =
  (when: RequestCondition): RequestCondition =>
  (request) =>
    request.method === 'POST' && request.path === '/v1/matches' && when(request);

const changing = (when: RequestCondition, change: AnswerChange): Patch =>
  onAnswer(['served', 'invalid-content'], change, posted(when));

const failingOver = (when: RequestCondition): Patch => changing(when, failed);

const NOTHING_FOUND = '{"matches":[],"text":null,"kind":null}';

/** Serves it as if it had found nothing. */
const servingNothingFor = (when: RequestCondition): Patch => changing(when, asSuccess(NOTHING_FOUND));

export const BODY_DEFECTS = tableOf<Defect>(REST, {
  'malformed-body-500': {
    cause: 'Malformed JSON in a request is answered {status:500}, a server error',
    fails: ['operations.body-malformed'],
    patch: failingOver((request) => request.body.length > 0 && !isJson(request)),
  },
  'malformed-body-served': {
    cause: 'Malformed JSON in a request is taken for an empty object',
    fails: ['operations.body-malformed'],
    alsoFails: {
      'operations.schema': 'what is served for it lacks what the schema demands',
    },
    patch: servingNothingFor((request) => request.body.length > 0 && !isJson(request)),
  },
  'truncated-body-completed': {
    cause: 'A body that was cut off is completed and carried out',
    fails: ['operations.body-malformed'],
    patch: onReceipt((request) => {
      const text = `${textOf(request)}}`;
      return posted(() => parseJsonObject(text) !== null)(request)
        ? { ...request, body: Buffer.from(text) }
        : request;
    }),
  },
  'empty-body-500': {
    cause: 'An empty body is answered {status:500}, a server error',
    fails: ['operations.body-empty'],
    patch: failingOver((request) => request.body.length === 0 && typeOf(request) !== ''),
  },
  'empty-body-served': {
    cause: 'An empty body is served although one is required',
    fails: ['operations.body-empty'],
    alsoFails: {
      'operations.schema': 'what is served for it lacks what the schema demands',
    },
    patch: servingNothingFor((request) => request.body.length === 0 && typeOf(request) !== ''),
  },
  'null-body-500': {
    cause: 'The body null is answered {status:500}, a server error',
    fails: ['operations.body-other-value'],
    patch: failingOver((request) => parseJson(textOf(request)) === null),
  },
  'list-body-served': {
    cause: 'A list in place of an object is served',
    fails: ['operations.body-other-value'],
    alsoFails: {
      'operations.schema': 'what is served for it lacks what the schema demands',
    },
    patch: servingNothingFor(
      (request) => Array.isArray(parseJson(textOf(request))) && textOf(request).length < 10,
    ),
  },
  'deep-body-500': {
    cause: 'A deeply nested body is answered {status:500}, a server error',
    fails: ['operations.body-odd-json'],
    patch: failingOver((request) => textOf(request).startsWith('['.repeat(1_000))),
  },
  'nan-body-500': {
    cause: 'NaN in a body is answered {status:500}, a server error',
    fails: ['operations.body-odd-json'],
    patch: failingOver((request) => textOf(request).includes(':NaN')),
  },
  'large-number-500': {
    cause: 'A very large number in a body is answered {status:500}, a server error',
    fails: ['operations.body-odd-json'],
    patch: failingOver((request) => /\de\d{4}/.test(textOf(request))),
  },
  'repeated-member-500': {
    cause: 'A member that comes twice in a body is answered {status:500}, a server error',
    fails: ['operations.body-odd-json'],
    patch: failingOver((request) => (textOf(request).match(/"text":/g)?.length ?? 0) > 1),
  },
  'half-surrogate-500': {
    cause: 'Half a surrogate pair in a body is answered {status:500}, a server error',
    fails: ['operations.body-odd-json'],
    patch: failingOver((request) => textOf(request).includes('\\ud800')),
  },
  'nul-in-body-500': {
    cause: 'U+0000 in a body is answered {status:500}, a server error',
    fails: ['operations.body-odd-json'],
    patch: failingOver((request) => textOf(request).includes('\\u0000')),
  },
  'bad-utf8-in-body-500': {
    cause: 'A body that is no UTF-8 is answered {status:500}, a server error',
    fails: ['operations.body-odd-json'],
    patch: failingOver(({ body }) => body.includes(0xff)),
  },
  'byte-order-mark-500': {
    cause: 'A body with a byte order mark is answered {status:500}, a server error',
    fails: ['operations.body-odd-json'],
    patch: failingOver((request) => textOf(request).startsWith('\ufeff')),
  },
  'xml-body-500': {
    cause: 'XML in place of JSON is answered {status:500}, a server error',
    fails: ['operations.body-foreign-type'],
    patch: failingOver((request) => typeOf(request).endsWith('/xml')),
  },
  'foreign-body-served': {
    cause: 'A body of an unknown media type is served unread',
    fails: ['operations.body-foreign-type'],
    alsoFails: {
      'operations.schema': 'what is served for it lacks what the schema demands',
    },
    patch: servingNothingFor((request) => typeOf(request).startsWith('application/x-')),
  },
  'missing-type-500': {
    cause: 'A body without a Content-Type is answered {status:500}, a server error',
    fails: ['operations.body-odd-type'],
    patch: failingOver((request) => typeOf(request) === '' && request.body.length > 0),
  },
  'unknown-charset-500': {
    cause: 'An unknown charset is answered {status:500}, a server error',
    fails: ['operations.body-odd-type'],
    patch: failingOver((request) => /charset=x-/.test(typeOf(request))),
  },
  'malformed-type-500': {
    cause: 'A malformed Content-Type is answered {status:500}, a server error',
    fails: ['operations.body-odd-type'],
    patch: failingOver((request) => typeOf(request) === 'json'),
  },
  'unknown-content-coding-500': {
    cause: 'An unknown Content-Encoding is answered {status:500}, a server error',
    fails: ['operations.body-coding'],
    patch: failingOver((request) => codingOf(request)?.startsWith('x-') ?? false),
  },
  'false-gzip-500': {
    cause: 'A body that is not the gzip it claims is answered {status:500}, a server error',
    fails: ['operations.body-coding'],
    patch: failingOver((request) => codingOf(request) === 'gzip'),
  },
  'large-body-500': {
    cause: 'A large body is answered {status:500}, a server error',
    fails: ['operations.body-large'],
    patch: onAnswer('content-too-large', failed),
  },
  'operation-takes-seconds': {
    cause: 'An operation takes longer than its document says',
    ...SEARCH,
    setting: 'response time',
    fails: ['operations.response-time'],
    patch: slowed(isMatches, 1_500),
  },
  'list-takes-longer-than-its-own-time': {
    cause: 'An operation takes longer than its document says',
    ...SEARCH,
    setting: 'response time',
    fails: ['operations.response-time'],
    patch: slowed(isResources, 1_050),
  },
});

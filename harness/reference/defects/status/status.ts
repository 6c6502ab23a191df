import { type Defect, EVERY, REALTIME, REST, tableOf } from '../../behavior/deviation.ts';
import { oneIn } from '../../behavior/patches/instances.ts';
import {
  insteadOfServing,
  onAnswer,
  onFinished,
  onFirstOctets,
  onReceipt,
} from '../../behavior/patches/patch.ts';
import { PROBLEM_NAMES, problem } from '../../http/answer.ts';
import {
  asProblem,
  asSuccess,
  failed,
  having,
  holding,
  lacking,
  refusedWith,
  replacedBy,
  withContent,
  withMembers,
  writtenAs,
} from '../../http/answer-changes.ts';
import { fieldValues, type ReceivedRequest, sending, withField, withoutField } from '../../http/message.ts';

const HTML_ERROR = '<!doctype html><title>Error</title><h1>Something is wrong</h1>';

/** A trace as frameworks print it; the paths and names are made up. */
const STACK_TRACE =
  'TypeError: Cannot read properties of undefined (reading "rows")\n' +
  '    at query (/srv/app/node_modules/pg/lib/client.js:526:17)\n' +
  '    at list (/srv/app/src/resources.js:41:9)';

const isHead = (request: ReceivedRequest): boolean => request.method === 'HEAD';

/** With content where there is none. */
const withBraces = writtenAs((head) => Buffer.concat([head, Buffer.from('{}')]));

export const STATUS_DEFECTS = tableOf<Defect>(EVERY, {
  'sample-is-404': {
    cause: 'The documented request with the right key is answered {status:404}',
    fails: ['status.sample', 'versioning.prefix'],
    patch: onAnswer('served', refusedWith('not-found')),
  },
  'documented-body-lost': {
    services: REST.services,
    setting: 'sample with a body',
    cause: 'The documented request, which has a body, is answered {status:400}',
    fails: ['status.sample'],
    patch: insteadOfServing(({ method }) => method === 'POST', refusedWith('invalid-content')),
  },
  'unknown-path-200': {
    cause: 'A path that does not exist is answered {status:200}',
    fails: ['status.unknown-path'],
    patch: onAnswer('not-found', asSuccess('{"status":"ok"}')),
  },
  'unknown-path-html': {
    cause: 'The body of the 404 is {media type:text/html}, not JSON',
    fails: ['json.error-media-type'],
    patch: onAnswer('not-found', holding(HTML_ERROR, 'text/html; charset=utf-8')),
  },
  'unknown-path-500': {
    cause: 'A path that does not exist is answered {status:500}, a server error',
    fails: ['status.unknown-path'],
    alsoFails: { 'status.changes-handled': 'DELETE of a path that does not exist is one' },
    patch: onAnswer('not-found', failed),
  },
  'deep-path-500': {
    cause: 'A path of several unknown segments is answered {status:500}, a server error',
    fails: ['status.unknown-path'],
    patch: onAnswer('not-found', failed, ({ path }) => path.split('/').length > 4),
  },
  'unknown-method-500': {
    cause: 'An unknown method is answered {status:500}, a server error',
    fails: ['status.unknown-method'],
    patch: onAnswer('unknown-method', failed),
  },
  'unknown-method-served': {
    cause: 'An unknown method is answered {status:200}, like GET',
    fails: ['status.unknown-method'],
    patch: onAnswer('unknown-method', asSuccess('{"resources":[]}')),
  },
  'method-not-allowed-without-allow': {
    cause: 'The 405 has no Allow header',
    fails: ['status.allow'],
    patch: onAnswer('method-not-allowed', lacking('Allow')),
  },
  'method-not-allowed-200': {
    cause: 'A method that the path does not have is answered {status:200}',
    fails: ['status.unserved-method'],
    patch: onAnswer('method-not-allowed', (answer) =>
      asSuccess('{"deleted":false}')(withoutField(answer, 'Allow')),
    ),
  },
  'head-differs': {
    cause: 'The Content-Length of HEAD is not that of GET',
    fails: ['status.head-equals-get'],
    patch: onFinished('served', having('Content-Length', '0'), isHead),
  },
  'head-lacks-fields': {
    cause: 'HEAD lacks headers that GET has',
    fails: ['status.head-equals-get'],
    patch: onFinished('served', lacking('Cache-Control'), isHead),
  },
  'head-is-500': {
    cause: 'HEAD is answered {status:500}, a server error',
    fails: ['status.head-handled'],
    patch: insteadOfServing(isHead, failed),
  },
  'head-is-405': {
    cause: 'HEAD is answered {status:405} where GET is served',
    fails: ['status.head'],
    patch: insteadOfServing(isHead, (answer) =>
      replacedBy(answer, problem('method-not-allowed', [['Allow', 'GET, OPTIONS']])),
    ),
  },
  'head-with-body': {
    cause: 'The response to HEAD has a body',
    fails: ['status.head-no-content'],
    patch: onFinished(
      'served',
      writtenAs((head, body) => Buffer.concat([head, body])),
      isHead,
    ),
  },
  'options-500': {
    cause: 'OPTIONS is answered {status:500}, a server error',
    fails: ['status.options', 'status.options-server'],
    patch: onAnswer('options', failed),
  },
  'unregistered-status': {
    cause: 'An unknown path is answered {status:499}, a status code that is not registered',
    fails: ['status.registered'],
    patch: onAnswer('not-found', asProblem(499, 'Nothing Here')),
  },
  'error-in-200': {
    cause: 'Errors are answered 200 with the error in the body',
    fails: ['status.no-error-in-success'],
    patch: onAnswer(['not-found', 'method-not-allowed', 'malformed'], (answer) =>
      asSuccess(`{"error":{"code":${answer.status},"message":"refused"}}`)(answer),
    ),
  },
  'failure-in-200': {
    cause: 'A path that does not exist is answered 200 with a failure in the body',
    fails: ['status.no-error-in-success'],
    patch: onAnswer('not-found', asSuccess('{"success":false,"message":"nothing here"}')),
  },
  'trace-echoes-credential': {
    // RFC 9110 §9.3.8
    cause: 'The response to TRACE repeats the credential',
    fails: ['status.trace'],
    patch: onAnswer('method-not-allowed', (answer, request) => {
      if (request.method !== 'TRACE') return answer;
      const lines = request.fields.map(([name, value]) => `${name}: ${value}\r\n`);
      const echo = `TRACE ${request.target} HTTP/1.1\r\n${lines.join('')}\r\n`;
      return asSuccess(echo, 'message/http')(withoutField(answer, 'Allow'));
    }),
  },
  'stack-trace-in-error': {
    cause: 'Error bodies show a stack trace',
    fails: ['status.no-internals'],
    patch: onAnswer(PROBLEM_NAMES, (answer) => withMembers(answer, { stack: STACK_TRACE })),
  },
  'no-date': {
    cause: 'Responses have no Date header',
    fails: ['headers.date'],
    patch: onFinished('every', lacking('Date')),
  },
  'request-id-repeats': {
    // The documents of search do not speak of request ids.
    services: [...REALTIME.services, ...REST.services],
    cause: 'The request id is the same on all responses',
    fails: ['headers.request-id'],
    patch: onFinished('every', (answer) => withField(answer, 'X-Request-Id', 'request-1')),
  },
  'no-content-with-content': {
    cause: 'A 204 has a body',
    fails: ['status.no-content'],
    patch: onFinished('options', (answer) => withBraces(withField(answer, 'Content-Length', '2'))),
  },
  'unserved-method-500': {
    cause: 'A method that the path does not have is answered {status:500}, a server error',
    fails: ['status.unserved-method'],
    patch: onAnswer('method-not-allowed', (answer) => failed(withoutField(answer, 'Allow'))),
  },
  'allow-lists-refused-method': {
    cause: 'The Allow header of a 405 lists the very method that was refused',
    fails: ['status.allow-true'],
    patch: onAnswer('method-not-allowed', (answer, { method }) =>
      withField(answer, 'Allow', `GET, HEAD, ${method}`),
    ),
  },
  'not-modified-with-content': {
    cause: 'A 304 has a body',
    fails: ['status.no-content'],
    patch: onFinished('not-modified', withBraces),
  },
  'not-modified-without-fields': {
    cause: 'A 304 lacks headers that the 200 has',
    fails: ['caching.not-modified-fields'],
    patch: onFinished('not-modified', lacking('ETag', 'Cache-Control')),
  },
  'not-modified-without-expires': {
    cause: 'A 304 lacks the Expires that the 200 has',
    fails: ['caching.not-modified-fields'],
    patch: onAnswer('served', having('Expires', 'Fri, 31 Dec 2100 23:59:59 GMT')),
  },
  'if-none-match-ignored': {
    cause: 'If-None-Match with the current ETag is ignored: the whole body comes again',
    fails: ['caching.not-modified'],
    patch: onReceipt(lacking('If-None-Match')),
  },
  'if-none-match-412': {
    cause: 'If-None-Match with the current ETag is answered {status:412}, not 304',
    fails: ['caching.not-modified'],
    patch: onAnswer('not-modified', asProblem(412)),
  },
  'etag-unquoted': {
    cause: 'The ETag has no quotes',
    fails: ['headers.etag-form'],
    patch: onAnswer('served', (answer) =>
      withField(answer, 'ETag', fieldValues(answer, 'etag').join().replaceAll('"', '')),
    ),
  },
  'server-field-tells-version': {
    cause: 'The Server header tells which product and version runs',
    fails: ['headers.no-product-version'],
    patch: onFinished('every', having('Server', 'example-server/4.2.1 (Debian)')),
  },
  'date-malformed': {
    cause: 'The Date header is not an HTTP date',
    fails: ['headers.date-form'],
    patch: onFinished('every', (answer, _, { clock }) =>
      withField(answer, 'Date', new Date(clock.now()).toISOString()),
    ),
  },
  'date-twice': {
    cause: 'The Date header comes twice',
    fails: ['headers.single-fields'],
    patch: onFinished('not-found', (answer) => ({
      ...answer,
      fields: [...answer.fields, ['Date', 'Thu, 01 Jan 2026 00:00:00 GMT']],
    })),
  },
  'cache-control-malformed': {
    cause: 'The Cache-Control header cannot be parsed',
    fails: ['headers.cache-control-form'],
    patch: onAnswer(PROBLEM_NAMES, having('Cache-Control', 'no-store; no-cache')),
  },
  'link-malformed': {
    cause: 'The Link header cannot be parsed',
    fails: ['headers.link-form'],
    patch: onAnswer('served', having('Link', '/status; rel=status')),
  },
  'request-id-missing': {
    services: REALTIME.services,
    cause: 'Responses have no request id',
    fails: ['headers.request-id'],
    patch: onFinished('every', lacking('X-Request-Id')),
  },
  'accepts-missing-host': {
    cause: 'A request without a Host header is answered like any other',
    fails: ['framing.missing-host'],
    patch: onReceipt(having('Host', 'here.example'), (request) => !sending('host')(request)),
  },
  'accepts-two-hosts': {
    cause: 'A request with two Host headers is answered like any other',
    fails: ['framing.two-hosts'],
    patch: onReceipt((request) => {
      const [first, second] = fieldValues(request, 'host');
      return first === undefined || second === undefined ? request : withField(request, 'Host', first);
    }),
  },
  'accepts-spaced-field-name': {
    cause: 'A blank between a header name and its colon is accepted',
    fails: ['framing.spaced-field-name'],
    patch: onFirstOctets((text) => text.replace(/^([\w-]+) +:/gm, '$1:')),
  },
  'flapping-status': {
    cause: 'The same request is answered 200 one time and {status:500} the next',
    fails: ['status.stable'],
    patch: oneIn(2, failed),
  },
  'unstable-shape': {
    cause: 'The same request brings other members each time',
    fails: ['json.shape-stable'],
    patch: oneIn(2, (answer) =>
      withField(withContent(answer, 'application/json', '{"items":2}'), 'ETag', '"of-two"'),
    ),
  },
});

import { EVERY, REST, tableOf, type Variant } from '../behavior/deviation.ts';
import { insteadOfServing, onAnswer, onFinished, onReceipt, together } from '../behavior/patches/patch.ts';
import { acceptsJson, cutOf, ranged } from '../behavior/patches/representations.ts';
import { offeringQuery } from '../behavior/patches/requests.ts';
import { bare } from '../http/answer.ts';
import { asProblem, asSuccess, having, lacking, varyingBy, withMembers } from '../http/answer-changes.ts';
import {
  fieldValue,
  type ReceivedRequest,
  sending,
  withField,
  withFields,
  withoutField,
} from '../http/message.ts';

/** A name where the collection of resources is. */
const isByName = ({ path }: ReceivedRequest): boolean => /^\/v1\/[^/]+$/.test(path);

const isPost = ({ method }: ReceivedRequest): boolean => method === 'POST';

const isChange = ({ method }: ReceivedRequest): boolean => method === 'PUT' || method === 'PATCH';

export const STATUS_VARIANTS = tableOf<Variant>(EVERY, {
  '404-instead-of-405': {
    summary: 'says 404 for a method that a path does not offer',
    patch: onAnswer('method-not-allowed', (answer) => asProblem(404)(withoutField(answer, 'Allow'))),
  },
  'knows-collections-by-name': {
    services: REST.services,
    summary: 'has an empty collection for each name that somebody asks for',
    changes: ['status.conditions'],
    patch: onAnswer('not-found', asSuccess('{"resources":[],"total":0}'), isByName),
  },
  'hides-collections-by-name': {
    services: REST.services,
    summary: 'says 403 to each name of a collection that is not the client’s',
    changes: ['status.conditions'],
    patch: onAnswer('not-found', asProblem(403), isByName),
  },
  'page-for-every-path': {
    services: REST.services,
    summary: 'serves the page of its application at each path outside the interface',
    patch: onAnswer(
      'not-found',
      asSuccess('<!doctype html><title>App</title>', 'text/html; charset=utf-8'),
      ({ path }) => !path.startsWith('/v1/'),
    ),
  },
  'paths-in-any-case': {
    services: REST.services,
    summary: 'takes its paths in capitals for the same',
    changes: ['versioning.other-prefixes'],
    patch: onReceipt((request) => ({ ...request, path: request.path.toLowerCase() })),
  },
  'unknown-method-405': {
    summary: 'says 405 for a method that nobody has registered, too',
    changes: ['status.conditions'],
    patch: onAnswer('unknown-method', (answer, { path }) =>
      asProblem(405)(
        withField(
          answer,
          'Allow',
          path === '/v1/matches' ? 'GET, HEAD, OPTIONS, POST' : 'GET, HEAD, OPTIONS',
        ),
      ),
    ),
  },
  'options-405': {
    summary: 'does not offer OPTIONS',
    patch: onAnswer('options', (answer) => asProblem(405)(withField(answer, 'Allow', 'GET, HEAD'))),
  },
  'refuses-body-on-get': {
    summary: 'says 400 to content in a GET (RFC 9110 §9.3.1)',
    patch: insteadOfServing(({ method, body }) => method === 'GET' && body.length > 0, asProblem(400)),
  },
  'refuses-options-of-server': {
    summary: 'says 404 to a target that is no path',
    patch: onAnswer(
      'every',
      (answer) => asProblem(404)(withoutField(answer, 'Allow')),
      ({ target }) => target === '*',
    ),
  },
  'offers-query': {
    services: REST.services,
    summary: 'serves QUERY with JSON where it serves GET (RFC 10008)',
    patch: offeringQuery(),
  },
  'allow-in-lines': {
    summary: 'writes each method of Allow on a line of its own (RFC 9110 §5.3)',
    patch: onFinished('every', (answer) => ({
      ...answer,
      fields: answer.fields.flatMap(([name, value]) =>
        name === 'Allow'
          ? value.split(', ').map((method) => [name, method] as const)
          : [[name, value] as const],
      ),
    })),
  },
  'refuses-size-with-400': {
    summary: 'says 400 to targets and fields that are too long',
    changes: ['status.conditions', 'status.target-size', 'status.field-size'],
    patch: onAnswer(['target-too-long', 'fields-too-large'], asProblem(400)),
  },
  'refuses-unknown-clients': {
    summary: 'says 403 to clients that it does not know',
    patch: insteadOfServing((request) => !sending('x-conform-run')(request), asProblem(403)),
  },
  'tells-other-clients-more': {
    services: REST.services,
    summary: 'tells clients that it does not know more, and says in Vary that the client decides',
    patch: together(
      onAnswer('served', (answer) => varyingBy(answer, 'User-Agent')),
      onAnswer(
        'served',
        (answer) => withMembers(answer, { help: 'https://docs.example/' }),
        (request) => !sending('x-conform-run')(request),
      ),
    ),
  },
  'demands-user-agent': {
    summary: 'says 400 to a request without a User-Agent, as GitHub does',
    patch: insteadOfServing((request) => !sending('user-agent')(request), asProblem(400)),
  },
  'ranges-206': {
    summary: 'serves ranges of octets, and ignores those that it has to count from the end',
    changes: ['status.conditions'],
    patch: ranged({ cut: (range, octets) => (range.includes('=-') ? undefined : cutOf(range, octets)) }),
  },
  'post-of-unknown-type-415': {
    services: REST.services,
    summary: 'says 415 to content of an unknown type, whatever the path offers',
    patch: onAnswer('method-not-allowed', asProblem(415), isPost),
  },
  'unreadable-post-400': {
    services: REST.services,
    summary: 'says 400 to content that it cannot read, whatever the path offers',
    patch: onAnswer('method-not-allowed', asProblem(400), isPost),
  },
  'unknown-post-501': {
    services: REST.services,
    summary: 'says 501 to POST anywhere that nothing can be created',
    patch: onAnswer('method-not-allowed', asProblem(501), isPost),
  },
  'hidden-post-404': {
    services: REST.services,
    summary: 'says 404 to POST where nothing can be created',
    patch: onAnswer('method-not-allowed', (answer) => asProblem(404)(withoutField(answer, 'Allow')), isPost),
  },
  'takes-undocumented-post': {
    services: REST.services,
    summary: 'takes a POST that it does not document, and says something of its own',
    patch: onAnswer(
      'method-not-allowed',
      (answer) => asSuccess('{"accepted":true}')(withoutField(answer, 'Allow')),
      isPost,
    ),
  },
  'changes-without-a-match-412': {
    services: REST.services,
    summary: 'says 412 to a change whose condition is not met, before it looks at the method',
    patch: onAnswer(
      ['method-not-allowed', 'not-found'],
      (answer) => asProblem(412)(withoutField(answer, 'Allow')),
      sending('if-match'),
    ),
  },
  'unknown-changes-501': {
    services: REST.services,
    summary: 'says 501 to PUT and PATCH, which it has nowhere',
    patch: onAnswer('method-not-allowed', asProblem(501), isChange),
  },
  'changes-of-unknown-type-415': {
    services: REST.services,
    summary: 'says 415 to content of an unknown type in PUT and PATCH',
    patch: onAnswer('method-not-allowed', asProblem(415), isChange),
  },
  'hidden-changes-404': {
    services: REST.services,
    summary: 'says 404 to PUT and PATCH where nothing can be changed',
    patch: onAnswer(
      'method-not-allowed',
      (answer) => asProblem(404)(withoutField(answer, 'Allow')),
      isChange,
    ),
  },
  'deletes-nothing-with-204': {
    services: REST.services,
    summary: 'says 204 to DELETE of what does not exist, which is then not there (RFC 9110 §9.3.5)',
    patch: onAnswer(
      'not-found',
      () => bare('options', 204),
      ({ method }) => method === 'DELETE',
    ),
  },
  'allow-of-every-path': {
    summary: 'names in Allow more than a path has, where the method itself is unknown',
    changes: ['status.conditions'],
    patch: onAnswer('unknown-method', (answer) =>
      asProblem(405)(withField(answer, 'Allow', 'GET, HEAD, OPTIONS, POST, PUT, PATCH, DELETE')),
    ),
  },
  'expectation-417': {
    summary: 'says 417 to an expectation that nothing is there to meet',
    changes: ['status.conditions'],
    patch: insteadOfServing(
      (request) => sending('expect')(request) && request.body.length === 0,
      asProblem(417),
    ),
  },
  'ignores-validators': {
    summary: 'has no validators and heeds none',
    patch: together(onReceipt(lacking('If-None-Match')), onAnswer('served', lacking('ETag'))),
  },
  'bare-head': {
    summary: 'leaves out of the answer to HEAD what only the content yields (RFC 9110 §9.3.2)',
    patch: onFinished('served', lacking('Content-Length', 'ETag'), ({ method }) => method === 'HEAD'),
  },
  'lenient-trailing-slash': {
    summary: 'takes a path with a slash after it for the same, credential and all',
    patch: onReceipt((request) => ({ ...request, path: request.path.replace(/(?<=.)\/+$/, '') })),
  },
  'listed-origin': {
    summary: 'lets pages of one origin read its answers',
    patch: onAnswer('served', (answer) => {
      const origin = { 'Access-Control-Allow-Origin': 'https://app.example' };
      return varyingBy(
        withFields(answer, { ...origin, 'Access-Control-Allow-Credentials': 'true' }),
        'Origin',
      );
    }),
  },
  'lower-case-fields': {
    summary: 'writes field names in lower case',
    patch: onFinished('every', (answer) => ({
      ...answer,
      fields: answer.fields.map(([name, value]) => [name.toLowerCase(), value]),
    })),
  },
  'spaced-values': {
    summary: 'writes white space behind every field value',
    patch: onFinished('every', (answer) => ({
      ...answer,
      fields: answer.fields.map(([name, value]) => [name, `${value} \t`]),
    })),
  },
  'zeros-before-lengths': {
    summary: 'writes lengths in a fixed number of digits, with 304 as well',
    patch: (behavior) => {
      let length = '';
      return together(
        onFinished('every', (answer) => {
          const octets = fieldValue(answer, 'content-length');
          if (octets === undefined) return answer;
          if (answer.responseKind === 'served' && answer.status === 200) length = octets.padStart(8, '0');
          return withField(answer, 'Content-Length', octets.padStart(8, '0'));
        }),
        onFinished('not-modified', (answer) =>
          length === '' ? answer : withField(answer, 'Content-Length', length),
        ),
      )(behavior);
    },
  },
  'closes-connections': {
    summary: 'closes each connection after its answer',
    changes: ['framing.transfer'],
    patch: onFinished('every', having('Connection', 'close')),
  },
  'no-request-id': {
    services: REST.services,
    summary: 'does not number its answers',
    patch: onFinished('every', lacking('X-Request-Id')),
  },
  'not-acceptable-406': {
    summary: 'says 406 when the client accepts no JSON',
    changes: ['status.conditions'],
    patch: insteadOfServing((request) => !acceptsJson(request), asProblem(406)),
  },
});

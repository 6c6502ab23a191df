import { type Defect, REST, tableOf } from '../behavior/deviation.ts';
import { aroundHandling, insteadOfServing, onAnswer, onReceipt } from '../behavior/patches/patch.ts';
import type { HttpAnswer } from '../http/answer.ts';
import { having, withText } from '../http/answer-changes.ts';
import { type ReceivedRequest, withField } from '../http/message.ts';

const PREFIX = '/v1';
const OTHER_VERSION = /^\/v\d+(?=\/)/i;

function underPath(request: ReceivedRequest, path: string): ReceivedRequest {
  const target = request.query === null ? path : `${path}?${request.query}`;
  return { ...request, path, target };
}

function redirect(answer: HttpAnswer, status: 302 | 307 | 308, location: string): HttpAnswer {
  return { ...withField(answer, 'Location', location), status, body: Buffer.alloc(0) };
}

const onCollection = (request: ReceivedRequest): boolean => request.path === `${PREFIX}/resources`;

export const VERSIONING_DEFECTS = tableOf<Defect>(REST, {
  'prefix-redirects': {
    cause: 'The versioned path redirects to one without the version',
    fails: ['versioning.no-redirect'],
    patch: aroundHandling(async (request, next, kernel) => {
      if (request.path.startsWith(`${PREFIX}/`)) {
        const answer = await next(request, kernel);
        return answer.responseKind === 'served'
          ? redirect(answer, 308, request.path.slice(PREFIX.length))
          : answer;
      }
      return next(underPath(request, `${PREFIX}${request.path}`), kernel);
    }),
  },
  'serves-without-prefix': {
    cause: 'The same resource is served without the version in the path',
    fails: ['versioning.without-prefix'],
    changes: ['versioning.other-prefixes'],
    patch: onReceipt((request) =>
      OTHER_VERSION.test(request.path) || !request.path.startsWith('/')
        ? request
        : underPath(request, `${PREFIX}${request.path}`),
    ),
  },
  'serves-any-version': {
    cause: 'The same resource is served under other versions',
    fails: ['versioning.other-versions'],
    changes: ['versioning.other-prefixes'],
    patch: onReceipt((request) => underPath(request, request.path.replace(OTHER_VERSION, PREFIX))),
  },
  'links-leave-prefix': {
    cause: 'Links in the body lack the version prefix',
    fails: ['versioning.links'],
    patch: onAnswer('served', (answer) => withText(answer, (text) => text.replaceAll('"/v1/', '"/'))),
  },
  'redirect-to-other-host': {
    cause: 'The documented path redirects to another host',
    fails: ['versioning.no-foreign-redirect'],
    alsoFails: { 'versioning.no-redirect': 'the documented sample is only reached over a redirect' },
    patch: insteadOfServing(onCollection, (answer, request) =>
      redirect(answer, 307, `http://elsewhere.example${request.path}`),
    ),
  },
  'links-to-other-host': {
    cause: 'Links in the body lead to a host that clients cannot reach',
    fails: ['versioning.reachable-links'],
    patch: onAnswer('served', (answer) =>
      withText(answer, (text) => text.replaceAll('"/v1/', '"http://backend.internal/v1/')),
    ),
  },
  'sunset-malformed': {
    cause: 'The Sunset header is not an HTTP date',
    fails: ['versioning.sunset-field'],
    patch: onAnswer('served', having('Sunset', '2027-06-30')),
  },
  'sunset-before-deprecation': {
    cause: 'The Sunset header is earlier than the Deprecation header',
    fails: ['versioning.sunset-after-deprecation'],
    patch: onAnswer('served', (answer) =>
      withField(withField(answer, 'Deprecation', '@1798761600'), 'Sunset', 'Thu, 31 Dec 2026 23:59:59 GMT'),
    ),
  },
  'deprecation-malformed': {
    cause: 'The Deprecation header is not a date',
    fails: ['versioning.deprecation-field'],
    patch: onAnswer('served', having('Deprecation', 'true')),
  },
});

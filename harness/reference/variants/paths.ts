import { REST, tableOf, type Variant } from '../behavior/deviation.ts';
import { beforehand, onAnswer, onReceipt, type Patch, together } from '../behavior/patches/patch.ts';
import {
  readingPaths,
  withoutDotSegments,
  withoutMatrixParameters,
  withoutRepeatedSlashes,
} from '../behavior/patches/requests.ts';
import { bare, type HttpAnswer, problem } from '../http/answer.ts';
import { asSuccess, withText } from '../http/answer-changes.ts';
import { fieldValue, type ReceivedRequest, withField } from '../http/message.ts';

/** A path in a form that some proxies do not let through. */
const ODD = /\/\/|\/\.\.?(?:[;/]|$)|%(?:2e|2f|25|00|0d|0a|20|23|3f|5c|c0)|[;#\\]|\.$/i;

/** Something after a path that some frameworks cut off. */
const ENDING = /(?<=^\/v1\/\w+)(?:%(?:2f|00|0a|20|3f|23)|;[^/]*|\/?\.)$/i;

const normal = (path: string): string => withoutRepeatedSlashes(withoutDotSegments(path));

/** Sends clients from odd paths to normal ones, before it asks for a credential. */
const redirecting = (to: (request: ReceivedRequest, path: string) => string): Patch =>
  beforehand((request) => {
    const path = normal(request.path);
    return path === request.path ? null : bare('not-found', 301, [['Location', to(request, path)]]);
  });

/** Where a gateway has put the service. */
export const MOUNT = '/platform/gateway';

const mounted: Patch = together(
  onReceipt((request) => {
    if (!request.path.startsWith('/')) return request;
    const isBelow = request.path.startsWith(`${MOUNT}/`);
    return { ...request, path: isBelow ? request.path.slice(MOUNT.length) : '/of-another-service' };
  }),
  onAnswer('served', (answer) => {
    const links = fieldValue(answer, 'link')?.replaceAll('</v1/', `<${MOUNT}/v1/`);
    const linking = links === undefined ? answer : withField(answer, 'Link', links);
    return withText(linking, (text) => text.replaceAll('"/v1/', `"${MOUNT}/v1/`));
  }),
);

/** The page of an application for people. */
const page = (): HttpAnswer =>
  asSuccess('<!doctype html><title>App</title>', 'text/html; charset=utf-8')(problem('not-found'));

export const PATH_VARIANTS = tableOf<Variant>(REST, {
  mounted: {
    setting: 'mounted',
    summary: 'is served below a path of several segments, as behind a gateway, and so are its links',
    patch: mounted,
  },
  'prefix-of-several-segments': {
    setting: 'deep prefix',
    summary: 'has a prefix of several segments before all that it documents',
    patch: mounted,
  },
  'opens-a-public-place': {
    summary: 'has a place below which it serves the same page to everybody, whatever the path',
    patch: beforehand(({ path }) => (path.startsWith('/v1/public/') ? page() : null)),
  },
  'redirects-out-of-a-public-place': {
    summary: 'sends clients that leave a public place by dot segments to the normal path',
    patch: redirecting((request, path) => (request.path.startsWith('/v1/public/') ? path : '/v1/elsewhere')),
  },
  'refuses-encoded-parents': {
    summary: 'says 400 to encoded dots and slashes before it asks for a credential',
    changes: ['paths.spellings'],
    patch: beforehand(({ path }) => (/%2[ef]/i.test(path) ? problem('malformed') : null)),
  },
  'merges-slashes': {
    summary: 'takes repeated slashes for one, credential and all',
    unseen: 'without a credential it refuses them as it does any other path',
    patch: readingPaths(withoutRepeatedSlashes),
  },
  'removes-dot-segments': {
    summary: 'removes dot segments, plain and encoded, before it does anything else (RFC 3986 §6.2.2)',
    unseen: 'without a credential it refuses them as it does any other path',
    patch: readingPaths((path) => withoutDotSegments(path.replace(/%2e/gi, '.'))),
  },
  'cuts-matrix-parameters': {
    summary: 'takes no notice of matrix parameters, credential and all',
    unseen: 'without a credential it refuses them as it does any other path',
    patch: readingPaths(withoutMatrixParameters),
  },
  'cuts-fragments': {
    summary: 'takes no notice of a fragment in the request line, credential and all',
    unseen: 'without a credential it refuses them as it does any other path',
    patch: readingPaths((path) => path.replace(/#.*/, '')),
  },
  'takes-format-suffix': {
    summary: 'serves JSON at its paths with .json after them too, credential and all',
    unseen: 'without a credential it refuses them as it does any other path',
    patch: readingPaths((path) => path.replace(/\.json$/, '')),
  },
  'takes-encoded-slashes': {
    summary: 'takes an encoded slash for a slash, credential and all',
    unseen: 'without a credential it refuses them as it does any other path',
    patch: readingPaths((path) => path.replace(/%2f/gi, '/')),
  },
  'takes-backslashes': {
    summary: 'takes a backslash for a slash, plain and encoded, credential and all',
    unseen: 'without a credential it refuses them as it does any other path',
    patch: readingPaths((path) => path.replace(/\\|%5c/gi, '/')),
  },
  'trims-paths': {
    summary: 'trims spaces, line feeds and full stops after a path, credential and all',
    unseen: 'without a credential it refuses them as it does any other path',
    patch: readingPaths((path) => path.replace(/(?:%20|%0a|\.)+$/i, '')),
  },
  'cuts-paths-at-encoded-marks': {
    summary: 'cuts a path off at an encoded question mark or #, credential and all',
    unseen: 'without a credential it refuses them as it does any other path',
    patch: readingPaths((path) => path.replace(/%(?:3f|23).*$/i, '')),
  },
  'removes-parents-with-parameters': {
    summary: 'removes dot segments that have parameters, credential and all',
    unseen: 'without a credential it refuses them as it does any other path',
    patch: readingPaths((path) => withoutDotSegments(path.replace(/;[^/]*/g, ''))),
  },
  'refuses-odd-paths': {
    summary: 'says 400 to every path that is not in its normal form, before it asks for a credential',
    changes: ['paths.spellings'],
    patch: beforehand(({ path }) => (ODD.test(path) ? problem('malformed') : null)),
  },
  'redirects-odd-paths': {
    summary: 'redirects from odd paths to normal ones by a path alone',
    changes: ['paths.spellings'],
    patch: redirecting((_, path) => path),
  },
  'redirects-by-host': {
    summary: 'redirects from odd paths to normal ones at the host that was asked',
    changes: ['paths.spellings'],
    patch: redirecting((request, path) => `http://${fieldValue(request, 'host')}${path}`),
  },
  'redirects-to-tls': {
    summary: 'redirects from odd paths to normal ones over TLS',
    changes: ['paths.spellings'],
    patch: redirecting(
      (request, path) => `https://${fieldValue(request, 'host')?.replace(/:\d+$/, '')}${path}`,
    ),
  },
  'open-page-for-every-path': {
    summary: 'shows anybody the page of its application at each path that is not one of its interface',
    changes: ['paths.spellings'],
    patch: beforehand(({ path }) => (/^\/v\d+(?:\/|$)/i.test(path) && !ODD.test(path) ? null : page())),
  },
  'open-json-for-every-path': {
    summary: 'tells anybody in JSON where its interface is, at each path that is not one of it',
    changes: ['paths.spellings'],
    patch: beforehand(({ path }) =>
      /^\/v1(?:\/|$)/i.test(path) && !ODD.test(path)
        ? null
        : asSuccess('{"interface":"/v1/resources"}')(problem('not-found')),
    ),
  },
  'open-page-for-other-spellings': {
    summary:
      'shows anybody a page at its paths in capitals or with a slash after them, which no quota counts',
    patch: beforehand(({ path }) =>
      /^\/v1\/resources\/?$/i.test(path) && path !== '/v1/resources' ? page() : null,
    ),
  },
  'redirects-from-other-endings': {
    summary: 'redirects from a path with something after it to the path alone',
    patch: beforehand(({ path }) =>
      ENDING.test(path) ? bare('not-found', 308, [['Location', path.replace(ENDING, '')]]) : null,
    ),
  },
  'open-page-behind-every-path': {
    summary: 'shows anybody a page at its paths with something after them',
    patch: beforehand(({ path }) => (ENDING.test(path) ? page() : null)),
  },
  'links-by-host': {
    summary: 'builds its links from the Host that was asked',
    patch: onAnswer('served', (answer, request) =>
      withField(answer, 'Link', `<http://${fieldValue(request, 'host')}/v1/resources>; rel="self"`),
    ),
  },
});

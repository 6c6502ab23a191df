import { type Defect, REST, tableOf } from '../behavior/deviation.ts';
import { admitting } from '../behavior/patches/parts.ts';
import { beforehand, onAnswer, onReceipt, type Patch, together } from '../behavior/patches/patch.ts';
import {
  readingPaths,
  withoutDotSegments,
  withoutMatrixParameters,
  withoutRepeatedSlashes,
} from '../behavior/patches/requests.ts';
import { bare, type HttpAnswer, problem } from '../http/answer.ts';
import { dropped, withText } from '../http/answer-changes.ts';
import { fieldValue, type ReceivedRequest, splitTarget, withField } from '../http/message.ts';

/** The front looks at the path as it came, knows no rule for it and lets it through; the application reads it otherwise. */
const frontMisses = (rewrite: (request: ReceivedRequest) => string): Patch =>
  together(
    onReceipt((request) => ({ ...request, path: rewrite(request) })),
    admitting(({ target, path }) => splitTarget(target).path !== path),
  );

const passes = (read: (path: string) => string): Patch => frontMisses(({ path }) => read(path));

const failsOver = (odd: RegExp): Patch =>
  beforehand(({ target }) => (odd.test(target) ? problem('broken') : null));

/** Changes what it serves by whatever host X-Forwarded-Host names. */
const believingHost = (change: (answer: HttpAnswer, host: string) => HttpAnswer): Patch =>
  onAnswer('served', (answer, request) => {
    const host = fieldValue(request, 'x-forwarded-host');
    return host === undefined ? answer : change(answer, host);
  });

const redirect = (location: string): HttpAnswer => bare('not-found', 301, [['Location', location]]);

/** The text after an encoded line break in a path becomes a header field. */
function withSplitField(answer: HttpAnswer, path: string): HttpAnswer {
  const [, name, value] = /%0d%0a([\w-]+):(?:%20)?([^/]*)$/i.exec(path) ?? [];
  return name === undefined || value === undefined ? answer : withField(answer, name, value);
}

export const PATH_DEFECTS = tableOf<Defect>(REST, {
  'dot-segments-skip-auth': {
    cause: 'A path with dot segments is served without a credential',
    fails: ['paths.dot-segments'],
    changes: ['paths.spellings'],
    patch: passes((path) => (/\/\.\.?(?:\/|$)/.test(path) ? withoutDotSegments(path) : path)),
  },
  'encoded-dots-skip-auth': {
    cause: 'A path with encoded dot segments is served without a credential',
    fails: ['paths.encoded-dots'],
    patch: passes((path) => (/%2e/i.test(path) ? withoutDotSegments(path.replace(/%2e/gi, '.')) : path)),
  },
  'repeated-slashes-skip-auth': {
    cause: 'A path with double slashes is served without a credential',
    fails: ['paths.repeated-slashes'],
    patch: passes(withoutRepeatedSlashes),
  },
  'encoded-slash-skips-auth': {
    cause: 'A path with an encoded slash is served without a credential',
    fails: ['paths.encoded-slash'],
    patch: passes((path) => path.replace(/%2f/gi, '/')),
  },
  'matrix-parameters-skip-auth': {
    cause: 'A path with matrix parameters is served without a credential',
    fails: ['paths.matrix-parameters'],
    patch: passes(withoutMatrixParameters),
  },
  'double-encoding-skips-auth': {
    cause: 'A path that is encoded twice is served without a credential',
    fails: ['paths.double-encoding'],
    patch: passes((path) => path.replace(/%25/g, '%')),
  },
  'capitals-skip-auth': {
    cause: 'The path in capitals is served without a credential',
    fails: ['paths.letter-case'],
    patch: passes((path) => path.toLowerCase()),
  },
  'format-suffix-skips-auth': {
    cause: 'The path with .json after it is served without a credential',
    fails: ['paths.format-suffix'],
    patch: passes((path) => path.replace(/\.(?:json|xml)$/, '')),
  },
  'asset-suffix-skips-auth': {
    cause: 'A path that ends like a style sheet is served without a credential',
    fails: ['paths.asset-suffix'],
    patch: passes((path) => path.replace(/\/[^/#]+\.css$/, '')),
  },
  'fragment-skips-auth': {
    cause: 'A path with a # in it is served without a credential',
    fails: ['paths.fragment'],
    patch: passes((path) => path.replace(/#.*/, '')),
  },
  'line-break-skips-auth': {
    cause: 'A path with an encoded line break is served without a credential',
    fails: ['paths.line-break'],
    patch: passes((path) => path.replace(/%0[ad].*$/i, '')),
  },
  'one-dot-skips-auth': {
    cause: 'A path with /./ is served without a credential',
    fails: ['paths.one-oddity'],
    patch: passes((path) => path.replace(/^(\/\w+)\/\.(?=\/)/, '$1')),
  },
  'one-parent-skips-auth': {
    cause: 'A path with /../ is served without a credential',
    fails: ['paths.one-oddity'],
    patch: passes((path) => path.replace(/^\/\w+\/\.\.(?=\/\w+\/\w+$)/, '')),
  },
  'one-encoded-dot-skips-auth': {
    cause: 'A path with /%2e/ is served without a credential',
    fails: ['paths.one-oddity'],
    patch: passes((path) => path.replace(/^(\/\w+)\/%2e(?=\/)/i, '$1')),
  },
  'one-encoded-parent-skips-auth': {
    cause: 'A path with /%2e%2e/ is served without a credential',
    fails: ['paths.one-oddity'],
    patch: passes((path) => path.replace(/^\/\w+\/%2e%2e(?=\/\w+\/\w+$)/i, '')),
  },
  'parent-with-parameter-skips-auth': {
    cause: 'A path with /..;/ is served without a credential',
    fails: ['paths.one-oddity'],
    patch: passes((path) => path.replace(/^\/\w+\/\.\.;(?=\/)/, '')),
  },
  'second-slash-first-skips-auth': {
    cause: 'A path that begins with two slashes is served without a credential',
    fails: ['paths.one-oddity'],
    patch: passes((path) => path.replace(/^\/+(?=\w+\/\w)/, '/')),
  },
  'second-slash-within-skips-auth': {
    cause: 'A path with two slashes within is served without a credential',
    fails: ['paths.one-oddity'],
    patch: passes((path) => path.replace(/^(\/\w+)\/+/, '$1/')),
  },
  'encoded-first-letter-skips-auth': {
    cause: 'A path with an encoded first letter is served without a credential',
    fails: ['paths.one-oddity'],
    patch: passes((path) => path.replace(/^\/%76/, '/v')),
  },
  'parents-of-an-open-place-skip-auth': {
    cause: 'A path that leaves an open place by /../ is served without a credential',
    fails: ['paths.from-open-place'],
    patch: passes((path) => (/^\/v1\/public\/\.\./.test(path) ? withoutDotSegments(path) : path)),
  },
  'encoded-parents-of-an-open-place-skip-auth': {
    cause: 'A path that leaves an open place by /%2e%2e/ is served without a credential',
    fails: ['paths.from-open-place'],
    patch: passes((path) =>
      /^\/v1\/public\/%2e%2e/i.test(path) ? withoutDotSegments(path.replace(/%2e/gi, '.')) : path,
    ),
  },
  'parents-with-parameter-of-an-open-place-skip-auth': {
    cause: 'A path that leaves an open place by /..;/ is served without a credential',
    fails: ['paths.from-open-place'],
    patch: passes((path) =>
      /^\/v1\/public\/\.\.;/.test(path) ? withoutDotSegments(withoutMatrixParameters(path)) : path,
    ),
  },
  'parents-with-encoded-slash-of-an-open-place-skip-auth': {
    cause: 'A path that leaves an open place by /..%2f is served without a credential',
    fails: ['paths.from-open-place'],
    patch: passes((path) =>
      /^\/v1\/public\/\.\.%2f/i.test(path) ? withoutDotSegments(path.replace(/%2f/gi, '/')) : path,
    ),
  },
  'one-capital-skips-auth': {
    cause: 'A path with one letter in the other case is served without a credential',
    fails: ['paths.one-oddity'],
    patch: passes((path) => path.replace(/\/R(?=[a-z]+$)/, '/r')),
  },
  'backslash-skips-auth': {
    cause: 'A path with a backslash is served without a credential',
    fails: ['paths.one-oddity'],
    patch: passes((path) => path.replace(/\\/g, '/')),
  },
  'encoded-backslash-skips-auth': {
    cause: 'A path with an encoded backslash is served without a credential',
    fails: ['paths.one-oddity'],
    patch: passes((path) => path.replace(/%5c/gi, '/')),
  },
  'whole-url-skips-auth': {
    cause: 'The whole URL in the request line is served without a credential',
    fails: ['paths.one-oddity'],
    patch: admitting(({ target }) => target.startsWith('http')),
  },
  'dot-segment-behind-path-skips-auth': {
    cause: 'A path with /. after it is served without a credential',
    fails: ['paths.odd-ending'],
    patch: passes((path) => path.replace(/\/\.$/, '')),
  },
  'encoded-slash-behind-path-skips-auth': {
    cause: 'A path with an encoded slash after it is served without a credential',
    fails: ['paths.odd-ending'],
    patch: passes((path) => path.replace(/%2f$/i, '')),
  },
  'semicolon-behind-path-skips-auth': {
    cause: 'A path with a semicolon after it is served without a credential',
    fails: ['paths.odd-ending'],
    patch: passes((path) => path.replace(/;[^/=]*$/, '')),
  },
  'nul-behind-path-skips-auth': {
    cause: 'A path with an encoded NUL after it is served without a credential',
    fails: ['paths.odd-ending'],
    patch: passes((path) => path.replace(/%00$/, '')),
  },
  'line-feed-behind-path-skips-auth': {
    cause: 'A path with an encoded line feed after it is served without a credential',
    fails: ['paths.odd-ending'],
    patch: passes((path) => path.replace(/%0a$/i, '')),
  },
  'space-behind-path-skips-auth': {
    cause: 'A path with an encoded space after it is served without a credential',
    fails: ['paths.odd-ending'],
    patch: passes((path) => path.replace(/%20$/, '')),
  },
  'full-stop-behind-path-skips-auth': {
    cause: 'A path with a full stop after it is served without a credential',
    fails: ['paths.odd-ending'],
    patch: passes((path) => path.replace(/(?<=\w)\.$/, '')),
  },
  'question-mark-behind-path-skips-auth': {
    cause: 'A path with an encoded question mark after it is served without a credential',
    fails: ['paths.odd-ending'],
    patch: passes((path) => path.replace(/%3f$/i, '')),
  },
  'number-sign-behind-path-skips-auth': {
    cause: 'A path with an encoded # after it is served without a credential',
    fails: ['paths.odd-ending'],
    patch: passes((path) => path.replace(/%23$/, '')),
  },
  'original-url-skips-auth': {
    cause: 'The path in X-Original-URL is served without a credential',
    fails: ['paths.rewritten-url'],
    patch: frontMisses((request) => fieldValue(request, 'x-original-url') ?? request.path),
  },
  'rewrite-url-skips-auth': {
    cause: 'The path in X-Rewrite-URL is served without a credential',
    fails: ['paths.rewritten-url'],
    patch: frontMisses((request) => fieldValue(request, 'x-rewrite-url') ?? request.path),
  },
  'double-slash-500': {
    cause: 'A path that begins with two slashes is answered {status:500}, a server error',
    fails: ['paths.odd-spelling'],
    patch: failsOver(/^\/\//),
  },
  'semicolon-500': {
    cause: 'A semicolon in the path is answered {status:500}, a server error',
    fails: ['paths.odd-spelling'],
    patch: failsOver(/;/),
  },
  'encoded-slash-500': {
    cause: 'An encoded slash in the path is answered {status:500}, a server error',
    fails: ['paths.odd-spelling'],
    patch: failsOver(/%2f/i),
  },
  'double-encoding-502': {
    cause: 'A path that is encoded twice is answered {status:502}, a server error',
    fails: ['paths.odd-spelling'],
    alsoFails: { 'json.problem-details': 'the content still names the status that it should have' },
    patch: beforehand(({ target }) => (/%25/.test(target) ? { ...problem('broken'), status: 502 } : null)),
  },
  'fragment-drops-connection': {
    cause: 'A # in the request line gets no response',
    fails: ['paths.odd-spelling'],
    patch: beforehand(({ target }) => (target.includes('#') ? dropped(problem('malformed')) : null)),
  },
  'backslash-500': {
    cause: 'A backslash in the path is answered {status:500}, a server error',
    fails: ['paths.odd-spelling-alone'],
    patch: failsOver(/\\/),
  },
  'full-stop-behind-path-500': {
    cause: 'A full stop after the path is answered {status:500}, a server error',
    fails: ['paths.odd-spelling-alone'],
    patch: failsOver(/\w\.$/),
  },
  'encoded-space-behind-path-drops-connection': {
    cause: 'An encoded space after the path gets no response',
    fails: ['paths.odd-spelling-alone'],
    patch: beforehand(({ target }) => (target.endsWith('%20') ? dropped(problem('malformed')) : null)),
  },
  'nul-in-path-500': {
    cause: 'An encoded NUL in the path is answered {status:500}, a server error',
    fails: ['paths.nul'],
    patch: failsOver(/^[^?]*%00/),
  },
  'bad-utf8-in-path-500': {
    cause: 'A path that is no UTF-8 is answered {status:500}, a server error',
    fails: ['paths.bad-utf8'],
    patch: failsOver(/%c0/i),
  },
  'path-ends-at-nul': {
    cause: 'A path is cut off at an encoded NUL and served',
    fails: ['paths.nul-truncation'],
    patch: readingPaths((path) => path.replace(/%00.*$/, '')),
  },
  'overlong-slash': {
    cause: 'An overlong form of a slash in the path is taken for a slash',
    fails: ['paths.overlong-utf8'],
    patch: readingPaths((path) => path.replace(/%c0%af/gi, '/')),
  },
  'absolute-form-404': {
    cause: 'The whole URL in the request line is answered {status:404}',
    fails: ['paths.absolute-form'],
    patch: onReceipt(
      (request) => ({ ...request, path: `/${request.target}` }),
      ({ target }) => target.startsWith('http'),
    ),
  },
  'absolute-form-400': {
    cause: 'The whole URL in the request line is answered {status:400}',
    fails: ['paths.absolute-form'],
    patch: beforehand(({ target }) => (target.startsWith('http') ? problem('malformed') : null)),
  },
  'appends-slash-to-foreign-host': {
    cause: 'A path that begins with two slashes and a host is redirected there',
    fails: ['paths.open-redirect'],
    patch: beforehand(({ target }) => (/^\/\/[^/]*\..*[^/]$/.test(target) ? redirect(`${target}/`) : null)),
  },
  'removes-slash-behind-backslash': {
    cause: 'A path of a backslash and a host is redirected there',
    fails: ['paths.open-redirect'],
    patch: beforehand(({ target }) =>
      /^\/%5c.*\/$/i.test(target) ? redirect(target.replace(/%5c/i, '\\').slice(0, -1)) : null,
    ),
  },
  'splits-redirect': {
    cause: 'A line break in the path begins a header of the redirect',
    fails: ['paths.split-response'],
    patch: beforehand(({ path }) =>
      /%0d%0a/i.test(path) ? withSplitField(redirect(path.replace(/%0d.*$/i, '')), path) : null,
    ),
  },
  'splits-field-with-path': {
    cause: 'A line break in the path begins a header of the refusal',
    fails: ['paths.split-response'],
    patch: onAnswer('every', (answer, { path }) => withSplitField(answer, path)),
  },
  'forwarded-host-in-link': {
    cause: 'The Link header names the host of X-Forwarded-Host',
    fails: ['paths.forwarded-host'],
    patch: believingHost((answer, host) =>
      withField(answer, 'Link', `<https://${host}/v1/resources>; rel="self"`),
    ),
  },
  'forwarded-host-in-body': {
    cause: 'A link of the body names the host of X-Forwarded-Host',
    fails: ['paths.forwarded-host'],
    patch: believingHost((answer, host) =>
      withText(answer, (text) => text.replace('"self":"/', `"self":"https://${host}/`)),
    ),
  },
  'redirects-to-inner-host': {
    cause: 'A redirect leads to a host of the inner network',
    fails: ['paths.reachable-redirect'],
    patch: beforehand(({ target }) =>
      /^[^?]*[^/]\/$/.test(target) ? redirect(`http://search.internal:8080${target.slice(0, -1)}`) : null,
    ),
  },
  'redirects-to-inner-port': {
    cause: 'A redirect leads to the port behind the proxy',
    fails: ['paths.reachable-redirect'],
    patch: beforehand((request) => {
      const host = fieldValue(request, 'host')?.replace(/:\d+$/, '');
      return /^[^?]*[^/]\/$/.test(request.target)
        ? redirect(`http://${host}:8080${request.target.slice(0, -1)}`)
        : null;
    }),
  },
});

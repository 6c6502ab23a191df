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
    admitting((_, { target, path }) => splitTarget(target).path !== path),
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
    summary: 'checks the credential by the path as it came, and removes dot segments afterwards',
    cause: 'A path with dot segments is served without a credential',
    fails: ['paths.dot-segments'],
    changes: ['paths.spellings'],
    patch: passes((path) => (/\/\.\.?(?:\/|$)/.test(path) ? withoutDotSegments(path) : path)),
  },
  'encoded-dots-skip-auth': {
    summary: 'removes plain dot segments before the credential is checked, and encoded ones afterwards',
    cause: 'A path with encoded dot segments is served without a credential',
    fails: ['paths.encoded-dots'],
    patch: passes((path) => (/%2e/i.test(path) ? withoutDotSegments(path.replace(/%2e/gi, '.')) : path)),
  },
  'repeated-slashes-skip-auth': {
    summary: 'merges slashes after the credential was checked',
    cause: 'A path with double slashes is served without a credential',
    fails: ['paths.repeated-slashes'],
    patch: passes(withoutRepeatedSlashes),
  },
  'encoded-slash-skips-auth': {
    summary: 'takes %2f for a slash after the credential was checked',
    cause: 'A path with an encoded slash is served without a credential',
    fails: ['paths.encoded-slash'],
    patch: passes((path) => path.replace(/%2f/gi, '/')),
  },
  'matrix-parameters-skip-auth': {
    summary: 'cuts off matrix parameters after the credential was checked, as servlet containers do',
    cause: 'A path with matrix parameters is served without a credential',
    fails: ['paths.matrix-parameters'],
    patch: passes(withoutMatrixParameters),
  },
  'double-encoding-skips-auth': {
    summary: 'decodes the path once more behind the proxy that has checked it',
    cause: 'A path that is encoded twice is served without a credential',
    fails: ['paths.double-encoding'],
    patch: passes((path) => path.replace(/%25/g, '%')),
  },
  'capitals-skip-auth': {
    summary: 'guards a path in one letter case and serves it in any',
    cause: 'The path in capitals is served without a credential',
    fails: ['paths.letter-case'],
    patch: passes((path) => path.toLowerCase()),
  },
  'format-suffix-skips-auth': {
    summary: 'takes the ending of a path for the format that is wanted, where no rule guards it',
    cause: 'The path with .json after it is served without a credential',
    fails: ['paths.format-suffix'],
    patch: passes((path) => path.replace(/\.(?:json|xml)$/, '')),
  },
  'asset-suffix-skips-auth': {
    summary: 'asks for no credential for style sheets, and serves its resources at any path below them',
    cause: 'A path that ends like a style sheet is served without a credential',
    fails: ['paths.asset-suffix'],
    patch: passes((path) => path.replace(/\/[^/#]+\.css$/, '')),
  },
  'fragment-skips-auth': {
    summary: 'cuts a fragment off after the credential was checked by how the path ends',
    cause: 'A path with a # in it is served without a credential',
    fails: ['paths.fragment'],
    patch: passes((path) => path.replace(/#.*/, '')),
  },
  'line-break-skips-auth': {
    summary: 'checks the credential by a pattern that ends at a line break',
    cause: 'A path with an encoded line break is served without a credential',
    fails: ['paths.line-break'],
    patch: passes((path) => path.replace(/%0[ad].*$/i, '')),
  },
  'original-url-skips-auth': {
    summary: 'serves the path that X-Original-URL names, where the proxy checks that of the request',
    cause: 'The path in X-Original-URL is served without a credential',
    fails: ['paths.rewritten-url'],
    patch: frontMisses((request) => fieldValue(request, 'x-original-url') ?? request.path),
  },
  'rewrite-url-skips-auth': {
    summary: 'serves the path that X-Rewrite-URL names, where the proxy checks that of the request',
    cause: 'The path in X-Rewrite-URL is served without a credential',
    fails: ['paths.rewritten-url'],
    patch: frontMisses((request) => fieldValue(request, 'x-rewrite-url') ?? request.path),
  },
  'double-slash-500': {
    summary: 'takes a path that begins with two slashes for a host, and fails',
    cause: 'A path that begins with two slashes is answered {status:500}, a server error',
    fails: ['paths.odd-spelling'],
    patch: failsOver(/^\/\//),
  },
  'semicolon-500': {
    summary: 'fails over a semicolon in the path, as strict firewalls of frameworks do',
    cause: 'A semicolon in the path is answered {status:500}, a server error',
    fails: ['paths.odd-spelling'],
    patch: failsOver(/;/),
  },
  'encoded-slash-500': {
    summary: 'fails over an encoded slash, for it finds another path than the proxy has told it',
    cause: 'An encoded slash in the path is answered {status:500}, a server error',
    fails: ['paths.odd-spelling'],
    patch: failsOver(/%2f/i),
  },
  'double-encoding-502': {
    summary: 'decodes a path twice in the proxy, and cannot pass on what comes of it',
    cause: 'A path that is encoded twice is answered {status:502}, a server error',
    fails: ['paths.odd-spelling'],
    alsoFails: {
      'json.problem-details': 'the content still names the status that it should have',
    },
    patch: beforehand(({ target }) => (/%25/.test(target) ? { ...problem('broken'), status: 502 } : null)),
  },
  'fragment-drops-connection': {
    summary: 'closes the connection on a # in the request line',
    cause: 'A # in the request line gets no response',
    fails: ['paths.odd-spelling'],
    patch: beforehand(({ target }) => (target.includes('#') ? dropped(problem('malformed')) : null)),
  },
  'nul-in-path-500': {
    summary: 'gives a path with a NUL to its database, which refuses it',
    cause: 'An encoded NUL in the path is answered {status:500}, a server error',
    fails: ['paths.nul'],
    patch: failsOver(/^[^?]*%00/),
  },
  'bad-utf8-in-path-500': {
    summary: 'fails over a path that it cannot decode to UTF-8',
    cause: 'A path that is no UTF-8 is answered {status:500}, a server error',
    fails: ['paths.bad-utf8'],
    patch: failsOver(/%c0/i),
  },
  'path-ends-at-nul': {
    summary: 'reads a path to its first NUL',
    cause: 'A path is cut off at an encoded NUL and served',
    fails: ['paths.nul-truncation'],
    patch: readingPaths((path) => path.replace(/%00.*$/, '')),
  },
  'overlong-slash': {
    summary: 'decodes paths leniently, so that a slash can be written in two octets (RFC 3629 §10)',
    cause: 'An overlong form of a slash in the path is taken for a slash',
    fails: ['paths.overlong-utf8'],
    patch: readingPaths((path) => path.replace(/%c0%af/gi, '/')),
  },
  'absolute-form-404': {
    summary: 'looks for a route for the whole URL of the request line (RFC 9112 §3.2.2)',
    cause: 'The whole URL in the request line is answered {status:404}',
    fails: ['paths.absolute-form'],
    patch: onReceipt((request) =>
      request.target.startsWith('http') ? { ...request, path: `/${request.target}` } : request,
    ),
  },
  'absolute-form-400': {
    summary: 'takes whoever writes the whole URL for one who looks for an open proxy',
    cause: 'The whole URL in the request line is answered {status:400}',
    fails: ['paths.absolute-form'],
    patch: beforehand(({ target }) => (target.startsWith('http') ? problem('malformed') : null)),
  },
  'appends-slash-to-foreign-host': {
    summary: 'redirects to the same path with a slash after it, also where that begins with two slashes',
    cause: 'A path that begins with two slashes and a host is redirected there',
    fails: ['paths.open-redirect'],
    patch: beforehand(({ target }) => (/^\/\/[^/]*\..*[^/]$/.test(target) ? redirect(`${target}/`) : null)),
  },
  'removes-slash-behind-backslash': {
    summary: 'redirects to the decoded path without its last slash, so that a backslash begins a host',
    cause: 'A path of a backslash and a host is redirected there',
    fails: ['paths.open-redirect'],
    patch: beforehand(({ target }) =>
      /^\/%5c.*\/$/i.test(target) ? redirect(target.replace(/%5c/i, '\\').slice(0, -1)) : null,
    ),
  },
  'splits-redirect': {
    summary: 'writes the decoded path into Location (CWE-113)',
    cause: 'A line break in the path begins a header of the redirect',
    fails: ['paths.split-response'],
    patch: beforehand(({ path }) =>
      /%0d%0a/i.test(path) ? withSplitField(redirect(path.replace(/%0d.*$/i, '')), path) : null,
    ),
  },
  'splits-field-with-path': {
    summary: 'writes the decoded path into a field for those who debug',
    cause: 'A line break in the path begins a header of the refusal',
    fails: ['paths.split-response'],
    patch: onAnswer('every', (answer, { path }) => withSplitField(answer, path)),
  },
  'forwarded-host-in-link': {
    summary: 'builds the Link field with whatever X-Forwarded-Host says',
    cause: 'The Link header names the host of X-Forwarded-Host',
    fails: ['paths.forwarded-host'],
    patch: believingHost((answer, host) =>
      withField(answer, 'Link', `<https://${host}/v1/resources>; rel="self"`),
    ),
  },
  'forwarded-host-in-body': {
    summary: 'builds the links of its bodies with whatever X-Forwarded-Host says',
    cause: 'A link of the body names the host of X-Forwarded-Host',
    fails: ['paths.forwarded-host'],
    patch: believingHost((answer, host) =>
      withText(answer, (text) => text.replace('"self":"/', `"self":"https://${host}/`)),
    ),
  },
  'redirects-to-inner-host': {
    summary: 'redirects to the name that it has behind its proxy',
    cause: 'A redirect leads to a host of the inner network',
    fails: ['paths.reachable-redirect'],
    patch: beforehand(({ target }) =>
      /^[^?]*[^/]\/$/.test(target) ? redirect(`http://search.internal:8080${target.slice(0, -1)}`) : null,
    ),
  },
  'redirects-to-inner-port': {
    summary: 'redirects to the port on which it listens behind its proxy',
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

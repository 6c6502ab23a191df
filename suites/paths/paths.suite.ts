import {
  check,
  clause,
  IN_JSON,
  observation,
  practice,
  type Reply,
  rfc3629,
  rfc9110,
  rfc9112,
  suite,
  THROUGHOUT_JSON,
} from '../../harness/engine/check/suite.ts';
import { refusalClass } from '../auth/bad-credentials.ts';
import { speaksHttp11 } from '../framing/connections.ts';
import { handles, type RowNotes, statusesOf } from '../row.ts';
import { unknownPath as unknownPathRefused } from '../status/documented-answer.ts';
import { malformedTarget } from '../status/status.suite.ts';
import { everyExchange } from '../stimuli/record.ts';
import { oldVersionAlone, sample } from '../stimuli/sample.ts';
import { unknownPath } from '../stimuli/target.ts';
import { spellings } from './spellings.ts';
import * as path from './stimuli/path.ts';

/** The path is not that of the documented resource: a service that serves that one has misread the path. */
const tellsApart = (
  id: string,
  odd: typeof path.nulInPath,
  notes: RowNotes<'title' | 'headline' | 'grounds'>,
) =>
  check(id, {
    ...notes,
    uses: [odd, sample, unknownPath],
    async judge({ probe, expect, notApplicable }) {
      const reply = await probe(odd);
      if (!reply.served) return;
      const documented = await probe(sample);
      const unknown = await probe(unknownPath);
      if (unknown.served && unknown.response.hasContentLike(reply.response))
        notApplicable('the same is served at every path');
      await expect(documented, reply).toConform(
        'no resource of another path',
        (each) =>
          each === reply && reply.response.hasContentLike(documented.response)
            ? `the documented resource (status ${reply.status})`
            : null,
        IN_JSON,
      );
    },
  });

/** The target of a redirect where it leads to the foreign host of the request. */
function foreignTarget({ response }: Reply): string | null {
  return response.redirect !== null && response.location?.hostname === path.ELSEWHERE
    ? response.redirect
    : null;
}

const oddSpelling = check('paths.odd-spelling', {
  title: 'does not fail over an odd spelling of a path',
  headline: 'An odd spelling of the path gets {answer}',
  why: 'Scanners send such paths all day. A 5xx for them sets off alarms, and shows where the code breaks.',
  change: 'Answer 400 or 404 to a path that you cannot read, in the proxy and in the service.',
  grounds: [clause('responses.status-codes')],
  repeats: [unknownPathRefused, refusalClass],
  uses: [...path.PATHS],
  judge: ({ expect }) => expect().toBeHandled(),
});

const nulHandled = handles('paths.nul', path.nulInPath, {
  what: 'a path with an encoded NUL',
  why: 'Databases and file systems refuse NUL with an exception that is seldom caught.',
  change: 'Answer 400 or 404 to a path with a NUL before it is used.',
  repeats: [unknownPathRefused],
});

/** Request targets (RFC 3986, RFC 9112 §3.2): who reads them, and what of them comes back. */
export const paths = suite('paths', 'Paths', [
  ...spellings,

  oddSpelling,
  check('paths.odd-spelling-alone', {
    title: 'does not fail over a path with one oddity in it',
    headline: 'A path with one oddity in it gets {answer}',
    why: 'Mistyped links and scanners send such paths. A 5xx for them sets off alarms.',
    change: 'Answer 400 or 404 to a path that you cannot read, in the proxy and in the service.',
    grounds: [clause('responses.status-codes')],
    repeats: [unknownPathRefused, refusalClass, oddSpelling, nulHandled],
    uses: [path.oddities, path.endings],
    judge: ({ expect }) => expect().toBeHandled(),
  }),
  nulHandled,
  handles('paths.bad-utf8', path.badUtf8InPath, {
    what: 'a path that is not UTF-8',
    why: 'Decoding fails for such bytes, and an uncaught exception is a 500.',
    change: 'Decode the path strictly, and answer 400 or 404 where that fails.',
    repeats: [malformedTarget],
  }),

  // A NUL ends a string in C alone.
  tellsApart('paths.nul-truncation', path.nulInPath, {
    title: 'does not cut a path off at a NUL',
    headline: 'A path is cut off at an encoded NUL: {got}',
    why: 'Two names for one thing get around rules: what follows the NUL is checked, and what precedes it is served.',
    change: 'Answer 400 or 404 to a path with a NUL.',
    grounds: [practice('CWE-158')],
  }),
  // RFC 3629 §10: a decoder protects against overlong forms.
  tellsApart('paths.overlong-utf8', path.badUtf8InPath, {
    title: 'does not take an overlong form in a path for a slash',
    headline: 'An overlong form of a slash is taken for one: {got}',
    why: 'Filters do not know %c0%af for a slash. It gets around rules for paths.',
    change: 'Decode paths with a strict UTF-8 decoder, and answer 400 where it fails.',
    grounds: [rfc3629('10', 'MUST')],
  }),

  // RFC 9112 §3.2.2: a server accepts the absolute form, even though most clients send it to proxies alone.
  check('paths.absolute-form', {
    title: 'takes the whole URL in the request line',
    headline: 'The whole URL in the request line gets {answer}',
    why: 'Clients with a configured proxy write the request like this, and so do some load balancers.',
    change: 'Take the path out of the URL before you look for a route.',
    grounds: [rfc9112('3.2.2', 'MUST')],
    uses: [oldVersionAlone, path.absoluteForm],
    async judge(context) {
      await speaksHttp11(context);
      await context
        .expect(path.absoluteForm)
        .toConform('the documented resource', ({ response: { status, statusClass } }) =>
          statusClass === 2 || statusClass === 3 ? null : `status ${status}`,
        );
    },
  }),

  // A link to the service must not lead to another one.
  check('paths.open-redirect', {
    title: 'redirects no path to a foreign host',
    headline: 'A path is redirected to a foreign host: {got}',
    why: 'A link that begins with your address leads to an attacker, who asks for the password.',
    change: 'Merge slashes at the beginning of a path before you redirect, and encode backslashes.',
    grounds: [practice('CWE-601')],
    uses: [...path.hostInPath],
    judge: ({ expect }) => expect().toConform('no redirect to the host in the path', foreignTarget),
  }),

  // RFC 9110 §5.5: no CR or LF in a field value.
  check('paths.split-response', {
    title: 'writes no line break of a path into its headers',
    headline: 'A line break in the path ends a header: {got}',
    why: 'Anyone can write headers and bodies of your responses with a link, for others and for caches.',
    change: 'Encode what you put into Location and other headers, or use the path as it came.',
    grounds: [rfc9110('5.5', 'MUST')],
    uses: [path.SPELLED['line-break']],
    judge: ({ expect }) =>
      expect().toConform('no header from the path', ({ response }) =>
        response.has(path.SPLIT_FIELD) ? `the header ${path.SPLIT_FIELD}` : null,
      ),
  }),

  // Links in a response lead to the called address, whatever other fields say.
  check('paths.forwarded-host', {
    title: 'builds no link from an X-Forwarded-Host of the client',
    headline: 'X-Forwarded-Host of a client comes back as the host of links: {got}',
    why: 'A cache gives the links to others, and they go to the host of an attacker.',
    change: 'Take the host from your own configuration, or from your own proxy alone.',
    grounds: [practice('OWASP API8:2023')],
    uses: [path.forwardedHost],
    judge: ({ expect }) =>
      expect().toConform(
        'no link to the host in X-Forwarded-Host',
        ({ response: { linkTargets } }) => {
          const foreign = linkTargets.find(({ hostname }) => hostname === path.ELSEWHERE);
          return foreign === undefined ? null : `a link to ${foreign.host}`;
        },
        THROUGHOUT_JSON,
      ),
  }),

  // An address in a response must be valid for the client.
  check('paths.reachable-redirect', {
    title: 'redirects to addresses that its clients can reach',
    headline: 'A redirect leads to an inner address: {got}',
    why: 'The client cannot follow, and it sees how your network is built.',
    change: 'Redirect with a path alone, or build the address from the public one.',
    grounds: [practice('OWASP API8:2023')],
    uses: [everyExchange, ...path.PATHS],
    judge: ({ expect }) =>
      expect(...path.PATHS, everyExchange)
        .where(({ response }) => response.redirect !== null, 'nothing is redirected')
        .toConform('a redirect that clients can follow', ({ response }) => response.innerRedirect),
  }),

  // Which spellings are one path, no document shows.
  observation('paths.spellings', {
    title: 'takes other spellings of its path for the same, or refuses them',
    why: 'Where a proxy and a service read a path differently, rules for paths have gaps.',
    grounds: [clause('endpoint.other-operations')],
    uses: Object.values(path.SPELLED),
    async observe({ probe }) {
      const { seen, note } = await statusesOf(probe, path.SPELLED);
      return { seen, note: `without a credential: ${note}` };
    },
  }),
]);

import { IN_JSON, type Probe, type Reply } from '../../harness/engine/check/suite.ts';
import { missingCredential } from '../auth/bad-credentials.ts';
import { type Guarded, guarded } from '../auth/ways-around.ts';
import { sample } from '../stimuli/sample.ts';
import { unknownPathWithoutCredential } from '../stimuli/target.ts';
import { endings, fromOpenPlace, oddities, rewritten, SPELLED } from './stimuli/path.ts';

/**
 * A service that serves the resource under another spelling asks for the credential there too. A refusal, a redirect or
 * another resource are in order. A response that is the same at any path is not the resource.
 */
const guards = (id: string, spelled: Probe<Reply> | Probe<readonly Reply[]>, notes: Guarded) =>
  guarded(id, {
    ...notes,
    uses: [spelled, sample, unknownPathWithoutCredential],
    async judge({ probe, expect, notApplicable }) {
      const replies = [await probe<Reply | readonly Reply[]>(spelled)].flat().filter(({ served }) => served);
      if (replies.length === 0) return;
      const documented = await probe(sample);
      const anywhere = await probe(unknownPathWithoutCredential);
      const telling = replies.filter(
        ({ response }) => !(anywhere.served && anywhere.response.hasContentLike(response)),
      );
      if (telling.length === 0) notApplicable('the same is served at every path without a credential');
      await expect([documented, ...telling]).toConform(
        'no resource without a credential',
        (each) =>
          each !== documented && each.response.hasContentLike(documented.response)
            ? `status ${each.status}`
            : null,
        IN_JSON,
      );
    },
  });

/** Spellings of the documented path that one of two who read it may take for the path, and the other for another one. */
const usualSpellings = [
  // RFC 3986 §5.2.4: dot segments are removed.
  guards('paths.dot-segments', SPELLED['dot-segments'], {
    where: 'for a path with dot segments',
    headline: 'A path with /./ and /../, without a credential, gets {answer}',
    why: 'A rule for /v1 does not match /x/../v1. The service behind it removes the dots, and answers.',
    change: 'Remove dot segments before any rule looks at the path, or refuse such paths with 400.',
  }),
  // RFC 3986 §6.2.2.2: %2e is a dot.
  guards('paths.encoded-dots', SPELLED['encoded-dots'], {
    where: 'for a path with encoded dot segments',
    headline: 'A path with /%2e/ and /%2e%2e/, without a credential, gets {answer}',
    why: 'A proxy that only looks for plain dots lets the path through. The service decodes it, and answers.',
    change: 'Decode the path once, remove dot segments, and check the credential for the resulting path.',
  }),
  // RFC 3986 §3.3: empty segments are segments.
  guards('paths.repeated-slashes', SPELLED['repeated-slashes'], {
    where: 'for a path with repeated slashes',
    headline: 'A path with double slashes, without a credential, gets {answer}',
    why: 'A rule for /v1/items does not match //v1//items. Many services take both for the same.',
    change: 'Merge slashes before any rule looks at the path, or refuse such paths.',
  }),
  // RFC 3986 §2.2: an encoded reserved character is another one than the plain one.
  guards('paths.encoded-slash', SPELLED['encoded-slash'], {
    where: 'for a path with an encoded slash',
    headline: 'A path with %2f for a slash, without a credential, gets {answer}',
    why: 'The proxy sees one long name. The service sees the path that should be guarded.',
    change: 'Refuse %2f in paths, or let the proxy and the service read it in the same way.',
  }),
  // RFC 3986 §3.3: text after a semicolon belongs to the segment.
  guards('paths.matrix-parameters', SPELLED['matrix-parameters'], {
    where: 'for a path with matrix parameters',
    headline: 'A path with ;parameters, without a credential, gets {answer}',
    why: 'Java servers cut off what follows a semicolon, and most proxies do not: the rule does not match.',
    change: 'Refuse semicolons in paths, or remove the parameters before any rule looks at the path.',
  }),
  // RFC 3986 §2.4: nothing is decoded twice.
  guards('paths.double-encoding', SPELLED['double-encoding'], {
    where: 'for a path that is encoded twice',
    headline: 'A path that is encoded twice, without a credential, gets {answer}',
    why: 'The proxy decodes once and the service once more: they check and serve two different paths.',
    change: 'Decode a path once, in one place, and pass on the checked path.',
  }),
  // RFC 3986 §6.2.2.1: letter case of a path counts.
  guards('paths.letter-case', SPELLED['letter-case'], {
    where: 'for a path in other letter case',
    headline: 'The path in other letter case, without a credential, gets {answer}',
    why: 'The rule compares letter by letter and the service does not: /V1/ITEMS is open.',
    change: 'Compare paths in the rule as the service does, or serve a path in one letter case alone.',
  }),
  guards('paths.format-suffix', SPELLED['format-suffix'], {
    where: 'for a path with a format after it',
    headline: 'The path with .json after it, without a credential, gets {answer}',
    why: 'Some frameworks serve /items.json like /items, and a rule for /items does not match it.',
    change: 'Switch suffixes off, or let the rule cover them.',
  }),
  guards('paths.asset-suffix', SPELLED['asset-suffix'], {
    where: 'for a path that looks like a file of a web page',
    headline: 'The path with /x.css after it, without a credential, gets {answer}',
    why: 'Rules let style sheets and images through without a look. The service ignores what follows its path.',
    change: 'Answer 404 below a path that ends, and let no rule open paths by how they end.',
  }),
  // RFC 9112 §3.2: a request target has no fragment.
  guards('paths.fragment', SPELLED.fragment, {
    where: 'for a path with a fragment',
    headline: 'A path with a # in it, without a credential, gets {answer}',
    why: 'The proxy sees a path that ends in .css, and the service cuts it off at the #.',
    change: 'Refuse a # in the request line with 400.',
  }),
  guards('paths.line-break', SPELLED['line-break'], {
    where: 'for a path with an encoded line break',
    headline: 'A path with an encoded line break, without a credential, gets {answer}',
    why: 'A pattern often ends at a line break: the rule does not match, and the service answers.',
    change: 'Refuse control characters in paths with 400.',
  }),
  guards('paths.rewritten-url', rewritten, {
    where: 'when a header names another path',
    headline: 'The path in X-Original-URL, without a credential, gets {answer}',
    why: 'The proxy checks the path of the request, and the service serves the one in the header.',
    change: 'Ignore X-Original-URL and X-Rewrite-URL, or remove them in your proxy.',
  }),
];

/** What the usual ones show is no second finding. */
const FURTHER = { restsOn: [missingCredential, ...usualSpellings] };

export const spellings = [
  ...usualSpellings,
  guards('paths.one-oddity', oddities, {
    ...FURTHER,
    where: 'for a path with one odd slash, dot, letter or host',
    headline: 'A path with one oddity, without a credential, gets {answer}',
    why: 'A proxy that refuses the usual tricks together may let one of them through alone.',
    change: 'Normalize the path once, check the credential for the result, and serve no other spelling.',
  }),
  guards('paths.from-open-place', fromOpenPlace, {
    ...FURTHER,
    where: 'for a path that leads out of an open place by dot segments',
    headline: 'A path that begins in an open place and leaves it, without a credential, gets {answer}',
    why: 'The rule lets everything below /public through. The service removes the dots, and serves the rest.',
    change: 'Remove dot segments before any rule looks at the path, and refuse encoded ones with 400.',
  }),
  guards('paths.odd-ending', endings, {
    ...FURTHER,
    where: 'for a path with characters after it that are cut off',
    headline: 'A path with something after it, without a credential, gets {answer}',
    why: 'The rule compares the whole path. The service drops a space, a dot or a NUL at its end, and answers.',
    change: 'Answer 404 to a path with anything after it, and trim no paths.',
  }),
];

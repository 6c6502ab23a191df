import { gzipSync } from 'node:zlib';
import { imfFixdate } from '../behavior/clock.ts';
import { type Defect, EVERY, REST, tableOf } from '../behavior/deviation.ts';
import {
  insteadOfServing,
  onAnswer,
  onFinished,
  onReceipt,
  type Patch,
  together,
} from '../behavior/patches/patch.ts';
import {
  acceptsGzip,
  CHANGED,
  cutOf,
  dated,
  isSince,
  ranged,
  withTag,
} from '../behavior/patches/representations.ts';
import { entityTagOf } from '../behavior/preconditions.ts';
import { asProblem, failed, having, lacking, varyingBy, withMembers } from '../http/answer-changes.ts';
import { fieldValue, sending, withField, withoutField } from '../http/message.ts';
import { byAccount } from '../services/item-patches.ts';

/** Takes no notice of an If-None-Match of that kind. */
const ignoringTags = (kind: RegExp): Patch =>
  onReceipt(lacking('If-None-Match'), sending('if-none-match', kind));

/** Another number in each answer, always as long as the one before. */
const counting: Patch = (behavior) => {
  let count = 100_000;
  return onAnswer('served', (answer) => withMembers(answer, { count: ++count }))(behavior);
};

const numbered =
  (tag: (count: number) => string): Patch =>
  (behavior) => {
    let count = 0;
    return withTag(() => tag(++count))(behavior);
  };

const HOUR_MS = 3_600_000;

export const CACHING_DEFECTS = tableOf<Defect>(EVERY, {
  'etag-of-the-moment': {
    cause: 'The same content gets another ETag each time',
    fails: ['caching.etag-stable'],
    patch: numbered((count) => `"${count}"`),
  },
  'etag-of-the-instance': {
    cause: 'The same content gets another ETag each time',
    fails: ['caching.etag-stable'],
    patch: numbered((count) => `"instance-${count % 2}"`),
  },
  'etag-of-the-path': {
    services: REST.services,
    cause: 'Content that changes keeps its strong ETag',
    fails: ['caching.etag-changes'],
    patch: together(
      counting,
      withTag(() => '"resources"'),
    ),
  },
  'etag-of-the-length': {
    services: REST.services,
    cause: 'Content that changes keeps its strong ETag',
    fails: ['caching.etag-changes'],
    patch: together(
      counting,
      withTag(({ body }) => `"${body.length}"`),
    ),
  },
  'etag-of-the-plain-content': {
    cause: 'Compressed and plain content have the same strong ETag',
    fails: ['caching.etag-per-coding'],
    patch: onAnswer('served', (answer, request) => {
      const varying = varyingBy(answer, 'Accept-Encoding');
      if (!acceptsGzip(request)) return varying;
      return { ...withField(varying, 'Content-Encoding', 'gzip'), body: gzipSync(answer.body) };
    }),
  },
  'etag-of-the-first-account': {
    services: REST.services,
    cause: 'Accounts see other content under the same strong ETag',
    fails: ['caching.etag-per-account'],
    patch: together(byAccount, (behavior) => {
      let first: string | null = null;
      return withTag(({ body }) => {
        first ??= entityTagOf(body);
        return first;
      })(behavior);
    }),
  },
  'revalidates-for-any-account': {
    services: REST.services,
    cause: 'An account that names the ETag of another account is answered {status:304}',
    fails: ['caching.tag-of-another-account'],
    patch: together(byAccount, (behavior) => {
      const given = new Set<string>();
      return withTag(
        ({ body }) => {
          const tag = entityTagOf(body);
          given.add(tag);
          return tag;
        },
        (_, held) => [...given].some((tag) => held.includes(tag)),
      )(behavior);
    }),
  },
  'last-modified-iso': {
    cause: 'Last-Modified is not in the format of HTTP',
    fails: ['caching.last-modified-form'],
    patch: onAnswer('served', having('Last-Modified', '2025-11-03T04:05:06Z')),
  },
  'last-modified-with-offset': {
    // RFC 9110 §5.6.7
    cause: 'Last-Modified is not in the format of HTTP',
    fails: ['caching.last-modified-form'],
    patch: onAnswer('served', having('Last-Modified', 'Mon, 03 Nov 2025 05:05:06 +0100')),
  },
  'last-modified-in-future': {
    cause: 'Last-Modified is later than Date',
    fails: ['caching.last-modified-past'],
    patch: onAnswer('served', (answer, _, { clock }) =>
      withField(answer, 'Last-Modified', imfFixdate(clock.now() + HOUR_MS)),
    ),
  },
  'age-with-fraction': {
    cause: 'Age is no whole number of seconds',
    fails: ['caching.age-form'],
    patch: onAnswer('served', having('Age', '1.5')),
  },
  'age-negative': {
    cause: 'Age is a negative number',
    fails: ['caching.age-form'],
    patch: onAnswer('served', having('Age', '-3')),
  },
  'expires-iso': {
    cause: 'Expires is not in the format of HTTP',
    fails: ['caching.expires-form'],
    patch: onAnswer('served', having('Expires', '2027-01-01T00:00:00Z')),
  },
  'expires-in-seconds': {
    // RFC 9111 §5.3
    cause: 'Expires is a number of seconds',
    fails: ['caching.expires-form'],
    patch: onAnswer('served', having('Expires', '3600')),
  },
  'date-in-local-time': {
    cause: 'Date is hours away from the present time',
    fails: ['caching.date-in-time'],
    patch: onAnswer('served', (answer, _, { clock }) =>
      withField(answer, 'Date', imfFixdate(clock.now() + 2 * HOUR_MS)),
    ),
  },
  'date-of-the-start': {
    cause: 'Date is hours away from the present time',
    fails: ['caching.date-in-time'],
    patch: onAnswer('served', having('Date', CHANGED)),
  },
  'public-and-private': {
    cause: 'Cache-Control says public and private',
    fails: ['caching.contradiction'],
    patch: onAnswer('served', having('Cache-Control', 'private, public, no-cache')),
  },
  'no-store-with-lifetime': {
    cause: 'Cache-Control says no-store and a lifetime',
    fails: ['caching.contradiction'],
    patch: onAnswer('served', having('Cache-Control', 'no-store, max-age=60')),
  },

  'tag-list-ignored': {
    cause: 'A list with the current ETag is answered {status:200}',
    fails: ['caching.tag-list'],
    patch: ignoringTags(/,/),
  },
  'tags-compared-strongly': {
    cause: 'The current ETag, marked as weak, is answered {status:200}',
    fails: ['caching.tag-strength'],
    patch: ignoringTags(/^W\//),
  },
  'any-tag-ignored': {
    cause: '`If-None-Match: *` is answered {status:200}',
    fails: ['caching.any-tag'],
    patch: ignoringTags(/^\*$/),
  },
  'tags-compared-as-text': {
    cause: 'Only the very text of the ETag in If-None-Match is answered 304',
    fails: ['caching.tag-list', 'caching.tag-strength', 'caching.any-tag'],
    patch: ignoringTags(/[,*]|^W\//),
  },
  'any-tag-fails': {
    cause: '`If-None-Match: *` is answered {status:400}',
    fails: ['caching.any-tag'],
    patch: onAnswer(['served', 'not-modified'], asProblem(400), sending('if-none-match', /^\*$/)),
  },
  'every-tag-304': {
    cause: 'A client that has another version is answered {status:304}',
    fails: ['caching.other-tag'],
    patch: onReceipt(having('If-None-Match', '*'), sending('if-none-match')),
  },
  'other-tag-412': {
    cause: 'A client that has another version is answered {status:412}',
    fails: ['caching.other-tag'],
    patch: insteadOfServing(sending('if-none-match', /conform-other/), asProblem(412)),
  },
  'date-before-tag': {
    cause: 'A client that has another version of the same date is answered {status:304}',
    fails: ['caching.tag-before-date'],
    patch: dated(isSince),
  },
  'since-any-date-304': {
    cause: 'If-Modified-Since with any date is answered {status:304}',
    fails: ['caching.changed-since'],
    patch: dated((_, request) => !sending('if-none-match')(request)),
  },
  'since-by-the-alphabet': {
    // Sun comes behind Mon.
    cause: 'If-Modified-Since is compared as text, by the names of the days',
    fails: ['caching.changed-since'],
    patch: dated(
      (since, request) => !sending('if-none-match')(request) && (isSince(since) || since > CHANGED),
    ),
  },
  'tag-of-coding-unknown': {
    // As Apache HTTP Server did with its mod_deflate for long.
    cause: 'The ETag of compressed content is answered {status:200}',
    fails: ['caching.tag-of-coding'],
    patch: onAnswer('served', (answer, request) => {
      const varying = varyingBy(answer, 'Accept-Encoding');
      if (!acceptsGzip(request)) return varying;
      const tag = fieldValue(varying, 'etag')?.replace(/"$/, '-gzip"') ?? '"gzip"';
      const coded = { ...withField(varying, 'Content-Encoding', 'gzip'), body: gzipSync(answer.body) };
      return withField(coded, 'ETag', tag);
    }),
  },
  'since-ignored': {
    cause: 'If-Modified-Since with the date of Last-Modified is answered {status:200}',
    fails: ['caching.modified-since'],
    patch: dated(() => false),
  },
  'since-exclusive': {
    cause: 'If-Modified-Since with the date of Last-Modified is answered {status:200}',
    fails: ['caching.modified-since'],
    patch: dated((since) => since !== CHANGED && isSince(since)),
  },
  'since-compared-as-text': {
    cause: 'If-Modified-Since in an old format of dates is answered {status:200}',
    fails: ['caching.date-forms'],
    patch: dated((since, request) => since === CHANGED && !sending('if-none-match')(request)),
  },
  'old-dates-400': {
    cause: 'If-Modified-Since in an old format of dates is answered {status:400}',
    fails: ['caching.date-forms'],
    patch: together(
      dated(),
      onAnswer(['served', 'not-modified'], asProblem(400), sending('if-modified-since', /^\w{3} /)),
    ),
  },
  'if-match-without-quotes': {
    cause: 'Its own ETag in If-Match is answered {status:412}',
    fails: ['caching.if-match'],
    patch: onReceipt((request) => {
      const tag = fieldValue(request, 'if-match');
      return tag === undefined ? request : withField(request, 'If-Match', tag.replaceAll('"', ''));
    }),
  },
  '304-with-other-tag': {
    cause: 'A 304 names another ETag than the client has',
    fails: ['caching.not-modified-tag'],
    patch: onAnswer('not-modified', having('ETag', '"next"')),
  },
  '304-with-length-0': {
    cause: 'A 304 has Content-Length: 0',
    fails: ['caching.not-modified-length'],
    patch: onFinished('not-modified', having('Content-Length', '0')),
  },

  'range-counts-from-1': {
    // RFC 9110 §14.1.2
    cause: 'A 206 has other bytes than it says',
    fails: ['caching.range-content'],
    alsoFails: { 'caching.open-range': 'a range without an end counts from 1 as well' },
    patch: ranged({
      part: (content, first, last) => content.subarray(first + 1, last + 2),
      cut: onlyPrefixes,
    }),
  },
  'range-total-of-the-part': {
    cause: 'Content-Range says a wrong length of the whole',
    fails: ['caching.range-total'],
    patch: ranged({ contentRange: (first, last) => `bytes ${first}-${last}/${last + 1}`, cut: onlyPrefixes }),
  },
  'range-without-etag': {
    cause: 'A 206 lacks headers of the 200',
    fails: ['caching.partial-fields'],
    patch: together(
      ranged(),
      onAnswer('served', (answer) => (answer.status === 206 ? withoutField(answer, 'ETag') : answer)),
    ),
  },
  'unknown-unit-416': {
    cause: 'A range in an unknown unit is answered {status:416}',
    fails: ['caching.unknown-range-unit'],
    patch: insteadOfServing(sending('range', /^(?!bytes=)/), asProblem(416)),
  },
  'unknown-unit-as-bytes': {
    cause: 'A range in an unknown unit is answered {status:206}',
    fails: ['caching.unknown-range-unit'],
    patch: ranged({ cut: (range, octets) => cutOf(range.replace(/^\w+=/, 'bytes='), octets) }),
  },
  'suffix-from-the-start': {
    cause: 'A range of the last bytes gets the first ones',
    fails: ['caching.suffix-range'],
    patch: ranged({ cut: (range, octets) => cutOf(range.replace('=-', '=0-'), octets) }),
  },
  'suffix-416': {
    cause: 'A range of the last bytes is answered {status:416}',
    fails: ['caching.suffix-range'],
    patch: ranged({ cut: (range, octets) => (range.includes('=-') ? null : cutOf(range, octets)) }),
  },
  'open-range-416': {
    cause: 'A range from 0 without an end is answered {status:416}',
    fails: ['caching.open-range'],
    patch: ranged({ cut: (range, octets) => (range.endsWith('=0-') ? null : cutOf(range, octets)) }),
  },
  'open-range-400': {
    cause: 'A range from 0 without an end is answered {status:400}',
    fails: ['caching.open-range'],
    patch: together(ranged(), insteadOfServing(sending('range', /=0-$/), asProblem(400))),
  },
  'open-range-from-1': {
    cause: 'A range without an end begins one byte too late',
    fails: ['caching.open-range'],
    patch: ranged({
      part: (content, first, last) =>
        last === content.length - 1 && first === 0 ? content.subarray(1) : content.subarray(first, last + 1),
    }),
  },
  'range-beyond-the-end-206': {
    cause: 'A range beyond the end is answered {status:206}',
    fails: ['caching.unsatisfied-range'],
    patch: ranged({ unsatisfied: (answer) => ({ ...answer, status: 206, body: Buffer.alloc(0) }) }),
  },
  'range-beyond-the-end-500': {
    cause: 'A range beyond the end is answered {status:500}, a server error',
    fails: ['caching.unsatisfied-range'],
    patch: ranged({ unsatisfied: failed }),
  },
  'unsatisfied-without-length': {
    cause: 'A 416 does not say how long the whole is',
    fails: ['caching.unsatisfied-range'],
    patch: ranged({ unsatisfied: asProblem(416) }),
  },
  'if-range-ignored': {
    cause: 'A client that continues another version is answered {status:206}',
    fails: ['caching.if-range'],
    patch: ranged({ isSame: () => true }),
  },
});

/** No suffixes: a wrong cut shows in a range from the beginning alone. */
function onlyPrefixes(range: string, octets: number): ReturnType<typeof cutOf> {
  return range.includes('=-') ? undefined : cutOf(range, octets);
}

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
import { asProblem, failed, having, varyingBy, withMembers } from '../http/answer-changes.ts';
import { fieldValue, type ReceivedRequest, withField, withoutField } from '../http/message.ts';
import { byAccount } from '../services/item-patches.ts';

/** Takes no notice of an If-None-Match of that kind. */
const ignoringTags = (kind: RegExp): Patch =>
  onReceipt((request) =>
    kind.test(fieldValue(request, 'if-none-match') ?? '') ? withoutField(request, 'If-None-Match') : request,
  );

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

const isStar = (request: ReceivedRequest): boolean => fieldValue(request, 'if-none-match') === '*';

const HOUR_MS = 3_600_000;

export const CACHING_DEFECTS = tableOf<Defect>(EVERY, {
  'etag-of-the-moment': {
    summary: 'makes its ETag from the time of the answer',
    cause: 'The same content gets another ETag each time',
    fails: ['caching.etag-stable'],
    patch: numbered((count) => `"${count}"`),
  },
  'etag-of-the-instance': {
    summary: 'makes its ETag from what differs between its instances, as inodes do',
    cause: 'The same content gets another ETag each time',
    fails: ['caching.etag-stable'],
    patch: numbered((count) => `"instance-${count % 2}"`),
  },
  'etag-of-the-path': {
    services: REST.services,
    summary: 'makes its ETag from the path alone, whatever the content is (RFC 9110 §8.8.3)',
    cause: 'Content that changes keeps its strong ETag',
    fails: ['caching.etag-changes'],
    patch: together(
      counting,
      withTag(() => '"resources"'),
    ),
  },
  'etag-of-the-length': {
    services: REST.services,
    summary: 'makes its ETag from the length of the content (RFC 9110 §8.8.3)',
    cause: 'Content that changes keeps its strong ETag',
    fails: ['caching.etag-changes'],
    patch: together(
      counting,
      withTag(({ body }) => `"${body.length}"`),
    ),
  },
  'etag-of-the-plain-content': {
    summary: 'keeps the strong ETag of the plain content when it compresses (RFC 9110 §8.8.3.3)',
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
    summary: 'makes its ETag once for all accounts, from what each of them sees otherwise (RFC 9110 §8.8.3)',
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
    summary: 'answers 304 to every ETag that it has given to some account (RFC 9110 §13.1.2)',
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
    summary: 'writes Last-Modified as ISO 8601 has it (RFC 9110 §8.8.2)',
    cause: 'Last-Modified is not in the format of HTTP',
    fails: ['caching.last-modified-form'],
    patch: onAnswer('served', having('Last-Modified', '2025-11-03T04:05:06Z')),
  },
  'last-modified-with-offset': {
    summary: 'writes Last-Modified in the time of its zone (RFC 9110 §5.6.7)',
    cause: 'Last-Modified is not in the format of HTTP',
    fails: ['caching.last-modified-form'],
    patch: onAnswer('served', having('Last-Modified', 'Mon, 03 Nov 2025 05:05:06 +0100')),
  },
  'last-modified-in-future': {
    summary: 'says that it will be modified (RFC 9110 §8.8.2.1)',
    cause: 'Last-Modified is later than Date',
    fails: ['caching.last-modified-past'],
    patch: onAnswer('served', (answer, _, { clock }) =>
      withField(answer, 'Last-Modified', imfFixdate(clock.now() + HOUR_MS)),
    ),
  },
  'age-with-fraction': {
    summary: 'writes fractions of a second into Age (RFC 9111 §5.1)',
    cause: 'Age is no whole number of seconds',
    fails: ['caching.age-form'],
    patch: onAnswer('served', having('Age', '1.5')),
  },
  'age-negative': {
    summary: 'computes Age with a clock that is behind (RFC 9111 §5.1)',
    cause: 'Age is a negative number',
    fails: ['caching.age-form'],
    patch: onAnswer('served', having('Age', '-3')),
  },
  'date-in-local-time': {
    summary: 'writes the time of its zone into Date and calls it GMT (RFC 9110 §6.6.1)',
    cause: 'Date is hours away from the present time',
    fails: ['caching.date-in-time'],
    patch: onAnswer('served', (answer, _, { clock }) =>
      withField(answer, 'Date', imfFixdate(clock.now() + 2 * HOUR_MS)),
    ),
  },
  'date-of-the-start': {
    summary: 'sends the time at which it was built as Date',
    cause: 'Date is hours away from the present time',
    fails: ['caching.date-in-time'],
    patch: onAnswer('served', having('Date', CHANGED)),
  },
  'public-and-private': {
    summary: 'says of an answer that it is for everybody and for one client alone',
    cause: 'Cache-Control says public and private',
    fails: ['caching.contradiction'],
    patch: onAnswer('served', having('Cache-Control', 'private, public, no-cache')),
  },
  'no-store-with-lifetime': {
    summary: 'forbids caches to keep an answer, and says for how long they may',
    cause: 'Cache-Control says no-store and a lifetime',
    fails: ['caching.contradiction'],
    patch: onAnswer('served', having('Cache-Control', 'no-store, max-age=60')),
  },

  'tag-list-ignored': {
    summary: 'compares all of If-None-Match with its ETag (RFC 9110 §13.1.2)',
    cause: 'A list with the current ETag is answered {status:200}',
    fails: ['caching.tag-list'],
    patch: ignoringTags(/,/),
  },
  'tags-compared-strongly': {
    summary: 'takes a weak ETag for another one than the strong one (RFC 9110 §13.1.2)',
    cause: 'The current ETag, marked as weak, is answered {status:200}',
    fails: ['caching.tag-strength'],
    patch: ignoringTags(/^W\//),
  },
  'any-tag-ignored': {
    summary: 'does not know what `*` stands for (RFC 9110 §13.1.2)',
    cause: '`If-None-Match: *` is answered {status:200}',
    fails: ['caching.any-tag'],
    patch: ignoringTags(/^\*$/),
  },
  'tags-compared-as-text': {
    summary: 'answers 304 only where If-None-Match is its ETag letter for letter (RFC 9110 §13.1.2)',
    cause: 'Only the very text of the ETag in If-None-Match is answered 304',
    fails: ['caching.tag-list', 'caching.tag-strength', 'caching.any-tag'],
    patch: ignoringTags(/[,*]|^W\//),
  },
  'any-tag-fails': {
    summary: 'cannot read `*` as an entity tag, and refuses it',
    cause: '`If-None-Match: *` is answered {status:400}',
    fails: ['caching.any-tag'],
    patch: onAnswer(['served', 'not-modified'], asProblem(400), isStar),
  },
  'every-tag-304': {
    summary: 'answers 304 as soon as there is an If-None-Match',
    cause: 'A client that has another version is answered {status:304}',
    fails: ['caching.other-tag'],
    patch: onReceipt((request) =>
      fieldValue(request, 'if-none-match') === undefined ? request : withField(request, 'If-None-Match', '*'),
    ),
  },
  'other-tag-412': {
    summary: 'takes If-None-Match for If-Match',
    cause: 'A client that has another version is answered {status:412}',
    fails: ['caching.other-tag'],
    patch: insteadOfServing(
      (request) => /conform-other/.test(fieldValue(request, 'if-none-match') ?? ''),
      asProblem(412),
    ),
  },
  'date-before-tag': {
    summary: 'goes by If-Modified-Since also where there is an If-None-Match (RFC 9110 §13.1.3)',
    cause: 'A client that has another version of the same date is answered {status:304}',
    fails: ['caching.tag-before-date'],
    patch: dated({ spares: isSince }),
  },
  'since-ignored': {
    summary: 'sends Last-Modified and takes no notice of If-Modified-Since',
    cause: 'If-Modified-Since with the date of Last-Modified is answered {status:200}',
    fails: ['caching.modified-since'],
    patch: dated({ spares: () => false }),
  },
  'since-exclusive': {
    summary: 'answers 304 only to dates that are later than Last-Modified',
    cause: 'If-Modified-Since with the date of Last-Modified is answered {status:200}',
    fails: ['caching.modified-since'],
    patch: dated({ spares: (since) => since !== CHANGED && isSince(since) }),
  },
  'since-compared-as-text': {
    summary: 'compares dates letter for letter (RFC 9110 §5.6.7)',
    cause: 'If-Modified-Since in an old format of dates is answered {status:200}',
    fails: ['caching.date-forms'],
    patch: dated({
      spares: (since, request) => since === CHANGED && fieldValue(request, 'if-none-match') === undefined,
    }),
  },
  'old-dates-400': {
    summary: 'refuses dates in other forms than its own (RFC 9110 §5.6.7)',
    cause: 'If-Modified-Since in an old format of dates is answered {status:400}',
    fails: ['caching.date-forms'],
    patch: together(
      dated(),
      onAnswer(['served', 'not-modified'], asProblem(400), (request) =>
        /^\w{3} /.test(fieldValue(request, 'if-modified-since') ?? ''),
      ),
    ),
  },
  'if-match-without-quotes': {
    summary: 'compares If-Match without quotes with an ETag that has them (RFC 9110 §13.1.1)',
    cause: 'Its own ETag in If-Match is answered {status:412}',
    fails: ['caching.if-match'],
    patch: onReceipt((request) => {
      const tag = fieldValue(request, 'if-match');
      return tag === undefined ? request : withField(request, 'If-Match', tag.replaceAll('"', ''));
    }),
  },
  '304-with-other-tag': {
    summary: 'sends a new ETag with each 304 (RFC 9110 §15.4.5)',
    cause: 'A 304 names another ETag than the client has',
    fails: ['caching.not-modified-tag'],
    patch: onAnswer('not-modified', having('ETag', '"next"')),
  },
  '304-with-length-0': {
    summary: 'sends the length of the content that a 304 has not (RFC 9110 §8.6)',
    cause: 'A 304 has Content-Length: 0',
    fails: ['caching.not-modified-length'],
    patch: onFinished('not-modified', having('Content-Length', '0')),
  },

  'range-counts-from-1': {
    summary: 'counts the octets of a range from 1 (RFC 9110 §14.1.2)',
    cause: 'A 206 has other bytes than it says',
    fails: ['caching.range-content'],
    patch: ranged({
      part: (content, first, last) => content.subarray(first + 1, last + 2),
      cut: onlyPrefixes,
    }),
  },
  'range-total-of-the-part': {
    summary: 'says the length of the part where that of the whole belongs (RFC 9110 §14.4)',
    cause: 'Content-Range says a wrong length of the whole',
    fails: ['caching.range-total'],
    patch: ranged({ contentRange: (first, last) => `bytes ${first}-${last}/${last + 1}`, cut: onlyPrefixes }),
  },
  'range-without-etag': {
    summary: 'sends parts without their ETag (RFC 9110 §15.3.7)',
    cause: 'A 206 lacks headers of the 200',
    fails: ['caching.partial-fields'],
    patch: together(
      ranged(),
      onAnswer('served', (answer) => (answer.status === 206 ? withoutField(answer, 'ETag') : answer)),
    ),
  },
  'unknown-unit-416': {
    summary: 'refuses a range in a unit that it does not know (RFC 9110 §14.2)',
    cause: 'A range in an unknown unit is answered {status:416}',
    fails: ['caching.unknown-range-unit'],
    patch: insteadOfServing(
      (request) => /^(?!bytes=)/.test(fieldValue(request, 'range') ?? 'bytes='),
      asProblem(416),
    ),
  },
  'unknown-unit-as-bytes': {
    summary: 'looks for the numbers of a range, whatever their unit is (RFC 9110 §14.2)',
    cause: 'A range in an unknown unit is answered {status:206}',
    fails: ['caching.unknown-range-unit'],
    patch: ranged({ cut: (range, octets) => cutOf(range.replace(/^\w+=/, 'bytes='), octets) }),
  },
  'suffix-from-the-start': {
    summary: 'takes a range without a beginning for one from the beginning (RFC 9110 §14.1.2)',
    cause: 'A range of the last bytes gets the first ones',
    fails: ['caching.suffix-range'],
    patch: ranged({ cut: (range, octets) => cutOf(range.replace('=-', '=0-'), octets) }),
  },
  'suffix-416': {
    summary: 'cannot read a range without a beginning (RFC 9110 §14.1.2)',
    cause: 'A range of the last bytes is answered {status:416}',
    fails: ['caching.suffix-range'],
    patch: ranged({ cut: (range, octets) => (range.includes('=-') ? null : cutOf(range, octets)) }),
  },
  'range-beyond-the-end-206': {
    summary: 'serves a range that lies beyond the end as an empty part (RFC 9110 §15.5.17)',
    cause: 'A range beyond the end is answered {status:206}',
    fails: ['caching.unsatisfied-range'],
    patch: ranged({ unsatisfied: (answer) => ({ ...answer, status: 206, body: Buffer.alloc(0) }) }),
  },
  'range-beyond-the-end-500': {
    summary: 'fails over a range that lies beyond the end',
    cause: 'A range beyond the end is answered {status:500}, a server error',
    fails: ['caching.unsatisfied-range'],
    patch: ranged({ unsatisfied: failed }),
  },
  'unsatisfied-without-length': {
    summary: 'says 416 and not how long the whole is (RFC 9110 §15.5.17)',
    cause: 'A 416 does not say how long the whole is',
    fails: ['caching.unsatisfied-range'],
    patch: ranged({ unsatisfied: asProblem(416) }),
  },
  'if-range-ignored': {
    summary: 'serves a range of another version than the client has (RFC 9110 §13.1.5)',
    cause: 'A client that continues another version is answered {status:206}',
    fails: ['caching.if-range'],
    patch: ranged({ isSame: () => true }),
  },
});

/** No suffixes: a wrong cut shows in a range from the beginning alone. */
function onlyPrefixes(range: string, octets: number): ReturnType<typeof cutOf> {
  return range.includes('=-') ? undefined : cutOf(range, octets);
}

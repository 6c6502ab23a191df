import {
  type CheckContext,
  check,
  IN_CONTENT,
  practice,
  type Reply,
  rfc9110,
  rfc9111,
} from '../../harness/engine/check/suite.ts';
import { steady } from '../row.ts';
import { everyExchange } from '../stimuli/record.ts';
import { rawSample, sample, sampleAgain, samplesInARow } from '../stimuli/sample.ts';
import { gzipAccepted } from '../stimuli/target.ts';
import { withTheSameTag } from './stimuli/repeated.ts';

/** Why nothing is to be judged of the ETag (RFC 9110 §8.8.3) of the documented response, or by it. */
export const NO_TAG = 'the documented response has no ETag';
export const TAG_CHANGED = 'the ETag has changed in between';

/** The ETag of the documented response; without one the check does not apply. */
export async function ownTag({ probe, notApplicable }: CheckContext): Promise<string> {
  return (await probe(sample)).response.entityTag ?? notApplicable(NO_TAG);
}

/** In ms: a clock may be wrong by minutes, a time zone is wrong by half an hour at the least. */
const WRONG_CLOCK_MS = 25 * 60_000;

/** RFC 9111 §5.1: milliseconds for which a cache has stored it, by Age; of an Age that is no number nothing is known. */
function storedMs(response: Reply['response']): number {
  const age = response.field('age');
  if (age === undefined) return 0;
  return /^\d+$/.test(age) ? 1_000 * Number(age) : Number.POSITIVE_INFINITY;
}

// RFC 9110 §8.8.2.1: not later than the time at which the message was made.
export const lastModifiedPast = check('caching.last-modified-past', {
  title: 'sends no Last-Modified that is later than Date',
  headline: 'Last-Modified is later than Date: {got}',
  why: 'What changes in the meantime is not noticed: copies count as current until that time.',
  change: 'Send the time of Date where the time of the last change is later.',
  grounds: [rfc9110('8.8.2.1', 'MUST')],
  uses: [everyExchange],
  judge: ({ expect }) =>
    expect()
      .where(
        ({ response }) => response.lastModified !== null && response.date !== null,
        'no response has Last-Modified with a Date',
      )
      .toConform('a Last-Modified before Date', ({ response }) =>
        Number(response.lastModified) > Number(response.date)
          ? `${response.field('last-modified')} with Date ${response.field('date')}`
          : null,
      ),
});

/** What a response says of its version and its age (RFC 9110 §8.8, RFC 9111 §5). */
export const validators = [
  // A tag that is another each time spares nobody anything.
  steady('caching.etag-stable', {
    title: 'keeps its ETag while the content stays the same',
    headline: 'The same content gets another ETag: {got}',
    why: 'No copy is ever found to be current, so everything is sent again each time.',
    change: 'Make the ETag from the content or its version, not from the time or the machine.',
    ground: practice('validators hold still'),
    alike: ['tag'],
    reading: IN_CONTENT,
    uses: [sample, sampleAgain],
    async unless(context) {
      await ownTag(context);
      const first = await context.probe(sample);
      await context
        .expect(sample, sampleAgain)
        .where(({ served }) => served)
        .toBeRead('an ETag', IN_CONTENT);
      await context
        .expect(sampleAgain)
        .where((again) => again.served && first.hasSameContentAs(again), 'the content is another each time')
        .toBeRead('an ETag', IN_CONTENT);
    },
    wanted: ({ usual }) => `the ETag ${usual} each time`,
    got: ({ odd }) => odd,
  }),

  // Behind one address there is one time.
  steady('caching.one-clock', {
    title: 'has one clock behind its address, as Date tells it',
    headline: 'Date tells another time now and then: {got}',
    why: 'Caches count the age of a response from Date: what one instance sends is stale at once, or fresh for too long.',
    change: 'Set the clocks of all instances by NTP.',
    alike: ['clock'],
    wanted: ({ usual }) => `${usual} in Date`,
    got: ({ odd }) => odd,
  }),

  // RFC 9110 §8.8.3: a tag that does not change with every change is marked as weak.
  check('caching.etag-changes', {
    title: 'changes a strong ETag with the content',
    headline: 'Other content has the same ETag: {got}',
    why: 'Clients and caches keep an old copy and are told that it is current.',
    change: 'Make the ETag from all of the content, or mark it as weak: W/"abc".',
    grounds: [rfc9110('8.8.3', 'MUST')],
    uses: [sample, samplesInARow, rawSample, everyExchange],
    async judge({ probe, expect }) {
      await expect(sample, samplesInARow, rawSample)
        .where((each) => each.served && each.response.entityTag !== null, NO_TAG)
        .toBeRead('a change', IN_CONTENT);
      const pairs = withTheSameTag((await probe(everyExchange)).all);
      await expect
        .each(pairs, ({ again }) => again, 'no ETag came twice')
        .toConform(
          'the same content with the same strong ETag',
          ({ first, again }) =>
            first.hasSameContentAs(again) ? null : `other content with ETag ${again.response.entityTag}`,
          { partly: false, unread: ({ unread }, { first }) => unread ?? first.response.unread },
        );
    },
  }),

  // RFC 9110 §8.8.3.3: a strong tag is of one content coding alone.
  check('caching.etag-per-coding', {
    title: 'gives compressed content an ETag of its own, or a weak one',
    headline: 'Compressed and plain content have the same strong ETag: {got}',
    why: 'A client puts together a part of the plain and a part of the compressed bytes.',
    change: 'Add the compression to the ETag, such as "abc-gzip", or mark it as weak: W/"abc".',
    grounds: [rfc9110('8.8.3', 'MUST')],
    uses: [rawSample, gzipAccepted],
    async judge({ probe, expect }) {
      const plain = await probe(rawSample);
      await expect(gzipAccepted)
        .where((each) => each.served && !each.hasSameCodingAs(plain), 'nothing is compressed')
        .toConform('another ETag, or a weak one', (each) =>
          plain.sharesStrongTagWith(each) ? `ETag ${each.response.entityTag} for both` : null,
        );
    },
  }),

  // RFC 9110 §5.6.7: whoever generates a date generates an IMF-fixdate.
  check('caching.last-modified-form', {
    title: 'sends Last-Modified in the format of HTTP',
    headline: 'Last-Modified is not in the format of HTTP: {got}',
    why: 'Caches cannot read it, and ask for everything again each time.',
    change: 'Write it like this: Sun, 06 Nov 1994 08:49:37 GMT.',
    grounds: [rfc9110('8.8.2', 'MUST')],
    uses: [everyExchange],
    judge: ({ expect }) =>
      expect()
        .where(({ response }) => response.has('last-modified'), 'no response has Last-Modified')
        .toConform('an IMF-fixdate in Last-Modified', ({ response: { lastModifiedFault } }) =>
          lastModifiedFault === null ? null : `"${lastModifiedFault}"`,
        ),
  }),

  lastModifiedPast,

  // RFC 9111 §5.1: Age is a number of seconds.
  check('caching.age-form', {
    title: 'sends Age as a number of seconds',
    headline: 'Age is no number of seconds: {got}',
    why: 'Caches cannot tell how old the response is, and keep it too long.',
    change: 'Write whole seconds from 0 up: Age: 30.',
    grounds: [rfc9111('5.1', 'MUST')],
    uses: [everyExchange],
    judge: ({ expect }) =>
      expect()
        .where(({ response }) => response.has('age'), 'no response has Age')
        .toConform('seconds in Age', ({ response }) =>
          /^\d{1,15}$/.test(response.field('age') ?? '') ? null : `"${response.field('age')}"`,
        ),
  }),

  // RFC 9111 §5.3: an HTTP-date; an invalid one counts as the past.
  check('caching.expires-form', {
    title: 'sends Expires in the format of HTTP',
    headline: 'Expires is not in the format of HTTP: {got}',
    why: 'Caches take such a time for the past, and keep nothing.',
    change: 'Write it like this: Sun, 06 Nov 1994 08:49:37 GMT. A lifetime belongs into max-age.',
    grounds: [rfc9111('5.3', 'MUST')],
    uses: [everyExchange],
    judge: ({ expect }) =>
      expect()
        .where(({ response }) => response.has('expires'), 'no response has Expires')
        .toConform('an IMF-fixdate in Expires, or 0', ({ response: { expiresFault } }) =>
          expiresFault === null ? null : `"${expiresFault}"`,
        ),
  }),

  // RFC 9110 §6.6.1: Date is the time at which the message was made.
  check('caching.date-in-time', {
    title: 'sends the present time as Date',
    headline: 'Date is not the present time: {got}',
    why: 'Caches count the age of a response from Date: it is stale at once, or fresh for hours.',
    change: 'Set the clock by NTP, and write the time in GMT and not in local time.',
    grounds: [rfc9110('6.6.1', 'SHOULD')],
    uses: [everyExchange],
    judge: ({ expect }) =>
      expect()
        .where(({ response }) => response.date !== null, 'there is no Date to judge')
        .toConform('the present time in Date', ({ response }) => {
          const aheadMs = Number(response.date) - Number(response.receivedAt);
          return aheadMs > WRONG_CLOCK_MS || aheadMs < -WRONG_CLOCK_MS - storedMs(response)
            ? `${response.field('date')} at ${response.receivedAt.toUTCString()}`
            : null;
        }),
  }),

  // RFC 9111 §5.2.2: of two directives that exclude each other caches choose as they like.
  check('caching.contradiction', {
    title: 'sends no Cache-Control that contradicts itself',
    headline: 'Cache-Control contradicts itself: {got}',
    why: 'Some caches keep the response and others do not: nobody knows who gets an old copy.',
    change: 'Decide for one: no-store, private, or public with a lifetime.',
    grounds: [practice('one cache policy')],
    uses: [everyExchange],
    judge: ({ expect }) =>
      expect()
        .where(({ response }) => response.has('cache-control'), 'no response has Cache-Control')
        .toConform('directives that fit each other', ({ response }) => response.cacheControl.contradiction),
  }),
];

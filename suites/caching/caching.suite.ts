import {
  type CheckContext,
  check,
  credentialInField,
  FRAMED,
  getDocumented,
  given,
  IN_CONTENT,
  type Probe,
  type Reply,
  type ResponseReading,
  rfc9110,
  secondKey,
  suite,
} from '../../harness/engine/check/suite.ts';
import { secondKeySample } from '../auth/stimuli/credential.ts';
import { handles } from '../row.ts';
import { sample, sampleAgain, samplesInARow } from '../stimuli/sample.ts';
import { rangeRequest } from '../stimuli/target.ts';
import { conditions, otherTag, repeatsFields } from './conditions.ts';
import * as validator from './stimuli/validator.ts';
import { TAG_CHANGED, validators } from './validators.ts';

/** Validators of an address at which each account finds something of its own. */
export const accounts = given(
  [secondKey, credentialInField],
  [
    // RFC 9110 §8.8.3: what a strong tag does not tell apart is the same, octet by octet.
    check('caching.etag-per-account', {
      title: 'gives what each account sees a strong ETag of its own, or a weak one',
      headline: 'Two accounts see other content under the same strong ETag: {got}',
      why: 'One account is told that its copy is current, when it is the copy of another account.',
      change: 'Make the ETag from what the account gets, or mark it as weak: W/"abc".',
      grounds: [rfc9110('8.8.3', 'MUST')],
      uses: [sample, samplesInARow, secondKeySample],
      async judge({ probe, expect, notApplicable }) {
        const mine = await probe(sample);
        const again = await probe(samplesInARow);
        if (!again.every((each) => each.served && mine.sharesStrongTagWith(each)))
          notApplicable('no strong ETag came each time');
        await expect(sample, samplesInARow, secondKeySample)
          .where(({ served }) => served)
          .toBeRead('the content of an account', IN_CONTENT);
        if (!again.every((each) => mine.hasSameContentAs(each)))
          notApplicable('the content is another each time');
        await expect(secondKeySample)
          .where((other) => other.served && other.hasSameCodingAs(mine))
          .toConform(
            'the same content, or another ETag',
            (other) =>
              mine.sharesStrongTagWith(other) && !mine.hasSameContentAs(other)
                ? `other content with ETag ${other.response.entityTag}`
                : null,
            IN_CONTENT,
          );
      },
    }),

    // RFC 9110 §13.1.2: the tag is compared with that of what this client would get.
    check('caching.tag-of-another-account', {
      title: 'sends its own content to an account that names the ETag of another account',
      headline: 'An account that names the ETag of another account gets {answer}',
      why: 'A client goes on showing one account the content of another.',
      change: 'Compare If-None-Match with the ETag of what this account would get.',
      grounds: [rfc9110('13.1.2', 'MUST')],
      restsOn: [otherTag],
      uses: [sample, sampleAgain, validator.tagOfAnother, validator.secondKeyAfter],
      async judge({ probe, expect, notApplicable }) {
        const [mine, again] = [await probe(sample), await probe(sampleAgain)];
        if (!again.served || mine.response.entityTag !== again.response.entityTag)
          notApplicable('no ETag came twice');
        if ((await probe(validator.tagOfAnother)).status === 304) {
          const { entityTag } = (await probe(validator.secondKeyAfter)).response;
          if (
            entityTag === null ||
            validator.opaque(entityTag) === validator.opaque(mine.response.entityTag ?? '')
          )
            notApplicable(TAG_CHANGED);
        }
        await expect(validator.tagOfAnother).toConform(
          'what this account gets, or a refusal',
          ({ status }) => (status === 304 ? 'status 304' : null),
        );
      },
    }),
  ],
);

const NO_PART = 'no part came that can be compared';
/** A part of compressed content cannot be unpacked alone. */
const IN_PART: ResponseReading = {
  unread: ({ status, unknownOctets, codingLimit, unread }) =>
    status === 206 ? (unknownOctets ?? codingLimit) : unread,
  partly: false,
};

/** What a part is compared with, which has to be known. */
const comparable = async ({ expect }: CheckContext, part: Probe<Reply>): Promise<void> =>
  expect(sample, sampleAgain, part)
    .where(({ served }) => served)
    .toBeRead('a part', IN_PART);

// RFC 9110 §14.2: a server may ignore Range.
const range = handles('caching.range', rangeRequest, {
  what: 'a Range header',
  why: 'Download tools and media players ask for ranges.',
  change: 'Ignore Range, or answer 206 or 416.',
});

/** Requests for a part (RFC 9110 §14). */
export const ranges = [
  range,

  // RFC 9110 §15.3.7: a 206 tells in Content-Range which octets of how many it has.
  check('caching.partial-content', {
    title: 'says which bytes it sends when it sends a range',
    headline: 'A 206 does not say rightly which bytes it has: {got}',
    why: 'The client puts the parts together wrongly, or not at all.',
    change: 'Send Content-Range with every 206, for example: bytes 0-99/1234.',
    grounds: [rfc9110('15.3.7', 'MUST')],
    uses: [rangeRequest],
    judge: ({ expect }) =>
      expect()
        .where(({ status }) => status === 206, 'ranges are not served')
        .toConform(
          'the range of the octets in Content-Range',
          ({ response }) => response.partialFault,
          FRAMED,
        ),
  }),

  // RFC 9110 §14.2: the octets of the range, and no others.
  check('caching.range-content', {
    title: 'sends the bytes of the range that it names',
    headline: 'A 206 has other bytes than it says: {got}',
    why: 'The client puts a broken file together, and nothing tells it so.',
    change: 'Cut the body at the numbers of the range: both count from 0, and the last one is included.',
    grounds: [rfc9110('15.3.7', 'MUST')],
    uses: [sample, sampleAgain, rangeRequest],
    async judge(context) {
      const { probe, expect } = context;
      await comparable(context, rangeRequest);
      const whole = await probe(sample);
      const again = await probe(sampleAgain);
      await expect(rangeRequest)
        .where((part) => whole.hasSameContentAs(again) && part.isPartOf(whole), NO_PART)
        .toConform('the octets that Content-Range names', (part) => part.partFault(whole), IN_CONTENT);
    },
  }),
  // RFC 9110 §14.4: the complete length.
  check('caching.range-total', {
    title: 'says with a range how long the whole is',
    headline: 'A 206 says a wrong length of the whole: {got}',
    why: 'The client stops too early, or asks for parts that do not exist.',
    change: 'Write the length of the whole body behind the slash of Content-Range.',
    grounds: [rfc9110('14.4', 'MUST')],
    uses: [sample, sampleAgain, rangeRequest],
    async judge(context) {
      const { probe, expect } = context;
      await comparable(context, rangeRequest);
      const whole = await probe(sample);
      const again = await probe(sampleAgain);
      const { length } = whole.response.content;
      await expect(rangeRequest)
        .where((part) => whole.hasSameContentAs(again) && part.isPartOf(whole), NO_PART)
        .toConform(`the length ${length}`, ({ response: { contentRange } }) => {
          const total = contentRange?.total ?? length;
          return total === length ? null : `${total}`;
        });
    },
  }),
  // RFC 9110 §15.3.7: a 206 has what a 200 would have had.
  repeatsFields('caching.partial-fields', rangeRequest, 206, {
    title: 'repeats in a 206 the headers that caches need',
    headline: 'A 206 lacks headers of the 200: {got}',
    why: 'The client cannot tell whether two parts are of the same version.',
    change: 'Send Cache-Control, Content-Location, ETag, Expires and Vary with 206 as with 200.',
    ground: rfc9110('15.3.7', 'MUST'),
  }),

  // RFC 9110 §14.2: a range unit that is not understood is ignored.
  check('caching.unknown-range-unit', {
    title: 'ignores a range in a unit that it does not know',
    headline: 'A range in an unknown unit gets {answer}',
    why: 'Clients that page with units of their own are refused, or get a part that they did not ask for.',
    change: 'Look at Range only where it begins with bytes=, and ignore all others.',
    grounds: [rfc9110('14.2', 'MUST')],
    repeats: [range],
    uses: [sample, validator.unknownRangeUnit],
    async judge({ probe, expect }) {
      const { status } = (await probe(sample)).response;
      await expect(validator.unknownRangeUnit).toHaveStatus(status);
    },
  }),

  // RFC 9110 §14.1.2: a suffix range counts from the end.
  check('caching.suffix-range', {
    title: 'counts a range without a beginning from the end',
    headline: 'A range of the last bytes is misread: {got}',
    why: 'Players and archives look at the end first, and find something else there.',
    change: 'Take bytes=-2 for the last two bytes.',
    grounds: [rfc9110('14.1.2', 'MUST')],
    uses: [sample, sampleAgain, validator.lastOctets],
    async judge(context) {
      const { probe, expect } = context;
      await comparable(context, validator.lastOctets);
      const whole = await probe(sample);
      const again = await probe(sampleAgain);
      await expect(validator.lastOctets)
        .where(
          (part) => part.status !== 206 || (whole.hasSameContentAs(again) && part.isPartOf(whole)),
          NO_PART,
        )
        .toConform(
          'the last two octets, or all',
          (part) => {
            const { status, contentRange, content } = part.response;
            if (status !== 206) return status === 200 ? null : `status ${status}`;
            const first = Math.max(0, whole.response.content.length - 2);
            if (contentRange !== null && contentRange.first !== first)
              return `those from ${contentRange.first} on`;
            return part.partFault(whole) ?? (content.length > 2 ? `${content.length} octets` : null);
          },
          IN_CONTENT,
        );
    },
  }),
  // RFC 9110 §14.1.2: a range without an end goes to the end; a server may send less of it (§15.3.7).
  check('caching.open-range', {
    title: 'serves a range from 0 that has no end',
    headline: 'A range from 0 without an end is misread: {got}',
    why: 'Browsers ask for media like this first, and players that get a refusal show an error.',
    change: 'Take bytes=0- for everything, and answer 206 with it or 200.',
    grounds: [rfc9110('14.1.2', 'MUST')],
    uses: [sample, sampleAgain, validator.fromTheStart],
    async judge(context) {
      const { probe, expect } = context;
      await comparable(context, validator.fromTheStart);
      const whole = await probe(sample);
      const again = await probe(sampleAgain);
      await expect(validator.fromTheStart)
        .where(
          (part) => part.status !== 206 || (whole.hasSameContentAs(again) && part.isPartOf(whole)),
          NO_PART,
        )
        .toConform(
          'the octets from the first one on',
          (part) => {
            const { status, contentRange } = part.response;
            if (status !== 206) return status === 200 ? null : `status ${status}`;
            if (contentRange !== null && contentRange.first !== 0)
              return `those from ${contentRange.first} on`;
            return part.partFault(whole);
          },
          IN_CONTENT,
        );
    },
  }),
  // RFC 9110 §15.5.17: 416 says how long the whole is.
  check('caching.unsatisfied-range', {
    title: 'answers 416 to a range that lies beyond the end',
    headline: 'A range beyond the end gets {got}',
    why: 'A client that continues a download does not learn that it has everything.',
    change: 'Answer 416 with Content-Range: bytes */LENGTH, or the whole body.',
    grounds: [rfc9110('15.5.17', 'SHOULD')],
    uses: [validator.beyondTheEnd],
    judge: ({ expect }) =>
      expect().toConform('status 416 with Content-Range, or 200', ({ response }) => {
        if (response.status === 200) return null;
        if (response.status !== 416) return `status ${response.status}`;
        return /^bytes \*\/\d+$/.test(response.field('content-range') ?? '')
          ? null
          : `status 416 with Content-Range ${response.field('content-range') ?? 'absent'}`;
      }),
  }),
  // RFC 9110 §13.1.5: a range of another version is none of this one.
  check('caching.if-range', {
    title: 'sends everything where a client continues another version',
    headline: 'A client that continues another version gets {answer}',
    why: 'The client joins parts of two versions into one broken file.',
    change: 'Compare If-Range with the ETag, and ignore Range where they differ.',
    grounds: [rfc9110('13.1.5', 'MUST')],
    uses: [validator.rangeIfOther],
    judge: ({ expect }) =>
      expect().toConform('the whole', ({ status }) =>
        status === 206 || status === 416 ? `status ${status}` : null,
      ),
  }),
];

/** Validators, conditional requests and ranges (RFC 9110 §8.8, §13 and §14, RFC 9111). */
export const caching = suite(
  'caching',
  'Caching and conditional requests',
  given([getDocumented], [...validators, ...conditions, ...ranges, ...accounts]),
);

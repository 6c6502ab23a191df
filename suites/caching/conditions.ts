import {
  check,
  clause,
  type Ground,
  observation,
  type Probe,
  type Reply,
  rfc9110,
} from '../../harness/engine/check/suite.ts';
import { handles, type RowNotes, statusesOf } from '../row.ts';
import { rawSample, sample, sampleAgain } from '../stimuli/sample.ts';
import * as target from '../stimuli/target.ts';
import * as validator from './stimuli/validator.ts';
import { lastModifiedPast, NO_TAG, ownTag, TAG_CHANGED } from './validators.ts';

interface Repeated extends RowNotes<'title' | 'headline'> {
  readonly ground: Ground;
}

const NEEDED = ['Cache-Control', 'Content-Location', 'ETag', 'Expires', 'Vary'];

/** An answer in place of a 200 has what caches need of that one. */
export const repeatsFields = (
  id: string,
  asked: Probe<Reply>,
  status: 206 | 304,
  { ground, ...notes }: Repeated,
) =>
  check(id, {
    ...notes,
    grounds: [ground],
    uses: [sample, asked],
    async judge({ probe, expect }) {
      const { response: full } = await probe(sample);
      // A copy that is stale by its old Expires stays so without another one.
      const needed = NEEDED.filter((name) => (name === 'Expires' ? full.expiresLater : full.has(name)));
      await expect(asked)
        .where((reply) => reply.status === status, `no request was answered ${status}`)
        .where(() => needed.length > 0, 'the documented response has no header that caches need')
        .toConform(`the ${needed.join(', ')} of the 200`, ({ response }) => {
          const lost = needed.filter((name) => !response.has(name));
          return lost.length === 0 ? null : `no ${lost.join(', no ')}`;
        });
    },
  });

// RFC 9110 §13.1.2: a GET is answered 304 while the tag it names still is that of the resource; 412 is for others.
const notModified = check('caching.not-modified', {
  title: 'answers 304 to a client that already has the current version',
  headline: 'A client that has the current version gets {answer}',
  why: 'The whole body is sent again each time, although nothing has changed.',
  change: 'Compare If-None-Match with the ETag, and answer 304 without a body when they match.',
  grounds: [rfc9110('13.1.2', 'MUST')],
  uses: [sample, target.conditional],
  async judge({ probe, expect, notApplicable }) {
    const tag = (await probe(sample)).response.entityTag;
    const { served, response } = await probe(target.conditional);
    if (response.status !== 304 && response.status !== 412) {
      if (tag === null) notApplicable(NO_TAG);
      if (!served) notApplicable('such a request is refused');
      if (response.entityTag !== tag) notApplicable(TAG_CHANGED);
    }
    await expect(target.conditional).toConform('status 304', ({ status }) => {
      if (status === 304) return null;
      return status === 412 ? 'status 412' : `status ${status} with the same ETag`;
    });
  },
});

interface Unchanged extends RowNotes<'title' | 'headline'> {
  readonly ground: Ground;
  /** What is answered 304 wherever such requests are answered 304 at all. Default: its own tag. */
  readonly plain?: Probe<Reply>;
}

/** The condition says in other words what another one says that is answered 304. */
const sees304 = (
  id: string,
  condition: Probe<Reply>,
  { ground, plain = target.conditional, ...notes }: Unchanged,
) =>
  check(id, {
    ...notes,
    grounds: [ground],
    uses: [plain, condition, sample],
    async judge({ probe, expect, notApplicable }) {
      if ((await probe(plain)).status !== 304) notApplicable('no such condition is answered 304');
      const { response } = await probe(condition);
      const tag = (await probe(sample)).response.entityTag;
      if (response.statusClass === 2 && response.entityTag !== tag) notApplicable(TAG_CHANGED);
      await expect(condition).toHaveStatus(304);
    },
  });

interface Changed extends RowNotes<'title' | 'headline' | 'restsOn'> {
  readonly ground: Ground;
}

/** The client has another version: it gets this one. */
const sendsIt = (id: string, condition: Probe<Reply>, { ground, ...notes }: Changed) =>
  check(id, {
    ...notes,
    grounds: [ground],
    uses: [condition],
    judge: ({ expect }) =>
      expect().toConform('the resource, or a refusal', ({ response: { status } }) =>
        status === 304 || status === 412 ? `status ${status}` : null,
      ),
  });

export const otherTag = sendsIt('caching.other-tag', validator.otherTag, {
  title: 'sends the resource to a client that has another version',
  headline: 'A client that has another version gets {answer}',
  why: 'The client keeps its old copy for good.',
  change: 'Answer 304 only where If-None-Match names the ETag that you would send.',
  ground: rfc9110('13.1.2', 'MUST'),
});

/** Conditional requests (RFC 9110 §13). */
export const conditions = [
  handles('caching.conditional', target.conditional, {
    what: 'an If-None-Match header',
    why: 'Every browser and cache sends it for what it already has.',
    change: 'Compare it with the ETag and answer 304 or 200. Ignore it where there is no ETag.',
  }),

  notModified,

  // RFC 9110 §13.1.2: the field is a list.
  sees304('caching.tag-list', validator.tagInList, {
    title: 'finds its ETag in a list of them',
    headline: 'A list with the current ETag gets {answer}',
    why: 'Caches that hold several versions send all their tags, and get the whole body each time.',
    change: 'Split If-None-Match at its commas outside the quotes, and compare each tag.',
    ground: rfc9110('13.1.2', 'MUST'),
  }),
  // RFC 9110 §13.1.2: the comparison is weak.
  sees304('caching.tag-strength', validator.tagOfOtherStrength, {
    title: 'takes a weak and a strong ETag for the same in If-None-Match',
    headline: 'The current ETag, marked otherwise as weak or strong, gets {answer}',
    why: 'Proxies that compress mark tags as weak. Their clients get the whole body each time.',
    change: 'Leave W/ out of the comparison for If-None-Match.',
    ground: rfc9110('13.1.2', 'MUST'),
  }),
  // RFC 9110 §13.1.2: `*` stands for any version.
  sees304('caching.any-tag', validator.anyTag, {
    title: 'answers 304 to If-None-Match: * where there is a resource',
    headline: 'If-None-Match: * gets {answer}',
    why: 'A client that only wants to know that it exists gets the whole body.',
    change: 'Answer 304 to a GET with If-None-Match: * where you have anything to send.',
    ground: rfc9110('13.1.2', 'MUST'),
  }),

  // RFC 9110 §13.1.2: the tag is that of what this client gets, in its coding.
  check('caching.tag-of-coding', {
    title: 'answers 304 to the ETag that it gave compressed content',
    headline: 'The ETag of compressed content in If-None-Match gets {answer}',
    why: 'Clients that accept compression, which most do, are sent everything again each time.',
    change: 'Let the same code that adds the coding to the ETag take it off If-None-Match.',
    grounds: [rfc9110('13.1.2', 'MUST')],
    uses: [target.gzipAccepted, validator.tagOfCoding],
    async judge({ probe, expect }) {
      const tag = (await probe(target.gzipAccepted)).response.entityTag;
      await expect(validator.tagOfCoding)
        .where(({ served, response }) => !served || response.entityTag === tag, TAG_CHANGED)
        .where(({ served, status }) => served || status === 304, 'such a request is refused')
        .toConform('status 304', ({ status }) =>
          status === 304 ? null : `status ${status} with the same ETag`,
        );
    },
  }),

  otherTag,
  // RFC 9110 §13.1.3: with If-None-Match the date is ignored.
  sendsIt('caching.tag-before-date', validator.otherTagSameDate, {
    title: 'goes by the ETag where a client sends a date as well',
    headline: 'A client that has another version of the same date gets {answer}',
    why: 'What changed twice within a second stays old for good in caches that send both.',
    change: 'Ignore If-Modified-Since where If-None-Match is there.',
    ground: rfc9110('13.1.3', 'MUST'),
    restsOn: [otherTag],
  }),

  // RFC 9110 §13.1.3: 304 where it has not been modified since.
  check('caching.modified-since', {
    title: 'answers 304 to the date that it gave as Last-Modified',
    headline: 'Its own Last-Modified in If-Modified-Since gets {answer}',
    why: 'Clients that know only dates get the whole body each time.',
    change: 'Compare If-Modified-Since with Last-Modified, and answer 304 where it is not earlier.',
    grounds: [rfc9110('13.1.3', 'SHOULD')],
    restsOn: [lastModifiedPast],
    uses: [sample, validator.modifiedSince],
    async judge({ probe, expect }) {
      const before = (await probe(sample)).response.field('last-modified');
      await expect(validator.modifiedSince)
        .where(
          ({ response }) => response.statusClass !== 2 || response.field('last-modified') === before,
          'Last-Modified has changed in between',
        )
        .toHaveStatus(304);
    },
  }),
  // RFC 9110 §13.1.3, §13.2.2: what was changed later than that is sent.
  sendsIt('caching.changed-since', validator.changedSince, {
    title: 'sends what has changed since the date in If-Modified-Since',
    headline: 'A client whose copy is older than Last-Modified gets {answer}',
    why: 'The client keeps its old copy for good.',
    change:
      'Answer 304 only where Last-Modified is not later than If-Modified-Since; compare times, not texts.',
    ground: rfc9110('13.2.2', 'MUST'),
  }),
  // RFC 9110 §5.6.7: recipients take all three forms of a date.
  sees304('caching.date-forms', validator.modifiedSinceAsctime, {
    title: 'takes dates in the old formats of HTTP',
    headline: 'If-Modified-Since in an old format of dates gets {answer}',
    why: 'Old clients and caches are sent the whole body each time, or are refused.',
    change: 'Read dates with the parser of your HTTP library, which knows three formats.',
    ground: rfc9110('5.6.7', 'MUST'),
    plain: validator.modifiedSince,
  }),

  // RFC 9110 §13.1.1: the condition is true where the tag is that of the resource.
  check('caching.if-match', {
    title: 'takes its own ETag in If-Match',
    headline: 'Its own ETag in If-Match gets {answer}',
    why: 'Clients that protect their changes with If-Match can change nothing.',
    change: 'Compare If-Match with the ETag as it was sent, quotes included.',
    grounds: [rfc9110('13.1.1', 'MUST')],
    uses: [sample, sampleAgain, validator.ownIfMatch],
    async judge({ probe, expect }) {
      const tag = (await probe(sample)).response.entityTag;
      const isStill = (await probe(sampleAgain)).response.entityTag === tag;
      await expect(validator.ownIfMatch)
        .where(() => isStill, 'the ETag changes')
        .toConform('no status 412', ({ status }) => (status === 412 ? 'status 412' : null));
    },
  }),

  // RFC 9110 §15.4.5: a 304 has the fields that a 200 would have had and caches need.
  repeatsFields('caching.not-modified-fields', target.conditional, 304, {
    title: 'repeats in a 304 the headers that caches need',
    headline: 'A 304 lacks headers of the 200: {got}',
    why: 'A cache no longer knows how long it may keep its copy.',
    change: 'Send Cache-Control, Content-Location, ETag, Expires and Vary with 304 as with 200.',
    ground: rfc9110('15.4.5', 'MUST'),
  }),
  // RFC 9110 §15.4.5: the ETag of the 200 in its place.
  check('caching.not-modified-tag', {
    title: 'names in a 304 the ETag that the client has',
    headline: 'A 304 names another ETag than the client has: {got}',
    why: 'The client marks its old copy with a new ETag, and never gets the new version.',
    change: 'Send with 304 the ETag that a 200 would have now.',
    grounds: [rfc9110('15.4.5', 'MUST')],
    uses: [sample, target.conditional],
    async judge(context) {
      const tag = await ownTag(context);
      await context
        .expect(target.conditional)
        .where(
          ({ status, response }) => status === 304 && response.entityTag !== null,
          'no request was answered 304 with an ETag',
        )
        .toConform(`the ETag ${tag}`, ({ response: { entityTag } }) =>
          entityTag === null || validator.opaque(entityTag) === validator.opaque(tag) ? null : entityTag,
        );
    },
  }),
  // RFC 9110 §8.6: Content-Length of a 304 is that of the 200.
  check('caching.not-modified-length', {
    title: 'sends with 304 the Content-Length of the 200, or none',
    headline: 'A 304 has another Content-Length than the 200: {got}',
    why: 'Caches take it for the new length of their copy, and throw the copy away or cut it.',
    change: 'Leave Content-Length out of 304.',
    grounds: [rfc9110('8.6', 'MUST')],
    uses: [sample, sampleAgain, rawSample, target.conditional],
    async judge({ probe, expect }) {
      const wholes = [await probe(sample), await probe(sampleAgain), await probe(rawSample)];
      const lengths = [...new Set(wholes.map(({ response }) => response.bodyLength))];
      await expect(target.conditional)
        .where(
          ({ status, response }) => status === 304 && response.has('content-length'),
          'no request was answered 304 with Content-Length',
        )
        .toConform(`Content-Length ${lengths.join(' or ')}`, ({ response }) =>
          lengths.some((length) => length === response.contentLength)
            ? null
            : (response.field('content-length') ?? ''),
        );
    },
  }),

  // Whether a condition is heeded on a read, no document shows.
  observation('caching.preconditions', {
    title: 'heeds conditions on reads, or ignores them',
    why: 'A client that relies on conditions has to know which of them count.',
    grounds: [clause('endpoint.other-operations')],
    uses: [sample, target.conditional, validator.otherTag, validator.otherIfMatch],
    async observe(context) {
      await ownTag(context);
      return statusesOf(context.probe, {
        ifNoneMatchOwn: target.conditional,
        ifNoneMatchOther: validator.otherTag,
        ifMatchOther: validator.otherIfMatch,
      });
    },
  }),
];

import { NotApplicable } from '../../../harness/base/verdict.ts';
import { type Probe, probe } from '../../../harness/engine/session/probe.ts';
import type { Reply } from '../../../harness/wire/exchange/reply.ts';
import type { ResponseView } from '../../../harness/wire/exchange/response.ts';
import type { FieldLine } from '../../../harness/wire/exchange.ts';
import { secondKeySample } from '../../auth/stimuli/credential.ts';
import { served, variation } from '../../stimuli/sample.ts';
import { conditional, gzipAccepted, rangeRequest } from '../../stimuli/target.ts';

/** The sample under conditions (RFC 9110 §13) and for ranges (§14), as far as it has the validators for them. */

/** Of nothing that a service has. */
const OTHER_TAG = '"conform-other"';

const NO_TAG = 'the documented response has no ETag';

/** `unless`: why it cannot be asked with that tag; null if it can. */
function byTag(
  name: string,
  purpose: string,
  fields: (tag: string) => readonly FieldLine[],
  unless?: (tag: string) => string | null,
): Probe<Reply> {
  return probe(name, { needs: [served] }, async ({ ask, http }) => {
    const tag = (await ask(served)).response.entityTag;
    const reason = tag === null ? NO_TAG : unless?.(tag);
    if (tag === null || reason) throw new NotApplicable(reason ?? NO_TAG);
    return http.send({ purpose, fields: fields(tag), raw: true });
  });
}

/** What is compared where strength does not count (RFC 9110 §8.8.3.2). */
export const opaque = (tag: string): string => tag.replace(/^W\//, '');

/** The same opaque tag, weak where that one is strong. */
const ofOtherStrength = (tag: string): string => (tag.startsWith('W/') ? tag.slice(2) : `W/${tag}`);

export const tagInList = byTag('tag-in-list', 'with its own ETag as the second of If-None-Match', (tag) => [
  ['If-None-Match', `${OTHER_TAG}, ${tag}`],
]);
export const tagOfOtherStrength = byTag(
  'tag-of-other-strength',
  'with its own ETag, weak for strong, in If-None-Match',
  (tag) => [['If-None-Match', ofOtherStrength(tag)]],
);
/** With the tag that came with compressed content, for the same content in the same coding. */
export const tagOfCoding = probe(
  'tag-of-coding',
  { needs: [gzipAccepted, conditional] },
  async ({ ask, http }) => {
    const { served: isServed, response } = await ask(gzipAccepted);
    if (!isServed || response.contentCodings.length === 0) throw new NotApplicable('nothing is compressed');
    const { entityTag } = response;
    if (entityTag === null) throw new NotApplicable('what is compressed has no ETag');
    if ((await ask(conditional)).status !== 304) throw new NotApplicable('no such condition is answered 304');
    return http.send({
      purpose: 'accepting gzip, with the ETag of its compressed content in If-None-Match',
      fields: [
        ['Accept-Encoding', 'gzip'],
        ['If-None-Match', entityTag],
      ],
      raw: true,
    });
  },
);
export const anyTag = byTag('any-tag', 'with If-None-Match: *', () => [['If-None-Match', '*']]);
export const ownIfMatch = byTag(
  'own-if-match',
  'with its own ETag in If-Match',
  (tag) => [['If-Match', tag]],
  (tag) => (tag.startsWith('W/') ? 'its ETag is weak, and If-Match compares strongly' : null),
);
export const otherIfMatch = byTag('other-if-match', 'with another ETag in If-Match', () => [
  ['If-Match', OTHER_TAG],
]);

function byDate(
  name: string,
  purpose: string,
  fields: (at: Date, written: string, response: ResponseView) => readonly FieldLine[],
): Probe<Reply> {
  return probe(name, { needs: [served] }, async ({ ask, http }) => {
    const { response } = await ask(served);
    const { lastModified } = response;
    if (lastModified === null) throw new NotApplicable('the documented response has no Last-Modified');
    const written = response.field('last-modified') ?? '';
    return http.send({ purpose, fields: fields(lastModified, written, response), raw: true });
  });
}

export const modifiedSince = byDate(
  'modified-since',
  'with its own Last-Modified in If-Modified-Since',
  (_, written) => [['If-Modified-Since', written]],
);
const DAY_MS = 86_400_000;
/** The client has what was there a day before the last change. */
export const changedSince = byDate(
  'changed-since',
  'with the day before its own Last-Modified in If-Modified-Since',
  (at) => [['If-Modified-Since', new Date(Number(at) - DAY_MS).toUTCString()]],
);
/** A form that recipients still take (RFC 9110 §5.6.7): `Sun Nov  6 08:49:37 1994`. */
export const modifiedSinceAsctime = byDate(
  'modified-since-asctime',
  'with its own Last-Modified in If-Modified-Since, in the form of asctime',
  (at) => [['If-Modified-Since', asctime(at)]],
);
/** The tag says that it has changed, the date that it has not. */
export const otherTagSameDate = byDate(
  'other-tag-same-date',
  'with another ETag in If-None-Match and its own Last-Modified in If-Modified-Since',
  (_, written, { entityTag }) => {
    if (entityTag === null) throw new NotApplicable(NO_TAG);
    return [
      ['If-None-Match', OTHER_TAG],
      ['If-Modified-Since', written],
    ];
  },
);

/** What is served for both is served for the tag alone. */
export const otherTag = probe('other-tag', { needs: [served, otherTagSameDate] }, async ({ ask, http }) => {
  const { entityTag, lastModified } = (await ask(served)).response;
  if (entityTag === null) throw new NotApplicable(NO_TAG);
  const both = lastModified === null ? null : await ask(otherTagSameDate);
  if (both?.served) return both;
  return http.send({
    purpose: 'with another ETag in If-None-Match',
    fields: [['If-None-Match', OTHER_TAG]],
    raw: true,
  });
});

/** Asked where the second key gets something else: the tag is none of what it gets. */
export const tagOfAnother = probe(
  'tag-of-another',
  { needs: [served, secondKeySample] },
  async ({ ask, http }) => {
    const { entityTag } = (await ask(served)).response;
    const other = await ask(secondKeySample);
    if (entityTag === null || other.response.entityTag === null) throw new NotApplicable(NO_TAG);
    if (!other.served) throw new NotApplicable('the second key is refused');
    if (opaque(entityTag) === opaque(other.response.entityTag))
      throw new NotApplicable('the second key gets the same ETag');
    return http.send({
      purpose: 'with the second key, and the ETag of what the first one gets in If-None-Match',
      fields: [['If-None-Match', entityTag]],
      credential: 'second',
      raw: true,
    });
  },
);
export const secondKeyAfter = probe('second-key-after', { needs: [tagOfAnother] }, async ({ ask, http }) => {
  await ask(tagOfAnother);
  return http.send({ purpose: 'with the second key once more', credential: 'second' });
});

function asctime(at: Date): string {
  const [, weekday, day = '', month, year, time] =
    /^(\w+), (\d+) (\w+) (\d+) ([\d:]+)/.exec(at.toUTCString()) ?? [];
  return `${weekday} ${month} ${day.replace(/^0/, ' ')} ${time} ${year}`;
}

/** A unit that nobody has registered. */
export const unknownRangeUnit = variation('unknown-range-unit', 'for a range in a unit that does not exist', {
  fields: [['Range', 'conform=0-1']],
});

function ofRanges(name: string, purpose: string, fields: (octets: number) => FieldLine[]): Probe<Reply> {
  return probe(name, { needs: [served, rangeRequest] }, async ({ ask, http }) => {
    const whole = await ask(served);
    if ((await ask(rangeRequest)).status !== 206) throw new NotApplicable('ranges are not served');
    return http.send({ purpose, fields: fields(whole.response.bodyLength) });
  });
}

export const lastOctets = ofRanges('last-octets', 'for its last two octets', () => [['Range', 'bytes=-2']]);
export const fromTheStart = ofRanges('from-the-start', 'for all octets from its first one on', () => [
  ['Range', 'bytes=0-'],
]);
export const beyondTheEnd = ofRanges('beyond-the-end', 'for a range beyond its end', (octets) => [
  ['Range', `bytes=${octets + 100_000}-`],
]);
export const rangeIfOther = ofRanges(
  'range-if-other',
  'for a range, if it is still that of another ETag',
  () => [
    ['Range', 'bytes=0-1'],
    ['If-Range', OTHER_TAG],
  ],
);

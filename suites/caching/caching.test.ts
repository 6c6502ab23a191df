import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { saidOf } from '../tests/fixtures/judged.ts';
import {
  type Asked,
  CONTENT,
  type Differing,
  either,
  judgedOf,
  type Row,
  SECOND,
  type Setting,
  TAG,
  to,
} from './fixtures/versioned-service.ts';

/** Ranges, and accounts. */

const LENGTH = CONTENT.length;
const isRange = (range: string) => (asked: Asked) => asked.headers.range === range;
const isPlain = ({ headers, key, target }: Asked) =>
  target === '/v1/resources' &&
  key !== null &&
  !Object.keys(headers).some((name) => /^(?:if-|range$)/.test(name));
const [FIRST, LAST, ALL, BEYOND, UNKNOWN] = [
  'bytes=0-1',
  'bytes=-2',
  'bytes=0-',
  `bytes=${LENGTH + 100_000}-`,
  'conform=0-1',
];
const isIfRange = ({ headers }: Asked) => headers['if-range'] !== undefined;
/** Of another version each time. */
const changing: Differing = (asked) =>
  isPlain(asked) ? { body: CONTENT.replace('one', `one ${asked.alike}`) } : null;
const part = (range: string, contentRange: string | null, body: string): Differing =>
  to((asked) => isRange(range)(asked) && !isIfRange(asked), {
    status: 206,
    fields: { 'Content-Range': contentRange },
    body,
  });
const ONE_OCTET: Differing = ({ headers: { range } }, { status }) => {
  if (range === undefined) return status === 200 ? { body: '7' } : null;
  return { status: 206, fields: { 'Content-Range': 'bytes 0-0/1' }, body: '7' };
};
const packed = (range: string): Differing =>
  to(isRange(range), { fields: { 'Content-Encoding': 'gzip' }, body: gzipSync(CONTENT).subarray(0, 2) });

/** Evidence that does not do to compare a part with the whole. */
const incomparable = (range: string): readonly Row[] => [
  ['of content that is another each time', changing, /^skipped: no part came that can be compared/],
  ['of compressed content', packed(range), /^skipped: no part came that can be compared/],
  ['that is cut', to(isRange(range), { isCut: true }), /^blocked/],
  ['in an unknown coding', to(isRange(range), { fields: { 'Content-Encoding': 'x-conform' } }), /^blocked/],
  [
    'of content that is not in its coding',
    to((asked) => isPlain(asked), { fields: { 'Content-Encoding': 'gzip' } }),
    /^blocked/,
  ],
];

const TWO: Setting = { hasSecond: true };
const APART: Setting = { hasSecond: true, tagOf: (key) => (key === SECOND ? '"v2"' : TAG) };
const isSecond = (asked: Asked) => isPlain(asked) && asked.key === SECOND;
const isFirstAgain = (asked: Asked, from: number) =>
  isPlain(asked) && asked.key !== SECOND && asked.alike >= from;
const isTagOfFirst = ({ key, headers }: Asked) => key === SECOND && headers['if-none-match'] === TAG;
const OTHERS = '{"resources":["of another account"]}';

const LATER = 'Fri, 31 Dec 2100 23:59:59 GMT';

const SAID: Readonly<Record<string, readonly Row[]>> = {
  'caching.partial-content': [
    ['its range', () => null, /^pass/],
    ['no range', part(FIRST, null, '{"'), /^fail/],
    ['no part', to(isRange(FIRST), { status: 200, body: CONTENT }), /^skipped: ranges are not served/],
  ],
  'caching.range-content': [
    ['its octets', () => null, /^pass/],
    ['other octets', part(FIRST, `bytes 0-1/${LENGTH}`, 'xx'), /got other octets than 0 to 1/],
    ...incomparable(FIRST),
    ['that is refused, and the refusal is cut', to(isRange(FIRST), { status: 503, isCut: true }), /^skipped/],
  ],
  'caching.range-total': [
    ['the length', () => null, /^pass/],
    ['another', part(FIRST, 'bytes 0-1/99', '{"'), /expected the length 43, got 99/],
    ['an unknown one', part(FIRST, 'bytes 0-1/*', '{"'), /^pass/],
    [
      'another, of content that is another each time',
      either(changing, part(FIRST, 'bytes 0-1/99', '{"')),
      /^skipped/,
    ],
  ],
  'caching.suffix-range': [
    ['the last two', () => null, /^pass/],
    ['all', to(isRange(LAST), { status: 200, fields: { 'Content-Range': null }, body: CONTENT }), /^pass/],
    ['a refusal', to(isRange(LAST), { status: 416 }), /got status 416/],
    ['the first two', part(LAST, `bytes 0-1/${LENGTH}`, '{"'), /got those from 0 on/],
    [
      'other octets',
      part(LAST, `bytes ${LENGTH - 2}-${LENGTH - 1}/${LENGTH}`, 'xx'),
      /got other octets than 41 to 42/,
    ],
    ['five, and no range', part(LAST, null, 'one"]'), /got 5 octets/],
    ['three, and no range', part(LAST, null, '"]}'), /got 3 octets/],
    ['two, and no range', part(LAST, null, ']}'), /^pass/],
    ['all there is', ONE_OCTET, /^pass/],
    ...incomparable(LAST),
  ],
  'caching.open-range': [
    ['all', () => null, /^pass/],
    [
      'all, as no part',
      to(isRange(ALL), { status: 200, fields: { 'Content-Range': null }, body: CONTENT }),
      /^pass/,
    ],
    ['less', part(ALL, `bytes 0-4/${LENGTH}`, CONTENT.slice(0, 5)), /^pass/],
    ['a refusal', to(isRange(ALL), { status: 416 }), /got status 416/],
    [
      'from the second one on',
      part(ALL, `bytes 1-${LENGTH - 1}/${LENGTH}`, CONTENT.slice(1)),
      /got those from 1 on/,
    ],
    ['other octets', part(ALL, `bytes 0-1/${LENGTH}`, 'xx'), /got other octets than 0 to 1/],
    ...incomparable(ALL),
  ],
  'caching.unsatisfied-range': [
    ['416', () => null, /^pass/],
    ['all', to(isRange(BEYOND), { status: 200, body: CONTENT }), /^pass/],
    ['201', to(isRange(BEYOND), { status: 201, body: CONTENT }), /got status 201/],
    [
      '416 without a length',
      to(isRange(BEYOND), { fields: { 'Content-Range': null } }),
      /got status 416 with Content-Range absent/,
    ],
    ...['bytes */43 x', 'x bytes */43', 'bytes */', 'bytes 0-1/43'].map(
      (value): Row => [
        `416 with ${value}`,
        to(isRange(BEYOND), { fields: { 'Content-Range': value } }),
        new RegExp(`got status 416 with Content-Range ${value.replace('*', '\\*')}`),
      ],
    ),
    ['no ranges', to(isRange(FIRST), { status: 200, body: CONTENT }), /^skipped: ranges are not served/],
  ],
  'caching.if-range': [
    ['the whole', () => null, /^pass/],
    [
      'a part',
      to(isIfRange, { status: 206, fields: { 'Content-Range': 'bytes 0-1/43' }, body: '{"' }),
      /got status 206/,
    ],
    ['a refusal of the range', to(isIfRange, { status: 416 }), /got status 416/],
    ['another refusal', to(isIfRange, { status: 417 }), /^pass/],
  ],
  'caching.unknown-range-unit': [
    ['is ignored', () => null, /^pass/],
    ['gets a part', to(isRange(UNKNOWN), { status: 206 }), /got status 206/],
  ],
  'caching.partial-fields': [
    ['are repeated', () => null, /^pass/],
    [
      'lack two',
      to(isRange(FIRST), { fields: { ETag: null, Vary: null } }),
      /expected the ETag, Vary of the 200, got no ETag, no Vary/,
    ],
    [
      'there are none',
      () => ({ fields: { ETag: null, Vary: null } }),
      /^skipped: the documented response has no header/,
    ],
    ['there is one', () => ({ fields: { ETag: null } }), /^pass/],
    ['have a time', () => ({ fields: { Expires: LATER } }), /^pass/],
    [
      'lack the time',
      to((asked) => !isRange(FIRST)(asked), { fields: { Expires: LATER } }),
      /expected the ETag, Expires, Vary of the 200, got no Expires/,
    ],
    [
      'no part',
      to(isRange(FIRST), { status: 200, fields: { ETag: null }, body: CONTENT }),
      /^skipped: no request was answered 206/,
    ],
  ],
  'caching.etag-per-account': [
    ['the same content', () => null, /^pass/, TWO],
    ['other content', to(isSecond, { body: OTHERS }), /got other content with ETag "v1"/, TWO],
    ['other content and another tag', to(isSecond, { body: OTHERS }), /^pass/, APART],
    [
      'weak tags',
      to(isSecond, { body: OTHERS }),
      /^skipped: no strong ETag came each time/,
      { hasSecond: true, tagOf: () => 'W/"v1"' },
    ],
    [
      'content that changed once',
      (asked) => (isFirstAgain(asked, 2) ? { body: OTHERS } : null),
      /^skipped: the content is another each time/,
      TWO,
    ],
    [
      'a tag on an error',
      (asked) => (isFirstAgain(asked, 1) ? { status: 404 } : null),
      /^skipped: no strong ETag came each time/,
      TWO,
    ],
    [
      'compressed for one',
      to(isSecond, { fields: { 'Content-Encoding': 'gzip' }, body: gzipSync(OTHERS) }),
      /^skipped/,
      TWO,
    ],
    [
      'a refusal that is cut',
      to(isSecond, { status: 403, isCut: true }),
      /^(?:skipped|blocked: (?!.*body))/,
      TWO,
    ],
  ],
  'caching.tag-of-another-account': [
    ['its own content', () => null, /^pass/, APART],
    ['nothing new', to(isTagOfFirst, { status: 304, body: '' }), /got status 304/, APART],
    [
      'nothing new, as it has that tag by now',
      either(to(isTagOfFirst, { status: 304, body: '' }), (asked) =>
        isSecond(asked) && asked.alike > 0 ? { fields: { ETag: TAG } } : null,
      ),
      /^skipped: the ETag has changed/,
      APART,
    ],
    [
      'nothing new, as it has that tag by now, marked as weak',
      either(to(isTagOfFirst, { status: 304, body: '' }), (asked) =>
        isSecond(asked) && asked.alike > 0 ? { fields: { ETag: `W/${TAG}` } } : null,
      ),
      /^skipped: the ETag has changed/,
      APART,
    ],
    [
      'nothing new, and no tag by now',
      either(to(isTagOfFirst, { status: 304, body: '' }), (asked) =>
        isSecond(asked) && asked.alike > 0 ? { fields: { ETag: null } } : null,
      ),
      /^skipped: the ETag has changed/,
      APART,
    ],
    [
      'nothing new, as for any tag',
      to(({ headers }) => headers['if-none-match'] !== undefined, { status: 304, body: '' }),
      /^blocked/,
      APART,
    ],
    [
      'a tag that came once',
      (asked) => (isFirstAgain(asked, 1) ? { fields: { ETag: '"v9"' } } : null),
      /^skipped: no ETag came twice/,
      APART,
    ],
    [
      'a tag on an error',
      (asked) => (isFirstAgain(asked, 1) ? { status: 404 } : null),
      /^skipped: no ETag came twice/,
      APART,
    ],
    ['the same tag', () => null, /^skipped: the second key gets the same ETag/, TWO],
    ['no second account', to(isSecond, { status: 401 }), /^skipped: the second key is refused/, APART],
  ],
};

describe.concurrent.each(Object.entries(SAID))('%s', (id, cases) => {
  it.each(cases.map((row) => ({ row })))('$row.0', async ({ row: [, differing, said, setting] }) => {
    expect(saidOf(await judgedOf(differing, [id], setting), id)).toMatch(said);
  });
});

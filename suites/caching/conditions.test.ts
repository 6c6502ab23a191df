import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { saidOf } from '../tests/fixtures/judged.ts';
import {
  type Answer,
  type Asked,
  CHANGED,
  CONTENT,
  either,
  judgedOf,
  type Row,
  TAG,
  to,
} from './fixtures/versioned-service.ts';

const isAbout = ({ target, key }: Asked) => target === '/v1/resources' && key !== null;
const isPlain = (asked: Asked) =>
  isAbout(asked) && !Object.keys(asked.headers).some((name) => /^(?:if-|range$)/.test(name));
const ifNone = (tags: string) => (asked: Asked) => isAbout(asked) && asked.headers['if-none-match'] === tags;
const ifSince = (date: string) => (asked: Asked) =>
  isAbout(asked) &&
  asked.headers['if-modified-since'] === date &&
  asked.headers['if-none-match'] === undefined;
const isGzip = ({ headers }: Asked) => headers['accept-encoding'] === 'gzip';
const isOwn = (asked: Asked) => ifNone(TAG)(asked) && !isGzip(asked);
const isOther = ifNone('"conform-other"');
const ofCoding = ifNone('"v1-gzip"');
const SENT: Partial<Answer> = { status: 200, body: CONTENT };
const GONE: Partial<Answer> = { status: 404 };
const ANOTHER: Partial<Answer> = { ...SENT, fields: { ETag: '"v2"' } };
const LATER = 'Fri, 31 Dec 2100 23:59:59 GMT';
const WEAK = { tagOf: () => 'W/"v1"' };

/** Of a condition that is to be answered 304, wherever `plain` is. */
const unchanged = (isMeant: (asked: Asked) => boolean, plain: (asked: Asked) => boolean): readonly Row[] => [
  ['is current', () => null, /^pass/],
  ['is sent again', to(isMeant, SENT), /got status 200/],
  ['is refused', to(isMeant, GONE), /got status 404/],
  ['has changed', to(isMeant, ANOTHER), /^skipped: the ETag has changed/],
  ['as all are', either(to(plain, SENT), to(isMeant, SENT)), /^skipped: no such condition is answered 304/],
];

const SAID: Readonly<Record<string, readonly Row[]>> = {
  'caching.not-modified': [
    ['304', () => null, /^pass/],
    ['all of it', to(isOwn, SENT), /got status 200 with the same ETag/],
    ['412', to(isOwn, { status: 412 }), /got status 412/],
    ['a refusal', to(isOwn, GONE), /^skipped: such a request is refused/],
    ['another version', to(isOwn, ANOTHER), /^skipped: the ETag has changed/],
    [
      'without a tag',
      (asked) => (isAbout(asked) ? { ...SENT, fields: { ETag: null } } : null),
      /^skipped: the documented response has no ETag/,
    ],
  ],
  'caching.tag-list': unchanged(ifNone(`"conform-other", ${TAG}`), isOwn),
  'caching.tag-strength': [
    ...unchanged(ifNone(`W/${TAG}`), isOwn),
    ['of a weak one', to(ifNone(TAG), SENT), /got status 200/, WEAK],
  ],
  'caching.any-tag': unchanged(ifNone('*'), isOwn),
  'caching.date-forms': unchanged(ifSince('Sun Feb  1 08:05:09 2026'), ifSince(CHANGED)),
  'caching.tag-of-coding': [
    ['304', () => null, /^pass/],
    [
      'all of it',
      to(ofCoding, { status: 200, fields: { 'Content-Encoding': 'gzip' }, body: gzipSync(CONTENT) }),
      /got status 200 with the same ETag/,
    ],
    ['another version', to(ofCoding, ANOTHER), /^skipped: the ETag has changed/],
    ['a refusal', to(ofCoding, GONE), /^skipped: such a request is refused/],
    [
      'nothing compressed',
      to((asked) => isPlain(asked) && isGzip(asked), { fields: { 'Content-Encoding': null }, body: CONTENT }),
      /^skipped: nothing is compressed/,
    ],
    [
      'a compressed refusal',
      to((asked) => isPlain(asked) && isGzip(asked), { status: 406 }),
      /^skipped: nothing is compressed/,
    ],
    [
      'no tag for it',
      to((asked) => isPlain(asked) && isGzip(asked), { fields: { ETag: null } }),
      /^skipped: what is compressed has no ETag/,
    ],
    [
      'no condition is heeded',
      to((asked) => isOwn(asked), SENT),
      /^skipped: no such condition is answered 304/,
    ],
  ],
  'caching.other-tag': [
    ['all of it', () => null, /^pass/],
    ['304', to(isOther, { status: 304, body: '' }), /got status 304/],
    ['412', to(isOther, { status: 412 }), /got status 412/],
    ['a refusal', to(isOther, GONE), /^pass/],
    [
      '304 without a date',
      (asked) =>
        isAbout(asked)
          ? { fields: { 'Last-Modified': null }, ...(isOther(asked) && { status: 304, body: '' }) }
          : null,
      /got status 304/,
    ],
    [
      'all of it with a date alone',
      to((asked) => isOther(asked) && asked.headers['if-modified-since'] === undefined, {
        status: 304,
        body: '',
      }),
      /^pass/,
    ],
    [
      'no tag',
      (asked) => (isAbout(asked) ? { fields: { ETag: null } } : null),
      /^skipped: the documented response has no ETag/,
    ],
  ],
  'caching.tag-before-date': [
    ['all of it', () => null, /^pass/],
    [
      '304 with a date alone',
      to((asked) => isOther(asked) && asked.headers['if-modified-since'] === CHANGED, {
        status: 304,
        body: '',
      }),
      /got status 304/,
    ],
    ['304 for any tag', to(isOther, { status: 304, body: '' }), /^blocked/],
    [
      'no tag',
      (asked) => (isAbout(asked) ? { fields: { ETag: null } } : null),
      /^skipped: the documented response has no ETag/,
    ],
    [
      'no date',
      (asked) => (isAbout(asked) ? { fields: { 'Last-Modified': null } } : null),
      /^skipped: the documented response has no Last-Modified/,
    ],
  ],
  'caching.modified-since': [
    ['304', () => null, /^pass/],
    ['all of it', to(ifSince(CHANGED), SENT), /got status 200/],
    ['a refusal', to(ifSince(CHANGED), { status: 404, fields: { 'Last-Modified': null } }), /got status 404/],
    [
      'another version',
      to(ifSince(CHANGED), { ...SENT, fields: { 'Last-Modified': 'Sun, 01 Feb 2026 09:05:09 GMT' } }),
      /^skipped: Last-Modified has changed/,
    ],
  ],
  'caching.changed-since': [
    ['all of it', () => null, /^pass/],
    [
      '304 for the day before',
      to(ifSince('Sat, 31 Jan 2026 08:05:09 GMT'), { status: 304, body: '' }),
      /got status 304/,
    ],
  ],
  'caching.if-match': [
    ['is taken', () => null, /^pass/],
    ['is refused', to(({ headers }) => headers['if-match'] === TAG, { status: 412 }), /got status 412/],
    [
      'is weak',
      to(({ headers }) => headers['if-match'] !== undefined, { status: 412 }),
      /^skipped: its ETag is weak/,
      WEAK,
    ],
    [
      'changes',
      either(
        (asked) => (isPlain(asked) && asked.alike > 0 ? { fields: { ETag: '"v2"' } } : null),
        to(({ headers }) => headers['if-match'] === TAG, { status: 412 }),
      ),
      /^skipped: the ETag changes/,
    ],
  ],
  'caching.not-modified-fields': [
    ['are repeated', () => null, /^pass/],
    ['lack one', to(isOwn, { fields: { Vary: null } }), /got no Vary/],
    ['have a time', () => ({ fields: { Expires: LATER } }), /^pass/],
    ['lack the time', to((asked) => !isOwn(asked), { fields: { Expires: LATER } }), /got no Expires/],
    ['lack a time that is over', to((asked) => !isOwn(asked), { fields: { Expires: CHANGED } }), /^pass/],
    ['lack what is no time', to((asked) => !isOwn(asked), { fields: { Expires: '0' } }), /^pass/],
    ['no 304', to(isOwn, { ...SENT, fields: { Vary: null } }), /^skipped: no request was answered 304/],
  ],
  'caching.not-modified-tag': [
    ['the same', () => null, /^pass/],
    ['as weak', to(isOwn, { fields: { ETag: `W/${TAG}` } }), /^pass/],
    ['another', to(isOwn, { fields: { ETag: '"v2"' } }), /got "v2"/],
    ['another one with W/ in it', to(isOwn, { fields: { ETag: '"W/v1"' } }), /got "W\/v1"/],
    ['none', to(isOwn, { fields: { ETag: null } }), /^skipped: no request was answered 304 with an ETag/],
  ],
  'caching.not-modified-length': [
    ['none', () => null, /^skipped: no request was answered 304 with Content-Length/],
    ['that of the whole', to(isOwn, { fields: { 'Content-Length': String(CONTENT.length) } }), /^pass/],
    ['of nothing', to(isOwn, { fields: { 'Content-Length': '0' } }), /expected Content-Length 43, got 0/],
    [
      'one of several',
      either(
        (asked) => (isPlain(asked) && asked.alike > 0 ? { body: `${CONTENT}\n` } : null),
        to(isOwn, { fields: { 'Content-Length': String(CONTENT.length) } }),
      ),
      /^pass/,
    ],
  ],
};

describe.concurrent.each(Object.entries(SAID))('%s', (id, cases) => {
  it.each(cases.map((row) => ({ row })))('$row.0', async ({ row: [, differing, said, setting] }) => {
    expect(saidOf(await judgedOf(differing, [id], setting), id)).toMatch(said);
  });
});

it('nothing that a condition needs is undeclared', async () => {
  const { outcomes } = await judgedOf(() => null, [], {
    hasSecond: true,
    tagOf: (key) => `"${key?.length}"`,
  });
  expect(Object.values(outcomes)).not.toContain('error');
});

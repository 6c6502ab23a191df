import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { saidOf } from '../tests/fixtures/judged.ts';
import {
  type Asked,
  CHANGED,
  CONTENT,
  type Differing,
  judgedOf,
  type Row,
} from './fixtures/versioned-service.ts';

const isPlain = ({ headers, key, target }: Asked) =>
  target === '/v1/resources' &&
  key !== null &&
  !Object.keys(headers).some((name) => /^(?:if-|range$)/.test(name));
const saying =
  (fields: Readonly<Record<string, string | null>>): Differing =>
  () => ({ fields });
/** Date that many minutes from now. */
const dated =
  (minutes: number, fields: Readonly<Record<string, string>> = {}): Differing =>
  () => ({ fields: { Date: new Date(Date.now() + minutes * 60_000).toUTCString(), ...fields } });
const gzip = ({ headers }: Asked) => headers['accept-encoding'] === 'gzip';
const LATER = 'Sun, 01 Feb 2026 08:05:10 GMT';
const numbered = (asked: Asked) => CONTENT.replace('one', `one ${asked.alike}`);

const SAID: Readonly<Record<string, readonly Row[]>> = {
  'caching.last-modified-past': [
    ['before', saying({}), /^pass/],
    ['at the same time', saying({ 'Last-Modified': CHANGED, Date: CHANGED }), /^pass/],
    [
      'a second later',
      saying({ 'Last-Modified': LATER, Date: CHANGED }),
      /got Sun, 01 Feb 2026 08:05:10 GMT with Date/,
    ],
    [
      'without a Date',
      saying({ 'Last-Modified': LATER, Date: null }),
      /^skipped: no response has Last-Modified with a Date/,
    ],
    [
      'without Last-Modified',
      saying({ 'Last-Modified': null }),
      /^skipped: no response has Last-Modified with a Date/,
    ],
  ],
  'caching.age-form': [
    ['seconds', saying({ Age: '30' }), /^pass/],
    ['none', saying({}), /^skipped: no response has Age/],
    ...['-1', '1.5', '30s', '1234567890123456'].map(
      (age): Row => [age, saying({ Age: age }), new RegExp(`got "${age}"`)],
    ),
  ],
  'caching.expires-form': [
    ['a date', saying({ Expires: LATER }), /^pass/],
    ['never', saying({ Expires: '0' }), /^pass/],
    ['no date', saying({ Expires: 'tomorrow' }), /got "tomorrow"/],
  ],
  'caching.date-in-time': [
    ['now', saying({}), /^pass/],
    ['24 minutes ahead', dated(24), /^pass/],
    ['26 minutes ahead', dated(26), /^(?:warning|fail)/],
    ['24 minutes behind', dated(-24), /^pass/],
    ['26 minutes behind', dated(-26), /^(?:warning|fail)/],
    ['26 minutes behind, of which it was stored for two', dated(-26, { Age: '120' }), /^pass/],
    ['28 minutes behind, of which it was stored for two', dated(-28, { Age: '120' }), /^(?:warning|fail)/],
    ['26 minutes behind, of which it was stored for none', dated(-26, { Age: '0' }), /^(?:warning|fail)/],
    ...['a while', '1h', 'about 1'].map(
      (age): Row => [`a day behind with Age: ${age}`, dated(-1_440, { Age: age }), /^pass/],
    ),
    ['none', saying({ Date: null }), /^skipped: there is no Date to judge/],
  ],
  'caching.contradiction': [
    ['one', saying({ 'Cache-Control': 'private, max-age=60' }), /^pass/],
    ['two', saying({ 'Cache-Control': 'private, public' }), /got private and public/],
    ['none', saying({}), /^skipped: no response has Cache-Control/],
  ],
  'caching.etag-stable': [
    ['the same', saying({}), /^pass/],
    [
      'another each time',
      (asked) => (isPlain(asked) ? { fields: { ETag: `"v${asked.alike}"` } } : null),
      /^(?:warning|fail)/,
    ],
    [
      'another each time, as is the content',
      (asked) => (isPlain(asked) ? { fields: { ETag: `"v${asked.alike}"` }, body: numbered(asked) } : null),
      /^skipped: the content is another each time/,
    ],
    ['none', saying({ ETag: null }), /^skipped: the documented response has no ETag/],
    [
      'the next answer is an error of the same content',
      (asked) => (isPlain(asked) && asked.alike === 1 ? { status: 500, fields: { ETag: '"v2"' } } : null),
      /^skipped/,
    ],
  ],
  'caching.etag-changes': [
    [
      'with it',
      (asked) => (isPlain(asked) ? { fields: { ETag: `"v${asked.alike}"` }, body: numbered(asked) } : null),
      /^(?:pass|skipped)/,
    ],
    [
      'not with it',
      (asked) => (isPlain(asked) ? { body: numbered(asked) } : null),
      /got other content with ETag "v1"/,
    ],
    [
      'not with it, and weak',
      (asked) => (isPlain(asked) ? { fields: { ETag: 'W/"v1"' }, body: numbered(asked) } : null),
      /^skipped: no ETag came twice/,
    ],
    [
      'not on errors',
      (asked) =>
        asked.target === '/v1/resources' ? null : { fields: { ETag: '"v1"' }, body: numbered(asked) },
      /^pass/,
    ],
    ['there is none', saying({ ETag: null }), /^skipped: the documented response has no ETag/],
    [
      'the second one is cut',
      (asked) => (isPlain(asked) && asked.alike > 0 ? { isCut: true } : null),
      /^blocked/,
    ],
    [
      'the first one is cut',
      (asked) => (isPlain(asked) && asked.alike === 0 ? { isCut: true } : null),
      /^blocked/,
    ],
  ],
  'caching.etag-per-coding': [
    ['its own', saying({}), /^pass/],
    [
      'the same',
      (asked) => (isPlain(asked) && gzip(asked) ? { fields: { ETag: '"v1"' } } : null),
      /got ETag "v1" for both/,
    ],
    ['the same, and weak', (asked) => (isPlain(asked) ? { fields: { ETag: 'W/"v1"' } } : null), /^pass/],
    [
      'of a refusal',
      (asked) => (isPlain(asked) && gzip(asked) ? { status: 406, fields: { ETag: '"v1"' } } : null),
      /^skipped: nothing is compressed/,
    ],
    [
      'nothing is compressed',
      (asked) => (gzip(asked) ? { fields: { 'Content-Encoding': null, ETag: '"v1"' }, body: CONTENT } : null),
      /^skipped: nothing is compressed/,
    ],
    [
      'compressed for all',
      (_, { status }) =>
        status === 200
          ? { fields: { 'Content-Encoding': 'gzip', ETag: '"v1"' }, body: gzipSync(CONTENT) }
          : null,
      /^skipped: nothing is compressed/,
    ],
  ],
};

describe.concurrent.each(Object.entries(SAID))('%s', (id, cases) => {
  it.each(cases.map((row) => ({ row })))('$row.0', async ({ row: [, differing, said, setting] }) => {
    expect(saidOf(await judgedOf(differing, [id], setting), id)).toMatch(said);
  });
});

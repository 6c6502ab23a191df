import { describe, expect, it } from 'vitest';
import { saidOf } from '../tests/fixtures/judged.ts';
import {
  ANY,
  APP,
  allowing,
  isPage,
  isServed,
  judgedOf,
  NONE,
  type Row,
  to,
} from './fixtures/pages-service.ts';

/** Access-Control-Allow-Origin as browsers compare it, and as they do not. */
const originForms = (values: readonly string[], said: RegExp): readonly Row[] =>
  values.map((value) => [value, to(isServed, allowing(value)), said]);
/** One header of answers for pages. */
const forms = (name: string, values: readonly string[], said: RegExp): readonly Row[] =>
  values.map((value) => [value, to(isServed, { [name]: value }), said]);

const SAID: Readonly<Record<string, readonly Row[]>> = {
  'cors.origin-form': [
    ...originForms(
      ['*', 'null', APP, 'http://localhost:3000', 'https://[::1]:8443', 'capacitor://localhost'],
      /^pass/,
    ),
    ...originForms(
      [
        `${APP}/`,
        `${APP}, ${APP}`,
        'app.example',
        'https://App.example',
        'HTTPS://app.example',
        `${APP}:443`,
        'https://*.example',
        '**',
        'x*',
        'NULL',
        'nullx',
        '1x://y',
      ],
      /Access-Control-Allow-Origin|expected one origin/,
    ),
    [
      'nothing of pages',
      () => ({ fields: { ...NONE, vary: null } }),
      /^skipped: no answer says whose pages/,
      { policy: null },
    ],
  ],
  'cors.credentials-form': [
    ...forms('access-control-allow-credentials', ['true', 'false', 'no'], /^pass/),
    ...forms('access-control-allow-credentials', ['True', 'true, true', 'TRUE'], /got "/),
  ],
  'cors.list-form': [
    ...forms('access-control-allow-methods', ['GET, POST,', 'PUT'], /^pass/),
    ...forms(
      'access-control-allow-methods',
      ['GET POST', 'GET; POST'],
      /got access-control-allow-methods: "GET/,
    ),
    ...forms('access-control-expose-headers', ['X-A X-B', '"X-A"'], /got access-control-expose-headers/),
    [
      'two lists',
      to(isServed, { 'access-control-allow-methods': 'A B', 'access-control-allow-headers': 'C D' }),
      /got access-control-allow-methods: "A B"/,
    ],
  ],
  'cors.max-age-form': [
    ...forms('access-control-max-age', ['600', '0', '-1'], /^pass/),
    ...forms('access-control-max-age', ['1h', '-2', '600, 600', '6.5'], /got "/),
    ['none', () => null, /^skipped: no answer has Access-Control-Max-Age/],
  ],
  'cors.vary': [
    ['is said', () => null, /^pass/],
    ['another one', to(isServed, { vary: 'Accept' }), /got Vary: accept/],
    ['none', to(isServed, { vary: null }), /got Vary: none/],
    ['everything', to(isServed, { vary: '*' }), /^pass/],
    ['nothing is stored', to(isServed, { vary: null, 'cache-control': 'no-store' }), /^pass/],
    ['the same for all', () => ({ fields: { ...ANY, vary: null } }), /^skipped: no answer differs/],
    ['none on errors alone', to((asked) => isPage(asked) && !isServed(asked), { vary: null }), /^pass/],
    ['none on preflights alone', to(({ isPreflight: is }) => is, { vary: null }), /^pass/],
    [
      'of another status',
      (asked) => (isServed(asked) ? { status: 203, fields: { vary: null } } : null),
      /^skipped: no answer differs/,
    ],
  ],
};

describe.concurrent.each(Object.entries(SAID))('%s', (id, cases) => {
  it.each(cases.map((row) => ({ row })))('$row.0', async ({ row: [, differing, said, setting] }) => {
    expect(saidOf(await judgedOf(differing, setting), id)).toMatch(said);
  });
});

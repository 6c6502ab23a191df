import { describe, expect, it } from 'vitest';
import { described } from '../../harness/config/operation/openapi/fixtures/described.ts';
import { FOREIGN_ORIGIN } from '../auth/stimuli/way-around.ts';
import { configFor, saidOf } from '../tests/fixtures/judged.ts';
import {
  ANY,
  APP,
  allowing,
  type Differing,
  from,
  isPage,
  isPreflight,
  judgedOf,
  NONE,
  type Row,
  to,
} from './fixtures/pages-service.ts';
import { letsIn, unaskedPreflights } from './stimuli/page.ts';

const named = (...origins: readonly string[]) => ({ policy: { origins } });
/** Lets in whatever careless comparison is given. */
const careless =
  (isIn: (origin: string) => boolean): Differing =>
  ({ origin }) =>
    origin !== null && isIn(origin) ? { fields: allowing(origin) } : null;

const SAID: Readonly<Record<string, readonly Row[]>> = {
  'cors.unnamed-origin': [
    ['is kept out', () => null, /^pass/],
    [
      'is let in',
      to(from(FOREIGN_ORIGIN), allowing(FOREIGN_ORIGIN)),
      /got Access-Control-Allow-Origin: https:\/\/elsewhere.invalid/,
    ],
    ['another one is', to(from(FOREIGN_ORIGIN), allowing(APP)), /^pass/],
    [
      'all are, and the named ones with cookies too',
      () => ({ fields: ANY }),
      /^blocked/,
      { policy: { credentials: true } },
    ],
    ['all are named', () => ({ fields: ANY }), /^skipped: pages of every origin may call/, named(APP, '*')],
  ],
  'cors.null-origin': [
    ['is kept out', () => null, /^pass/],
    ['is let in', careless((origin) => origin === 'null'), /got Access-Control-Allow-Origin: null/],
    ['null is said to all', to(({ origin }) => origin === null, allowing('null')), /^pass/],
  ],
  'cors.look-alikes': [
    ['are kept out', () => null, /^pass/],
    [
      'by its beginning',
      careless((origin) => origin.startsWith(APP)),
      /got https:\/\/app.example.conform.invalid let in .* https:\/\/app.example:8444 let in/,
    ],
    [
      'by its end',
      careless((origin) => origin.endsWith('app.example')),
      /got https:\/\/conform-app.example let in .* https:\/\/conform.app.example let in .* http:\/\/app.example let in/,
    ],
    [
      'by a letter for its dot',
      careless((origin) => /^https:\/\/app.example$/.test(origin)),
      /got https:\/\/appxexample let in/,
    ],
    [
      'by a letter for its dot in capitals',
      careless((origin) => /^https:\/\/APP.EXAMPLE$/.test(origin)),
      /got https:\/\/APPxEXAMPLE let in/,
      named('https://APP.EXAMPLE'),
    ],
    [
      'an address has no letter for a dot',
      careless((origin) => origin.includes('x')),
      /^pass/,
      named('https://127.0.0.1'),
    ],
    [
      'without TLS',
      careless((origin) => origin === 'http://app.example:81'),
      /got http:\/\/app.example:81 let in/,
      named('https://app.example:81'),
    ],
    [
      'of http there is none without TLS',
      careless((origin) => origin === 'http://app.example'),
      /^pass/,
      named('http://app.example'),
    ],
    ...['8080', '54321', '6554'].map(
      (port): Row => [
        `by its host, of port ${port}`,
        careless((origin) => URL.canParse(origin) && new URL(origin).hostname === 'app.example'),
        new RegExp(`got http://app.example:${port.slice(0, -1)} let in`),
        named(`http://app.example:${port}`),
      ],
    ),
    [
      'by its host, of port 6553',
      careless((origin) => origin === 'http://app.example:65531'),
      /got http:\/\/app.example:65531 let in/,
      named('http://app.example:6553'),
    ],
    [
      'of an address in brackets',
      careless((origin) => origin === 'http://[::1]:8444'),
      /got http:\/\/\[::1\]:8444 let in/,
      named('http://[::1]'),
    ],
    [
      'sub-domains are named as well',
      careless((origin) => origin === 'https://conform.app.example'),
      /^pass/,
      named(APP, 'https://*.app.example'),
    ],
    [
      'the single one of several',
      careless((origin) => origin === 'http://b.example'),
      /got http:\/\/b.example let in/,
      named('https://*.example.org', 'app://x', 'https://b.example'),
    ],
    [
      'there is no single one',
      () => null,
      /^skipped: no single origin of the web is named/,
      named('https://*.example', 'x-https://a'),
    ],
  ],
  'cors.origin-form': [['a wrong one', to(isPage, allowing(`${APP}/`)), /^fail: /]],
  'cors.preflight': [['a wrong one', to(isPreflight, allowing(`${APP}/`)), /^blocked/]],
  'cors.exposed': [
    [
      'a header that no page may read is hidden',
      to(isPage, { ...NONE, 'x-total': '1' }),
      /^skipped/,
      { policy: { exposed: ['x-total'] } },
    ],
  ],
};

describe.concurrent.each(Object.entries(SAID))('%s', (id, cases) => {
  it.each(cases.map((row) => ({ row })))('$row.0', async ({ row: [, differing, said, setting] }) => {
    expect(saidOf(await judgedOf(differing, setting), id)).toMatch(said);
  });
});

it.each([
  ['https://app.example', 'https://app.example', true],
  ['https://app.example', 'https://app.example.org', false],
  ['https://*.example', 'https://a.example', true],
  ['https://*.example', 'http://a.example', false],
  ['https://*.example', 'https://a.example.org', false],
  ['*', 'https://any.invalid', true],
  ['*', 'null', true],
])('the policy %s lets %s in: %s', (origin, page, isIn) => {
  expect(letsIn({ origins: [origin], credentials: null, exposed: [] }, page)).toBe(isIn);
});

it.each([
  [{}, null, 'nothing is said of private networks'],
  [{ 'access-control-allow-private-network': 'true' }, 'true', 'it says true'],
])('what is said of private networks is observed: %j', async (fields, seen, note) => {
  const all = await judgedOf(to(isPreflight, fields));
  expect(all.observations['cors.private-network']).toBe(seen);
  expect(saidOf(all, 'cors.private-network')).toContain(note);
});

const operations = (count: number) => ({
  openapi: '3.1.0',
  info: { title: 'pages', version: '1' },
  paths: Object.fromEntries(
    Array.from({ length: count }, (_, at) => [
      `/v1/${at}`,
      { put: { responses: { 200: { description: 'ok' } } } },
    ]),
  ),
});

it.each([
  [10, 11, 0],
  [11, 12, 0],
  [13, 12, 2],
])('of %i operations and the sample it sends %i preflights', async (count, sent, unasked) => {
  const targets: string[] = [];
  const all = await judgedOf(
    (asked) => {
      if (isPreflight(asked))
        targets.push(`${asked.headers['access-control-request-method']} ${asked.target}`);
      return null;
    },
    { document: operations(count) },
  );
  const preflights = targets.filter((each) => each !== 'GET /v1/resources');
  expect(new Set(preflights).size).toBe(sent - 1);
  const config = { ...(await configFor()), operations: (await described(operations(count))).operations };
  expect(unaskedPreflights(config)).toBe(unasked);
  expect(Object.values(all.outcomes)).not.toContain('error');
});

it('a preflight asks for the names of headers that need permission, in order', async () => {
  const asked: unknown[] = [];
  await judgedOf((each) => {
    if (each.isPreflight) asked.push(each.headers['access-control-request-headers']);
    return null;
  });
  expect(asked).toContain('authorization,content-type');
});

it('a preflight is sent for the plainest request where the documents show none', async () => {
  const targets: string[] = [];
  await judgedOf(
    (asked) => {
      const isPrivate = asked.headers['access-control-request-private-network'] !== undefined;
      if (isPreflight(asked) && !isPrivate) targets.push(asked.target);
      return asked.target === '/' && asked.hasKey ? { status: 200 } : null;
    },
    { hasNoSample: true },
  );
  expect(targets).toContain('/');
});

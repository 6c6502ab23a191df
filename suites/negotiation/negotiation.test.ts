import type { IncomingHttpHeaders } from 'node:http';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { configFor, type Judged, judgedServed, saidOf } from '../tests/fixtures/judged.ts';
import { negotiation } from './negotiation.suite.ts';

interface Answer {
  readonly status?: number;
  readonly type?: string;
  readonly fields?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

const TEXT = '{"resources":[1,2]}';
const LOST: Answer = { status: 404, body: '{"error":"not found"}' };
const REFUSED: Answer = { status: 406, body: '{"error":"not acceptable"}' };
const PACKED = gzipSync(TEXT);
const GZIP = { 'Content-Encoding': 'gzip' };

/** What differs from the usual answer to the documented request; null for nothing. */
type Differing = (headers: IncomingHttpHeaders) => Answer | null;

async function judgedOf(differing: Differing, usual: Answer = {}): Promise<Judged> {
  return judgedServed(
    ({ url, headers }, response) => {
      const found = url === '/v1/resources' ? (differing(headers) ?? usual) : LOST;
      const { status = 200, type = 'application/json', fields = {}, body = TEXT } = found;
      response.writeHead(status, { 'Content-Type': type, ...fields }).end(body);
    },
    await configFor(undefined, true),
    [negotiation],
  );
}

const accepts =
  (text: string, answer: Answer): Differing =>
  ({ accept = '' }) =>
    accept.toLowerCase().includes(text) ? answer : null;
const takes =
  (text: string, answer: Answer): Differing =>
  ({ 'accept-encoding': codings = '' }) =>
    String(codings).includes(text) ? answer : null;
const speaks =
  (answer: Answer): Differing =>
  ({ 'accept-language': languages }) =>
    languages === undefined ? null : answer;

const NO_STORE = { 'Cache-Control': 'no-store' };
const HTML: Answer = { type: 'text/html', body: '<p>{}</p>' };
const CALLED = (type: string): Differing => accepts('text/html', { type });

type Row = readonly [what: string, differing: Differing, said: RegExp, usual?: Answer];

const SAID: Readonly<Record<string, readonly Row[]>> = {
  'negotiation.coding-vary': [
    ['compressed for those who ask', takes('gzip', { fields: GZIP, body: PACKED }), /got no Vary/],
    [
      'Vary names another field',
      takes('gzip', { fields: { ...GZIP, Vary: 'Accept, Origin' }, body: PACKED }),
      /got accept, origin/,
    ],
    [
      'Vary names the field',
      takes('gzip', { fields: { ...GZIP, Vary: 'Accept-Encoding' }, body: PACKED }),
      /^pass/,
    ],
    [
      'no cache may keep it',
      takes('gzip', { fields: { ...GZIP, ...NO_STORE }, body: PACKED }),
      /^skipped: no cache may keep/,
    ],
    ['nothing is compressed', () => null, /^skipped: the compression does not depend/],
  ],
  'negotiation.refused-coding': [
    ['gzip all the same', takes('gzip;q=0', { fields: GZIP, body: PACKED }), /Content-Encoding: gzip/],
    [
      'a refusal in gzip',
      takes('gzip;q=0', { ...REFUSED, fields: GZIP, body: PACKED }),
      /^skipped: such a request is refused/,
    ],
  ],
  'negotiation.similar-coding': [
    ['gzip all the same', takes('conform-gzip', { fields: GZIP, body: PACKED }), /Content-Encoding: gzip/],
    [
      'a refusal in gzip',
      takes('conform-gzip', { ...REFUSED, fields: GZIP, body: PACKED }),
      /^skipped: such a request is refused/,
    ],
  ],
  'negotiation.coding-once': [
    ['JSON in gzip twice', () => ({ fields: GZIP, body: gzipSync(PACKED) }), /compressed octets/],
    [
      'text in gzip twice',
      () => ({ type: 'text/plain', fields: GZIP, body: gzipSync(PACKED) }),
      /^skipped: no JSON came/,
    ],
    ['no content', () => ({ body: '' }), /^skipped: no JSON came/],
    [
      'a refusal in gzip twice',
      () => ({ ...REFUSED, fields: GZIP, body: gzipSync(PACKED) }),
      /^(?:skipped|blocked)/,
    ],
  ],
  'negotiation.true-type': [
    ...['text/html', 'text/csv', 'text/xml', 'application/xml', 'application/atom+xml', 'image/png'].map(
      (type) =>
        [`JSON as ${type}`, CALLED(type), new RegExp(`got JSON as ${type.replace('+', '\\+')}`)] as const,
    ),
    ...['text/plain', 'text/html-fragment', 'x-application/xml', 'application/json'].map(
      (type) => [`JSON as ${type}`, CALLED(type), /^pass/] as const,
    ),
    ['HTML with a brace in it', accepts('text/html', HTML), /^pass/],
    ['a refusal', accepts('', { ...REFUSED, type: 'text/html' }), /^(?:skipped|blocked)/],
    ['no JSON at all', () => ({ ...HTML, body: TEXT }), /^skipped: the documented response is no JSON/],
  ],
  'negotiation.accept-spelling': [
    ...[400, 406, 415].map(
      (status) =>
        [`status ${status}`, accepts('json;q=0.9', { status }), new RegExp(`status ${status}`)] as const,
    ),
    ...[401, 404].map((status) => [`status ${status}`, accepts('json;q=0.9', { status }), /^pass/] as const),
  ],
  'negotiation.accept-range': [
    ['a refusal', accepts('application/*', REFUSED), /status 406/],
    [
      'a refusal of what is no such type',
      accepts('application/*', REFUSED),
      /^skipped: the documented response is no JSON/,
      { type: 'text/json' },
    ],
  ],
  'negotiation.weights': [
    ['HTML', accepts('json;q=0.9', HTML), /got text\/html/],
    ['HTML where there is nothing else', () => HTML, /^skipped: the documented response is no JSON/],
  ],
  'negotiation.refused-type': [
    ['HTML', accepts('application/*', HTML), /got text\/html/],
    ['HTML where there is nothing else', () => HTML, /^skipped: the documented response is no JSON/],
  ],
  'negotiation.accept-vary': [
    ['another format', accepts('text/html', HTML), /got no Vary/],
    ['that is named', accepts('text/html', { ...HTML, fields: { Vary: 'accept' } }), /^pass/],
    ['that depends on everything', accepts('text/html', { ...HTML, fields: { Vary: '*' } }), /^pass/],
    [
      'no cache may keep it',
      accepts('text/html', { ...HTML, fields: NO_STORE }),
      /^skipped: no cache may keep/,
    ],
    [
      'a refusal in another format',
      accepts('text/html', { ...HTML, status: 406 }),
      /^skipped: the format does not depend/,
    ],
  ],
  'negotiation.language-vary': [
    ['another language', speaks({ fields: { 'Content-Language': 'de' } }), /got no Vary/],
    [
      'the same in capitals',
      speaks({ fields: { 'Content-Language': 'EN' } }),
      /^skipped: there is one language/,
      { fields: { 'Content-Language': 'en' } },
    ],
    [
      'a refusal in another language',
      speaks({ ...REFUSED, fields: { 'Content-Language': 'de' } }),
      /^skipped: there is one language/,
    ],
    [
      'no cache may keep it',
      speaks({ fields: { 'Content-Language': 'de', ...NO_STORE } }),
      /^skipped: no cache may keep/,
    ],
  ],
};

describe.concurrent.each(Object.entries(SAID))('%s', (id, cases) => {
  it.each(cases.map((row) => ({ row })))('$row.0', async ({ row: [, differing, said, usual] }) => {
    expect(saidOf(await judgedOf(differing, usual), id)).toMatch(said);
  });
});

it('finds a false deflate once', async () => {
  const all = await judgedOf(takes('deflate', { fields: { 'Content-Encoding': 'deflate' } }));
  expect(saidOf(all, 'negotiation.other-codings')).toMatch(/^fail/);
  expect(saidOf(all, 'negotiation.true-coding')).toMatch(/^(?:pass|skipped)/);
});

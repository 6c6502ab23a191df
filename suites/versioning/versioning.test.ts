import { createServer } from 'node:http';
import { describe, expect, it } from 'vitest';
import { serving } from '../../harness/base/fixtures/server.ts';
import { described } from '../../harness/config/operation/openapi/fixtures/described.ts';
import type { ServiceConfig } from '../../harness/config/service.ts';
import { documenting as clause, sampling } from '../../harness/proof/setting.ts';
import { configFor, judgedInTurn, judgedServed, saidOf } from '../tests/fixtures/judged.ts';
import { versioning } from './versioning.suite.ts';

const documenting = (...paths: readonly string[]) => ({
  openapi: '3.1.0',
  info: { title: 'Resources', version: '2' },
  paths: Object.fromEntries(
    paths.map((path) => [path, { get: { responses: { 200: { description: 'all of them' } } } }]),
  ),
});

const LIST = '{"resources":["a","b"]}';

interface Answer {
  readonly status?: number;
  readonly fields?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Answers so at these paths, and 404 elsewhere. `mount`: path of the base URL. */
async function judgedOf(
  answers: Readonly<Record<string, Answer>>,
  change: (config: ServiceConfig) => ServiceConfig = (config) => config,
  mount = '',
) {
  const server = createServer(({ url = '' }, response) => {
    const { status = 200, fields, body = LIST } = answers[url] ?? { status: 404, body: '{"error":"lost"}' };
    response.writeHead(status, { 'Content-Type': 'application/json', ...fields }).end(body);
  });
  const { url, stop } = await serving(server);
  const config = change(await configFor(undefined, true));
  return judgedInTurn(config, [versioning], { url: `${url}${mount}` }).finally(stop);
}

/** Serves the same below each prefix that it knows. */
async function outcomes(...paths: readonly string[]) {
  const { operations } = await described(documenting(...paths));
  const config = { ...(await configFor(undefined, true)), operations };
  const { outcomes } = await judgedServed(
    ({ url = '' }, response) => {
      const isServed = /^(?:\/v[12])?\/resources$/.test(url);
      response.writeHead(isServed ? 200 : 404, { 'Content-Type': 'application/json' });
      response.end(isServed ? LIST : '{"error":"not found"}');
    },
    config,
    [versioning],
  );
  return [outcomes['versioning.other-versions'], outcomes['versioning.without-prefix']];
}

describe('another version', () => {
  const OTHERS = 'versioning.other-versions';

  it('is no warning where the documents have it as well', async () => {
    expect(await outcomes('/v1/resources')).toEqual(['warning', 'warning']);
    expect(await outcomes('/v1/resources', '/v2/resources', '/resources')).toEqual(['pass', 'skipped']);
  });

  it('is not served if it is refused with the same content', async () => {
    const all = await judgedOf({ '/v1/resources': {}, '/v2/resources': { status: 404 } });
    expect(saidOf(all, OTHERS)).toBe('pass: ');
  });

  it('is compared with content that is JSON', async () => {
    const page = { fields: { 'Content-Type': 'text/html' }, body: '<p>' };
    expect((await judgedOf({ '/v1/resources': page })).outcomes[OTHERS]).toBe('pass');
    const long = { body: `[${'1,'.repeat(3_000_000)}1]` };
    expect((await judgedOf({ '/v1/resources': long })).outcomes[OTHERS]).toBe('pass');
    expect((await judgedOf({ '/v1/resources': long, '/v2/resources': long })).outcomes[OTHERS]).toBe(
      'blocked',
    );
  });

  it('is asked for below the path of the base URL, and not above it', async () => {
    const mounted = { '/shop/v1/resources': {}, '/shop/v2/resources': {} };
    expect((await judgedOf(mounted, undefined, '/shop')).outcomes[OTHERS]).toBe('warning');
    const unversioned = sampling({ method: 'GET', path: '/resources', fields: [], response: 'JSON body' });
    const above = await judgedOf({ '/v1/resources': {}, '/v2/resources': {} }, unversioned, '/v1');
    expect(saidOf(above, OTHERS)).toBe('skipped: no such prefix can be asked for below the base URL');
    const { observations } = await judgedOf({ '/resources': {}, '/v2/resources': {} }, unversioned);
    expect(observations['versioning.other-prefixes']).toEqual({ '/v1': 404, '/v2': 200 });
  });
});

it.each([404, 410, 200])('%s for the documented path', async (status) => {
  const { outcomes } = await judgedOf({ '/v1/resources': { status } });
  expect(outcomes['versioning.prefix']).toBe(status === 200 ? 'pass' : 'fail');
});

describe('links', () => {
  const linking = (...links: readonly string[]) => ({
    body: JSON.stringify(links.map((href) => ({ href }))),
  });
  const saidBy = async (answers: Readonly<Record<string, Answer>>, mount = '') =>
    saidOf(await judgedOf(answers, undefined, mount), 'versioning.links');

  it('are judged if there is one', async () => {
    expect(await saidBy({ '/v1/resources': {} })).toBe(
      'skipped: the documented response holds no links to this service',
    );
    expect(await saidBy({ '/v1/resources': linking('/v1/resources/1') })).toBe('pass: ');
    expect(await saidBy({ '/v1/resources': linking('/v2/resources/1') })).toMatch(
      /a link to \/v2\/resources\/1/,
    );
  });

  it('may be below the path of the base URL or without it', async () => {
    const links = linking('/shop/v1/resources/1', '/v1/resources/2');
    expect(await saidBy({ '/shop/v1/resources': links }, '/shop')).toBe('pass: ');
  });
});

describe('the end of a version', () => {
  const SUNSET = 'Thu, 01 Jan 2026 00:00:00 GMT';
  const DEPRECATION = `@${Date.UTC(2026, 0, 1) / 1_000}`;
  const UNREAD = 'skipped: no response has both fields in their standard form';

  it.each([
    [SUNSET, DEPRECATION, 'pass: '],
    [SUNSET, undefined, UNREAD],
    [undefined, DEPRECATION, UNREAD],
    [SUNSET, 'soon', UNREAD],
    ['soon', DEPRECATION, UNREAD],
  ])('Sunset %s with Deprecation %s', async (sunset, deprecation, said) => {
    const fields = { ...(sunset && { Sunset: sunset }), ...(deprecation && { Deprecation: deprecation }) };
    const all = await judgedOf({ '/v1/resources': { fields } });
    expect(saidOf(all, 'versioning.sunset-after-deprecation')).toBe(said);
  });

  it('is not before it is deprecated', async () => {
    const fields = { Sunset: 'Wed, 31 Dec 2025 23:59:59 GMT', Deprecation: DEPRECATION };
    const all = await judgedOf({ '/v1/resources': { fields } });
    expect(all.outcomes['versioning.sunset-after-deprecation']).toBe('fail');
  });
});

const PREFIX = 'versioning.prefix';
const OTHER = '/v1/resources';

it.each<[string, (config: ServiceConfig) => ServiceConfig]>([
  ['config', clause(PREFIX, OTHER)],
  [
    'contract',
    ({ contract, ...config }) => ({
      ...config,
      contract: {
        ...contract,
        clauses: contract.clauses.map((each) => (each.key === PREFIX ? { ...each, value: OTHER } : each)),
      },
    }),
  ],
])('the prefix is that of the %s', async (_, change) => {
  const { observations } = await judgedOf({ '/v1/resources': {} }, change);
  expect(observations['versioning.other-prefixes']).toEqual({ '(none)': 404 });
});

import { expect, it } from 'vitest';
import { described } from '../../harness/config/operation/openapi/fixtures/described.ts';
import { configFor, judgedServed } from '../tests/fixtures/judged.ts';
import { versioning } from './versioning.suite.ts';

const documenting = (...paths: readonly string[]) => ({
  openapi: '3.1.0',
  info: { title: 'Resources', version: '2' },
  paths: Object.fromEntries(
    paths.map((path) => [path, { get: { responses: { 200: { description: 'all of them' } } } }]),
  ),
});

/** Serves the same below each prefix that it knows. */
async function outcomes(...paths: readonly string[]) {
  const { operations } = await described(documenting(...paths));
  const config = { ...(await configFor(undefined, true)), operations };
  const { outcomes } = await judgedServed(
    ({ url = '' }, response) => {
      const isServed = /^(?:\/v[12])?\/resources$/.test(url);
      response.writeHead(isServed ? 200 : 404, { 'Content-Type': 'application/json' });
      response.end(isServed ? '{"resources":["a","b"]}' : '{"error":"not found"}');
    },
    config,
    [versioning],
  );
  return [outcomes['versioning.other-versions'], outcomes['versioning.without-prefix']];
}

it('another version is no warning where the documents have it as well', async () => {
  expect(await outcomes('/v1/resources')).toEqual(['warning', 'warning']);
  expect(await outcomes('/v1/resources', '/v2/resources', '/resources')).toEqual(['pass', 'skipped']);
});

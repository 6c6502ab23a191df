import type { RequestListener } from 'node:http';
import { expect, it } from 'vitest';
import { caching } from '../caching/caching.suite.ts';
import { configFor, holdsKey, judgedServed, KEY } from './fixtures/judged.ts';

/** A service that names its content by a secret of the config, and answers conditional requests as it should. */
function served(sent: string[]): RequestListener {
  return ({ headers }, response) => {
    const condition = headers['if-none-match'];
    if (condition !== undefined) sent.push(condition);
    if (!holdsKey(headers.authorization))
      return response.writeHead(401, { 'WWW-Authenticate': 'Bearer' }).end();
    const tag = `"${KEY}"`;
    const isKnown = condition?.includes(tag) || condition === '*';
    const fields = { ETag: tag, 'Content-Type': 'application/json' };
    return isKnown
      ? response.writeHead(304, fields).end()
      : response.writeHead(200, fields).end('{"items":[]}');
  };
}

it('an ETag that holds a secret is not sent back with a marker in its place', async () => {
  const sent: string[] = [];
  const { outcomes, messages } = await judgedServed(served(sent), await configFor(), [caching]);
  expect(sent.filter((condition) => condition.includes('[redacted'))).toEqual([]);
  expect(
    Object.entries(outcomes).filter(([, outcome]) => ['fail', 'warning', 'error'].includes(outcome)),
  ).toEqual([]);
  expect(Object.values(messages)).toContainEqual(expect.stringContaining('of the secret'));
});

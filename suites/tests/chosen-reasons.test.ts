import type { RequestListener } from 'node:http';
import { describe, expect, it } from 'vitest';
import {
  described,
  inJson,
  oneOperation,
} from '../../harness/config/operation/openapi/fixtures/described.ts';
import { caching } from '../caching/caching.suite.ts';
import { operations } from '../operations/operations.suite.ts';
import { configFor, judgedServed, saidOf } from './fixtures/judged.ts';

const HOUR_MS = 3_600_000;

/** An answer with a Date that is so far ahead of the time, after so many seconds in a cache. */
const stored =
  (aheadMs: number, seconds: number | string): RequestListener =>
  (_, response) => {
    const fields = { Date: new Date(Date.now() + aheadMs).toUTCString(), Age: String(seconds) };
    response.writeHead(200, { 'Content-Type': 'application/json', ...fields }).end('{"resources":[]}');
  };

describe('an answer of a cache', () => {
  const saidOfDate = async (serve: RequestListener) =>
    saidOf(await judgedServed(serve, await configFor(undefined, true), [caching]), 'caching.date-in-time');

  it.for([
    ['the Date of its origin', -2 * HOUR_MS, 7_200],
    ['a Date of its own', 0, 7_200],
  ] as const)('may have %s', async ([, aheadMs, seconds]) => {
    expect(await saidOfDate(stored(aheadMs, seconds))).toMatch(/^pass/);
  });

  it.for([
    ['a Date in the future', 2 * HOUR_MS, 7_200],
    ['a Date in the future, whatever its Age', 2 * HOUR_MS, 'old'],
    ['a Date that is older than its Age', -2 * HOUR_MS, 60],
  ] as const)('may not have %s', async ([, aheadMs, seconds]) => {
    expect(await saidOfDate(stored(aheadMs, seconds))).toMatch(/^warning/);
  });
});

describe('a schema without an end', () => {
  it('leaves the answer unjudged, which is no pass', async () => {
    const circle = (name: string) => ({ allOf: [{ $ref: `#/components/schemas/${name}` }] });
    const document = oneOperation(
      { responses: { 200: inJson({ properties: { further: circle('One') } }) } },
      { components: { schemas: { One: circle('Other'), Other: circle('One') } } },
    );
    const said = async (body: string) => {
      const serve: RequestListener = (_, response) =>
        response.writeHead(200, { 'Content-Type': 'application/json' }).end(body);
      return saidOf(await judgedServed(serve, await described(document), [operations]), 'operations.schema');
    };
    expect(await said('{}')).toMatch(/^pass/);
    expect(await said('{"further":1}')).toMatch(/^blocked: .*refers to itself without end/);
  });
});

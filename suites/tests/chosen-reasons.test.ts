import type { RequestListener, ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { parseJson } from '../../harness/base/json-text.ts';
import {
  described,
  inJson,
  oneOperation,
} from '../../harness/config/operation/openapi/fixtures/described.ts';
import { caching } from '../caching/caching.suite.ts';
import { events } from '../events/events.suite.ts';
import { json } from '../json/json.suite.ts';
import { limits } from '../limits/limits.suite.ts';
import { operations } from '../operations/operations.suite.ts';
import { configFor, configForLimiter, holdsKey, judgedServed, saidOf } from './fixtures/judged.ts';

const HOUR_MS = 3_600_000;

/** An answer whose Date is ahead of the time by `aheadMs`, with this Age. */
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

describe('a 206 to a range', () => {
  const saidOfFields = async (
    full: Readonly<Record<string, string>>,
    part: Readonly<Record<string, string>>,
  ) => {
    const body = '{"resources":[]}';
    const serve: RequestListener = ({ headers }, response) => {
      const [, last] = /^bytes=0-(\d+)$/.exec(headers.range ?? '') ?? [];
      const end = Math.min(Number(last ?? body.length), body.length - 1);
      const range = { 'Content-Range': `bytes 0-${end}/${body.length}` };
      if (last === undefined)
        response.writeHead(200, { 'Content-Type': 'application/json', ...full }).end(body);
      else response.writeHead(206, { ...range, ...part }).end(body.slice(0, end + 1));
    };
    const config = await configFor(undefined, true);
    return saidOf(await judgedServed(serve, config, [caching]), 'caching.partial-fields');
  };

  it('is not judged where the 200 has no header that caches need', async () => {
    expect(await saidOfFields({}, {})).toMatch(/^skipped: .*no header that caches need/);
  });

  it('repeats those of the 200', async () => {
    const tag = { ETag: '"one"' };
    expect(await saidOfFields(tag, tag)).toMatch(/^pass/);
    expect(await saidOfFields(tag, {})).toMatch(/^fail: .*no ETag/);
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

describe('a header with a schema without an end', () => {
  it('leaves the answer unjudged, which is no pass, and hides no other answer', async () => {
    const circle = (name: string) => ({ allOf: [{ $ref: `#/components/schemas/${name}` }] });
    const headers = { 'X-Own': { schema: circle('One') }, 'X-Count': { schema: { type: 'integer' } } };
    const document = oneOperation(
      { responses: { 200: { description: 'ok', headers } } },
      { components: { schemas: { One: circle('Other'), Other: circle('One') } } },
    );
    const said = async (fields: Readonly<Record<string, string>>) => {
      const serve: RequestListener = ({ method }, response) =>
        response.writeHead(200, method === 'GET' ? fields : {}).end();
      const found = await judgedServed(serve, await described(document), [operations]);
      return saidOf(found, 'operations.answer-headers');
    };
    expect(await said({ 'X-Count': '1' })).toMatch(/^pass/);
    expect(await said({ 'X-Count': 'one' })).toMatch(/^fail/);
    expect(await said({ 'X-Own': 'any' })).toMatch(/^blocked: .*refers to itself without end/);
  });
});

describe('odd bodies of a kind', () => {
  it('are all judged, or block behind those that are', async () => {
    const body = { required: true, content: { 'application/json': { schema: { type: 'object' } } } };
    const document = oneOperation(
      {},
      { paths: { '/things': { post: { requestBody: body, responses: { 200: { description: 'ok' } } } } } },
    );
    const more = `operations: [{ id: search, method: POST, path: /things, safe: true }]
safety: { unsafeMethods: true }
`;
    const said = async (status: number, refusesAfter: number) => {
      let odd = 0;
      const serve: RequestListener = async (request, response) => {
        const text = (await request.toArray()).join('');
        if (parseJson(text) !== undefined) return void response.writeHead(text === '{}' ? 200 : 400).end();
        odd += 1;
        response.writeHead(odd > refusesAfter ? 429 : status, { 'Retry-After': '3600' }).end();
      };
      const found = await judgedServed(serve, await described(document, more), [operations]);
      return saidOf(found, 'operations.body-malformed');
    };
    expect(await said(400, 100)).toMatch(/^pass/);
    expect(await said(400, 1)).toMatch(/^blocked: .*429/);
    expect(await said(500, 3)).toMatch(/^fail/);
  });
});

describe('what remains of a quota', () => {
  it('is told of each answer, or leaves it unknown what wrong keys take', async () => {
    const said = async (tells: (wrong: number) => boolean, takes = 0) => {
      let remaining = 900;
      let wrong = 0;
      const serve: RequestListener = ({ headers }, response) => {
        const isRight = holdsKey(headers.authorization);
        wrong += isRight ? 0 : 1;
        remaining -= isRight ? 1 : takes;
        const fields = tells(wrong) ? { 'X-RateLimit-Remaining': String(remaining) } : {};
        response.writeHead(isRight ? 200 : 401, { 'Content-Type': 'application/json', ...fields }).end('{}');
      };
      const checks = limits.checks.filter(({ id }) => id === 'limits.failures-free');
      const found = await judgedServed(serve, await configFor(), [{ ...limits, checks }]);
      return saidOf(found, 'limits.failures-free');
    };
    expect(await said(() => true)).toMatch(/^pass/);
    expect(await said(() => true, 1)).toMatch(/^warning/);
    expect(await said((wrong) => wrong < 3, 1)).toMatch(/^blocked: .*and then no longer/);
  });
});

describe('a spelling of the path beyond the limit', () => {
  it('is not left out by the content coding of its answer', async () => {
    const said = async (slash: (response: ServerResponse) => void) => {
      const plan = { requests: 4, windowMs: 60_000 };
      let served = 0;
      const serve: RequestListener = ({ url = '' }, response) => {
        const isSlash = /\/(?:\?.*)?$/.test(url);
        served += isSlash ? 0 : 1;
        response.setHeader('Content-Type', 'application/json');
        if (isSlash) slash(response);
        if (served > plan.requests && !isSlash) response.writeHead(429);
        response.end(isSlash || served <= plan.requests ? '{"resources":[]}' : '{}');
      };
      const checks = limits.checks.filter(({ id }) => id === 'limits.variants-share');
      const found = await judgedServed(serve, await configForLimiter(plan), [{ ...limits, checks }]);
      return saidOf(found, 'limits.variants-share');
    };
    expect(await said((response) => response.writeHead(429))).toMatch(/^pass/);
    expect(await said(() => {})).toMatch(/^(?:fail|warning)/);
    const coded = await said((response) => response.setHeader('Content-Encoding', 'x-own'));
    expect(coded).toMatch(/^blocked: it is unknown what is served with a slash more/);
  });
});

describe('what is nested deeply', () => {
  const nestedIn = (levels: number, innermost: string) =>
    `${'{"next":'.repeat(levels)}${innermost}${'}'.repeat(levels)}`;

  it.for([1, 19, 21, 25, 100, 500])('is held to its schema, %d levels down', async (levels) => {
    const node = {
      type: 'object',
      properties: { n: { type: 'integer' }, next: { $ref: '#/components/schemas/Node' } },
    };
    const document = oneOperation(
      { responses: { 200: inJson({ $ref: '#/components/schemas/Node' }) } },
      { components: { schemas: { Node: node } } },
    );
    const said = async (innermost: string) => {
      const serve: RequestListener = (_, response) =>
        response.writeHead(200, { 'Content-Type': 'application/json' }).end(nestedIn(levels, innermost));
      return saidOf(await judgedServed(serve, await described(document), [operations]), 'operations.schema');
    };
    expect(await said('{"n":1}')).toMatch(/^pass/);
    expect(await said('{"n":"one"}')).toMatch(/^fail/);
  });

  it('has the same shape each time, or has another one', async () => {
    const said = async (levels: number) => {
      let count = 0;
      const serve: RequestListener = (_, response) => {
        count += 1;
        const body = nestedIn(levels, count % 3 === 0 ? '{"n":1}' : '{"m":1}');
        response.writeHead(200, { 'Content-Type': 'application/json' }).end(body);
      };
      const config = await configFor(undefined, true);
      return saidOf(await judgedServed(serve, config, [json, caching]), 'json.shape-stable');
    };
    for (const levels of [3, 25, 500]) expect(await said(levels)).toMatch(/^(?:fail|warning)/);
    expect(await said(600)).toMatch(/^blocked: .*nested 6\d\d levels deep/);
  });
});

describe('streams that are documented to go on after a lost connection', () => {
  const eventOf = (id: number | string) => `id: ${id}\ndata: {}\n\n`;
  /** With these ids on one path, and on the other from the second one on; from the first one on if it resumes `anew`. */
  const saidOfTwo = async (
    ids: readonly (number | string)[],
    otherwise: object = {},
    resumes: 'duly' | 'anew' | 'never' = 'duly',
  ) => {
    const stream = {
      get: { responses: { 200: { description: 'ok', content: { 'text/event-stream': {} } } } },
    };
    const document = oneOperation({}, { paths: { '/one': stream, '/other': stream } });
    const serve: RequestListener = ({ url, headers }, response) => {
      const isOne = url?.endsWith('/one') === true;
      if (headers['last-event-id'] !== undefined && resumes === 'never') return void response.destroy();
      const seen = resumes === 'anew' ? 0 : Number(headers['last-event-id'] ?? 0);
      const all = isOne ? ids : [1, 2].filter((id) => id > seen);
      const fields = { 'Content-Type': 'text/event-stream', ...(isOne && otherwise) };
      response.writeHead(200, fields).end(all.map(eventOf).join(''));
    };
    const config = await described(document, 'events: { resume: true }\n');
    return saidOf(await judgedServed(serve, config, [events]), 'events.resumed');
  };

  it('are judged each', async () => {
    expect(await saidOfTwo([1, 1])).toMatch(/^blocked: .*its ids are not one for each event/);
    expect(await saidOfTwo([1, 1], {}, 'anew')).toMatch(
      /^fail: .*the event that the client names, once more/,
    );
  });

  it('are not left out by a content coding', async () => {
    const coded = { 'Content-Encoding': 'x-own' };
    expect(await saidOfTwo([1, 2], coded)).toMatch(/^blocked: .*its stream has a content coding/);
    expect(await saidOfTwo([1, 2], coded, 'anew')).toMatch(/^fail/);
  });

  it('are told of a resumption that gets no response', async () => {
    const said = await saidOfTwo([1, 2], {}, 'never');
    expect(said).toMatch(/^fail: expected the events after that one, each once, got /);
    expect(said).not.toContain('null');
  });
});

import { createServer, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, it, onTestFinished } from 'vitest';
import { resolveAuthority } from '../../harness/base/authority.ts';
import { temporaryFolder } from '../../harness/base/fixtures/folder.ts';
import { serving } from '../../harness/base/fixtures/server.ts';
import { isJsonObject } from '../../harness/base/json-text.ts';
import { loadOnly } from '../../harness/config/fixtures/config-folder.ts';
import { estimate } from '../../harness/engine/estimate.ts';
import { operations } from '../operations/operations.suite.ts';
import { type Judged, judged } from './fixtures/judged.ts';

const ORDER = {
  type: 'object',
  additionalProperties: false,
  required: ['title', 'address'],
  properties: {
    title: { type: 'string', minLength: 2, maxLength: 10, examples: ['Chairs'] },
    stage: { type: 'string', enum: ['open', 'shut'] },
    article: { type: 'string', pattern: '^[A-Z]{3}-\\d{2}$' },
    quantity: { type: 'integer', minimum: 1, maximum: 99 },
    price: { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1000 },
    weight: { type: 'number', multipleOf: 0.5 },
    labels: {
      type: 'array',
      minItems: 1,
      maxItems: 3,
      uniqueItems: true,
      items: { type: 'string', maxLength: 12 },
    },
    due: { type: 'string', format: 'date' },
    remark: { type: ['string', 'null'] },
    address: {
      type: 'object',
      additionalProperties: false,
      required: ['town'],
      properties: { town: { type: 'string', maxLength: 20, examples: ['Porto'] } },
    },
  },
};
const PARAMETERS = [
  { name: 'id', in: 'path', required: true, schema: { type: 'integer', minimum: 1 }, example: 7 },
  { name: 'limit', in: 'query', schema: { type: 'integer', maximum: 50 } },
  { name: 'X-Depth', in: 'header', schema: { type: 'integer', maximum: 5 } },
  { name: 'view', in: 'cookie', schema: { type: 'string', enum: ['wide', 'narrow'] } },
] as const;
const ANY = { content: { 'application/json': { schema: {} } } };
const RESPONSES = Object.fromEntries(
  [200, 400, 404].map((code) => [code, { description: 'as said', ...ANY }]),
);
const DOCUMENT = {
  openapi: '3.1.0',
  info: { title: 'Orders', version: '1' },
  paths: {
    '/orders': {
      post: {
        operationId: 'checkOrder',
        requestBody: { required: true, content: { 'application/json': { schema: ORDER } } },
        responses: RESPONSES,
      },
    },
    '/orders/{id}': { get: { operationId: 'getOrder', parameters: PARAMETERS, responses: RESPONSES } },
  },
};

type Schema = Readonly<Record<string, unknown>>;
interface Checked {
  readonly body?: Schema;
  readonly parameters?: Readonly<Record<string, Schema>>;
  /** Path values that it fails over. */
  readonly breaksOn?: RegExp;
  /** A refusal beyond the schemas. */
  readonly refuses?: (body: Readonly<Record<string, unknown>>) => boolean;
}

/** A copy in which the values below the top may break a keyword. */
function unchecked(keyword: string, schema: unknown = ORDER, depth = 0): Schema {
  if (!isJsonObject(schema)) return {};
  const kept = Object.entries(schema).filter(
    ([name]) => name !== keyword || (depth === 0 && keyword === 'type'),
  );
  return Object.fromEntries(
    kept.map(([name, value]) => {
      if (name === 'properties' && isJsonObject(value)) {
        const members = Object.entries(value);
        return [
          name,
          Object.fromEntries(members.map(([key, each]) => [key, unchecked(keyword, each, depth + 1)])),
        ];
      }
      return [name, name === 'items' ? unchecked(keyword, value, depth + 1) : value];
    }),
  );
}

function judgeOf(schema: Schema, coerceTypes: boolean): (value: unknown) => boolean {
  const ajv = new Ajv2020({ strict: false, coerceTypes });
  addFormats.default(ajv);
  return ajv.compile(schema);
}

interface Tried extends Judged {
  /** Before anything was sent. */
  readonly told: ReturnType<typeof estimate>;
}

/** A small service that holds requests to these schemas, in place of the documented ones. */
async function found({
  body = ORDER,
  parameters = {},
  breaksOn,
  refuses = () => false,
}: Checked): Promise<Tried> {
  const isOrder = judgeOf(body, false);
  const judges = PARAMETERS.map(({ name, in: place, schema }) => {
    const isFit = judgeOf({ properties: { value: parameters[name] ?? schema } }, true);
    return { name, place, isFit: (value: unknown) => value === undefined || isFit({ value }) };
  });
  const server = await serving(
    createServer(async (request, response) => {
      const status = await statusOf(request);
      response.writeHead(status, { 'Content-Type': 'application/json' }).end('{}');
    }),
  );
  onTestFinished(server.stop);
  const config = await loadOnly(
    temporaryFolder({
      'services/orders.yaml': `service: orders
contract: search
credentials: { scheme: none }
provider: { url: '${server.url}' }
openapi: ../openapi/api.yaml
operations: [{ id: checkOrder, method: POST, path: /orders, safe: true }]
`,
      'openapi/api.yaml': JSON.stringify(DOCUMENT),
    }),
  );
  const told = estimate(config.config, { suites: [operations], catalogue: 0 });
  return { ...(await judged(config.config, [operations], { url: server.url })), told };

  async function statusOf(request: IncomingMessage): Promise<number> {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://orders.test');
    if (request.method === 'POST') {
      if (request.headers['content-encoding'] || !request.headers['content-type']?.endsWith('/json'))
        return 400;
      try {
        const order: unknown = JSON.parse(await text(request));
        return isOrder(order) && isJsonObject(order) && !refuses(order) ? 200 : 400;
      } catch {
        return 400;
      }
    }
    if (request.method !== 'GET') return 405;
    if (breaksOn?.test(decodeURIComponent(pathname))) return 500;
    const [, view] = /(?:^|; )view=([^;]*)/.exec(request.headers.cookie ?? '') ?? [];
    const given: Readonly<Record<string, unknown>> = {
      path: decodeURIComponent(pathname.slice('/orders/'.length)),
      query: searchParams.get('limit') ?? undefined,
      header: request.headers['x-depth'],
      cookie: view,
    };
    return judges.every(({ place, isFit }) => isFit(given[place])) ? 200 : 400;
  }
}

/** The checks that are not passed, with the request that the message names. */
function violations({ outcomes, messages }: Judged) {
  return Object.fromEntries(
    Object.entries(outcomes)
      .filter(([, outcome]) => outcome === 'fail' || outcome === 'warning')
      .map(([id]) => [id, messages[id] ?? '']),
  );
}

describe('the trials of constraints', () => {
  it('find nothing in a service that checks all that is documented', async () => {
    expect(violations(await found({}))).toEqual({});
  });

  it.each([
    ['type', 'negative-type', '"quantity" = "conform-not-an-integer" (integer) in the body'],
    ['required', 'negative-missing', 'without "title" in the body'],
    [
      'enum',
      'negative-range',
      '"stage" = "conform-no-such-value" (none of the enumerated values) in the body',
    ],
    ['minLength', 'negative-range', '"title" = "a" (at least 2 characters) in the body'],
    ['maxLength', 'negative-range', '"title" = "aaaaaaaaaaa" (at most 10 characters) in the body'],
    ['minimum', 'negative-range', '"quantity" = 0 (at least 1) in the body'],
    ['maximum', 'negative-range', '"quantity" = 100 (at most 99) in the body'],
    ['exclusiveMinimum', 'negative-range', '"price" = 0 (more than 0) in the body'],
    ['exclusiveMaximum', 'negative-range', '"price" = 1000 (less than 1000) in the body'],
    [
      'pattern',
      'negative-pattern',
      '"article" = "conform has no match!" (matches ^[A-Z]{3}-\\d{2}$) in the body',
    ],
    ['multipleOf', 'negative-multiple', '"weight" = 0.75 (a multiple of 0.5) in the body'],
    ['minItems', 'negative-items', '"labels" = [] (at least 1 item) in the body'],
    ['maxItems', 'negative-items', '(at most 3 items) in the body'],
    ['uniqueItems', 'negative-items', '(no item twice) in the body'],
    ['format', 'negative-format', '"due" = "conform: of no format" (date) in the body'],
    ['additionalProperties', 'negative-surplus', 'the undocumented "conform-unknown" = 1 in the body'],
  ])('find that %s is not checked, and no more', async (keyword, check, named) => {
    const all = violations(await found({ body: unchecked(keyword) }));
    expect(Object.keys(all)).toEqual([`operations.${check}`]);
    expect(all[`operations.${check}`]).toContain(named);
  });

  it('find what is not checked in an object within the body', async () => {
    const { address, ...rest } = ORDER.properties;
    const body = {
      ...ORDER,
      properties: { ...rest, address: { ...address, ...unchecked('maxLength', address) } },
    };
    const all = violations(await found({ body }));
    expect(Object.keys(all)).toEqual(['operations.negative-range']);
    expect(all['operations.negative-range']).toContain('with "address.town" = "aaaaaaaaaaaaaaaaaaaaa"');
  });

  it.each([
    ['path', 'id', 'path parameter "id" = 0 (at least 1)'],
    ['query', 'limit', 'query parameter "limit" = 51 (at most 50)'],
    ['header', 'X-Depth', 'header field "X-Depth" = 6 (at most 5)'],
    ['cookie', 'view', 'cookie "view" = "conform-no-such-value" (none of the enumerated values)'],
  ])('find that a bound in the %s is not checked, and no more', async (_, name, named) => {
    const type = name === 'view' ? 'string' : 'integer';
    const all = violations(await found({ parameters: { [name]: { type } } }));
    expect(Object.keys(all)).toEqual(['operations.negative-range']);
    expect(all['operations.negative-range']).toContain(named);
  });

  it.each<readonly [string, (body: Readonly<Record<string, unknown>>) => boolean, string, string]>([
    ['maximum', ({ quantity }) => quantity === 99, 'boundary-accepted', '"quantity" = 99 (at most 99)'],
    ['minimum', ({ quantity }) => quantity === 1, 'boundary-accepted', '"quantity" = 1 (at least 1)'],
    ['enumerated value', ({ stage }) => stage === 'shut', 'boundary-accepted', '"stage" = "shut"'],
    ['null', ({ remark }) => remark === null, 'boundary-accepted', '"remark" = null (string or null)'],
    [
      'number of items',
      ({ labels }) => Array.isArray(labels) && labels.length === 3,
      'boundary-accepted',
      '(at most 3 items)',
    ],
    [
      'length in characters',
      ({ title }) => Buffer.byteLength(String(title)) > 10,
      'length-in-characters',
      '"title" = "éééééééééé" (10 characters, 20 bytes)',
    ],
  ])('find that a valid %s is refused, and no more', async (_, refuses, check, named) => {
    const all = violations(await found({ refuses }));
    expect(Object.keys(all)).toEqual([`operations.${check}`]);
    expect(all[`operations.${check}`]).toContain(named);
  });

  it('find a failure over an odd path value, and no more', async () => {
    const all = violations(await found({ breaksOn: /'/ }));
    expect(Object.keys(all)).toEqual(['operations.path-value']);
    expect(all['operations.path-value']).toContain('"id" = "conform\'\\";--" (quotes)');
  });

  it.each(['path-value', 'unusual-text'])('warn of %s where no document speaks of statuses', (name) => {
    const { grounds = [] } = operations.checks.find(({ id }) => id === `operations.${name}`) ?? {};
    const silent = { name: 'silent', title: 'Silent', source: { document: '' }, clauses: [] };
    expect(resolveAuthority(grounds, silent, {}).level).toBe('SHOULD');
  });

  it('lead to a change that names the constraint', async () => {
    const { changes } = await found({ parameters: { limit: { type: 'integer' } } });
    expect(changes).toEqual({
      'operations.negative-range': expect.stringMatching(
        /^Hold query parameter "limit" to `maximum: 50` \(.*api\.yaml:1:\d+\), and answer 400 or 422/,
      ),
    });
  });

  it('are told before the run in their number, and kept', async () => {
    const { requests, told } = await found({});
    expect(requests).toBeGreaterThan(50);
    expect(requests).toBeLessThanOrEqual(told.requests);
    expect(requests).toBeGreaterThanOrEqual(0.8 * told.usual);
  });

  it('are on record with the constraint, its place and its side', async () => {
    const { events } = await found({});
    const trials = events.flatMap((event) => (event.type === 'coverage' ? (event.trials ?? []) : []));
    const place = { operation: 'getOrder', in: 'query', name: 'limit', keyword: 'maximum' };
    expect(trials).toContainEqual({ ...place, side: 'outside', status: 400 });
    expect(trials).toContainEqual({ ...place, side: 'inside', status: 200 });
    const town = { operation: 'checkOrder', in: 'body', name: '/address/town', keyword: 'maxLength' };
    expect(trials).toContainEqual({ ...town, side: 'outside', status: 400 });
  });
});

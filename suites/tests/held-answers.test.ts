import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../harness/base/fixtures/folder.ts';
import { serving } from '../../harness/base/fixtures/server.ts';
import { loadOnly } from '../../harness/config/fixtures/config-folder.ts';
import { auth } from '../auth/auth.suite.ts';
import { operations } from '../operations/operations.suite.ts';
import { holdsKey, judged, KEY } from './fixtures/judged.ts';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;
type Sent = Readonly<Record<string, string>>;

const json = (schema: object) => ({ description: 'so', content: { 'application/json': { schema } } });
const answering =
  (status: number, content: unknown, fields: Sent = {}): Answer =>
  (_, response) =>
    response
      .writeHead(status, content === undefined ? fields : { 'Content-Type': 'application/json', ...fields })
      .end(content === undefined ? undefined : JSON.stringify(content));

/** What is found and covered of `GET /v1/resources`, the sample too, that has these responses and gives this answer. */
async function judgedAs(responses: object, answer: Answer, more: object = {}) {
  const parameters = [{ name: 'limit', in: 'query', schema: { type: 'integer', maximum: 50 } }];
  const document = {
    openapi: '3.1.1',
    paths: { '/v1/resources': { get: { operationId: 'list', parameters, responses } } },
    security: [{ key: [] }],
    components: { securitySchemes: { key: { type: 'http', scheme: 'bearer' } } },
    ...more,
  };
  const { url, stop } = await serving(
    createServer((request, response) => {
      if (request.url?.startsWith('/v1/resources')) return answer(request, response);
      return answering(404, {})(request, response);
    }),
  );
  const yaml = `service: orders\ncontract: search\ncredentials: { scheme: bearer, key: ${KEY} }\nprovider: { url: '${url}' }\nopenapi: ../openapi/api.json\n`;
  const { config } = await loadOnly(
    temporaryFolder({ 'services/orders.yaml': yaml, 'openapi/api.json': JSON.stringify(document) }),
  );
  const { outcomes, messages, events } = await judged(config, [auth, operations], { url }).finally(stop);
  const held = ['answer-status', 'undocumented-refusal', 'content-type', 'answer-headers', 'schema'];
  const faults = Object.fromEntries(
    held.flatMap((name) => {
      const [id, message = ''] = [`operations.${name}`, messages[`operations.${name}`]];
      const isRaised = ['fail', 'warning'].includes(outcomes[id] ?? '');
      return isRaised ? [[`${name} ${outcomes[id]}`, /got (.*?) for GET/.exec(message)?.[1]]] : [];
    }),
  );
  const covered = events.flatMap((event) => (event.type === 'operations' ? [event.operations] : []));
  return { faults, covered: covered.at(-1) };
}

const told = async (...of: Parameters<typeof judgedAs>) => (await judgedAs(...of)).faults;

/** Served with the key, else refused; `limit` is looked at. */
const guarded =
  (served: Answer, refusal: Answer, badInput: Answer = served): Answer =>
  (request, response) => {
    if (!holdsKey(request.headers.authorization)) return refusal(request, response);
    return (/limit=(?!\d\b)/.test(request.url ?? '') ? badInput : served)(request, response);
  };

const LIST = json({ type: 'array', items: { type: 'object' } });
const ERROR = json({ type: 'object', required: ['message'], properties: { message: { type: 'string' } } });
const refused = answering(401, { message: 'who?' }, { 'WWW-Authenticate': 'Bearer' });
const bad = answering(400, { message: 'no' });

describe('each answer of an operation is held to what is documented for its status', () => {
  const documented = { 200: LIST, 400: ERROR, 401: ERROR };

  it('and conforms, refusals included', async () => {
    expect(await told(documented, guarded(answering(200, []), refused, bad))).toEqual({});
  });

  it('by a range of statuses, and by default', async () => {
    const service = guarded(answering(200, []), refused, answering(422, { message: 1 }));
    const fault = 'one in which "/message" must be string (type)';
    expect(await told({ 200: LIST, '4xx': ERROR }, service)).toEqual({ 'schema fail': fault });
    expect(await told({ 200: LIST, default: ERROR }, service)).toEqual({ 'schema fail': fault });
  });

  it.each<[string, Answer, Answer, object]>([
    [
      'a status that is not documented beside others',
      refused,
      answering(422, { message: 'no' }),
      { 'answer-status fail': 'status 422 instead of 200, 400 or 401' },
    ],
    [
      'a refusal that breaks its schema',
      answering(401, { error: 'who?' }),
      bad,
      { 'schema fail': "one in which the whole must have required property 'message' (required)" },
    ],
    [
      'a refusal in another media type',
      answering(401, 'who?', { 'Content-Type': 'text/html' }),
      bad,
      { 'content-type fail': 'text/html instead of application/json' },
    ],
    [
      'a refusal that any proxy may send',
      answering(403, { message: 'no' }),
      bad,
      { 'undocumented-refusal warning': 'status 403 instead of 200, 400 or 401 (any proxy may send it)' },
    ],
  ])('and fails for %s', async (_, refusal, badInput, faults) => {
    expect(await told(documented, guarded(answering(200, []), refusal, badInput))).toEqual(faults);
  });

  it('and warns of bad input that is refused where no refusal is documented at all', async () => {
    const only = { 200: LIST };
    expect(await told(only, guarded(answering(200, []), answering(200, []), bad))).toEqual({
      'undocumented-refusal warning': 'status 400 instead of 200 (no refusal of input is documented)',
    });
  });
});

describe('a stream', () => {
  const streamed =
    (type: string, text: string): Answer =>
    (_, response) =>
      response.writeHead(200, { 'Content-Type': type }).end(text);
  const documented = (type: string) => ({
    200: {
      description: 'so',
      content: { [type]: { itemSchema: { required: ['n'], properties: { n: { type: 'integer' } } } } },
    },
  });

  it.each<[string, string, string | null]>([
    ['application/x-ndjson', '{"n":1}\n{"n":2}\n', null],
    ['application/x-ndjson', '', null],
    ['application/x-ndjson', '{"n":1}\n{"n":"2"}\n', 'item 2, in which "/n" must be integer (type)'],
    ['application/jsonl', '{"n":1}\n{"n":', null],
    [
      'application/json-seq',
      '\u{1e}{"n":1}\n\u{1e}{}\n',
      "item 2, in which the whole must have required property 'n' (required)",
    ],
  ])('of %s is held to its schema item by item: %j', async (type, text, fault) => {
    const faults = await told(documented(type), streamed(type, text), { openapi: '3.2.0' });
    expect(faults).toEqual(fault === null ? {} : { 'schema fail': fault });
  });
});

it('puts on record which documented answers were seen', async () => {
  const service = guarded(answering(200, []), refused, answering(422, { message: 'no' }));
  const { covered } = await judgedAs({ 200: LIST, 400: ERROR, 401: ERROR }, service);
  expect(covered).toEqual([
    {
      operation: 'GET /v1/resources',
      id: 'list',
      place: expect.stringMatching(/api\.json:1:\d+$/),
      answers: [
        { code: '200', seen: expect.toSatisfy((n) => n > 5) },
        { code: '400', seen: 0 },
        { code: '401', seen: expect.toSatisfy((n) => n > 5) },
      ],
      trials: 3,
      undocumented: [{ status: 422, seen: 3 }],
    },
  ]);
});

describe('the headers of an answer', () => {
  const withHeaders = (headers: object) => ({ 200: { ...LIST, headers } });
  const required = (schema: object) => ({ required: true, schema });

  it.each<[object, Sent, string | null]>([
    [{ 'X-Total': required({ type: 'integer' }) }, { 'X-Total': '7' }, null],
    [
      { 'X-Total': required({ type: 'integer' }), 'X-Page': required({ type: 'string' }) },
      { 'X-Total': 'lots' },
      'X-Total: lots, which must be integer (type), and no X-Page',
    ],
    [{ 'X-Total': { schema: { type: 'integer' } } }, {}, null],
    [{ 'X-Total': required({ type: 'string', maxLength: 3 }) }, { 'x-total': '1234' }, 'X-Total: 1234'],
    [{ 'X-Ids': required({ type: 'array', items: { type: 'integer' } }) }, { 'X-Ids': '1, 2' }, null],
    [
      { 'X-Ids': required({ type: 'array', items: { type: 'integer' } }) },
      { 'X-Ids': '1, b' },
      'X-Ids: 1, b',
    ],
    [
      { 'X-Limit': required({ type: 'object', properties: { n: { type: 'integer' } } }) },
      { 'X-Limit': 'n,1' },
      null,
    ],
    [{ 'X-Flag': required({ type: 'boolean' }) }, { 'X-Flag': 'true' }, null],
    [{ 'X-Any': required({ type: ['integer', 'null'] }) }, { 'X-Any': 'null' }, null],
    [
      { 'X-Json': { content: { 'application/json': { schema: { type: 'object' } } } } },
      { 'X-Json': '[]' },
      'X-Json',
    ],
    [{ 'Content-Type': required({ type: 'integer' }) }, {}, null],
  ])('are held to %j: %j', async (headers, sent, fault) => {
    const faults = await told(withHeaders(headers), answering(200, [], sent));
    if (fault === null) expect(faults).toEqual({});
    else expect(faults).toEqual({ 'answer-headers fail': expect.stringContaining(fault) });
  });
});

describe('of an answer nothing is expected that HTTP or OpenAPI does not have', () => {
  it.each<[string, object, Answer, object?]>([
    ['content of a 204, whatever is documented', { 204: LIST }, answering(204, undefined)],
    ['content of a 304, whatever is documented', { 304: LIST }, answering(304, undefined)],
    ['a media type that the document leaves open', { 200: { description: 'ok' } }, answering(200, undefined)],
    [
      'a media type without a schema in Swagger 2.0, whatever it produces',
      { 200: { description: 'ok' } },
      answering(200, undefined),
      {
        openapi: undefined,
        swagger: '2.0',
        produces: ['application/json'],
        security: [],
        components: undefined,
      },
    ],
    [
      'a discriminator that no schema requires',
      {
        200: json({
          oneOf: [{ $ref: '#/components/schemas/Cat' }, { $ref: '#/components/schemas/Dog' }],
          discriminator: { propertyName: 'kind' },
        }),
      },
      answering(200, { lives: 9 }),
      {
        components: {
          securitySchemes: { key: { type: 'http', scheme: 'bearer' } },
          schemas: {
            Cat: {
              type: 'object',
              required: ['lives'],
              additionalProperties: false,
              properties: { kind: {}, lives: {} },
            },
            Dog: {
              type: 'object',
              required: ['tricks'],
              additionalProperties: false,
              properties: { kind: {}, tricks: {} },
            },
          },
        },
      },
    ],
  ])('%s', async (_, responses, answer, more) => {
    expect(await told(responses, answer, more)).toEqual({});
  });
});

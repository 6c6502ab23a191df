import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { gzipSync } from 'node:zlib';
import Fastify, { type FastifyInstance } from 'fastify';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../harness/base/fixtures/folder.ts';
import { serving } from '../../harness/base/fixtures/server.ts';
import { loadOnly } from '../../harness/config/fixtures/config-folder.ts';
import type { ServiceConfig } from '../../harness/config/service.ts';
import { startProvider } from '../../harness/engine/provider/start.ts';
import { simulatedClock } from '../../harness/engine/simulation/clock.ts';
import type { Clock } from '../../harness/wire/pace/clock.ts';
import { operations } from '../operations/operations.suite.ts';
import { findings, type Judged, judged, KEY } from './fixtures/judged.ts';

/** The config of a service that is described by this document. */
async function described(service: string, document: string | object, more = ''): Promise<ServiceConfig> {
  const text = typeof document === 'string' ? document : JSON.stringify(document);
  const yaml = `service: orders\ncontract: search\ncredentials: { scheme: bearer, key: ${KEY} }\nopenapi: ../openapi/api.yaml\n${service}\n${more}`;
  const { config } = await loadOnly(
    temporaryFolder({ 'services/orders.yaml': yaml, 'openapi/api.yaml': text }),
  );
  return config;
}

/** Its provider, which runs until the test is over, in simulated time: waits for its quota cost none. */
async function provided(config: ServiceConfig): Promise<{ readonly url: string; readonly clock: Clock }> {
  const clock = simulatedClock();
  const provider = await startProvider(config, { clock });
  onTestFinished(async () => {
    await provider.stop();
    clock.stop();
  });
  return { url: provider.url, clock };
}

/** What the suite finds of it. */
async function found(...of: Parameters<typeof described>): Promise<Judged> {
  const config = await described(...of);
  return judged(config, [operations], await provided(config));
}

/** The provider of a config that is this service, until the test is over. */
async function providerOf(app: FastifyInstance): Promise<string> {
  onTestFinished(() => app.close());
  return `provider: { url: '${await app.listen({ host: '127.0.0.1', port: 0 })}' }`;
}

/** How many requests of each kind were sent, and how many were not, where some were not. */
function covered(events: Judged['events']) {
  return Object.fromEntries(
    events.flatMap((event) =>
      event.type === 'coverage' ? [[event.request, [event.sent, event.capped]]] : [],
    ),
  );
}

const without = (text: string | undefined) => text?.replace(/ \[[^\]]*\]$/, '');

describe('the operations suite over the reference provider', () => {
  const document = readFile(new URL('../../config/openapi/search.yaml', import.meta.url), 'utf8');
  const search = 'provider: { reference: search }';
  /** A search by POST, which changes nothing. */
  const query = 'operations: [{ id: queryResources, method: POST, path: /v1/matches, safe: true }]\n';

  it('finds nothing, unsafe methods included', async () => {
    const all = await found(search, await document, query);
    expect(findings(all)).toEqual([]);
    expect(all.observations).toEqual({
      'operations.unknown-parameter': { ignored: 3, otherwise: 0 },
      'operations.coverage': { documented: 4, called: 4, notExercised: [], notListed: 0 },
      'operations.body-as-text': true,
    });
    expect(all.requests).toBe(101);
  });

  it('removes what it has created, odd bodies included', async () => {
    const stored = await readFile(
      new URL('../../config/openapi/saved-searches.yaml', import.meta.url),
      'utf8',
    );
    const config = await described(search, stored);
    const setting = await provided(config);
    const { url } = setting;
    const listed = async () => {
      const headers = { Authorization: `Bearer ${KEY}` };
      return (await fetch(`${url}/v1/searches?limit=50`, { headers })).json();
    };
    const before = await listed();
    const { events } = await judged(config, [operations], setting);
    const created = events.filter(
      (event) => event.type === 'evidence' && JSON.stringify(event).includes('"status":201'),
    );
    expect(created.length).toBeGreaterThan(8);
    expect(await listed()).toEqual(before);
  });

  it('tells which operations it was not allowed to call', async () => {
    const more = 'safety: { unsafeMethods: false }\n';
    const { outcomes, messages, observations } = await found(search, await document, more);
    expect(outcomes['operations.status']).toBe('pass');
    expect(messages['operations.status']).toBe(
      'Not exercised: POST /v1/matches (POST is not allowed here (safety.unsafeMethods)).',
    );
    expect(observations['operations.coverage']).toMatchObject({ documented: 4, called: 3 });
  });

  it('keeps to its ceiling, and tells what it left out', async () => {
    const more = `${query}safety: { operationRequests: 4 }\n`;
    const { outcomes, requests, observations, events } = await found(search, await document, more);
    expect(requests).toBe(4);
    expect(covered(events)).toMatchObject({ call: [2, 2] });
    expect(outcomes['operations.status']).toBe('pass');
    expect(observations['operations.coverage']).toMatchObject({
      called: 2,
      notExercised: expect.arrayContaining([
        {
          operation: 'GET /v1/matches',
          request: 'call',
          reason: 'the suite is limited to 4 requests (safety.operationRequests)',
        },
      ]),
    });
  });
});

describe('the operations suite over a service whose lists break their schema', () => {
  const many = (octets: number) => JSON.stringify(Array.from({ length: octets / 40 }, () => 'x'.repeat(38)));
  it.for<readonly [way: string, content: Buffer, coding?: string]>([
    ['longer than is read', Buffer.from(many(1_100_000))],
    ['longer than is held against a schema', Buffer.from(many(600_000))],
    ['in a coding that is not known', Buffer.from('["x"]'), 'x-own'],
    ['in another coding than it says', Buffer.from('["x"]'), 'gzip'],
    ['too large once unpacked', gzipSync(Buffer.from(many(9_000_000))), 'gzip'],
  ])('says nothing good of them where they are %s', async ([_, content, coding]) => {
    const app = Fastify();
    app.get('/*', async (_request, reply) =>
      reply
        .headers({ 'Content-Type': 'application/json', ...(coding && { 'Content-Encoding': coding }) })
        .send(content),
    );
    const list = { type: 'array', items: { type: 'integer' } };
    const paths = Object.fromEntries(['/a', '/b'].map((path) => [path, { get: { responses: ok(list) } }]));
    const { outcomes, messages } = await found(await providerOf(app), { openapi: '3.1.0', paths });
    expect(outcomes['operations.schema']).toBe('blocked');
    expect(messages['operations.schema']).toMatch(
      /^GET \/a as documented cannot be judged for a body that fits/,
    );
  });
});

describe('the operations suite over a service that answers slowly', () => {
  it('stops asking after a while, and tells what it left out', async () => {
    const clock = simulatedClock();
    const server = await serving(
      createServer(async (_, response) => {
        await clock.sleep(3_100);
        response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
      }),
    );
    const paths = Object.fromEntries(
      Array.from({ length: 80 }, (_, n) => [`/things/${n}`, { get: { responses: ok({}) } }]),
    );
    const allowed = `provider: { url: '${server.url}' }\ntimeouts: { run: 1h }`;
    const config = await described(allowed, { openapi: '3.1.0', paths });
    const { outcomes, messages, events } = await judged(config, [operations], {
      url: server.url,
      clock,
    }).finally(server.stop);
    clock.stop();
    // Half of five minutes is for the calls.
    expect(covered(events)).toMatchObject({ call: [49, 31], 'no-credential': [0, 80] });
    expect(outcomes['operations.status']).toBe('pass');
    expect(messages['operations.status']).toMatch(
      /^Not exercised: .* \(the answers to 49 requests before it took 152 s\)\.$/,
    );
    expect(outcomes['operations.unknown-method']).toBe('blocked');
  });
});

const ok = (schema: object) => ({ 200: { description: 'ok', content: { 'application/json': { schema } } } });
const limit = { name: 'limit', in: 'query', schema: { type: 'integer', minimum: 1, maximum: 50 } };
const id = { name: 'id', in: 'path', required: true, schema: { type: 'integer' }, example: 7 };
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

const PETS = {
  openapi: '3.0.3',
  info: { title: 'Pets', version: '1' },
  security: [{ token: [] }],
  paths: {
    '/pets': {
      get: {
        operationId: 'listPets',
        parameters: [limit],
        responses: ok({ type: 'array', items: ref('Pet') }),
      },
      post: {
        operationId: 'addPet',
        requestBody: { required: true, content: { 'application/json': { schema: ref('Pet') } } },
        responses: { 201: { description: 'ok', content: { 'application/json': { schema: ref('Pet') } } } },
      },
    },
    '/pets/{id}': { parameters: [id], get: { operationId: 'getPet', responses: ok(ref('Pet')) } },
    '/owners': { get: { responses: ok({ type: 'array' }) } },
    '/report': { get: { responses: { 200: { description: 'ok', content: { 'text/csv': {} } } } } },
    '/search': {
      get: {
        parameters: [
          { name: 'q', in: 'query', required: true, schema: { type: 'string' }, example: 'a' },
          limit,
        ],
        responses: ok({ type: 'object' }),
      },
    },
    '/moved': { get: { responses: ok({}) } },
    '/health': { get: { security: [], responses: ok({ type: 'object', required: ['status'] }) } },
    '/visits/{id}': { get: { parameters: [{ ...id, example: undefined }], responses: ok({}) } },
  },
  components: {
    securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
    schemas: {
      Pet: {
        type: 'object',
        required: ['id', 'name'],
        properties: {
          id: { type: 'integer', readOnly: true },
          name: { type: 'string', minLength: 1, maxLength: 20, example: 'Rex' },
          owner: { type: 'string', nullable: true },
          parents: { type: 'array', maxItems: 2, items: ref('Pet') },
        },
      },
    },
  },
};

/** A service that keeps to most of that, and is known to break some of it. */
async function petsService() {
  const app = Fastify();
  const rex = { id: 7, name: 'Rex', owner: null, parents: [{ id: 1, name: 'Ada' }] };
  app.addHook('onRequest', async (request, reply) => {
    const open = ['/health', '/owners'].includes(request.routeOptions.url ?? '');
    if (!open && request.headers.authorization !== `Bearer ${KEY}`)
      return reply.code(401).send({ error: 'who?' });
  });
  const query = { type: 'object', properties: { limit: { type: 'integer', minimum: 1, maximum: 50 } } };
  app.get('/pets', { schema: { querystring: query } }, async () => [rex]);
  // The parents lack their names.
  app.get('/pets/:id', async () => ({ ...rex, parents: [{ id: 1 }] }));
  // Served to anybody.
  app.get('/owners', async () => []);
  app.get('/report', async (_, reply) => reply.type('text/plain').send('a,b'));
  app.get<{ Querystring: { limit?: string } }>('/search', async ({ query: { limit: given } }) => {
    if (given !== undefined && Number.isNaN(Number(given))) throw new Error('NaN');
    return { found: [] };
  });
  app.get('/moved', async (_, reply) => reply.redirect('/elsewhere'));
  app.get('/health', async () => ({ status: 'fine' }));
  const body = {
    type: 'object',
    required: ['name'],
    properties: { name: { type: 'string', maxLength: 20 } },
  };
  app.post<{ Body: { name: string } }>('/pets', { schema: { body } }, async ({ body: { name } }, reply) =>
    reply.code(201).send({ id: 8, name }),
  );
  return providerOf(app);
}

describe('the operations suite over a list in numbered pages', () => {
  const integer = (more: object) => ({ type: 'integer', ...more });
  const parameters = (page: object) => [
    { name: 'per_page', in: 'query', schema: integer({ minimum: 1 }) },
    { name: 'page', in: 'query', schema: integer(page) },
  ];
  const NAMES = ['a', 'b', 'c', 'd', 'e'];

  /** A service that counts its pages from `first`, and begins each of them `shift` items too early. */
  async function numbered(first: number, shift: number) {
    const app = Fastify();
    app.get<{ Querystring: { page?: string; per_page?: string } }>('/names', async ({ query }) => {
      const size = Number(query.per_page ?? 10);
      const from = Math.max(0, (Number(query.page ?? first) - first) * size - shift);
      return NAMES.slice(from, from + size);
    });
    return providerOf(app);
  }

  it.each<readonly [string, number, number, object, string]>([
    ['counted from 1', 1, 0, { default: 1 }, 'pass'],
    ['counted from 0', 0, 0, { minimum: 0 }, 'pass'],
    ['that overlap', 1, 1, { minimum: 1 }, 'fail'],
    ['of which nobody says how they are counted', 0, 0, {}, 'skipped'],
  ])('%s', async (_, first, shift, page, outcome) => {
    const get = { parameters: parameters(page), responses: ok({}) };
    const document = { openapi: '3.1.0', paths: { '/names': { get } } };
    const { outcomes } = await found(await numbered(first, shift), document);
    expect(outcomes).toMatchObject({
      'operations.page-size': outcome === 'skipped' ? 'skipped' : 'pass',
      'operations.pages-disjoint': outcome,
    });
  });
});

describe('the operations suite over a service whose quota is spent', () => {
  it('judges what was answered, gives no verdict on the rest, and soon asks no more', async () => {
    const app = Fastify();
    let asked = 0;
    app.get('/*', async (_, reply) => {
      asked += 1;
      return asked > 2 ? reply.code(429).send({}) : reply.code(asked === 2 ? 500 : 200).send({});
    });
    const paths = Object.fromEntries(
      ['/a', '/b', '/c', '/d'].map((path) => [path, { get: { responses: ok({}) } }]),
    );
    const { outcomes, messages, requests } = await found(
      await providerOf(app),
      { openapi: '3.1.0', paths },
      'plan: { requests: 100, window: 100ms }\n',
    );
    // What is refused for its rate comes back, at longer and longer intervals, and so does another operation; then no more.
    expect(requests).toBeLessThanOrEqual(16);
    expect(outcomes).toMatchObject({
      'operations.status': 'fail',
      'operations.schema': 'blocked',
      'operations.auth-required': 'blocked',
    });
    expect(without(messages['operations.status'])).toBe(
      'expected the documented status, got status 500 instead of 200 for GET /b as documented',
    );
    expect(messages['operations.schema']).toContain('answered 429');
  });
});

describe('the operations suite over a service that breaks its description', () => {
  it('names each operation that deviates, and no other', async () => {
    const more = 'safety: { unsafeMethods: true }\n';
    const { outcomes, messages, observations } = await found(await petsService(), PETS, more);
    const said = Object.entries(messages).map(([key, text]) => [`${key} ${outcomes[key]}`, without(text)]);
    expect(Object.fromEntries(said)).toMatchSnapshot();
    expect(observations).toMatchSnapshot();
  });

  it('is blocked where nothing can be called, and skipped where nothing may be', async () => {
    const { '/visits/{id}': visits, '/pets': pets } = PETS.paths;
    const provider = await petsService();
    // Nothing fits, so that nothing can be made up either.
    const id = { name: 'id', in: 'path', required: true, schema: { type: 'string', pattern: '[^\\s\\S]' } };
    const [unfit, unsafe] = await Promise.all([
      found(provider, { ...PETS, paths: { '/visits/{id}': { get: { ...visits.get, parameters: [id] } } } }),
      found(provider, { ...PETS, paths: { '/pets': { post: pets.post } } }),
    ]);
    // No list is documented in pages, and nothing that could be created.
    expect(new Set(Object.values(unfit.outcomes))).toEqual(new Set(['blocked', 'observed', 'skipped']));
    expect(unfit.messages['operations.status']).toContain(
      'GET /visits/{id} (neither the document nor an answer has a value for the path parameter "id"',
    );
    expect(new Set(Object.values(unsafe.outcomes))).toEqual(new Set(['skipped', 'observed']));
    expect([unfit.requests, unsafe.requests]).toEqual([0, 0]);
  });
});

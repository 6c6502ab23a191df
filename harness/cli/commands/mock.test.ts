import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../base/fixtures/folder.ts';
import { conform, conformOver } from '../../engine/fixtures/conform-process.ts';
import { identityTexts } from '../../reference/mock/collections.ts';
import { MOCK_DEVIATIONS } from '../../reference/mock/deviations.ts';
import { type RunningMock, startMock } from '../../reference/mock/mock.ts';
import { serviceVerdict } from '../../report/results/run-verdict.ts';
import { conformHere } from '../fixtures/in-process.ts';
import { serving } from '../fixtures/serving.ts';
import { type DocumentedService, documentedService, MOCK } from '../unconfigured/documented-service.ts';

/** A mock of a document: what client developers call, and what runs are held against. */

const LIBRARY = fileURLToPath(new URL('../fixtures/mock/library.yaml', import.meta.url));

let service: DocumentedService;
beforeAll(async () => {
  service = await documentedService(LIBRARY);
});
afterAll(() => service.close());

async function withMock<T>(deviation: string | null, use: (mock: RunningMock) => Promise<T>): Promise<T> {
  const mock = await startMock({ config: service.config, deviation });
  try {
    return await use(mock);
  } finally {
    await mock.stop();
  }
}

/** `POST /shelves` and the like, with the key unless told otherwise. */
const caller =
  ({ url }: Pick<RunningMock, 'url'>) =>
  async (call: string, body?: unknown, key: string | null = Object.values(service.env)[0] ?? '') => {
    const [method = '', path = ''] = call.split(' ');
    const response = await fetch(`${url}/v1${path}`, {
      method,
      headers: {
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      json: text === '' ? null : JSON.parse(text),
      headers: response.headers,
    };
  };

/** The answer to a creation. */
interface Made {
  readonly json: {
    readonly id?: string;
    readonly version?: string;
    readonly metadata?: { readonly name: string };
  };
  readonly location: string | null;
}

describe('a mock of a document', () => {
  it('keeps what is created, changed and removed', () =>
    withMock(null, async (mock) => {
      const call = caller(mock);
      const created = await call('POST /shelves', { name: 'Maps', room: 3 });
      expect(created).toMatchObject({ status: 201, json: { name: 'Maps', room: 3 } });
      const item = `/shelves/${created.json.id}`;
      expect(created.headers.get('location')).toBe(`/v1${item}`);
      expect(await call(`GET ${item}`)).toMatchObject({ status: 200, json: created.json });
      expect((await call('GET /shelves')).json).toContainEqual(created.json);
      expect(await call(`PATCH ${item}`, { name: 'Atlases' })).toMatchObject({ status: 200 });
      expect((await call(`GET ${item}`)).json).toEqual({ ...created.json, name: 'Atlases' });
      expect(await call(`DELETE ${item}`)).toMatchObject({ status: 204, json: null });
      expect(await call(`GET ${item}`)).toMatchObject({ status: 404, json: { error: expect.any(String) } });
      expect(await call(`POST ${item}/books`, { title: 'Lost' })).toMatchObject({ status: 404 });
    }));

  it('has the same items for each client that lists them', () =>
    withMock(null, async (mock) => {
      const call = caller(mock);
      const { json: listed, headers } = await call('GET /shelves');
      expect(headers.get('x-total')).toMatch(/^\d+$/);
      for (const each of listed) expect((await call(`GET /shelves/${each.id}`)).json).toEqual(each);
      expect((await call('GET /shelves')).json).toEqual(listed);
    }));

  it.for([
    ['POST /shelves', { room: 3 }, 400],
    ['POST /shelves', { name: 'Maps', room: 0 }, 400],
    ['POST /shelves', '{"name"', 400],
    ['POST /shelves', undefined, 400],
    ['GET /shelves/unknown', undefined, 404],
    ['PUT /shelves', { name: 'Maps' }, 405],
  ] as const)('refuses %s with %j by %i', ([call, body, status]) =>
    withMock(null, async (mock) => {
      expect(await caller(mock)(call, body)).toMatchObject({ status });
    }),
  );

  it.each<[string, string, string, object, object, (made: Made) => string]>([
    [
      'elsewhere, as its Location says',
      '/mine/pets',
      '/pets/{shop}/{pet}',
      { type: 'string' },
      {
        id: { type: 'string' },
        shop: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
      },
      ({ location }) => location ?? '',
    ],
    [
      'by the name in its metadata',
      '/pets',
      '/pets/{name}',
      { type: 'string' },
      {
        data: {
          type: 'object',
          properties: { name: { type: 'string', const: 'other' } },
          required: ['name'],
        },
        metadata: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
      },
      ({ json }) => `/pets/${json.metadata?.name}`,
    ],
    [
      'by the member that its path is named for',
      '/pets',
      '/pets/{version}',
      { type: 'string' },
      { version: { type: 'string' }, name: { type: 'string' } },
      ({ json }) => `/pets/${json.version}`,
    ],
    [
      'by an identifier in the format of its path',
      '/pets',
      '/pets/{pet}',
      { type: 'string', format: 'uuid' },
      { id: { type: 'string' } },
      ({ json }) => (/^[\da-f-]{36}$/.test(`${json.id}`) ? `/pets/${json.id}` : 'no UUID'),
    ],
  ])('has an item that a client creates %s', async (_how, collection, item, schema, properties, placeOf) => {
    const Pet = { type: 'object', required: Object.keys(properties), properties };
    const content = (of: object) => ({ 'application/json': { schema: of } });
    const ref = { $ref: '#/components/schemas/Pet' };
    const answering = (code: number, of: object) => ({
      responses: { [code]: { description: 'ok', content: content(of) }, 404: { description: 'none' } },
    });
    const parameters = [...item.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
      ...{ name, in: 'path', required: true, schema },
    }));
    const document = {
      openapi: '3.1.0',
      info: { title: 'T', version: '1' },
      components: { schemas: { Pet } },
      paths: {
        [collection]: { get: answering(200, { type: 'array', items: ref }), post: answering(201, ref) },
        [item]: {
          parameters,
          get: answering(200, ref),
          delete: { responses: { 204: { description: 'gone' } } },
        },
      },
    };
    const folder = temporaryFolder({ 'openapi.json': JSON.stringify(document) });
    const { config, close } = await documentedService(join(folder, 'openapi.json'));
    const mock = await startMock({ config });
    const headers = { authorization: 'Bearer example-key-not-secret' };
    try {
      const created = await fetch(mock.url + collection, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify({ version: 'v7' }),
      });
      const json = (await created.json()) as Made['json'];
      const place = new URL(placeOf({ json, location: created.headers.get('location') }), mock.url);
      expect(await (await fetch(place, { headers })).json()).toEqual(json);
      expect((await fetch(place, { method: 'DELETE', headers })).status).toBe(204);
      expect((await fetch(place, { headers })).status).toBe(404);
    } finally {
      await mock.stop();
      close();
    }
  });

  it('has whatever a client names where no list says which there are, and paths that end with a slash', async () => {
    const content = (schema: object) => ({ 'application/json': { schema } });
    const pet = { type: 'object', required: ['id'], properties: { id: { type: 'integer' } } };
    const item = { name: 'id', in: 'path', required: true, schema: { type: 'integer' } };
    const responses = (code: number) => ({
      [code]: { description: 'ok', content: content(pet) },
      404: { description: 'none' },
    });
    const document = {
      openapi: '3.1.0',
      info: { title: 'T', version: '1' },
      paths: {
        '/shops/{id}/': { get: { parameters: [item], responses: responses(200) } },
        '/pets/create/': { post: { responses: responses(201) } },
        '/pets/{id}/': { get: { parameters: [item], responses: responses(200) } },
      },
    };
    const folder = temporaryFolder({ 'openapi.json': JSON.stringify(document) });
    const { config, close } = await documentedService(join(folder, 'openapi.json'));
    const mock = await startMock({ config });
    const statusOf = async (path: string) =>
      (await fetch(mock.url + path, { headers: { authorization: 'Bearer example-key-not-secret' } })).status;
    try {
      expect([await statusOf('/shops/7/'), await statusOf('/shops/x/'), await statusOf('/pets/99/')]).toEqual(
        [200, 404, 404],
      );
      const created = await fetch(`${mock.url}/pets/create/`, {
        method: 'POST',
        headers: { authorization: 'Bearer example-key-not-secret' },
      });
      expect(created.status).toBe(201);
      const { id } = (await created.json()) as { id: number };
      expect(await statusOf(`/pets/${id}/`)).toBe(200);
    } finally {
      await mock.stop();
      close();
    }
  });

  it('names no item by a text that no path can carry', () => {
    expect(identityTexts({ id: '\ud800', name: 'a', shelf_id: 7 })).toEqual(['a', '7']);
  });

  it('asks for the credential of the document', () =>
    withMock(null, async (mock) => {
      for (const key of [null, 'wrong']) {
        const refused = await caller(mock)('GET /shelves', undefined, key);
        expect(refused).toMatchObject({ status: 401, json: { error: expect.any(String) } });
        expect(refused.headers.get('www-authenticate')).toMatch(/^Bearer /);
      }
    }));
});

const inJson = (schema: object) => ({ description: 'd', content: { 'application/json': { schema } } });
const answers = (schema: object, status = 200) => ({ responses: { [status]: inJson(schema) } });
const listOf = (items: object) => answers({ type: 'array', items });
const inPath = (name: string, schema: object, more: object = {}) => ({
  name,
  in: 'path',
  required: true,
  schema,
  ...more,
});
const text = { type: 'string' };
const named = { type: 'object', required: ['id'], properties: { id: text } };
const closed = { type: 'object', required: ['uid'], additionalProperties: false, properties: { a: text } };
const form = {
  additionalProperties: false,
  type: 'object',
  required: ['to'],
  properties: { to: { type: 'string', pattern: '^[0-9]+$' }, loud: { type: 'boolean' } },
};
const fields = { name: 'field', in: 'query', required: true, schema: { type: 'array', items: text } };
const scope = {
  name: 'scope',
  in: 'query',
  required: true,
  style: 'deepObject',
  schema: { type: 'object', properties: { type: text } },
};
const few = { name: 'few', in: 'query', explode: false, schema: { type: 'array', maxItems: 2, items: text } };
const urn = {
  type: 'object',
  required: ['id'],
  properties: { id: { ...text, format: 'uri', pattern: '^urn:' } },
};

const street = {
  type: 'object',
  required: ['id', 'town_id'],
  properties: { id: text, town_id: { type: 'integer' } },
};
const numbered = inPath('number', { type: 'integer' });
const kinds = {
  type: 'object',
  required: ['kind'],
  properties: { kind: { enum: [4, 5], oneOf: [{ const: 1 }, { const: 4 }, { const: 5 }] } },
};

const TOWN = {
  openapi: '3.1.0',
  info: { title: 'Town', version: '1' },
  security: [],
  paths: {
    '/people': { get: listOf(named), post: answers(named, 201) },
    '/people/{id}': { get: { parameters: [inPath('id', text, { example: 'ada' })], ...answers(named) } },
    '/groups': { get: listOf(named) },
    '/people/{id}/groups': { get: { parameters: [inPath('id', text)], ...listOf(named) } },
    '/people/{id}/groups/{group}': {
      parameters: [inPath('id', text), inPath('group', text)],
      post: answers(named),
      delete: { responses: { 204: { description: 'd' } } },
    },
    '/houses': { get: listOf(named), post: answers(named, 201) },
    '/houses/{number}': { get: { parameters: [numbered], ...answers(named) } },
    '/streets': { get: listOf(street), post: answers(street, 201) },
    '/streets/{number}': {
      delete: { parameters: [inPath('number', text)], responses: { 204: { description: 'd' } } },
      get: { parameters: [numbered], ...answers(street) },
    },
    '/kinds': { get: answers(kinds) },
    '/notes': {
      post: {
        requestBody: { content: { 'application/x-www-form-urlencoded': { schema: form } } },
        ...answers(named),
      },
    },
    '/events': { get: { parameters: [fields], ...answers(named) } },
    '/few': { get: { parameters: [few], ...answers(named) } },
    '/deep': { get: { parameters: [scope], ...answers(named) } },
    '/contradiction': { get: answers(closed) },
    '/urn': { get: answers(urn) },
  },
};

describe('a mock of a document with odd corners', () => {
  let town: DocumentedService;
  let mock: RunningMock;
  beforeAll(async () => {
    town = await documentedService(join(temporaryFolder({ 'town.json': JSON.stringify(TOWN) }), 'town.json'));
    mock = await startMock({ config: town.config });
  });
  afterAll(async () => {
    await mock.stop();
    town.close();
  });
  const send = async (call: string, body?: string) => {
    const [method = '', path = ''] = call.split(' ');
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    const sent = body === undefined ? {} : { headers: type, body };
    const response = await fetch(mock.url + path, { method, ...sent });
    const content = await response.text();
    return { status: response.status, json: content === '' ? null : JSON.parse(content) };
  };

  it('has the items that the document names', async () => {
    expect(await send('GET /people/ada')).toMatchObject({ status: 200, json: { id: 'ada' } });
    expect(await send('GET /people/eve')).toMatchObject({ status: 404 });
  });

  it('adds an item of another list by POST, so that it can be removed', async () => {
    const [person] = (await send('GET /people')).json;
    const [group] = (await send('GET /groups')).json;
    const place = `/people/${person.id}/groups/${group.id}`;
    expect(await send(`DELETE ${place}`)).toMatchObject({ status: 404 });
    expect(await send(`POST ${place}`)).toMatchObject({ status: 200 });
    expect(await send(`DELETE ${place}`)).toMatchObject({ status: 204 });
    expect(await send(`POST /people/${person.id}/groups/none-such`)).toMatchObject({ status: 404 });
  });

  it('names items as their path takes them', async () => {
    const [house] = (await send('GET /houses')).json;
    expect(await send(`GET /houses/${house.id}`)).toMatchObject({ status: 200, json: house });
  });

  it('names items as each operation of their path takes them', async () => {
    const [street] = (await send('GET /streets')).json;
    expect(await send(`GET /streets/${street.id}`)).toMatchObject({ status: 200, json: street });
    expect(await send(`DELETE /streets/${street.id}`)).toMatchObject({ status: 204 });
  });

  it('makes the one of several alternatives that the list of values admits', async () => {
    expect((await send('GET /kinds')).json).toEqual({ kind: 4 });
  });

  it.for([
    ['to=12', 200],
    ['to=12&loud=true', 200],
    ['to=12&loud=very', 400],
    ['to=me', 400],
    ['loud=true', 400],
    ['to=12&more=1', 400],
  ] as const)('holds the members of a form to their schemas: %s', async ([body, status]) => {
    expect((await send('POST /notes', body)).status).toBe(status);
  });

  it.for([
    ['/events', 400],
    ['/events?field=a', 200],
    ['/few?few=a,b', 200],
    ['/few?few=a,b,c', 400],
    ['/deep', 400],
    ['/deep?scope[type]=user', 200],
  ] as const)('holds lists to their schemas: %s', async ([path, status]) => {
    expect((await send(`GET ${path}`)).status).toBe(status);
  });

  it('makes the members of a schema that nothing fits, and of one with a pattern and a format', async () => {
    expect((await send('GET /contradiction')).json).toMatchObject({ uid: expect.any(String) });
    expect((await send('GET /urn')).json.id).toMatch(/^urn:/);
  });
});

describe('a run against a mock', () => {
  const allowed = ['--allow', 'writes,leftovers', '--suite', 'operations'];

  it('calls every operation and finds nothing', () =>
    withMock(null, async ({ url }) => {
      const args = ['run', MOCK, '--config', service.configDir, '--url', url, '--reports', temporaryFolder()];
      const { code, stdout } = await conform([...args, ...allowed], service.env).ended;
      expect(stdout).toContain('8 of 8 operations');
      expect(code).toBe(0);
    }));

  it('fails with each deviation', async () => {
    const written = readFileSync(join(service.configDir, 'services', `${MOCK}.yaml`), 'utf8');
    const mocks = await Promise.all(
      MOCK_DEVIATIONS.map(({ name }) => startMock({ config: service.config, deviation: name })),
    );
    const files = MOCK_DEVIATIONS.map(({ name }, index) => [
      `services/${name}.yaml`,
      written
        .replace(/^service: .*$/m, `service: ${name}`)
        .replace(/^openapi: .*$/m, `openapi: ${LIBRARY}`)
        .replace(/^ {2}url: .*$/m, `  url: ${mocks[index]?.url}`),
    ]);
    const contract = join('contracts', `${MOCK}.yaml`);
    files.push([contract, readFileSync(join(service.configDir, contract), 'utf8')]);
    try {
      const ran = await conformOver(Object.fromEntries(files), allowed, service.env);
      const verdicts = ran
        .results()
        .services.map((each) => [each.service, serviceVerdict(each, { strict: false }).word]);
      expect(Object.fromEntries(verdicts)).toEqual(
        Object.fromEntries(MOCK_DEVIATIONS.map(({ name }) => [name, 'does not conform'])),
      );
    } finally {
      for (const mock of mocks) await mock.stop();
    }
  });
});

describe('conform serve with a document', () => {
  it('serves it until it is ended', async () => {
    const { server, url } = await serving([LIBRARY]);
    const call = caller({ url });
    expect(await call('GET /shelves')).toMatchObject({ status: 200 });
    server.signal('SIGTERM');
    expect(await server.ended).toMatchObject({ code: 0, stderr: '' });
  });

  it('lists its deviations', async () => {
    const { code, stdout } = await conformHere(['serve', LIBRARY, '--defect']);
    expect(code).toBe(0);
    for (const { name } of MOCK_DEVIATIONS) expect(stdout).toContain(`${name}  `);
  });

  it.for([
    [['--plan', '1/60s'], 'is for the built-in services'],
    [['--defect', 'other-statu'], 'there is no deviation'],
    [['--defect', 'other-status', 'lost-change'], 'is served with one fault'],
  ] as const)('refuses %j', async ([args, problem]) => {
    const { code, stderr } = await conformHere(['serve', LIBRARY, ...args]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(problem) });
  });
});

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { afterAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../harness/base/fixtures/folder.ts';
import { serving } from '../../harness/base/fixtures/server.ts';
import { isJsonObject } from '../../harness/base/json-text.ts';
import { loadOnly } from '../../harness/config/fixtures/config-folder.ts';
import { simulatedClock } from '../../harness/engine/simulation/clock.ts';
import type { Clock } from '../../harness/wire/pace/clock.ts';
import { suites } from '../catalogue.ts';
import { amiss, judged, KEY } from './fixtures/judged.ts';

const WINDOW_MS = 60_000;
/** The data of the user, which a run has to leave as they are. */
const DATA = {
  settings: { theme: 'dark' },
  things: { 7: { id: 7, name: 'seven', state: 'open' }, 8: { id: 8, name: 'eight', state: 'open' } },
  parts: { 1: { id: 1, of: 7 } },
};

interface Thing {
  readonly id: number;
  readonly [member: string]: unknown;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A service that does what it is asked for without a second thought, under a limit of requests a minute. */
async function carelessService(requests: number, clock: Clock) {
  const data = {
    settings: DATA.settings as object,
    things: new Map<number, Thing>(Object.entries(DATA.things).map(([id, thing]) => [Number(id), thing])),
    parts: new Map<number, Thing>(Object.entries(DATA.parts).map(([id, part]) => [Number(id), part])),
  };
  let created = 100;
  let windowMs = clock.now();
  let count = 0;
  const admits = () => {
    if (clock.now() >= windowMs + WINDOW_MS) [windowMs, count] = [clock.now(), 0];
    count += 1;
    return count <= requests;
  };
  type Answer = readonly [status: number, value?: unknown];
  const answerTo = ({ method = '', url = '/', headers }: IncomingMessage, text: string): Answer => {
    if (headers.authorization !== `Bearer ${KEY}`) return [401, { title: 'no key' }];
    if (!admits()) return [429, { title: 'too many' }];
    const { pathname } = new URL(url, 'http://here.invalid');
    const [, collection, id, action] = pathname.split('/');
    const body = isJsonObject(parseJson(text)) ? (parseJson(text) as object) : null;
    const writes = ['POST', 'PUT', 'PATCH', 'DELETE'].includes(method);
    if (writes && text !== '' && body === null) return [400, { title: 'no JSON object' }];
    if (pathname === '/settings') {
      if (writes) data.settings = body ?? {};
      return [200, data.settings];
    }
    if (pathname === '/purge' || pathname === '/v1/resources') {
      if (writes) data.things.clear();
      return [200, { resources: [] }];
    }
    if (collection === 'parts' && id !== undefined) {
      if (writes) data.parts.delete(Number(id));
      return [writes ? 204 : 200, data.parts.get(Number(id))];
    }
    if (collection !== 'things') return [404, { title: 'nothing here' }];
    if (id === undefined) {
      if (method === 'DELETE') data.things.clear();
      if (method !== 'POST') return [200, [...data.things.values()]];
      created += 1;
      const thing = { name: 'thing', ...body, id: created };
      data.things.set(thing.id, thing);
      return [201, thing];
    }
    const thing = data.things.get(Number.parseInt(id, 10));
    if (thing === undefined) return [404, { title: 'no such thing' }];
    if (!writes) return [200, thing];
    data.things.delete(thing.id);
    if (method === 'DELETE') return [204];
    // It is kept where its body says that it belongs.
    const kept: Thing = { ...thing, ...(action === 'close' ? { state: 'closed' } : body) };
    data.things.set(kept.id, kept);
    return [200, kept];
  };
  const answer = (request: IncomingMessage, response: ServerResponse, text: string) => {
    const [status, value] = answerTo(request, text);
    const waitS = Math.ceil((windowMs + WINDOW_MS - clock.now()) / 1_000);
    response.writeHead(status, {
      Date: clock.wallNow().toUTCString(),
      ...(value === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...(status === 429 ? { 'Retry-After': waitS } : {}),
    });
    response.end(value === undefined ? undefined : JSON.stringify(value));
  };
  const server = createServer((request, response) => {
    const octets: Buffer[] = [];
    request.on('data', (chunk) => octets.push(chunk));
    request.on('end', () => answer(request, response, Buffer.concat(octets).toString()));
  });
  const kept = () => JSON.stringify([data.settings, [...data.things].toSorted(), [...data.parts]]);
  return { ...(await serving(server)), kept, created: () => created - 100 };
}

/** A document whose examples name what the user has. */
function document() {
  const integer = { type: 'integer' };
  const thing = {
    type: 'object',
    properties: {
      id: { ...integer, example: 7 },
      name: { type: 'string', example: 'a name' },
      state: { type: 'string' },
    },
    required: ['id', 'name'],
  };
  const json = (schema: object) => ({ 'application/json': { schema } });
  const success = (status: number, schema?: object) => ({
    [status]: { description: '', ...(schema && { content: json(schema) }) },
  });
  const body = (...members: ('name' | 'id' | 'state')[]) => ({
    required: true,
    content: json({
      type: 'object',
      properties: Object.fromEntries(members.map((name) => [name, thing.properties[name]])),
      required: members.slice(0, 1),
    }),
  });
  const idOf = (name: string) => ({ name, in: 'path', required: true, schema: integer, example: 7 });
  return {
    openapi: '3.1.0',
    info: { title: 'things', version: '1' },
    components: { securitySchemes: { key: { type: 'http', scheme: 'bearer' } } },
    security: [{ key: [] }],
    paths: {
      '/settings': {
        put: { requestBody: body('name'), responses: success(200) },
      },
      '/purge': { post: { responses: success(200) } },
      '/parts/{part}': {
        parameters: [{ ...idOf('part'), example: 1 }],
        delete: { responses: success(204) },
      },
      '/things': {
        get: { responses: success(200, { type: 'array', items: thing }) },
        post: { requestBody: body('name', 'state'), responses: success(201, thing) },
        delete: { responses: success(204) },
      },
      '/things/{id}': {
        parameters: [idOf('id')],
        get: { responses: success(200, thing) },
        put: { requestBody: body('name', 'id'), responses: success(200, thing) },
        patch: { requestBody: body('name', 'state'), responses: success(200, thing) },
        delete: { responses: success(204) },
      },
      '/things/{id}/close': { parameters: [idOf('id')], post: { responses: success(200, thing) } },
      '/things/{id}/parts/{part}': {
        parameters: [idOf('id'), { ...idOf('part'), example: 1 }],
        delete: { responses: success(204) },
      },
    },
  };
}

const clocks: ReturnType<typeof simulatedClock>[] = [];
afterAll(() => {
  for (const clock of clocks) clock.stop();
});

describe('a run with writes leaves the data of the user as they were', () => {
  it.for([20, 60])('three times over, under a limit of %i requests a minute', async (requests) => {
    const clock = simulatedClock();
    clocks.push(clock);
    const service = await carelessService(requests, clock);
    const folder = temporaryFolder({
      'services/things.yaml': `service: things
contract: search
provider: { url: "${service.url}" }
credentials: { scheme: bearer, key: ${KEY} }
openapi: ../openapi/things.json
plan: { requests: ${requests}, window: 60s }
safety: { unsafeMethods: true, exceedRateLimit: true }
timeouts: { response: 10m }
`,
      'openapi/things.json': JSON.stringify(document()),
    });
    const { config } = await loadOnly(folder);
    const before = service.kept();
    const found = new Set<string>();

    try {
      for (let run = 1; run <= 3; run += 1) {
        const made = service.created();
        const ran = await judged(config, suites, { url: service.url, clock });
        const { events, outcomes } = ran;
        const remarks = events.flatMap((event) => (event.type === 'remark' ? [event.text] : []));
        expect(remarks.filter((text) => text.includes('may still be there'))).toEqual([]);
        expect(service.kept()).toBe(before);
        expect(service.created()).toBeGreaterThan(made);
        // Node writes the Date of some refusals itself, in another time than the simulated one.
        found.add(String(amiss(ran).filter((id) => id !== 'caching.date-in-time')));
        // The life of an item was lived, up to its new identifier.
        expect(outcomes['operations.id-kept']).toBe('fail');
        // What the run itself removed is not there, and the service is steady all the same.
        expect(outcomes['status.stable']).toBe('pass');
      }
      // No run takes for a fault what an earlier one has left.
      expect([...found]).toHaveLength(1);
    } finally {
      await service.stop();
    }
  });
});

import { appendFileSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import express, { type Request, type Response } from 'express';
import { beforeAll, describe, expect, it } from 'vitest';
import { WebSocketServer } from 'ws';
import { temporaryFolder } from '../../base/fixtures/folder.ts';
import { serving } from '../../base/fixtures/server.ts';
import { conform, resultsIn } from '../../engine/fixtures/conform-process.ts';
import { echoing } from '../../wire/fixtures/ws-endpoint.ts';
import { conformHere } from '../fixtures/in-process.ts';

/** A service of somebody else's that is mounted below a path of its host, as behind a gateway. */

const KEY = 'example-key-for-tests';
const MOUNT = '/gateway/api';
let origin: string;
/** Paths that were asked for and lie elsewhere on the host, which is none of the service's. */
const elsewhere = new Set<string>();

function refuse(response: Response, status: number, title: string): void {
  response.status(status).type('application/problem+json').send(JSON.stringify({ status, title }));
}

beforeAll(async () => {
  const service = express.Router({ caseSensitive: true, strict: true });
  service.use((request, response, next) => {
    response.set({ 'X-Content-Type-Options': 'nosniff', 'Cache-Control': 'private, no-store' });
    if (/^bearer (.*)$/i.exec(request.get('Authorization') ?? '')?.[1] === KEY) return next();
    response.set('WWW-Authenticate', 'Bearer realm="orders"');
    refuse(response, 401, 'A bearer key is needed');
  });
  service.get('/v1/orders', (request: Request, response: Response) => {
    response.json({ orders: [{ id: 'o-1', self: `${request.baseUrl}/v1/orders/o-1` }] });
  });
  service.get('/v1/orders/:id', (request: Request, response: Response) => {
    if (request.params.id === 'o-1') response.json({ id: 'o-1' });
    else refuse(response, 404, 'No such order');
  });
  service.use((_: Request, response: Response) => refuse(response, 404, 'Nothing is here'));
  const app = express();
  app.disable('x-powered-by');
  app.use(MOUNT, service);
  app.use((request: Request, response: Response) => {
    elsewhere.add(request.path);
    refuse(response, 404, 'Nothing is here');
  });
  const server = createServer(app);
  const sockets = new WebSocketServer({ server, path: `${MOUNT}/ws` });
  sockets.on('connection', echoing);
  const { url, stop } = await serving(server);
  origin = url;
  return stop;
});

const json = (schema: object) => ({ description: 'ok', content: { 'application/json': { schema } } });
const document = (servers: readonly object[], prefix: string) => ({
  openapi: '3.1.0',
  info: { title: 'Orders', version: '1' },
  servers,
  security: [{ key: [] }],
  paths: {
    [`${prefix}/orders`]: {
      get: { operationId: 'list', responses: { 200: json({ type: 'object', required: ['orders'] }) } },
    },
    [`${prefix}/orders/{id}`]: {
      get: {
        operationId: 'read',
        parameters: [{ name: 'id', in: 'path', required: true, example: 'o-1' }],
        responses: { 200: json({ type: 'object', required: ['id'] }) },
      },
    },
  },
  components: { securitySchemes: { key: { type: 'http', scheme: 'bearer' } } },
});

const PASSING = [
  'versioning.prefix',
  'versioning.links',
  'operations.status',
  'operations.schema',
  'websocket.handshake',
];

describe('a service below a path', () => {
  it.each([
    ['its base URL has all of it', MOUNT, document([{ url: '/' }], '/v1')],
    ['its base URL and its document share a part', MOUNT, document([{ url: '/api/v1' }], '')],
    ['its document has all of it', '', document([{ url: `https://orders.example${MOUNT}` }], '/v1')],
  ])('is judged there and nowhere else, where %s', async (_, path, openapi) => {
    elsewhere.clear();
    const folder = temporaryFolder({ 'openapi.json': JSON.stringify(openapi) });
    const config = join(folder, 'conformance');
    const asked = `init --service orders --url ${origin}${path} --openapi openapi.json --key-env ORDERS_KEY`;
    const at = ['--config', config];
    const told = await conformHere([...asked.split(' '), ...at], { ORDERS_KEY: KEY }, folder);
    expect(told.stderr).toContain(`GET ${MOUNT}/v1/orders is answered 200: the sample works`);
    const contract = readFileSync(join(config, 'contracts', 'orders.yaml'), 'utf8');
    expect(contract).toContain('key: versioning.prefix');
    const service = join(config, 'services', 'orders.yaml');
    const socket = path === '' ? `${MOUNT}/ws` : '/ws';
    appendFileSync(service, `\nwebsocket: { url: ${socket}, echo: true }\n`);
    const reports = join(folder, 'reports');
    const suites = ['auth', 'status', 'json', 'versioning', 'operations'];
    const checked = ['--check', 'websocket.handshake', ...suites.map((suite) => `${suite}.*`)];
    const args = ['run', 'orders', ...at, '--reports', reports, ...checked];
    await conform(args, { ORDERS_KEY: KEY }, folder).ended;
    const checks = resultsIn(reports).services[0]?.checks ?? [];
    const idsOf = (wanted: string) => checks.flatMap(({ id, outcome }) => (outcome === wanted ? [id] : []));
    expect(idsOf('pass')).toEqual(expect.arrayContaining(PASSING));
    expect(idsOf('fail')).toEqual([]);
    const repeated = checks.flatMap(({ reproduce }) => reproduce ?? []);
    // `OPTIONS *` asks of the server as a whole, and what conform repeats is asked where the config says.
    const there = [`${origin}${MOUNT}`, "OPTIONS --request-target '*'", 'conform run orders --config '];
    expect(repeated.filter((line) => !there.some((place) => line.includes(place)))).toEqual([]);
    expect([...elsewhere].filter((target) => target !== '*')).toEqual([]);
  });
});

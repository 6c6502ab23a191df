import { once } from 'node:events';
import { appendFileSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import express, { type Request, type Response } from 'express';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocketServer } from 'ws';
import { temporaryFolder } from '../../../base/fixtures/folder.ts';
import { readResults } from '../../../report/results/read-results.ts';
import { conform } from '../../../run/fixtures/conform-process.ts';

/** A service of somebody else's that is mounted below a path of its host, as behind a gateway. */

const KEY = 'example-key-for-tests';
const MOUNT = '/gateway/api';
let server: Server;
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
  server = createServer(app).listen(0, '127.0.0.1');
  const sockets = new WebSocketServer({ server, path: `${MOUNT}/ws` });
  sockets.on('connection', (socket) =>
    socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary })),
  );
  await once(server, 'listening');
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(async () => {
  server.closeAllConnections();
  server.close();
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

describe('a service below a path', () => {
  it.each([
    ['its base URL has all of it', MOUNT, document([{ url: '/' }], '/v1')],
    ['its base URL and its document share a part', MOUNT, document([{ url: '/api/v1' }], '')],
    ['its document has all of it', '', document([{ url: `https://orders.example${MOUNT}` }], '/v1')],
  ])('is judged there and nowhere else, where %s', async (_, path, openapi) => {
    elsewhere.clear();
    const folder = temporaryFolder({ 'openapi.json': JSON.stringify(openapi) });
    const config = join(folder, 'conformance');
    const told = await conform(
      [
        'init',
        '--service',
        'orders',
        '--url',
        `${origin}${path}`,
        '--openapi',
        'openapi.json',
        '--key-env',
        'ORDERS_KEY',
        '--config',
        config,
      ],
      { ORDERS_KEY: KEY },
      folder,
    ).ended;
    expect(told.stderr).toContain(`GET ${MOUNT}/v1/orders is answered 200: the sample works`);
    const contract = readFileSync(join(config, 'contracts', 'orders.yaml'), 'utf8');
    expect(contract).toContain('key: versioning.prefix');
    const service = join(config, 'services', 'orders.yaml');
    const socket = path === '' ? `${MOUNT}/ws` : '/ws';
    appendFileSync(service, `\nwebsocket: { url: ${socket}, echo: true }\n`);
    const reports = join(folder, 'reports');
    const suites = ['auth', 'status', 'json', 'versioning', 'operations'];
    await conform(
      [
        'run',
        'orders',
        '--config',
        config,
        '--reports',
        reports,
        '--check',
        'websocket.handshake',
        '--check',
        ...suites.map((suite) => `${suite}.*`),
      ],
      { ORDERS_KEY: KEY },
      folder,
    ).ended;
    const { services } = await readResults(join(reports, 'selection', 'results.json'));
    const checks = services[0]?.checks ?? [];
    const outcome = (id: string) => checks.find((check) => check.id === id)?.outcome;
    expect(
      [
        'versioning.prefix',
        'versioning.links',
        'operations.status',
        'operations.schema',
        'websocket.handshake',
      ].map(outcome),
    ).toEqual(Array(5).fill('pass'));
    expect(
      checks.filter((check) => check.outcome === 'fail').map(({ id, message }) => [id, message]),
    ).toEqual([]);
    const repeated = checks.flatMap(({ reproduce }) => reproduce ?? []);
    // `OPTIONS *` asks of the server as a whole.
    const there = [`${origin}${MOUNT}`, `'GET ${MOUNT}/`, "OPTIONS --request-target '*'"];
    expect(repeated.filter((line) => !there.some((place) => line.includes(place)))).toEqual([]);
    expect([...elsewhere].filter((target) => target !== '*')).toEqual([]);
  });
});

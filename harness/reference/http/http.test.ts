import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import fc from '../../base/fixtures/properties.ts';
import type { ReferenceName } from '../../config/service.ts';
import {
  type Asked,
  ask,
  closed,
  exchangeOctets,
  KEY,
  requestOctets,
  Seen,
  started,
} from '../fixtures/http-client.ts';

const SERVICES: readonly ReferenceName[] = ['search', 'messaging', 'realtime'];

// What the suites ask for, the proof shows: that nothing is raised against the services as they are.
describe.each(SERVICES)('the %s service', (service) => {
  it.each([
    ['no credential, not even for OPTIONS', { authorization: null, method: 'OPTIONS' }, undefined],
    ['the key without a scheme', { authorization: KEY }, undefined],
    ['a wrong key', { authorization: 'Bearer wrong' }, 'invalid_token'],
  ] as const)('refuses %s with 401 and a challenge', async (_, asked: Asked, error) => {
    const seen = await ask(await started(service), asked);
    expect(seen.status).toBe(401);
    expect(seen.all('www-authenticate')[0]).toBe(
      `Bearer realm="${service}"${error === undefined ? '' : `, error="${error}"`}`,
    );
    expect(seen.field('cache-control')).toBe('no-store');
    expect(seen.json).toMatchObject({ type: 'about:blank', title: 'Unauthorized', status: 401 });
  });

  it.each([
    ['a method in lower case', { method: 'get' }, 501, 'Not Implemented'],
    ['malformed percent-encoding', { target: '/v1/%zz' }, 400, 'Bad Request'],
    ['percent-encoding that is no UTF-8', { target: '/v1/%ff' }, 400, 'Bad Request'],
  ] as const)('answers %s as a problem', async (_, asked: Asked, status, title) => {
    const seen = await ask(await started(service), asked);
    expect(seen.status).toBe(status);
    expect(seen.field('content-type')).toBe('application/problem+json');
    expect(seen.field('cache-control')).toBe('no-store');
    expect(seen.json).toMatchObject({ type: 'about:blank', title, status });
  });

  it('continues where that is expected', async () => {
    const provider = await started(service);
    const octets = await exchangeOctets(
      provider,
      requestOctets(service, { fields: [['Expect', '100-continue']] }),
    );
    expect(octets.toString('latin1')).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n/);
  });

  it.each([
    ['no HTTP at all', '\x16\x03\x01\x02\x00garbage\r\n\r\n', 400],
    ['an unreadable field', 'GET / HTTP/1.1\r\nHost: x\r\nBad Name: x\r\n\r\n', 400],
    ['another major version', 'GET / HTTP/9.9\r\nHost: x\r\n\r\n', 505],
    [
      'two framings',
      'GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
      400,
    ],
    ['an endless target', `GET /${'a'.repeat(1 << 20)} HTTP/1.1\r\nHost: x\r\n\r\n`, 414],
    ['an endless field', `GET / HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(1 << 20)}\r\n\r\n`, 431],
    ['a broken chunk', 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n', 400],
  ])('answers %s as a problem and closes', async (_, octets, status) => {
    const seen = new Seen(await exchangeOctets(await started(service), octets));
    expect(seen.status).toBe(status);
    expect(seen.field('connection')).toBe('close');
    expect(seen.field('content-type')).toBe('application/problem+json');
    expect(seen.json).toMatchObject({ status });
  });

  it('refuses CONNECT, and content that is too large, with an answer', async () => {
    const provider = await started(service);
    expect((await ask(provider, { method: 'CONNECT', target: 'elsewhere.example:443' })).status).toBe(501);
    expect((await ask(provider, { method: 'POST', body: 'x'.repeat(2 << 20) })).status).toBe(413);
  });

  it('stops with connections open', async () => {
    const provider = await started(service);
    const octets = requestOctets(service, { bare: true, fields: [['Host', 'x']] });
    const socket = connect(provider.port, '127.0.0.1');
    // Half a request is cut off: the client may well see a reset.
    socket.on('error', () => undefined);
    socket.write(octets);
    // An answer, a connection kept open, and the beginning of another request.
    await once(socket, 'data');
    socket.write('GET / HTTP/1.1\r\n');
    await Promise.all([provider.stop(), provider.stop(), closed(socket)]);
  });
});

describe('noise', () => {
  it('is answered or closed, and the service goes on', async () => {
    const provider = await started('realtime');
    const whole = requestOctets('realtime', { body: 'content', fields: [['X-Note', 'noise']] });
    const noise = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 200 }),
      fc
        .tuple(fc.nat(whole.length), fc.string({ unit: 'binary-ascii', maxLength: 3 }), fc.nat(10))
        .map(([at, inserted, removed]) => whole.slice(0, at) + inserted + whole.slice(at + removed)),
    );
    await fc.assert(
      fc.asyncProperty(noise, async (octets) => {
        const socket = connect(provider.port, '127.0.0.1')
          .on('error', () => undefined)
          .resume();
        socket.end(octets, 'latin1');
        await closed(socket);
      }),
    );
    expect((await ask(provider)).status).toBe(200);
  });
});

describe('the REST services', () => {
  it.each(['search', 'messaging'] as const)('%s serves what its list links to', async (service) => {
    const provider = await started(service);
    const list = (await ask(provider)).text;
    const links = [...list.matchAll(/"self":"([^"]+)"/g)].map((match) => match[1] ?? '');
    expect(links.length).toBeGreaterThan(3);
    for (const target of links) expect((await ask(provider, { target })).status).toBe(200);
  });

  it('hold names of paths to the letter, and percent-encoding to its meaning', async () => {
    const provider = await started('search');
    const status = async (target: string): Promise<number> => (await ask(provider, { target })).status;
    expect(await status('/V1/resources')).toBe(404);
    expect(await status('/v1/resources/')).toBe(404);
    expect(await status('/v1//resources')).toBe(404);
    expect(await status('/resources')).toBe(404);
    expect(await status('/v1/%72esources')).toBe(200);
  });
});

describe('the log', () => {
  it('says in the log what was asked, without the query', async () => {
    const entries: unknown[] = [];
    const provider = await started('search', { log: (entry) => entries.push(entry) });
    await ask(provider, { target: `/v1/resources?api_key=${createHash('md5').update('x').digest('hex')}` });
    expect(entries).toEqual([{ method: 'GET', path: '/v1/resources', status: 200 }]);
  });
});

describe('a crowd', () => {
  it('is served up to a bound, and the service goes on when it has left', async () => {
    const provider = await started('search');
    const { hostname, port } = new URL(provider.url);
    const sockets = Array.from({ length: 600 }, () =>
      connect(Number(port), hostname).on('error', () => undefined),
    );
    const hungUp = () => sockets.filter((socket) => socket.closed).length;
    await expect.poll(hungUp).toBe(600 - 512);
    for (const socket of sockets) socket.destroy();
    await expect.poll(async () => (await ask(provider).catch(() => null))?.status).toBe(200);
  });
});

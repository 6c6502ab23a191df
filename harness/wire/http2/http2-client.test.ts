import { once } from 'node:events';
import type { Http2Server, ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { portOf } from '../../base/loopback.ts';
import { http2 } from '../../base/node-http.ts';
import type { ExchangeFailureKind } from '../exchange.ts';
import { type Handler, listen, writing } from '../fixtures/loopback.ts';
import { about, GET, impatient, knowingSecret, SECRET, setting } from '../fixtures/setting.ts';
import type { HttpOptions } from '../http/transport.ts';
import type { HttpRequest } from '../request.ts';
import { detectHttp2, openHttp2 } from './http2-client.ts';

function open(baseUrl: string, overrides: Partial<HttpOptions> = {}) {
  const transport = openHttp2({ ...setting(baseUrl), ...overrides });
  onTestFinished(() => transport.close());
  return transport;
}

type Answering = (stream: ServerHttp2Stream, raw: readonly string[], server: Http2Server) => void;

async function serving(
  answer: Answering,
): Promise<{ readonly url: string; readonly connections: () => number }> {
  const server = http2().createServer();
  let connections = 0;
  server.on('session', (session) => {
    connections += 1;
    session.on('error', () => undefined);
    onTestFinished(() => session.destroy());
  });
  server.on('stream', (stream, _headers, _flags, raw) => {
    stream.on('error', () => undefined);
    answer(stream, raw as unknown as readonly string[], server);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${portOf(server)}`, connections: () => connections };
}

const ok: Answering = (stream) => {
  stream.respond({ ':status': 200, 'content-type': 'application/json' });
  stream.end('{}');
};

describe('an exchange over HTTP/2', () => {
  it('is recorded with fields in order, duplicates, interim responses and trailers', async () => {
    const { url } = await serving((stream) => {
      stream.additionalHeaders({ ':status': 103, link: '</a>' });
      stream.respond(
        { ':status': 200, 'x-b': '1', 'set-cookie': ['a=1', 'b=2'], 'x-a': 'é' },
        { waitForTrailers: true },
      );
      stream.on('wantTrailers', () => stream.sendTrailers({ 'server-timing': 'a' }));
      stream.end('{}');
    });
    const exchange = await open(url).send(GET, about());
    expect(exchange).toMatchObject({
      request: { httpVersion: '2', method: 'GET', target: '/' },
      failure: null,
      response: {
        status: 200,
        reason: null,
        httpVersion: '2',
        trailers: [['server-timing', 'a']],
        informational: [{ status: 103, fields: [['link', '</a>']] }],
        body: { received: 2, truncated: false },
        framingFaults: null,
      },
    });
    expect(exchange.response?.fields.slice(0, 4)).toEqual([
      ['x-b', '1'],
      ['set-cookie', 'a=1'],
      ['set-cookie', 'b=2'],
      ['x-a', 'é'],
    ]);
  });

  it.each<[string, HttpRequest]>([
    ['a plain GET', GET],
    ['a POST with content', { ...GET, method: 'POST', body: Buffer.from('{}') }],
    ['a POST without content', { ...GET, method: 'POST' }],
    ['an unknown method', { ...GET, method: 'BREW' }],
    ['a Host of its own', { ...GET, fields: [['Host', 'other.example:81']] }],
    [
      'duplicates',
      {
        ...GET,
        fields: [
          ['X-A', '1'],
          ['x-b', '2'],
          ['x-a', '3'],
        ],
      },
    ],
    ['octets above ASCII', { ...GET, fields: [['X-A', 'Ã©']], target: '/a/../b//%zz?x=\xe9' }],
  ])('records %s exactly as the server sees it', async (_what, request) => {
    let seen: readonly string[] = [];
    const { url } = await serving((stream, raw, server) => {
      seen = raw;
      ok(stream, raw, server);
    });
    const { request: sent } = await open(url).send(request, about());
    const host = sent.fields.find(([name]) => name === 'host')?.[1];
    const others = sent.fields.filter(([name]) => name !== 'host').flat();
    const pseudo = [':method', sent.method, ':scheme', 'http', ':authority', host, ':path', sent.target];
    expect(seen).toEqual([...pseudo, ...others]);
  });

  it('shares a connection with those before it and beside it', async () => {
    const { url, connections } = await serving(ok);
    const http = open(url, { connections: 8 });
    const all = await Promise.all(Array.from({ length: 20 }, () => http.send(GET, about())));
    expect(all.every(({ response }) => response?.status === 200)).toBe(true);
    expect(connections()).toBe(1);
  });

  it('keeps secrets out of the evidence', async () => {
    const { url } = await serving((stream) => {
      stream.respond({ ':status': 200, 'x-echo': SECRET });
      stream.end(SECRET);
    });
    const fields = [['Authorization', `Bearer ${SECRET}`]] as const;
    const exchange = await open(url, knowingSecret()).send({ ...GET, fields }, about());
    const { response, request } = exchange;
    expect(JSON.stringify(request.fields) + JSON.stringify(response?.fields)).not.toContain(SECRET);
    expect(Buffer.from(response?.body.bytes ?? []).toString()).toBe('[redacted:TEST_KEY]');
  });

  it('is sent once more where the stream was refused, or GOAWAY leaves it out', async () => {
    const codes = [7, 0];
    let asked = 0;
    const { url, connections } = await serving((stream, raw, server) => {
      asked += 1;
      const code = codes[asked - 1];
      if (code === 7) stream.close(7);
      else ok(stream, raw, server);
    });
    const exchange = await open(url).send(GET, about());
    expect(exchange.response?.status).toBe(200);
    expect(exchange.connection?.replaced).toContain('REFUSED_STREAM');
    expect([asked, connections()]).toEqual([2, 1]);
  });

  it('goes to another connection after GOAWAY', async () => {
    const { url, connections } = await serving((stream, raw, server) => {
      stream.session?.goaway(0);
      ok(stream, raw, server);
    });
    const http = open(url);
    for (let count = 0; count < 200; count++)
      expect((await http.send(GET, about())).response?.status).toBe(200);
    expect(connections()).toBe(200);
  });

  it('is answered in a burst whose server goes away after the first answer of each connection', async () => {
    const left = new WeakSet<object>();
    const { url } = await serving((stream, raw, server) => {
      // A second GOAWAY of Node names a later stream, against RFC 9113 §6.8.
      if (stream.session && !left.has(stream.session)) stream.session.goaway(0);
      if (stream.session) left.add(stream.session);
      ok(stream, raw, server);
    });
    const http = open(url, { connections: 20 });
    for (let count = 0; count < 10; count++) {
      const burst = await Promise.all(Array.from({ length: 20 }, () => http.send(GET, about())));
      expect(burst.map(({ response, failure }) => response?.status ?? failure)).toEqual(
        Array.from({ length: 20 }, () => 200),
      );
    }
  });

  it('is answered beside a stream that is reset', async () => {
    const { url } = await serving(ok);
    const exchange = await open(url).send(GET, { ...about(), besideReset: true });
    expect(exchange.response?.status).toBe(200);
  });
});

const frame = (
  type: number,
  flags: number,
  stream: number,
  payload: Uint8Array = Buffer.alloc(0),
): Buffer => {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
};
const SETTINGS = frame(4, 0, 0);
/** `:status: 200` of the static table (RFC 7541, appendix A). */
const OK_HEAD = frame(1, 4, 1, Buffer.from([0x88]));
const literal = (name: string, value: string) =>
  Buffer.concat([
    Buffer.from([0, name.length]),
    Buffer.from(name),
    Buffer.from([value.length]),
    Buffer.from(value),
  ]);
const withField = (name: string, value: string) =>
  frame(1, 5, 1, Buffer.concat([Buffer.from([0x88]), literal(name, value)]));
const endless =
  (octets: Buffer): Handler =>
  (socket) => {
    socket.write(SETTINGS);
    const more = () => {
      if (!socket.destroyed) socket.write(Buffer.concat(Array(200).fill(octets)), () => setImmediate(more));
    };
    more();
  };

/** The type, the flags and the stream of a HEADERS frame of the first stream. */
const FIRST_HEADERS = ['\x01\x05\0\0\0\x01', '\x01\x04\0\0\0\x01', '\x01\x25\0\0\0\x01'];

/** Greets, and calls back once the first request is there. */
function answering(socket: Socket, asked: () => void): void {
  let octets = '';
  socket.write(SETTINGS);
  const received = (more: Buffer) => {
    octets += more.toString('latin1');
    // A HEADERS frame of the first stream.
    if (!FIRST_HEADERS.some((head) => octets.includes(head))) return;
    socket.off('data', received);
    asked();
  };
  socket.on('data', received);
}

describe('what a provider does wrong in HTTP/2 becomes a failure, never an exception', () => {
  it.each<[string, ExchangeFailureKind, number | null, Handler]>([
    ['speaks HTTP/1.1', 'malformed', null, writing('HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n')],
    ['closes without an answer', 'closed', null, (socket) => socket.end()],
    ['resets the connection', 'reset', null, (socket) => socket.resetAndDestroy()],
    [
      'resets the stream',
      'reset',
      null,
      writing(Buffer.concat([SETTINGS, frame(3, 0, 1, Buffer.from([0, 0, 0, 2]))])),
    ],
    [
      'resets the stream within the body',
      'reset',
      200,
      writing(
        Buffer.concat([
          SETTINGS,
          OK_HEAD,
          frame(0, 0, 1, Buffer.from('{}')),
          frame(3, 0, 1, Buffer.from([0, 0, 0, 8])),
        ]),
      ),
    ],
    [
      'closes within the body',
      'closed',
      200,
      (socket) => void socket.end(Buffer.concat([SETTINGS, OK_HEAD])),
    ],
    ['is silent', 'response-timeout', null, writing(SETTINGS)],
    ['says nothing at all', 'response-timeout', null, () => undefined],
    ['stops within the body', 'response-timeout', 200, writing(Buffer.concat([SETTINGS, OK_HEAD]))],
    [
      'sends a name in capitals',
      'malformed',
      null,
      writing(Buffer.concat([SETTINGS, withField('X-Up', '1')])),
    ],
    [
      'sends a connection field',
      'malformed',
      null,
      writing(Buffer.concat([SETTINGS, withField('connection', 'close')])),
    ],
    [
      'sends a pseudo-header behind fields',
      'malformed',
      null,
      writing(Buffer.concat([SETTINGS, withField(':status', '200')])),
    ],
    [
      'sends less than Content-Length',
      'malformed',
      200,
      writing(
        Buffer.concat([
          SETTINGS,
          frame(1, 4, 1, Buffer.concat([Buffer.from([0x88]), literal('content-length', '9')])),
          frame(0, 1, 1, Buffer.from('{}')),
        ]),
      ),
    ],
    [
      'pushes',
      'response-timeout',
      null,
      writing(Buffer.concat([SETTINGS, frame(5, 4, 1, Buffer.from([0, 0, 0, 2, 0x82, 0x86, 0x84]))])),
    ],
    ['sends SETTINGS without end', 'malformed', null, endless(SETTINGS)],
    ['sends PING without end', 'malformed', null, endless(frame(6, 0, 0, Buffer.alloc(8)))],
    [
      'sends empty DATA without end',
      'malformed',
      200,
      (socket, at) => {
        socket.write(Buffer.concat([SETTINGS, OK_HEAD]));
        endless(frame(0, 0, 1))(socket, at);
      },
    ],
    [
      'sends CONTINUATION without end',
      'malformed',
      null,
      (socket, at) => {
        socket.write(SETTINGS);
        socket.write(frame(1, 0, 1, Buffer.from([0x88])));
        endless(frame(9, 0, 1, literal('x-a', 'a')))(socket, at);
      },
    ],
    [
      'sends interim responses without end',
      'fields-too-large',
      null,
      endless(frame(1, 4, 1, Buffer.concat([literal(':status', '102'), literal('x-a', 'a'.repeat(100))]))),
    ],
    [
      'sends a body without end',
      'body-too-large',
      200,
      writing(Buffer.concat([SETTINGS, OK_HEAD, ...Array(3).fill(frame(0, 0, 1, Buffer.alloc(16_000)))])),
    ],
  ])('%s: %s', async (_what, kind, status, answer) => {
    const server = await listen((socket, index) => {
      socket.on('error', () => undefined);
      if (_what === 'speaks HTTP/1.1') socket.once('data', () => answer(socket, index));
      else answering(socket, () => answer(socket, index));
    });
    const limited = { limits: { bodyBytes: 1000 }, ...(kind === 'response-timeout' && impatient()) };
    const { failure, response } = await open(server.url, limited).send(GET, about());
    expect([failure?.kind, response?.status ?? null, failure?.message]).toEqual([
      kind,
      status,
      expect.any(String),
    ]);
  });

  it('refuses each connection by GOAWAY: asked four times, and no more', async () => {
    let connections = 0;
    const server = await listen((socket) => {
      connections += 1;
      socket.on('error', () => undefined);
      socket.once('data', () => socket.write(Buffer.concat([SETTINGS, frame(7, 0, 0, Buffer.alloc(8))])));
    });
    const { failure } = await open(server.url).send(GET, about());
    expect([failure?.kind, connections]).toEqual(['closed', 4]);
  });

  it('never opens its window: the request ends at its deadline', async () => {
    const closed = frame(4, 0, 0, Buffer.from([0, 4, 0, 0, 0, 0]));
    const server = await listen((socket) => socket.once('data', () => socket.write(closed)));
    const request = { ...GET, method: 'POST', body: Buffer.alloc(100_000) };
    const { failure } = await open(server.url, impatient()).send(request, about());
    expect(failure?.kind).toBe('response-timeout');
  });
});

describe('detection', () => {
  it('tells a server of HTTP/2 from others', async () => {
    const { url } = await serving(ok);
    const other = await listen((socket) =>
      socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')),
    );
    const { signal } = new AbortController();
    expect(await detectHttp2(setting(url), signal)).toBe(true);
    expect(await detectHttp2(setting(other.url), signal)).toBe(false);
  });
});

describe('a stream without an end over HTTP/2', () => {
  it('is listened to, and left', async () => {
    const { url } = await serving((stream) => {
      stream.respond({ ':status': 200, 'content-type': 'text/event-stream' });
      stream.write('data: 1\n\ndata: 2\n\ndata');
    });
    const listened = { ...about(), listen: { items: 2, forMs: 170_000 } };
    expect(await open(url).send(GET, listened)).toMatchObject({
      failure: null,
      response: { body: { truncated: true, bytes: new Uint8Array(Buffer.from('data: 1\n\ndata: 2\n\n')) } },
      stream: { arrivals: [expect.any(Number), expect.any(Number)], left: 'items' },
    });
  });
});

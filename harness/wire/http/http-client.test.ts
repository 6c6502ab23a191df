import type { Socket } from 'node:net';
import { deflateRawSync, deflateSync, gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { HarnessError } from '../../base/exit.ts';
import { FRAMING_FAULT } from '../exchange/framing-faults.ts';
import type { Exchange } from '../exchange.ts';
import { fieldValues } from '../fields/grammar/field-grammar.ts';
import { answerEach, ending, type Handler, listen, writing } from '../fixtures/loopback.ts';
import { about, GET, impatient, knowingSecret, OK, SECRET, setting } from '../fixtures/setting.ts';
import type { HttpRequest } from '../request.ts';
import { openHttp } from './http-client.ts';
import type { HttpAbout, HttpOptions } from './transport.ts';

function open(baseUrl: string, overrides: Partial<HttpOptions> = {}) {
  const transport = openHttp({ ...setting(baseUrl), ...overrides });
  onTestFinished(() => transport.close());
  return transport;
}

const HEAD = 'HTTP/1.1 200 OK\r\n';

/** One GET to a server that does this to its connection once the request head is in. */
async function get(
  answer: Handler,
  overrides: Partial<HttpOptions> = {},
  request: HttpRequest = GET,
): Promise<Exchange> {
  const server = await listen((socket, index) => socket.once('data', () => answer(socket, index)));
  return open(server.url, overrides).send(request, about());
}

const ACCEPT = ['Accept', '*/*'] as const;

/** Answers with this content, in the coding that is named. */
function ofCoding(coding: string, content: Uint8Array): Handler {
  const named = coding === '' ? '' : `Content-Encoding: ${coding}\r\n`;
  return ending(
    Buffer.concat([Buffer.from(`${HEAD}${named}Content-Length: ${content.length}\r\n\r\n`), content]),
  );
}

describe('an ordinary exchange', () => {
  it('is recorded with fields as received, version, reason and times', async () => {
    const exchange = await get(
      ending(
        'HTTP/1.1 200 Fine\r\nX-b: 1\r\nX-A:2\r\nx-B: \xe9\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}',
      ),
    );
    expect(exchange.failure).toBeNull();
    expect(exchange.response).toMatchObject({
      status: 200,
      reason: 'Fine',
      httpVersion: '1.1',
      fields: [
        ['X-b', '1'],
        ['X-A', '2'],
        ['x-B', 'Ã©'],
        ['Content-Length', '2'],
        ['Connection', 'close'],
      ],
      body: { received: 2, truncated: false },
      framingFaults: [],
    });
    expect(exchange.timing.connectMs).toBeGreaterThanOrEqual(0);
    expect(exchange.timing.responseMs).toBeGreaterThanOrEqual(exchange.timing.connectMs ?? Number.NaN);
    expect(exchange.timing.durationMs).toBeGreaterThanOrEqual(exchange.timing.responseMs ?? Number.NaN);
    expect(exchange.timing.startedAt).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  });

  // RFC 9112 §5.1: it is no part of the value.
  it.each([' ', '\t', ' \t '])('is whole with white space behind its length: %j', async (space) => {
    const exchange = await get(writing(`${HEAD}Content-Length:${space}2${space}\r\n\r\n{}`));
    expect(exchange.failure).toBeNull();
    expect(exchange.response).toMatchObject({ status: 200, body: { received: 2 }, framingFaults: [] });
  });

  it.each<[string, HttpRequest]>([
    ['a plain GET', GET],
    ['a HEAD', { ...GET, method: 'HEAD' }],
    ['a POST with content', { ...GET, method: 'POST', body: Buffer.from('{}') }],
    ['a POST without content', { ...GET, method: 'POST' }],
    ['a GET with content', { ...GET, body: Buffer.from('{}') }],
    ['an unknown method', { ...GET, method: 'BREW' }],
    ['connection: close', { ...GET, fields: [['Connection', 'close'], ACCEPT] }],
    ['a Host of its own', { ...GET, fields: [ACCEPT, ['Host', 'other.example:81']] }],
    ['a User-Agent of its own', { ...GET, fields: [['user-agent', 'other']] }],
    ['no User-Agent', { ...GET, withoutUserAgent: true }],
    [
      'duplicate fields',
      {
        ...GET,
        fields: [
          ['Authorization', 'a'],
          ['authorization', 'b'],
        ],
      },
    ],
    ['octets above ASCII', { ...GET, fields: [['X-A', 'Ã©']], target: '/a/../b//%zz?x=\xe9' }],
  ])('records %s exactly as the server sees it', async (_what, request) => {
    const heads: string[] = [];
    const server = await listen((socket) =>
      socket.on('data', (octets) => {
        heads.push(octets.toString('latin1').split('\r\n\r\n')[0] ?? '');
        socket.end('HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n');
      }),
    );
    const { request: recorded } = await open(server.url).send(request, about());
    const lines = [
      `${recorded.method} ${recorded.target} HTTP/1.1`,
      ...recorded.fields.map(([name, value]) => `${name}: ${value}`),
    ];
    expect(heads[0]).toBe(lines.join('\r\n'));
    expect(recorded.url).toBe(`${server.url}${request.target}`);
  });

  it('has another User-Agent and nothing that tells of a run where the config says so', async () => {
    const server = await listen(ending(OK));
    const client = open(server.url, { headers: [['user-agent', ['Mozilla/5.0']]] });
    const { request } = await client.send(GET, about());
    expect(fieldValues(request.fields, 'user-agent')).toEqual(['Mozilla/5.0']);
    expect(fieldValues(request.fields, 'x-conform-run')).toEqual([]);
    const without = await client.send({ ...GET, withoutUserAgent: true }, about());
    expect(fieldValues(without.request.fields, 'user-agent')).toEqual([]);
  });

  it('carries the run id in two fields', async () => {
    const { request } = await get(ending(OK));
    expect(fieldValues(request.fields, 'user-agent')).toEqual(['conform/0.0.0 (run run-for-tests)']);
    expect(fieldValues(request.fields, 'x-conform-run')).toEqual(['run-for-tests']);
  });

  it('honours a path in the base URL', async () => {
    const seen: string[] = [];
    const server = await listen(answerEach(OK, (head) => seen.push(head.split(' ')[1] ?? '')));
    const { request } = await open(`${server.url}/api/`).send(GET, about());
    expect(seen).toEqual(['/api/']);
    expect(request.url).toBe(`${server.url}/api/`);
  });

  it('keeps compressed content compressed', async () => {
    const content = gzipSync('{"a":1}');
    const { response } = await get(ofCoding('gzip', content));
    expect(Buffer.from(response?.body.bytes ?? [])).toEqual(content);
  });

  it('does not follow a redirect', async () => {
    const server = await listen(
      answerEach('HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n'),
    );
    const { response } = await open(server.url).send(GET, about());
    expect(response?.status).toBe(302);
    expect(server.accepted()).toBe(1);
  });

  it('keeps interim responses, a 100 that nobody asked for among them', async () => {
    const { response, failure } = await get(
      ending(`HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${OK}`),
    );
    expect(failure).toBeNull();
    expect(response).toMatchObject({
      status: 200,
      informational: [
        { status: 100, fields: [] },
        { status: 103, fields: [['Link', '</a>']] },
      ],
    });
  });

  it('keeps trailers', async () => {
    const { response } = await get(
      ending('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nX-Sum: 1\r\n\r\n'),
    );
    expect(response).toMatchObject({ trailers: [['X-Sum', '1']], framingFaults: [] });
    expect(Buffer.from(response?.body.bytes ?? []).toString()).toBe('{}');
  });
});

describe('what a provider does wrong becomes a failure, never an exception', () => {
  it('unresolved: a name that never resolves (RFC 6761)', async () => {
    const exchange = await open(`http://${'a'.repeat(64)}.invalid`).send(GET, about());
    expect(exchange.failure?.kind).toBe('unresolved');
  });

  it.each([
    ['bare LF at the end of lines', 'HTTP/1.1 200 OK\nContent-Length: 2\n\n{}'],
    ['NUL in a field', `${HEAD}X-A: a\0b\r\nContent-Length: 2\r\n\r\n{}`],
  ])('malformed: %s, which HTTP clients refuse', async (_what, octets) => {
    const exchange = await get(ending(octets));
    expect(exchange).toMatchObject({ failure: { kind: 'malformed' }, response: { status: 200 } });
  });

  it('connect-timeout: nobody takes the connection', async () => {
    // TEST-NET-1 (RFC 5737) answers nobody; where it is unroutable, that is told at once.
    const exchange = await open('http://192.0.2.1:9', { timeouts: { connectMs: 100, responseMs: 100 } }).send(
      GET,
      about(),
    );
    expect(['connect-timeout', 'refused']).toContain(exchange.failure?.kind);
  });

  it('body-too-large: a body without end is cut, and not read on', async () => {
    let sent = 0;
    const exchange = await get(
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        const more = () => {
          sent += 1;
          if (!socket.destroyed) socket.write(Buffer.alloc(65_536, 'x'), () => setImmediate(more));
        };
        more();
      },
      { limits: { bodyBytes: 1000 } },
    );
    expect(exchange.failure?.kind).toBe('body-too-large');
    expect(exchange.response?.body).toMatchObject({ truncated: true });
    expect(exchange.response?.body.bytes.length).toBe(1000);
    expect(sent).toBeGreaterThan(0);
  });

  it('not-sent: an aborted run', async () => {
    const abort = new AbortController();
    const server = await listen((socket) => socket.once('data', () => abort.abort(new Error('run aborted'))));
    const transport = open(server.url);
    const under = await transport.send(GET, about({ signal: abort.signal }));
    expect(under.failure).toEqual({
      kind: 'not-sent',
      message: 'aborted while the response was awaited: run aborted',
    });
    const after = await transport.send(GET, about({ signal: abort.signal }));
    expect(after.failure?.kind).toBe('not-sent');
    expect(server.accepted()).toBe(1);
  });

  it('keeps what came of a malformed answer', async () => {
    const { response } = await get(ending('HTTP/1.1 200 OK\r\nX-A : 1\r\nContent-Length: 2\r\n\r\n{}'));
    expect(response).toMatchObject({ framingFaults: [FRAMING_FAULT.spaceBeforeColon] });
    expect(fieldValues(response?.fields ?? [], 'x-a')).toEqual(['1']);
  });

  it('an unasked-for 101 is an answer like any other', async () => {
    const { response, failure } = await get(
      writing('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'),
    );
    expect(failure).toBeNull();
    expect(response?.status).toBe(101);
  });
});

describe('connections', () => {
  /** A server that does this to its connections, and what sends to it: on a fresh connection, or on one that is kept. */
  async function connected(handler: Handler, overrides: Partial<HttpOptions> = {}) {
    const server = await listen(handler);
    const transport = open(server.url, overrides);
    const send = (request = GET, more: Partial<HttpAbout> = {}) =>
      transport.send(request, { ...about(), ...more });
    const sendAlike = (request = GET, more: Partial<HttpAbout> = {}) =>
      send(request, { ...more, onKept: true });
    return { server, transport, send, sendAlike };
  }

  it('a request has one of its own', async () => {
    const { server, send } = await connected(answerEach(OK));
    const exchanges = [await send(), await send()];
    expect(server.accepted()).toBe(2);
    expect(exchanges.map(({ connection }) => connection?.reused)).toEqual([false, false]);
  });

  it('requests that are to share one that is kept alive do', async () => {
    const { server, sendAlike } = await connected(answerEach(OK));
    const exchanges = [await sendAlike(), await sendAlike(), await sendAlike()];
    expect(server.accepted()).toBe(1);
    expect(exchanges.map(({ connection }) => connection?.reused)).toEqual([false, true, true]);
    expect(exchanges.map(({ timing }) => timing.connectMs === null)).toEqual([false, true, true]);
  });

  it('parallel requests wait for one another, up to the number of connections', async () => {
    const third = Promise.withResolvers<void>();
    let requests = 0;
    const { server, send } = await connected(
      (socket) =>
        socket.on('data', () => {
          requests += 1;
          if (requests === 3) third.resolve();
        }),
      { connections: 3, ...impatient() },
    );
    const sent = Array.from({ length: 4 }, () => send());
    await third.promise;
    expect(server.accepted()).toBe(3);
    await Promise.all(sent);
    expect(server.accepted()).toBe(4);
  });

  it('a request of an unsafe method never goes on a used one', async () => {
    const { sendAlike } = await connected(answerEach(OK));
    await sendAlike();
    expect((await sendAlike({ ...GET, method: 'POST' })).connection?.reused).toBe(false);
  });

  it.each(['FIN', 'RST'])(
    'one that the server closes while idle (%s) is not the provider failing',
    async (how) => {
      const { server, sendAlike } = await connected((socket, index) => {
        socket.once('data', () => {
          socket.write(OK);
          if (index > 0) return;
          // The second request goes out before the end of the connection can be seen.
          socket.once('data', () => (how === 'FIN' ? socket.end() : socket.resetAndDestroy()));
        });
      });
      await sendAlike();
      const exchange = await sendAlike();
      expect(exchange).toMatchObject({ failure: null, response: { status: 200 } });
      expect(exchange.connection).toMatchObject({ reused: false });
      expect(exchange.connection?.replaced).toMatch(/^the connection was gone: /);
      expect(server.accepted()).toBe(2);
    },
  );

  it('one that the server has closed before is just not used', async () => {
    const closed = Promise.withResolvers<void>();
    const { sendAlike } = await connected((socket, index) => {
      socket.once('data', () => {
        if (index > 0) socket.write(OK);
        else socket.end(OK);
      });
      if (index === 0) socket.on('close', () => closed.resolve());
    });
    await sendAlike();
    await closed.promise;
    const exchange = await sendAlike();
    expect(exchange).toMatchObject({ failure: null, connection: { reused: false, replaced: null } });
  });

  it('a request is never repeated once an octet of an answer has come', async () => {
    let requests = 0;
    const { sendAlike } = await connected((socket) => {
      socket.on('data', () => {
        requests += 1;
        if (requests === 1) socket.write(OK);
        else socket.end('H');
      });
    });
    await sendAlike();
    const exchange = await sendAlike();
    expect(exchange).toMatchObject({
      failure: { kind: 'closed' },
      connection: { reused: true, replaced: null },
    });
    expect(requests).toBe(2);
  });

  it('a request is never repeated when it failed on a fresh connection', async () => {
    const { server, send } = await connected((socket) => socket.once('data', () => socket.end()));
    await send();
    expect(server.accepted()).toBe(1);
  });

  it('a connection with octets after the body is not used again', async () => {
    const { sendAlike } = await connected(answerEach(`${OK}surplus`));
    const first = await sendAlike();
    const second = await sendAlike();
    expect(first.response?.framingFaults).toEqual([FRAMING_FAULT.bytesAfterBody]);
    expect(second).toMatchObject({ failure: null, connection: { reused: false } });
  });

  const IDLE = 'HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n';

  it('a connection whose response comes together with a 408 for idleness is not used again', async () => {
    const { sendAlike } = await connected(answerEach(OK + IDLE));
    const first = await sendAlike();
    const second = await sendAlike();
    expect(first).toMatchObject({ failure: null, response: { status: 200, framingFaults: [] } });
    expect(second).toMatchObject({ failure: null, connection: { reused: false, replaced: null } });
  });

  // RFC 9110 §15.5.9: it was on its way when the next request went out.
  it('a 408 for idleness is never taken for the answer to the next request', async () => {
    const { server, sendAlike } = await connected((socket, index) => {
      socket.once('data', () => {
        socket.write(OK);
        if (index === 0) socket.once('data', () => socket.end(IDLE));
      });
    });
    await sendAlike();
    const exchange = await sendAlike();
    expect(exchange).toMatchObject({ failure: null, response: { status: 200 } });
    expect(exchange.connection).toMatchObject({
      reused: false,
      replaced: 'the connection was gone: it had been idle for too long',
    });
    expect(server.accepted()).toBe(2);
  });

  it('a 408 on a fresh connection is the answer', async () => {
    const { server, send } = await connected((socket) => socket.once('data', () => socket.end(IDLE)));
    expect((await send()).response?.status).toBe(408);
    expect(server.accepted()).toBe(1);
  });

  const SECOND = 'HTTP/1.1 200 OK\r\nX-Late: 1\r\nContent-Length: 2\r\n\r\n{}';
  const heard = () => {
    const { promise, resolve } = Promise.withResolvers<string>();
    return { octets: promise, unasked: (octets: Uint8Array) => resolve(Buffer.from(octets).toString()) };
  };

  it('a second response after the next request was sent is told, and never taken for its answer', async () => {
    const { octets, unasked } = heard();
    let first: Socket | null = null;
    const { send } = await connected((socket) =>
      socket.on('data', () => {
        if (first === null) {
          first = socket;
          first.write(OK);
        } else {
          first.write(SECOND);
          void octets.then(() => socket.write(OK));
        }
      }),
    );
    await send(GET, { unasked });
    const second = await send();
    expect(second).toMatchObject({ failure: null, response: { status: 200 } });
    expect(fieldValues(second.response?.fields ?? [], 'x-late')).toEqual([]);
    expect(await octets).toBe(SECOND);
  });

  it('a second response before the next request is told, and the connection not used again', async () => {
    const { octets, unasked } = heard();
    const late = Promise.withResolvers<void>();
    const { sendAlike } = await connected((socket, index) => {
      socket.on('data', () => socket.write(OK));
      if (index === 0) void late.promise.then(() => socket.write(SECOND));
    });
    await sendAlike(GET, { unasked });
    late.resolve();
    expect(await octets).toBe(SECOND);
    const second = await sendAlike();
    expect(second).toMatchObject({ failure: null, connection: { reused: false } });
    expect(fieldValues(second.response?.fields ?? [], 'x-late')).toEqual([]);
  });

  it('some stand ready where requests follow one another, and each is asked once', async () => {
    const asked: number[] = [];
    const { server, send } = await connected(
      (socket, index) =>
        socket.on('data', () => {
          asked.push(index);
          socket.write(OK);
        }),
      { ahead: 2 },
    );
    for (let times = 0; times < 4; times++) expect((await send()).failure).toBeNull();
    expect(asked.toSorted()).toEqual([0, 1, 2, 3]);
    expect(server.accepted()).toBe(6);
  });

  it.each<[string, (socket: Socket) => void]>([
    ['speaks', (socket) => socket.write(SECOND)],
    ['ends', (socket) => socket.end()],
    ['is reset', (socket) => socket.resetAndDestroy()],
  ])('one that %s before anything was asked is not used', async (_what, unfit) => {
    const { send } = await connected(
      (socket, index) => {
        if (index === 1) unfit(socket);
        else socket.on('data', () => socket.write(OK));
      },
      { ahead: 2 },
    );
    for (let times = 0; times < 4; times++) {
      const { failure, response } = await send();
      expect([failure, fieldValues(response?.fields ?? [], 'x-late')]).toEqual([null, []]);
    }
  });

  it('close ends what is under way', async () => {
    const { transport, send } = await connected((socket) =>
      socket.once('data', () => void transport.close()),
    );
    expect((await send()).failure?.kind).toBe('not-sent');
    await expect(send()).rejects.toThrow(HarnessError);
  });
});

describe('secrets', () => {
  it('are taken out of everything that is recorded, on both sides', async () => {
    const exchange = await get(
      (socket) =>
        socket.end(`HTTP/1.1 200 ${SECRET}\r\nX-Echo: ${SECRET}\r\nContent-Length: 21\r\n\r\n${SECRET}`),
      knowingSecret(),
      { ...GET, target: `/v1?key=${SECRET}`, fields: [['Authorization', `Bearer ${SECRET}`]] },
    );
    expect(exchange.response?.status).toBe(200);
    expect(fieldValues(exchange.request.fields, 'authorization')).toEqual(['Bearer [redacted:TEST_KEY]']);
    expect(Buffer.from(exchange.response?.body.bytes ?? []).toString()).toBe('[redacted:TEST_KEY]');
    expect(exchange.response?.body.received).toBe(21);
    expect(JSON.stringify(exchange)).not.toContain(SECRET);
  });

  it('that lie across the limit of a body leave no part', async () => {
    const limit = 10;
    const exchange = await get((socket) => socket.end(`HTTP/1.1 200 OK\r\n\r\nxxxx${SECRET}`), {
      ...knowingSecret(),
      limits: { bodyBytes: limit },
    });
    expect(Buffer.from(exchange.response?.body.bytes ?? []).toString()).toBe(
      'xxxx[redacted:TEST_KEY]'.slice(0, limit),
    );
    expect(exchange).toMatchObject({
      failure: { kind: 'body-too-large' },
      response: { body: { truncated: true } },
    });
  });

  it('in compressed content are taken out of it', async () => {
    const content = gzipSync(`{"key":"${SECRET}"}`);
    const { response } = await get(ofCoding('gzip', content), knowingSecret());
    expect(gunzipSync(response?.body.bytes ?? new Uint8Array()).toString()).toBe(
      '{"key":"[redacted:TEST_KEY]"}',
    );
    expect(response?.body.received).toBe(content.length);
  });

  const HELD = Buffer.from(`{"key":"${SECRET}"}`);
  const MARKED = '[redacted:TEST_KEY]';
  it.each<[string, string, Uint8Array, kept: string | null]>([
    ['that no field names', '', gzipSync(HELD), MARKED],
    ['that no field names: zlib', '', deflateSync(HELD), MARKED],
    ['that no field names: raw deflate', '', deflateRawSync(HELD), MARKED],
    ['within compressed content', 'gzip', gzipSync(deflateSync(HELD)), MARKED],
    ['that is not what its field names', 'br', gzipSync(HELD), MARKED],
    ['of a coding that nobody knows', 'conform', deflateRawSync(HELD), MARKED],
    ['that cannot be read', 'gzip', gzipSync(HELD).fill(0, 12), ''],
    ['that begins as gzip does', '', gzipSync(HELD).fill(0, 12), ''],
    ['of a coding that nobody knows, and cannot be read', 'conform', Buffer.from([0xff, 0xfe, 0, 1]), ''],
    ['that is text in truth', 'gzip', Buffer.from('{"a":1}'), null],
    ['that is no such thing, but an image', '', Buffer.from('89504e470d0a1a0a0000000d', 'hex'), null],
    ['that holds no secret', '', gzipSync('{"a":1}'), null],
  ])('leave nothing in compressed content %s', async (_, coding, content, kept) => {
    const { response } = await get(ofCoding(coding, content), knowingSecret());
    const { bytes = new Uint8Array(), withheld } = response?.body ?? {};
    expect(Buffer.from(bytes).toString('latin1')).toBe(kept ?? Buffer.from(content).toString('latin1'));
    if (kept === null) expect(withheld).toBeUndefined();
    else expect(withheld?.fault ?? withheld?.limit).toEqual(expect.any(String));
  });
});

describe('misuse', () => {
  it.each<[string, HttpRequest]>([
    ['a line break in a value', { ...GET, fields: [['X-A', 'a\r\nb']] }],
    ['a space in the target', { ...GET, target: '/a b' }],
    ['OPTIONS *', { ...GET, method: 'OPTIONS', target: '*' }],
    ['Expect', { ...GET, fields: [['Expect', '100-continue']] }],
    ['another Connection option', { ...GET, fields: [['Connection', 'upgrade']] }],
    [
      'two hosts',
      {
        ...GET,
        fields: [
          ['Host', 'a'],
          ['Host', 'b'],
        ],
      },
    ],
  ])('%s is told to the caller', async (_what, request) => {
    const server = await listen(answerEach(OK));
    await expect(open(server.url).send(request, about())).rejects.toThrow(HarnessError);
  });
});

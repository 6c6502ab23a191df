import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocketServer } from 'ws';
import { createRedaction } from '../../evidence/redaction/redaction.ts';
import { listen } from '../fixtures/loopback.ts';
import { about, setting, valuesOf } from '../fixtures/setting.ts';
import type { TransportOptions } from '../transport.ts';
import { encodeFrame, OPCODE } from './frames.ts';
import { acceptFor } from './handshake.ts';
import { connectWs, type WsOpening } from './ws-client.ts';

const ending: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).reverse()) await end();
});

async function connect(
  url: string,
  opening: Partial<WsOpening> = {},
  options: Partial<TransportOptions> = {},
) {
  const client = await connectWs(
    setting(url, options),
    { endpoint: '/ws', request: { target: '/ws', fields: [] }, ...opening },
    about(),
  );
  ending.push(() => void client.finish());
  return client;
}

async function echoServer() {
  const server = new WebSocketServer({
    port: 0,
    host: '127.0.0.1',
    perMessageDeflate: true,
    handleProtocols: () => 'echo.v1',
  });
  ending.push(() => void server.close());
  await once(server, 'listening');
  server.on('connection', (socket) => {
    ending.push(() => socket.terminate());
    socket.on('message', (message: Buffer, isBinary) => socket.send(message, { binary: isBinary }));
  });
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}`;
}

describe('a well-behaved client', () => {
  it('converses, agrees on a subprotocol and on compression, and is recorded by messages', async () => {
    const client = await connect(await echoServer(), {
      subprotocols: ['echo.v1', 'other'],
      origin: 'https://app.example',
    });
    expect(client).toMatchObject({
      open: true,
      protocol: 'echo.v1',
      extensions: 'permessage-deflate',
      failure: null,
    });
    await client.send('x'.repeat(2000));
    expect(await client.next({ timeoutMs: 2000 })).toMatchObject({
      type: 'frame',
      frame: { opcode: OPCODE.text, length: 2000 },
    });
    await client.ping(Buffer.from('p'));
    expect(await client.next({ timeoutMs: 2000 })).toMatchObject({ frame: { opcode: OPCODE.pong } });
    client.close(1000, 'done');
    expect(await client.untilEnd({ timeoutMs: 2000 })).toMatchObject({ from: 'server', type: 'end' });
    const conversation = client.finish();
    expect(conversation.events.map((event) => `${event.from} ${event.type}`)).toEqual([
      'client frame',
      'server frame',
      'client frame',
      'server frame',
      'client frame',
      'server frame',
      'server end',
    ]);
    const { request, response, expectedAccept } = conversation.handshake;
    expect(response?.status).toBe(101);
    expect(valuesOf(response?.fields, 'sec-websocket-accept')).toEqual([expectedAccept]);
    expect(valuesOf(request.fields, 'x-conform-run')).toEqual(['run-for-tests']);
    expect(valuesOf(request.fields, 'origin')).toEqual(['https://app.example']);
  });

  it('keeps the whole answer of a refusal', async () => {
    const server = await listen((socket) =>
      socket.once('data', () =>
        socket.end('HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Bearer\r\nContent-Length: 2\r\n\r\n{}'),
      ),
    );
    ending.push(() => server.close());
    const client = await connect(server.url);
    expect(client.open).toBe(false);
    expect(await client.next({ timeoutMs: 60_000 })).toBeNull();
    const { handshake, events, failure } = client.finish();
    expect(failure).toBeNull();
    expect(events).toEqual([]);
    expect(handshake.response).toMatchObject({ status: 401, body: { received: 2 } });
    expect(valuesOf(handshake.response?.fields, 'www-authenticate')).toEqual(['Bearer']);
  });

  it.each<[string, (key: string) => string | Uint8Array, string]>([
    [
      'a wrong accept',
      () =>
        'HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: wrong\r\n\r\n',
      'malformed',
    ],
    ['no HTTP', () => 'hello\r\n\r\n', 'malformed'],
    ['silence', () => '', 'response-timeout'],
  ])('fails on %s', async (_what, answer, kind) => {
    const server = await listen((socket) => socket.once('data', () => socket.write(answer(''))));
    ending.push(() => server.close());
    const client = await connect(server.url, {}, { timeouts: { connectMs: 2000, responseMs: 400 } });
    expect(client.failure?.kind).toBe(kind);
    expect(client.open).toBe(false);
  });

  it('says what it objects to in the frames', async () => {
    const server = await listen((socket) =>
      socket.once('data', (head) => {
        const key = /sec-websocket-key: (.*)\r/i.exec(head.toString())?.[1] ?? '';
        socket.write(
          `HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${acceptFor(key)}\r\n\r\n`,
        );
        socket.write(encodeFrame({ opcode: OPCODE.text, rsv: 2, payload: Buffer.from('x'), mask: null }));
      }),
    );
    ending.push(() => server.close());
    const client = await connect(server.url);
    await client.untilEnd({ timeoutMs: 2000 });
    expect(client.finish().failure).toMatchObject({
      kind: 'malformed',
      message: expect.stringContaining('RSV2'),
    });
  });

  it('is not there where nothing listens', async () => {
    const server = await listen(() => undefined);
    await server.close();
    expect((await connect(server.url)).finish().failure?.kind).toBe('refused');
  });

  it('leaves no secret in its record', async () => {
    const redaction = createRedaction();
    redaction.add('TEST_KEY', 'example-key-for-tests');
    const client = await connect(
      await echoServer(),
      {
        request: {
          target: '/ws?key=example-key-for-tests',
          fields: [['Authorization', 'Bearer example-key-for-tests']],
        },
      },
      { redaction },
    );
    await client.send('example-key-for-tests');
    await client.next({ timeoutMs: 2000 });
    const { handshake, events } = client.finish();
    expect(JSON.stringify(handshake)).not.toContain('example-key-for-tests');
    const payloads = events.flatMap((event) =>
      event.type === 'frame' ? [Buffer.from(event.frame.payload).toString()] : [],
    );
    expect(payloads).toEqual(['[redacted:TEST_KEY]', '[redacted:TEST_KEY]']);
  });
});

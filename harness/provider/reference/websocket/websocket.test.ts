import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { KEY, started } from '../fixtures/http-client.ts';
import {
  closeCode,
  closeFrame,
  converse,
  frame,
  type Handshake,
  SOCKET_ACCEPT,
} from '../fixtures/websocket-client.ts';
import { OPCODE } from './frame.ts';

function realtime(options: Parameters<typeof started>[1] = {}) {
  return started('realtime', options);
}

describe('the opening handshake', () => {
  it('is answered by RFC 6455 §4.2.2', async () => {
    const { head } = await converse(await realtime());
    expect(head.status).toBe(101);
    expect(head.field('sec-websocket-accept')).toBe(SOCKET_ACCEPT);
    expect([head.field('upgrade'), head.field('connection')]).toEqual(['websocket', 'Upgrade']);
    expect(head.field('sec-websocket-protocol')).toBeUndefined();
    expect(head.field('sec-websocket-extensions')).toBeUndefined();
  });

  it.each([
    ['tokens in another case', { Upgrade: 'WebSocket', Connection: 'keep-alive, UPGRADE' }],
    ['names in lower case', { Upgrade: null, upgrade: 'websocket', Connection: null, connection: 'upgrade' }],
    ['an unknown extension', { 'Sec-WebSocket-Extensions': 'x-unknown; a=1' }],
    ['an unknown subprotocol', { 'Sec-WebSocket-Protocol': 'unknown' }],
    ['an origin where there is no policy', { Origin: 'https://elsewhere.example' }],
  ] as const)('takes %s', async (_, fields) => {
    const { head } = await converse(await realtime(), { fields });
    expect(head.status).toBe(101);
    expect(head.field('sec-websocket-protocol')).toBeUndefined();
    expect(head.field('sec-websocket-extensions')).toBeUndefined();
  });

  it.each([
    ['no credential', { fields: { Authorization: null } }, 401],
    ['a wrong credential', { fields: { Authorization: 'Bearer wrong' } }, 401],
    ['version 12', { fields: { 'Sec-WebSocket-Version': '12' } }, 426],
    ['version 8', { fields: { 'Sec-WebSocket-Version': '8' } }, 426],
    ['no version', { fields: { 'Sec-WebSocket-Version': null } }, 426],
    ['no key', { fields: { 'Sec-WebSocket-Key': null } }, 400],
    ['a short key', { fields: { 'Sec-WebSocket-Key': 'c2hvcnQ=' } }, 400],
    ['no Host', { fields: { Host: null } }, 400],
    ['a malformed subprotocol', { fields: { 'Sec-WebSocket-Protocol': 'bad token' } }, 400],
    ['POST', { method: 'POST' }, 405],
    ['no Connection', { fields: { Connection: 'close' } }, 426],
    ['no Upgrade', { fields: { Upgrade: null, Connection: 'close' } }, 426],
    ['another upgrade', { fields: { Upgrade: 'example/1', Connection: 'Upgrade, close' } }, 426],
    ['HTTP/1.0', { httpVersion: '1.0' }, 426],
    ['an unknown path', { target: '/nothing', fields: { Connection: 'Upgrade, close' } }, 404],
  ] as const)('refuses %s before the protocol changes', async (_, handshake: Handshake, status) => {
    const { head } = await converse(await realtime(), handshake);
    expect(head.status).toBe(status);
    expect(head.field('content-type')).toBe('application/problem+json');
    expect(head.field('sec-websocket-version')).toBe(status === 426 ? '13' : undefined);
    expect(head.field('www-authenticate') !== undefined).toBe(status === 401);
  });

  it('speaks the subprotocols that it was given, in their exact spelling', async () => {
    const provider = await realtime({ subprotocols: ['echo.v1'] });
    const offering = async (offer: string): Promise<string | undefined> =>
      (await converse(provider, { fields: { 'Sec-WebSocket-Protocol': offer } })).head.field(
        'sec-websocket-protocol',
      );
    expect(await offering('other, echo.v1')).toBe('echo.v1');
    expect(await offering('ECHO.V1')).toBeUndefined();
  });

  it('keeps pages of other origins out where there is a policy', async () => {
    const provider = await realtime({ origin: 'https://app.example' });
    const status = async (origin: string | null): Promise<number> =>
      (await converse(provider, { fields: { Origin: origin } })).head.status;
    expect(await status('https://app.example')).toBe(101);
    expect(await status(null)).toBe(101);
    expect(await status('https://elsewhere.example')).toBe(403);
    expect(await status('null')).toBe(403);
  });

  it('does not count against the quota', async () => {
    const provider = await realtime({ plan: { requests: 1, windowMs: 60_000 } });
    for (let index = 0; index < 3; index += 1) expect((await converse(provider)).head.status).toBe(101);
  });

  it('is not offered by the REST services', async () => {
    const provider = await started('search');
    const { head } = await converse(provider, {
      target: '/v1/resources',
      fields: { Connection: 'Upgrade, close' },
    });
    expect(head.status).toBe(200);
  });
});

describe('the echo', () => {
  it.each([0, 1, 125, 126, 65_535, 65_536, 1 << 20])(
    'sends back %i octets of either kind',
    async (length) => {
      const payload = Buffer.alloc(length, 'x');
      const { frames, survived } = await converse(await realtime(), {}, [
        frame(OPCODE.text, payload),
        frame(OPCODE.binary, payload),
      ]);
      expect(survived).toBe(true);
      expect(frames.map(({ opcode, masked, fin }) => [opcode, masked, fin])).toEqual([
        [OPCODE.text, false, true],
        [OPCODE.binary, false, true],
      ]);
      expect(frames.every((echo) => echo.payload.equals(payload))).toBe(true);
    },
  );

  it('puts fragments together, with a ping between them', async () => {
    const { frames } = await converse(await realtime(), {}, [
      frame(OPCODE.text, 'Grü', { fin: false }),
      frame(OPCODE.ping, 'now'),
      frame(OPCODE.continuation, 'ße'),
    ]);
    expect(frames.map(({ opcode, payload }) => [opcode, payload.toString()])).toEqual([
      [OPCODE.pong, 'now'],
      [OPCODE.text, 'Grüße'],
    ]);
  });

  it.each([
    ['an unmasked frame', frame(OPCODE.text, 'x', { masked: false }), 1002],
    ['a reserved bit', frame(OPCODE.text, 'x', { rsv: 2 }), 1002],
    ['a compressed frame that was not agreed on', frame(OPCODE.text, 'x', { rsv: 4 }), 1002],
    ['opcode 3', frame(3), 1002],
    ['opcode 11', frame(11), 1002],
    ['a fragmented ping', frame(OPCODE.ping, 'x', { fin: false }), 1002],
    ['a long ping', frame(OPCODE.ping, 'x'.repeat(126)), 1002],
    ['a stray continuation', frame(OPCODE.continuation, 'x'), 1002],
    ['text that is no UTF-8', frame(OPCODE.text, Buffer.from([0xff])), 1007],
    ['a Close of one octet', frame(OPCODE.close, 'x'), 1002],
    ['a Close with 1005', closeFrame(1005), 1002],
    ['a message beyond the limit', frame(OPCODE.binary, Buffer.alloc((4 << 20) + 1)), 1009],
  ])('ends the connection on %s', async (_, octets, code) => {
    const talk = await converse(await realtime(), {}, [octets]);
    expect(talk.survived).toBe(false);
    expect(closeCode(talk)).toBe(code);
  });

  it.each([1000, 1001, 3000, 4999])('answers Close %i with the same code and ends TCP', async (code) => {
    const talk = await converse(await realtime(), {}, [closeFrame(code, 'bye')]);
    expect([talk.survived, closeCode(talk)]).toEqual([false, code]);
  });

  it('agrees on compression with the library’s client, both ways', async () => {
    const provider = await realtime();
    const socket = new WebSocket(`${provider.url.replace('http', 'ws')}/ws`, {
      headers: { Authorization: `Bearer ${KEY}` },
    });
    const content = 'again and '.repeat(1_000);
    socket.on('open', () => socket.send(content));
    const echoed = await new Promise((resolve) => {
      socket.on('message', (data) => resolve(data.toString()));
    });
    expect(socket.extensions).toBe('permessage-deflate');
    expect(echoed).toBe(content);
    socket.terminate();
  });

  it('says goodbye with 1001 when the service stops', async () => {
    const provider = await realtime();
    const socket = new WebSocket(`${provider.url.replace('http', 'ws')}/ws`, {
      headers: { Authorization: `Bearer ${KEY}` },
    });
    await new Promise((resolve) => socket.once('open', resolve));
    const closing = new Promise((resolve) => socket.once('close', resolve));
    await provider.stop();
    expect(await closing).toBe(1001);
  });
});

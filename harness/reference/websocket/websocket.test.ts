import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { KEY, started } from '../fixtures/http-client.ts';
import { closeCode, closeFrame, converse, type Handshake } from '../fixtures/websocket-client.ts';

function realtime(options: Parameters<typeof started>[1] = {}) {
  return started('realtime', options);
}

// What the suites ask for, the proof shows.
describe('the opening handshake', () => {
  it.each([
    ['an unknown extension', { 'Sec-WebSocket-Extensions': 'x-unknown; a=1' }],
    ['an origin where there is no policy', { Origin: 'https://elsewhere.example' }],
  ] as const)('takes %s', async (_, fields) => {
    const { head } = await converse(await realtime(), { fields });
    expect(head.status).toBe(101);
    expect(head.field('sec-websocket-extensions')).toBeUndefined();
  });

  it.each([
    ['version 8', { fields: { 'Sec-WebSocket-Version': '8' } }, 426],
    ['a short key', { fields: { 'Sec-WebSocket-Key': 'c2hvcnQ=' } }, 400],
    ['no Host', { fields: { Host: null } }, 400],
    ['a malformed subprotocol', { fields: { 'Sec-WebSocket-Protocol': 'bad token' } }, 400],
    ['no Upgrade', { fields: { Upgrade: null, Connection: 'close' } }, 426],
    ['HTTP/1.0', { httpVersion: '1.0' }, 426],
    ['an unknown path', { target: '/nothing', fields: { Connection: 'Upgrade, close' } }, 404],
  ] as const)('refuses %s before the protocol changes', async (_, handshake: Handshake, status) => {
    const { head } = await converse(await realtime(), handshake);
    expect(head.status).toBe(status);
    expect(head.field('content-type')).toBe('application/problem+json');
    expect(head.field('sec-websocket-version')).toBe(status === 426 ? '13' : undefined);
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

describe('a connection', () => {
  it.each([1001, 3000, 4999])('answers Close %i with the same code and ends TCP', async (code) => {
    const seen = await converse(await realtime(), {}, [closeFrame(code, 'bye')]);
    expect([seen.survived, closeCode(seen)]).toEqual([false, code]);
  });

  it('sends a Close with 1001 when the service stops', async () => {
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

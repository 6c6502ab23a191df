import { once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { WebSocket } from 'ws';
import { OPCODE } from '../conversation/frame.ts';
import { Deflation, Inflation } from '../conversation/inflation.ts';
import { viewConversation } from '../conversation/view.ts';
import { about, setting } from '../fixtures/setting.ts';
import { startWsEndpoint } from '../fixtures/ws-endpoint.ts';
import { handshakeRequest } from '../http/request.ts';
import { type Opening, openConnection } from './connection.ts';
import type { WireFrame } from './frames.ts';
import { Heartbeats } from './frames.ts';

const answerTo = (text: string) => (text === 'ping' ? 'pong' : null);

function frame(opcode: number, text: string | Uint8Array, more: Partial<WireFrame> = {}): WireFrame {
  const payload = Buffer.from(text);
  const { length } = payload;
  return {
    ...{ fin: true, rsv: 0, opcode, masked: false, length, lengthOctets: 0, payload },
    ...{ received: length, whole: true, digest: null },
    ...more,
  };
}

/** What is answered to these frames, in their order. */
function answers(frames: readonly WireFrame[], inflation: Inflation | null = null) {
  const heartbeats = new Heartbeats(answerTo, inflation);
  return frames.map((each) => heartbeats.answerTo(each));
}

describe('a heartbeat above the frames', () => {
  it('is a whole text, also in fragments with a control frame between them', () => {
    const { text, binary, continuation, ping } = OPCODE;
    expect(answers([frame(text, 'ping'), frame(binary, 'ping'), frame(text, 'pings')])).toEqual([
      'pong',
      null,
      null,
    ]);
    const parts = [
      frame(text, 'pi', { fin: false }),
      frame(ping, 'ping'),
      frame(continuation, 'ng'),
      frame(continuation, 'ping'),
    ];
    expect(answers(parts).slice(0, 3)).toEqual([null, null, 'pong']);
  });

  it('is read where it is compressed, and not behind what cannot be', () => {
    const squeezed = (text: string) => new Deflation(false).next(Buffer.from(text));
    const ping = frame(OPCODE.text, squeezed('ping'), { rsv: 4 });
    const lost = { ...frame(OPCODE.text, squeezed('much more'), { rsv: 4 }), received: 70_000 };
    expect(answers([ping, ping], new Inflation(true))).toEqual(['pong', 'pong']);
    expect(answers([lost, ping], new Inflation(true))).toEqual([null, null]);
    expect(answers([lost, ping], new Inflation(false))).toEqual([null, 'pong']);
  });

  it('is answered a bounded number of times', () => {
    const many = answers(Array.from({ length: 600 }, () => frame(OPCODE.text, 'ping')));
    expect(many.filter((each) => each === 'pong')).toHaveLength(500);
  });
});

describe('a connection', () => {
  async function open(converse: (socket: WebSocket) => void, automatic: Opening['automatic'] = {}) {
    const { url, stop } = await startWsEndpoint(converse);
    onTestFinished(stop);
    const connection = await openConnection(
      setting(url),
      {
        endpoint: '/',
        request: handshakeRequest({ target: '/' }),
        automatic: { heartbeat: answerTo, ...automatic },
      },
      about(),
    );
    onTestFinished(() => void connection.finish());
    return connection;
  }

  const message = (text: string, fin = true) => ({ opcode: OPCODE.text, payload: Buffer.from(text), fin });
  /** Says what it was told, in its order, once it is told to. */
  function telling(socket: WebSocket) {
    const told: string[] = [];
    socket.on('message', (content) => {
      told.push(String(content));
      if (String(content) === 'tell') socket.send(told.join(' '));
    });
  }

  it('answers it at once, and records that neither is a message like others', async () => {
    const connection = await open((socket) => {
      telling(socket);
      socket.send('ping');
    });
    await connection.next({ timeoutMs: 5_000 });
    await connection.sendFrame(message('tell'));
    await connection.next({ timeoutMs: 5_000 });
    const view = viewConversation(connection.finish());
    expect(view.messages.map(({ text }) => text)).toEqual(['pong tell']);
    expect(view.sent.map(({ text }) => text)).toEqual(['tell']);
    expect(view.heartbeats).toMatchObject([{ text: 'ping', isAnswered: true }]);
    expect(view.greeting).toBeNull();
  });

  it('holds the answer back until a message in fragments has ended', async () => {
    const connection = await open((socket) => {
      telling(socket);
      socket.on('ping', () => socket.send('ping'));
    });
    await connection.sendFrame(message('te', false));
    await connection.sendFrame({ opcode: OPCODE.ping, payload: Buffer.alloc(0) });
    await connection.next({ timeoutMs: 5_000, match: isText });
    await connection.sendFrame({ ...message('st'), opcode: OPCODE.continuation });
    await connection.sendFrame(message('tell'));
    await connection.next({ timeoutMs: 5_000, match: isText });
    const view = viewConversation(connection.finish());
    expect(view.messages.map(({ text }) => text)).toEqual(['test pong tell']);
    expect(view.faults).toEqual([]);
  });

  it.each([
    ['behind a Close of its own', {}],
    ['where it answers no pings either', { pong: false }],
  ])('says nothing %s', async (_, automatic) => {
    const closed = Promise.withResolvers<number>();
    const connection = await open(
      (socket) => {
        socket.on('message', () => closed.reject(new Error('it was answered')));
        socket.on('ping', () => socket.send('ping'));
        void once(socket, 'close').then(([code]) => closed.resolve(code));
      },
      { close: true, ...automatic },
    );
    await connection.sendFrames([
      { opcode: OPCODE.ping, payload: Buffer.alloc(0) },
      { opcode: OPCODE.close, payload: Buffer.from([0x03, 0xe8]) },
    ]);
    expect(await closed.promise).toBe(1000);
    await connection.untilEnd({ timeoutMs: 5_000, note: 'the end' });
    const heartbeats = viewConversation(connection.finish()).heartbeats;
    expect(heartbeats.some(({ isAnswered }) => isAnswered)).toBe(false);
  });
});

function isText(event: { readonly type: string; readonly frame?: { readonly opcode: number } }): boolean {
  return event.type === 'frame' && event.frame?.opcode === OPCODE.text;
}

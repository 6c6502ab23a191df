import { createServer, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { served } from '../../../harness/base/fixtures/server.ts';
import { simulatedClock } from '../../../harness/engine/simulation/clock.ts';
import { encodeFrame, OPCODE } from '../../../harness/wire/conversation/frame.ts';
import { acceptFor } from '../../../harness/wire/http/request.ts';
import { FrameDecoder, type WireFrame } from '../../../harness/wire/websocket/frames.ts';
import { websocket } from '../../websocket/websocket.suite.ts';
import { echoConfig, findings, judged } from '../fixtures/judged.ts';

/** Servers that take whatever frames come, and end no connection for them: what is waited for never comes. */

interface Endless {
  /** It does not answer a Close either. */
  readonly answersClose: boolean;
  /** What it does with a connection beside another one; takes it when left out. */
  readonly beside?: 'refuses' | 'ends the other';
}

async function endless({ answersClose, beside }: Endless) {
  const open = new Set<Socket>();
  let most = 0;
  function react(socket: Socket, { opcode, payload }: WireFrame): void {
    const answer = { [OPCODE.ping]: OPCODE.pong, ...(answersClose && { [OPCODE.close]: OPCODE.close }) }[
      opcode
    ];
    if (answer !== undefined) socket.write(encodeFrame({ opcode: answer, payload, mask: null }));
    if (answer === OPCODE.close) socket.end();
  }
  const server = createServer((socket) => {
    socket.setNoDelay();
    socket.on('error', () => undefined);
    socket.once('data', (head) => {
      const [, key] = /^sec-websocket-key: *(\S+)/im.exec(head.toString('latin1')) ?? [];
      const isRefused = key === undefined || (beside === 'refuses' && open.size > 0);
      if (isRefused) {
        socket.end(
          `HTTP/1.1 ${key === undefined ? 400 : 503} No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
        );
        return;
      }
      if (beside === 'ends the other') for (const other of open) other.end(Buffer.of(0x88, 0));
      open.add(socket);
      socket.on('close', () => open.delete(socket));
      most = Math.max(most, open.size);
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${acceptFor(key)}\r\n\r\n`,
      );
      const decoder = new FrameDecoder(1 << 16);
      socket.on('data', (octets) => {
        for (const frame of decoder.push(octets)) react(socket, frame);
      });
    });
  });
  return { url: await served(server), most: () => most };
}

/** In s, on a clock of its own. */
async function judgedOf(kind: Endless) {
  const { url, most } = await endless(kind);
  const clock = simulatedClock();
  onTestFinished(() => clock.stop());
  const fromMs = clock.now();
  const all = await judged(await echoConfig({ echo: false }), [websocket], { url, clock });
  return { found: findings(all), tookS: (clock.now() - fromMs) / 1_000, most: most() };
}

/** What must end a connection, and does not. */
const GOES_ON = [
  'unmasked',
  'reserved-bits',
  'reserved-bit-on-ping',
  'reserved-data-opcode',
  'reserved-control-opcode',
  'fragmented-ping',
  'fragmented-pong',
  'overlong-ping',
  'stray-continuation',
  'interleaved-message',
  'bad-utf8',
].map((name) => `fail websocket.${name}`);

describe('a service that ends no connection over a bad frame', () => {
  it('is judged within 15 s: what is waited for in vain is waited for side by side', async () => {
    const { found, tookS, most } = await judgedOf({ answersClose: true });
    expect(found).toEqual(expect.arrayContaining(GOES_ON));
    expect(tookS).toBeLessThanOrEqual(15);
    expect(most).toBe(10);
  });

  it('has the same findings when it answers no Close, and so many more of that', async () => {
    const { found, tookS } = await judgedOf({ answersClose: false });
    expect(found).toEqual(expect.arrayContaining([...GOES_ON, 'fail websocket.close-answered']));
    expect(tookS).toBeLessThanOrEqual(30);
  });

  it.each(['refuses', 'ends the other'] as const)(
    'has the same findings when it keeps one connection of a client and %s',
    async (beside) => {
      const { found } = await judgedOf({ answersClose: true });
      const alone = await judgedOf({ answersClose: true, beside });
      expect(alone.found.filter((each) => !found.includes(each))).toEqual([]);
      expect(alone.found).toEqual(expect.arrayContaining(GOES_ON));
    },
  );
});

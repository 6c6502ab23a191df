import { createServer as createTcpServer, type Socket } from 'node:net';
import { constants, deflateRawSync } from 'node:zlib';
import { describe, expect, it, onTestFinished, type TestContext } from 'vitest';
import type { WebSocket } from 'ws';
import { type LocalServer, served } from '../../../harness/base/fixtures/server.ts';
import type { ServiceConfig } from '../../../harness/config/service.ts';
import { echoing, startWsEndpoint } from '../../../harness/wire/fixtures/ws-endpoint.ts';
import { acceptFor } from '../../../harness/wire/http/request.ts';
import { websocket as suite } from '../../websocket/websocket.suite.ts';
import {
  byHand,
  octetsOf,
  refusalOf,
  type Seen,
  type Sent,
  statusOf,
  UNMASKED_TEXT,
  VERSION_12,
  WITHOUT_HOST,
} from '../fixtures/by-hand.ts';
import { ECHO_SERVERS } from '../fixtures/echo-servers.ts';
import {
  echoConfig,
  findings,
  type Judged,
  judged,
  judgedInTurn,
  saidOf,
  withOutcome,
} from '../fixtures/judged.ts';

/** Most libraries leave Host to what stands before them. */
const HOSTLESS = 'warning websocket.missing-host';

/** Servers of others, as their libraries have them by default. Each finding is true, which is shown by hand below. */
const KNOWN: Readonly<Record<keyof typeof ECHO_SERVERS, readonly string[]>> = {
  ws: [HOSTLESS],
  'ws, compressing': [HOSTLESS, 'warning websocket.deflate-bomb'],
  '@fastify/websocket': [HOSTLESS],
  websocket: [
    'fail websocket.post',
    'fail websocket.other-upgrade',
    'fail websocket.unmasked',
    'fail websocket.bad-close-reason',
    'warning websocket.bad-close-code',
  ],
  'faye-websocket': ['fail websocket.supported-version', HOSTLESS],
};

// Beside each other: what they take is the waits for an end that does not come.
describe.concurrent('an echo has no other findings than true ones', () => {
  it.for(Object.entries(ECHO_SERVERS))('by %s', async ([library, start], { expect, onTestFinished }) => {
    const server = await start();
    onTestFinished(server.stop);
    const all = await judged(await echoConfig(), [suite], server);
    expect(findings(all)).toEqual(KNOWN[library as keyof typeof KNOWN]);
    expect(withOutcome(all, 'pass').length).toBeGreaterThan(55);
    expect(all.requests).toBeLessThan(120);
  });
});

/** Frames as octets, with the masking key 0. */
const CLOSE_1015 = [0x88, 0x82, 0, 0, 0, 0, 0x03, 0xf7];
const CLOSE_WITH_BAD_REASON = [0x88, 0x83, 0, 0, 0, 0, 0x03, 0xe8, 0xff];

/** The code of a Close frame that comes first. */
const closeCode = ({ rest }: Seen) => (rest[0] === 0x88 ? rest.readUInt16BE(2) : null);

const { ws, '@fastify/websocket': fastify, websocket, 'faye-websocket': faye } = ECHO_SERVERS;

describe('by hand', () => {
  it.each<[string, () => Promise<LocalServer>, Sent, (seen: Seen) => unknown, unknown]>([
    ['ws takes a handshake without Host', ws, WITHOUT_HOST, statusOf, 101],
    ['@fastify/websocket takes a handshake without Host', fastify, WITHOUT_HOST, statusOf, 101],
    ['faye-websocket takes a handshake without Host', faye, WITHOUT_HOST, statusOf, 101],
    ['websocket takes POST', websocket, { method: 'POST', lines: { 'Content-Length': '0' } }, statusOf, 101],
    ['websocket takes another protocol', websocket, { lines: { Upgrade: 'conform/1' } }, statusOf, 101],
    [
      'websocket echoes an unmasked frame',
      websocket,
      { octets: UNMASKED_TEXT, expects: 3 },
      octetsOf,
      UNMASKED_TEXT,
    ],
    ['websocket answers 1015 with 1000', websocket, { octets: CLOSE_1015, expects: 4 }, closeCode, 1000],
    [
      'websocket answers a bad reason with 1000',
      websocket,
      { octets: CLOSE_WITH_BAD_REASON, expects: 4 },
      closeCode,
      1000,
    ],
    ['faye-websocket refuses version 12 without naming its own', faye, VERSION_12, refusalOf, [400, false]],
    [
      'faye-websocket closes an unmasked frame with 1003',
      faye,
      { octets: UNMASKED_TEXT, expects: 4 },
      closeCode,
      1003,
    ],
  ])('%s', async (_, start, sent, look, expected) => {
    const { url, stop } = await start();
    onTestFinished(stop);
    expect(look(await byHand(url, sent))).toEqual(expected);
  });

  it('ws inflates 64 KiB to 64 MiB and sends them back, compressed', async () => {
    const { url, stop } = await ECHO_SERVERS['ws, compressing']();
    onTestFinished(stop);
    const lines = { 'Sec-WebSocket-Extensions': 'permessage-deflate' };
    const { rest } = await byHand(url, { octets: [...bombFrame(true)], lines, expects: 10 });
    expect(rest[0]).toBe(0xc2);
    expect(rest.readBigUInt64BE(2)).toBeGreaterThan(65_000n);
  });
});

/** An endpoint by `ws` that does to each connection what a test says. */
async function endpoint(
  { onTestFinished }: Pick<TestContext, 'onTestFinished'>,
  converse: (socket: WebSocket) => void,
): Promise<string> {
  const { url, stop } = await startWsEndpoint(converse);
  onTestFinished(stop);
  return url;
}

/** For services that keep one waiting. */
const HASTY = { timeouts: { connectMs: 1_000, responseMs: 1_000 } };

/** What is found at a URL of this process. */
async function found(url: string, more: Partial<ServiceConfig> = {}): Promise<Judged> {
  return judgedInTurn({ ...(await echoConfig()), ...more }, [suite], { url });
}

describe.concurrent('an endpoint that is configured as an echo', () => {
  it('may greet before it echoes', async (context) => {
    const url = await endpoint(context, (socket) => {
      socket.send('served by a test');
      echoing(socket);
    });
    const all = await found(url);
    expect(findings(all)).toEqual(KNOWN.ws);
    expect(all.outcomes['websocket.echo-long']).toBe('pass');
    expect(all.messages['websocket.first-message']).toMatch(/^a text message/);
  });

  it.for<readonly [what: string, conduct: (socket: WebSocket) => void, instead: string]>([
    [
      'of another dialect',
      (socket) => socket.send('0{"sid":"1","upgrades":[],"pingInterval":25000}'),
      'it speaks engine.io',
    ],
    [
      'that answers something else',
      (socket) => socket.on('message', () => socket.send('what is "conform"?')),
      'it answers with a text message, "what is ',
    ],
    [
      'that greets, and answers something else twice',
      (socket) => {
        socket.send('welcome');
        socket.on('message', () => {
          socket.send('{"type":"ack"}');
          socket.send('{"type":"error"}');
        });
      },
      'it answers with a text message, "{',
    ],
    [
      'that greets, and listens no more',
      (socket) => socket.send('welcome'),
      'it speaks first, and sends nothing back',
    ],
    ['that only listens', () => undefined, 'it sends nothing back'],
    [
      'that ends the connection',
      (socket) => socket.on('message', () => socket.close(1003)),
      'it ends the connection (close code 1003)',
    ],
  ])(
    'is no echo, which is said once and held against nobody: one %s',
    async ([, conduct, instead], context) => {
      const url = await endpoint(context, conduct);
      const all = await found(url, HASTY);
      expect(findings(all)).toEqual(['blocked websocket.echo-text', HOSTLESS]);
      expect(all.outcomes['websocket.echo-kind']).toBe('skipped');
      const told = `websocket.echo is set, and the endpoint does not echo: ${instead}`;
      expect(all.messages['websocket.echo-text']).toContain(told);
    },
  );
});

describe('a service that takes few messages at a time', () => {
  it('may say so with a close code, and is not accused of losing them', async (context) => {
    const url = await endpoint(context, (socket) => {
      let count = 0;
      socket.on('message', (content, isBinary) => {
        count += 1;
        if (count > 40) socket.close(1008, 'slow down');
        else socket.send(content, { binary: isBinary });
      });
    });
    const all = await found(url);
    expect(findings(all)).toEqual(KNOWN.ws);
    expect(saidOf(all, 'websocket.burst-order')).toMatch(/^skipped: .*1008/);
  });
});

describe('a service that keeps nobody', () => {
  it('is not judged by what it would do to a connection', async (context) => {
    const url = await endpoint(context, (socket) => socket.close(4401, 'authenticate first'));
    const all = await found(url, await echoConfig({ echo: false }));
    expect(findings(all).filter((each) => !each.startsWith('blocked '))).toEqual(KNOWN.ws);
    expect(all.outcomes['websocket.handshake']).toBe('pass');
    expect(saidOf(all, 'websocket.ping')).toMatch(/^blocked: .*a Close \(4401\) came unasked/);
  });
});

/** Takes each handshake, and does to the connection what a test says, with no library in between. */
async function bareEndpoint(act: (socket: Socket) => void, more: readonly string[] = []): Promise<string> {
  const server = createTcpServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (head) => {
      const [, key = ''] = /^sec-websocket-key: *(\S+)/im.exec(head.toString('latin1')) ?? [];
      const fields = [
        'Upgrade: websocket',
        'Connection: Upgrade',
        `Sec-WebSocket-Accept: ${acceptFor(key)}`,
        ...more,
      ];
      socket.write(`HTTP/1.1 101 Switching Protocols\r\n${fields.join('\r\n')}\r\n\r\n`);
      act(socket);
    });
  });
  return served(server);
}

/** Writes the same octets for as long as they are taken. */
function repeating(octets: Buffer) {
  return (socket: Socket) => {
    const more = () => {
      while (socket.writable && socket.write(octets));
    };
    socket.on('drain', more);
    more();
  };
}

const TEXT = Buffer.from([0x81, 0x02, 0x68, 0x69]);
const PING = Buffer.from([0x89, 0x02, 0x68, 0x69]);
/** The head of a binary frame of 2^62 octets. */
const ENORMOUS = Buffer.from([0x82, 0x7f, 0x40, 0, 0, 0, 0, 0, 0, 0]);

const FIRST_FRAGMENT = Buffer.from([0x01, 0x02, 0x68, 0x69]);
const FURTHER_FRAGMENT = Buffer.from([0x00, 0x02, 0x68, 0x69]);
const CLOSE = Buffer.from([0x88, 0x02, 0x03, 0xe8]);

/** An octet now and then of a frame that is never whole. */
function dripping(socket: Socket): void {
  socket.write(Buffer.from([0x82, 0x7e, 0xff, 0xff]));
  const drip = setInterval(() => socket.write(Buffer.alloc(1)), 20);
  socket.on('close', () => clearInterval(drip));
}

/** A compressed binary message of 64 MiB, with the masking key 0 where it is masked. */
function bombFrame(masked = false): Buffer {
  const deflated = deflateRawSync(Buffer.alloc(64 * 1024 * 1024), { finishFlush: constants.Z_SYNC_FLUSH });
  const payload = deflated.subarray(0, -4);
  const head = Buffer.alloc(masked ? 14 : 10);
  head.writeUInt16BE(masked ? 0xc2ff : 0xc27f);
  head.writeBigUInt64BE(BigInt(payload.length), 2);
  return Buffer.concat([head, payload]);
}

describe('a service that sends compression bombs', () => {
  // That no message is inflated beyond a bound is held where it is inflated (harness/wire/conversation/inflation.test.ts).
  it('is told that nobody asked for them', async () => {
    const bomb = bombFrame();
    const url = await bareEndpoint(
      (socket) => {
        socket.write(bomb);
        // Whatever comes ends the connection, so that nobody waits for long.
        socket.on('data', () => socket.end(CLOSE));
      },
      ['Sec-WebSocket-Extensions: permessage-deflate'],
    );
    const all = await found(url, HASTY);
    expect(withOutcome(all, 'error')).toEqual([]);
    expect(all.outcomes['websocket.unoffered-extension']).toBe('fail');
  });
});

describe('a hostile service', () => {
  it.each([
    ['says nothing', () => undefined, /no sign of life/],
    ['never stops talking', repeating(Buffer.concat(Array(1_000).fill(TEXT))), /not heard to its end/],
    ['never stops pinging', repeating(Buffer.concat(Array(1_000).fill(PING))), /not heard to its end/],
    [
      'announces more than there is',
      (socket: Socket) => {
        socket.write(ENORMOUS);
        repeating(Buffer.alloc(64 * 1024))(socket);
      },
      /not heard to its end/,
    ],
    [
      'never ends a message',
      (socket: Socket) => {
        socket.write(FIRST_FRAGMENT);
        repeating(Buffer.concat(Array<Buffer>(1_000).fill(FURTHER_FRAGMENT)))(socket);
      },
      /not heard to its end/,
    ],
    ['lets a frame drip', dripping, /no sign of life/],
    [
      'resets the connection behind a Close',
      (socket: Socket) => {
        socket.write(CLOSE, () => socket.resetAndDestroy());
      },
      /came unasked/,
    ],
  ])('that %s is given up soon, and not accused of more than it does', async (_, act, reason) => {
    const url = await bareEndpoint(act);
    const all = await found(url, HASTY);
    expect(withOutcome(all, 'error')).toEqual([]);
    expect(all.outcomes).toMatchObject({ 'websocket.unmasked': 'blocked', 'websocket.accept': 'pass' });
    expect(all.messages['websocket.unmasked']).toMatch(reason);
  });
});

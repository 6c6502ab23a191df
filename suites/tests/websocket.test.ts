import { once } from 'node:events';
import { createServer as createTcpServer, type Socket } from 'node:net';
import { constants, deflateRawSync } from 'node:zlib';
import { afterEach, describe, expect, it, type TestContext } from 'vitest';
import type { WebSocket } from 'ws';
import { listening } from '../../harness/base/loopback.ts';
import { startProvider } from '../../harness/provider/start.ts';
import { echoing, startWsEndpoint } from '../../harness/transport/fixtures/ws-endpoint.ts';
import { acceptFor } from '../../harness/transport/websocket/opening-handshake.ts';
import { byHand } from './fixtures/by-hand.ts';
import { ECHO_PROGRAMS, isInstalled, type Program, startProgram } from './fixtures/echo-programs.ts';
import { ECHO_SERVERS } from './fixtures/echo-servers.ts';
import { echoConfig, findings, outcomesOf, shipped, withOutcome } from './fixtures/outcomes.ts';

const ending: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).reverse()) await end();
});

/** Servers of others, as their libraries have them by default. Each finding is true, which is shown by hand below. */
const KNOWN: Readonly<Record<keyof typeof ECHO_SERVERS, readonly string[]>> = {
  ws: [],
  'ws, compressing': ['warning websocket.deflate-bomb'],
  '@fastify/websocket': [],
  websocket: [
    'fail websocket.post',
    'fail websocket.other-upgrade',
    'fail websocket.unmasked',
    'warning websocket.bad-close-code',
  ],
  'faye-websocket': ['fail websocket.supported-version', 'warning websocket.unmasked-code'],
};

/** The same of other runtimes and languages. */
const KNOWN_OF_PROGRAMS: Readonly<Record<Program, readonly string[]>> = {
  bun: ['fail websocket.missing-connection'],
  deno: [
    'fail websocket.other-version',
    'fail websocket.missing-version',
    'fail websocket.unmasked',
    'warning websocket.failure-announced',
    'fail websocket.server-control-frames',
  ],
  'websockets (Python)': ['fail websocket.supported-version'],
};

// Beside each other: what they take is the waits for an end that does not come.
describe.concurrent('an echo has no other findings than true ones', () => {
  it.for(Object.entries(ECHO_SERVERS))('by %s', async ([library, start], { expect, onTestFinished }) => {
    const server = await start();
    onTestFinished(server.close);
    const { judged, requestsSent } = await outcomesOf(server.url, await echoConfig());
    expect(findings(judged)).toEqual(KNOWN[library as keyof typeof KNOWN]);
    expect(withOutcome(judged, 'pass').length).toBeGreaterThan(55);
    expect(requestsSent).toBeLessThan(110);
  });

  it.for(ECHO_PROGRAMS.filter(isInstalled))('by %s', async (name, { expect, onTestFinished }) => {
    const server = await startProgram(name);
    onTestFinished(server.close);
    const { judged } = await outcomesOf(server.url, await echoConfig());
    expect(findings(judged)).toEqual(KNOWN_OF_PROGRAMS[name]);
    expect(withOutcome(judged, 'pass').length).toBeGreaterThan(55);
  });
});

/** Frames as octets, with the masking key 0 where they are masked. */
const FRAMES = {
  unmaskedText: [0x81, 0x01, 0x78],
  echoedText: [0x81, 0x01, 0x78],
  close1015: [0x88, 0x82, 0, 0, 0, 0, 0x03, 0xf7],
  closeWithBadReason: [0x88, 0x83, 0, 0, 0, 0, 0x03, 0xe8, 0xff],
} as const;

/** The code of a Close frame that begins these octets. */
function closeCode(octets: Buffer): number | null {
  return octets[0] === 0x88 && (octets[1] ?? 0) >= 2 ? octets.readUInt16BE(2) : null;
}

describe('by hand', () => {
  const started = async (library: keyof typeof ECHO_SERVERS) => {
    const server = await ECHO_SERVERS[library]();
    ending.push(server.close);
    return server.url;
  };

  it('websocket switches protocols for POST, and for protocols that are not WebSocket', async () => {
    const url = await started('websocket');
    expect((await byHand(url, { method: 'POST', lines: { 'Content-Length': '0' } })).head).toMatch(
      /^HTTP\/1.1 101 /,
    );
    expect((await byHand(url, { lines: { Upgrade: 'conform/1' } })).head).toMatch(/^HTTP\/1.1 101 /);
  });

  it('websocket echoes an unmasked frame', async () => {
    const url = await started('websocket');
    const { rest } = await byHand(url, { octets: FRAMES.unmaskedText, expects: 3 });
    expect([...rest]).toEqual(FRAMES.echoedText);
  });

  it('websocket answers 1015, and a reason that is not UTF-8, with 1000', async () => {
    const url = await started('websocket');
    for (const octets of [FRAMES.close1015, FRAMES.closeWithBadReason]) {
      const { rest } = await byHand(url, { octets, expects: 4 });
      expect(closeCode(rest)).toBe(1000);
    }
  });

  it('faye-websocket refuses version 12 without naming the one it speaks', async () => {
    const url = await started('faye-websocket');
    const { head } = await byHand(url, { lines: { 'Sec-WebSocket-Version': '12' } });
    expect(head).toMatch(/^HTTP\/1.1 400 /);
    expect(head).not.toMatch(/^sec-websocket-version:/im);
  });

  it('faye-websocket closes an unmasked frame with 1003', async () => {
    const url = await started('faye-websocket');
    const { rest } = await byHand(url, { octets: FRAMES.unmaskedText, expects: 4 });
    expect(closeCode(rest)).toBe(1003);
  });
});

describe('by hand, of programs', () => {
  const started = async (name: Program) => {
    const server = await startProgram(name);
    ending.push(server.close);
    return server.url;
  };

  it('bun switches protocols without Connection: Upgrade', async () => {
    const { head } = await byHand(await started('bun'), { lines: { Connection: 'keep-alive' } });
    expect(head).toMatch(/^HTTP\/1.1 101 /);
  });

  it('deno switches protocols for version 12, and for none', async () => {
    const url = await started('deno');
    for (const version of ['12', '']) {
      const { head } = await byHand(url, { lines: { 'Sec-WebSocket-Version': version } });
      expect(head).toMatch(/^HTTP\/1.1 101 /);
    }
  });

  it('deno echoes an unmasked frame', async () => {
    const { rest } = await byHand(await started('deno'), { octets: FRAMES.unmaskedText, expects: 3 });
    expect([...rest]).toEqual(FRAMES.echoedText);
  });

  it('deno ends TCP over a reserved opcode without a Close', async () => {
    const { rest } = await byHand(await started('deno'), { octets: [0x83, 0x80, 0, 0, 0, 0], expects: 1 });
    expect([...rest]).toEqual([]);
  });

  it('deno sends a Close of 126 octets back, which no control frame may have', async () => {
    const payload = [0x03, 0xe8, ...Array<number>(124).fill(0x78)];
    const octets = [0x88, 0xfe, 0, 126, 0, 0, 0, 0, ...payload];
    const { rest } = await byHand(await started('deno'), { octets, expects: 4 });
    expect([...rest.subarray(0, 4)]).toEqual([0x88, 126, 0, 126]);
  });

  it.runIf(isInstalled('websockets (Python)'))(
    'websockets of Debian refuses version 12 without naming the one it speaks',
    async () => {
      const url = await started('websockets (Python)');
      const { head } = await byHand(url, { lines: { 'Sec-WebSocket-Version': '12' } });
      expect(head).toMatch(/^HTTP\/1.1 400 /);
      expect(head).not.toMatch(/^sec-websocket-version:/im);
    },
  );

  it('ws inflates 64 KiB to 64 MiB and sends them back, compressed', async () => {
    const server = await ECHO_SERVERS['ws, compressing']();
    ending.push(server.close);
    const bomb = deflateRawSync(Buffer.alloc(64 * 1024 * 1024), { finishFlush: constants.Z_SYNC_FLUSH });
    const length = Buffer.alloc(8);
    length.writeBigUInt64BE(BigInt(bomb.length - 4));
    const octets = [0xc2, 0xff, ...length, 0, 0, 0, 0, ...bomb.subarray(0, -4)];
    const lines = { 'Sec-WebSocket-Extensions': 'permessage-deflate' };
    const { rest } = await byHand(server.url, { octets, lines, expects: 10 });
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

describe.concurrent('an endpoint that is configured as an echo', () => {
  it('may greet before it echoes', async (context) => {
    const { expect } = context;
    const url = await endpoint(context, (socket) => {
      socket.send('served by a test');
      echoing(socket);
    });
    const { judged } = await outcomesOf(url, await echoConfig());
    expect(findings(judged)).toEqual([]);
    expect(judged.get('websocket.echo-long')?.outcome).toBe('pass');
    expect(judged.get('websocket.first-message')?.message).toMatch(/^a text message/);
  });

  it('is no echo when it speaks another dialect, and is not judged as one', async (context) => {
    const { expect } = context;
    const url = await endpoint(context, (socket) =>
      socket.send('0{"sid":"1","upgrades":[],"pingInterval":25000}'),
    );
    const config = await echoConfig();
    const { judged } = await outcomesOf(url, {
      ...config,
      timeouts: { connectMs: 1_000, responseMs: 1_000 },
    });
    expect(findings(judged)).toEqual([]);
    const echoes = [...judged].filter(([id]) => id.startsWith('websocket.echo-'));
    expect(echoes.map(([, { outcome }]) => outcome)).toEqual(echoes.map(() => 'skipped'));
    expect(judged.get('websocket.echo-text')?.message).toContain('engine.io');
  });

  it('is found out once, and not by each check, when it does not echo', async (context) => {
    const { expect } = context;
    const url = await endpoint(context, (socket) =>
      socket.on('message', () => socket.send('something else')),
    );
    const config = await echoConfig();
    const { judged } = await outcomesOf(url, {
      ...config,
      timeouts: { connectMs: 1_000, responseMs: 1_000 },
    });
    expect(withOutcome(judged, 'fail')).toEqual(['websocket.echo-text']);
    expect(judged.get('websocket.echo-text')?.message).toContain('other content (14 octets)');
    expect(judged.get('websocket.echo-fragments')).toMatchObject({
      outcome: 'blocked',
      message: expect.stringContaining('prove nothing'),
    });
  });
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
    const { judged } = await outcomesOf(url, await echoConfig());
    expect(findings(judged)).toEqual([]);
    expect(judged.get('websocket.burst-order')).toMatchObject({
      outcome: 'skipped',
      message: expect.stringContaining('1008'),
    });
  });
});

describe('a service that keeps nobody', () => {
  it('is not judged by what it would do to a connection', async (context) => {
    const url = await endpoint(context, (socket) => socket.close(4401, 'authenticate first'));
    const { judged } = await outcomesOf(url, await echoConfig({ echo: false }));
    expect(findings(judged).filter((each) => !each.startsWith('blocked '))).toEqual([]);
    expect(judged.get('websocket.handshake')?.outcome).toBe('pass');
    expect(judged.get('websocket.ping')).toMatchObject({
      outcome: 'blocked',
      message: expect.stringContaining('a Close (4401) came unasked'),
    });
  });
});

/** Takes each handshake, and does to the connection what a test says, with no library in between. */
async function bareEndpoint(act: (socket: Socket) => void, more: readonly string[] = []): Promise<string> {
  const open = new Set<Socket>();
  const server = createTcpServer((socket) => {
    open.add(socket);
    socket.on('error', () => undefined).on('close', () => open.delete(socket));
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
  const port = await listening(server);
  ending.push(async () => {
    for (const socket of open) socket.destroy();
    server.close();
    await once(server, 'close');
  });
  return `http://127.0.0.1:${port}`;
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

/** A compressed binary message of 64 MiB. */
function bombFrame(): Buffer {
  const deflated = deflateRawSync(Buffer.alloc(64 * 1024 * 1024), { finishFlush: constants.Z_SYNC_FLUSH });
  const payload = deflated.subarray(0, -4);
  const head = Buffer.alloc(10);
  head.writeUInt16BE(0xc27f);
  head.writeBigUInt64BE(BigInt(payload.length), 2);
  return Buffer.concat([head, payload]);
}

describe('a service that sends compression bombs', () => {
  // That no message is inflated beyond a bound is held where it is inflated (harness/evidence/inflation.test.ts).
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
    const config = await echoConfig();
    const { judged } = await outcomesOf(url, {
      ...config,
      timeouts: { connectMs: 1_000, responseMs: 1_000 },
    });
    expect(withOutcome(judged, 'error')).toEqual([]);
    expect(judged.get('websocket.unoffered-extension')?.outcome).toBe('fail');
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
    const config = await echoConfig();
    const { judged } = await outcomesOf(url, {
      ...config,
      timeouts: { connectMs: 1_000, responseMs: 1_000 },
    });
    expect(withOutcome(judged, 'error')).toEqual([]);
    expect(judged.get('websocket.unmasked')).toMatchObject({
      outcome: 'blocked',
      message: expect.stringMatching(reason),
    });
    expect(judged.get('websocket.accept')?.outcome).toBe('pass');
  });
});

describe('the reference provider', () => {
  it.each([
    ['as an echo', {}, 20],
    ['with an origin policy', { origin: 'https://app.example', subprotocols: ['echo.v1'] }, 20],
    [
      'with the Pusher protocol',
      { url: '/app/example-app-key', dialect: 'pusher', echo: false, exchange: [] },
      48,
    ],
  ] as const)('conforms %s', async (_, websocket, atMostSkipped) => {
    const config = await shipped();
    if (config.websocket === null) throw new Error('no websocket is shipped');
    const adapted = { ...config, websocket: { ...config.websocket, ...websocket } };
    const provider = await startProvider(adapted);
    ending.push(provider.stop);
    const { judged } = await outcomesOf(provider.url, adapted);
    expect(findings(judged)).toEqual([]);
    expect(withOutcome(judged, 'skipped').length).toBeLessThanOrEqual(atMostSkipped);
  });
});

import type { Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { COMPRESSED, encodeFrame, OPCODE } from '../conversation/frame.ts';
import { Deflation } from '../conversation/inflation.ts';
import type { Conversation, ConversationEvent, RecordedFrame } from '../conversation.ts';
import { fieldValues } from '../fields/grammar/field-grammar.ts';
import { listen } from '../fixtures/loopback.ts';
import { startProxy } from '../fixtures/proxy.ts';
import { about, impatient, knowingSecret, SECRET, setting } from '../fixtures/setting.ts';
import { echoing, startWsEndpoint } from '../fixtures/ws-endpoint.ts';
import { acceptFor, handshakeRequest } from '../http/request.ts';
import type { HttpRequest } from '../request.ts';
import type { About, TransportOptions } from '../socket/options.ts';
import { proxiesOf } from '../socket/proxies.ts';
import {
  type ConversationLimits,
  type Opening,
  openConnection,
  type WebSocketConnection,
} from './connection.ts';
import { closePayload, FrameDecoder, type WireFrame } from './frames.ts';

const SAMPLE_KEY = 'dGhlIHNhbXBsZSBub25jZQ==';

interface Setup {
  readonly options?: Partial<TransportOptions>;
  readonly opening?: Partial<Opening>;
  readonly about?: Partial<About>;
}

async function open(
  url: string,
  { options, opening, about: more }: Setup = {},
): Promise<WebSocketConnection> {
  const request = withField(handshakeRequest({ target: '/ws' }), 'Sec-WebSocket-Key', SAMPLE_KEY);
  const connection = await openConnection(
    setting(url, options),
    { endpoint: '/ws', request, ...opening },
    about(more),
  );
  onTestFinished(() => void connection.finish());
  return connection;
}

function withField(request: HttpRequest, name: string, value: string): HttpRequest {
  const at = request.fields.findIndex(([other]) => other === name);
  const line = [name, value] as const;
  return { ...request, fields: at < 0 ? [...request.fields, line] : request.fields.with(at, line) };
}

const textFrame = (text: string) => ({ opcode: OPCODE.text, payload: Buffer.from(text) });

/** A connection to a real echo server, of the `ws` library. */
async function openEcho(setup: Setup = {}): Promise<WebSocketConnection> {
  const { url, stop } = await startWsEndpoint(echoing);
  onTestFinished(stop);
  return open(url, setup);
}

const SWITCHING = `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${acceptFor(SAMPLE_KEY)}\r\n\r\n`;

/** A connection to a server that shakes hands and then does to its socket, with the client's frames, what a test says. */
async function openScripted(
  after: (socket: Socket, nextFrame: () => Promise<WireFrame>) => void,
  { greeting = new Uint8Array(), ...setup }: Setup & { readonly greeting?: Uint8Array } = {},
): Promise<WebSocketConnection> {
  const server = await listen((socket) => {
    const decoder = new FrameDecoder(1 << 20);
    const frames: WireFrame[] = [];
    let wake: () => void = () => undefined;
    socket.once('data', () => {
      socket.write(Buffer.concat([Buffer.from(SWITCHING), greeting]));
      socket.on('data', (octets) => {
        frames.push(...decoder.push(octets));
        wake();
      });
      after(socket, async () => {
        for (;;) {
          const frame = frames.shift();
          if (frame) return frame;
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      });
    });
  });
  return open(server.url, setup);
}

const frame = (
  opcode: number,
  payload: string | Uint8Array = '',
  more: Partial<Parameters<typeof encodeFrame>[0]> = {},
) => encodeFrame({ opcode, payload: Buffer.from(payload), mask: null, ...more });
const isFrame = (opcode: number) => (event: ConversationEvent) =>
  event.type === 'frame' && event.frame.opcode === opcode;
const frameIn = (event: ConversationEvent | null): RecordedFrame | null =>
  event?.type === 'frame' ? event.frame : null;
const textIn = (event: ConversationEvent | null) => Buffer.from(frameIn(event)?.payload ?? []).toString();
/** Those of the client alone, or of both sides. */
const framesOf = ({ events }: Conversation, from?: 'client'): readonly RecordedFrame[] =>
  events.flatMap((event) =>
    event.type === 'frame' && (from === undefined || event.from === from) ? [event.frame] : [],
  );
/** `client text`, `server pong`, `server end` … */
function story({ events }: Conversation): string[] {
  const names = new Map<number, string>(Object.entries(OPCODE).map(([name, opcode]) => [opcode, name]));
  return events.map(
    (event) => `${event.from} ${event.type === 'frame' ? names.get(event.frame.opcode) : event.type}`,
  );
}

describe('the opening handshake', () => {
  it('is sent as it is composed, with the run id, and recorded with what the key calls for', async () => {
    const { url, stop } = await startWsEndpoint(echoing);
    onTestFinished(stop);
    const conversation = (await open(url)).finish();
    expect(conversation.failure).toBeNull();
    expect(conversation.handshake.expectedAccept).toBe('s3pPLMBiTxaQ9kYGzzhZRbK+xOo=');
    expect(conversation.handshake.response).toMatchObject({ status: 101, framingFaults: [] });
    expect(fieldValues(conversation.handshake.response?.fields ?? [], 'sec-websocket-accept')).toEqual([
      's3pPLMBiTxaQ9kYGzzhZRbK+xOo=',
    ]);
    expect(conversation.handshake.request).toMatchObject({
      method: 'GET',
      target: '/ws',
      url: `${url.replace('http', 'ws')}/ws`,
      fields: [
        ['Host', url.slice('http://'.length)],
        ['User-Agent', 'conform/0.0.0 (run run-for-tests)'],
        ['X-Conform-Run', 'run-for-tests'],
        ['Upgrade', 'websocket'],
        ['Connection', 'Upgrade'],
        ['Sec-WebSocket-Key', SAMPLE_KEY],
        ['Sec-WebSocket-Version', '13'],
      ],
    });
    expect(story(conversation)).toEqual(['client end']);
  });

  it('may have anything wrong with it', async () => {
    let wire = '';
    const server = await listen((socket) =>
      socket.on('data', (octets) => {
        wire += octets.toString('latin1');
        socket.end(
          'HTTP/1.1 426 Upgrade Required\r\nSec-WebSocket-Version: 13\r\nContent-Length: 2\r\n\r\nno',
        );
      }),
    );
    const parts = { target: '/', origin: 'https://evil.example', subprotocols: ['a', 'b'] };
    const request = withField(handshakeRequest(parts), 'Sec-WebSocket-Key', 'short');
    const connection = await open(server.url, {
      opening: { request: { ...request, method: 'POST' }, form: { httpVersion: '1.0' } },
    });
    expect(wire.split('\r\n')).toEqual([
      'POST / HTTP/1.0',
      `Host: 127.0.0.1:${server.port}`,
      'User-Agent: conform/0.0.0 (run run-for-tests)',
      'X-Conform-Run: run-for-tests',
      'Upgrade: websocket',
      'Connection: Upgrade',
      'Sec-WebSocket-Key: short',
      'Sec-WebSocket-Version: 13',
      'Origin: https://evil.example',
      'Sec-WebSocket-Protocol: a, b',
      '',
      '',
    ]);
    expect(connection.open).toBe(false);
    expect(await connection.sendFrame(textFrame('x'))).toBe(false);
    expect(await connection.next({ timeoutMs: 60_000 })).toBeNull();
    const conversation = connection.finish();
    expect(conversation).toMatchObject({
      failure: null,
      events: [],
      handshake: { expectedAccept: null, response: { status: 426, body: { received: 2 } } },
    });
  });

  it('may go out octet by octet', async () => {
    const connection = await openEcho({ opening: { octetByOctet: true } });
    expect(connection.open).toBe(true);
  });
});

describe('a conversation', () => {
  it('with a real server: text, binary, ping, close, and the end of TCP', async () => {
    const connection = await openEcho();
    await connection.sendFrame(textFrame('grüße'));
    expect(textIn(await connection.next({ timeoutMs: 2000 }))).toBe('grüße');
    await connection.sendFrame({ opcode: OPCODE.binary, payload: Buffer.from([1, 2]) });
    expect(frameIn(await connection.next({ timeoutMs: 2000 }))).toMatchObject({
      opcode: OPCODE.binary,
      masked: false,
    });
    await connection.sendFrame({ opcode: OPCODE.ping, payload: Buffer.from('p') });
    expect(textIn(await connection.next({ timeoutMs: 2000, match: isFrame(OPCODE.pong) }))).toBe('p');
    await connection.sendFrame({ opcode: OPCODE.close, payload: closePayload(1000, 'done') });
    expect(frameIn(await connection.next({ timeoutMs: 2000 }))?.opcode).toBe(OPCODE.close);
    expect(await connection.untilEnd({ timeoutMs: 2000 })).toMatchObject({ from: 'server', type: 'end' });
    expect(connection.open).toBe(false);
    const conversation = connection.finish();
    expect(story(conversation)).toEqual([
      'client text',
      'server text',
      'client binary',
      'server binary',
      'client ping',
      'server pong',
      'client close',
      'server close',
      'server end',
    ]);
    expect(
      conversation.events.every(({ atMs }, index) => atMs >= (conversation.events[index - 1]?.atMs ?? 0)),
    ).toBe(true);
  });

  it('records our own frames as they were on the wire', async () => {
    const connection = await openEcho({ opening: { mask: () => Buffer.from('mask') } });
    await connection.sendFrame({
      opcode: OPCODE.text,
      fin: false,
      rsv: 0,
      payload: Buffer.from('a'),
      lengthOctets: 2,
    });
    await connection.sendFrame({ opcode: 11, rsv: 5, payload: Buffer.from('b'), mask: null });
    await connection.sendFrame({ opcode: OPCODE.binary, announcedLength: 2n ** 62n });
    expect(framesOf(connection.finish(), 'client').slice(0, 2)).toMatchObject([
      { fin: false, rsv: 0, opcode: 1, masked: true, length: 1, lengthOctets: 2, truncated: false },
      { fin: true, rsv: 5, opcode: 11, masked: false, length: 1, lengthOctets: 0 },
    ]);
  });

  it.each([
    ['an unmasked frame', { opcode: OPCODE.text, payload: Buffer.from('a'), mask: null }, 1002],
    ['a reserved opcode', { opcode: 3 }, 1002],
    ['a reserved bit', { opcode: OPCODE.text, rsv: 4 }, 1002],
    ['bad UTF-8', { opcode: OPCODE.text, payload: Buffer.from([0xff]) }, 1007],
  ])('can provoke: %s', async (_what, wrong, code) => {
    const connection = await openEcho();
    await connection.sendFrame(wrong);
    const answer = frameIn(await connection.next({ timeoutMs: 2000, match: isFrame(OPCODE.close) }));
    expect(Buffer.from(answer?.payload ?? []).readUInt16BE(0)).toBe(code);
    expect((await connection.untilEnd({ timeoutMs: 2000 }))?.type).toMatch(/end|reset/);
  });

  it('may send a frame in pieces, and octets that are no frame', async () => {
    const connection = await openEcho();
    await connection.sendFrame(textFrame('chopped'), 3);
    expect(textIn(await connection.next({ timeoutMs: 2000 }))).toBe('chopped');
    await connection.sendOctets(Buffer.from('GET / HTTP/1.1\r\n\r\n'), 'another request');
    expect(await connection.untilEnd({ timeoutMs: 2000 })).not.toBeNull();
    expect(story(connection.finish())).toContain('client octets');
  });

  it('lets no automatic pong fall into a frame that is sent in pieces', async () => {
    const received: WireFrame[] = [];
    const connection = await openScripted((socket, nextFrame) => {
      socket.once('data', () => socket.write(frame(OPCODE.ping, 'now')));
      void (async () => {
        received.push(await nextFrame(), await nextFrame());
        socket.end();
      })();
    });
    await connection.sendFrame(textFrame('in pieces'), 1);
    await connection.untilEnd({ timeoutMs: 2000 });
    expect(received.map(({ payload }) => Buffer.from(payload).toString())).toEqual(['in pieces', 'now']);
  });

  it('takes frames that come with the handshake', async () => {
    const connection = await openScripted(() => undefined, { greeting: frame(OPCODE.text, 'early') });
    expect(textIn(await connection.next({ timeoutMs: 2000 }))).toBe('early');
  });

  it('gives each event out once, and keeps what did not match for later', async () => {
    const connection = await openScripted((socket) => {
      socket.write(
        Buffer.concat([frame(OPCODE.text, '1'), frame(OPCODE.pong, '2'), frame(OPCODE.text, '3')]),
      );
    });
    expect(textIn(await connection.next({ timeoutMs: 2000, match: isFrame(OPCODE.pong) }))).toBe('2');
    expect(textIn(await connection.next({ timeoutMs: 2000 }))).toBe('1');
    expect(textIn(await connection.next({ timeoutMs: 2000 }))).toBe('3');
  });

  it('records a wait that ran out', async () => {
    const connection = await openEcho();
    expect(await connection.next({ timeoutMs: 20, note: 'a greeting' })).toBeNull();
    expect(connection.finish().events[0]).toMatchObject({
      from: 'client',
      type: 'waited',
      forMs: 20,
      note: 'a greeting',
    });
  });

  it('answers pings and a Close by itself, unless it is told not to', async () => {
    const script = (socket: Socket, nextFrame: () => Promise<WireFrame>) => {
      socket.write(
        Buffer.concat([frame(OPCODE.ping, 'are you there'), frame(OPCODE.close, closePayload(1001, 'bye'))]),
      );
      void (async () => {
        const pong = await nextFrame();
        const close = await nextFrame();
        if (pong.masked && close.masked) socket.end();
      })();
    };
    const polite = await openScripted(script);
    expect(await polite.untilEnd({ timeoutMs: 2000 })).toMatchObject({ type: 'end' });
    const answers = framesOf(polite.finish(), 'client');
    expect(answers.map(({ opcode, payload }) => [opcode, Buffer.from(payload).toString('latin1')])).toEqual([
      [OPCODE.pong, 'are you there'],
      [OPCODE.close, '\x03\xe9'],
    ]);
    const silent = await openScripted(script, {
      opening: { automatic: { pong: false, close: false } },
    });
    await silent.next({ timeoutMs: 2000, match: isFrame(OPCODE.close) });
    expect(await silent.untilEnd({ timeoutMs: 30 })).toBeNull();
    expect(story(silent.finish())).toEqual(['server ping', 'server close', 'client waited', 'client end']);
  });

  it('tells a reset from an end, and keeps a frame that broke off', async () => {
    const reset = await openScripted((socket) => setImmediate(() => socket.resetAndDestroy()));
    expect(await reset.untilEnd({ timeoutMs: 2000 })).toMatchObject({ type: 'reset' });
    const broken = await openScripted((socket) => socket.end(frame(OPCODE.text, 'abcdef').subarray(0, 5)));
    await broken.untilEnd({ timeoutMs: 2000 });
    expect(broken.finish().events[0]).toMatchObject({ type: 'frame', frame: { length: 6, truncated: true } });
    const stump = await openScripted((socket) => socket.end(Buffer.from([0x81])));
    await stump.untilEnd({ timeoutMs: 2000 });
    expect(stump.finish().events[0]).toMatchObject({
      type: 'octets',
      octets: Uint8Array.of(0x81),
      note: 'less than a frame',
    });
  });
});

describe('bounds', () => {
  const flood = (octets: Uint8Array) => (socket: Socket) => {
    const more = () => {
      if (!socket.destroyed) socket.write(octets, () => setImmediate(more));
    };
    more();
  };

  it.each<[string, Uint8Array, Partial<ConversationLimits>, string]>([
    [
      'frames without end',
      Buffer.concat(Array(100).fill(frame(OPCODE.pong))),
      { events: 500 },
      'body-too-large',
    ],
    [
      'one frame without end',
      Buffer.concat([frame(OPCODE.binary, '', { announcedLength: 2n ** 62n }), Buffer.alloc(65_536)]),
      { octets: 300_000 },
      'body-too-large',
    ],
    ['a conversation without end', frame(OPCODE.pong), { durationMs: 100, events: 1e9 }, 'response-timeout'],
  ])('end %s', async (_what, octets, limits, kind) => {
    const connection = await openScripted(flood(octets), { opening: { limits } });
    expect(await connection.untilEnd({ timeoutMs: 10_000 })).toBeNull();
    expect(connection.finish().failure?.kind).toBe(kind);
  });

  it('cut a long payload in the record, and leave its digest', async () => {
    const connection = await openEcho({ opening: { limits: { frameBytes: 10 } } });
    const payload = Buffer.alloc(100_000, 'x');
    await connection.sendFrame({ opcode: OPCODE.binary, payload });
    const echoed = frameIn(await connection.next({ timeoutMs: 2000 }));
    const [sent] = connection.finish().events;
    expect(echoed).toMatchObject({ length: 100_000, truncated: true });
    expect(echoed?.payload).toHaveLength(10);
    expect(echoed?.digest).toMatch(/^[0-9a-f]{64}$/);
    expect(frameIn(sent ?? null)?.digest).toBe(echoed?.digest);
  });

  it('end the sending to a server that does not read', async () => {
    const connection = await openScripted((socket) => void socket.pause(), { options: impatient() });
    const taken: boolean[] = [];
    for (let count = 0; count < 20 && !taken.includes(false); count++) {
      taken.push(await connection.sendFrame({ opcode: OPCODE.binary, payload: Buffer.alloc(1 << 20) }));
    }
    expect(taken.at(-1)).toBe(false);
  });

  it('end a conversation when the run is aborted', async () => {
    const abort = new AbortController();
    const connection = await openEcho({ about: { signal: abort.signal } });
    const waiting = connection.untilEnd({ timeoutMs: 60_000 });
    abort.abort(new Error('run aborted'));
    expect(await waiting).toBeNull();
    expect(connection.finish().failure).toEqual({
      kind: 'not-sent',
      message: 'aborted during the conversation: run aborted',
    });
  });
});

describe('secrets', () => {
  const octetsOf = ({ events }: Conversation) =>
    events
      .map((event) =>
        event.type === 'frame' ? event.frame.payload : event.type === 'octets' ? event.octets : [],
      )
      .map((each) => Buffer.from(each).toString('latin1'))
      .join('');

  it('are taken out of the handshake, of frames, and of messages that carry them in pieces', async () => {
    const target = `/ws?key=${SECRET}`;
    const request = withField(handshakeRequest({ target }), 'Authorization', `Bearer ${SECRET}`);
    const connection = await openEcho({ options: knowingSecret(), opening: { request } });
    await connection.sendFrame(textFrame(`key: ${SECRET}`));
    await connection.next({ timeoutMs: 2000 });
    for (const [index, char] of [...SECRET].entries()) {
      await connection.sendFrame({
        opcode: index === 0 ? OPCODE.text : OPCODE.continuation,
        fin: index === SECRET.length - 1,
        payload: Buffer.from(char),
      });
    }
    await connection.next({ timeoutMs: 2000 });
    const conversation = connection.finish();
    const octets = octetsOf(conversation);
    expect(octets).not.toContain(SECRET);
    expect(octets.split('[redacted:TEST_KEY]')).toHaveLength(5);
    expect(JSON.stringify(conversation.handshake)).not.toContain(SECRET);
  });

  it('sent octet by octet are recorded in one place, redacted', async () => {
    const connection = await openScripted(() => undefined, { options: knowingSecret() });
    for (const char of SECRET) await connection.sendOctets(Buffer.from(char), 'one octet');
    expect(octetsOf(connection.finish())).toBe('[redacted:TEST_KEY]');
  });
});

describe('a compressed message that holds a secret', () => {
  it('is recorded without its octets, others as they are', async () => {
    const deflated = (text: string) => new Deflation(false).next(Buffer.from(text));
    const clean = deflated('nothing to hide');
    const connection = await openScripted(
      (socket) => {
        socket.write(frame(OPCODE.text, deflated(`the key is ${SECRET}`), { rsv: 4 }));
        socket.write(frame(OPCODE.text, clean, { rsv: 4 }));
      },
      { options: knowingSecret() },
    );
    await connection.next({ timeoutMs: 2_000, match: isFrame(OPCODE.text) });
    await connection.next({ timeoutMs: 2_000, match: isFrame(OPCODE.text) });
    const lengths = [
      [0, true],
      [clean.length, false],
    ];
    expect(
      framesOf(connection.finish()).map(({ payload, truncated }) => [payload.length, truncated]),
    ).toEqual(lengths);
    const ours = await openScripted(() => undefined, { options: knowingSecret() });
    for (const payload of [deflated(`the key is ${SECRET}`), clean])
      await ours.sendFrame({ opcode: OPCODE.text, rsv: COMPRESSED, payload });
    expect(
      framesOf(ours.finish(), 'client').map(({ payload, truncated }) => [payload.length, truncated]),
    ).toEqual(lengths);
  });
});

describe('over plain ws to another machine', () => {
  async function openAway(options: Partial<TransportOptions> = {}) {
    const { url, stop } = await startWsEndpoint(echoing);
    onTestFinished(stop);
    const proxy = await startProxy({ behind: { 'api.example:80': Number(new URL(url).port) } });
    const proxies = proxiesOf({ HTTP_PROXY: proxy.url });
    return open('http://api.example', { options: { ...knowingSecret(), proxies, ...options } });
  }
  const halves = [SECRET.slice(0, 9), SECRET.slice(9)].map((half, at) => ({
    opcode: at === 0 ? OPCODE.text : OPCODE.continuation,
    fin: at === 1,
    payload: Buffer.from(half),
  }));

  it('a secret is not sent in a message either, nor in parts of one', async () => {
    const whole = await openAway();
    expect(await whole.sendFrame(textFrame('of no harm'))).toBe(true);
    expect(await whole.sendFrame(textFrame(`{"token":"${SECRET}"}`))).toBe(false);
    expect(whole.failure).toMatchObject({
      kind: 'not-sent',
      message: expect.stringContaining('safety.plainHttp'),
    });
    const split = await openAway();
    const sent: boolean[] = [];
    const ping = { opcode: OPCODE.ping, payload: Buffer.from('between') };
    for (const each of [halves[0], ping, halves[1]]) sent.push(await split.sendFrame(each ?? ping));
    expect(sent).toEqual([true, true, false]);
  });

  it('nor in a compressed message, or in the first fragments of one', async () => {
    const deflation = new Deflation(true);
    const harmless = deflation.next(Buffer.from(`${'of no harm, '.repeat(40)}and the key is `));
    const holding = deflation.next(Buffer.from(`of no harm, and the key is ${SECRET}, of no harm`));
    const message = (payload: Uint8Array, fin = true) => ({
      opcode: OPCODE.text,
      rsv: COMPRESSED,
      fin,
      payload,
    });
    const whole = await openAway();
    expect(await whole.sendFrame(message(harmless))).toBe(true);
    expect(await whole.sendFrame(message(holding))).toBe(false);
    expect(whole.failure).toMatchObject({ kind: 'not-sent' });
    const begun = await openAway();
    expect(await begun.sendFrame(message(harmless))).toBe(true);
    expect(await begun.sendFrame(message(holding.subarray(0, -4), false))).toBe(false);
  });

  it('it is sent where safety.plainHttp allows it', async () => {
    const allowed = await openAway({ plainHttp: true });
    expect(await allowed.sendFrames(halves)).toBe(true);
    expect(allowed.failure).toBeNull();
  });
});

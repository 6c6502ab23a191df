import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { WebSocketServer } from 'ws';
import { served } from '../../../base/fixtures/server.ts';
import { freePort } from '../../../base/loopback.ts';
import { Secret } from '../../../base/secret.ts';
import { Blocked, NotApplicable } from '../../../base/verdict.ts';
import { bearer, header, query } from '../../../config/credential/schemes.ts';
import { shipped } from '../../../config/fixtures/config-folder.ts';
import type { ServiceConfig, WebSocketConfig } from '../../../config/service.ts';
import { echoing } from '../../../wire/fixtures/ws-endpoint.ts';
import { sessionAt } from '../fixtures/session.ts';
import type { Port } from '../probe.ts';
import type { Conversing } from './conversation.ts';
import type { HandshakeStimulus } from './handshake-stimulus.ts';

const KEY = 'example-key-for-conversation-tests';
const BEARER = bearer.of({ key: new Secret('TEST_KEY', KEY) });

interface Answering {
  /** A status in place of 101; null closes the connection without an answer. */
  readonly refuse?: (request: IncomingMessage) => number | null | undefined;
}

/** An echo of the `ws` library, and the handshakes that it has seen. */
async function echo({ refuse = () => undefined }: Answering = {}) {
  const handshakes: IncomingMessage[] = [];
  const server = createServer();
  const sockets = new WebSocketServer({ noServer: true });
  server.on('upgrade', (request, socket, head) => {
    handshakes.push(request);
    const status = refuse(request);
    if (status === null) return void socket.destroy();
    if (status !== undefined)
      return void socket.end(`HTTP/1.1 ${status} Refused\r\nContent-Length: 0\r\n\r\n`);
    sockets.handleUpgrade(request, socket, head, (client) => {
      sockets.emit('connection', client, request);
      client.on('error', () => undefined);
      echoing(client);
    });
  });
  return { url: await served(server), handshakes, sockets };
}

interface Setup {
  readonly config?: Partial<ServiceConfig>;
  readonly websocket?: Partial<WebSocketConfig> | null;
}

/** A session in which a probe yields what it does, or rejects with what it throws. */
async function open(url: string, { config, websocket = {} }: Setup = {}) {
  const plain: WebSocketConfig = { url: '/ws', dialect: 'raw', echo: true, origin: null, subprotocols: [] };
  const opened = sessionAt(url, {
    ...(await shipped('realtime')),
    credentials: BEARER,
    websocket: websocket && { ...plain, ...websocket },
    timeouts: { connectMs: 2_000, responseMs: 2_000 },
    ...config,
  });
  const ask = async <E>(send: (port: Port) => Promise<E>): Promise<E> => {
    const answer = await opened.asked(send);
    if ('failed' in answer) throw answer.failed;
    return answer.value;
  };
  const shake = (stimulus: Partial<HandshakeStimulus> = {}, conversing?: Conversing) =>
    ask(({ websocket: port }) =>
      port.converse({ purpose: 'a WebSocket for a test', ...stimulus }, conversing),
    );
  return { ...opened, ask, shake };
}

describe('a conversation', () => {
  it('is one request of the budget and one piece of evidence', async () => {
    const { url } = await echo();
    const { session, shake, evidence } = await open(url);
    const view = await shake({}, async (conversation) => {
      await conversation.text('hello');
      await conversation.returned(Buffer.from('hello'));
    });
    await shake();
    expect(view.echoes.map(({ isSame }) => isSame)).toEqual([true]);
    expect(view.ended).toBeNull();
    expect((await session.close()).requestsSent).toBe(2);
    const kept = evidence();
    expect(kept.map(({ requests, purpose }) => [requests, purpose])).toEqual([
      [1, 'a WebSocket for a test'],
      [1, 'a WebSocket for a test'],
    ]);
    expect(kept[0]).toMatchObject({ id: view.evidence, value: { kind: 'conversation' } });
  });

  it('ends when the probe fails', async () => {
    const { url, sockets } = await echo();
    const { shake } = await open(url);
    const closed = once(sockets, 'connection').then(([client]) => once(client, 'close'));
    const failing = shake({}, async () => {
      throw new Error('as intended');
    });
    await expect(failing).rejects.toThrow('as intended');
    await closed;
  });

  it.each([null, 4])('is held alone, or beside others once so many are kept: %s', async (kept) => {
    const { url, handshakes } = await echo();
    const { ask } = await open(url);
    const places = kept ?? 1;
    const full = Promise.withResolvers<void>();
    let [now, most] = [0, 0];
    const converse = ({ websocket }: Pick<Port, 'websocket'>) => {
      if (kept !== null) websocket.widen(kept);
      return websocket.converse({ purpose: 'a WebSocket for a test' }, async (conversation) => {
        now += 1;
        most = Math.max(most, now);
        if (now === places) full.resolve();
        await full.promise;
        await conversation.text('hello');
        await conversation.returned(Buffer.from('hello'));
        now -= 1;
      });
    };
    await Promise.all(Array.from({ length: 8 }, () => ask(converse)));
    expect(handshakes).toHaveLength(8);
    expect(most).toBe(places);
  });

  it('takes no place of its own within another', async () => {
    const { url, handshakes } = await echo();
    const { ask } = await open(url);
    await ask(({ websocket }) =>
      websocket.converse({ purpose: 'a WebSocket for a test' }, async () => {
        await websocket.converse({ purpose: 'a WebSocket within it' });
      }),
    );
    expect(handshakes).toHaveLength(2);
  });
});

describe('its handshake', () => {
  it('carries the credential, of which nothing is recorded', async () => {
    const { url, handshakes } = await echo();
    const { shake, journal } = await open(url);
    await shake();
    expect(handshakes[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
    expect(journal()).not.toContain(KEY);
    expect(journal()).toContain('[redacted:TEST_KEY]');
  });

  it('carries it where it is configured', async () => {
    const { url, handshakes } = await echo();
    const key = new Secret('TEST_KEY', KEY);
    const inQuery = await open(url, { config: { credentials: query.of({ name: 'api_key', key }) } });
    await inQuery.shake();
    expect(handshakes[0]?.url).toBe(`/ws?api_key=${KEY}`);
    expect(inQuery.journal()).not.toContain(KEY);
    const inField = await open(url, { config: { credentials: header.of({ name: 'X-Key', key }) } });
    await inField.shake();
    expect(handshakes[1]?.headers['x-key']).toBe(KEY);
  });

  it('carries another credential, or none, when asked to', async () => {
    const { url, handshakes } = await echo();
    const { shake } = await open(url);
    await shake({ credential: 'none' });
    await shake({ credential: { wrong: 'wrong' } });
    const [none, wrong] = handshakes.map(({ headers }) => headers.authorization);
    expect(none).toBeUndefined();
    expect(wrong).toMatch(/^Bearer (?!example)/);
  });

  it('is that of a Pusher client where that is the dialect, without a credential', async () => {
    const { url, handshakes } = await echo();
    const pusher = { dialect: 'pusher', echo: false } as const;
    const usual = await open(`${url}/base`, { websocket: { ...pusher, url: '/app/example-app-key' } });
    await usual.shake();
    const own = await open(url, {
      websocket: { ...pusher, url: '/app/example-app-key?protocol=5&client=own' },
    });
    await own.shake();
    expect(handshakes.map((request) => request.url)).toEqual([
      '/base/app/example-app-key?protocol=7&client=conform&version=1.2.3',
      '/app/example-app-key?protocol=5&client=own&version=1.2.3',
    ]);
    expect(handshakes.some(({ headers }) => 'authorization' in headers)).toBe(false);
  });

  it('has the configured origin and subprotocols', async () => {
    const { url, handshakes } = await echo();
    const { shake } = await open(url, {
      websocket: { origin: 'https://app.example', subprotocols: ['chat.v2', 'chat.v1'] },
    });
    const view = await shake();
    expect(handshakes[0]?.headers).toMatchObject({
      origin: 'https://app.example',
      'sec-websocket-protocol': 'chat.v2, chat.v1',
    });
    expect(view.subprotocol).toBe('chat.v2');
    expect(view.offered('sec-websocket-protocol')).toEqual(['chat.v2', 'chat.v1']);
  });

  it('is otherwise where the stimulus says so, and nowhere else', async () => {
    const { url, handshakes } = await echo({ refuse: () => 400 });
    const { shake } = await open(url);
    const view = await shake({
      method: 'POST',
      target: (target) => `${target}?x=1`,
      fields: [['sec-websocket-version', '12']],
      without: ['sec-websocket-key'],
    });
    const [sent] = handshakes;
    expect([sent?.method, sent?.url, sent?.headers['sec-websocket-version']]).toEqual([
      'POST',
      '/ws?x=1',
      '12',
    ]);
    expect(sent?.headers['sec-websocket-key']).toBeUndefined();
    expect(sent?.headers.upgrade).toBe('websocket');
    expect(sent?.headers['x-conform-run']).toBe('run-for-tests');
    expect([view.opened, view.status]).toEqual([false, 400]);
  });

  it('may come octet by octet', async () => {
    const { url } = await echo();
    const { shake } = await open(url);
    expect((await shake({ octetByOctet: true })).opened).toBe(true);
  });
});

describe('no conversation', () => {
  it('is held with a service that has no WebSocket', async () => {
    const { url } = await echo();
    const { shake } = await open(url, { websocket: null });
    await expect(shake()).rejects.toThrow(NotApplicable);
  });

  it('sends a credential over plain ws to another machine', async () => {
    // TEST-NET-1 (RFC 5737): nobody is there, and nothing is sent.
    const { shake, evidence } = await open('http://192.0.2.1');
    await expect(shake()).rejects.toThrow(/not sent over plain/);
    expect(evidence()[0]).toMatchObject({
      value: { failure: { kind: 'not-sent' } },
    });
  });

  it('shows anything when it is refused for its rate', async () => {
    const { url } = await echo({ refuse: () => 429 });
    const { shake } = await open(url);
    await expect(shake()).rejects.toThrow(/answered 429/);
  });

  it('goes beyond the ceiling of requests', async () => {
    const { url, handshakes } = await echo();
    const safety = { ...(await shipped('realtime')).safety, maxRequests: 1 };
    const { shake } = await open(url, { config: { safety } });
    await shake();
    await expect(shake()).rejects.toThrow(Blocked);
    expect(handshakes).toHaveLength(1);
  });

  it('is held once nobody is there', async () => {
    const { session, shake } = await open(`http://127.0.0.1:${await freePort()}`);
    await expect(shake()).rejects.toThrow(/cannot be reached/);
    expect(session.outage).toMatch(/cannot be reached/);
  });
});

describe('silence', () => {
  it('after handshakes that are wrong on purpose is no sign that the service is gone', async () => {
    const { url } = await echo({
      refuse: ({ headers }) => (headers['sec-websocket-version'] === '12' ? null : undefined),
    });
    const { session, shake } = await open(url);
    for (let index = 0; index < 5; index++) {
      const view = await shake({ fields: [['Sec-WebSocket-Version', '12']] });
      expect([view.status, view.opened]).toEqual([null, false]);
    }
    expect(session.outage).toBeNull();
    expect((await shake()).opened).toBe(true);
  });
});

import { createHash, createHmac } from 'node:crypto';
import Pusher from 'pusher';
import { beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { APP, ask, started } from '../fixtures/http-client.ts';
import type { ReferenceProvider } from '../reference.ts';
import type { PusherEvent } from './channels.ts';

let provider: ReferenceProvider;

beforeEach(async () => {
  provider = await started('realtime');
});

/** A connection whose events are read one after another. */
class Client {
  readonly #socket: WebSocket;
  readonly #events: PusherEvent[] = [];
  readonly #waiting: ((event: PusherEvent) => void)[] = [];
  readonly closed: Promise<number>;

  constructor(target: string) {
    this.#socket = new WebSocket(provider.url.replace('http', 'ws') + target);
    this.closed = new Promise((resolve) => this.#socket.on('close', resolve));
    this.#socket.on('message', (content) => {
      const event: PusherEvent = JSON.parse(content.toString());
      const next = this.#waiting.shift();
      if (next === undefined) this.#events.push(event);
      else next(event);
    });
  }

  next(): Promise<PusherEvent> {
    const event = this.#events.shift();
    return event === undefined
      ? new Promise((resolve) => this.#waiting.push(resolve))
      : Promise.resolve(event);
  }

  send(message: unknown): void {
    this.#socket.send(
      typeof message === 'string' || Buffer.isBuffer(message) ? message : JSON.stringify(message),
    );
  }

  async say(event: string, data: unknown, channel?: string): Promise<PusherEvent> {
    this.send({ event, data, ...(channel === undefined ? {} : { channel }) });
    return this.next();
  }
}

const TARGET = `/app/${APP.key}?protocol=7&client=js&version=8.6.0`;

function parsed(event: PusherEvent): Record<string, unknown> {
  return JSON.parse(String(event.data));
}

async function connected(): Promise<{ client: Client; socketId: string }> {
  const client = new Client(TARGET);
  return { client, socketId: String(parsed(await client.next()).socket_id) };
}

function auth(...parts: readonly string[]): string {
  return `${APP.key}:${createHmac('sha256', APP.secret).update(parts.join(':')).digest('hex')}`;
}

async function publish(body: object): Promise<number> {
  const text = JSON.stringify(body);
  const query = [
    `auth_key=${APP.key}`,
    `auth_timestamp=${Math.floor(Date.now() / 1000)}`,
    'auth_version=1.0',
    `body_md5=${createHash('md5').update(text).digest('hex')}`,
  ].join('&');
  const signature = createHmac('sha256', APP.secret).update(`POST\n/apps/77/events\n${query}`).digest('hex');
  const target = `/apps/77/events?${query}&auth_signature=${signature}`;
  return (await ask(provider, { method: 'POST', target, authorization: null, body: text })).status;
}

// What the suites ask for, the proof shows.
describe('a pusher connection', () => {
  it('of a version that is none is refused with 4006, as event and as close code', async () => {
    const client = new Client(`/app/${APP.key}?protocol=seven`);
    expect(await client.next()).toMatchObject({ event: 'pusher:error', data: { code: 4006 } });
    expect(await client.closed).toBe(4006);
  });

  it('survives nonsense, and says so', async () => {
    const { client } = await connected();
    for (const nonsense of ['no json', '[]', '"text"', '{"event":1}', '{"event":"pusher:unknown"}']) {
      client.send(nonsense);
      expect((await client.next()).event).toBe('pusher:error');
    }
    expect((await client.say('pusher:ping', {})).event).toBe('pusher:pong');
  });

  it('takes text only', async () => {
    const { client } = await connected();
    client.send(Buffer.from([1]));
    expect(await client.closed).toBe(1003);
  });

  it('gets what is published on its channels, and nothing after it left them', async () => {
    const { client } = await connected();
    expect(await client.say('pusher:subscribe', { channel: 'news' })).toEqual({
      event: 'pusher_internal:subscription_succeeded',
      channel: 'news',
      data: '{}',
    });
    expect(await publish({ name: 'greeting', channels: ['news', 'other'], data: '"hello"' })).toBe(200);
    expect(await client.next()).toEqual({ event: 'greeting', channel: 'news', data: '"hello"' });
    client.send({ event: 'pusher:unsubscribe', data: { channel: 'news' } });
    await client.say('pusher:ping', {});
    await publish({ name: 'greeting', channel: 'news', data: '"again"' });
    expect((await client.say('pusher:ping', {})).event).toBe('pusher:pong');
  });

  it('is spared its own events', async () => {
    const { client, socketId } = await connected();
    await client.say('pusher:subscribe', { channel: 'news' });
    await publish({ name: 'greeting', channel: 'news', data: '"hello"', socket_id: socketId });
    expect((await client.say('pusher:ping', {})).event).toBe('pusher:pong');
  });

  it('subscribes to private channels by a signature bound to it', async () => {
    const { client, socketId } = await connected();
    const channel = 'private-orders';
    const subscribe = (signature: string | undefined): Promise<PusherEvent> =>
      client.say('pusher:subscribe', { channel, auth: signature });
    for (const wrong of [undefined, 'nonsense', auth('1.1', channel), auth(socketId, 'private-other')]) {
      expect(await subscribe(wrong)).toMatchObject({
        event: 'pusher:subscription_error',
        channel,
        data: { status: 401 },
      });
    }
    expect((await subscribe(auth(socketId, channel))).event).toBe('pusher_internal:subscription_succeeded');
    expect((await subscribe(auth(socketId, channel))).event).toBe('pusher:error');
  });

  it('sees who is present, who comes and who goes', async () => {
    const channel = 'presence-room';
    const enter = async (name: string): Promise<{ client: Client; answer: PusherEvent }> => {
      const { client, socketId } = await connected();
      const channelData = JSON.stringify({ user_id: name, user_info: { name } });
      const data = { channel, channel_data: channelData, auth: auth(socketId, channel, channelData) };
      return { client, answer: await client.say('pusher:subscribe', data) };
    };
    const first = await enter('ann');
    expect(parsed(first.answer)).toEqual({
      presence: { ids: ['ann'], hash: { ann: { name: 'ann' } }, count: 1 },
    });
    const second = await enter('bob');
    expect(parsed(second.answer)).toMatchObject({ presence: { ids: ['ann', 'bob'], count: 2 } });
    expect(await first.client.next()).toMatchObject({ event: 'pusher_internal:member_added', channel });
    second.client.send({ event: 'pusher:unsubscribe', data: { channel } });
    expect(parsed(await first.client.next())).toEqual({ user_id: 'bob' });
  });

  it('may send client events on private channels that it is on; elsewhere they are refused with 4301', async () => {
    const { client } = await connected();
    await client.say('pusher:subscribe', { channel: 'news' });
    for (const elsewhere of ['news', 'private-other', undefined]) {
      expect(await client.say('client-typed', {}, elsewhere)).toMatchObject({
        event: 'pusher:error',
        data: { code: 4301 },
      });
    }
  });

  it('signs users in, or ends with 4009', async () => {
    const { client, socketId } = await connected();
    const userData = JSON.stringify({ id: 'ann' });
    const signed = { user_data: userData, auth: auth(`${socketId}::user::${userData}`) };
    expect((await client.say('pusher:signin', signed)).event).toBe('pusher:signin_success');
    expect(await client.say('pusher:signin', { ...signed, auth: 'wrong' })).toMatchObject({
      data: { code: 4009 },
    });
    expect(await client.closed).toBe(4009);
  });
});

describe('the publisher’s own library', () => {
  it('publishes, and lists the channels', async () => {
    const publisher = new Pusher({
      appId: APP.id,
      key: APP.key,
      secret: APP.secret,
      host: '127.0.0.1',
      port: String(provider.port),
      useTLS: false,
    });
    const { client } = await connected();
    await client.say('pusher:subscribe', { channel: 'news' });
    const published = await publisher.trigger(['news', 'sport'], 'greeting', { text: 'grüezi' });
    expect(published.status).toBe(200);
    expect(await client.next()).toEqual({ event: 'greeting', channel: 'news', data: '{"text":"grüezi"}' });
    const listed = await publisher.get({ path: '/channels', params: { filter_by_prefix: 'ne' } });
    expect(await listed.json()).toEqual({ channels: { news: {} } });
  });
});

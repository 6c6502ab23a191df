import { createRequire } from 'node:module';
import Pusher from 'pusher';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { APP, started } from '../fixtures/http-client.ts';
import type { ReferenceProvider } from '../reference.ts';

type ClientLibrary = typeof import('pusher-js').default;
type PusherClient = InstanceType<ClientLibrary>;

// Its types promise a default export that the module, which is CommonJS, does not have.
const PusherClient: ClientLibrary = createRequire(import.meta.url)('pusher-js');

/** The dialect is theirs and not ours: the reference is spoken to by the client and the server library of Pusher. */

let provider: ReferenceProvider;

beforeEach(async () => {
  provider = await started('realtime');
});

function publisher(secret: string = APP.secret): Pusher {
  const { id: appId, key } = APP;
  return new Pusher({ appId, key, secret, host: '127.0.0.1', port: String(provider.port), useTLS: false });
}

/** Signs what it subscribes to with this secret; disconnects when the test ends. */
function client(key: string = APP.key, secret: string = APP.secret): PusherClient {
  const opened = new PusherClient(key, {
    cluster: '',
    wsHost: '127.0.0.1',
    wsPort: provider.port,
    forceTLS: false,
    enabledTransports: ['ws'],
    disableStats: true,
    channelAuthorization: {
      transport: 'ajax',
      endpoint: 'http://127.0.0.1/',
      customHandler: ({ socketId, channelName }, authorized) =>
        authorized(null, publisher(secret).authorizeChannel(socketId, channelName, memberOf(channelName))),
    },
  });
  onTestFinished(() => opened.disconnect());
  return opened;
}

function memberOf(channel: string): { user_id: string; user_info: object } | undefined {
  return channel.startsWith('presence-') ? { user_id: 'anna', user_info: { name: 'Anna' } } : undefined;
}

/** Settles with the next event of that name. */
function event(
  on: { bind(name: string, act: (data: unknown) => void): unknown },
  name: string,
): Promise<unknown> {
  return new Promise((resolve) => on.bind(name, resolve));
}

describe('pusher-js', () => {
  it('connects, and is told its socket_id', async () => {
    const { connection } = client();
    await event(connection, 'connected');
    expect(connection.socket_id).toMatch(/^\d+\.\d+$/);
  });

  it('gives up on an application that does not exist', async () => {
    const { connection } = client('no-such-key');
    const error = event(connection, 'error');
    await event(connection, 'disconnected');
    expect(JSON.stringify(await error)).toContain('Application does not exist');
  });

  it('receives in a public channel what the server library publishes', async () => {
    const room = client().subscribe('room');
    await event(room, 'pusher:subscription_succeeded');
    const received = event(room, 'greeting');
    await publisher().trigger('room', 'greeting', { text: 'hello' });
    expect(await received).toEqual({ text: 'hello' });
  });

  it('does not receive what it has published itself, told by its socket_id', async () => {
    const own = client();
    const room = own.subscribe('room');
    await event(room, 'pusher:subscription_succeeded');
    const seen: unknown[] = [];
    room.bind('greeting', (data: unknown) => seen.push(data));
    const last = event(room, 'last');
    await publisher().trigger('room', 'greeting', {}, { socket_id: own.connection.socket_id });
    await publisher().trigger('room', 'last', {});
    await last;
    expect(seen).toEqual([]);
  });

  it('subscribes to a private channel with a signature of the server library, and talks to others there', async () => {
    const [one, other] = [client(), client()].map((each) => each.subscribe('private-room'));
    if (!one || !other) throw new Error('expected two channels');
    await Promise.all([one, other].map((each) => event(each, 'pusher:subscription_succeeded')));
    const received = event(other, 'client-note');
    one.trigger('client-note', { text: 'psst' });
    expect(await received).toEqual({ text: 'psst' });
  });

  it('is refused a private channel with a signature of another secret', async () => {
    const channel = client(APP.key, 'another').subscribe('private-room');
    expect(await event(channel, 'pusher:subscription_error')).toMatchObject({ status: 401 });
  });

  it('learns who is present', async () => {
    const room = client().subscribe('presence-room');
    const members = await event(room, 'pusher:subscription_succeeded');
    expect(members).toMatchObject({ count: 1, myID: 'anna', members: { anna: { name: 'Anna' } } });
    const listed = await publisher().get({
      path: '/channels',
      params: { info: 'user_count', filter_by_prefix: 'presence-' },
    });
    expect(await listed.json()).toEqual({ channels: { 'presence-room': { user_count: 1 } } });
  });

  it('says goodbye, and its channel is empty', async () => {
    const own = client();
    await event(own.subscribe('room'), 'pusher:subscription_succeeded');
    const gone = event(own.connection, 'disconnected');
    own.disconnect();
    await gone;
    await expect
      .poll(async () => (await publisher().get({ path: '/channels' })).json())
      .toEqual({ channels: {} });
  });
});

import { once } from 'node:events';
import { createRequire } from 'node:module';
import Pusher from 'pusher';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { APP, started } from '../fixtures/http-client.ts';
import type { RunningReference } from '../reference.ts';

type ClientLibrary = typeof import('pusher-js').default;
type PusherClient = InstanceType<ClientLibrary>;

// Its types promise a default export that the module, which is CommonJS, does not have.
const PusherClient: ClientLibrary = createRequire(import.meta.url)('pusher-js');

/** The dialect is theirs and not ours: the reference is spoken to by the client and the server library of Pusher. */

let provider: RunningReference;

beforeEach(async () => {
  provider = await started('realtime');
});

function publisher(secret: string = APP.secret): Pusher {
  const { id: appId, key } = APP;
  return new Pusher({ appId, key, secret, host: '127.0.0.1', port: String(provider.port), useTLS: false });
}

/** Signs what it subscribes to, and its user, with this secret; disconnects when the test ends. */
function client(key: string = APP.key, secret: string = APP.secret, user = 'anna'): PusherClient {
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
        authorized(
          null,
          publisher(secret).authorizeChannel(socketId, channelName, memberOf(channelName, user)),
        ),
    },
    userAuthentication: {
      transport: 'ajax',
      endpoint: 'http://127.0.0.1/',
      customHandler: ({ socketId }, authenticated) =>
        authenticated(null, publisher(secret).authenticateUser(socketId, { id: user })),
    },
  });
  onTestFinished(() => opened.disconnect());
  return opened;
}

function memberOf(channel: string, user: string): { user_id: string; user_info: object } | undefined {
  return channel.startsWith('presence-') ? { user_id: user, user_info: { name: user } } : undefined;
}

/** Settles with the next event of that name. */
function event(
  on: { bind(name: string, act: (data: unknown) => void): unknown },
  name: string,
): Promise<unknown> {
  return new Promise((resolve) => on.bind(name, resolve));
}

/** The channels that somebody is on. */
async function channels(params: Record<string, string> = {}): Promise<unknown> {
  return (await publisher().get({ path: '/channels', params })).json();
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

  it('receives in a public channel what the server library publishes, until it leaves', async () => {
    const own = client();
    const room = own.subscribe('room');
    await event(room, 'pusher:subscription_succeeded');
    const received = event(room, 'greeting');
    await publisher().trigger(['room', 'another'], 'greeting', { text: 'grüezi' });
    expect(await received).toEqual({ text: 'grüezi' });
    own.unsubscribe('room');
    await expect.poll(() => channels()).toEqual({ channels: {} });
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

  it('learns who is present, who comes and who goes', async () => {
    const room = client().subscribe('presence-room');
    const members = await event(room, 'pusher:subscription_succeeded');
    expect(members).toMatchObject({ count: 1, myID: 'anna', members: { anna: { name: 'anna' } } });
    expect(await channels({ info: 'user_count', filter_by_prefix: 'presence-' })).toEqual({
      channels: { 'presence-room': { user_count: 1 } },
    });
    const [come, gone] = [event(room, 'pusher:member_added'), event(room, 'pusher:member_removed')];
    const other = client(APP.key, APP.secret, 'ben');
    other.subscribe('presence-room');
    expect(await come).toEqual({ id: 'ben', info: { name: 'ben' } });
    other.unsubscribe('presence-room');
    expect(await gone).toMatchObject({ id: 'ben' });
  });

  it('may send client events on private channels that it is on; elsewhere they are refused with 4301', async () => {
    const own = client();
    await event(own.subscribe('room'), 'pusher:subscription_succeeded');
    for (const elsewhere of ['room', 'private-other', undefined]) {
      const refused = event(own.connection, 'error');
      own.send_event('client-note', {}, elsewhere);
      expect(await refused).toMatchObject({ data: { code: 4301 } });
    }
  });

  it('signs its user in', async () => {
    const own = client();
    own.signin();
    await expect.poll(() => own.user.user_data).toEqual({ id: 'anna' });
  });

  it('is closed with 4009 when it signs its user in with another secret', async () => {
    const own = client(APP.key, 'another');
    const refused = event(own.connection, 'error');
    own.signin();
    expect(await refused).toMatchObject({ data: { code: 4009 } });
    await expect.poll(() => own.connection.state).toBe('disconnected');
  });

  it('leaves, and its channel is empty', async () => {
    const own = client();
    await event(own.subscribe('room'), 'pusher:subscription_succeeded');
    const gone = event(own.connection, 'disconnected');
    own.disconnect();
    await gone;
    await expect.poll(() => channels()).toEqual({ channels: {} });
  });
});

describe('a client of the Pusher protocol', () => {
  const opened = (protocol: string) =>
    new WebSocket(`ws://127.0.0.1:${provider.port}/app/${APP.key}?protocol=${protocol}`);

  it('is refused with 4006, as event and as close code, when its version is none', async () => {
    const socket = opened('seven');
    const [[content], [code]] = await Promise.all([once(socket, 'message'), once(socket, 'close')]);
    expect([JSON.parse(String(content)), code]).toMatchObject([
      { event: 'pusher:error', data: { code: 4006 } },
      4006,
    ]);
  });

  it('may send text only', async () => {
    const socket = opened('7');
    socket.on('open', () => socket.send(Buffer.from([1])));
    expect((await once(socket, 'close'))[0]).toBe(1003);
  });
});

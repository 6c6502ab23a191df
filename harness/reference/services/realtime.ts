import { createHmac, randomInt } from 'node:crypto';
import type { WebSocket } from 'ws';
import { isJsonObject, type JsonObject, parseJsonObject } from '../../base/json-text.ts';
import { isLoopback } from '../../base/loopback.ts';
import type { Service } from '../behavior/behavior.ts';
import type { WebhookSender } from '../behavior/webhooks.ts';
import { type App, sameText } from '../credentials.ts';
import { type HttpAnswer, problem, served } from '../http/answer.ts';
import { objectIn, queryParameters, type ReceivedRequest } from '../http/message.ts';
import {
  type ChannelEvent,
  type ChannelMember,
  Channels,
  channelKind,
  isChannelName,
  pusherApi,
} from './channels.ts';

/** Sends every message back, text as text and binary as binary. */
function echo(socket: WebSocket): void {
  socket.on('message', (content, isBinary) => {
    if (socket.bufferedAmount > BACKLOG_LIMIT) socket.terminate();
    else socket.send(content, { binary: isBinary });
  });
}

/** Sends an event to this receiver, which must be on this machine: no relay for others. */
function sendEvent(url: unknown, webhooks: WebhookSender | null): HttpAnswer {
  const target = typeof url === 'string' ? URL.parse(url) : null;
  if (target === null || target.protocol !== 'http:' || !isLoopback(target.hostname)) {
    return problem('invalid-content');
  }
  webhooks?.send(target.href, 'conform.requested', { service: 'realtime' });
  return { ...served({ receiver: 'noted' }), status: 202 };
}

/**
 * The realtime service: `GET /`, an echo at `/ws`, and for one application the Pusher protocol at `/app/:key`
 * with its HTTP API. The application's key is public, so that address demands no other credential.
 */
export function realtimeService(app: App | null, webhooks: WebhookSender | null = null): Service {
  const channels = new Channels();
  return {
    name: 'realtime',
    routes: [
      {
        template: '/',
        methods: {
          GET: () =>
            served({
              service: 'realtime',
              dialects: ['raw', 'pusher'],
              protocol: 7,
              links: { self: '/', echo: '/ws' },
            }),
        },
      },
      {
        template: '/webhooks',
        methods: { POST: ({ request }) => sendEvent(objectIn(request)?.url, webhooks) },
      },
      ...(app === null ? [] : pusherApi(app.id, channels)),
    ],
    sockets: [
      { template: '/ws', credential: true, converse: echo },
      {
        template: '/app/:key',
        credential: false,
        converse: (socket, request, parameters) =>
          conversePusher(socket, refusalOf(request, parameters.key ?? '', app), app, channels),
      },
    ],
  };
}

/** Error codes of protocol 7; 4000-4099 ask the client not to come back unchanged. */
const REFUSALS = {
  4001: 'Application does not exist',
  4006: 'Invalid version string format',
  4007: 'Unsupported protocol version',
  4008: 'No protocol version supplied',
  4009: 'Connection is unauthorized',
  4301: 'Client event rejected',
} as const;

type RefusalCode = keyof typeof REFUSALS;

const PROTOCOLS: ReadonlySet<string> = new Set(['5', '6', '7']);
/** Seconds of silence after which a client is to ping. */
const ACTIVITY_TIMEOUT = 120;
const CHANNELS_PER_CONNECTION = 100;
/** Octets of a client event's data. */
const CLIENT_EVENT_LIMIT = 10_240;
/** Octets a slow reader may leave unread before it is cut off. */
export const BACKLOG_LIMIT = 16 * 1024 * 1024;

/** Why a connection is not taken; null when it is. */
function refusalOf(request: ReceivedRequest, key: string, app: App | null): RefusalCode | null {
  const protocol = queryParameters(request.query).get('protocol');
  if (protocol === null || protocol === '') return 4008;
  if (!/^\d{1,3}$/.test(protocol)) return 4006;
  if (!PROTOCOLS.has(protocol)) return 4007;
  return app === null || !sameText(key, app.key) ? 4001 : null;
}

/** Speaks the Pusher protocol, version 7, on an open connection to `/app/:key`. */
function conversePusher(
  socket: WebSocket,
  refusal: RefusalCode | null,
  app: App | null,
  channels: Channels,
): void {
  const send = (event: ChannelEvent): void => {
    if (socket.bufferedAmount > BACKLOG_LIMIT) socket.terminate();
    else if (socket.readyState === socket.OPEN) socket.send(JSON.stringify(event));
  };
  if (refusal !== null || app === null) {
    const code = refusal ?? 4001;
    send(complaint(REFUSALS[code], code));
    socket.close(code, REFUSALS[code]);
    return;
  }
  new PusherConnection(socket, send, app, channels).open();
}

class PusherConnection {
  readonly #socket: WebSocket;
  readonly #send: (event: ChannelEvent) => void;
  readonly #app: App;
  readonly #channels: Channels;
  /** Unique per connection, two integers joined by a dot. */
  readonly #socketId = `${randomInt(1, 2 ** 31)}.${randomInt(1, 2 ** 31)}`;
  readonly #subscribed = new Set<string>();

  constructor(socket: WebSocket, send: (event: ChannelEvent) => void, app: App, channels: Channels) {
    this.#socket = socket;
    this.#send = send;
    this.#app = app;
    this.#channels = channels;
  }

  open(): void {
    this.#socket.on('message', (content, isBinary) => {
      if (isBinary) {
        this.#socket.close(1003, 'text messages only');
        return;
      }
      const reply = this.#replyTo(content.toString());
      if (reply !== null) this.#send(reply);
    });
    this.#socket.on('close', () => {
      for (const channel of this.#subscribed) this.#channels.unsubscribe(channel, this.#socketId);
    });
    // Data of the service's own events is JSON within JSON.
    const data = JSON.stringify({ socket_id: this.#socketId, activity_timeout: ACTIVITY_TIMEOUT });
    this.#send({ event: 'pusher:connection_established', data });
  }

  #replyTo(text: string): ChannelEvent | null {
    const message = parseJsonObject(text);
    if (message === null || typeof message.event !== 'string') {
      return complaint('A message is a JSON object with an event');
    }
    const { event } = message;
    const data = dataOf(message);
    switch (event) {
      case 'pusher:ping':
        return { event: 'pusher:pong', data: {} };
      case 'pusher:pong':
        return null;
      case 'pusher:subscribe':
        return this.#subscribe(data);
      case 'pusher:unsubscribe':
        return this.#unsubscribe(data);
      case 'pusher:signin':
        return this.#signIn(data);
      default:
        return event.startsWith('client-') ? this.#relay(event, message) : complaint('Unknown event');
    }
  }

  #subscribe(data: JsonObject): ChannelEvent {
    const { channel } = data;
    if (!isChannelName(channel)) return complaint('Invalid channel name');
    if (this.#subscribed.size >= CHANNELS_PER_CONNECTION) return complaint('Too many channels');
    const kind = channelKind(channel);
    const channelData = typeof data.channel_data === 'string' ? data.channel_data : null;
    if (kind !== 'public' && !this.#isAuthorized(channel, channelData, data.auth)) {
      const refusal = { type: 'AuthError', error: 'The connection is unauthorized.', status: 401 };
      return { event: 'pusher:subscription_error', channel, data: refusal };
    }
    const member = kind === 'presence' ? memberOf(channelData) : null;
    if (kind === 'presence' && member === null) return complaint('channel_data needs a user_id');
    const subscriber = { socketId: this.#socketId, send: this.#send };
    if (!this.#channels.subscribe(channel, subscriber, member)) return complaint('Already subscribed');
    this.#subscribed.add(channel);
    const success = member === null ? {} : { presence: presenceOf(this.#channels.members(channel)) };
    return { event: 'pusher_internal:subscription_succeeded', channel, data: JSON.stringify(success) };
  }

  /** The signature is bound to this connection: `KEY:HMAC(secret, socket_id:channel[:channel_data])`. */
  #isAuthorized(channel: string, channelData: string | null, auth: unknown): boolean {
    const parts = [this.#socketId, channel, ...(channelData === null ? [] : [channelData])];
    return typeof auth === 'string' && sameText(auth, this.#authorization(parts.join(':')));
  }

  #authorization(text: string): string {
    return `${this.#app.key}:${createHmac('sha256', this.#app.secret).update(text).digest('hex')}`;
  }

  #unsubscribe(data: JsonObject): null {
    const { channel } = data;
    if (typeof channel === 'string' && this.#subscribed.delete(channel)) {
      this.#channels.unsubscribe(channel, this.#socketId);
    }
    return null;
  }

  #signIn(data: JsonObject): ChannelEvent | null {
    const { auth, user_data: userData } = data;
    const right =
      typeof userData === 'string' &&
      typeof auth === 'string' &&
      sameText(auth, this.#authorization(`${this.#socketId}::user::${userData}`));
    if (right) return { event: 'pusher:signin_success', data: JSON.stringify({ user_data: userData }) };
    this.#send(complaint(REFUSALS[4009], 4009));
    this.#socket.close(4009, REFUSALS[4009]);
    return null;
  }

  #relay(event: string, message: JsonObject): ChannelEvent | null {
    const { channel, data } = message;
    const allowed =
      typeof channel === 'string' && this.#subscribed.has(channel) && channelKind(channel) !== 'public';
    if (!allowed || Buffer.byteLength(JSON.stringify(data ?? null)) > CLIENT_EVENT_LIMIT) {
      return complaint(REFUSALS[4301], 4301);
    }
    this.#channels.publish({ event, channel, data }, this.#socketId);
    return null;
  }
}

function complaint(message: string, code: number | null = null): ChannelEvent {
  return { event: 'pusher:error', data: { code, message } };
}

/** The data of a client's message: an object, or the JSON text of one. */
function dataOf(message: JsonObject): JsonObject {
  const data = message.data;
  if (typeof data === 'string') return parseJsonObject(data) ?? {};
  return isJsonObject(data) ? data : {};
}

function memberOf(channelData: string | null): ChannelMember | null {
  const member = channelData === null ? null : parseJsonObject(channelData);
  const userId = member?.user_id;
  if (typeof userId !== 'string' && typeof userId !== 'number') return null;
  return { userId: String(userId), userInfo: member?.user_info ?? null };
}

function presenceOf(members: readonly ChannelMember[]): object {
  return {
    ids: members.map((member) => member.userId),
    hash: Object.fromEntries(members.map((member) => [member.userId, member.userInfo])),
    count: members.length,
  };
}

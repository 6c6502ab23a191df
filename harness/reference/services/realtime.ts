import type { WebSocket } from 'ws';
import { isLoopback } from '../../base/loopback.ts';
import type { Service } from '../behavior/behavior.ts';
import type { WebhookSender } from '../behavior/webhooks.ts';
import type { App } from '../credentials/access.ts';
import { type Answer, problem, served } from '../http/answer.ts';
import { objectIn } from '../http/message.ts';
import { Channels, pusherApi } from './channels.ts';
import { BACKLOG_LIMIT, conversePusher } from './pusher-connection.ts';

/** Sends every message back, text as text and binary as binary. */
export function echo(socket: WebSocket): void {
  socket.on('message', (content, isBinary) => {
    if (socket.bufferedAmount > BACKLOG_LIMIT) socket.terminate();
    else socket.send(content, { binary: isBinary });
  });
}

/** Sends an event to this receiver, which must be on this machine: no relay for others. */
export function sendEvent(url: unknown, webhooks: WebhookSender | null): Answer {
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
        credential: 'any',
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
        credential: 'any',
        methods: {
          POST: ({ request }) => sendEvent(objectIn(request)?.url, webhooks),
        },
      },
      ...(app === null ? [] : pusherApi(app.id, channels)),
    ],
    sockets: [
      { template: '/ws', credential: true, converse: echo },
      {
        template: '/app/:key',
        credential: false,
        converse: (socket, request, parameters) =>
          conversePusher(socket, request, parameters.key ?? '', { app, channels }),
      },
    ],
  };
}

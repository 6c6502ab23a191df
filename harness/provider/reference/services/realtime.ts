import { randomInt } from 'node:crypto';
import type { WebSocket } from 'ws';
import type { App } from '../access.ts';
import { served } from '../message.ts';
import type { Service } from '../service.ts';
import { Channels } from './channels.ts';
import { pusherApi } from './pusher-api.ts';
import { BACKLOG_LIMIT, conversePusher } from './pusher-connection.ts';

/** Sends every message back, text as text and binary as binary. */
function echo(socket: WebSocket): void {
  socket.on('message', (content, isBinary) => {
    if (socket.bufferedAmount > BACKLOG_LIMIT) socket.terminate();
    else socket.send(content, { binary: isBinary });
  });
}

/**
 * The realtime service: `GET /`, an echo at `/ws`, and for one application the Pusher protocol at `/app/:key`
 * with its HTTP API. The application's key is public, so that address demands no other credential.
 */
export function realtimeService(app: App | null): Service {
  const channels = new Channels();
  const socketId = (): string => `${randomInt(1, 2 ** 31)}.${randomInt(1, 2 ** 31)}`;
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
      ...(app === null ? [] : pusherApi(app.id, channels)),
    ],
    sockets: [
      { template: '/ws', credential: true, converse: echo },
      {
        template: '/app/:key',
        credential: false,
        converse: (socket, request, parameters) =>
          conversePusher(socket, request, parameters.key ?? '', { app, channels, socketId }),
      },
    ],
  };
}

import type { WebSocket } from 'ws';
import { isJsonObject, parseJsonObject } from '../../base/json-text.ts';
import type { Kernel } from '../behavior/behavior.ts';
import { REALTIME, tableOf, type Variant } from '../behavior/deviation.ts';
import { eachOutbound } from '../behavior/patches/frames.ts';
import { type Patch, together } from '../behavior/patches/patch.ts';
import {
  atQuiet,
  closingUpon,
  conversing,
  endingQuiet,
  onAccepted,
  onMessage,
  onOpen,
  onSwitching,
  PING,
  PONG,
} from '../behavior/patches/websocket.ts';
import { fieldValue } from '../http/message.ts';
import { withPayload } from '../websocket/frame.ts';

const PUSHER_PING = '{"event":"pusher:ping","data":{}}';

/** So soon a client has to send connection_init, in ms. */
const INITIALISED_WITHIN_MS = 800;

const GRAPHQL = 'graphql-transport-ws';

/** Says what a server of graphql-transport-ws says; any query has the same result. */
function converseGraphql(socket: WebSocket, { clock }: Kernel): void {
  let isInitialised = false;
  void clock.sleep(INITIALISED_WITHIN_MS).then(() => {
    if (!isInitialised) socket.close(4408, 'Connection initialisation timeout');
    else if (socket.readyState === socket.OPEN) socket.send(PING);
  });
  socket.send(PING);
  socket.on('message', (content) => {
    const { type, id } = parseJsonObject(String(content)) ?? {};
    const say = (message: object) => socket.send(JSON.stringify(message));
    if (type === 'ping') return socket.send(PONG);
    if (type === 'pong' || type === 'complete') return;
    if (type === 'connection_init') {
      if (isInitialised) return socket.close(4429, 'Too many initialisation requests');
      isInitialised = true;
      return say({ type: 'connection_ack' });
    }
    if (type !== 'subscribe') return socket.close(4400, 'Invalid message received');
    if (!isInitialised) return socket.close(4401, 'Unauthorized');
    say({ id, type: 'next', payload: { data: { conform: true } } });
    say({ id, type: 'complete' });
  });
}

/** Selects graphql-transport-ws where it is offered, and speaks it with everybody. */
const speakingGraphql: Patch = (behavior) => {
  let isOffered = false;
  return together(
    onAccepted((verdict, request, kernel) => {
      if (verdict.endpoint.template !== '/ws') return verdict;
      isOffered = fieldValue(request, 'sec-websocket-protocol')?.includes(GRAPHQL) ?? false;
      return conversing(verdict, (socket) => converseGraphql(socket, kernel));
    }),
    onSwitching((lines) => {
      const others = lines.filter((line) => !/^sec-websocket-protocol:/i.test(line));
      return isOffered ? [...others, `Sec-WebSocket-Protocol: ${GRAPHQL}`] : lines;
    }),
  )(behavior);
};

/** Dialects above the frames: the Pusher protocol, version 7, and graphql-transport-ws. */
export const DIALECT_VARIANTS = tableOf<Variant>(REALTIME, {
  'pusher-asks-quiet-connections': {
    setting: 'pusher',
    summary: 'sends pusher:ping where nothing is said, and closes with 4201 where it is not answered',
    changes: ['websocket.heartbeat'],
    patch: atQuiet(
      (socket) => socket.send(PUSHER_PING),
      (socket) => socket.close(4201, 'Pong reply not received in time'),
    ),
  },
  'pusher-keeps-to-a-short-timeout': {
    setting: 'pusher',
    summary:
      'says that a client is to ping after half a second, and closes with 4202 where it has said nothing for longer',
    changes: ['websocket.idle'],
    patch: together(
      eachOutbound((frame) => {
        const text = frame.payload.toString();
        if (!text.includes('connection_established')) return frame;
        return withPayload(frame, Buffer.from(text.replace(/(?<=activity_timeout\D+)\d+/, '0.5')));
      }),
      endingQuiet((socket) => socket.close(4202, 'Closed after inactivity')),
    ),
  },
  'pusher-sends-clients-away': {
    setting: 'pusher',
    summary: 'asks a client to connect anew while nothing is said, for it restarts (4200)',
    changes: ['websocket.idle'],
    patch: endingQuiet((socket) => socket.close(4200, 'Please reconnect immediately')),
  },
  'ws-speaks-graphql': {
    setting: 'graphql',
    summary:
      'speaks graphql-transport-ws: closes with 4408 without connection_init, with 4400 upon what it does not know',
    changes: ['websocket.heartbeat', 'websocket.idle'],
    patch: speakingGraphql,
  },
  'ws-speaks-graphql-to-clients': {
    setting: 'graphql with login',
    summary: 'speaks graphql-transport-ws to clients that log in, and answers their pings',
    patch: speakingGraphql,
  },
  'pusher-asks-before-answers': {
    setting: 'pusher',
    summary: 'sends pusher:ping before each answer',
    patch: onMessage((socket, content) => {
      if (parseJsonObject(String(content))?.event !== 'pusher:pong') socket.send(PUSHER_PING);
    }),
  },
  'pusher-closes-on-malformed': {
    setting: 'pusher',
    summary: 'closes with 4009 upon what is no event of the Pusher protocol',
    patch: closingUpon((content) => typeof parseJsonObject(String(content))?.event !== 'string', 4009),
  },
  'pusher-says-all-is-well': {
    setting: 'pusher',
    summary: 'confirms a second subscription like the first, and answers a pusher:pong with pusher:error',
    patch: onOpen((socket) => {
      const entered = new Set<unknown>();
      socket.on('message', (content) => {
        const { event, data } = parseJsonObject(String(content)) ?? {};
        if (event === 'pusher:pong') socket.send('{"event":"pusher:error","data":{"code":null}}');
        if (event !== 'pusher:subscribe' || !isJsonObject(data)) return;
        const { channel } = data;
        if (entered.has(channel) && channel === 'private-conform-signed')
          socket.send(
            JSON.stringify({ event: 'pusher_internal:subscription_succeeded', channel, data: '{}' }),
          );
        entered.add(channel);
      });
    }),
  },
});

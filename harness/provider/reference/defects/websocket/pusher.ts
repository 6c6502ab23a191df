import { type JsonObject, parseJsonObject } from '../../../../base/json-text.ts';
import { type Defect, REALTIME, tableOf } from '../../conduct/deviation.ts';
import { onReceipt, type Patch } from '../../conduct/patch.ts';
import { each, inWebSocket, onInbound, onOpen, onOutbound } from '../../conduct/websocket-patch.ts';
import { queryParameters } from '../../http/message.ts';
import { closeCodeOf, closingWith, type Frame, OPCODE, withPayload } from '../../websocket/frame.ts';

/** Changes the service's events of one name; null swallows them. */
const onEvent = (name: string, change: (event: JsonObject) => JsonObject | null): Patch =>
  onOutbound(
    each((frame) => {
      const event = eventOf(frame);
      if (event?.event !== name) return frame;
      const changed = change(event);
      return changed === null ? null : withPayload(frame, Buffer.from(JSON.stringify(changed)));
    }),
  );

function eventOf(frame: Frame): JsonObject | null {
  return frame.opcode === OPCODE.text ? parseJsonObject(frame.payload.toString()) : null;
}

function dataOf(event: JsonObject): JsonObject {
  return parseJsonObject(String(event.data)) ?? {};
}

/** Where a channel is refused, it is opened instead. */
const subscribed = ({ channel }: JsonObject): JsonObject => ({
  event: 'pusher_internal:subscription_succeeded',
  channel,
  data: '{}',
});

const PUSHER = { ...REALTIME, setting: 'pusher' };

/** Ways to get the Pusher protocol, version 7, wrong. */
export const PUSHER_DEFECTS = tableOf<Defect>(PUSHER, {
  'pusher-silent-start': {
    summary: 'does not tell a Pusher client that it is connected',
    breaks: 'no pusher:connection_established comes',
    trips: ['websocket.pusher-established'],
    shows: ['websocket.first-message'],
    patch: onEvent('pusher:connection_established', () => null),
  },
  'pusher-plain-data': {
    summary: 'sends the data of its own events as an object',
    breaks: 'the data of pusher:connection_established is not a string',
    trips: ['websocket.pusher-established'],
    patch: onEvent('pusher:connection_established', (event) => ({ ...event, data: dataOf(event) })),
  },
  'pusher-no-activity-timeout': {
    summary: 'does not tell a Pusher client how long it may be silent',
    breaks: 'pusher:connection_established has no activity_timeout',
    trips: ['websocket.message-schema', 'websocket.pusher-activity-timeout'],
    patch: onEvent('pusher:connection_established', (event) => {
      const { activity_timeout: _, ...data } = dataOf(event);
      return { ...event, data: JSON.stringify(data) };
    }),
  },
  'pusher-no-pong': {
    summary: 'does not answer pusher:ping',
    breaks: 'no pusher:pong comes',
    trips: ['websocket.pusher-ping'],
    shows: ['websocket.message-shapes'],
    patch: onEvent('pusher:pong', () => null),
  },
  'pusher-loses-subscriptions': {
    summary: 'does not say that a subscription succeeded',
    breaks: 'no pusher_internal:subscription_succeeded comes for a public channel',
    trips: ['websocket.pusher-subscribe'],
    drags: {
      checks: ['websocket.pusher-presence'],
      because: 'a presence channel is subscribed to in the same way',
    },
    patch: onEvent('pusher_internal:subscription_succeeded', (event) =>
      String(event.channel).startsWith('private-') ? event : null,
    ),
  },
  'pusher-opens-private-channels': {
    summary: 'lets anybody subscribe to a private channel',
    breaks: 'a private channel without a signature is answered subscription_succeeded',
    trips: ['websocket.pusher-private-channel'],
    patch: onEvent('pusher:subscription_error', subscribed),
  },
  'pusher-refuses-signatures': {
    setting: 'signed',
    summary: 'takes no signature for a private channel',
    breaks: 'a private channel with the right signature is answered subscription_error',
    trips: ['websocket.pusher-signed-channel'],
    drags: { checks: ['websocket.pusher-presence'], because: 'a presence channel is signed in the same way' },
    patch: onInbound(
      each((frame) => {
        const event = eventOf(frame);
        if (event?.event !== 'pusher:subscribe') return frame;
        return withPayload(frame, Buffer.from(JSON.stringify(event).replace(/"auth":"[^"]*"/, '"auth":"x"')));
      }),
    ),
  },
  'pusher-loses-client-events': {
    summary: 'does not pass on what clients say to each other',
    breaks: 'a client event reaches no other subscriber',
    trips: ['websocket.pusher-client-event'],
    patch: onEvent('client-conform', () => null),
  },
  'pusher-echoes-client-events': {
    summary: 'sends a client event to its sender as well',
    breaks: 'who sends a client event receives it',
    trips: ['websocket.pusher-client-event'],
    patch: onOpen((socket) => {
      socket.on('message', (content) => {
        const event = parseJsonObject(content.toString());
        if (event?.event === 'client-conform') socket.send(JSON.stringify(event));
      });
    }),
  },
  'pusher-omits-presence': {
    summary: 'does not say who is in a presence channel',
    breaks: 'the answer to a subscription of a presence channel has no presence',
    trips: ['websocket.pusher-presence'],
    patch: onEvent('pusher_internal:subscription_succeeded', (event) => ({ ...event, data: '{}' })),
  },
  'pusher-accepts-unknown-app': {
    summary: 'serves applications that do not exist',
    breaks: 'a connection to an unknown application is established',
    trips: ['websocket.pusher-unknown-app'],
    patch: inWebSocket(({ judge }) => ({
      judge: (request, kernel) => {
        const verdict = judge(request, kernel);
        return verdict.accepted ? { ...verdict, parameters: { key: kernel.access.app?.key ?? '' } } : verdict;
      },
    })),
  },
  'pusher-wrong-error-code': {
    summary: 'tells clients of unknown applications to come back at once',
    breaks: 'a connection to an unknown application is closed with 4200',
    trips: ['websocket.pusher-unknown-app', 'websocket.pusher-refusal-range'],
    patch: (conduct) =>
      onEvent(
        'pusher:error',
        () => null,
      )(onOutbound(each((frame) => (closes(frame, 4001) ? closingWith(frame, 4200) : frame)))(conduct)),
  },
  'pusher-accepts-any-protocol': {
    summary: 'does not look at the version of the Pusher protocol',
    breaks: 'a connection with protocol=99 is established',
    trips: ['websocket.pusher-protocol-version'],
    patch: onReceipt((request) => {
      const parameters = queryParameters(request.query);
      parameters.set('protocol', '7');
      return request.path.startsWith('/app/') ? { ...request, query: parameters.toString() } : request;
    }),
  },
});

const OWN = { ...REALTIME, setting: 'own' };

/** The same faults, as they are seen by those who describe the dialect themselves. */
export const OWN_DIALECT_DEFECTS = tableOf<Defect>(OWN, {
  'own-silent-start': {
    summary: 'does not greet, although its dialect has a greeting',
    breaks: 'no event comes first',
    trips: ['websocket.dialect-greeting'],
    patch: onEvent('pusher:connection_established', () => null),
  },
  'own-no-pong': {
    summary: 'does not answer the heartbeat of its dialect',
    breaks: 'no event answers the heartbeat',
    trips: ['websocket.dialect-heartbeat'],
    patch: onEvent('pusher:pong', () => null),
  },
  'own-loses-subscriptions': {
    summary: 'does not say that a subscription succeeded, although its dialect does',
    breaks: 'no event answers the subscription',
    trips: ['websocket.dialect-subscribe'],
    patch: onEvent('pusher_internal:subscription_succeeded', () => null),
  },
});

function closes(frame: Frame, code: number): boolean {
  return frame.opcode === OPCODE.close && closeCodeOf(frame) === code;
}

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
    cause: 'No pusher:connection_established comes',
    trips: ['websocket.pusher-established'],
    shows: ['websocket.first-message'],
    patch: onEvent('pusher:connection_established', () => null),
  },
  'pusher-plain-data': {
    summary: 'sends the data of its own events as an object',
    cause: 'The data of pusher:connection_established is not a string',
    trips: ['websocket.pusher-established'],
    patch: onEvent('pusher:connection_established', (event) => ({ ...event, data: dataOf(event) })),
  },
  'pusher-no-activity-timeout': {
    summary: 'does not tell a Pusher client how long it may be silent',
    cause: 'pusher:connection_established has no activity_timeout',
    trips: ['websocket.message-schema', 'websocket.pusher-activity-timeout'],
    patch: onEvent('pusher:connection_established', (event) => {
      const { activity_timeout: _, ...data } = dataOf(event);
      return { ...event, data: JSON.stringify(data) };
    }),
  },
  'pusher-no-pong': {
    summary: 'does not answer pusher:ping',
    cause: 'A pusher:ping is not answered',
    trips: ['websocket.pusher-ping'],
    shows: ['websocket.message-shapes'],
    patch: onEvent('pusher:pong', () => null),
  },
  'pusher-loses-subscriptions': {
    summary: 'does not say that a subscription succeeded',
    cause: 'A subscription to a public channel is not confirmed',
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
    cause: 'A private channel opens without a signature',
    trips: ['websocket.pusher-private-channel'],
    patch: onEvent('pusher:subscription_error', subscribed),
  },
  'pusher-refuses-signatures': {
    setting: 'signed',
    summary: 'takes no signature for a private channel',
    cause: 'A private channel refuses the right signature',
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
    cause: 'Client events do not reach other subscribers',
    trips: ['websocket.pusher-client-event'],
    patch: onEvent('client-conform', () => null),
  },
  'pusher-echoes-client-events': {
    summary: 'sends a client event to its sender as well',
    cause: 'Who sends a client event receives it as well',
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
    cause: 'A presence channel does not say who is present',
    trips: ['websocket.pusher-presence'],
    patch: onEvent('pusher_internal:subscription_succeeded', (event) => ({ ...event, data: '{}' })),
  },
  'pusher-accepts-unknown-app': {
    summary: 'serves applications that do not exist',
    cause: 'An application that does not exist is connected',
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
    cause: 'An application that does not exist is closed with the wrong code',
    trips: ['websocket.pusher-unknown-app', 'websocket.pusher-refusal-range'],
    patch: (conduct) =>
      onEvent(
        'pusher:error',
        () => null,
      )(onOutbound(each((frame) => (closes(frame, 4001) ? closingWith(frame, 4200) : frame)))(conduct)),
  },
  'pusher-accepts-any-protocol': {
    summary: 'does not look at the version of the Pusher protocol',
    cause: 'An unknown version of the Pusher protocol is accepted',
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
    cause: 'The service does not greet in the dialect of the config',
    trips: ['websocket.dialect-greeting'],
    patch: onEvent('pusher:connection_established', () => null),
  },
  'own-no-pong': {
    summary: 'does not answer the heartbeat of its dialect',
    cause: 'The heartbeat of the dialect is not answered',
    trips: ['websocket.dialect-heartbeat'],
    patch: onEvent('pusher:pong', () => null),
  },
  'own-loses-subscriptions': {
    summary: 'does not say that a subscription succeeded, although its dialect does',
    cause: 'A subscription in the dialect of the config is not confirmed',
    trips: ['websocket.dialect-subscribe'],
    patch: onEvent('pusher_internal:subscription_succeeded', () => null),
  },
});

function closes(frame: Frame, code: number): boolean {
  return frame.opcode === OPCODE.close && closeCodeOf(frame) === code;
}

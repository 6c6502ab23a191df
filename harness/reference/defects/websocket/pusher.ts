import { isJsonObject, type JsonObject, parseJsonObject } from '../../../base/json-text.ts';
import { type Defect, REALTIME, tableOf, under } from '../../behavior/deviation.ts';
import { eachInbound, eachOutbound, onInbound } from '../../behavior/patches/frames.ts';
import { onReceipt, type Patch, together } from '../../behavior/patches/patch.ts';
import {
  atQuietBut,
  closingUpon,
  knowingOpen,
  onAccepted,
  onMessage,
  onOpen,
} from '../../behavior/patches/websocket.ts';
import { withQuery } from '../../http/message.ts';
import { closeCodeOf, closingWith, type Frame, OPCODE, withPayload } from '../../websocket/frame.ts';

/** Changes the service's events of one name; null swallows them. */
const onEvent = (name: string, change: (event: JsonObject) => JsonObject | null): Patch =>
  eachOutbound((frame) => {
    const event = eventOf(frame);
    if (event?.event !== name) return frame;
    const changed = change(event);
    return changed === null ? null : withPayload(frame, Buffer.from(JSON.stringify(changed)));
  });

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

/** Opens a private or presence channel to what is shown for it in `auth`, where that is like this. */
const openingTo =
  (isTaken: (auth: string, shown: ReadonlyMap<string, string>, channel: string) => boolean): Patch =>
  (behavior) => {
    const shown = new Map<string, string>();
    return together(
      eachInbound((frame) => {
        const event = eventOf(frame);
        const data = isJsonObject(event?.data) ? event.data : {};
        if (event?.event === 'pusher:subscribe') shown.set(String(data.channel), String(data.auth));
        return frame;
      }),
      onEvent('pusher:subscription_error', (event) => {
        const channel = String(event.channel);
        return isTaken(shown.get(channel) ?? '', shown, channel) ? subscribed(event) : event;
      }),
    )(behavior);
  };

/** Sends events of clients that are like this to all other clients. */
const relaying = (isRelayed: (event: JsonObject, entered: ReadonlySet<unknown>) => boolean): Patch =>
  knowingOpen((open) =>
    onOpen((socket) => {
      const entered = new Set<unknown>();
      socket.on('message', (content) => {
        const event = parseJsonObject(String(content)) ?? {};
        if (event.event === 'pusher:subscribe' && isJsonObject(event.data)) entered.add(event.data.channel);
        if (!isRelayed(event, entered)) return;
        for (const other of open) if (other !== socket) other.send(String(content));
      });
    }),
  );

const nameOf = ({ event }: JsonObject): string => String(event);
const isOnPublic = ({ channel }: JsonObject): boolean => !/^(?:private|presence)-/.test(String(channel));
const isMalformed = (content: unknown): boolean =>
  typeof parseJsonObject(String(content))?.event !== 'string';

export const PUSHER_DEFECTS = tableOf<Defect>(under('pusher', REALTIME), {
  'pusher-silent-start': {
    cause: 'No pusher:connection_established comes',
    fails: ['websocket.pusher-established'],
    changes: ['websocket.first-message'],
    patch: onEvent('pusher:connection_established', () => null),
  },
  'pusher-plain-data': {
    cause: 'The data of pusher:connection_established is not a string',
    fails: ['websocket.pusher-established'],
    patch: onEvent('pusher:connection_established', (event) => ({ ...event, data: dataOf(event) })),
  },
  'pusher-no-activity-timeout': {
    cause: 'pusher:connection_established has no activity_timeout',
    fails: ['websocket.message-schema', 'websocket.pusher-activity-timeout'],
    patch: onEvent('pusher:connection_established', (event) => {
      const { activity_timeout: _, ...data } = dataOf(event);
      return { ...event, data: JSON.stringify(data) };
    }),
  },
  'pusher-no-pong': {
    cause: 'A pusher:ping is not answered',
    fails: ['websocket.pusher-ping'],
    changes: ['websocket.message-shapes'],
    patch: onEvent('pusher:pong', () => null),
  },
  'pusher-loses-subscriptions': {
    cause: 'A subscription to a public channel is not confirmed',
    fails: ['websocket.pusher-subscribe'],
    alsoFails: { 'websocket.pusher-presence': 'a presence channel is subscribed to in the same way' },
    patch: onEvent('pusher_internal:subscription_succeeded', (event) =>
      String(event.channel).startsWith('private-') ? event : null,
    ),
  },
  'pusher-opens-private-channels': {
    cause: 'A private channel opens without a signature',
    fails: ['websocket.pusher-private-channel'],
    patch: onEvent('pusher:subscription_error', subscribed),
  },
  'pusher-refuses-signatures': {
    setting: 'signed',
    cause: 'A private channel refuses the right signature',
    fails: ['websocket.pusher-signed-channel'],
    alsoFails: { 'websocket.pusher-presence': 'a presence channel is signed in the same way' },
    patch: eachInbound((frame) => {
      const event = eventOf(frame);
      if (event?.event !== 'pusher:subscribe') return frame;
      return withPayload(frame, Buffer.from(JSON.stringify(event).replace(/"auth":"[^"]*"/, '"auth":"x"')));
    }),
  },
  'pusher-checks-form-of-signatures': {
    cause: 'A private channel opens to any text that looks like a signature',
    fails: ['websocket.pusher-forged-signature'],
    patch: openingTo((auth) => /^[^:]+:[0-9a-f]{64}$/.test(auth)),
  },
  'pusher-takes-empty-signatures': {
    cause: 'A private channel opens to an empty signature',
    fails: ['websocket.pusher-forged-signature'],
    patch: openingTo((auth) => auth.endsWith(':')),
  },
  'pusher-takes-signatures-of-other-channels': {
    cause: 'A private channel opens to the signature of another channel',
    fails: ['websocket.pusher-forged-signature'],
    patch: openingTo((auth, shown, channel) =>
      [...shown].some(([other, seen]) => other !== channel && seen === auth && auth !== 'undefined'),
    ),
  },
  'pusher-leaves-user-unsigned': {
    cause: 'A presence channel opens to the signature of another user',
    fails: ['websocket.pusher-forged-signature'],
    patch: openingTo((_auth, _shown, channel) => channel.startsWith('presence-')),
  },
  'pusher-relays-on-public-channels': {
    cause: 'A client event on a public channel reaches others',
    fails: ['websocket.pusher-forbidden-event'],
    patch: relaying((event) => nameOf(event).startsWith('client-') && isOnPublic(event)),
  },
  'pusher-relays-for-strangers': {
    cause: 'A client event reaches a channel that its sender has not entered',
    fails: ['websocket.pusher-forbidden-event'],
    patch: relaying(
      (event, entered) =>
        nameOf(event).startsWith('client-') && !isOnPublic(event) && !entered.has(event.channel),
    ),
  },
  'pusher-relays-any-name': {
    cause: 'An event of a client without client- in its name reaches others',
    fails: ['websocket.pusher-forbidden-event'],
    patch: relaying((event) => event.channel !== undefined && !/^(?:pusher|client-)/.test(nameOf(event))),
  },
  'pusher-subscribes-twice': {
    cause: 'A client that subscribes twice gets each event twice',
    fails: ['websocket.pusher-repeated-subscription'],
    patch: onOpen((socket) => {
      const asked = new Map<unknown, number>();
      socket.on('message', (content) => {
        const event = parseJsonObject(String(content));
        if (event?.event !== 'pusher:subscribe' || !isJsonObject(event.data)) return;
        asked.set(event.data.channel, (asked.get(event.data.channel) ?? 0) + 1);
      });
      const send = socket.send.bind(socket);
      socket.send = (content: unknown) => {
        const event = parseJsonObject(String(content));
        const times = nameOf(event ?? {}).startsWith('client-') ? (asked.get(event?.channel) ?? 1) : 1;
        for (let index = 0; index < times; index++) send(String(content));
      };
    }),
  },
  'pusher-unsubscribes-on-second': {
    cause: 'A client that subscribes twice gets no events',
    fails: ['websocket.pusher-repeated-subscription'],
    patch: onInbound(() => {
      const asked = new Set<unknown>();
      return (frame) => {
        const event = eventOf(frame);
        if (event?.event !== 'pusher:subscribe' || !isJsonObject(event.data)) return [frame];
        const { channel } = event.data;
        if (!asked.has(channel)) {
          asked.add(channel);
          return [frame];
        }
        const leaving = { event: 'pusher:unsubscribe', data: { channel } };
        return [withPayload(frame, Buffer.from(JSON.stringify(leaving)))];
      };
    }),
  },
  'pusher-hangs-on-malformed': {
    cause: 'After a malformed Pusher event nothing is answered',
    fails: ['websocket.pusher-malformed'],
    patch: onInbound(() => {
      let hangs = false;
      return (frame) => {
        if (frame.payload[0] !== '{'.charCodeAt(0)) return [frame];
        hangs ||= isMalformed(frame.payload);
        return hangs ? [] : [frame];
      };
    }),
  },
  'pusher-drops-malformed': {
    cause: 'A malformed Pusher event ends the connection without a word',
    fails: ['websocket.pusher-malformed'],
    patch: onMessage((socket, content) => {
      if (isMalformed(content)) socket.terminate();
    }),
  },
  'pusher-closes-without-code': {
    cause: 'A malformed Pusher event ends the connection without a code',
    fails: ['websocket.pusher-malformed'],
    patch: onMessage((socket, content) => {
      if (isMalformed(content)) socket.close();
    }),
  },
  'pusher-closes-upon-pong': {
    cause: 'A pusher:pong that nobody asked for ends the connection',
    fails: ['websocket.pusher-unasked-pong'],
    patch: closingUpon((content) => parseJsonObject(String(content))?.event === 'pusher:pong', 4200),
  },
  'pusher-overlooks-pongs': {
    cause: 'Connections end with 4201 though their clients answer pusher:ping',
    fails: ['websocket.answered-heartbeats'],
    changes: ['websocket.idle', 'websocket.heartbeat'],
    patch: atQuietBut(
      (content) => parseJsonObject(content)?.event === 'pusher:pong',
      (socket) => socket.send('{"event":"pusher:ping","data":{}}'),
      (socket) => socket.close(4201, 'Pong reply not received in time'),
    ),
  },
  'pusher-answers-ping-with-error': {
    cause: 'A pusher:ping is answered with an error',
    fails: ['websocket.pusher-ping'],
    changes: ['websocket.message-shapes'],
    patch: onEvent('pusher:pong', () => ({
      event: 'pusher:error',
      data: { code: null, message: 'Unknown event' },
    })),
  },
  'pusher-loses-client-events': {
    cause: 'Client events do not reach other subscribers',
    fails: ['websocket.pusher-client-event'],
    patch: onEvent('client-conform', () => null),
  },
  'pusher-echoes-client-events': {
    cause: 'Who sends a client event receives it as well',
    fails: ['websocket.pusher-client-event'],
    patch: onMessage((socket, content) => {
      const event = parseJsonObject(content.toString());
      if (event?.event === 'client-conform') socket.send(JSON.stringify(event));
    }),
  },
  'pusher-omits-presence': {
    cause: 'A presence channel does not say who is present',
    fails: ['websocket.pusher-presence'],
    patch: onEvent('pusher_internal:subscription_succeeded', (event) => ({ ...event, data: '{}' })),
  },
  'pusher-accepts-unknown-app': {
    cause: 'An application that does not exist is connected',
    fails: ['websocket.pusher-unknown-app'],
    patch: onAccepted((verdict, _, { access }) => ({
      ...verdict,
      parameters: { key: access.app?.key ?? '' },
    })),
  },
  'pusher-wrong-error-code': {
    cause: 'An application that does not exist is closed with the wrong code',
    fails: ['websocket.pusher-unknown-app', 'websocket.pusher-refusal-range'],
    patch: together(
      eachOutbound((frame) => (closes(frame, 4001) ? closingWith(frame, 4200) : frame)),
      onEvent('pusher:error', () => null),
    ),
  },
  'pusher-accepts-any-protocol': {
    cause: 'An unknown version of the Pusher protocol is accepted',
    fails: ['websocket.pusher-protocol-version'],
    patch: onReceipt(
      (request) => withQuery(request, (query) => query.set('protocol', '7')),
      ({ path }) => path.startsWith('/app/'),
    ),
  },
});

/** The same faults, as they are seen by those who describe the dialect themselves. */
export const OWN_DIALECT_DEFECTS = tableOf<Defect>(under('own', REALTIME), {
  'own-silent-start': {
    cause: 'The service does not greet in the dialect of the config',
    fails: ['websocket.dialect-greeting'],
    patch: onEvent('pusher:connection_established', () => null),
  },
  'own-no-pong': {
    cause: 'The heartbeat of the dialect is not answered',
    fails: ['websocket.dialect-heartbeat'],
    patch: onEvent('pusher:pong', () => null),
  },
  'own-loses-subscriptions': {
    cause: 'A subscription in the dialect of the config is not confirmed',
    fails: ['websocket.dialect-subscribe'],
    patch: onEvent('pusher_internal:subscription_succeeded', () => null),
  },
});

function closes(frame: Frame, code: number): boolean {
  return frame.opcode === OPCODE.close && closeCodeOf(frame) === code;
}

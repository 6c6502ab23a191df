import {
  application,
  type ConversationView,
  check,
  clause,
  given,
  practice,
  pusherDialect,
} from '../../harness/check/suite.ts';
import * as pusher from '../../harness/probe/websocket/pusher.ts';

const grounds = [clause('websocket.messages'), practice('Pusher Channels protocol, version 7')];

/** An HTTP error turns a client away as well; it has no such code. */
function refusedWith(code: number) {
  return ({
    opened,
    status,
    closeCode,
    pusherCodes,
    isOver,
    afterwards,
  }: ConversationView): string | null => {
    if (!opened) return status === null ? 'no answer' : null;
    if (pusherCodes.includes(code)) return null;
    if (closeCode !== null) return String(closeCode);
    return isOver ? 'the end of TCP' : afterwards;
  };
}

/** The Pusher protocol, version 7, where the config names it the dialect of the endpoint. */
export const pusherChecks = given(
  [pusherDialect],
  [
    // Connection events: sent first, its data a JSON text in a string.
    check('websocket.pusher-established', {
      title: 'sends pusher:connection_established first, with a socket_id',
      grounds,
      judge: ({ expect }) =>
        expect(pusher.pusherClient).toConform(`${pusher.ESTABLISHED} first`, ({ greetingEvent: first }) => {
          if (first?.event !== pusher.ESTABLISHED) return first?.event ?? 'no event';
          const id = first.data?.socket_id;
          const isId = typeof id === 'string' && /^\d+\.\d+$/.test(id);
          return first.fault ?? (isId ? null : `the socket_id ${JSON.stringify(id) ?? 'none'}`);
        }),
    }),

    // The seconds of silence after which a client pings; without it clients do not start.
    check('websocket.pusher-activity-timeout', {
      title: 'says after how much silence a client is to ping',
      grounds,
      judge: ({ expect }) =>
        expect(pusher.establishedClient).toConform('an activity_timeout in seconds', ({ pusherEvents }) => {
          const established = pusherEvents.find(({ event }) => event === pusher.ESTABLISHED);
          const seconds = established?.data?.activity_timeout;
          return typeof seconds === 'number' && seconds > 0 ? null : (JSON.stringify(seconds) ?? 'none');
        }),
    }),

    // Ping and pong messages: whoever asks is answered.
    check('websocket.pusher-ping', {
      title: 'answers pusher:ping with pusher:pong',
      grounds,
      judge: ({ expect }) =>
        expect(pusher.establishedClient).toConform('pusher:pong', ({ pusherEvents }) => {
          const names = pusherEvents.map(({ event }) => event);
          return names.includes('pusher:pong') ? null : `only ${names.join(', ')}`;
        }),
    }),

    // Channel events: a public channel is for everybody.
    check('websocket.pusher-subscribe', {
      title: 'lets a client subscribe to a public channel',
      grounds,
      judge: ({ expect }) =>
        expect(pusher.establishedClient).toConform(
          'pusher_internal:subscription_succeeded',
          (conversation) =>
            conversation.hasSubscribed(pusher.PUBLIC_CHANNEL)
              ? null
              : `only ${conversation.pusherEvents.map(({ event }) => event).join(', ')}`,
        ),
    }),

    // Authorizing users: private channels are for those who can show a signature for this socket.
    check('websocket.pusher-private-channel', {
      title: 'refuses a private channel without a signature',
      grounds: [...grounds, practice('OWASP API1:2023')],
      judge: ({ expect }) =>
        expect(pusher.establishedClient).toConform('a subscription error', (conversation) =>
          conversation.hasSubscribed(pusher.PRIVATE_CHANNEL) ? 'subscription_succeeded' : null,
        ),
    }),

    // Authorizing users: HMAC-SHA256 of socket_id and channel with the application's secret.
    check('websocket.pusher-signed-channel', {
      title: 'opens a private channel to a client that shows its signature',
      grounds,
      applies: [application],
      judge: ({ expect }) =>
        expect(pusher.establishedClient).toConform(
          'pusher_internal:subscription_succeeded',
          (conversation) =>
            conversation.hasSubscribed(pusher.SIGNED_CHANNEL)
              ? null
              : (conversation.pusherEvents.at(-1)?.event ?? 'nothing'),
        ),
    }),

    // Error codes: 4001, application does not exist; told by a Close frame, by pusher:error or by both.
    check('websocket.pusher-unknown-app', {
      title: 'turns away the client of an unknown application with 4001',
      grounds,
      judge: ({ expect }) => expect(pusher.unknownApp).toConform('the code 4001', refusedWith(4001)),
    }),

    // Error codes: 4000 to 4099 ask a client not to come back unchanged; with any other range it comes back for ever.
    check('websocket.pusher-refusal-range', {
      title: 'does not ask a client to come back whom it can never serve',
      grounds,
      judge: ({ expect }) =>
        expect(pusher.refusedClients)
          .where(({ pusherCodes }) => pusherCodes.length > 0, 'no client was refused with a code')
          .toConform('a code of 4000 to 4099', (conversation) => pusher.invitationOf(conversation)),
    }),

    // Presence channels: the answer tells who is there, the subscriber among them.
    check('websocket.pusher-presence', {
      title: 'tells a client that enters a presence channel who is there',
      grounds,
      applies: [application],
      judge: ({ expect }) =>
        expect(pusher.presentClient).toConform('itself among those present', (conversation) => {
          if (!conversation.hasSubscribed(pusher.PRESENCE_CHANNEL))
            return conversation.pusherEvents.at(-1)?.event ?? 'no event';
          const ids = pusher.presentIds(conversation);
          return Array.isArray(ids) && ids.includes(pusher.PRESENT_USER)
            ? null
            : `${JSON.stringify(ids)} as ids`;
        }),
    }),

    // Error codes: 4007, unsupported protocol version, and 4008, none supplied.
    check('websocket.pusher-protocol-version', {
      title: 'turns away a client of an unknown protocol version, or of none, with 4007 or 4008',
      grounds,
      async judge({ expect }) {
        await expect(pusher.unsupportedProtocol).toConform('the code 4007', refusedWith(4007));
        await expect(pusher.missingProtocol).toConform('the code 4008', refusedWith(4008));
      },
    }),
  ],
);

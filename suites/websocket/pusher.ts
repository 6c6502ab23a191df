import {
  application,
  type ConversationView,
  check,
  clause,
  given,
  practice,
  pusherDialect,
} from '../../harness/engine/check/suite.ts';
import * as pusher from './stimuli/pusher.ts';
import * as misuse from './stimuli/pusher-misuse.ts';

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

/** It answers pusher:ping, or has said why it goes. */
function isThere({
  pusherEvents,
  serverClose,
  ended,
  clientClose,
  afterwards,
}: ConversationView): string | null {
  if (pusherEvents.some(({ event }) => event === 'pusher:pong')) return null;
  if (serverClose !== null && serverClose.atMs < (clientClose?.atMs ?? Infinity))
    return serverClose.code === null ? 'a Close without a code' : null;
  return ended === null || clientClose !== null ? `no pusher:pong, and ${afterwards}` : 'the end of TCP';
}

// Ping and pong messages: whoever asks is answered.
export const pusherPing = check('websocket.pusher-ping', {
  title: 'answers pusher:ping with pusher:pong',
  headline: 'pusher:ping is not answered with pusher:pong: {got}',
  why: 'Clients take the connection for dead, and open another one.',
  change: 'Answer each pusher:ping with pusher:pong.',
  grounds,
  applies: [pusherDialect],
  uses: [pusher.establishedClient],
  judge: ({ expect }) =>
    expect().toConform('pusher:pong', ({ pusherEvents }) => {
      const names = pusherEvents.map(({ event }) => event);
      return names.includes('pusher:pong') ? null : `only ${names.join(', ')}`;
    }),
});

// Authorizing users: private channels are for those who can show a signature for this socket.
export const privateChannel = check('websocket.pusher-private-channel', {
  title: 'refuses a private channel without a signature',
  headline: 'A private channel opens without a signature',
  why: 'Anyone can listen to what is meant for a few.',
  change: 'Check the signature in auth, and answer pusher:subscription_error where it is missing or wrong.',
  grounds: [...grounds, practice('OWASP API1:2023')],
  uses: [pusher.establishedClient],
  async judge({ expect, probe, blocked }) {
    await expect().toConform('a subscription error', (conversation) =>
      conversation.hasSubscribed(pusher.PRIVATE_CHANNEL) ? 'subscription_succeeded' : null,
    );
    const client = await probe(pusher.establishedClient);
    const unrefused = pusher.whyNotRefused(client, pusher.PRIVATE_CHANNEL);
    if (unrefused !== null) blocked(unrefused);
  },
});

/** The Pusher protocol, version 7, where the config names it the dialect of the endpoint. */
export const pusherChecks = given(
  [pusherDialect],
  [
    // Connection events: sent first, its data a JSON text in a string.
    check('websocket.pusher-established', {
      title: 'sends pusher:connection_established first, with a socket_id',
      headline: 'The connection does not begin with pusher:connection_established: {got}',
      why: 'Pusher clients wait for it before they do anything else.',
      change: 'Send it first on every connection, with a socket_id such as "123.456" in its data.',
      grounds,
      uses: [pusher.pusherClient],
      judge: ({ expect }) =>
        expect().toConform(`${pusher.ESTABLISHED} first`, ({ greetingEvent: first }) => {
          if (first?.event !== pusher.ESTABLISHED) return first?.event ?? 'no event';
          const id = first.data?.socket_id;
          const isId = typeof id === 'string' && /^\d+\.\d+$/.test(id);
          return first.fault ?? (isId ? null : `the socket_id ${JSON.stringify(id) ?? 'none'}`);
        }),
    }),

    // The seconds of silence after which a client pings; without it clients do not start.
    check('websocket.pusher-activity-timeout', {
      title: 'says after how much silence a client is to ping',
      headline: 'activity_timeout is no number of seconds: {got}',
      why: 'Clients do not know after how much silence to ping.',
      change: 'Send activity_timeout in seconds, 120 for example, with pusher:connection_established.',
      grounds,
      uses: [pusher.establishedClient],
      judge: ({ expect }) =>
        expect().toConform('an activity_timeout in seconds', ({ pusherEvents }) => {
          const established = pusherEvents.find(({ event }) => event === pusher.ESTABLISHED);
          const seconds = established?.data?.activity_timeout;
          return typeof seconds === 'number' && seconds > 0 ? null : (JSON.stringify(seconds) ?? 'none');
        }),
    }),

    pusherPing,

    // Channel events: a public channel is for everybody.
    check('websocket.pusher-subscribe', {
      title: 'lets a client subscribe to a public channel',
      headline: 'A subscription to a public channel is not confirmed: {got}',
      why: 'Clients wait for the confirmation, and show no events.',
      change: 'Answer pusher:subscribe with pusher_internal:subscription_succeeded.',
      grounds,
      uses: [pusher.establishedClient],
      judge: ({ expect }) =>
        expect().toConform('pusher_internal:subscription_succeeded', (conversation) =>
          conversation.hasSubscribed(pusher.PUBLIC_CHANNEL)
            ? null
            : `only ${conversation.pusherEvents.map(({ event }) => event).join(', ')}`,
        ),
    }),

    privateChannel,

    // Authorizing users: HMAC-SHA256 of socket_id and channel with the application's secret.
    check('websocket.pusher-signed-channel', {
      title: 'opens a private channel to a client that shows its signature',
      headline: 'A private channel stays closed to a valid signature: {got}',
      why: 'Users who may listen get no events.',
      change: 'Compare auth with the HMAC-SHA256 of socket_id:channel by the secret of the application.',
      grounds,
      applies: [application],
      uses: [pusher.establishedClient],
      judge: ({ expect }) =>
        expect().toConform('pusher_internal:subscription_succeeded', (conversation) =>
          conversation.hasSubscribed(pusher.SIGNED_CHANNEL)
            ? null
            : (conversation.pusherEvents.at(-1)?.event ?? 'nothing'),
        ),
    }),

    // Error codes: 4001, application does not exist; told by a Close frame, by pusher:error or by both.
    check('websocket.pusher-unknown-app', {
      title: 'refuses the client of an unknown application with 4001',
      headline: 'The client of an unknown application gets {answer}',
      why: 'The client never learns that its application key is wrong.',
      change: 'Close with 4001 where the application does not exist.',
      grounds,
      uses: [pusher.unknownApp],
      judge: ({ expect }) => expect().toConform('the code 4001', refusedWith(4001)),
    }),

    // Error codes: 4000 to 4099 ask a client not to come back unchanged; with any other range it comes back for ever.
    check('websocket.pusher-refusal-range', {
      title: 'does not tell a client to come back that it can never serve',
      headline: 'A client that can never be served is told to come back: {got}',
      why: 'The client connects again and again, for ever.',
      change: 'Refuse with a code of 4000 to 4099 what will not change by itself.',
      grounds,
      uses: [pusher.refusedClients],
      judge: ({ expect }) =>
        expect()
          .where(({ pusherCodes }) => pusherCodes.length > 0, 'no client was refused with a code')
          .toConform('a code of 4000 to 4099', (conversation) => pusher.invitationOf(conversation)),
    }),

    // Presence channels: the answer tells who is there, the subscriber among them.
    check('websocket.pusher-presence', {
      title: 'tells a client that enters a presence channel who is there',
      headline: 'A client is not among those present that it is told of: {got}',
      why: 'Lists of who is there are wrong.',
      change: 'List the user_id of every subscriber in presence.ids, the new one included.',
      grounds,
      applies: [application],
      uses: [pusher.presentClient],
      judge: ({ expect }) =>
        expect().toConform('itself among those present', (conversation) => {
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
      title: 'refuses an unknown protocol version, or none, with 4007 or 4008',
      headline: 'An unknown protocol version, or none, gets {answer}',
      why: 'Client and service misunderstand each other later on.',
      change: 'Close with 4007 on an unknown version, and with 4008 where there is none.',
      grounds,
      uses: [pusher.unsupportedProtocol, pusher.missingProtocol],
      async judge({ expect }) {
        await expect(pusher.unsupportedProtocol).toConform('the code 4007', refusedWith(4007));
        await expect(pusher.missingProtocol).toConform('the code 4008', refusedWith(4008));
      },
    }),

    check('websocket.pusher-malformed', {
      title: 'survives malformed Pusher events, or closes with a code',
      headline: 'A connection with malformed Pusher events is neither served nor closed: {got}',
      why: 'A client with a fault takes the service for dead, and nobody tells it why.',
      change: 'Answer pusher:error to what is no event, and go on.',
      grounds,
      restsOn: [pusherPing],
      uses: [misuse.malformedEvents],
      judge: ({ expect }) => expect().toConform('pusher:pong, or a Close with a code', isThere),
    }),

    // Ping and pong messages: either side may ask, and an answer too many is no fault.
    check('websocket.pusher-unasked-pong', {
      title: 'goes on after a pusher:pong that it has not asked for',
      headline: 'A pusher:pong that nobody asked for ends the service: {got}',
      why: 'A client may answer late, and loses its connection.',
      change: 'Ignore a pusher:pong that you do not wait for.',
      grounds,
      restsOn: [pusherPing],
      uses: [misuse.unaskedPong],
      judge: ({ expect }) =>
        expect().toConform('pusher:pong to the next pusher:ping', ({ pusherEvents }) =>
          pusherEvents.some(({ event }) => event === 'pusher:pong')
            ? null
            : (pusherEvents.at(-1)?.event ?? 'no event'),
        ),
    }),

    // Client events: private and presence channels alone, for those who have entered, and by their prefix.
    check('websocket.pusher-forbidden-event', {
      title: 'passes on no client event that its sender may not send',
      headline: 'A client event gets through that is not allowed: {got}',
      why: 'Anyone with the public key can write into the channels of others.',
      change:
        'Pass on events whose name begins with client-, on private and presence channels that the sender has entered.',
      grounds: [...grounds, practice('OWASP API5:2023')],
      applies: [application],
      uses: [misuse.forbiddenClientEvents],
      async judge({ probe, expect, blocked }) {
        const { subscriber, unsent } = await probe(misuse.forbiddenClientEvents);
        await expect(subscriber).toConform('none of them', misuse.forbiddenEvent);
        if (unsent !== null) blocked(`a connection ended before ${unsent} could show`);
      },
    }),

    // Authorizing users: the signature covers application, connection, channel and user.
    check('websocket.pusher-forged-signature', {
      title: 'opens no channel to the signature of another application, connection, channel or user',
      headline: 'A channel opens to a signature that is not for it: {got}',
      why: 'Whoever has seen one signature can listen to any channel.',
      change:
        'Compare auth, as a whole, with the key and the HMAC-SHA256 of socket_id, channel and channel_data.',
      grounds: [...grounds, practice('OWASP API1:2023')],
      applies: [application],
      restsOn: [privateChannel],
      uses: [misuse.forgedSubscriptions],
      async judge({ expect, probe, blocked }) {
        await expect().toConform('no subscription', (conversation) => {
          const ways = misuse.forgedWays(conversation);
          return ways.length === 0 ? null : `a subscription with ${ways.join(', ')}`;
        });
        const unrefused = misuse.unrefusedForgery(await probe(misuse.forgedSubscriptions));
        if (unrefused !== null) blocked(unrefused);
      },
    }),

    // Subscribing: a second time changes nothing.
    check('websocket.pusher-repeated-subscription', {
      title: 'sends each event once to a client that subscribes twice',
      headline: 'A client that has subscribed twice does not get an event once: {got}',
      why: 'After a retry users see everything twice, or nothing.',
      change: 'Keep one subscription for each connection and channel.',
      grounds,
      applies: [application],
      uses: [misuse.repeatedSubscription],
      judge: ({ expect }) =>
        expect().toConform('the event once', ({ pusherEvents, unaskedEnd }) => {
          const times = pusherEvents.filter(({ event }) => event === misuse.ONCE).length;
          // To end the connection of such a client is stricter, and no less clear.
          return times === 1 || (times === 0 && unaskedEnd !== null) ? null : `it ${times} times`;
        }),
    }),
  ],
);

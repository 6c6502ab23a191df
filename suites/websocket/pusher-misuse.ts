import {
  application,
  type ConversationView,
  check,
  clause,
  given,
  practice,
  pusherDialect,
} from '../../harness/engine/check/suite.ts';
import { privateChannel, pusherPing } from './pusher.ts';
import * as misuse from './stimuli/pusher-misuse.ts';

const grounds = [clause('websocket.messages'), practice('Pusher Channels protocol, version 7')];

/** It answers pusher:ping, or has said why it goes. */
function isThere({
  pusherEvents,
  serverClose,
  ended,
  clientClose,
  afterwards,
}: ConversationView): string | null {
  if (pusherEvents.some(({ event }) => event === 'pusher:pong')) return null;
  if (serverClose !== null && serverClose.atMs < (clientClose?.atMs ?? Infinity)) return null;
  return ended === null || clientClose !== null ? `no pusher:pong, and ${afterwards}` : 'the end of TCP';
}

/** What clients of the Pusher protocol, version 7, may not do, and what they may do twice. */
export const pusherMisuseChecks = given(
  [pusherDialect],
  [
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
      judge: ({ expect }) =>
        expect().toConform('none of them', ({ pusherEvents }) => {
          const got = pusherEvents.find(({ event }) => Object.hasOwn(misuse.FORBIDDEN, event));
          return got === undefined ? null : misuse.FORBIDDEN[got.event as keyof typeof misuse.FORBIDDEN];
        }),
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
      judge: ({ expect }) =>
        expect().toConform('no subscription', (conversation) => {
          const ways = misuse.forgedWays(conversation);
          return ways.length === 0 ? null : `a subscription with ${ways.join(', ')}`;
        }),
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

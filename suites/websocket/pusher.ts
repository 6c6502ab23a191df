import { type CheckDefinition, check } from '../../harness/check/check.ts';
import { hasWebSocket, pusherDialect } from '../../harness/check/requirement.ts';
import { application } from '../../harness/check/websocket-requirement.ts';
import { clause, practice } from '../../harness/contract/ground.ts';
import { pusherAdvice } from '../../harness/evidence/conversation/pusher-code.ts';
import type { PusherEvent } from '../../harness/evidence/conversation/pusher-event.ts';
import type { ConversationView } from '../../harness/evidence/conversation/view.ts';
import { isJsonObject } from '../../harness/json-text.ts';
import * as pusher from '../../harness/probe/websocket/pusher.ts';

const applies = [hasWebSocket, pusherDialect];
const grounds = [clause('websocket.messages'), practice('Pusher Channels protocol, version 7')];

/** The Pusher protocol, version 7, where the config names it the dialect of the endpoint. */
export const pusherChecks = [
  // Connection events: sent first, its data a JSON text in a string.
  check(
    'websocket.pusher-established',
    {
      title: 'sends pusher:connection_established first, with a socket_id',
      grounds,
      applies,
      provenBy: ['pusher-silent-start', 'pusher-plain-data'],
    },
    async ({ probe, expectConversation }) => {
      expectConversation(await probe(pusher.pusherClient)).toConform(
        `${pusher.ESTABLISHED} first`,
        ({ greetingEvent: first }) => {
          if (first?.event !== pusher.ESTABLISHED) return first?.event ?? 'no event';
          const id = first.data?.socket_id;
          const isId = typeof id === 'string' && /^\d+\.\d+$/.test(id);
          return first.fault ?? (isId ? null : `the socket_id ${JSON.stringify(id) ?? 'none'}`);
        },
      );
    },
  ),

  // The seconds of silence after which a client pings; without it clients do not start.
  check(
    'websocket.pusher-activity-timeout',
    {
      title: 'says after how much silence a client is to ping',
      grounds,
      applies,
      provenBy: ['pusher-no-activity-timeout'],
    },
    async ({ probe, expectConversation }) => {
      const conversation = await probe(pusher.establishedClient);
      expectConversation(conversation).toConform('an activity_timeout in seconds', ({ pusherEvents }) => {
        const established = pusherEvents.find(({ event }) => event === pusher.ESTABLISHED);
        const seconds = established?.data?.activity_timeout;
        return typeof seconds === 'number' && seconds > 0 ? null : (JSON.stringify(seconds) ?? 'none');
      });
    },
  ),

  answers(
    'ping',
    'answers pusher:ping with pusher:pong',
    'pusher:pong',
    ({ event }) => event === 'pusher:pong',
    'pusher-no-pong',
  ),

  answers(
    'subscribe',
    'lets a client subscribe to a public channel',
    'pusher_internal:subscription_succeeded',
    (event) => succeeded(event, pusher.PUBLIC_CHANNEL),
    'pusher-loses-subscriptions',
  ),

  // Authorizing users: private channels are for those who can show a signature for this socket.
  check(
    'websocket.pusher-private-channel',
    {
      title: 'refuses a private channel without a signature',
      grounds: [...grounds, practice('OWASP API1:2023')],
      applies,
      provenBy: ['pusher-opens-private-channels'],
    },
    async ({ probe, expectConversation }) => {
      const conversation = await probe(pusher.establishedClient);
      expectConversation(conversation).toConform('a subscription error', ({ pusherEvents }) =>
        pusherEvents.some((event) => succeeded(event, pusher.PRIVATE_CHANNEL))
          ? 'subscription_succeeded'
          : null,
      );
    },
  ),

  // Authorizing users: HMAC-SHA256 of socket_id and channel with the application's secret.
  check(
    'websocket.pusher-signed-channel',
    {
      title: 'opens a private channel to a client that shows its signature',
      grounds,
      applies: [...applies, application],
      provenBy: ['pusher-refuses-signatures'],
    },
    async ({ probe, expectConversation }) => {
      const conversation = await probe(pusher.establishedClient);
      expectConversation(conversation).toConform(
        'pusher_internal:subscription_succeeded',
        ({ pusherEvents }) =>
          pusherEvents.some((event) => succeeded(event, pusher.SIGNED_CHANNEL))
            ? null
            : (pusherEvents.at(-1)?.event ?? 'nothing'),
      );
    },
  ),

  // Error codes: 4001, application does not exist; told by a Close frame, by pusher:error or by both.
  check(
    'websocket.pusher-unknown-app',
    {
      title: 'turns away the client of an unknown application with 4001',
      grounds,
      applies,
      provenBy: ['pusher-accepts-unknown-app', 'pusher-wrong-error-code'],
    },
    async ({ probe, expectConversation }) => {
      expectConversation(await probe(pusher.unknownApp)).toConform('the code 4001', (conversation) =>
        refusedWith(conversation, 4001),
      );
    },
  ),

  // Error codes: 4000 to 4099 ask a client not to come back unchanged; with any other range it comes back for ever.
  check(
    'websocket.pusher-refusal-range',
    {
      title: 'does not ask a client to come back whom it can never serve',
      grounds,
      applies,
      provenBy: ['pusher-wrong-error-code'],
    },
    async ({ probe, expectConversation, notApplicable }) => {
      const refused = (
        await Promise.all([pusher.unknownApp, pusher.unsupportedProtocol, pusher.missingProtocol].map(probe))
      ).filter((conversation) => codesOf(conversation).length > 0);
      if (refused.length === 0) return notApplicable('no client was refused with a code');
      expectConversation(...refused).toConform('a code of 4000 to 4099', (conversation) => {
        const code = codesOf(conversation).find((each) => pusherAdvice(each) !== 'never come back unchanged');
        return code === undefined ? null : `${code} (${pusherAdvice(code) ?? 'no code of the protocol'})`;
      });
    },
  ),

  // Presence channels: the answer tells who is there, the subscriber among them.
  check(
    'websocket.pusher-presence',
    {
      title: 'tells a client that enters a presence channel who is there',
      grounds,
      applies: [...applies, application],
      provenBy: ['pusher-omits-presence'],
    },
    async ({ probe, expectConversation }) => {
      expectConversation(await probe(pusher.presentClient)).toConform(
        'itself among those present',
        ({ pusherEvents }) => {
          const entered = pusherEvents.find((event) => succeeded(event, pusher.PRESENCE_CHANNEL));
          if (entered === undefined) return pusherEvents.at(-1)?.event ?? 'no event';
          const presence = entered.data?.presence;
          const ids = isJsonObject(presence) ? presence.ids : null;
          return Array.isArray(ids) && ids.includes(pusher.PRESENT_USER)
            ? null
            : `${JSON.stringify(ids)} as ids`;
        },
      );
    },
  ),

  // Error codes: 4007, unsupported protocol version, and 4008, none supplied.
  check(
    'websocket.pusher-protocol-version',
    {
      title: 'turns away a client of an unknown protocol version, or of none, with 4007 or 4008',
      grounds,
      applies,
      provenBy: ['pusher-accepts-any-protocol'],
    },
    async ({ probe, expectConversation }) => {
      expectConversation(await probe(pusher.unsupportedProtocol)).toConform('the code 4007', (conversation) =>
        refusedWith(conversation, 4007),
      );
      expectConversation(await probe(pusher.missingProtocol)).toConform('the code 4008', (conversation) =>
        refusedWith(conversation, 4008),
      );
    },
  ),
];

/** An event of the client is answered with one of the service. */
function answers(
  name: string,
  title: string,
  wanted: string,
  isAnswer: (event: PusherEvent) => boolean,
  defect: string,
): CheckDefinition {
  return check(
    `websocket.pusher-${name}`,
    { title, grounds, applies, provenBy: [defect] },
    async ({ probe, expectConversation }) => {
      const conversation = await probe(pusher.establishedClient);
      expectConversation(conversation).toConform(wanted, ({ pusherEvents }) => {
        if (pusherEvents.some(isAnswer)) return null;
        return `only ${pusherEvents.map(({ event }) => event).join(', ')}`;
      });
    },
  );
}

function succeeded({ event, channel }: PusherEvent, wanted: string): boolean {
  return event === 'pusher_internal:subscription_succeeded' && channel === wanted;
}

/** Codes with which a client was refused, by pusher:error and by the Close. */
function codesOf({ closeCode, pusherEvents }: ConversationView): readonly number[] {
  const told = pusherEvents.filter(({ event }) => event === 'pusher:error').map(({ data }) => data?.code);
  return [...told, closeCode].filter((code) => typeof code === 'number');
}

/** An HTTP error turns a client away as well; it has no such code. */
function refusedWith(conversation: ConversationView, code: number): string | null {
  const { opened, status, closeCode, pusherEvents, isOver, afterwards } = conversation;
  if (!opened) return status === null ? 'no answer' : null;
  const errors = pusherEvents.filter(({ event }) => event === 'pusher:error').map(({ data }) => data?.code);
  if (closeCode === code || errors.includes(code)) return null;
  if (closeCode !== null) return String(closeCode);
  return isOver ? 'the end of TCP' : afterwards;
}

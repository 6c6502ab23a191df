import { isJsonObject } from '../../../harness/base/json-text.ts';
import { Blocked, NotApplicable } from '../../../harness/base/verdict.ts';
import type { AppCredentials } from '../../../harness/config/credential/keys.ts';
import { signChannel } from '../../../harness/config/credential/signing/signature.ts';
import { connecting, derived, type Port, type Probe } from '../../../harness/engine/session/probe.ts';
import type { Conversing } from '../../../harness/engine/session/websocket/conversation.ts';
import type { OpenConversation } from '../../../harness/engine/session/websocket/open-conversation.ts';
import {
  isSubscription,
  type PusherEvent,
  pusherAdvice,
  readPusherEvent,
} from '../../../harness/wire/conversation/dialect.ts';
import type { Message } from '../../../harness/wire/conversation/message.ts';
import type { ConversationView } from '../../../harness/wire/conversation/view.ts';
import { withoutQuery, withQuery } from '../../../harness/wire/request.ts';
import type { Latency } from './liveness.ts';
import { alive, held } from './ordinary-client.ts';

/** Clients of the Pusher protocol, version 7. */

export const PUBLIC_CHANNEL = 'conform-public';
export const PRIVATE_CHANNEL = 'private-conform';
export const SIGNED_CHANNEL = 'private-conform-signed';

/** A client that pings, and subscribes to a public, a private and, if it can sign, a signed channel. */
export const pusherClient = connecting(
  'websocket-pusher-client',
  { needs: [alive] },
  async ({ ask, config, websocket }) => {
    await ask(alive);
    const app = config.credentials.app;
    const says = client(async (conversation, socketId) => {
      await pinged(conversation);
      await subscribe(conversation, { channel: PUBLIC_CHANNEL });
      // An end behind its answer is one over the private channel.
      await pinged(conversation);
      await subscribe(conversation, { channel: PRIVATE_CHANNEL });
      if (app !== null)
        await subscribe(conversation, { channel: SIGNED_CHANNEL, auth: authOf(app, socketId) });
    });
    return websocket.hold('a WebSocket with a Pusher client', says);
  },
);

/** The same, if the service established the connection: otherwise no client goes on. */
export const establishedClient = derived('websocket-pusher-established', [pusherClient], async ({ ask }) => {
  const client = await ask(pusherClient);
  if (client.pusherEvents.some(({ event }) => event === ESTABLISHED)) return client;
  throw new Blocked(`no ${ESTABLISHED} came, so this would prove nothing`);
});

export const ESTABLISHED = 'pusher:connection_established';

export const PRESENCE_CHANNEL = 'presence-conform';
export const PRESENT_USER = 'conform';

/** A client that enters a presence channel: the signature covers who it says it is. */
export const presentClient = connecting(
  'websocket-pusher-present',
  { needs: [establishedClient] },
  async (port) => {
    const app = await applicationOf(port);
    const says = client(async (conversation, socketId) => {
      const channelData = JSON.stringify({ user_id: PRESENT_USER });
      const auth = authOf(app, socketId, PRESENCE_CHANNEL, channelData);
      await subscribe(conversation, { channel: PRESENCE_CHANNEL, auth, channel_data: channelData });
    });
    return port.websocket.hold('a WebSocket with a client that is present', says);
  },
);

const CLIENT_EVENTS = 20;

/** Milliseconds on the session's clock at which each was sent, by its index. */
function clientEventsIn(
  { conversation }: ConversationView,
  messages: readonly Message[],
): ReadonlyMap<unknown, number> {
  return new Map(
    messages.flatMap(({ text, atMs }) => {
      const event = text === null ? null : readPusherEvent(text);
      const isIt = event?.event === 'client-conform';
      return isIt ? [[event.data?.index, conversation.timing.startedMs + atMs] as const] : [];
    }),
  );
}

/** A subscriber, and another client that sends events to their channel; with the latency of each event. */
export const clientEvents = connecting(
  'websocket-pusher-client-events',
  { needs: [establishedClient], cost: 2 },
  async (port) => {
    const { websocket } = port;
    const app = await applicationOf(port);
    let sender: ConversationView | undefined;
    const subscriber = await websocket.hold('a WebSocket with a subscriber', async (listening) => {
      if (!(await enters(listening, app))) return;
      sender = await websocket.hold('a WebSocket with a client that sends events', async (conversation) => {
        if (!(await enters(conversation, app))) return;
        for (let index = 0; index < CLIENT_EVENTS; index++) {
          const message = { event: 'client-conform', channel: SIGNED_CHANNEL, data: { index } };
          await conversation.text(JSON.stringify(message));
          const isIt = ({ event, data }: PusherEvent) => event === 'client-conform' && data?.index === index;
          if ((await pusherEvent(listening, 'for the event', isIt)) === null) break;
        }
        await conversation.close(1000);
      });
      await listening.close(1000);
    });
    if (sender === undefined) throw new Blocked('no client could subscribe, so this would prove nothing');
    const sent = clientEventsIn(sender, sender.sent);
    const tookMs = [...clientEventsIn(subscriber, subscriber.messages)].flatMap(([index, atMs]) => {
      const sentMs = sent.get(index);
      return sentMs === undefined ? [] : [atMs - sentMs];
    });
    const latency: Latency = { path: 'published and received', tookMs: tookMs.sort((a, b) => a - b) };
    return { subscriber, sender, latency };
  },
);

/** The application of the config, if clients are established at all. @throws NotApplicable if there is none. */
export async function applicationOf({ ask, config }: Pick<Port, 'ask' | 'config'>): Promise<AppCredentials> {
  await ask(establishedClient);
  const { app } = config.credentials;
  if (app === null) throw new NotApplicable('no application is configured (credentials.app)');
  return app;
}

/** A client that sends this on an established connection, and closes. */
export const client =
  (say: (conversation: OpenConversation, socketId: string) => Promise<unknown>): Conversing =>
  async (conversation) => {
    const socketId = await established(conversation);
    if (socketId === null) return;
    await say(conversation, socketId);
    await conversation.close(1000);
  };

/** Subscribes to the signed channel. @returns the socket id; null if that was refused. */
export async function enters(conversation: OpenConversation, app: AppCredentials): Promise<string | null> {
  const socketId = await established(conversation);
  if (socketId === null) return null;
  await say(conversation, 'pusher:subscribe', { channel: SIGNED_CHANNEL, auth: authOf(app, socketId) });
  const isAnswer = ({ event }: PusherEvent) =>
    event.endsWith(':subscription_succeeded') || event.endsWith('error');
  const answer = await pusherEvent(conversation, 'for the answer to the subscription', isAnswer);
  return answer?.event.endsWith('succeeded') ? socketId : null;
}

/** Asks whether the service is there, and waits for its answer. */
export async function pinged(conversation: OpenConversation): Promise<void> {
  await say(conversation, 'pusher:ping', {});
  await pusherEvent(conversation, 'for pusher:pong', ({ event }) => event === 'pusher:pong');
}

/** Waits for the established connection. @returns its socket id; null if none came. */
export async function established(conversation: OpenConversation): Promise<string | null> {
  const greeting = await pusherEvent(
    conversation,
    'for connection_established',
    ({ event }) => event === ESTABLISHED,
  );
  const socketId = greeting?.data?.socket_id;
  return typeof socketId === 'string' ? socketId : null;
}

export function authOf(
  { key, secret }: AppCredentials,
  socketId: string,
  channel = SIGNED_CHANNEL,
  channelData?: string,
): string {
  return signChannel({ key, secret: secret.reveal() }, socketId, channel, channelData);
}

function say(conversation: OpenConversation, event: string, data: object): Promise<void> {
  return conversation.text(JSON.stringify({ event, data }));
}

export async function pusherEvent(
  conversation: OpenConversation,
  note: string,
  satisfies: (event: PusherEvent) => boolean,
): Promise<PusherEvent | null> {
  const found = await conversation.message(note, ({ text }) => {
    const event = readPusherEvent(text ?? '');
    return event !== null && satisfies(event);
  });
  return readPusherEvent(found?.text ?? '');
}

export async function subscribe(
  conversation: OpenConversation,
  data: { readonly channel: string; readonly auth?: string; readonly channel_data?: string },
): Promise<void> {
  await say(conversation, 'pusher:subscribe', data);
  await pusherEvent(
    conversation,
    'for the answer to the subscription',
    ({ event, channel }) =>
      (event.endsWith(':subscription_succeeded') && channel === data.channel) ||
      event === 'pusher:subscription_error' ||
      event === 'pusher:error',
  );
}

/** A client that can never be served as it comes. The handshake may be refused, or the connection be closed. */
function refused(name: string, what: string, target: (target: string) => string): Probe<ConversationView> {
  const stimulus = { purpose: `a WebSocket ${what}`, target };
  return held(`websocket-pusher-${name}`, stimulus, (conversation) => conversation.end());
}

export const unknownApp = refused('unknown-app', 'to an application that does not exist', (target) =>
  target.replace(/\/[^/?]+(?=\?|$)/, '/conform-no-such-app'),
);
export const unsupportedProtocol = refused(
  'unsupported-protocol',
  'with protocol version 99 of Pusher',
  (target) => withQuery(target, [['protocol', '99']]),
);
export const missingProtocol = refused('missing-protocol', 'without a protocol version of Pusher', (target) =>
  withoutQuery(target, 'protocol'),
);

const REFUSED = [unknownApp, unsupportedProtocol, missingProtocol];
export const refusedClients = derived('websocket-pusher-refused-clients', REFUSED, ({ ask }) =>
  Promise.all(REFUSED.map((each) => ask(each))),
);

/** The first code of a refusal that tells the client to come back, with its meaning; null if none. */
export function invitationOf({ pusherCodes }: ConversationView): string | null {
  const code = pusherCodes.find((each) => pusherAdvice(each) !== 'never come back unchanged');
  return code === undefined ? null : `${code} (${pusherAdvice(code) ?? 'no code of the protocol'})`;
}

/**
 * Why a channel was not refused; null if it was: by name, by the end of the connection, or by silence where a lawful
 * subscription was confirmed.
 */
export function whyNotRefused(conversation: ConversationView, refused: string): string | null {
  const errors = conversation.pusherEvents.filter(({ event }) => event === 'pusher:subscription_error');
  if (errors.some(({ channel }) => channel === refused)) return null;
  if (!conversation.saidBeforeEnd(JSON.stringify(refused)))
    return `the connection ended before a subscription to ${refused} was sent`;
  const isContrasted = [PUBLIC_CHANNEL, SIGNED_CHANNEL].some((lawful) => conversation.hasSubscribed(lawful));
  return isContrasted ? null : 'no subscription was answered, so silence would prove nothing';
}

/** The ids of those present, by the answer to the subscription to the presence channel. */
export function presentIds({ pusherEvents }: ConversationView): unknown {
  const presence = pusherEvents.find((event) => isSubscription(event, PRESENCE_CHANNEL))?.data?.presence;
  return isJsonObject(presence) ? presence.ids : null;
}

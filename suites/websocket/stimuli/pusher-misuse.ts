import { Blocked } from '../../../harness/base/verdict.ts';
import type { AppCredentials } from '../../../harness/config/credential/keys.ts';
import { signChannel } from '../../../harness/config/credential/signing/signature.ts';
import { connecting, type Probe } from '../../../harness/engine/session/probe.ts';
import type { OpenConversation } from '../../../harness/engine/session/websocket/open-conversation.ts';
import type { ConversationView } from '../../../harness/wire/conversation/view.ts';
import {
  applicationOf,
  authOf,
  client,
  enters,
  establishedClient,
  PUBLIC_CHANNEL,
  pinged,
  pusherEvent,
  SIGNED_CHANNEL,
  subscribe,
  whyNotRefused,
} from './pusher.ts';

/** Messages that clients of the Pusher protocol, version 7, may not send, or not twice. */

/** A client that sends this, and then asks whether the service is still there. */
function said(
  name: string,
  purpose: string,
  say: (conversation: OpenConversation) => Promise<void>,
): Probe<ConversationView> {
  return connecting(name, { needs: [establishedClient] }, async ({ ask, websocket }) => {
    await ask(establishedClient);
    const says = client(async (conversation) => {
      await say(conversation);
      await pinged(conversation);
    });
    return websocket.hold(purpose, says);
  });
}

/** None of them is a message of the protocol. */
const MALFORMED = [
  'conform',
  '[]',
  '{}',
  '{"event":7}',
  '{"event":"pusher:subscribe"}',
  '{"event":"pusher:subscribe","data":{"channel":["conform"]}}',
  '{"event":"pusher:subscribe","data":{"channel":"conform#no/channel"}}',
  '{"event":"pusher:unsubscribe","data":"conform"}',
  '{"event":"pusher:conform-unknown","data":{}}',
];

export const malformedEvents = said(
  'websocket-pusher-malformed-events',
  'a WebSocket with malformed Pusher events',
  async (conversation) => {
    for (const text of MALFORMED) await conversation.text(text);
  },
);

export const unaskedPong = said(
  'websocket-pusher-unasked-pong',
  'a WebSocket with a pusher:pong that nobody asked for',
  (conversation) => conversation.text('{"event":"pusher:pong","data":{}}'),
);

/** Events that the client may not send. */
const FORBIDDEN = [
  ['client-conform-public', PUBLIC_CHANNEL, 'a client event on a public channel'],
  ['client-conform-foreign', SIGNED_CHANNEL, 'a client event on a channel that its sender has not entered'],
  ['conform-unmarked', PUBLIC_CHANNEL, 'an event of a client without client- in its name'],
] as const;

/** The first of them that came, in words; null if none. */
export function forbiddenEvent({ pusherEvents }: ConversationView): string | null {
  const faults = pusherEvents.map(({ event }) => FORBIDDEN.find(([name]) => name === event)?.[2]);
  return faults.find((what) => what !== undefined) ?? null;
}

interface ForbiddenEvents {
  readonly subscriber: ConversationView;
  /** What was not sent to a subscriber that was still there, in words; null if all was. */
  readonly unsent: string | null;
}

/** A subscriber of a public and a private channel, while other clients, in the public one alone, send these. */
export const forbiddenClientEvents = connecting<ForbiddenEvents>(
  'websocket-pusher-forbidden-client-events',
  { needs: [establishedClient], cost: 1 + FORBIDDEN.length, usualCost: 2 },
  async (port) => {
    const app = await applicationOf(port);
    let unsent: string | null = null;
    const subscriber = await port.websocket.hold(
      'a WebSocket with a subscriber, beside a client that sends what it may not',
      async (listening) => {
        if (!(await enters(listening, app))) throw new Blocked('no client could subscribe');
        await subscribe(listening, { channel: PUBLIC_CHANNEL });
        // One that is turned away for the first event sends the next ones on another connection.
        for (let rest: readonly (typeof FORBIDDEN)[number][] = FORBIDDEN; rest.length > 0; ) {
          const sender = await port.websocket.hold(
            'a WebSocket with a client that sends what it may not',
            client(async (conversation) => {
              await subscribe(conversation, { channel: PUBLIC_CHANNEL });
              // An end behind its answer is one over an event.
              await pinged(conversation);
              for (const [event, channel] of rest) {
                if (!conversation.isOpen) return;
                await conversation.text(JSON.stringify({ event, channel, data: {} }));
                // Once this is answered, so is all before it.
                await pinged(conversation);
              }
            }),
          );
          const left = rest.filter(([event]) => !sender.saidBeforeEnd(JSON.stringify(event)));
          if (left.length === rest.length) unsent = rest[0]?.[2] ?? null;
          rest = left.length === rest.length ? [] : left;
        }
        await pinged(listening);
        if (!listening.isOpen) unsent ??= FORBIDDEN[0][2];
        await listening.close(1000);
      },
    );
    return { subscriber, unsent };
  },
);

/** A way of forging the authorization of a subscription. */
interface Forgery {
  readonly channel: string;
  /** Completes "a subscription with …". */
  readonly what: string;
  readonly auth: (app: Parameters<typeof signChannel>[0], socketId: string, channel: string) => string;
  readonly channelData?: string;
}

const USER = JSON.stringify({ user_id: 'conform' });
const OTHER_USER = JSON.stringify({ user_id: 'conform-another' });

const FORGERIES: readonly Forgery[] = [
  {
    channel: 'private-conform-other-app',
    what: 'the key of another application',
    auth: (app, ...signed) => signChannel({ ...app, key: `conform-${app.key}` }, ...signed),
  },
  {
    channel: 'private-conform-other-secret',
    what: 'the secret of another application',
    auth: (app, ...signed) => signChannel({ ...app, secret: 'conform: another' }, ...signed),
  },
  {
    channel: 'private-conform-other-socket',
    what: 'the signature of another connection',
    auth: (app, _, channel) => signChannel(app, '1.1', channel),
  },
  {
    channel: 'private-conform-other-channel',
    what: 'the signature of another channel',
    auth: (app, id) => signChannel(app, id, SIGNED_CHANNEL),
  },
  { channel: 'private-conform-empty-signature', what: 'an empty signature', auth: ({ key }) => `${key}:` },
  {
    channel: 'presence-conform-other-user',
    what: 'the signature of another user',
    auth: (app, ...signed) => signChannel(app, ...signed, USER),
    channelData: OTHER_USER,
  },
];

/** The forgeries that have opened a channel, in words. */
export function forgedWays(conversation: ConversationView): readonly string[] {
  return FORGERIES.filter(({ channel }) => conversation.hasSubscribed(channel)).map(({ what }) => what);
}

/** The first forgery that was refused on none of these connections, with the reason; null if each was. */
export function unrefusedForgery(all: readonly ConversationView[]): string | null {
  for (const { channel, what } of FORGERIES) {
    const reasons = all.map((each) => whyNotRefused(each, channel));
    if (!reasons.includes(null)) return `${what} was not judged: ${reasons.at(-1)}`;
  }
  return null;
}

/** Forged subscriptions behind a lawful one; those behind the end of a connection are sent on another one. */
export const forgedSubscriptions = connecting<readonly ConversationView[]>(
  'websocket-pusher-forged-subscriptions',
  { needs: [establishedClient], cost: FORGERIES.length, usualCost: 1 },
  async (port) => {
    const { key, secret } = await applicationOf(port);
    const app = { key, secret: secret.reveal() };
    const views: ConversationView[] = [];
    for (let rest = FORGERIES; rest.length > 0; ) {
      const says = client(async (conversation, socketId) => {
        await subscribe(conversation, {
          channel: SIGNED_CHANNEL,
          auth: signChannel(app, socketId, SIGNED_CHANNEL),
        });
        // An end behind its answer is one over a forged subscription.
        await pinged(conversation);
        for (const { channel, auth, channelData } of rest) {
          if (!conversation.isOpen) return;
          const more = channelData === undefined ? {} : { channel_data: channelData };
          await subscribe(conversation, { channel, auth: auth(app, socketId, channel), ...more });
        }
      });
      const view = await port.websocket.hold('a WebSocket with forged subscriptions', says);
      views.push(view);
      const left = rest.filter(({ channel }) => whyNotRefused(view, channel) !== null);
      if (view.unaskedEnd === null || left.length === rest.length) break;
      rest = left;
    }
    return views;
  },
);

/** A client that subscribes twice to a channel in which another client then sends one event. */
export const repeatedSubscription = connecting(
  'websocket-pusher-repeated-subscription',
  { needs: [establishedClient], cost: 2 },
  async (port) => {
    const app = await applicationOf(port);
    return port.websocket.hold('a WebSocket with a client that subscribes twice', async (listening) => {
      const socketId = await enters(listening, app);
      if (socketId === null) throw new Blocked('no client could subscribe');
      await subscribe(listening, { channel: SIGNED_CHANNEL, auth: authOf(app, socketId) });
      await port.websocket.hold('a WebSocket with a client that sends one event', (conversation) =>
        saysOnce(conversation, app),
      );
      await pusherEvent(listening, 'for the event', ({ event }) => event === ONCE);
      // A second one would come before the answer to this.
      await pinged(listening);
      await listening.close(1000);
    });
  },
);

export const ONCE = 'client-conform-once';

async function saysOnce(conversation: OpenConversation, app: AppCredentials): Promise<void> {
  if (!(await enters(conversation, app))) return;
  await conversation.text(JSON.stringify({ event: ONCE, channel: SIGNED_CHANNEL, data: {} }));
  await pinged(conversation);
  await conversation.close(1000);
}

import { NotApplicable } from '../../../harness/base/verdict.ts';
import type { DialectEvent, MessageDialect } from '../../../harness/config/blocks/dialect.ts';
import type { MessagePair } from '../../../harness/config/blocks/websocket.ts';
import type { ServiceConfig } from '../../../harness/config/service.ts';
import { connecting, derived, type Probe } from '../../../harness/engine/session/probe.ts';
import { dialectOf } from '../../../harness/engine/session/websocket/dialects/dialects.ts';
import type { Message } from '../../../harness/wire/conversation/message.ts';
import type { ConversationView } from '../../../harness/wire/conversation/view.ts';
import { EndlessSchema, SchemaBook } from '../../../harness/wire/json/schema.ts';
import { type Shape, shapeOf } from '../../../harness/wire/json/shape.ts';
import {
  type Errand,
  EXCHANGE,
  EXCHANGE_IN_FRAGMENTS,
  exchangeAt,
  piecemealAt,
  runErrand,
} from './errand.ts';
import { withoutGreetings } from './greeting.ts';
import { answerIn, exchange, whole } from './message-pair.ts';
import { alive, opening } from './ordinary-client.ts';
import { pusherClient } from './pusher.ts';
import { everyConversation } from './record.ts';
import { besideOthers } from './side-by-side.ts';

/** What is said in the dialect of the endpoint, and messages whose answers the config names. */

/** The dialect of the endpoint; a probe, so that a module is loaded once. */
export const spoken: Probe<MessageDialect> = derived('websocket-dialect', [], async ({ config }) => {
  if (config.websocket === null) throw new NotApplicable('no websocket is configured for this service');
  return dialectOf(config.websocket);
});

/** The conversations of clients that speak the dialect, or send the messages of the config. */
const talks: Probe<readonly ConversationView[]> = derived(
  'websocket-talks',
  ({ websocket }) => [
    ...(websocket?.dialect === 'own' ? [client] : []),
    ...(websocket?.exchange?.length ? [exchanged] : []),
    opening,
    ...(websocket?.dialect === 'pusher' ? [pusherClient] : []),
  ],
  async ({ ask, config }) => {
    const { dialect: kind, exchange } = config.websocket ?? {};
    return [
      ...(kind === 'own' ? [await ask(client)] : []),
      ...(exchange?.length ? (await ask(exchanged)).map(({ conversation }) => conversation) : []),
      await ask(opening),
      ...(kind === 'pusher' ? [await ask(pusherClient)] : []),
    ];
  },
);

function heardIn(
  conversation: ConversationView,
  dialect: MessageDialect,
  messages: readonly Message[] = conversation.messages,
): readonly (DialectEvent & { readonly conversation: ConversationView })[] {
  return messages.flatMap(({ text }) => {
    const read = text === null ? null : dialect.read(text);
    return read === null ? [] : [{ ...read, conversation }];
  });
}

interface JudgedEvents {
  /** Those that the config has schemas for. `fault`: the schema refuses it; `unjudged`: why it could not be judged. */
  readonly all: readonly (DialectEvent & {
    readonly conversation: ConversationView;
    readonly fault: string | null;
    readonly unjudged: string | null;
  })[];
  /** Why a message may be such an event, and was not read; null if each was. */
  readonly unread: string | null;
}

export const judgedEvents: Probe<JudgedEvents> = derived(
  'websocket-judged-events',
  [spoken, talks, everyConversation],
  async ({ ask, config }) => {
    const schemas = config.websocket?.messages ?? {};
    const book = new SchemaBook();
    const dialect = await ask(spoken);
    await ask(talks);
    const conversations = (await ask(everyConversation)).all;
    const heard = conversations.flatMap((each) => [
      ...heardIn(each, dialect),
      ...heardIn(each, dialect, each.heartbeats),
    ]);
    const documented = heard.filter(({ event }) => Object.hasOwn(schemas, event));
    const all = documented.map((each) => {
      try {
        const fault = book.compile(schemas[each.event])(each.data);
        return { ...each, fault: fault?.message ?? null, unjudged: null };
      } catch (error) {
        if (!(error instanceof EndlessSchema)) throw error;
        return { ...each, fault: null, unjudged: error.message };
      }
    });
    const isCut = ({ kind, truncated }: Message) => kind === 'text' && truncated;
    // What is as long as a message of ours may be its echo.
    const cut = conversations.find(({ messages, sent }) => messages.some(isCut) && !sent.some(isCut));
    return { all, unread: cut === undefined ? null : `a message for ${cut.to} is too long to be judged` };
  },
);

/** The shape of the first event of each name that has no schema, sorted by the names. */
export const eventShapes: Probe<Readonly<Record<string, Shape | null>>> = derived(
  'websocket-event-shapes',
  [spoken, talks],
  async ({ ask, config }) => {
    const schemas = config.websocket?.messages ?? {};
    const dialect = await ask(spoken);
    // Not its heartbeats: how many come is a matter of time.
    const said = (await ask(talks)).flatMap((conversation) => heardIn(conversation, dialect));
    const open = said.filter(({ event }) => !Object.hasOwn(schemas, event));
    const byName = Map.groupBy(open, ({ event }) => event);
    const shapes = [...byName].map(([event, [first]]) => [event, shapeOf(first?.data)] as const);
    return Object.fromEntries(shapes.sort());
  },
);

/** A client of the dialect: it is greeted, sends a heartbeat, and subscribes, as far as the dialect has them. */
const client = connecting(
  'websocket-dialect-client',
  { needs: [alive, spoken] },
  async ({ ask, websocket }) => {
    await ask(alive);
    const dialect = await ask(spoken);
    const { greeting, heartbeat, subscribe } = dialect;
    return websocket.hold(`a WebSocket with a client of ${dialect.name}`, async (conversation) => {
      const heard = (name: string) =>
        conversation.message(`for ${name}`, ({ text }) => dialect.read(text ?? '')?.event === name);
      if (greeting !== undefined) await heard(greeting);
      if (heartbeat) {
        await conversation.text(heartbeat.send);
        await heard(heartbeat.answer);
      }
      if (subscribe) {
        await conversation.text(subscribe.send(subscribe.channel));
        await heard(subscribe.answer);
      }
      await conversation.close(1000);
    });
  },
);

/** Names of the events that this client got, in their order. */
export const heardByClient = derived('websocket-dialect-heard', [client, spoken], async ({ ask }) => {
  const conversation = await ask(client);
  const { to, evidence } = conversation;
  return { to, evidence, events: heardIn(conversation, await ask(spoken)).map(({ event }) => event) };
});

/** Each of the messages of the config; the first of them may go along beside others. */
function answered(
  name: string,
  first: Errand,
  errandAt: (place: number) => Errand,
  settled: typeof withoutGreetings = async (_, _pairs, views) =>
    views.map((view) => ({ view, isGreeted: false })),
) {
  const cost = ({ websocket }: ServiceConfig) => websocket?.exchange?.length ?? 0;
  return connecting(name, { needs: [alive], cost }, async (port) => {
    await port.ask(alive);
    const { exchange: pairs = [] } = port.config.websocket ?? {};
    const views = await Promise.all(
      pairs.map((_, place) =>
        place === 0 ? runErrand(port, first, besideOthers(first)) : runErrand(port, errandAt(place), null),
      ),
    );
    const all = await settled(port, pairs, views);
    return pairs.flatMap((pair, place) => {
      const own = all[place];
      return own === undefined ? [] : [answeredIn(own.view, pair, own.isGreeted)];
    });
  });
}

/** `fault`: what is wrong with the nearest answer, in one line; null for nothing. */
function answeredIn(conversation: ConversationView, pair: MessagePair, isGreeted = false) {
  const { to, evidence } = conversation;
  const fault = answerIn(conversation, pair);
  return { to, evidence, conversation, fault: fault && isGreeted ? `${fault} but the greeting` : fault };
}

/** The login of the config, by itself. @throws NotApplicable if the config has none. */
export const loggedIn = connecting(
  'websocket-login',
  { needs: [alive] },
  async ({ ask, config, websocket }) => {
    await ask(alive);
    const { login } = config.websocket ?? {};
    if (login === undefined) throw new NotApplicable('no login is configured (websocket.login)');
    const view = await websocket.hold('a WebSocket with the login of the config', (conversation) =>
      exchange(conversation, login, { send: whole, login: undefined }),
    );
    return answeredIn(view, login);
  },
);

export const exchanged = answered('websocket-exchange', EXCHANGE, exchangeAt, withoutGreetings);
export const exchangedInFragments = answered(
  'websocket-exchange-fragments',
  EXCHANGE_IN_FRAGMENTS,
  piecemealAt,
);

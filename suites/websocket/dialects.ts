import { check, observation } from '../../harness/check/check.ts';
import type { ExpectConversation } from '../../harness/check/expect-conversation.ts';
import { hasWebSocket } from '../../harness/check/requirement.ts';
import { messagePairs, messageSchemas, ownDialect } from '../../harness/check/websocket-requirement.ts';
import { clause, rfc6455 } from '../../harness/contract/ground.ts';
import { EndlessSchema, SchemaBook } from '../../harness/evidence/json/schema.ts';
import { type Shape, shapeOf } from '../../harness/evidence/json/shape.ts';
import * as dialect from '../../harness/probe/websocket/dialect.ts';

const grounds = [clause('websocket.messages')];
const applies = [hasWebSocket, ownDialect];

/** What is said over the connection: in the dialect of a user's module, by schemas, by messages and their answers. */
export const dialectChecks = [
  check(
    'websocket.exchange',
    {
      title: 'answers the messages of the config as it says',
      grounds,
      applies: [hasWebSocket, messagePairs],
      provenBy: ['ws-corrupts-message'],
    },
    async ({ probe, expectConversation }) => {
      holdToAnswers(await probe(dialect.exchanged), expectConversation);
    },
  ),

  // §5.4: fragments, and a Ping between them, make no other message.
  check(
    'websocket.exchange-fragments',
    {
      title: 'answers the messages of the config when they come in fragments with a Ping between',
      grounds: [...grounds, rfc6455('5.4', 'MUST')],
      applies: [hasWebSocket, messagePairs],
      provenBy: ['ws-ping-cuts-message'],
    },
    async ({ probe, expectConversation, blocked }) => {
      if ((await probe(dialect.exchanged)).some(({ fault }) => fault !== null)) {
        return blocked(
          'a message that comes whole is not answered as configured, so this would prove nothing',
        );
      }
      holdToAnswers(await probe(dialect.exchangedInFragments), expectConversation);
    },
  ),

  check(
    'websocket.message-schema',
    {
      title: 'sends events that fit the JSON Schemas of the config',
      grounds,
      applies: [hasWebSocket, messageSchemas],
      provenBy: ['pusher-no-activity-timeout'],
    },
    async ({ service, probe, violated, notApplicable, note }) => {
      const schemas = service.websocket?.messages ?? {};
      const book = new SchemaBook();
      const heard = (await probe(dialect.events)).filter(({ event }) => Object.hasOwn(schemas, event));
      if (heard.length === 0) return notApplicable('none of the events with a schema came');
      for (const { event, data, conversation } of heard) {
        try {
          const fault = book.compile(schemas[event])(data);
          if (fault)
            violated(
              `expected ${event} to fit its schema, got one in which ${fault.message}`,
              conversation.evidence,
            );
        } catch (error) {
          if (!(error instanceof EndlessSchema)) throw error;
          note(`${event}: ${error.message}`);
        }
      }
      note(`${new Set(heard.map(({ event }) => event)).size} of ${Object.keys(schemas).length} events came`);
    },
  ),

  observation(
    'websocket.message-shapes',
    {
      title: 'sends events of these shapes',
      grounds: [clause('events.payloads')],
      applies: [hasWebSocket],
      shownBy: ['pusher-no-pong'],
    },
    async ({ service, probe, observe, note }) => {
      const settled = service.websocket?.messages ?? {};
      const shapes = new Map<string, Shape | null>();
      for (const { event, data } of await probe(dialect.events)) {
        if (!Object.hasOwn(settled, event) && !shapes.has(event)) shapes.set(event, shapeOf(data));
      }
      observe('websocket.message-shapes', Object.fromEntries([...shapes].sort()));
      note(shapes.size === 0 ? 'no event without a schema came' : [...shapes.keys()].sort().join(', '));
    },
  ),

  check(
    'websocket.dialect-greeting',
    {
      title: 'greets as its dialect says',
      grounds,
      applies,
      provenBy: ['own-silent-start'],
    },
    async ({ probe, expectConversation, notApplicable }) => {
      const spoken = await probe(dialect.spoken);
      const { greeting } = spoken;
      if (greeting === undefined) return notApplicable('the dialect has no greeting');
      expectConversation(await probe(dialect.client)).toConform(`${greeting} first`, (conversation) => {
        const [first] = dialect.heardIn(conversation, spoken);
        return first?.event === greeting ? null : (first?.event ?? 'no event');
      });
    },
  ),

  check(
    'websocket.dialect-heartbeat',
    {
      title: 'answers the heartbeat of its dialect',
      grounds,
      applies,
      provenBy: ['own-no-pong'],
    },
    async ({ probe, expectConversation, notApplicable }) => {
      const spoken = await probe(dialect.spoken);
      const { heartbeat } = spoken;
      if (heartbeat === undefined) return notApplicable('the dialect has no heartbeat');
      expectConversation(await probe(dialect.client)).toConform(heartbeat.answer, (conversation) =>
        namesOf(dialect.heardIn(conversation, spoken), heartbeat.answer),
      );
    },
  ),

  check(
    'websocket.dialect-subscribe',
    {
      title: 'lets a client subscribe as its dialect says',
      grounds,
      applies,
      provenBy: ['own-loses-subscriptions'],
    },
    async ({ probe, expectConversation, notApplicable }) => {
      const spoken = await probe(dialect.spoken);
      const { subscribe } = spoken;
      if (subscribe === undefined) return notApplicable('the dialect has no subscriptions');
      expectConversation(await probe(dialect.client)).toConform(subscribe.answer, (conversation) =>
        namesOf(dialect.heardIn(conversation, spoken), subscribe.answer),
      );
    },
  ),
];

function holdToAnswers(answers: readonly dialect.Answered[], expectConversation: ExpectConversation): void {
  const faults = new Map(answers.map(({ conversation, fault }) => [conversation, fault]));
  expectConversation(...faults.keys()).toConform(
    'an answer that fits its schema',
    (conversation) => faults.get(conversation) ?? null,
  );
}

/** Names of the events when the wanted one is not among them; null when it is. */
function namesOf(heard: readonly dialect.HeardEvent[], wanted: string): string | null {
  if (heard.some(({ event }) => event === wanted)) return null;
  return heard.length === 0 ? 'no event' : `only ${heard.map(({ event }) => event).join(', ')}`;
}

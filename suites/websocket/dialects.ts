import {
  type CheckDefinition,
  check,
  clause,
  loginConfigured,
  messagePairs,
  messageSchemas,
  observation,
  ownDialect,
  rfc6455,
} from '../../harness/engine/check/suite.ts';
import {
  documentedPayload,
  documentedReply,
  documentedType,
  undocumentedMessage,
} from '../messages/messages.suite.ts';
import type { Row } from '../row.ts';
import { serverReserved } from './frames.ts';
import { echoAroundPing } from './messages.ts';
import * as dialect from './stimuli/dialect.ts';

const grounds = [clause('websocket.messages')];

interface Part extends Row<'title' | 'headline'> {
  readonly part: 'heartbeat' | 'subscribe';
  /** Why there is nothing to judge where the dialect lacks it. */
  readonly otherwise: string;
}

/** websocket.messages: what the client of the dialect says is answered as the dialect has it. */
const answers = ({ id, part, otherwise, ...notes }: Part): CheckDefinition =>
  check(id, {
    ...notes,
    grounds,
    applies: [ownDialect],
    uses: [dialect.spoken, dialect.heardByClient],
    async judge({ probe, expect, notApplicable }) {
      const wanted = (await probe(dialect.spoken))[part]?.answer;
      if (wanted === undefined) return notApplicable(otherwise);
      await expect(dialect.heardByClient).toConform(wanted, ({ events }) => {
        if (events.includes(wanted)) return null;
        return events.length === 0 ? 'no event' : `only ${events.join(', ')}`;
      });
    },
  });

const login = check('websocket.login', {
  title: 'answers the login of the config as it says',
  headline: 'The configured login is not answered as documented: {got}',
  why: 'Clients that log in as documented are never served.',
  change: 'Answer as the schema says, or correct websocket.login in the config.',
  grounds,
  applies: [loginConfigured],
  restsOn: [serverReserved],
  uses: [dialect.loggedIn],
  judge: ({ expect }) => expect().toConform('an answer that fits its schema', ({ fault }) => fault),
});

export const dialectHeartbeat = answers({
  id: 'websocket.dialect-heartbeat',
  title: 'answers the heartbeat of its dialect',
  headline: 'The heartbeat of the dialect is not answered: {got}',
  why: 'Clients take the connection for dead, and open another one.',
  change: 'Answer the heartbeat with the message that the dialect names.',
  part: 'heartbeat',
  otherwise: 'the dialect has no heartbeat',
});

/** What is said over the connection: in the dialect of a user's module, by schemas, by messages and their answers. */
export const dialectChecks = [
  login,

  check('websocket.exchange', {
    title: 'answers the messages of the config as it says',
    headline: 'A configured message is not answered as documented: {got}',
    why: 'Clients wait for the documented answer, and fail on another.',
    change: 'Answer as the schema says, or correct websocket.exchange in the config.',
    grounds,
    applies: [messagePairs],
    // The pair may be taken from a document, whose messages are judged by themselves.
    restsOn: [serverReserved, login, documentedType, undocumentedMessage, documentedPayload, documentedReply],
    uses: [dialect.exchanged],
    judge: ({ expect }) => expect().toConform('an answer that fits its schema', ({ fault }) => fault),
  }),

  // §5.4: fragments, and a Ping between them, make no other message.
  check('websocket.exchange-fragments', {
    title: 'answers the messages of the config when they come in fragments with a Ping between',
    headline: 'A message in fragments, with a Ping between, is answered wrongly: {got}',
    why: 'Libraries split messages as they like, and ping meanwhile.',
    change: 'Answer the Ping, join the fragments, and then handle the message.',
    grounds: [...grounds, rfc6455('5.4', 'MUST')],
    applies: [messagePairs],
    restsOn: [echoAroundPing],
    uses: [dialect.exchanged, dialect.exchangedInFragments],
    async judge({ probe, expect, blocked }) {
      if ((await probe(dialect.exchanged)).some(({ fault }) => fault !== null)) {
        blocked('a message that comes whole is not answered as configured, so this would prove nothing');
      }
      await expect(dialect.exchangedInFragments).toConform(
        'an answer that fits its schema',
        ({ fault }) => fault,
      );
    },
  }),

  check('websocket.message-schema', {
    title: 'sends events that fit the JSON Schemas of the config',
    headline: 'An event does not fit its schema: {got}',
    why: 'Clients fail on the event, or lose data.',
    change: 'Send what the schema says, or correct it in websocket.messages.',
    grounds,
    applies: [messageSchemas],
    uses: [dialect.judgedEvents],
    async judge({ service, probe, violated, notApplicable, blocked, note }) {
      const { all: judged, unread } = await probe(dialect.judgedEvents);
      for (const { event, fault, conversation } of judged) {
        if (fault) violated(`${event} to fit its schema`, `one in which ${fault}`, conversation.evidence);
      }
      const unjudged = judged.find((each) => each.unjudged !== null);
      if (unjudged !== undefined) blocked(`${unjudged.event}: ${unjudged.unjudged}`);
      if (unread !== null) blocked(unread);
      if (judged.length === 0) notApplicable('none of the events with a schema came');
      const documented = Object.keys(service.websocket?.messages ?? {}).length;
      note(`${new Set(judged.map(({ event }) => event)).size} of ${documented} events came`);
    },
  }),

  observation('websocket.message-shapes', {
    title: 'sends events of certain shapes',
    why: 'The documents do not show them: they are what clients come to rely on.',
    varies: 'shape',
    grounds: [clause('events.payloads')],
    uses: [dialect.eventShapes],
    async observe({ probe }) {
      const shapes = await probe(dialect.eventShapes);
      return { seen: shapes, note: Object.keys(shapes).join(', ') || 'no event without a schema came' };
    },
  }),

  check('websocket.dialect-greeting', {
    title: 'greets as its dialect says',
    headline: 'The connection does not begin with the greeting of its dialect: {got}',
    why: 'Clients wait for the greeting before they say anything.',
    change: 'Send the greeting first on every connection.',
    grounds,
    applies: [ownDialect],
    uses: [dialect.spoken, dialect.heardByClient],
    async judge({ probe, expect, notApplicable }) {
      const { greeting } = await probe(dialect.spoken);
      if (greeting === undefined) notApplicable('the dialect has no greeting');
      await expect(dialect.heardByClient).toConform(`${greeting} first`, ({ events: [first] }) =>
        first === greeting ? null : (first ?? 'no event'),
      );
    },
  }),

  dialectHeartbeat,
  answers({
    id: 'websocket.dialect-subscribe',
    title: 'lets a client subscribe as its dialect says',
    headline: 'A subscription of the dialect is not confirmed: {got}',
    why: 'Clients wait for the confirmation, and show no data.',
    change: 'Confirm a subscription with the message that the dialect names.',
    part: 'subscribe',
    otherwise: 'the dialect has no subscriptions',
  }),
];

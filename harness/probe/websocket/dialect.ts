import type { Dialect, DialectEvent } from '../../config/blocks/dialect.ts';
import type { MessagePair } from '../../config/blocks/websocket.ts';
import type { Message } from '../../evidence/conversation/message.ts';
import type { ConversationView } from '../../evidence/conversation/view.ts';
import { SchemaBook, type SchemaJudge } from '../../evidence/json/schema.ts';
import { dialectOf } from '../../session/dialects/dialects.ts';
import { type Probe, probe, type Stimuli } from '../../session.ts';
import { closePayload } from '../../transport/websocket/frames.ts';
import { NotApplicable } from '../../verdict.ts';
import { everyConversation } from './gathered.ts';
import type { Talk } from './talk.ts';
import { openOne, requireAlive } from './websocket.ts';

/** What is said in the dialect of the endpoint, and messages whose answers the config names. */

/** The dialect of the endpoint; a probe, so that a module is loaded once. */
export const spoken: Probe<Dialect> = probe('websocket-dialect', async ({ config }) => {
  if (config.websocket === null) throw new NotApplicable('no websocket is configured for this service');
  return dialectOf(config.websocket);
});

export interface HeardEvent extends DialectEvent {
  readonly talk: ConversationView;
}

/** Everything that the service said in any conversation, read in its dialect. */
export const events: Probe<readonly HeardEvent[]> = probe('websocket-events', async (stimuli) => {
  const dialect = await stimuli.ask(spoken);
  const { dialect: kind, exchange } = stimuli.config.websocket ?? {};
  const spokenTo = kind === 'own' ? [await stimuli.ask(client)] : [];
  const asked = exchange?.length ? await stimuli.ask(exchanged) : [];
  const talks = [...spokenTo, ...asked.map(({ talk }) => talk), ...(await stimuli.ask(everyConversation))];
  return talks.flatMap((talk) => heardIn(talk, dialect));
});

export function heardIn(talk: ConversationView, dialect: Dialect): readonly HeardEvent[] {
  return talk.messages.flatMap(({ text }) => {
    const read = text === null ? null : dialect.read(text);
    return read === null ? [] : [{ ...read, talk }];
  });
}

/** A client of the dialect: it is greeted, asks whether the service is there, and subscribes; as far as there is such. */
export const client: Probe<ConversationView> = probe('websocket-dialect-client', async (stimuli) => {
  await requireAlive(stimuli);
  const dialect = await stimuli.ask(spoken);
  const { greeting, heartbeat, subscribe } = dialect;
  return openOne(stimuli, { purpose: `a WebSocket with a client of ${dialect.name}` }, async (talk) => {
    const heard = (name: string) =>
      talk.message(`for ${name}`, ({ text }) => dialect.read(text ?? '')?.event === name);
    if (greeting !== undefined) await heard(greeting);
    if (heartbeat) {
      await talk.text(heartbeat.send);
      await heard(heartbeat.answer);
    }
    if (subscribe) {
      await talk.text(subscribe.send(subscribe.channel));
      await heard(subscribe.answer);
    }
    await talk.close(closePayload(1000));
  });
});

/** A message of the config, and the conversation in which it was sent. */
export interface Answered {
  readonly pair: MessagePair;
  readonly talk: ConversationView;
  /** What is wrong with the nearest answer, in one line; null for nothing. */
  readonly fault: string | null;
}

type Sending = (talk: Talk, text: string) => Promise<void>;

function answered(name: string, purpose: string, send: Sending): Probe<readonly Answered[]> {
  return probe(name, async (stimuli) => {
    await requireAlive(stimuli);
    const pairs = stimuli.config.websocket?.exchange ?? [];
    return Promise.all(pairs.map((pair) => exchangeOf(stimuli, pair, purpose, send)));
  });
}

async function exchangeOf(
  stimuli: Stimuli,
  pair: MessagePair,
  purpose: string,
  send: Sending,
): Promise<Answered> {
  const judge = new SchemaBook().compile(pair.expect);
  const talk = await openOne(stimuli, { purpose }, async (each) => {
    await send(each, pair.send);
    await each.message('for the answer', (message) => answerFault(message, judge) === null);
    await each.close(closePayload(1000));
  });
  const [sent] = talk.sent;
  const later = talk.messages.filter(({ atMs }) => sent !== undefined && atMs >= sent.atMs);
  const faults = later.map((message) => answerFault(message, judge));
  const fault = faults.includes(null) ? null : (faults[0] ?? 'no message');
  return { pair, talk, fault };
}

/** An answer is JSON; a text that is none is what a schema sees as a string. */
function answerFault({ text }: Message, judge: SchemaJudge): string | null {
  if (text === null) return 'a message that is no text';
  const fault = judge(jsonOf(text));
  return fault === null ? null : `one in which ${fault.message}`;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export const exchanged = answered(
  'websocket-exchange',
  'a WebSocket with a message of the config',
  (talk, text) => talk.text(text),
);

/** RFC 6455 §5.4: in pieces, and with a Ping in between; the message is the same. */
export const exchangedInFragments = answered(
  'websocket-exchange-fragments',
  'a WebSocket with a message of the config in fragments and a Ping between them',
  async (talk, text) => {
    const octets = Buffer.from(text);
    const half = Math.ceil(octets.length / 2);
    await talk.text(octets.subarray(0, half), { fin: false });
    await talk.ping('within');
    await talk.frame(0, octets.subarray(half));
  },
);

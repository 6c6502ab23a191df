import { unlessUnjudged } from '../../../harness/base/verdict.ts';
import type { MessagePair } from '../../../harness/config/blocks/websocket.ts';
import type { Port } from '../../../harness/engine/session/probe.ts';
import type { Message } from '../../../harness/wire/conversation/message.ts';
import type { ConversationView } from '../../../harness/wire/conversation/view.ts';
import { exchange, fitsText, mayFitPair, whole } from './message-pair.ts';

/**
 * A greeting is no answer. One that comes late, after the message of the client, is known by a connection on which nothing
 * is said; the message is then sent again, after the greeting.
 */

/** Greetings as servers send them: a schema that takes one does not tell an answer from it. */
const USUAL = [
  'welcome',
  '{"type":"welcome","event":"connected","message":"welcome","status":"ok","data":{}}',
  '{"type":"welcome"}',
];

/** Milliseconds of silence: of the time until the first answer, and at most. */
const PATIENCE = 2;
const LEAST_MS = 200;
const LONGEST_MS = 3_000;

/** The conversation in which an answer that may be a greeting is no longer one. */
export interface Answered {
  readonly view: ConversationView;
  /** A greeting that fits the schema comes on a quiet connection. */
  readonly isGreeted: boolean;
}

/** Sends messages again whose only answer may have been a greeting. */
export async function withoutGreetings(
  { config, websocket }: Pick<Port, 'config' | 'websocket'>,
  pairs: readonly MessagePair[],
  views: readonly ConversationView[],
): Promise<readonly Answered[]> {
  const all = pairs.flatMap((pair, place) => {
    const view = views[place];
    return view === undefined ? [] : [{ pair, view, doubted: doubtedIn(view, pair) }];
  });
  const latestMs = Math.max(...all.map(({ doubted }) => doubted?.atMs ?? Number.NEGATIVE_INFINITY));
  // What follows a login is no greeting.
  if (config.websocket?.login !== undefined || latestMs < 0)
    return views.map((view) => ({ view, isGreeted: false }));
  const forMs = Math.min(PATIENCE * latestMs + LEAST_MS, LONGEST_MS);
  const purpose = 'a WebSocket on which nothing is said, to see whether it greets';
  const quiet = await websocket
    .converse({ purpose }, async (conversation) => {
      if (await conversation.silence(forMs)) await conversation.close(1000);
    })
    .catch(unlessUnjudged);
  return Promise.all(
    all.map(async ({ pair, view, doubted }) => {
      const isGreeting = (message: Message) => mayFitPair(message, pair);
      if (doubted === null || !quiet?.messages.some(isGreeting)) return { view, isGreeted: false };
      const again = await websocket.hold(
        'a WebSocket with a message of the config after its greeting',
        async (conversation) => {
          await conversation.message('for the greeting', isGreeting);
          await exchange(conversation, pair, { send: whole, login: undefined });
        },
      );
      return { view: again, isGreeted: true };
    }),
  );
}

/** The only message that fits, where the service had said nothing before; null if it is the answer beyond doubt. */
function doubtedIn({ sent, messages }: ConversationView, pair: MessagePair): Message | null {
  const [first] = messages;
  const last = sent.at(-1);
  if (first === undefined || last === undefined || first.atMs < last.atMs) return null;
  const fitting = messages.filter((message) => mayFitPair(message, pair));
  const isLoose = USUAL.some((text) => fitsText(text, pair));
  return isLoose && fitting.length === 1 ? (fitting[0] ?? null) : null;
}

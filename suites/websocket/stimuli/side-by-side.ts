import { Blocked, unlessUnjudged } from '../../../harness/base/verdict.ts';
import { connecting, derived, type Port, type Probe } from '../../../harness/engine/session/probe.ts';
import type { Conversing } from '../../../harness/engine/session/websocket/conversation.ts';
import type { OpenConversation } from '../../../harness/engine/session/websocket/open-conversation.ts';
import type { ConversationView } from '../../../harness/wire/conversation/view.ts';
import { echoes } from './echo.ts';
import * as errands from './errand.ts';
import { type Errand, type Ride, rideOf, runErrand } from './errand.ts';
import { otherOrder, otherSpelling } from './handshake-forms.ts';
import { alive, answersPings } from './ordinary-client.ts';

/** Connections of one client at the same time, and the errands that go along on them. */

/** One connection of many, with the message sent on it; the view is null if none was opened. */
interface Beside {
  readonly said: string;
  /** It was served while all were open. */
  readonly isServed: boolean;
  readonly conversation: ConversationView | null;
}

/** What goes along on each of the first of them, if that is served. */
const ERRANDS: readonly Errand[] = [
  ...errands.HALF_CLOSES,
  errands.CLOSE_WITHIN_MESSAGE,
  errands.UNSOLICITED_PONG,
  errands.PING_BURST,
  errands.PING_BETWEEN_FRAGMENTS,
  errands.LAWFUL_MESSAGE,
  errands.EXCHANGE,
  errands.EXCHANGE_IN_FRAGMENTS,
  errands.CLOSED_IN_TRAFFIC,
];

/** As many connections as the config allows. On each a message is sent that is sent on no other, and then an errand. */
export const manyConnections = connecting(
  'websocket-many-connections',
  { needs: [answersPings, echoes], cost: ({ safety }) => safety.maxConnections },
  async (port) => {
    const { ask, config } = port;
    await ask(answersPings);
    const isEcho = config.websocket?.echo === true;
    if (isEcho) await ask(echoes);
    const speak = (conversation: OpenConversation, said: string) =>
      isEcho ? conversation.echo('text', said) : conversation.ping(said);
    return openedTogether(port, speak, ERRANDS);
  },
);

/** On the one of them with which this went along. */
export function besideOthers(errand: Errand): Ride {
  return rideOf(manyConnections, (all) => {
    const one = all[ERRANDS.indexOf(errand)];
    return one?.isServed ? one.conversation : null;
  });
}

/** `speak` is called on each once all are open, with the message of that one. @returns whether it was served. */
async function openedTogether(
  port: Pick<Port, 'config' | 'websocket'>,
  speak: (conversation: OpenConversation, said: string) => Promise<boolean>,
  along: readonly Errand[] = [],
): Promise<readonly Beside[]> {
  const count = port.config.safety.maxConnections;
  const missing = new Set(Array(count).keys());
  const complete = Promise.withResolvers<void>();
  const arrive = (index: number) => {
    missing.delete(index);
    if (missing.size === 0) complete.resolve();
    return complete.promise;
  };
  return Promise.all(
    Array.from({ length: count }, async (_, index): Promise<Beside> => {
      const said = `conform, connection ${index + 1}`;
      const errand = along[index];
      let isServed = false;
      const inTurn = async (conversation: OpenConversation) => {
        await arrive(index);
        isServed = await speak(conversation, said);
        const goesOn = isServed && errand !== undefined && errands.mayGoAlong(port, errand);
        await (goesOn ? errand.say(conversation, port.config) : conversation.close(1000));
      };
      const purpose = `a WebSocket beside ${count - 1} others`;
      const conversation = await port.websocket.converse({ purpose, beside: true }, inTurn).catch(refused);
      // A connection that was refused is not waited for.
      void arrive(index);
      return { said, isServed, conversation: conversation?.opened ? conversation : null };
    }),
  );
}

function refused(error: unknown): null {
  if (error instanceof Blocked) return null;
  throw error;
}

/** Each of them that was opened, with the first message on it that was sent on another one; null for none. */
export const connectionsApart = derived('websocket-connections-apart', [manyConnections], async ({ ask }) => {
  const all = await ask(manyConnections);
  const saidOnOpen = all.filter(({ conversation }) => conversation !== null).map(({ said }) => said);
  return all.flatMap(({ said, conversation }) => {
    if (conversation === null) return [];
    const isForeign = (text: string | null) => text !== null && text !== said && saidOnOpen.includes(text);
    const foreign = conversation.messages.find(({ text }) => isForeign(text))?.text ?? null;
    return [{ to: conversation.to, evidence: conversation.evidence, foreign }];
  });
});

/** A service that keeps fewer connections has ended the others by then, in ms. */
const SETTLED_MS = 500;

/** Number of connections of one client that the service keeps and serves at the same time, as far as was tried. */
export const keptTogether: Probe<number> = connecting(
  'websocket-kept-together',
  { needs: [manyConnections], cost: ({ safety }) => safety.maxConnections },
  async (port) => {
    // If nothing is answered, it has to do that they stay open.
    const all =
      (await port.ask(manyConnections).catch(unlessUnjudged)) ??
      (await openedTogether(port, (conversation) => conversation.silence(SETTLED_MS)));
    return all.every(({ isServed }) => isServed) ? all.length : 1;
  },
);

/** For as many conversations side by side as the service keeps, if each wait is long. */
export async function makeRoom({ ask, websocket }: Pick<Port, 'ask' | 'websocket'>): Promise<void> {
  // One may be left alone beside them.
  if (websocket.closeTimedOut) websocket.widen((await ask(keptTogether)) - 1);
}

/** Conversations of one probe, one after the other, or side by side if each wait is long. */
function each(
  name: string,
  all: readonly ((port: Port) => Promise<ConversationView>)[],
): Probe<readonly ConversationView[]> {
  return connecting(name, { needs: [alive], mayNeed: [keptTogether], cost: all.length }, async (port) => {
    await port.ask(alive);
    await makeRoom(port);
    return Promise.all(all.map((hold) => hold(port)));
  });
}

export function heldOpenEach(
  name: string,
  conversations: readonly (readonly [purpose: string, conversing: Conversing])[],
): Probe<readonly ConversationView[]> {
  return each(
    name,
    conversations.map(
      (held) =>
        ({ websocket }) =>
          websocket.hold(...held),
    ),
  );
}

/** Lawful ends of connections, and what is said before them. */

function beside(name: string, twin: Probe<unknown>, errand: Errand): Probe<ConversationView> {
  return connecting(name, { needs: [twin] }, async (port) => {
    await port.ask(twin);
    return runErrand(port, errand, besideOthers(errand));
  });
}

export const lawfulMessage = beside('websocket-lawful-message', alive, errands.LAWFUL_MESSAGE);
export const unsolicitedPong = beside('websocket-unsolicited-pong', answersPings, errands.UNSOLICITED_PONG);
export const pingBurst = beside('websocket-ping-burst', answersPings, errands.PING_BURST);
export const pingBetweenFragments = beside(
  'websocket-ping-between-fragments',
  answersPings,
  errands.PING_BETWEEN_FRAGMENTS,
);
export const closedInTraffic = beside('websocket-closed-in-traffic', echoes, errands.CLOSED_IN_TRAFFIC);
export const closeWithinMessage = beside(
  'websocket-close-within-message',
  alive,
  errands.CLOSE_WITHIN_MESSAGE,
);

export const halfClosed = each(
  'websocket-half-closed',
  errands.HALF_CLOSES.map((one) => (port) => runErrand(port, one, besideOthers(one))),
);

export const closes = each('websocket-closes', [
  // Another errand, about something else, ends like this.
  (port) => runErrand(port, errands.CLOSED, besideOthers(errands.PING_BURST)),
  (port) =>
    runErrand(
      port,
      errands.GOING_AWAY,
      rideOf(otherSpelling, (view) => view),
    ),
  (port) =>
    runErrand(
      port,
      errands.CLOSED_WITH_REASON,
      rideOf(otherOrder, (view) => view),
    ),
]);

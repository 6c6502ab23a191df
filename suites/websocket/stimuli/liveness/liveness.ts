import { Blocked, NotApplicable } from '../../../../harness/base/verdict.ts';
import { connecting, derived, type Port, type Probe } from '../../../../harness/engine/session/probe.ts';
import type { OpenConversation } from '../../../../harness/engine/session/websocket/open-conversation.ts';
import type { ConversationView } from '../../../../harness/wire/conversation/view.ts';
import { echoes, echoesAsConfigured } from '../echo.ts';
import { type Errand, mayGoAlong, type Ride, rideOf } from '../errand/errand.ts';
import {
  CLOSE_WITHIN_MESSAGE,
  CLOSED_IN_TRAFFIC,
  EXCHANGE,
  EXCHANGE_IN_FRAGMENTS,
  HALF_CLOSES,
  LAWFUL_MESSAGE,
  PING_BETWEEN_FRAGMENTS,
  PING_BURST,
  UNSOLICITED_PONG,
} from '../errand/errands.ts';
import { alive, answersPings, taken } from '../ordinary-client.ts';
import { alongHandshake } from '../series.ts';

/** A connection over time, and many at once. */

/** Messages of a burst. */
export const BURST = 200;
const text = (index: number) => `conform ${index}`;
const texts = (count: number) => Array.from({ length: count }, (_, index) => text(index));

/** A service may say other things meanwhile. */
const MORE = 50;
/** Messages whose way there and back is measured. */
const MEASURED = 20;

const series = alongHandshake({
  name: 'websocket-unknown-subprotocol',
  stimulus: {
    purpose: 'a WebSocket handshake that offers an unknown subprotocol',
    fields: [['Sec-WebSocket-Protocol', 'conform.unknown']],
  },
  held: taken,
  when: echoesAsConfigured,
  twins: [echoes],
  exchanges: {
    // RFC 6455 §5.4, TCP: messages arrive in the order in which they were sent, all of them. In one write, so that they meet.
    'websocket-burst': [
      `a WebSocket with ${BURST} messages at once`,
      async (conversation) => {
        await conversation.atOnce(`the texts "${text(0)}" to "${text(BURST - 1)}"`, texts(BURST));
        const wanted = new Set(texts(BURST));
        let inOrder = 0;
        const all = await conversation.message(
          'for all of them to come back',
          (message) => {
            wanted.delete(message.text ?? '');
            if (message.text === text(inOrder)) inOrder += 1;
            return wanted.size === 0;
          },
          { most: BURST + MORE },
        );
        return all !== null && inOrder === BURST;
      },
    ],
    'websocket-echo-latency': [
      `a WebSocket with ${MEASURED} messages, one after the other`,
      async (conversation) => {
        for (let index = 0; index < MEASURED; index++) {
          if (!(await conversation.echo('text', `conform, message ${index}`))) return false;
        }
        return true;
      },
    ],
  },
});

export const unknownSubprotocol = series.handshake;
export const burst = series.of('websocket-burst');
const measured = series.of('websocket-echo-latency');

/** The texts of a burst that are not there, or not in their place; null when all are. */
export function burstFault({ messages }: ConversationView): string | null {
  const wanted = texts(BURST);
  const known = new Set(wanted);
  const got = messages.flatMap(({ text }) => (text !== null && known.has(text) ? [text] : []));
  const lost = wanted.filter((each) => !got.includes(each));
  if (lost.length > 0) return `${BURST - lost.length} of them, and not "${lost[0]}"`;
  if (got.length > BURST) return `${got.length} of them, some twice`;
  const misplaced = got.findIndex((each, index) => each !== wanted[index]);
  return misplaced === -1 ? null : `"${got[misplaced]}" before "${wanted[misplaced]}"`;
}

/** One connection of many, with what was said on it; the view is null where none was opened. */
export interface Beside {
  readonly said: string;
  /** It was served while all were open. */
  readonly isServed: boolean;
  readonly conversation: ConversationView | null;
}

/** What goes along on the first of them when it was served. */
const ERRANDS: readonly Errand[] = [
  ...HALF_CLOSES,
  CLOSE_WITHIN_MESSAGE,
  UNSOLICITED_PONG,
  PING_BURST,
  PING_BETWEEN_FRAGMENTS,
  LAWFUL_MESSAGE,
  EXCHANGE,
  EXCHANGE_IN_FRAGMENTS,
  CLOSED_IN_TRAFFIC,
];

/**
 * As many connections as the config allows, open at the same time; each then says something that no other says, and goes on
 * with an errand.
 */
export const manyConnections: Probe<readonly Beside[]> = connecting(
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

/** As many; `speak` is done on each once all are open, with what no other says, and tells whether it was served. */
export async function openedTogether(
  port: Pick<Port, 'config' | 'websocket'>,
  speak: (conversation: OpenConversation, said: string) => Promise<boolean>,
  errands: readonly Errand[] = [],
): Promise<readonly Beside[]> {
  const count = port.config.safety.maxConnections;
  const all = new Gathering(count);
  return Promise.all(
    Array.from({ length: count }, async (_, index): Promise<Beside> => {
      const said = `conform, connection ${index + 1}`;
      const errand = errands[index];
      let isServed = false;
      const inTurn = async (conversation: OpenConversation) => {
        await all.arrive(index);
        isServed = await speak(conversation, said);
        const goesOn = isServed && errand !== undefined && mayGoAlong(port, errand);
        await (goesOn ? errand.say(conversation, port.config) : conversation.close(1000));
      };
      const purpose = `a WebSocket beside ${count - 1} others`;
      const conversation = await port.websocket.converse({ purpose, beside: true }, inTurn).catch(refused);
      // Whoever was not let in is not waited for.
      void all.arrive(index);
      return { said, isServed, conversation: conversation?.opened ? conversation : null };
    }),
  );
}

/** One of them that was opened. */
export interface Apart {
  readonly to: string;
  readonly evidence: string;
  /** The first message on it that was said on another one; null for none. */
  readonly foreign: string | null;
}

export const connectionsApart: Probe<readonly Apart[]> = derived(
  'websocket-connections-apart',
  [manyConnections],
  async ({ ask }) => {
    const all = await ask(manyConnections);
    const saidOnOpen = all.filter(({ conversation }) => conversation !== null).map(({ said }) => said);
    return all.flatMap(({ said, conversation }) => {
      if (conversation === null) return [];
      const isForeign = (text: string | null) => text !== null && text !== said && saidOnOpen.includes(text);
      const foreign = conversation.messages.find(({ text }) => isForeign(text))?.text ?? null;
      return [{ to: conversation.to, evidence: conversation.evidence, foreign }];
    });
  },
);

function refused(error: unknown): null {
  if (error instanceof Blocked) return null;
  throw error;
}

/** Lets nobody go on before everybody is there. */
class Gathering {
  readonly #missing: Set<number>;
  readonly #complete = Promise.withResolvers<void>();

  constructor(count: number) {
    this.#missing = new Set(Array.from({ length: count }, (_, index) => index));
  }

  arrive(index: number): Promise<void> {
    this.#missing.delete(index);
    if (this.#missing.size === 0) this.#complete.resolve();
    return this.#complete.promise;
  }
}

/** How long a client waits before each attempt to come back, in ms: at once, then ever longer (RFC 6455 §7.2.3). */
const COMES_BACK_AFTER_MS = [0, 250, 1_000];

export interface Return {
  /** The last attempt. */
  readonly conversation: ConversationView;
  readonly attempts: number;
}

/** The connection is cut without a Close, as when a network fails; the client comes back. */
export const comesBack: Probe<Return> = connecting(
  'websocket-comes-back',
  { needs: [alive], cost: 1 + COMES_BACK_AFTER_MS.length },
  async ({ ask, websocket, clock, signal }) => {
    await ask(alive);
    await websocket.hold({ purpose: 'a WebSocket that is cut without a Close' }, async (conversation) => {
      await conversation.text('conform', { fin: false });
    });
    for (let attempts = 1; ; attempts++) {
      await clock.sleep(COMES_BACK_AFTER_MS[attempts - 1] ?? 0, signal);
      const conversation = await websocket.converse(
        { purpose: `a WebSocket of a client that was cut, attempt ${attempts}` },
        async (each) => {
          await each.ping('back again');
          await each.close(1000);
        },
      );
      if (conversation.opened || attempts >= COMES_BACK_AFTER_MS.length) return { conversation, attempts };
    }
  },
);

/** How long messages took from sending to receiving, in ms, shortest first. */
export interface Latency {
  readonly path: string;
  readonly tookMs: readonly number[];
}

/** There and back, one after the other. */
export const echoLatency: Probe<Latency> = derived('websocket-latency', [measured], async ({ ask }) => {
  const view = await ask(measured);
  const tookMs = view.echoes.flatMap(({ sent, back, isSame }) =>
    back !== null && isSame ? [back.atMs - sent.atMs] : [],
  );
  if (tookMs.length < MEASURED) throw new NotApplicable('not every message came back');
  return { path: 'sent and echoed', tookMs: tookMs.sort((a, b) => a - b) };
});

/** By rank: the value that so many of a hundred do not exceed. */
export function percentile(sorted: readonly number[], percent: number): number | null {
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? null;
}

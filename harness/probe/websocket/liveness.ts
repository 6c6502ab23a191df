import { Blocked, NotApplicable } from '../../base/verdict.ts';
import type { ConversationView } from '../../evidence/conversation/view.ts';
import { type Port, type Probe, probe } from '../../session/probe.ts';
import type { OpenConversation } from '../../session/websocket/open-conversation.ts';
import { echoes } from './echo.ts';
import { alive, answersPings } from './ordinary-client.ts';

/** A connection over time, and many at once. */

/** Messages of a burst. */
export const BURST = 200;
const text = (index: number) => `conform ${index}`;
const texts = (count: number) => Array.from({ length: count }, (_, index) => text(index));

/** RFC 6455 §5.4, TCP: messages arrive in the order in which they were sent, all of them. In one write, so that they meet. */
export const burst: Probe<ConversationView> = probe('websocket-burst', async ({ ask, websocket }) => {
  await ask(echoes);
  return websocket.hold({ purpose: `a WebSocket with ${BURST} messages at once` }, async (conversation) => {
    await conversation.atOnce(`the texts "${text(0)}" to "${text(BURST - 1)}"`, texts(BURST));
    const wanted = new Set(texts(BURST));
    await conversation.message(
      'for all of them to come back',
      (message) => {
        wanted.delete(message.text ?? '');
        return wanted.size === 0;
      },
      { most: BURST + MORE },
    );
    await conversation.close(1000);
  });
});

/** A service may say other things meanwhile. */
const MORE = 50;

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

/** A Close behind messages that are still on their way. */
export const closedInTraffic: Probe<ConversationView> = probe(
  'websocket-closed-in-traffic',
  async ({ ask, websocket }) => {
    await ask(echoes);
    return websocket.hold(
      { purpose: 'a WebSocket that is closed behind 50 messages' },
      async (conversation) => {
        await conversation.atOnce(`the texts "${text(0)}" to "${text(49)}"`, texts(50));
        await conversation.closeWhole(1000);
      },
    );
  },
);

/** One connection of many, with what was said on it; the view is null where none was opened. */
export interface Beside {
  readonly said: string;
  readonly conversation: ConversationView | null;
}

/** As many connections as the config allows, open at the same time; each then says something that no other says. */
export const manyConnections: Probe<readonly Beside[]> = probe('websocket-many-connections', async (port) => {
  const { ask, config } = port;
  await ask(answersPings);
  const isEcho = config.websocket?.echo === true;
  if (isEcho) await ask(echoes);
  return openedTogether(port, (conversation, said) =>
    isEcho ? conversation.echo('text', said) : conversation.ping(said),
  );
});

/** As many; `speak` is done on each once all are open, with what no other says. */
export function openedTogether(
  { config, websocket }: Port,
  speak: (conversation: OpenConversation, said: string) => Promise<unknown>,
): Promise<readonly Beside[]> {
  const count = config.safety.maxConnections;
  const all = new Gathering(count);
  return Promise.all(
    Array.from({ length: count }, async (_, index): Promise<Beside> => {
      const said = `conform, connection ${index + 1}`;
      const inTurn = async (conversation: OpenConversation) => {
        await all.arrive(index);
        await speak(conversation, said);
        await conversation.close(1000);
      };
      const purpose = `a WebSocket beside ${count - 1} others`;
      const conversation = await websocket.converse({ purpose, beside: true }, inTurn).catch(refused);
      // Whoever was not let in is not waited for.
      void all.arrive(index);
      return { said, conversation: conversation?.opened ? conversation : null };
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

export const connectionsApart: Probe<readonly Apart[]> = probe(
  'websocket-connections-apart',
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
export const comesBack: Probe<Return> = probe(
  'websocket-comes-back',
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

const MEASURED = 20;

/** There and back, one after the other. */
export const echoLatency: Probe<Latency> = probe('websocket-echo-latency', async ({ ask, websocket }) => {
  await ask(echoes);

  const view = await websocket.hold(
    { purpose: `a WebSocket with ${MEASURED} messages, one after the other` },
    async (conversation) => {
      for (let index = 0; index < MEASURED; index++) {
        if (!(await conversation.echo('text', `conform, message ${index}`))) break;
      }
      await conversation.close(1000);
    },
  );
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

import { isForLogin } from '../../../../harness/config/blocks/dialect.ts';
import type { ServiceConfig } from '../../../../harness/config/service.ts';
import { connecting, derived, lastOfAll, type Probe } from '../../../../harness/engine/session/probe.ts';
import { dialectOf } from '../../../../harness/engine/session/websocket/dialects/dialects.ts';
import type { OpenConversation } from '../../../../harness/engine/session/websocket/open-conversation.ts';
import { IdleView } from '../../../../harness/wire/conversation/idle.ts';
import type { ConversationView } from '../../../../harness/wire/conversation/view.ts';
import { logIn } from '../message-pair.ts';
import { answersPings } from '../ordinary-client.ts';
import { keptTogether } from '../side-by-side.ts';

/**
 * A connection on which nothing is said but a login and what the service's own Pings call for, while the run goes on
 * beside it; and at its end what a client of the dialect says after so much silence.
 */

/** How long it is looked at in any case, in ms. */
export const IDLE_MS = 1_000;
/** And at the most: no conversation lasts much longer. */
const LONGEST_MS = 150_000;
/** What is announced: a shorter wait is over before anybody asks. In ms. */
const WORTH_TELLING_MS = 2_000;
/** So many connections at the same time a service must keep: this one, and two that belong together. */
const ROOM = 3;

const LEFT_ALONE = 'a WebSocket is left alone, to see whether it is kept';

export interface LeftAlone {
  /** Looks at it for as long as it must be looked at, and ends it where the service has not. */
  end(): Promise<ConversationView>;
  /** It is open beside the others, and not just once before them. */
  readonly isBeside: boolean;
  /** The service has ended it. */
  readonly isOver: () => boolean;
}

/** Where the service keeps several connections of one client it is open from now on, and over at once where not. */
export const leftAlone: Probe<LeftAlone> = connecting(
  'websocket-left-alone',
  { needs: [answersPings, keptTogether] },
  async (port) => {
    const { ask, config, websocket, pause, clock, signal } = port;
    await ask(answersPings);
    const isBeside = Math.min(config.safety.maxConnections, await ask(keptTogether)) >= ROOM;
    const leastMs = config.websocket?.keepsIdleMs ?? IDLE_MS;
    const opened = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    let isAsked = false;
    let isOver = false;
    const askForEnd = () => {
      isAsked = true;
      asked.resolve();
    };
    if (!isBeside) askForEnd();
    const dialect = config.websocket && (await dialectOf(config.websocket));
    const inSilence = async (conversation: OpenConversation) => {
      opened.resolve();
      await logIn(conversation, config.websocket?.login);
      const sinceMs = clock.now();
      let isKept = await conversation.silence(LONGEST_MS, asked.promise);
      const leftMs = leastMs - (clock.now() - sinceMs);
      if (isKept && isAsked && leftMs > 0) {
        if (leftMs >= WORTH_TELLING_MS) pause.announce(clock.now() + leftMs, LEFT_ALONE);
        isKept = await conversation.silence(leftMs);
      }
      isOver = !isKept;
      if (isKept) {
        if (dialect?.heartbeat) {
          const { send, answer } = dialect.heartbeat;
          await conversation.text(send);
          await conversation.message(
            `for ${answer}`,
            ({ text }) => dialect.read(text ?? '')?.event === answer,
          );
        }
        await conversation.ping('still there?');
        await conversation.close(1000);
      }
    };
    const purpose = `a WebSocket on which nothing is said for ${leastMs} ms`;
    const view = websocket.hold({ purpose, beside: isBeside }, inSilence);
    // Whoever asks for its end hears of it.
    view.catch(() => undefined);
    signal.addEventListener('abort', askForEnd, { once: true });
    await (isBeside ? Promise.race([opened.promise, view]) : view);
    return {
      end() {
        askForEnd();
        return view;
      },
      isBeside,
      isOver: () => isOver,
    };
  },
);

/** What became of it, at the very end. */
export const idle: Probe<IdleView> = lastOfAll(
  leftAlone,
  derived('websocket-idle', [leftAlone], async ({ ask }) => {
    const { conversation } = await (await ask(leftAlone)).end();
    // Its evidence is there now.
    await ask(leftAlone);
    return new IdleView(conversation);
  }),
);

/** It ended because nobody has logged in, as its subprotocol says, and the config does not say how. */
export function isEndedForLogin(
  { subprotocol, closeCode }: ConversationView,
  { websocket }: ServiceConfig,
): boolean {
  return websocket?.login === undefined && isForLogin(subprotocol, closeCode);
}

/** What came of the dialect's own heartbeat behind the silence; null where none was sent, for the connection had ended. */
export const askedAfterSilence: Probe<AfterSilence | null> = derived(
  'websocket-asked-after-silence',
  [idle],
  async ({ ask, config }) => {
    const view = await ask(idle);
    const dialect = config.websocket && (await dialectOf(config.websocket));
    const { heartbeat } = dialect ?? {};
    const asked = view.sent.find(({ text }) => text === heartbeat?.send);
    if (!dialect || !heartbeat || !asked) return null;
    const later = view.messages.filter(({ atMs }) => atMs >= asked.atMs);
    const events = later.map(({ text }) => dialect.read(text ?? '')?.event ?? 'no event of the dialect');
    const { to, evidence } = view;
    return { to, evidence, isAnswered: events.includes(heartbeat.answer), wanted: heartbeat.answer, events };
  },
);

export interface AfterSilence {
  readonly to: string;
  readonly evidence: string;
  readonly isAnswered: boolean;
  /** Name of the event that answers. */
  readonly wanted: string;
  /** Names of what came. */
  readonly events: readonly string[];
}

import type { ConversationView } from '../../evidence/conversation/view.ts';
import { lastOfAll, type Probe, probe } from '../../session/probe.ts';
import type { OpenConversation } from '../../session/websocket/open-conversation.ts';
import { answersPings } from './ordinary-client.ts';
import { keptTogether } from './side-by-side.ts';

/** A connection on which nothing is said but what the service's own Pings call for, while the run goes on beside it. */

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
export const leftAlone: Probe<LeftAlone> = probe('websocket-left-alone', async (port) => {
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
  const inSilence = async (conversation: OpenConversation) => {
    const sinceMs = clock.now();
    opened.resolve();
    let isKept = await conversation.silence(LONGEST_MS, asked.promise);
    const leftMs = leastMs - (clock.now() - sinceMs);
    if (isKept && isAsked && leftMs > 0) {
      if (leftMs >= WORTH_TELLING_MS) pause.announce(clock.now() + leftMs, LEFT_ALONE);
      isKept = await conversation.silence(leftMs);
    }
    isOver = !isKept;
    if (isKept) {
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
});

/** What became of it, at the very end. */
export const idle: Probe<ConversationView> = lastOfAll(
  leftAlone,
  probe('websocket-idle', async ({ ask }) => {
    const view = await (await ask(leftAlone)).end();
    // Its evidence is there now.
    await ask(leftAlone);
    return view;
  }),
);

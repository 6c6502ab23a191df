import { NotApplicable, unlessUnjudged } from '../../../harness/base/verdict.ts';
import { isForLogin } from '../../../harness/config/blocks/dialect.ts';
import type { ServiceConfig } from '../../../harness/config/service.ts';
import {
  connecting,
  costOf,
  derived,
  lastOfAll,
  neededIn,
  type Port,
  type Probe,
  risky,
} from '../../../harness/engine/session/probe.ts';
import { dialectOf } from '../../../harness/engine/session/websocket/dialects/dialects.ts';
import type { OpenConversation } from '../../../harness/engine/session/websocket/open-conversation.ts';
import { IdleView } from '../../../harness/wire/conversation/idle.ts';
import type { ConversationView } from '../../../harness/wire/conversation/view.ts';
import { bomb } from './deflate.ts';
import { longEchoes, longFragmentedEcho } from './echo.ts';
import * as frames from './frames.ts';
import { logIn } from './message-pair.ts';
import { answersPings } from './ordinary-client.ts';
import { keptTogether } from './side-by-side.ts';

/** A connection that is silent while the run goes on, except for a login and Pongs; at its end the dialect's heartbeat. */

/** Milliseconds for which it is looked at in any case. */
export const IDLE_MS = 1_000;
/** And at most: no conversation lasts much longer. */
const LONGEST_MS = 150_000;
/** Milliseconds of the shortest wait that is announced. */
const WORTH_TELLING_MS = 2_000;
/** Connections that the service must keep at the same time: this one, and two that belong together. */
const ROOM = 3;

const LEFT_ALONE = 'a WebSocket is left alone, to see whether it is kept';

/** If the service keeps several connections of one client, it is open from now on; otherwise it is over at once. */
const leftAlone = connecting(
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
    // Its failure is reported where its end is asked for.
    view.catch(() => undefined);
    signal.addEventListener('abort', askForEnd, { once: true });
    await (isBeside ? Promise.race([opened.promise, view]) : view);
    return {
      /** Looks at it for as long as it must be looked at, and ends it unless the service has. */
      end() {
        askForEnd();
        return view;
      },
      /** It is open beside the others, and not just once before them. */
      isBeside,
      /** The service has ended it. */
      isOver: () => isOver,
    };
  },
);

/** The same connection at the very end of the run. */
export const idle: Probe<IdleView> = lastOfAll(
  leftAlone,
  derived('websocket-idle', [leftAlone], async ({ ask }) => {
    const { conversation } = await (await ask(leftAlone)).end();
    // Its evidence is there now.
    await ask(leftAlone);
    return new IdleView(conversation);
  }),
);

/** Its subprotocol demands a login, and the config does not say how. */
export function isEndedForLogin(
  { subprotocol, closeCode }: ConversationView,
  { websocket }: ServiceConfig,
): boolean {
  return websocket?.login === undefined && isForLogin(subprotocol, closeCode);
}

/** The answer to the dialect's heartbeat after the silence; null if none was sent, as the connection had ended. */
export const askedAfterSilence = derived('websocket-asked-after-silence', [idle], async ({ ask, config }) => {
  const view = await ask(idle);
  const dialect = config.websocket && (await dialectOf(config.websocket));
  const { heartbeat } = dialect ?? {};
  const asked = view.sent.find(({ text }) => text === heartbeat?.send);
  if (!dialect || !heartbeat || !asked) return null;
  const later = view.messages.filter(({ atMs }) => atMs >= asked.atMs);
  const events = later.map(({ text }) => dialect.read(text ?? '')?.event ?? 'no event of the dialect');
  const { to, evidence } = view;
  return { to, evidence, isAnswered: events.includes(heartbeat.answer), wanted: heartbeat.answer, events };
});

/** Whether others lose their connections over the frames of one client: seen on the one that is left alone. */

type Conversations = Probe<ConversationView> | Probe<readonly ConversationView[]>;

/** What a service may fall over. */
const RISKY: readonly Conversations[] = [
  ...frames.FAILURES,
  frames.fragmentedPong,
  frames.oneOctetClose,
  frames.badReasonClose,
  frames.overlongClose,
  frames.forbiddenCodes,
  frames.unassignedCodes,
  frames.unansweredClose,
];
/** And only to an echo. */
const LONG: readonly Conversations[] = [longEchoes, longFragmentedEcho];

function saidIn({ websocket, safety }: ServiceConfig): readonly Conversations[] {
  return websocket?.echo ? [...RISKY, ...LONG, ...(safety.findSizeLimits ? [bomb] : [])] : RISKY;
}

/** Needs of those that are sent again. */
function saidAgain(config: ServiceConfig): readonly Probe<unknown>[] {
  return saidIn(config).flatMap(({ needs, mayNeed }) =>
    [needs, mayNeed].flatMap((each) => neededIn(each, config)),
  );
}

interface Suspect {
  readonly probe: Conversations;
  readonly view: ConversationView;
}

/** Of this check itself: for each again, another connection beside it; then the loss once more, and a silent connection. */
function costAgain(config: ServiceConfig): number {
  return saidIn(config).reduce((sum, each) => sum + 1 + costOf(each, config), USUAL_COST);
}

/** The suspect again, and another connection beside it. */
const USUAL_COST = 2;

/** `lost`: how the other connection ended over it; null for not at all. */
export const othersKept = {
  ...risky(
    connecting(
      'websocket-others-kept',
      {
        needs: (config) => [leftAlone, ...saidIn(config)],
        mayNeed: saidAgain,
        cost: costAgain,
        usualCost: USUAL_COST,
      },
      async (port) => {
        const other = await port.ask(leftAlone);
        if (!other.isBeside)
          throw new NotApplicable('the service keeps no several connections of one client');
        const said = await everythingRisky(port);
        const evidence = said.at(-1)?.view.evidence ?? '';
        const kept = { to: 'a WebSocket beside others', evidence, lost: null };
        if (!other.isOver()) return kept;
        const view = await other.end();
        const suspect = suspectOf(said, view);
        const isLost = suspect !== null && (await isLostAgain(suspect, view, port));
        const loss = isLost ? { suspect, view } : await lossOver(unseenBy(view, said), port);
        if (loss === null) return kept;
        const { serverClose, closeCode } = loss.view;
        const how = serverClose === null ? 'the end of TCP' : `the close code ${closeCode ?? 'none'}`;
        const { to, evidence: decisive } = loss.suspect.view;
        return { to, evidence: decisive, lost: `${how} on another one` };
      },
    ),
  ),
  evenInOutage: true as const,
};

async function everythingRisky({ ask, config }: Pick<Port, 'ask' | 'config'>): Promise<readonly Suspect[]> {
  const all: Suspect[] = [];
  for (const each of saidIn(config)) {
    const views = await ask<ConversationView | readonly ConversationView[]>(each).catch(unlessUnjudged);
    for (const view of [views ?? []].flat()) all.push({ probe: each, view });
  }
  return all;
}

/** The conversation during or right after which the other connection ended; null if none. */
function suspectOf(said: readonly Suspect[], other: ConversationView): Suspect | null {
  const endedMs = momentIn(other, other.unaskedEnd?.atMs ?? Number.POSITIVE_INFINITY);
  const around = said.filter(
    ({ view }) =>
      momentIn(view, view.conversation.timing.responseMs ?? 0) <= endedMs &&
      momentIn(view, view.conversation.timing.durationMs) >= endedMs - RIGHT_BEHIND_MS,
  );
  return around.toSorted((a, b) => momentIn(a.view, 0) - momentIn(b.view, 0)).at(-1) ?? null;
}

/** The end of a process shows on each connection a little later than on the other. */
const RIGHT_BEHIND_MS = 100;

/** On the clock of the session. */
function momentIn({ conversation }: ConversationView, atMs: number): number {
  return conversation.timing.startedMs + atMs;
}

/** Those that were said when the other connection had ended by itself, as each quiet one may. */
function unseenBy(other: ConversationView, said: readonly Suspect[]): readonly Suspect[] {
  const endedMs = momentIn(other, other.unaskedEnd?.atMs ?? Number.POSITIVE_INFINITY);
  const unseen = said.filter(({ view }) => momentIn(view, 0) > endedMs);
  return unseen.filter(({ probe }, at) => unseen.findIndex((each) => each.probe === probe) === at);
}

/** The first of these over which a new connection ends; null for none. */
async function lossOver(suspects: readonly Suspect[], port: Port): Promise<Loss | null> {
  for (const suspect of suspects) {
    const view = await besideAgain(suspect, port);
    if (view.unaskedEnd !== null && (await isLostAgain(suspect, view, port))) return { suspect, view };
  }
  return null;
}

interface Loss {
  readonly suspect: Suspect;
  /** The connection that ended over it. */
  readonly view: ConversationView;
}

/**
 * A connection may end at that moment for other reasons, so it has to happen again.
 * @throws NotApplicable if it does in mere silence.
 */
async function isLostAgain(suspect: Suspect, view: ConversationView, port: Port): Promise<boolean> {
  const { websocket } = port;
  // A server that sends a Close stops in an orderly way.
  if (websocket.silentSince !== null) return view.serverClose === null;
  const { unaskedEnd } = await besideAgain(suspect, port);
  if (unaskedEnd === null) return false;
  const purpose = 'a WebSocket on which nothing is said for at least as long';
  const alone = await websocket.converse({ purpose, beside: true }, async (conversation) => {
    await conversation.silence(Math.max(IDLE_MS, 2 * unaskedEnd.atMs));
    await conversation.ping('still there?');
    await conversation.close(1000);
  });
  if (alone.unaskedEnd === null) return true;
  throw new NotApplicable('the service ends each quiet connection before another one is looked at beside it');
}

/** A new connection, beside which the same is sent again. */
function besideAgain({ probe: stimulus }: Suspect, port: Port): Promise<ConversationView> {
  const purpose = 'a WebSocket beside one on which the same is said again';
  return port.websocket.converse({ purpose, beside: true }, async (conversation) => {
    await (stimulus.send(port) as Promise<unknown>).catch(unlessUnjudged);
    await conversation.ping('still there?');
    await conversation.close(1000);
  });
}

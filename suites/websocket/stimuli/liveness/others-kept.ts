import { NotApplicable, unlessUnjudged } from '../../../../harness/base/verdict.ts';
import type { ServiceConfig } from '../../../../harness/config/service.ts';
import {
  connecting,
  neededIn,
  type Port,
  type Probe,
  risky,
} from '../../../../harness/engine/session/probe.ts';
import type { ConversationView } from '../../../../harness/wire/conversation/view.ts';
import { bomb } from '../deflate/deflate.ts';
import { longEchoes, longFragmentedEcho } from '../echo.ts';
import * as frames from '../frames.ts';
import { leftAlone } from './left-alone.ts';

/** Whether what one client sends costs others their connections: seen on the one that is left alone meanwhile. */

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
/** And what only an echo is sent. */
const LONG: readonly Conversations[] = [longEchoes, longFragmentedEcho];

function saidIn({ websocket, safety }: ServiceConfig): readonly Conversations[] {
  return websocket?.echo ? [...RISKY, ...LONG, ...(safety.findSizeLimits ? [bomb] : [])] : RISKY;
}

/** What each of them needs, which is sent again by itself. */
function saidAgain(config: ServiceConfig): readonly Probe<unknown>[] {
  return saidIn(config).flatMap(({ needs, mayNeed }) => [
    ...neededIn(needs, config),
    ...neededIn(mayNeed, config),
  ]);
}

/** What one client sent, and what came of the connection of another. */
export interface BesideOthers {
  readonly to: string;
  readonly evidence: string;
  /** How the other connection ended over it; null for not at all. */
  readonly lost: string | null;
}

interface Suspect {
  readonly probe: Conversations;
  readonly view: ConversationView;
}

export const othersKept: Probe<BesideOthers> = {
  ...risky(
    connecting(
      'websocket-others-kept',
      { needs: (config) => [leftAlone, ...saidIn(config)], mayNeed: saidAgain, cost: 2 },
      async (port) => {
        const other = await port.ask(leftAlone);
        if (!other.isBeside)
          throw new NotApplicable('the service keeps no several connections of one client');
        const said = await everythingRisky(port);
        const kept = {
          to: 'a WebSocket beside others',
          evidence: said.at(-1)?.view.evidence ?? '',
          lost: null,
        };
        if (!other.isOver()) return kept;
        const view = await other.end();
        const suspect = suspectOf(said, view);
        if (suspect === null) return kept;
        const { to, evidence } = suspect.view;
        const isLost = await isLostAgain(suspect, view, port);
        const how =
          view.serverClose === null ? 'the end of TCP' : `the close code ${view.closeCode ?? 'none'}`;
        return { to, evidence, lost: isLost ? `${how} on another one` : null };
      },
    ),
  ),
  evenInOutage: true,
};

async function everythingRisky({ ask, config }: Pick<Port, 'ask' | 'config'>): Promise<readonly Suspect[]> {
  const all: Suspect[] = [];
  for (const each of saidIn(config)) {
    const views = await ask<ConversationView | readonly ConversationView[]>(each).catch(unlessUnjudged);
    for (const view of [views ?? []].flat()) all.push({ probe: each, view });
  }
  return all;
}

/** The conversation during which the other connection ended, or right behind which; null for none. */
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

/**
 * A connection may end at that moment for reasons of its own. Where nobody answers any more it did not; elsewhere a new
 * one shows it, beside which the same is sent again.
 */
async function isLostAgain(
  { probe: stimulus }: Suspect,
  view: ConversationView,
  port: Port,
): Promise<boolean> {
  const { websocket } = port;
  // Who sends a Close stops in an orderly way.
  if (websocket.silentSince !== null) return view.serverClose === null;
  const purpose = 'a WebSocket beside one on which the same is said again';
  const again = await websocket.converse({ purpose, beside: true }, async (conversation) => {
    await (stimulus.send(port) as Promise<unknown>).catch(unlessUnjudged);
    await conversation.ping('still there?');
    await conversation.close(1000);
  });
  return again.unaskedEnd !== null;
}

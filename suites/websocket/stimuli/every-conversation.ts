import { Blocked, NotApplicable } from '../../../harness/base/verdict.ts';
import type { ServiceConfig } from '../../../harness/config/service.ts';
import { derived, type Probe } from '../../../harness/engine/session/probe.ts';
import type { ConversationView } from '../../../harness/wire/conversation/view.ts';
import * as echo from './echo.ts';
import * as lawful from './errand/lawful.ts';
import * as frames from './frames.ts';
import { opening } from './ordinary-client.ts';
import { pusherClient } from './pusher/pusher.ts';

/**
 * Conversations of several probes, for checks that hold for whatever the service sends. Which ones stands here, by hand: a
 * new probe is not among them before it is written down here.
 */

type Conversations = Probe<ConversationView> | Probe<readonly ConversationView[]>;

/** Everything that must end a connection. */
export const FAILURES: readonly Probe<readonly ConversationView[]>[] = [
  frames.unmasked,
  frames.reservedBits,
  frames.reservedBitOnPing,
  frames.reservedDataOpcodes,
  frames.reservedControlOpcodes,
  frames.fragmentedPing,
  frames.overlongPing,
  frames.strayContinuation,
  frames.interleaved,
  frames.badUtf8,
  frames.badUtf8InFragments,
];

const CLOSINGS: readonly Conversations[] = [
  opening,
  lawful.closes,
  frames.oneOctetClose,
  frames.badReasonClose,
  frames.overlongClose,
  frames.forbiddenCodes,
];

const ECHOES: readonly Conversations[] = [
  echo.textEcho,
  echo.binaryEcho,
  echo.emptyEcho,
  echo.shortEchoes,
  echo.longEchoes,
  echo.fragmentedEchoes,
  echo.echoAroundPing,
  echo.characterEchoes,
];

/** The conversations that the service had to fail (RFC 6455 §7.1.7). */
export const failures = gathered('websocket-failures', () => FAILURES);

/** Those of them in which the service sent a frame. */
export const everyConversation: Probe<readonly ConversationView[]> = derived(
  'websocket-every-conversation',
  () => [ofAllKinds],
  async ({ ask }) => {
    const held = (await ask(ofAllKinds)).filter(({ serverFrames }) => serverFrames.length > 0);
    if (held.length === 0) throw new Blocked('the service sent no frame in any conversation');
    return held;
  },
);

const ofAllKinds = gathered('websocket-everything', ({ echo: echoes, dialect }) => [
  lawful.unsolicitedPong,
  lawful.pingBetweenFragments,
  ...CLOSINGS,
  ...FAILURES,
  ...(echoes ? ECHOES : []),
  ...(dialect === 'pusher' ? [pusherClient] : []),
]);

function gathered(
  name: string,
  probes: (websocket: { readonly echo: boolean; readonly dialect: string }) => readonly Conversations[],
): Probe<readonly ConversationView[]> {
  const needs = ({ websocket }: ServiceConfig) => (websocket === null ? [] : probes(websocket));
  return derived(name, needs, async ({ config, ask }) => {
    const asked = needs(config);
    const answers = await Promise.allSettled(
      asked.map(
        (each): Promise<ConversationView | readonly ConversationView[]> =>
          ask<ConversationView | readonly ConversationView[]>(each),
      ),
    );
    const held: ConversationView[] = [];
    let reason: unknown = new Blocked('no conversation could be held');
    for (const answer of answers) {
      if (answer.status === 'fulfilled') held.push(...[answer.value].flat());
      // What one of them could not be asked for says nothing of the others.
      else if (answer.reason instanceof Blocked || answer.reason instanceof NotApplicable)
        reason = answer.reason;
      else throw answer.reason;
    }
    if (held.length === 0) throw reason;
    // Several probes may share one.
    return [...new Map(held.map((each) => [each.evidence, each])).values()];
  });
}

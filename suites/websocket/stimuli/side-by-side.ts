import { unlessUnjudged } from '../../../harness/base/verdict.ts';
import { connecting, type Port, type Probe } from '../../../harness/engine/session/probe.ts';
import type { Conversing } from '../../../harness/engine/session/websocket/conversation.ts';
import type { HandshakeStimulus } from '../../../harness/engine/session/websocket/handshake-stimulus.ts';
import type { ConversationView } from '../../../harness/wire/conversation/view.ts';
import { manyConnections, openedTogether } from './liveness/liveness.ts';
import { alive } from './ordinary-client.ts';

/** Conversations that are held only when an ordinary one is, and each of which opens. */
export function heldOpenEach(
  name: string,
  conversations: readonly (readonly [purpose: string, conversing: Conversing])[],
): Probe<readonly ConversationView[]> {
  return connecting(
    name,
    { needs: [alive], mayNeed: [keptTogether], cost: conversations.length },
    async (port) => {
      await port.ask(alive);
      return holdEach(
        port,
        conversations.map(([purpose, conversing]) => [{ purpose }, conversing]),
      );
    },
  );
}

/** One after the other; where the service does not do what it must, and each wait is long, side by side. */
export async function holdEach(
  port: Pick<Port, 'ask' | 'websocket'>,
  conversations: readonly (readonly [HandshakeStimulus, Conversing])[],
): Promise<readonly ConversationView[]> {
  await makeRoom(port);
  return Promise.all(conversations.map((each) => port.websocket.hold(...each)));
}

/** For as many conversations side by side as the service keeps, where each wait is long. */
export async function makeRoom({ ask, websocket }: Pick<Port, 'ask' | 'websocket'>): Promise<void> {
  // One may be left alone beside them.
  if (websocket.waitsInVain) websocket.widen((await ask(keptTogether)) - 1);
}

/** So many connections of one client the service keeps and serves at the same time, as far as was tried. */
export const keptTogether: Probe<number> = connecting(
  'websocket-kept-together',
  { needs: [manyConnections], cost: ({ safety }) => safety.maxConnections },
  async (port) => {
    // Where nothing is answered, that they stay open has to do.
    const all =
      (await port.ask(manyConnections).catch(unlessUnjudged)) ??
      (await openedTogether(port, (conversation) => conversation.silence(SETTLED_MS)));
    return all.every(({ isServed }) => isServed) ? all.length : 1;
  },
);

/** Whoever keeps fewer connections has ended others by then, in ms. */
const SETTLED_MS = 500;

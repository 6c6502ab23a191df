import { unlessBlocked, unlessUnjudged } from '../../../harness/base/verdict.ts';
import { type Ask, connecting, derived, type Probe } from '../../../harness/engine/session/probe.ts';
import type { Handshake } from '../../../harness/engine/session/websocket/handshake-stimulus.ts';
import type { OpenConversation } from '../../../harness/engine/session/websocket/open-conversation.ts';
import type { ConversationView } from '../../../harness/wire/conversation/view.ts';
import type { FieldLine } from '../../../harness/wire/exchange.ts';

/** Messages after which a connection is as it was before. @returns whether every answer came. */
export type Exchange = (conversation: OpenConversation) => Promise<boolean>;

interface Series<K extends string> {
  readonly name: string;
  /** The handshake, which is a probe of its own. */
  readonly stimulus: Handshake;
  /** Has to be in order for the handshake. */
  readonly held: Probe<unknown>;
  /** And for the exchanges to go along. */
  readonly when: Probe<unknown>;
  /** Whether the open connection suits the exchanges. */
  readonly fits?: (conversation: OpenConversation) => boolean;
  /** Name of its probe, purpose of a connection for it alone, and what is said. */
  readonly exchanges: Readonly<Record<K, readonly [probe: string, purpose: string, exchange: Exchange]>>;
  /** Has to be in order for each exchange. */
  readonly twins: readonly Probe<unknown>[];
  /** Of the handshake for each alone; asks for twins alone. */
  readonly fields?: (ask: Ask) => Promise<readonly FieldLine[]>;
}

interface Shared {
  readonly view: ConversationView;
  /** Everything was sent, and nothing is amiss. */
  readonly isWhole: boolean;
}

/** Probes that share the connection of a handshake. If anything is amiss on it, each has one of its own: a fault shows nowhere else. */
export function alongHandshake<K extends string>(
  series: Series<K>,
): Readonly<Record<K | 'handshake', Probe<ConversationView>>> {
  const { name, stimulus, exchanges, fields, held, twins, when, fits } = series;
  const whole = connecting(
    `${name}-and-series`,
    { needs: [held, when] },
    async ({ ask, websocket }): Promise<Shared> => {
      await ask(held);
      const goesAlong = !websocket.closeTimedOut && (await ask(when).catch(unlessUnjudged)) !== null;
      const said = sayingAll(Object.values(exchanges), fits);
      const conversing = goesAlong ? said.conversing : async () => {};
      return said.in(await websocket.converse(stimulus, conversing));
    },
  );
  const each = ([probe, purpose, exchange]: Series<K>['exchanges'][K]) =>
    connecting(probe, { needs: [...twins, whole] }, async ({ ask, websocket }) => {
      for (const twin of twins) await ask(twin);
      const shared = await ask(whole).catch(unlessBlocked);
      if (shared?.isWhole) return shared.view;
      return websocket.hold(
        { purpose, ...(fields && { fields: await fields(ask) }) },
        async (conversation) => {
          await exchange(conversation);
          await conversation.close(1000);
        },
      );
    });
  const handshake = derived(name, [whole], async ({ ask }) => (await ask(whole)).view);
  const entries = Object.entries<Series<K>['exchanges'][K]>(exchanges);
  const probes = Object.fromEntries(entries.map(([key, exchange]) => [key, each(exchange)]));
  // The keys are those of `exchanges`.
  return { ...(probes as Record<K, Probe<ConversationView>>), handshake };
}

/** One after the other, until one fails. */
function sayingAll(
  all: readonly Series<string>['exchanges'][string][],
  fits: (conversation: OpenConversation) => boolean = () => true,
) {
  let done = 0;
  return {
    async conversing(conversation: OpenConversation): Promise<void> {
      if (!fits(conversation)) return;
      for (const [, , exchange] of all) {
        if (!(await exchange(conversation))) break;
        done += 1;
      }
      await conversation.close(1000);
    },
    in: (view: ConversationView): Shared => ({ view, isWhole: done === all.length && isInOrder(view) }),
  };
}

function isInOrder(view: ConversationView): boolean {
  const { conversation, echoes, faults, unansweredPings, unaskedEnd, isOver } = view;
  const areSame = echoes.every(({ sent, back, isSame }) => isSame && back?.kind === sent.kind);
  const isHeardOut = conversation.failure === null;
  return (
    areSame &&
    isHeardOut &&
    isOver &&
    unaskedEnd === null &&
    faults.length === 0 &&
    unansweredPings.length === 0
  );
}

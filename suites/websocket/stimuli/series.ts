import { unlessBlocked, unlessUnjudged } from '../../../harness/base/verdict.ts';
import { connecting, derived, type Probe } from '../../../harness/engine/session/probe.ts';
import type { HandshakeStimulus } from '../../../harness/engine/session/websocket/handshake-stimulus.ts';
import type { OpenConversation } from '../../../harness/engine/session/websocket/open-conversation.ts';
import type { ConversationView } from '../../../harness/wire/conversation/view.ts';
import type { FieldLine } from '../../../harness/wire/exchange.ts';

/** Messages after which a connection is as it was before. @returns whether all that was waited for came. */
export type Exchange = (conversation: OpenConversation) => Promise<boolean>;

interface Series {
  readonly name: string;
  /** The handshake, which is a probe of its own. */
  readonly stimulus: HandshakeStimulus;
  /** What has to be in order for it. */
  readonly held: Probe<unknown>;
  /** And for the series to go along. */
  readonly when: Probe<unknown>;
  /** Whether the connection that was opened is one for it. */
  readonly fits?: (conversation: OpenConversation) => boolean;
  /** By the names of their probes; completed by what a connection for each alone is for. */
  readonly exchanges: Readonly<Record<string, readonly [purpose: string, exchange: Exchange]>>;
  /** What has to be in order, for each to show anything. */
  readonly twins: readonly Probe<unknown>[];
  /** Of the handshake for each alone. */
  readonly fields?: readonly FieldLine[];
}

interface Shared {
  readonly view: ConversationView;
  /** All was said, and nothing at all is amiss. */
  readonly isWhole: boolean;
}

/**
 * Probes that share one connection, that of a handshake, as long as nothing at all is amiss on it. Where something is,
 * each has one of its own, so that a fault shows where it is and nowhere else.
 */
export function alongHandshake(series: Series): {
  readonly handshake: Probe<ConversationView>;
  readonly of: (name: string) => Probe<ConversationView>;
} {
  const { name, stimulus, exchanges, fields, held, twins, when, fits } = series;
  const whole = connecting(
    `${name}-and-series`,
    { needs: [held, when] },
    async ({ ask, websocket }): Promise<Shared> => {
      await ask(held);
      const goesAlong = !websocket.waitsInVain && (await ask(when).catch(unlessUnjudged)) !== null;
      const said = sayingAll(exchanges, fits);
      const conversing = goesAlong ? said.conversing : async () => {};
      return said.in(await websocket.converse(stimulus, conversing));
    },
  );
  return {
    handshake: derived(name, [whole], async ({ ask }) => (await ask(whole)).view),
    of(each) {
      const [purpose, exchange] = exchanges[each] ?? [];
      if (purpose === undefined || exchange === undefined) {
        throw new TypeError(`${each} is no part of ${name}`);
      }
      return connecting(each, { needs: [...twins, whole] }, async ({ ask, websocket }) => {
        for (const twin of twins) await ask(twin);
        const shared = await ask(whole).catch(unlessBlocked);
        if (shared?.isWhole) return shared.view;
        const alone = fields === undefined ? { purpose } : { purpose, fields };
        return websocket.hold(alone, async (conversation) => {
          await exchange(conversation);
          await conversation.close(1000);
        });
      });
    },
  };
}

/** One after the other, until one is not as it should be. */
function sayingAll(
  exchanges: Series['exchanges'],
  fits: (conversation: OpenConversation) => boolean = () => true,
) {
  const all = Object.values(exchanges);
  let done = 0;
  return {
    async conversing(conversation: OpenConversation): Promise<void> {
      if (!fits(conversation)) return;
      for (const [, exchange] of all) {
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

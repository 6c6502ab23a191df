import { unlessBlocked } from '../../base/verdict.ts';
import type { ConversationView } from '../../evidence/conversation/view.ts';
import type { FieldLine } from '../../evidence/exchange.ts';
import { type Ask, type Probe, probe } from '../../session/probe.ts';
import type { OpenConversation } from '../../session/websocket/open-conversation.ts';

/** Messages after which a connection is as it was before. @returns whether all that was waited for came. */
export type Exchange = (conversation: OpenConversation) => Promise<boolean>;

interface Series {
  readonly name: string;
  readonly purpose: string;
  /** Of the handshake. */
  readonly fields?: readonly FieldLine[];
  /** What has to be in order, for the others to show anything. */
  readonly twins: readonly Probe<unknown>[];
  /** By the names of their probes; completed by what each connection is for. */
  readonly exchanges: Readonly<Record<string, readonly [purpose: string, exchange: Exchange]>>;
}

/**
 * Probes that share one connection as long as nothing at all is amiss on it. Where something is, each has one of its own,
 * so that a fault shows where it is and nowhere else.
 */
export function inSeries({
  name,
  purpose,
  fields = [],
  twins,
  exchanges,
}: Series): (name: string) => Probe<ConversationView> {
  const handshake = fields.length === 0 ? {} : { fields };
  const askTwins = async (ask: Ask) => {
    for (const twin of twins) await ask(twin);
  };
  const whole = probe(name, async ({ ask, websocket }) => {
    await askTwins(ask);
    let done = 0;
    const held = await websocket.hold({ purpose, ...handshake }, async (conversation) => {
      for (const [, exchange] of Object.values(exchanges)) {
        if (!(await exchange(conversation))) break;
        done += 1;
      }
      await conversation.close(1000);
    });
    return done === Object.keys(exchanges).length && isInOrder(held) ? held : null;
  });
  return (of) => {
    const [alone, exchange] = exchanges[of] ?? [];
    if (alone === undefined || exchange === undefined) throw new TypeError(`${of} is no part of ${name}`);
    return probe(of, async ({ ask, websocket }) => {
      await askTwins(ask);
      const shared = await ask(whole).catch(unlessBlocked);
      if (shared !== null) return shared;
      return websocket.hold({ purpose: alone, ...handshake }, async (conversation) => {
        await exchange(conversation);
        await conversation.close(1000);
      });
    });
  };
}

function isInOrder({ echoes, faults, unansweredPings, unaskedEnd, isOver }: ConversationView): boolean {
  const areSame = echoes.every(({ sent, back, isSame }) => isSame && back?.kind === sent.kind);
  return areSame && isOver && unaskedEnd === null && faults.length === 0 && unansweredPings.length === 0;
}

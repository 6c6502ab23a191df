import { NotApplicable } from '../../../harness/base/verdict.ts';
import { connecting, type Probe, risky } from '../../../harness/engine/session/probe.ts';
import { encodeFrame, OPCODE } from '../../../harness/wire/conversation/frame.ts';
import type { ConversationView } from '../../../harness/wire/conversation/view.ts';
import { longEchoes, refusedLength } from './echo.ts';

/**
 * The end of a connection over a message that is too long. Whoever closes a socket while octets lie in it that were not
 * read has the client sent a reset, and the reset may destroy the Close that went before it (RFC 6455 §7.1.1): an
 * accident, and lawful. Where nothing lies there, it is none.
 */

/** It was ended over a long message, and no Close came. */
export function isDropped(view: ConversationView): boolean {
  return refusedLength(view) !== null && view.serverClose === null;
}

/** Octets of a masking key. */
const KEY = 4;
/** Behind this many pieces something may lie unread: the content but for its last octet. */
const CONTENT = 3;

/** The length over which the connection was dropped, once more: a step at a time, each taken before the next. */
export const longInSteps: Probe<ConversationView> = risky(
  connecting('websocket-long-in-steps', { needs: [longEchoes] }, async ({ ask, websocket }) => {
    const refused = await ask(longEchoes);
    if (!isDropped(refused))
      throw new NotApplicable('no connection ended without a Close over a long message');
    const length = refusedLength(refused) ?? 0;
    // A key of zeros leaves the content as it is.
    const mask = new Uint8Array(KEY);
    const octets = encodeFrame({ opcode: OPCODE.text, payload: Buffer.alloc(length, 'a'), mask });
    const content = octets.length - length;
    const cuts = [0, content - KEY, content, octets.length - 1, octets.length];
    return websocket.hold(
      { purpose: `a WebSocket with a message of ${length} octets, a step at a time` },
      async (conversation) => {
        for (const [index, note] of ['a length', 'a masking key', 'content', 'the last octet'].entries()) {
          const piece = octets.subarray(cuts[index], cuts[index + 1]);
          if (await conversation.endsUpon(piece, note)) return;
        }
        await conversation.end();
      },
    );
  }),
);

/** How the connection ended in place of a Close while no octet of ours lay unread; null where that cannot be said. */
export function endWithoutAccident(view: ConversationView): string | null {
  const { serverClose, ended, conversation } = view;
  if (serverClose !== null || ended === null) return null;
  const pieces = conversation.events.filter(
    ({ type, from }) => type === 'octets' && from === 'client',
  ).length;
  if (pieces === CONTENT) return null;
  return ended.how === 'reset' ? 'a reset with nothing unread' : 'the end of TCP alone';
}

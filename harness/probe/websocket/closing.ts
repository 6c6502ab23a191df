import { OPCODE } from '../../evidence/conversation/frame.ts';
import type { OpenConversation } from '../../session/websocket/open-conversation.ts';
import { closePayload } from '../../transport/websocket/frames.ts';
import { heldOpen, heldOpenEach } from './websocket.ts';

/** Ways to say goodbye (RFC 6455 §5.5.1, §7), right and wrong. */

function goodbye(purpose: string, payload: Uint8Array) {
  const send = async (conversation: OpenConversation) => {
    await conversation.frame(OPCODE.close, payload);
    await conversation.end();
  };
  return [`a WebSocket closed with ${purpose}`, send] as const;
}

/** Lawful all of them. */
export const closes = heldOpenEach('websocket-closes', [
  goodbye('no code', closePayload()),
  goodbye('1001', closePayload(1001)),
  goodbye('3000 and a reason', closePayload(3000, 'conform')),
  goodbye('4999', closePayload(4999)),
]);

export const oneOctetClose = heldOpenEach('websocket-one-octet-close', [
  goodbye('a payload of one octet', Uint8Array.of(3)),
]);
export const badReasonClose = heldOpenEach('websocket-bad-reason-close', [
  goodbye('a reason that is not UTF-8', Uint8Array.of(0x03, 0xe8, 0xff)),
]);
export const overlongClose = heldOpenEach('websocket-overlong-close', [
  goodbye('a payload of 126 octets', closePayload(1000, 'x'.repeat(124))),
]);

/** §7.4: codes that stand for something else than a Close frame, and codes below all others. */
export const forbiddenCodes = heldOpenEach(
  'websocket-forbidden-codes',
  [1005, 1006, 1015, 1004, 999, 0].map((code) => goodbye(String(code), closePayload(code))),
);

export const LATE = 'conform: after the Close';

/** §5.5.1: what follows a Close is not looked at. In one segment, so that the server has both at hand. */
export const messageAfterClose = heldOpen(
  'websocket-message-after-close',
  // What we sent as octets counts as no Close of ours; a second one is not to follow it.
  { purpose: 'a WebSocket with a text message behind the Close', automatic: { close: false } },
  async (conversation) => {
    await conversation.together(
      `a Close and, behind it, the text "${LATE}"`,
      [OPCODE.close, ''],
      [OPCODE.text, LATE],
    );
    await conversation.end();
  },
);

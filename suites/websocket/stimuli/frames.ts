import { unlessUnjudged } from '../../../harness/base/verdict.ts';
import { derived, type Probe, risky } from '../../../harness/engine/session/probe.ts';
import type { Conversing } from '../../../harness/engine/session/websocket/conversation.ts';
import type {
  OpenConversation,
  Unusual,
} from '../../../harness/engine/session/websocket/open-conversation.ts';
import { OPCODE } from '../../../harness/wire/conversation/frame.ts';
import type { ConversationView } from '../../../harness/wire/conversation/view.ts';
import { closePayload } from '../../../harness/wire/websocket/frames.ts';
import { closeWith } from './errand.ts';
import { heldOpen } from './ordinary-client.ts';
import { heldOpenEach } from './side-by-side.ts';

/** Frames that RFC 6455 §5 and §8.1 forbid, each on a connection that must end. No proper service acts on one. */

const { text, ping, pong, continuation } = OPCODE;

type Sending = readonly [purpose: string, conversing: Conversing];

const broken = (name: string, ...sendings: readonly Sending[]) =>
  risky(heldOpenEach(`websocket-${name}`, sendings));

function frame(
  purpose: string,
  opcode: number,
  payload: string | Uint8Array,
  unusual: Unusual = {},
): Sending {
  return frames(purpose, [opcode, payload, unusual]);
}

function frames(
  purpose: string,
  ...sent: readonly (readonly [opcode: number, payload: string | Uint8Array, unusual?: Unusual])[]
): Sending {
  const send = async (conversation: OpenConversation) => {
    for (const [opcode, payload, unusual] of sent) await conversation.frame(opcode, payload, unusual);
    await conversation.mustEnd();
  };
  return [`a WebSocket with ${purpose}`, send];
}

/** §5.1 */
export const unmasked = broken('unmasked', frame('an unmasked frame', text, 'conform', { mask: null }));

/** §5.2; no extension is negotiated that would give them a meaning. */
export const reservedBits = broken(
  'reserved-bits',
  frame('RSV1 on a text frame', text, 'conform', { rsv: 4 }),
  frame('RSV2 on a text frame', text, 'conform', { rsv: 2 }),
  frame('RSV3 on a text frame', text, 'conform', { rsv: 1 }),
);
export const reservedBitOnPing = broken(
  'reserved-bit-on-ping',
  frame('RSV1 on a Ping', ping, 'conform', { rsv: 4 }),
);
/** Not the first frame of its message, where no extension has a meaning for a bit either. */
export const reservedBitsOnContinuation = broken(
  'reserved-bits-on-continuation',
  frames('RSV1 on a second fragment', [text, 'con', { fin: false }], [continuation, 'form', { rsv: 4 }]),
  frames('RSV2 on a second fragment', [text, 'con', { fin: false }], [continuation, 'form', { rsv: 2 }]),
);
export const reservedDataOpcodes = broken(
  'reserved-data-opcodes',
  frame('a frame of opcode 3', 0x3, 'conform'),
  frame('a frame of opcode 7', 0x7, ''),
);
export const reservedControlOpcodes = broken(
  'reserved-control-opcodes',
  frame('a frame of opcode 11', 0xb, 'conform'),
  frame('a frame of opcode 15', 0xf, ''),
);

/** §5.5 */
export const fragmentedPing = broken(
  'fragmented-ping',
  frame('a Ping in fragments', ping, 'conform', { fin: false }),
  frame('an empty Ping in fragments', ping, '', { fin: false }),
);
export const fragmentedPong = broken(
  'fragmented-pong',
  frame('a Pong in fragments', pong, 'conform', { fin: false }),
);
export const overlongPing = broken('overlong-ping', frame('a Ping of 126 octets', ping, 'x'.repeat(126)));

/** §5.4 */
export const strayContinuation = broken(
  'stray-continuation',
  frame('a last fragment that continues nothing', continuation, 'conform'),
  frame('a fragment that continues nothing', continuation, 'conform', { fin: false }),
);
export const interleaved = broken(
  'interleaved',
  frames('a message begun within another', [text, 'conform', { fin: false }], [text, 'conform']),
);

/** §8.1, RFC 3629 §3 */
export const badUtf8 = broken(
  'bad-utf8',
  frame('text with the octet FF', text, Uint8Array.of(0x63, 0xff)),
  frame('text with an overlong form', text, Uint8Array.of(0x63, 0xc0, 0xaf)),
  frame('text with a surrogate', text, Uint8Array.of(0x63, 0xed, 0xa0, 0x80)),
  frame('text cut within a character', text, Uint8Array.of(0x63, 0xe2, 0x82)),
  frame('text with a stray continuation octet', text, Uint8Array.of(0x63, 0x80)),
  frame('text beyond U+10FFFF', text, Uint8Array.of(0x63, 0xf4, 0x90, 0x80, 0x80)),
  frame('text with a sequence of five octets', text, Uint8Array.of(0xf8, 0x88, 0x80, 0x80, 0x80)),
);
export const badUtf8InFragments = broken(
  'bad-utf8-in-fragments', // 0xE2 0x82 begins a character; 0x28 is no continuation of it.
  frames(
    'text whose fragments do not join to UTF-8',
    [text, Uint8Array.of(0x63, 0xe2, 0x82), { fin: false }],
    [continuation, Uint8Array.of(0x28)],
  ),
);

/** The Close that the service sends over a bad frame is not answered. */
export const unansweredClose = risky(
  heldOpen(
    'websocket-unanswered-close',
    { purpose: 'a WebSocket whose client does not answer a Close', automatic: { close: false } },
    async (conversation) => {
      await conversation.frame(0xb, '');
      await conversation.outlast(UNANSWERED_MS);
    },
  ),
);

/** Milliseconds: longer than the 30 s that some libraries wait for an answer. */
const UNANSWERED_MS = 35_000;

/** A bad Close (RFC 6455 §5.5.1, §7). */
function closing(purpose: string, payload: Uint8Array): Sending {
  return [`a WebSocket closed with ${purpose}`, (conversation) => closeWith(conversation, payload)];
}

export const oneOctetClose = broken('one-octet-close', closing('a payload of one octet', Uint8Array.of(3)));
/** Normal closure. */
export const BAD_REASON_CODE = 1000;
export const badReasonClose = broken(
  'bad-reason-close',
  closing('a reason that is not UTF-8', Buffer.concat([closePayload(BAD_REASON_CODE), Uint8Array.of(0xff)])),
);
export const overlongClose = broken(
  'overlong-close',
  closing('a payload of 126 octets', closePayload(1000, 'x'.repeat(124))),
);

/** §7.4: codes that stand for something else than a Close frame, and codes below all others. */
export const forbiddenCodes = broken(
  'forbidden-codes',
  ...[1005, 1006, 1015, 1004, 999, 0].map((code) => closing(String(code), closePayload(code))),
);

/** §7.4.2: kept for the protocol itself, and never assigned. */
export const unassignedCodes = broken(
  'unassigned-codes',
  ...[2999].map((code) => closing(String(code), closePayload(code))),
);

export const LATE = 'conform: after the Close';

/** §5.5.1. In one segment, so that the server has both at hand. */
export const messageAfterClose = risky(
  heldOpen(
    'websocket-message-after-close',
    // Sent as octets, it does not count as our Close: a second one must not follow.
    { purpose: 'a WebSocket with a text message behind the Close', automatic: { close: false } },
    async (conversation) => {
      await conversation.together(
        `a Close and, behind it, the text "${LATE}"`,
        [OPCODE.close, ''],
        [OPCODE.text, LATE],
      );
      await conversation.mustEnd();
    },
  ),
);

/** Everything that must end a connection. */
export const FAILURES: readonly Probe<readonly ConversationView[]>[] = [
  unmasked,
  reservedBits,
  reservedBitOnPing,
  reservedBitsOnContinuation,
  reservedDataOpcodes,
  reservedControlOpcodes,
  fragmentedPing,
  overlongPing,
  strayContinuation,
  interleaved,
  badUtf8,
  badUtf8InFragments,
];

/** Those that could be held. */
export const failures = derived('websocket-failures', FAILURES, async ({ ask }) => {
  const held = await Promise.all(FAILURES.map((each) => ask(each).catch(unlessUnjudged)));
  const all = held.flatMap((each) => each ?? []);
  return all.length > 0 ? all : ask(unmasked);
});

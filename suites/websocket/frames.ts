import { type CheckDefinition, check } from '../../harness/check/check.ts';
import { hasWebSocket } from '../../harness/check/requirement.ts';
import { type Ground, practice, rfc3629, rfc6455 } from '../../harness/contract/ground.ts';
import type { FrameRule } from '../../harness/evidence/conversation/frame-faults.ts';
import type { ConversationView } from '../../harness/evidence/conversation/view.ts';
import * as frames from '../../harness/probe/websocket/frames.ts';
import { everyConversation, failures } from '../../harness/probe/websocket/gathered.ts';
import {
  kept,
  pingBetweenFragments,
  pingBurst,
  unsolicitedPong,
} from '../../harness/probe/websocket/websocket.ts';
import type { Probe } from '../../harness/session.ts';

const applies = [hasWebSocket];

/** Close codes of RFC 6455 §7.4.1 for what went wrong. */
const PROTOCOL_ERROR = 1002;
const INVALID_PAYLOAD = 1007;
const TOO_BIG = 1009;

/**
 * Frames (RFC 6455 §5). What the client sends wrong must end the connection; with which close code is a second
 * question, and to send no Close frame at all is lawful.
 */
export const frameChecks = [
  // §5.1: the server closes the connection upon a frame that is not masked.
  ends('unmasked', 'a frame that is not masked', '5.1', frames.unmasked, 'ws-accepts-unmasked'),
  closesWith('unmasked-code', 'a frame that is not masked', [frames.unmasked], [PROTOCOL_ERROR]),

  // §5.2: a reserved bit that no negotiated extension gives a meaning fails the connection.
  ends('reserved-bits', 'a message with a reserved bit', '5.2', frames.reservedBits, 'ws-ignores-rsv'),
  ends(
    'reserved-bit-on-ping',
    'a Ping with a reserved bit',
    '5.2',
    frames.reservedBitOnPing,
    'ws-ignores-rsv',
  ),
  closesWith(
    'reserved-bits-code',
    'a reserved bit',
    [frames.reservedBits, frames.reservedBitOnPing],
    [PROTOCOL_ERROR],
  ),

  // §5.2: so does an opcode that nobody has defined.
  ends(
    'reserved-data-opcode',
    'a reserved opcode of data frames',
    '5.2',
    frames.reservedDataOpcodes,
    'ws-accepts-reserved-opcode',
  ),
  ends(
    'reserved-control-opcode',
    'a reserved opcode of control frames',
    '5.2',
    frames.reservedControlOpcodes,
    'ws-accepts-reserved-opcode',
  ),
  closesWith(
    'reserved-opcode-code',
    'a reserved opcode',
    [frames.reservedDataOpcodes, frames.reservedControlOpcodes],
    [PROTOCOL_ERROR],
  ),

  // §5.5.3: of several Pings the latest must be answered, the others may be.
  check(
    'websocket.ping-burst',
    {
      title: 'answers at least the last of ten Pings at once',
      grounds: [rfc6455('5.5.3', 'MUST')],
      applies,
      provenBy: ['ws-loses-ping-burst'],
    },
    async ({ probe, expectConversation }) => {
      expectConversation(await probe(pingBurst)).toConform('a Pong for the last Ping', (conversation) => {
        const last = conversation.clientFrames.findLast(({ frame }) => frame.opcode === 0x9);
        return last === undefined || conversation.unansweredPings.includes(last)
          ? `${conversation.pongs.length} others`
          : null;
      });
    },
  ),

  // §5.5: control frames have at most 125 octets and are not fragmented.
  ends('fragmented-ping', 'a Ping in fragments', '5.5', frames.fragmentedPing, 'ws-accepts-fragmented-ping'),
  ends('overlong-ping', 'a Ping of 126 octets', '5.5', frames.overlongPing, 'ws-accepts-long-ping'),
  closesWith(
    'control-frame-code',
    'a control frame that is fragmented or too long',
    [frames.fragmentedPing, frames.overlongPing],
    [PROTOCOL_ERROR, TOO_BIG],
  ),

  // §5.4: a fragmented message begins with an opcode and goes on with continuation frames.
  ends(
    'stray-continuation',
    'a continuation of nothing',
    '5.4',
    frames.strayContinuation,
    'ws-accepts-stray-continuation',
  ),
  // §5.4: the fragments of one message do not come between those of another.
  ends(
    'interleaved-message',
    'a message within another',
    '5.4',
    frames.interleaved,
    'ws-accepts-interleaved-messages',
  ),
  closesWith(
    'fragmentation-code',
    'fragments that do not fit together',
    [frames.strayContinuation, frames.interleaved],
    [PROTOCOL_ERROR],
  ),

  // §8.1: what is to be UTF-8 and is not fails the connection; overlong forms and surrogates are none (RFC 3629 §3).
  ends('bad-utf8', 'text that is not UTF-8', '8.1', frames.badUtf8, 'ws-accepts-bad-utf8', [
    rfc3629('3', 'MUST'),
  ]),
  ends(
    'bad-utf8-in-fragments',
    'text that is not UTF-8 once its fragments are joined',
    '8.1',
    frames.badUtf8InFragments,
    'ws-accepts-bad-utf8',
  ),
  closesWith(
    'bad-utf8-code',
    'text that is not UTF-8',
    [frames.badUtf8, frames.badUtf8InFragments],
    [INVALID_PAYLOAD],
  ),

  // §7.1.7: an endpoint that fails an open connection sends a Close frame first. A reset may have destroyed it.
  check(
    'websocket.failure-announced',
    {
      title: 'sends a Close frame before it ends TCP over a bad frame',
      grounds: [rfc6455('7.1.7', 'SHOULD')],
      applies,
      provenBy: ['ws-fails-silently'],
    },
    async ({ probe, expectConversation }) => {
      expectConversation(...(await probe(failures))).toConform('a Close frame', ({ serverClose, ended }) =>
        serverClose === null && ended?.how === 'end' ? 'the end of TCP' : null,
      );
    },
  ),

  // §5.5.2, §5.5.3: a Pong with the Application data of the Ping.
  check(
    'websocket.ping',
    {
      title: 'answers a Ping with a Pong of the same payload',
      grounds: [rfc6455('5.5.2', 'MUST'), rfc6455('5.5.3', 'MUST')],
      applies,
      provenBy: ['ws-no-pong', 'ws-wrong-pong'],
    },
    async ({ probe, expectConversation }) => {
      expectConversation(await probe(kept)).toAnswerPings();
    },
  ),

  // §5.4: control frames may come between the fragments of a message; §5.5.2: as soon as is practical.
  check(
    'websocket.ping-between-fragments',
    {
      title: 'answers a Ping that comes between the fragments of a message',
      grounds: [rfc6455('5.4', 'MUST')],
      applies,
      provenBy: ['ws-holds-pings-in-messages'],
    },
    async ({ probe, expectConversation }) => {
      expectConversation(await probe(pingBetweenFragments)).toAnswerPings();
    },
  ),

  // §5.5.3: a Pong may be sent unasked, as a heartbeat; nobody answers it.
  check(
    'websocket.unsolicited-pong',
    {
      title: 'takes a Pong that it did not ask for',
      grounds: [rfc6455('5.5.3', 'MAY'), practice('lawful frames are taken')],
      applies,
      provenBy: ['ws-refuses-unsolicited-pong'],
    },
    async ({ probe, expectConversation }) => {
      expectConversation(await probe(unsolicitedPong)).toConform('the connection to go on', (conversation) =>
        conversation.unansweredPings.length === 0 ? null : endOf(conversation),
      );
    },
  ),

  // §5.1: a server never masks.
  sends('server-unmasked', 'unmasked frames', '5.1', ['masking'], 'ws-masks-frames'),
  // §5.2: the fewest octets that hold the length.
  sends('server-lengths', 'lengths in the fewest octets', '5.2', ['length'], 'ws-nonminimal-length'),
  // §5.2: no reserved bit and no reserved opcode without an extension that defines it.
  sends(
    'server-reserved',
    'no reserved bits or opcodes',
    '5.2',
    ['reserved-bits', 'opcode'],
    'ws-sets-reserved-bits',
  ),
  // §5.5: at most 125 octets, in one piece.
  sends(
    'server-control-frames',
    'control frames of at most 125 octets',
    '5.5',
    ['control'],
    'ws-sends-overlong-close',
  ),
  // §5.4
  sends('server-fragments', 'fragments in order', '5.4', ['fragmentation'], 'ws-sends-stray-fragments'),
  // §8.1
  sends('server-utf8', 'text in UTF-8', '8.1', ['utf8'], 'ws-sends-bad-utf8'),
];

/** The connection ends upon a frame like that. */
function ends(
  name: string,
  what: string,
  section: string,
  sent: Probe<readonly ConversationView[]>,
  defect: string,
  further: readonly Ground[] = [],
): CheckDefinition {
  return check(
    `websocket.${name}`,
    {
      title: `ends the connection upon ${what}`,
      grounds: [rfc6455(section, 'MUST'), ...further],
      applies,
      provenBy: [defect],
    },
    async ({ probe, expectConversation }) => {
      expectConversation(...(await probe(sent))).toEnd();
    },
  );
}

/** §7.1.7: with an appropriate code of §7.4.1, where a Close frame tells one. */
function closesWith(
  name: string,
  what: string,
  sent: readonly Probe<readonly ConversationView[]>[],
  codes: readonly number[],
): CheckDefinition {
  return check(
    `websocket.${name}`,
    {
      title: `names ${codes.join(' or ')} where it closes upon ${what}`,
      grounds: [rfc6455('7.1.7', 'SHOULD')],
      applies,
      provenBy: ['ws-wrong-close-code'],
    },
    async ({ probe, expectConversation }) => {
      const conversations: ConversationView[] = [];
      for (const each of sent) conversations.push(...(await probe(each)));
      expectConversation(...conversations).toCloseWith(...codes);
    },
  );
}

/** Whatever the service sent in any conversation. */
function sends(
  name: string,
  what: string,
  section: string,
  rules: readonly FrameRule[],
  defect: string,
): CheckDefinition {
  return check(
    `websocket.${name}`,
    { title: `sends ${what}`, grounds: [rfc6455(section, 'MUST')], applies, provenBy: [defect] },
    async ({ probe, expectConversation }) => {
      expectConversation(...(await probe(everyConversation))).toKeep(what, ...rules);
    },
  );
}

function endOf({ serverClose, ended }: ConversationView): string {
  if (serverClose !== null) return `the close code ${serverClose.code ?? 'none'}`;
  return ended === null ? 'no Pong to a later Ping' : 'the end of TCP';
}

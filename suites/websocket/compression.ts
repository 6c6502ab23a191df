import { type CheckDefinition, check, observation } from '../../harness/check/check.ts';
import { deflateAnswer } from '../../harness/check/deflate-answer.ts';
import { echoes, hasWebSocket, sizesMayBeFound } from '../../harness/check/requirement.ts';
import { clause, practice, rfc7692 } from '../../harness/contract/ground.ts';
import type { ConversationView } from '../../harness/evidence/conversation/view.ts';
import * as deflate from '../../harness/probe/websocket/deflate.ts';
import type { Probe } from '../../harness/session.ts';

const applies = [hasWebSocket];

/** permessage-deflate (RFC 7692). To decline it, or to take less of it than was offered, is always in order. */
export const compressionChecks = [
  // §7.1: an offer with a parameter that does not exist, a value that is none, or a parameter twice is declined.
  check(
    'websocket.deflate-unfit-offer',
    {
      title: 'takes no offer of permessage-deflate whose parameters are wrong',
      grounds: [rfc7692('7.1', 'MUST')],
      applies,
      provenBy: ['ws-takes-unfit-deflate-offer'],
    },
    async ({ probe, expectConversation }) => {
      // To refuse the handshake is stricter, and no less right.
      expectConversation(...(await probe(deflate.unfitOffers))).toConform(
        'no permessage-deflate',
        ({ opened, handshake }) => (opened ? (handshake?.field('sec-websocket-extensions') ?? null) : null),
      );
    },
  ),

  // §7.1.1.1: who takes the offer answers with the parameter, and does without context.
  answersOffer(
    'server-context',
    'answers server_no_context_takeover with the same, or declines',
    '7.1.1.1',
    deflate.serverContextOffer,
    'ws-forgets-server-no-context',
  ),
  // §7.1.2.1: and with a window that is no larger than the offered one.
  answersOffer(
    'server-window',
    'answers server_max_window_bits with at most as many, or declines',
    '7.1.2.1',
    deflate.serverWindowOffer,
    'ws-forgets-server-window',
  ),
  // §7.1.2.2
  answersOffer(
    'client-window',
    'answers client_max_window_bits with at most as many, or without',
    '7.1.2.2',
    deflate.clientWindowOffers,
    'ws-widens-client-window',
  ),

  // §5: the first offer that is acceptable should be taken.
  observation(
    'websocket.deflate-fallback',
    {
      title: 'takes the second offer of permessage-deflate where the first is wrong, or none',
      grounds: [rfc7692('5', 'MAY')],
      applies,
      shownBy: ['ws-takes-unfit-deflate-offer'],
    },
    async ({ probe, observe, note }) => {
      const [conversation] = await probe(deflate.fallbackOffer);
      const taken = conversation?.opened
        ? (conversation.handshake?.field('sec-websocket-extensions') ?? null)
        : null;
      const seen = conversation?.opened ? taken : (conversation?.status ?? null);
      observe('websocket.deflate-fallback', seen);
      note(conversation?.opened ? (taken ?? 'declined') : `status ${seen ?? 'none'}`);
    },
  ),

  // §6: RSV1 belongs to the first frame of a message.
  ends(
    'reserved-bit-on-control',
    'a Ping with RSV1, although messages are compressed',
    '6',
    deflate.reservedBitOnControl,
    'ws-ignores-rsv1-on-control',
  ),
  ends(
    'reserved-bit-on-continuation',
    'a second fragment with RSV1',
    '6',
    deflate.reservedBitOnContinuation,
    'ws-ignores-rsv1-on-continuation',
  ),
  // §7.2.2, RFC 6455 §7.1.7: what cannot be inflated is no message.
  ends(
    'bad-data',
    'a compressed message that cannot be inflated',
    '7.2.2',
    deflate.badData,
    'ws-ignores-bad-deflate',
  ),

  sendsBack('echo', 'compressed messages', '7.2.2', deflate.deflatedEcho, 'ws-corrupts-compressed'),
  // §6: a message without RSV1 is not compressed, whatever was agreed on.
  sendsBack(
    'plain',
    'a message that is not compressed, where others may be',
    '6',
    deflate.plainEcho,
    'ws-wants-all-compressed',
  ),
  sendsBack(
    'empty',
    'an empty compressed message',
    '7.2.3.6',
    deflate.emptyEcho,
    'ws-loses-empty-compressed',
  ),
  sendsBack(
    'fragments',
    'a compressed message that comes in fragments',
    '7.2.3.1',
    deflate.fragmentedEcho,
    'ws-loses-compressed-fragments',
  ),
  // RFC 6455 §5.4
  sendsBack(
    'around-ping',
    'a compressed message that has a Ping between its fragments',
    '6.1',
    deflate.echoAroundPing,
    'ws-ping-cuts-compressed',
  ),
  // §7.2.3.2: as long as client_no_context_takeover was not agreed on.
  sendsBack(
    'context',
    'a compressed message that refers to the one before',
    '7.1.1.2',
    deflate.contextEcho,
    'ws-forgets-deflate-context',
  ),
  // §7.2.3.4: BFINAL is of no consequence.
  sendsBack(
    'final-block',
    'a compressed message whose block is marked as the last',
    '7.2.3.4',
    deflate.finalBlockEcho,
    'ws-refuses-final-block',
  ),

  // §7.1.1.1: what was agreed on is kept: the second message can be inflated without the first.
  check(
    'websocket.deflate-without-context',
    {
      title: 'compresses each message by itself where server_no_context_takeover is agreed on',
      grounds: [rfc7692('7.1.1.1', 'MUST')],
      applies: [hasWebSocket, echoes],
      provenBy: ['ws-breaks-no-context'],
    },
    async ({ probe, expectConversation }) => {
      expectConversation(...(await probe(deflate.withoutContextEcho))).toKeep(
        'messages that can be inflated by themselves',
        'deflate',
      );
    },
  ),

  // §7.2.1
  check(
    'websocket.deflate-server-data',
    {
      title: 'sends compressed messages that can be inflated',
      grounds: [rfc7692('7.2.1', 'MUST')],
      applies: [hasWebSocket, echoes],
      provenBy: ['ws-sends-bad-deflate'],
    },
    async ({ probe, expectConversation, notApplicable }) => {
      const conversations = [...(await probe(deflate.deflatedEcho)), ...(await probe(deflate.contextEcho))];
      const compressed = conversations.filter(({ serverFrames }) =>
        serverFrames.some(({ frame }) => frame.rsv === 4),
      );
      if (compressed.length === 0) return notApplicable('the service compresses no message of its own');
      expectConversation(...compressed).toKeep('messages that can be inflated', 'deflate');
    },
  ),

  // A thousand times as much memory as was sent, for everybody who asks. 1009 names the reason (RFC 6455 §7.4.1).
  check(
    'websocket.deflate-bomb',
    {
      title: 'does not inflate a message of 64 KiB to 64 MiB',
      grounds: [practice('OWASP API4:2023')],
      applies: [hasWebSocket, echoes, sizesMayBeFound],
      provenBy: ['ws-inflates-without-limit'],
    },
    async ({ probe, expectConversation }) => {
      expectConversation(await probe(deflate.bomb)).toConform(
        'the end of the connection',
        ({ serverFrames, conversation }) => {
          if (conversation.failure !== null) return conversation.failure.message;
          const back = serverFrames.find(
            ({ frame }) => frame.opcode < 8 && frame.length >= deflate.BULK_OCTETS,
          )?.frame;
          return back === undefined ? null : `a message of ${back.length} octets on the wire back`;
        },
      );
    },
  ),
];

function answersOffer(
  name: string,
  title: string,
  section: string,
  offered: Probe<readonly ConversationView[]>,
  defect: string,
): CheckDefinition {
  return check(
    `websocket.deflate-${name}`,
    { title, grounds: [rfc7692(section, 'MUST')], applies, provenBy: [defect] },
    async ({ probe, expectConversation }) => {
      expectConversation(...(await probe(offered))).toConform(
        'permessage-deflate as offered, or nothing',
        deflateAnswer,
      );
    },
  );
}

function ends(
  name: string,
  what: string,
  section: string,
  sent: Probe<readonly ConversationView[]>,
  defect: string,
): CheckDefinition {
  return check(
    `websocket.deflate-${name}`,
    {
      title: `ends the connection upon ${what}`,
      grounds: [rfc7692(section, 'MUST')],
      applies,
      provenBy: [defect],
    },
    async ({ probe, expectConversation }) => {
      expectConversation(...(await probe(sent))).toEnd();
    },
  );
}

function sendsBack(
  name: string,
  what: string,
  section: string,
  sent: Probe<readonly ConversationView[]>,
  defect: string,
): CheckDefinition {
  return check(
    `websocket.deflate-${name}`,
    {
      title: `sends back ${what}`,
      grounds: [clause('websocket.messages'), rfc7692(section, 'MUST')],
      applies: [hasWebSocket, echoes],
      provenBy: [defect],
    },
    async ({ probe, expectConversation }) => {
      expectConversation(...(await probe(sent))).toSendBack();
    },
  );
}

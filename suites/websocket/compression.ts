import {
  type CheckDefinition,
  type ConversationView,
  check,
  echoes,
  observation,
  type Probe,
  practice,
  rfc7692,
  sizesMayBeFound,
} from '../../harness/check/suite.ts';
import * as deflate from '../../harness/probe/websocket/deflate.ts';
import { ends, sendsBack } from './rows.ts';

interface Offer {
  readonly id: string;
  readonly title: string;
  readonly section: string;
  readonly probe: Probe<readonly ConversationView[]>;
}

/** Who takes an offer keeps to it; to decline it, or to take less of it than was offered, is always in order. */
const answersOffer = ({ id, title, section, probe }: Offer): CheckDefinition =>
  check(id, {
    title,
    grounds: [rfc7692(section, 'MUST')],
    judge: ({ expect }) => expect(probe).toFitTheOffer(),
  });

/** permessage-deflate (RFC 7692). */
export const compressionChecks = [
  // §7.1: an offer with a parameter that does not exist, a value that is none, or a parameter twice is declined.
  check('websocket.deflate-unfit-offer', {
    title: 'takes no offer of permessage-deflate whose parameters are wrong',
    grounds: [rfc7692('7.1', 'MUST')],
    // To refuse the handshake is stricter, and no less right.
    judge: ({ expect }) =>
      expect(deflate.unfitOffers).toConform('no permessage-deflate', ({ opened, handshake }) =>
        opened ? (handshake?.field('sec-websocket-extensions') ?? null) : null,
      ),
  }),

  // §7.1.1.1: who takes the offer answers with the parameter, and does without context.
  answersOffer({
    id: 'websocket.deflate-server-context',
    title: 'answers server_no_context_takeover with the same, or declines',
    section: '7.1.1.1',
    probe: deflate.serverContextOffer,
  }),
  // §7.1.2.1: and with a window that is no larger than the offered one.
  answersOffer({
    id: 'websocket.deflate-server-window',
    title: 'answers server_max_window_bits with at most as many, or declines',
    section: '7.1.2.1',
    probe: deflate.serverWindowOffer,
  }),
  // §7.1.2.2: a window of the client is the client's to bound.
  answersOffer({
    id: 'websocket.deflate-client-window',
    title: 'answers client_max_window_bits with at most as many, or without',
    section: '7.1.2.2',
    probe: deflate.clientWindowOffers,
  }),

  // §5: the first offer that is acceptable should be taken.
  observation('websocket.deflate-fallback', {
    title: 'takes the second offer of permessage-deflate where the first is wrong, or none',
    grounds: [rfc7692('5', 'MAY')],
    async observe({ probe }) {
      const [conversation] = await probe(deflate.fallbackOffer);
      if (!conversation?.opened)
        return { seen: conversation?.status ?? null, note: `status ${conversation?.status ?? 'none'}` };
      const taken = conversation.handshake?.field('sec-websocket-extensions') ?? null;
      return { seen: taken, note: taken ?? 'declined' };
    },
  }),

  // §6: RSV1 belongs to the first frame of a message.
  ends({
    id: 'websocket.deflate-reserved-bit-on-control',
    upon: 'a Ping with RSV1, although messages are compressed',
    grounds: [rfc7692('6', 'MUST')],
    probe: deflate.reservedBitOnControl,
  }),
  ends({
    id: 'websocket.deflate-reserved-bit-on-continuation',
    upon: 'a second fragment with RSV1',
    grounds: [rfc7692('6', 'MUST')],
    probe: deflate.reservedBitOnContinuation,
  }),
  // §7.2.2, RFC 6455 §7.1.7: what cannot be inflated is no message.
  ends({
    id: 'websocket.deflate-bad-data',
    upon: 'a compressed message that cannot be inflated',
    grounds: [rfc7692('7.2.2', 'MUST')],
    probe: deflate.badData,
  }),

  // §7.2.2: what was agreed on is understood.
  sendsBack({
    id: 'websocket.deflate-echo',
    what: 'compressed messages',
    ground: rfc7692('7.2.2', 'MUST'),
    probe: deflate.deflatedEcho,
  }),
  // §6: a message without RSV1 is not compressed, whatever was agreed on.
  sendsBack({
    id: 'websocket.deflate-plain',
    what: 'a message that is not compressed, where others may be',
    ground: rfc7692('6', 'MUST'),
    probe: deflate.plainEcho,
  }),
  // §7.2.3.6: an empty message is one octet of compressed data.
  sendsBack({
    id: 'websocket.deflate-empty',
    what: 'an empty compressed message',
    ground: rfc7692('7.2.3.6', 'MUST'),
    probe: deflate.emptyEcho,
  }),
  // §7.2.3.1: it is the message that is compressed, and not its fragments.
  sendsBack({
    id: 'websocket.deflate-fragments',
    what: 'a compressed message that comes in fragments',
    ground: rfc7692('7.2.3.1', 'MUST'),
    probe: deflate.fragmentedEcho,
  }),
  // RFC 6455 §5.4: control frames may come between fragments.
  sendsBack({
    id: 'websocket.deflate-around-ping',
    what: 'a compressed message that has a Ping between its fragments',
    ground: rfc7692('6.1', 'MUST'),
    probe: deflate.echoAroundPing,
  }),
  // §7.2.3.2: as long as client_no_context_takeover was not agreed on.
  sendsBack({
    id: 'websocket.deflate-context',
    what: 'a compressed message that refers to the one before',
    ground: rfc7692('7.1.1.2', 'MUST'),
    probe: deflate.contextEcho,
  }),
  // §7.2.3.4: BFINAL is of no consequence.
  sendsBack({
    id: 'websocket.deflate-final-block',
    what: 'a compressed message whose block is marked as the last',
    ground: rfc7692('7.2.3.4', 'MUST'),
    probe: deflate.finalBlockEcho,
  }),

  // §7.1.1.1: what was agreed on is kept: the second message can be inflated without the first.
  check('websocket.deflate-without-context', {
    title: 'compresses each message by itself where server_no_context_takeover is agreed on',
    grounds: [rfc7692('7.1.1.1', 'MUST')],
    applies: [echoes],
    judge: ({ expect }) =>
      expect(deflate.withoutContextEcho).toKeep('messages that can be inflated by themselves', 'deflate'),
  }),

  // §7.2.1: what the service compresses is DEFLATE.
  check('websocket.deflate-server-data', {
    title: 'sends compressed messages that can be inflated',
    grounds: [rfc7692('7.2.1', 'MUST')],
    applies: [echoes],
    judge: ({ expect }) =>
      expect(deflate.deflatedEcho, deflate.contextEcho)
        .where(
          ({ serverFrames }) => serverFrames.some(({ frame }) => frame.rsv === 4),
          'the service compresses no message of its own',
        )
        .toKeep('messages that can be inflated', 'deflate'),
  }),

  // A thousand times as much memory as was sent, for everybody who asks. 1009 names the reason (RFC 6455 §7.4.1).
  check('websocket.deflate-bomb', {
    title: 'does not inflate a message of 64 KiB to 64 MiB',
    grounds: [practice('OWASP API4:2023')],
    applies: [echoes, sizesMayBeFound],
    judge: ({ expect }) =>
      expect(deflate.bomb).toConform('the end of the connection', ({ serverFrames, conversation }) => {
        if (conversation.failure !== null) return conversation.failure.message;
        const data = serverFrames.map(({ frame }) => frame).filter(({ opcode }) => opcode < 8);
        const back = data.find(({ length }) => length >= deflate.BULK_OCTETS);
        return back === undefined ? null : `a message of ${back.length} octets on the wire back`;
      }),
  }),
];

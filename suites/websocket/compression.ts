import {
  type CheckDefinition,
  type ConversationView,
  check,
  echoes,
  isControl,
  observation,
  practice,
  rfc6455,
  rfc7692,
  sizesMayBeFound,
} from '../../harness/engine/check/suite.ts';
import type { RowNotes } from '../row.ts';
import { deflateAnswer } from './handshake.ts';
import { type Conversations, ends, sendsBack } from './rows.ts';
import * as deflate from './stimuli/deflate.ts';

interface Offer extends RowNotes<'title' | 'headline' | 'restsOn'> {
  readonly section: string;
}

// §7.1: an offer with a parameter that does not exist, a value that is none, or a parameter twice is declined.
const unfitOffer = check('websocket.deflate-unfit-offer', {
  title: 'declines permessage-deflate where its parameters are wrong',
  headline: 'An offer of permessage-deflate with wrong parameters is accepted: {got}',
  why: 'Client and service may compress in different ways, and misread each other.',
  change: 'Decline an offer with an unknown, a repeated or an invalid parameter.',
  grounds: [rfc7692('7.1', 'MUST')],
  // To refuse the handshake is stricter, and no less right.
  uses: [deflate.unfitOffers],
  judge: ({ expect }) =>
    expect().toConform('no permessage-deflate', ({ opened, handshake }) =>
      opened ? (handshake?.field('sec-websocket-extensions') ?? null) : null,
    ),
});

/** Who takes an offer keeps to it; to decline it, or to take less of it than was offered, is always in order. */
const answersOffer = (
  id: string,
  probe: Conversations,
  { section, restsOn = [], ...notes }: Offer,
): CheckDefinition =>
  check(id, {
    ...notes,
    grounds: [rfc7692(section, 'MUST')],
    restsOn,
    repeats: [deflateAnswer],
    uses: [probe],
    judge: ({ expect }) => expect().toFitTheOffer(),
  });

// §7.1.1.1: who takes the offer answers with the parameter, and does without context.
const serverContext = answersOffer('websocket.deflate-server-context', deflate.serverContextOffer, {
  title: 'answers server_no_context_takeover with the same, or declines',
  headline: 'server_no_context_takeover is not answered as offered: {got}',
  why: 'The client keeps nothing of earlier messages, and cannot unpack later ones.',
  change: 'Answer with server_no_context_takeover and keep to it, or decline the offer.',
  section: '7.1.1.1',
});

// §7.1.2.1: and with a window that is no larger than the offered one.
const serverWindow = answersOffer('websocket.deflate-server-window', deflate.serverWindowOffers, {
  title: 'answers server_max_window_bits with at most as many, or declines',
  headline: 'server_max_window_bits is not answered as offered: {got}',
  why: 'The client keeps less of earlier messages than the service refers to, and cannot unpack later ones.',
  change: 'Answer with as many bits as were offered or fewer, or decline the offer.',
  section: '7.1.2.1',
});

/** Where RSV1 stands that says of a message that it is compressed. */
const MISPLACED_BIT = {
  why: 'Only the first frame of a message may say that it is compressed, so the service misreads this one.',
  change: 'Close with 1002 when RSV1 is set on a control frame or a later fragment.',
  grounds: [rfc7692('6', 'MUST')],
};

const compressesItself = ({ serverFrames }: ConversationView): boolean =>
  serverFrames.some(({ frame }) => frame.rsv === 4);
const SENDS_PLAIN = 'the service compresses no message of its own';

// §7.2.1: what the service compresses is DEFLATE.
const serverData = check('websocket.deflate-server-data', {
  title: 'sends compressed messages that can be unpacked',
  headline: 'The service sends what cannot be unpacked: {got}',
  why: 'Clients lose the message, and close the connection.',
  change: 'Compress with raw DEFLATE, flush, and leave out the last four bytes 00 00 FF FF.',
  grounds: [rfc7692('7.2.1', 'MUST')],
  applies: [echoes],
  uses: [deflate.deflatedEcho, deflate.contextEcho],
  judge: ({ expect }) =>
    expect().where(compressesItself, SENDS_PLAIN).toKeep('messages that can be inflated', 'deflate'),
});

const deflatedEcho = sendsBack('websocket.deflate-echo', deflate.deflatedEcho, {
  what: 'a compressed message',
  why: 'The service has agreed to compression and cannot read it, so every compressed message is lost.',
  change: 'Unpack a message whose first frame has RSV1 set, or decline permessage-deflate.',
  ground: rfc7692('7.2.2', 'MUST'),
  restsOn: [serverData],
});

/** permessage-deflate (RFC 7692). */
export const compressionChecks = [
  unfitOffer,

  serverContext,
  serverWindow,
  // §7.1.2.2: a window of the client is the client's to bound.
  answersOffer('websocket.deflate-client-window', deflate.clientWindowOffers, {
    title: 'answers client_max_window_bits with at most as many, or without',
    headline: 'client_max_window_bits is not answered as offered: {got}',
    why: 'Clients have to close the connection on an answer that allows more than they offered.',
    change: 'Answer with as many bits as were offered or fewer, or leave the parameter out.',
    section: '7.1.2.2',
  }),

  // §5.1: an offer is declined by leaving it out of the answer.
  check('websocket.deflate-offer-declined', {
    title: 'opens the connection, whether it takes an offer of permessage-deflate or not',
    headline: 'A handshake with a lawful offer of permessage-deflate gets {answer}',
    why: 'Clients with little memory cannot connect at all.',
    change: 'Leave an offer that you cannot keep out of the answer, and open the connection.',
    grounds: [practice('RFC 7692 §5.1: offers are declined without refusing the handshake')],
    uses: [
      deflate.commonOffers,
      deflate.serverContextOffer,
      deflate.serverWindowOffers,
      deflate.clientWindowOffers,
      deflate.severalOffers,
    ],
    judge: ({ expect }) => expect().toBeOpened(),
  }),

  // §5.1: the answer is for one of the offers, and for that one as a whole.
  answersOffer('websocket.deflate-several-offers', deflate.severalOffers, {
    title: 'answers one of several offers of permessage-deflate, or declines all',
    headline: 'The answer to several offers of permessage-deflate fits none of them: {got}',
    why: 'Clients have to close the connection, as they cannot know which offer was taken.',
    change: 'Take the first offer that you can keep, and answer its parameters and no others.',
    section: '5.1',
    restsOn: [serverContext, serverWindow],
  }),

  // §5: the first offer that is acceptable should be taken.
  observation('websocket.deflate-fallback', {
    title: 'accepts the second offer of permessage-deflate where the first is wrong, or declines both',
    why: 'Clients list several offers in the order that they prefer.',
    grounds: [rfc7692('5', 'MAY')],
    uses: [deflate.fallbackOffer],
    async observe({ probe }) {
      const [conversation] = await probe(deflate.fallbackOffer);
      if (!conversation?.opened)
        return { seen: conversation?.status ?? null, note: `status ${conversation?.status ?? 'none'}` };
      const taken = conversation.handshake?.field('sec-websocket-extensions') ?? null;
      return { seen: taken, note: taken ?? 'declined' };
    },
  }),

  ends('websocket.deflate-reserved-bit-on-control', deflate.reservedBitOnControl, {
    after: 'a Ping that is marked as compressed (RSV1)',
    ...MISPLACED_BIT,
  }),
  ends('websocket.deflate-reserved-bit-on-continuation', deflate.reservedBitOnContinuation, {
    after: 'a second fragment that is marked as compressed (RSV1)',
    ...MISPLACED_BIT,
  }),
  ends('websocket.deflate-bad-data', deflate.badData, {
    after: 'a compressed message that cannot be unpacked',
    why: 'The application gets half a message or none, and nobody hears of it.',
    change: 'Close with 1007 when a message cannot be unpacked.',
    grounds: [rfc7692('7.2.2', 'MUST')],
  }),

  // RFC 6455 §8.1: text is UTF-8, compressed or not.
  ends('websocket.deflate-bad-utf8', deflate.badUtf8, {
    after: 'compressed text that is not UTF-8',
    why: 'Broken text gets into your data, and fails wherever it is read next.',
    change: 'Check that a text message is UTF-8 after it was unpacked, and close with 1007 when it is not.',
    grounds: [rfc6455('8.1', 'MUST')],
  }),

  deflatedEcho,
  // §6: a message without RSV1 is not compressed, whatever was agreed on.
  sendsBack('websocket.deflate-plain', deflate.plainEcho, {
    what: 'an uncompressed message where others are compressed',
    why: 'Clients leave short messages uncompressed.',
    change: 'Unpack a message only where its first frame has RSV1 set.',
    ground: rfc7692('6', 'MUST'),
    restsOn: [serverData],
  }),
  // §7.2.3.6: an empty message is one octet of compressed data.
  sendsBack('websocket.deflate-empty', deflate.emptyEcho, {
    what: 'an empty compressed message',
    why: 'A client may compress an empty message as well.',
    change: 'Take a compressed message of the one byte 00 for an empty message.',
    ground: rfc7692('7.2.3.6', 'MUST'),
    restsOn: [serverData, deflatedEcho],
  }),
  // §7.2.3.1: it is the message that is compressed, and not its fragments.
  sendsBack('websocket.deflate-fragments', deflate.fragmentedEcho, {
    what: 'a compressed message in fragments',
    why: 'Long compressed messages come in several frames.',
    change: 'Join the fragments first, and then unpack the whole.',
    ground: rfc7692('7.2.3.1', 'MUST'),
    restsOn: [serverData, deflatedEcho],
  }),
  sendsBack('websocket.deflate-around-ping', deflate.echoAroundPing, {
    what: 'a compressed message around a Ping',
    why: 'A client may ping in the middle of a long message.',
    change: 'Answer the Ping, and leave it out of what you unpack.',
    ground: rfc7692('6.1', 'MUST'),
    restsOn: [serverData, deflatedEcho],
  }),
  sendsBack('websocket.deflate-around-pong', deflate.echoAroundPong, {
    what: 'a compressed message around a Pong',
    why: 'Some clients send Pongs to keep the connection alive, also in the middle of a long message.',
    change: 'Ignore the Pong, and leave it out of what you unpack.',
    ground: rfc7692('6.1', 'MUST'),
    restsOn: [serverData, deflatedEcho],
  }),
  // §7.2.3.2: as long as client_no_context_takeover was not agreed on.
  sendsBack('websocket.deflate-context', deflate.contextEcho, {
    what: 'a compressed message that refers to the one before',
    why: 'Clients refer to earlier messages, unless the service has asked them not to.',
    change: 'Keep the window from one message to the next, or answer with client_no_context_takeover.',
    ground: rfc7692('7.1.1.2', 'MUST'),
    restsOn: [serverData, deflatedEcho],
  }),
  // §7.2.3.4: BFINAL is of no consequence.
  sendsBack('websocket.deflate-final-block', deflate.finalBlockEcho, {
    what: 'a compressed message marked as the last block',
    why: 'Some libraries mark the end of each message like this.',
    change: 'Go on unpacking after a block that has the final bit.',
    ground: rfc7692('7.2.3.4', 'MUST'),
    restsOn: [serverData, deflatedEcho],
  }),

  // §7.1.1.1: what was agreed on is kept: the second message can be inflated without the first.
  check('websocket.deflate-without-context', {
    title: 'compresses each message by itself after agreeing to server_no_context_takeover',
    headline: 'A message refers to earlier ones, against the agreement: {got}',
    why: 'A client that keeps nothing of earlier messages loses this one.',
    change: 'Reset the compression after each message.',
    grounds: [rfc7692('7.1.1.1', 'MUST')],
    applies: [echoes],
    restsOn: [serverData],
    uses: [deflate.withoutContextEcho],
    judge: ({ expect }) =>
      expect()
        .where(({ isCompressing }) => isCompressing, 'the offer without context is declined')
        .where(compressesItself, SENDS_PLAIN)
        .toKeep('messages that can be inflated by themselves', 'deflate'),
  }),

  // §7.1.2.1: and so is the window: no distance is longer.
  check('websocket.deflate-window-kept', {
    title: 'refers no further back than the window of server_max_window_bits that it has agreed to',
    headline: 'A message refers to what lies beyond the agreed window: {got}',
    why: 'A client that keeps no more than the window loses this message.',
    change: 'Compress with the window that you have agreed to, or decline the offer.',
    grounds: [rfc7692('7.1.2.1', 'MUST')],
    applies: [echoes],
    restsOn: [serverData],
    uses: [deflate.smallWindowEcho],
    judge: ({ expect }) =>
      expect()
        .where(({ isCompressing }) => isCompressing, 'the offer of a small window is declined')
        .where(compressesItself, SENDS_PLAIN)
        .toKeep('messages that can be inflated in the agreed window', 'deflate'),
  }),

  serverData,

  // A thousand times as much memory as was sent, for everybody who asks. 1009 names the reason (RFC 6455 §7.4.1).
  check('websocket.deflate-bomb', {
    title: 'does not unpack a message of 64 KiB to 64 MiB',
    headline: 'A message of 64 KiB is unpacked to 64 MiB: {got}',
    why: 'A few small messages are enough to use up the memory of the server.',
    change: 'Limit the size of a message while you unpack it, and close with 1009 beyond it.',
    grounds: [practice('OWASP API4:2023')],
    applies: [echoes, sizesMayBeFound],
    uses: [deflate.bomb],
    async judge({ probe, expect, blocked }) {
      await expect().toConform('the end of the connection', ({ serverFrames, conversation }) => {
        if (conversation.failure !== null) return conversation.failure.message;
        const data = serverFrames.map(({ frame }) => frame).filter(({ opcode }) => !isControl(opcode));
        const back = data.find(({ length }) => length >= deflate.BULK_OCTETS);
        return back === undefined ? null : `a message of ${back.length} octets on the wire back`;
      });
      // Messages are dealt with one after another: who has answered the Close has dealt with this one.
      if (!(await probe(deflate.bomb)).isOver) {
        blocked('the service was not done with the message in time: the Close behind it is not answered');
      }
    },
  }),
];

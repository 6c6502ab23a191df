import { check, echoes, practice, rfc6455 } from '../../harness/engine/check/suite.ts';
import { reservedBitsCode } from './frames.ts';
import { ends } from './rows.ts';
import { textEcho } from './stimuli/echo.ts';
import * as frames from './stimuli/frames.ts';
import { kept } from './stimuli/ordinary-client.ts';
import { everyConversation } from './stimuli/record.ts';
import * as lawful from './stimuli/side-by-side.ts';

// §5.5.1: and at once.
const tcpClosed = check('websocket.tcp-closed', {
  title: 'ends the TCP connection once both sides have closed',
  headline: 'The TCP connection does not end once both sides have closed: {got}',
  why: 'Clients wait for the server to end it first, and connections pile up.',
  change: 'Close the socket as soon as both Close frames are through.',
  grounds: [rfc6455('5.5.1', 'MUST')],
  uses: [kept],
  judge: ({ expect }) =>
    expect()
      .where(({ isOver }) => isOver, 'the Close was not answered')
      .toConform('the end of TCP', ({ ended, afterwards }) => (ended === null ? afterwards : null)),
});

/** The closing handshake (RFC 6455 §5.5.1, §7). How TCP ends, orderly or with a reset, is no matter. */
export const closingChecks = [
  check('websocket.close-answered', {
    title: 'answers a Close with a Close',
    headline: 'A Close is not answered with a Close: {got}',
    why: 'A client cannot tell a clean end from a lost connection.',
    change: 'Answer a Close frame with a Close frame before you end the connection.',
    grounds: [rfc6455('5.5.1', 'MUST')],
    waits: [lawful.closes],
    uses: [kept, lawful.closes],
    judge: ({ expect }) =>
      expect().toConform('a Close frame', ({ serverClose, ended, afterwards }) => {
        // A reset may have overtaken it.
        if (serverClose !== null || ended?.how === 'reset') return null;
        return ended === null ? afterwards : 'the end of TCP';
      }),
  }),

  // §5.5.1: typically with the code that it received; 1000 says no less.
  check('websocket.close-code-echoed', {
    title: 'answers a Close with its code, with 1000 or with none',
    headline: 'A Close is answered with the code {got}',
    why: 'A client takes its own clean end for an error.',
    change: 'Answer with the code that came, or with 1000.',
    grounds: [rfc6455('5.5.1', 'MAY'), practice('a Close is answered with its code')],
    uses: [kept, lawful.closes],
    judge: ({ expect }) =>
      expect().toConform('the same close code, 1000 or none', ({ lawfulCloseCode: code, clientClose }) =>
        code === null || code === 1000 || code === clientClose?.code ? null : String(code),
      ),
  }),

  tcpClosed,

  // §7.1.7: to fail a connection is to close it; the answer to the Close is no condition.
  check('websocket.unanswered-close', {
    title: 'ends the TCP connection after a Close that the client does not answer',
    headline: 'A connection whose client does not answer a Close stays open: {got}',
    why: 'Clients that are broken or gone keep their connections, until there is room for no others.',
    change: 'Close the socket some seconds after your own Close, whether it was answered or not.',
    grounds: [rfc6455('7.1.7', 'SHOULD')],
    restsOn: [tcpClosed],
    waits: [frames.unansweredClose],
    uses: [frames.unansweredClose],
    judge: ({ expect }) =>
      expect()
        .where(({ isOver }) => isOver, 'the service sends no Close by itself')
        .toConform('the end of TCP', ({ ended, afterwards }) => (ended === null ? afterwards : null)),
  }),

  // Nothing more can come from a client whose side has ended, not even an answer to a Close.
  check('websocket.half-closed', {
    title: 'ends the TCP connection once the client has ended its side',
    headline: 'The TCP connection does not end once the client has ended its side: {got}',
    why: 'Connections of clients that are gone pile up.',
    change: 'Close the socket when its client has ended its side (FIN).',
    grounds: [practice('connections whose client has left are let go')],
    restsOn: [tcpClosed],
    waits: [lawful.halfClosed],
    uses: [lawful.halfClosed],
    judge: ({ expect }) =>
      expect().toConform('the end of TCP', ({ ended, afterwards }) => (ended === null ? afterwards : null)),
  }),

  // §5.4: control frames may come within a message, and the Close is one.
  ends('websocket.close-within-message', lawful.closeWithinMessage, {
    after: 'a Close between the fragments of a message',
    why: 'A client that leaves in the middle of a long message is kept, and so is what it has sent.',
    change: 'Answer a Close at once, and forget the message that is not finished.',
    grounds: [rfc6455('5.4', 'MUST')],
  }),

  // §5.5.1: a payload is empty, or begins with a code of two octets.
  ends('websocket.one-octet-close', frames.oneOctetClose, {
    after: 'a Close with a payload of one byte',
    why: 'The client believes that it has closed, and waits for the connection to end.',
    change: 'Treat it as a protocol error: answer with 1002, and end the connection.',
    grounds: [rfc6455('5.5.1', 'MUST')],
  }),

  // §8.1: text that is not UTF-8 fails the connection, that of a Close as well. To answer it like a right one is not to fail.
  check('websocket.bad-close-reason', {
    title: 'fails the connection after a Close whose reason is not UTF-8',
    headline: 'A Close whose reason is not UTF-8 is not taken for an error: {got}',
    why: 'The client believes that all is well, and the broken text may get into your logs.',
    change: 'Check that the reason is UTF-8, answer with 1007 when it is not, and end the connection.',
    grounds: [rfc6455('8.1', 'MUST')],
    waits: [frames.badReasonClose],
    uses: [frames.badReasonClose],
    async judge({ expect }) {
      await expect().toEnd();
      // A code for another error has failed the connection as well.
      await expect().toConform('a code for an error, or none', ({ closeCode }) =>
        closeCode === frames.BAD_REASON_CODE ? `${closeCode}, as to a right Close` : null,
      );
    },
  }),

  // §7.1.7, §7.4.1: such a Close is a protocol error.
  check('websocket.bad-close-code', {
    title: 'answers a malformed Close with 1002, 1007 or no code',
    headline: 'A malformed Close is answered with the code {got}',
    why: 'A client with a fault never hears of it.',
    change: 'Check the length and the code of a Close, and answer 1002 when they are wrong.',
    grounds: [rfc6455('7.1.7', 'SHOULD')],
    repeats: [reservedBitsCode],
    waits: [frames.oneOctetClose, frames.forbiddenCodes],
    uses: [frames.oneOctetClose, frames.forbiddenCodes],
    judge: ({ expect }) => expect().toCloseWith(1002, 1007),
  }),

  // §7.4.2: below 3000 there are codes of the protocol alone, and these are none.
  check('websocket.unassigned-close-codes', {
    title: 'answers a Close with a code that is not assigned with 1002 or no code',
    headline: 'A Close with a code that is not assigned is answered with the code {got}',
    why: 'A client with a fault never hears of it.',
    change: 'Answer 1002 to the codes below 3000 that are not in the registry.',
    grounds: [rfc6455('7.4.2', 'SHOULD')],
    repeats: [reservedBitsCode],
    waits: [frames.unassignedCodes],
    uses: [frames.unassignedCodes],
    judge: ({ expect }) => expect().toCloseWith(1002, 1007),
  }),

  // §7.4.1, §7.4.2: 1005, 1006 and 1015 stand for something else than a Close frame; below 1000 there are no codes.
  check('websocket.forbidden-close-codes', {
    title: 'never sends a close code that must not be sent',
    headline: 'The service sends a close code that must not be sent: {got}',
    why: 'Clients take the Close itself for an error.',
    change: 'Send 1000 or another code that may be sent, or a Close without a code.',
    grounds: [rfc6455('7.4.1', 'MUST'), rfc6455('7.4.2', 'MUST')],
    uses: [frames.forbiddenCodes, everyConversation],
    async judge({ probe, expect }) {
      await probe(frames.forbiddenCodes);
      await expect(everyConversation).toKeep('a close code of §7.4', 'close-code');
    },
  }),

  // §5.5.1: empty, or a code and a reason in UTF-8. Where we sent another one ourselves, it may have come back.
  check('websocket.server-close-payload', {
    title: 'sends Close frames whose payload is empty, or a code and a reason in UTF-8',
    headline: 'The payload of a Close frame is malformed: {got}',
    why: 'Clients cannot read why the connection ends, and report an error.',
    change: 'Send an empty payload, or two bytes of code and then a reason in UTF-8.',
    grounds: [rfc6455('5.5.1', 'MUST')],
    uses: [everyConversation],
    judge: ({ expect }) =>
      expect()
        .where(({ isSaidInUtf8 }) => isSaidInUtf8)
        .toKeep('an empty payload, or a code and a reason in UTF-8', 'close-payload'),
  }),

  check('websocket.silent-after-close', {
    title: 'sends no data after its Close',
    headline: 'Data follows the Close of the service: {got}',
    why: 'Clients do not read what comes after a Close, so it is lost.',
    change: 'Send what is waiting before the Close frame, and nothing after it.',
    grounds: [rfc6455('5.5.1', 'MUST')],
    uses: [everyConversation],
    judge: ({ expect }) => expect().toKeep('no data frame after the Close', 'after-close'),
  }),

  // §5.5.1: after a Close no data follows; whatever does is not looked at.
  check('websocket.message-after-close', {
    title: 'does not act on a message that follows a Close',
    headline: 'A message that follows a Close is still answered',
    why: 'After a Close a client expects that nothing more takes effect.',
    change: 'Read no more messages once a Close has come.',
    grounds: [rfc6455('5.5.1', 'MUST')],
    applies: [echoes],
    waits: [frames.messageAfterClose],
    uses: [textEcho, frames.messageAfterClose],
    async judge({ probe, expect, notApplicable }) {
      const { echoes: twins } = await probe(textEcho);
      if (!twins.every(({ isSame }) => isSame)) notApplicable('messages are not sent back anyway');
      await expect(frames.messageAfterClose).toConform('no answer to it', ({ messages }) =>
        messages.some(({ text }) => text === frames.LATE) ? 'the message back' : null,
      );
    },
  }),
];

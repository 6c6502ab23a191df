import { check } from '../../harness/check/check.ts';
import { echoes, hasWebSocket } from '../../harness/check/requirement.ts';
import { practice, rfc6455 } from '../../harness/contract/ground.ts';
import { mayBeSent } from '../../harness/evidence/frame.ts';
import * as closing from '../../harness/probe/websocket/closing.ts';
import { textEcho } from '../../harness/probe/websocket/echo.ts';
import { everyConversation } from '../../harness/probe/websocket/gathered.ts';
import { kept } from '../../harness/probe/websocket/websocket.ts';

const applies = [hasWebSocket];

/** The closing handshake (RFC 6455 §5.5.1, §7). How TCP ends, orderly or with a reset, is no matter. */
export const closingChecks = [
  // §5.5.1: who receives a Close and has sent none answers it.
  check(
    'websocket.close-answered',
    {
      title: 'answers a Close with a Close',
      grounds: [rfc6455('5.5.1', 'MUST')],
      applies,
      provenBy: ['ws-no-close-echo'],
    },
    async ({ probe, expectConversation }) => {
      const conversations = [await probe(kept), ...(await probe(closing.closes))];
      expectConversation(...conversations).toConform(
        'a Close frame',
        ({ serverClose, ended, afterwards }) => {
          // A reset may have overtaken it.
          if (serverClose !== null || ended?.how === 'reset') return null;
          return ended === null ? afterwards : 'the end of TCP';
        },
      );
    },
  ),

  // §5.5.1: typically with the code that it received; 1000 says no less.
  check(
    'websocket.close-code-echoed',
    {
      title: 'answers a Close with its code, with 1000 or with none',
      grounds: [rfc6455('5.5.1', 'MAY'), practice('a Close is answered with its code')],
      applies,
      provenBy: ['ws-answers-close-with-other-code'],
    },
    async ({ probe, expectConversation }) => {
      const conversations = [await probe(kept), ...(await probe(closing.closes))];
      expectConversation(...conversations).toConform('the same close code, 1000 or none', (conversation) => {
        const { closeCode, clientClose } = conversation;
        const isSame = closeCode === null || closeCode === 1000 || closeCode === clientClose?.code;
        // One that must not be on the wire at all is a finding of its own.
        return isSame || !mayBeSent(closeCode) ? null : String(closeCode);
      });
    },
  ),

  // §5.5.1: once both have sent a Close, the server closes TCP, and at once.
  check(
    'websocket.tcp-closed',
    {
      title: 'closes the TCP connection after the closing handshake',
      grounds: [rfc6455('5.5.1', 'MUST')],
      applies,
      provenBy: ['ws-keeps-tcp-open'],
    },
    async ({ probe, expectConversation, notApplicable }) => {
      const conversation = await probe(kept);
      if (conversation.serverClose === null && conversation.ended === null)
        return notApplicable('the Close was not answered');
      expectConversation(conversation).toConform('the end of TCP', ({ ended, afterwards }) =>
        ended === null ? afterwards : null,
      );
    },
  ),

  // §5.5.1: a payload is empty, or begins with a code of two octets.
  check(
    'websocket.one-octet-close',
    {
      title: 'ends the connection upon a Close with a payload of one octet',
      grounds: [rfc6455('5.5.1', 'MUST')],
      applies,
      provenBy: ['ws-ignores-malformed-close'],
    },
    async ({ probe, expectConversation }) => {
      expectConversation(...(await probe(closing.oneOctetClose))).toEnd();
    },
  ),

  // §5.5.1, §8.1: the reason is UTF-8.
  check(
    'websocket.bad-close-reason',
    {
      title: 'ends the connection upon a Close whose reason is not UTF-8',
      grounds: [rfc6455('8.1', 'MUST')],
      applies,
      provenBy: ['ws-ignores-malformed-close'],
    },
    async ({ probe, expectConversation }) => {
      expectConversation(...(await probe(closing.badReasonClose))).toEnd();
    },
  ),

  // §7.1.7, §7.4.1: such a Close is a protocol error, or payload data that is no text.
  check(
    'websocket.bad-close-code',
    {
      title: 'names 1002 or 1007 where it answers a malformed Close',
      grounds: [rfc6455('7.1.7', 'SHOULD')],
      applies,
      provenBy: ['ws-accepts-bad-close-payload'],
    },
    async ({ probe, expectConversation }) => {
      const conversations = [
        ...(await probe(closing.oneOctetClose)),
        ...(await probe(closing.badReasonClose)),
        ...(await probe(closing.forbiddenCodes)),
      ];
      expectConversation(...conversations).toCloseWith(1002, 1007);
    },
  ),

  // §7.4.1, §7.4.2: 1005, 1006 and 1015 stand for something else than a Close frame; below 1000 there are no codes.
  check(
    'websocket.forbidden-close-codes',
    {
      title: 'never sends a close code that must not be on the wire',
      grounds: [rfc6455('7.4.1', 'MUST'), rfc6455('7.4.2', 'MUST')],
      applies,
      provenBy: ['ws-sends-1005'],
    },
    async ({ probe, expectConversation }) => {
      await probe(closing.forbiddenCodes);
      expectConversation(...(await probe(everyConversation))).toKeep('a close code of §7.4', 'close-code');
    },
  ),

  // §5.5.1: empty, or a code and a reason in UTF-8.
  check(
    'websocket.server-close-payload',
    {
      title: 'sends Close frames whose payload is empty, or a code and a reason in UTF-8',
      grounds: [rfc6455('5.5.1', 'MUST')],
      applies,
      provenBy: ['ws-sends-malformed-close'],
    },
    async ({ probe, expectConversation }) => {
      expectConversation(...(await probe(everyConversation))).toKeep(
        'an empty payload, or a code and a reason in UTF-8',
        'close-payload',
      );
    },
  ),

  // RFC 6455 §5.5.1, §1.4: after its Close a side sends nothing more.
  check(
    'websocket.silent-after-close',
    {
      title: 'sends nothing after its Close',
      grounds: [rfc6455('5.5.1', 'MUST')],
      applies,
      provenBy: ['ws-sends-after-close'],
    },
    async ({ probe, expectConversation }) => {
      expectConversation(...(await probe(everyConversation))).toKeep(
        'no frame after the Close',
        'after-close',
      );
    },
  ),

  // §5.5.1: after a Close no data follows; whatever does is not looked at.
  check(
    'websocket.message-after-close',
    {
      title: 'does not act on a message that follows a Close',
      grounds: [rfc6455('5.5.1', 'MUST')],
      applies: [hasWebSocket, echoes],
      provenBy: ['ws-answers-after-close'],
    },
    async ({ probe, expectConversation, notApplicable }) => {
      const twin = await probe(textEcho);
      if (!twin.echoes.every(({ isSame }) => isSame))
        return notApplicable('messages are not sent back anyway');
      expectConversation(await probe(closing.messageAfterClose)).toConform(
        'no answer to it',
        ({ messages }) => (messages.some(({ text }) => text === closing.LATE) ? 'the message back' : null),
      );
    },
  ),
];

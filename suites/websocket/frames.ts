import {
  type CheckDefinition,
  type ConversationView,
  check,
  type FrameRule,
  observation,
  type Probe,
  practice,
  rfc3629,
  rfc6455,
} from '../../harness/check/suite.ts';
import { everyConversation, failures } from '../../harness/probe/websocket/every-conversation.ts';
import * as frames from '../../harness/probe/websocket/frames.ts';
import * as websocket from '../../harness/probe/websocket/ordinary-client.ts';
import { ends } from './rows.ts';

/** Close codes of RFC 6455 §7.4.1 for what went wrong. */
const PROTOCOL_ERROR = 1002;
const INVALID_PAYLOAD = 1007;
const TOO_BIG = 1009;

interface Named {
  readonly id: string;
  readonly codes: readonly number[];
  /** Completes "names … where it closes upon …". */
  readonly upon: string;
  readonly probes: readonly Probe<readonly ConversationView[]>[];
}

/**
 * §7.1.7: with an appropriate code of §7.4.1, where a Close frame tells one. An endpoint that takes no messages says so
 * to each of them, before it looks at what is wrong with one.
 */
const namesCode = ({ id, codes, upon, probes }: Named): CheckDefinition =>
  check(id, {
    title: `names ${codes.join(' or ')} where it closes upon ${upon}`,
    grounds: [rfc6455('7.1.7', 'SHOULD')],
    async judge({ probe, expect }) {
      const { unaskedEnd } = await probe(websocket.lawfulMessage);
      await expect(...probes).toCloseWith(...codes, ...[unaskedEnd?.code ?? []].flat());
    },
  });

const TAKES_NONE = 'the endpoint ends the connection upon a lawful message, too';

interface Sent {
  readonly id: string;
  /** Completes "sends …". */
  readonly what: string;
  readonly section: string;
  readonly rules: readonly FrameRule[];
}

/** Whatever the service sent in any conversation. */
const sends = ({ id, what, section, rules }: Sent): CheckDefinition =>
  check(id, {
    title: `sends ${what}`,
    grounds: [rfc6455(section, 'MUST')],
    judge: ({ expect }) => expect(everyConversation).toKeep(what, ...rules),
  });

/**
 * Frames (RFC 6455 §5). What the client sends wrong must end the connection; with which close code is a second
 * question, and to send no Close frame at all is lawful.
 */
export const frameChecks = [
  // §5.1: the server closes the connection upon a frame that is not masked.
  ends({
    id: 'websocket.unmasked',
    upon: 'a frame that is not masked',
    grounds: [rfc6455('5.1', 'MUST')],
    probe: frames.unmasked,
  }),
  // §5.1: the server may tell 1002 in a Close frame.
  observation('websocket.unmasked-code', {
    title: 'closes upon a frame that is not masked with some code',
    grounds: [rfc6455('5.1', 'MAY')],
    async observe({ probe }) {
      const code = (await probe(frames.unmasked))[0]?.closeCode ?? null;
      return { seen: code, note: code === null ? 'no code' : `the close code ${code}` };
    },
  }),

  // §5.2: a reserved bit that no negotiated extension gives a meaning fails the connection.
  ends({
    id: 'websocket.reserved-bits',
    upon: 'a message with a reserved bit',
    grounds: [rfc6455('5.2', 'MUST')],
    probe: frames.reservedBits,
  }),
  ends({
    id: 'websocket.reserved-bit-on-ping',
    upon: 'a Ping with a reserved bit',
    grounds: [rfc6455('5.2', 'MUST')],
    probe: frames.reservedBitOnPing,
  }),
  namesCode({
    id: 'websocket.reserved-bits-code',
    codes: [PROTOCOL_ERROR],
    upon: 'a reserved bit',
    probes: [frames.reservedBits, frames.reservedBitOnPing],
  }),

  // §5.2: so does an opcode that nobody has defined.
  ends({
    id: 'websocket.reserved-data-opcode',
    upon: 'a reserved opcode of data frames',
    grounds: [rfc6455('5.2', 'MUST')],
    probe: frames.reservedDataOpcodes,
  }),
  ends({
    id: 'websocket.reserved-control-opcode',
    upon: 'a reserved opcode of control frames',
    grounds: [rfc6455('5.2', 'MUST')],
    probe: frames.reservedControlOpcodes,
  }),
  namesCode({
    id: 'websocket.reserved-opcode-code',
    codes: [PROTOCOL_ERROR],
    upon: 'a reserved opcode',
    probes: [frames.reservedDataOpcodes, frames.reservedControlOpcodes],
  }),

  // §5.5.3: of several Pings the latest must be answered, the others may be.
  check('websocket.ping-burst', {
    title: 'answers at least the last of ten Pings at once',
    grounds: [rfc6455('5.5.3', 'MUST')],
    judge: ({ expect }) =>
      expect(websocket.pingBurst).toConform('a Pong for the last Ping', (conversation) => {
        const last = conversation.clientFrames.findLast(({ frame }) => frame.opcode === 0x9);
        const isAnswered = last !== undefined && !conversation.unansweredPings.includes(last);
        return isAnswered ? null : `${conversation.pongs.length} others`;
      }),
  }),

  // §5.5: control frames have at most 125 octets and are not fragmented.
  ends({
    id: 'websocket.fragmented-ping',
    upon: 'a Ping in fragments',
    grounds: [rfc6455('5.5', 'MUST')],
    probe: frames.fragmentedPing,
  }),
  ends({
    id: 'websocket.overlong-ping',
    upon: 'a Ping of 126 octets',
    grounds: [rfc6455('5.5', 'MUST')],
    probe: frames.overlongPing,
  }),
  namesCode({
    id: 'websocket.control-frame-code',
    codes: [PROTOCOL_ERROR, TOO_BIG],
    upon: 'a control frame that is fragmented or too long',
    probes: [frames.fragmentedPing, frames.overlongPing],
  }),

  // §5.4: a fragmented message begins with an opcode and goes on with continuation frames.
  ends({
    id: 'websocket.stray-continuation',
    upon: 'a continuation of nothing',
    grounds: [rfc6455('5.4', 'MUST')],
    probe: frames.strayContinuation,
  }),
  // §5.4: the fragments of one message do not come between those of another.
  ends({
    id: 'websocket.interleaved-message',
    upon: 'a message within another',
    grounds: [rfc6455('5.4', 'MUST')],
    probe: frames.interleaved,
  }),
  namesCode({
    id: 'websocket.fragmentation-code',
    codes: [PROTOCOL_ERROR],
    upon: 'fragments that do not fit together',
    probes: [frames.strayContinuation, frames.interleaved],
  }),

  // §8.1: what is to be UTF-8 and is not fails the connection; overlong forms and surrogates are none (RFC 3629 §3).
  ends({
    id: 'websocket.bad-utf8',
    upon: 'text that is not UTF-8',
    grounds: [rfc6455('8.1', 'MUST'), rfc3629('3', 'MUST')],
    probe: frames.badUtf8,
  }),
  ends({
    id: 'websocket.bad-utf8-in-fragments',
    upon: 'text that is not UTF-8 once its fragments are joined',
    grounds: [rfc6455('8.1', 'MUST')],
    probe: frames.badUtf8InFragments,
  }),
  namesCode({
    id: 'websocket.bad-utf8-code',
    codes: [INVALID_PAYLOAD],
    upon: 'text that is not UTF-8',
    probes: [frames.badUtf8, frames.badUtf8InFragments],
  }),

  // §7.1.7: an endpoint that fails an open connection sends a Close frame first. A reset may have destroyed it.
  check('websocket.failure-announced', {
    title: 'sends a Close frame before it ends TCP over a bad frame',
    grounds: [rfc6455('7.1.7', 'SHOULD')],
    async judge({ probe, expect, notApplicable }) {
      const { unaskedEnd, serverClose } = await probe(websocket.lawfulMessage);
      if (unaskedEnd !== null && serverClose === null) notApplicable(TAKES_NONE);
      await expect(failures).toConform('a Close frame', ({ serverClose: close, ended }) =>
        close === null && ended?.how === 'end' ? 'the end of TCP' : null,
      );
    },
  }),

  // §5.5.2, §5.5.3: a Pong with the Application data of the Ping.
  check('websocket.ping', {
    title: 'answers a Ping with a Pong of the same payload',
    grounds: [rfc6455('5.5.2', 'MUST'), rfc6455('5.5.3', 'MUST')],
    judge: ({ expect }) => expect(websocket.kept).toAnswerPings(),
  }),

  // §5.4: control frames may come between the fragments of a message; §5.5.2: as soon as is practical.
  check('websocket.ping-between-fragments', {
    title: 'answers a Ping that comes between the fragments of a message',
    grounds: [rfc6455('5.4', 'MUST')],
    async judge({ probe, expect, notApplicable }) {
      if ((await probe(websocket.lawfulMessage)).unaskedEnd !== null) notApplicable(TAKES_NONE);
      await expect(websocket.pingBetweenFragments).toAnswerPings();
    },
  }),

  // §5.5.3: a Pong may be sent unasked, as a heartbeat; nobody answers it.
  check('websocket.unsolicited-pong', {
    title: 'takes a Pong that it did not ask for',
    grounds: [rfc6455('5.5.3', 'MAY'), practice('lawful frames are taken')],
    judge: ({ expect }) =>
      expect(websocket.unsolicitedPong).toConform(
        'the connection to go on',
        ({ unansweredPings, serverClose, ended }) => {
          if (unansweredPings.length === 0) return null;
          if (serverClose !== null) return `the close code ${serverClose.code ?? 'none'}`;
          return ended === null ? 'no Pong to a later Ping' : 'the end of TCP';
        },
      ),
  }),

  // §5.1: a server never masks.
  sends({ id: 'websocket.server-unmasked', what: 'unmasked frames', section: '5.1', rules: ['masking'] }),
  // §5.2: the fewest octets that hold the length.
  sends({
    id: 'websocket.server-lengths',
    what: 'lengths in the fewest octets',
    section: '5.2',
    rules: ['length'],
  }),
  // §5.2: no reserved bit and no reserved opcode without an extension that defines it.
  sends({
    id: 'websocket.server-reserved',
    what: 'no reserved bits or opcodes',
    section: '5.2',
    rules: ['reserved-bits', 'opcode'],
  }),
  // §5.5: at most 125 octets, in one piece.
  sends({
    id: 'websocket.server-control-frames',
    what: 'control frames of at most 125 octets',
    section: '5.5',
    rules: ['control'],
  }),
  // §5.4: a message begins with an opcode and goes on with continuations, until it is whole.
  sends({
    id: 'websocket.server-fragments',
    what: 'fragments in order',
    section: '5.4',
    rules: ['fragmentation'],
  }),
  // §8.1: what is sent as text is UTF-8.
  sends({ id: 'websocket.server-utf8', what: 'text in UTF-8', section: '8.1', rules: ['utf8'] }),
];

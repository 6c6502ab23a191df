import {
  type CheckDefinition,
  type ConversationView,
  check,
  type FrameRule,
  numberOf,
  OPCODE,
  observation,
  type Probe,
  practice,
  rfc3629,
  rfc6455,
} from '../../harness/engine/check/suite.ts';
import type { RowNotes } from '../row.ts';
import { ends } from './rows.ts';
import * as frames from './stimuli/frames.ts';
import * as websocket from './stimuli/ordinary-client.ts';
import { everyConversation } from './stimuli/record.ts';
import * as lawful from './stimuli/side-by-side.ts';

/** Close codes of RFC 6455 §7.4.1 for what went wrong. */
const PROTOCOL_ERROR = 1002;
const INVALID_PAYLOAD = 1007;
export const TOO_BIG = 1009;

/** Faults of a client that several checks judge. */
const UNKNOWN_BIT = {
  why: 'The bit means something to the client, compression for example, so the service misreads the frame.',
  change: 'Close with 1002 when a bit is set that no agreed extension uses.',
  grounds: [rfc6455('5.2', 'MUST')],
};
const UNKNOWN_OPCODE = {
  why: 'The service guesses what a frame means that has no meaning yet.',
  change: 'Close with 1002 on the opcodes 3 to 7 and 11 to 15.',
  grounds: [rfc6455('5.2', 'MUST')],
};
const UNLAWFUL_CONTROL = {
  why: 'A control frame without bounds holds up the messages behind it.',
  change: 'Close with 1002 when a control frame is fragmented or longer than 125 bytes.',
  grounds: [rfc6455('5.5', 'MUST')],
};
const STRAY_FRAGMENT = {
  why: 'Pieces of different messages are joined, and the application gets wrong data.',
  change: 'Keep track of the message that is open, and close with 1002 on a frame that does not fit.',
  grounds: [rfc6455('5.4', 'MUST')],
};
const NO_UTF8 = {
  why: 'Broken text gets into your data, and fails wherever it is read next.',
  change: 'Check that a text message is UTF-8 as a whole, and close with 1007 when it is not.',
};

interface Named extends Partial<Pick<CheckDefinition, 'repeats'>> {
  readonly codes: readonly number[];
  /** Completes "closes with 1002 after …". */
  readonly after: string;
}

/** §7.1.7: any code of §7.4.1 that fits, or none. An endpoint that takes no messages says so to each, also to bad ones. */
const namesCode = (
  id: string,
  probes: readonly Probe<readonly ConversationView[]>[],
  { codes, after, repeats = [reservedBitsCode] }: Named,
): CheckDefinition =>
  check(id, {
    title: `closes with ${codes.join(' or ')} after ${after}, or without a code`,
    headline: `The close code after ${after} is {got}`,
    why: 'From the code a client learns whose fault it was, and whether to come back.',
    change: `Close with ${codes.join(' or ')} after ${after}.`,
    grounds: [rfc6455('7.1.7', 'SHOULD')],
    repeats,
    uses: [lawful.lawfulMessage, ...probes],
    async judge({ probe, expect }) {
      const { unaskedEnd } = await probe(lawful.lawfulMessage);
      await expect(...probes).toCloseWith(...codes, ...[unaskedEnd?.code ?? []].flat());
    },
  });

const TAKES_NONE = 'the endpoint closes the connection after a lawful message, too';

interface Sent extends RowNotes<'headline'> {
  /** Completes "sends …". */
  readonly what: string;
  readonly section: string;
  readonly among?: (conversation: ConversationView) => boolean;
}

/** Whatever the service sent in any conversation. */
const sends = (
  id: string,
  rules: readonly FrameRule[],
  { what, section, among = () => true, ...notes }: Sent,
): CheckDefinition =>
  check(id, {
    ...notes,
    title: `sends ${what}`,
    grounds: [rfc6455(section, 'MUST')],
    uses: [everyConversation],
    judge: ({ expect }) =>
      expect()
        .where(among)
        .toKeep(what, ...rules),
  });

// A service with one code for all faults fails here, once.
export const reservedBitsCode: CheckDefinition = namesCode(
  'websocket.reserved-bits-code',
  [frames.reservedBits, frames.reservedBitOnPing],
  { codes: [PROTOCOL_ERROR], after: 'a reserved bit', repeats: [] },
);

// Overlong forms and surrogates are not UTF-8 either (RFC 3629 §3).
export const badUtf8 = ends('websocket.bad-utf8', frames.badUtf8, {
  after: 'text that is not UTF-8',
  ...NO_UTF8,
  grounds: [rfc6455('8.1', 'MUST'), rfc3629('3', 'MUST')],
});

export const serverReserved = sends('websocket.server-reserved', ['reserved-bits', 'opcode'], {
  what: 'no reserved bits or opcodes',
  headline: 'A frame uses reserved bits or opcodes: {got}',
  why: 'Clients close the connection on what no extension explains.',
  change: 'Clear the reserved bits, and send no opcodes but 0, 1, 2, 8, 9 and 10.',
  section: '5.2',
});

// §5.5.3: a Pong may be sent unasked, as a heartbeat.
export const unsolicitedPong = check('websocket.unsolicited-pong', {
  title: 'accepts a Pong that it did not ask for',
  headline: 'A Pong that nobody asked for breaks the connection: {got}',
  why: 'Some clients send a Pong now and then to keep the connection alive.',
  change: 'Ignore a Pong that answers no Ping.',
  grounds: [rfc6455('5.5.3', 'MAY'), practice('lawful frames are taken')],
  uses: [lawful.unsolicitedPong],
  judge: ({ expect }) =>
    expect().toConform('the connection to go on', ({ unansweredPings, serverClose, ended }) => {
      if (unansweredPings.length === 0) return null;
      if (serverClose !== null) return `the close code ${serverClose.code ?? 'none'}`;
      return ended === null ? 'no Pong to a later Ping' : 'the end of TCP';
    }),
});

/** Frames (RFC 6455 §5). A bad one must end the connection; the close code is another matter, and none at all is lawful. */
export const frameChecks = [
  ends('websocket.unmasked', frames.unmasked, {
    after: 'a frame that is not masked',
    why: 'The mask protects proxies in between from bytes that an attacker has chosen.',
    change: 'Close with 1002 when a frame of a client has no mask.',
    grounds: [rfc6455('5.1', 'MUST')],
  }),
  observation('websocket.unmasked-code', {
    title: 'closes with some code after a frame that is not masked',
    why: 'From the code a client learns that the fault is its own.',
    grounds: [rfc6455('5.1', 'MAY')],
    uses: [frames.unmasked],
    async observe({ probe }) {
      const code = (await probe(frames.unmasked))[0]?.closeCode ?? null;
      return { seen: code, note: code === null ? 'no code' : `the close code ${code}` };
    },
  }),

  // §5.2: a reserved bit that no negotiated extension gives a meaning fails the connection.
  ends('websocket.reserved-bits', frames.reservedBits, {
    after: 'a message with a reserved bit',
    ...UNKNOWN_BIT,
  }),
  ends('websocket.reserved-bit-on-ping', frames.reservedBitOnPing, {
    after: 'a Ping with a reserved bit',
    ...UNKNOWN_BIT,
  }),
  ends('websocket.reserved-bit-on-continuation', frames.reservedBitsOnContinuation, {
    after: 'a later fragment with a reserved bit',
    ...UNKNOWN_BIT,
  }),
  reservedBitsCode,

  ends('websocket.reserved-data-opcode', frames.reservedDataOpcodes, {
    after: 'a data frame with a reserved opcode',
    ...UNKNOWN_OPCODE,
  }),
  ends('websocket.reserved-control-opcode', frames.reservedControlOpcodes, {
    after: 'a control frame with a reserved opcode',
    ...UNKNOWN_OPCODE,
  }),
  namesCode('websocket.reserved-opcode-code', [frames.reservedDataOpcodes, frames.reservedControlOpcodes], {
    codes: [PROTOCOL_ERROR],
    after: 'a reserved opcode',
  }),

  // §5.5.3: of several Pings the latest must be answered, the others may be.
  check('websocket.ping-burst', {
    title: 'answers at least the last of ten Pings that come at once',
    headline: 'The last of ten Pings gets no Pong, only {got}',
    why: 'Clients take the connection for dead, and open another one.',
    change: 'Answer each Ping, or at least the latest where several are waiting.',
    grounds: [rfc6455('5.5.3', 'MUST')],
    uses: [lawful.pingBurst],
    judge: ({ expect }) =>
      expect().toConform('a Pong for the last Ping', (conversation) => {
        const last = conversation.clientFrames.findLast(({ frame }) => frame.opcode === OPCODE.ping);
        const isAnswered = last !== undefined && !conversation.unansweredPings.includes(last);
        return isAnswered ? null : numberOf(conversation.pongs.length, 'other');
      }),
  }),

  ends('websocket.fragmented-ping', frames.fragmentedPing, {
    after: 'a Ping in fragments',
    ...UNLAWFUL_CONTROL,
  }),
  ends('websocket.fragmented-pong', frames.fragmentedPong, {
    after: 'a Pong in fragments',
    ...UNLAWFUL_CONTROL,
  }),
  ends('websocket.overlong-close', frames.overlongClose, {
    after: 'a Close of 126 bytes',
    ...UNLAWFUL_CONTROL,
  }),
  ends('websocket.overlong-ping', frames.overlongPing, { after: 'a Ping of 126 bytes', ...UNLAWFUL_CONTROL }),
  namesCode('websocket.control-frame-code', [frames.fragmentedPing, frames.overlongPing], {
    codes: [PROTOCOL_ERROR, TOO_BIG],
    after: 'a control frame that is fragmented or too long',
  }),

  // §5.4: a fragmented message begins with an opcode and goes on with continuation frames.
  ends('websocket.stray-continuation', frames.strayContinuation, {
    after: 'a fragment that continues no message',
    ...STRAY_FRAGMENT,
  }),
  ends('websocket.interleaved-message', frames.interleaved, {
    after: 'a message that begins within another',
    ...STRAY_FRAGMENT,
  }),
  namesCode('websocket.fragmentation-code', [frames.strayContinuation, frames.interleaved], {
    codes: [PROTOCOL_ERROR],
    after: 'fragments that do not fit together',
  }),

  badUtf8,
  ends('websocket.bad-utf8-in-fragments', frames.badUtf8InFragments, {
    after: 'text whose fragments do not join to UTF-8',
    ...NO_UTF8,
    grounds: [rfc6455('8.1', 'MUST')],
  }),
  namesCode('websocket.bad-utf8-code', [frames.badUtf8, frames.badUtf8InFragments], {
    codes: [INVALID_PAYLOAD],
    after: 'text that is not UTF-8',
  }),

  // §7.1.7: an endpoint that fails an open connection sends a Close frame first. A reset may have destroyed it.
  check('websocket.failure-announced', {
    title: 'sends a Close frame before it drops the connection over a bad frame',
    headline: 'The connection is dropped over a bad frame without a Close frame',
    why: 'A client cannot tell its own fault from a network failure, and comes back with it.',
    change: 'Send a Close frame with the code of the fault before you end the connection.',
    grounds: [rfc6455('7.1.7', 'SHOULD')],
    uses: [lawful.lawfulMessage, frames.failures],
    async judge({ probe, expect, notApplicable }) {
      const { unaskedEnd, serverClose } = await probe(lawful.lawfulMessage);
      if (unaskedEnd !== null && serverClose === null) notApplicable(TAKES_NONE);
      await expect(frames.failures).toConform('a Close frame', ({ serverClose: close, ended }) =>
        close === null && ended?.how === 'end' ? 'the end of TCP' : null,
      );
    },
  }),

  check('websocket.ping', {
    title: 'answers a Ping with a Pong of the same payload',
    headline: 'A Ping is not answered with its Pong: {got}',
    why: 'Clients take the connection for dead, and open another one.',
    change: 'Answer a Ping with a Pong that has the same payload.',
    grounds: [rfc6455('5.5.2', 'MUST'), rfc6455('5.5.3', 'MUST')],
    uses: [websocket.kept],
    judge: ({ expect }) => expect().toAnswerPings(),
  }),

  // §5.4: control frames may come between the fragments of a message; §5.5.2: as soon as is practical.
  check('websocket.ping-between-fragments', {
    title: 'answers a Ping that comes between the fragments of a message',
    headline: 'A Ping between fragments is not answered with its Pong: {got}',
    why: 'While it sends a long message, a client takes the connection for dead.',
    change: 'Answer a Ping at once, also between the fragments of a message.',
    grounds: [rfc6455('5.4', 'MUST')],
    uses: [lawful.lawfulMessage, lawful.pingBetweenFragments],
    async judge({ probe, expect, notApplicable }) {
      if ((await probe(lawful.lawfulMessage)).unaskedEnd !== null) notApplicable(TAKES_NONE);
      await expect(lawful.pingBetweenFragments).toAnswerPings();
    },
  }),

  unsolicitedPong,

  sends('websocket.server-unmasked', ['masking'], {
    what: 'unmasked frames',
    headline: 'A frame of the service is masked: {got}',
    why: 'Clients have to close the connection on a masked frame.',
    change: 'Send frames without a mask.',
    section: '5.1',
  }),
  sends('websocket.server-lengths', ['length'], {
    what: 'lengths in their shortest form',
    headline: 'A frame has its length in too many bytes: {got}',
    why: 'Strict clients close the connection on such a frame.',
    change:
      'Write lengths up to 125 in seven bits, up to 65,535 in two bytes, and only longer ones in eight.',
    section: '5.2',
  }),
  serverReserved,
  sends('websocket.server-control-frames', ['control'], {
    what: 'control frames that are not too long',
    headline: 'A control frame is too long or in fragments: {got}',
    why: 'Clients close the connection on such a control frame.',
    change: 'Keep Close, Ping and Pong within 125 bytes, each in one frame.',
    section: '5.5',
  }),
  sends('websocket.server-fragments', ['fragmentation'], {
    what: 'fragments in order',
    headline: 'The fragments of a message do not fit together: {got}',
    why: 'Clients cannot put the message together, and close the connection.',
    change: 'Begin a message with opcode 1 or 2, go on with 0, and finish it before the next one.',
    section: '5.4',
  }),
  // §8.1: what is sent as text is UTF-8. Where we sent other octets ourselves, they may have come back.
  sends('websocket.server-utf8', ['utf8'], {
    what: 'text in UTF-8',
    headline: 'The service sends {got}',
    why: 'Browsers close the connection on text that is not UTF-8.',
    change: 'Encode text as UTF-8, and send other data as binary messages.',
    section: '8.1',
    among: ({ isSaidInUtf8 }) => isSaidInUtf8,
  }),
];

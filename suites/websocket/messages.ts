import { check, clause, echoes, observation, rfc6455 } from '../../harness/engine/check/suite.ts';
import { TOO_BIG, unsolicitedPong } from './frames.ts';
import { sendsBack } from './rows.ts';
import * as echo from './stimuli/echo.ts';
import { endWithoutAccident, isDropped, longInSteps } from './stimuli/echo.ts';
import { taken } from './stimuli/ordinary-client.ts';

/** A kind of message that the endpoint does not take may be refused, as one may for its length (§10.4, §7.4.1). */
const UNACCEPTABLE = 1003;
/** Policy violation, message too big (§7.4.1). */
const REFUSES_FRAGMENTS: readonly (number | null)[] = [1008, TOO_BIG];
const grounds = [clause('websocket.messages'), rfc6455('5.6', 'MUST')];

export const echoAroundPing = sendsBack('websocket.echo-around-ping', echo.echoAroundPing, {
  what: 'a message that has a Ping between its fragments',
  why: 'A client may ping in the middle of a long message.',
  change: 'Answer the Ping, and keep the fragments that have come so far.',
  ground: rfc6455('5.4', 'MUST'),
});

const echoKind = check('websocket.echo-kind', {
  title: 'sends back text as text and binary as binary',
  headline: 'A binary or text message does not come back as it was: {got}',
  why: 'A client that waits for binary data cannot read text, and the other way round.',
  change: 'Send text messages as text and binary messages as binary.',
  grounds,
  applies: [echoes],
  uses: [echo.binaryEcho, echo.textEcho],
  async judge({ probe, expect, notApplicable }) {
    if ((await probe(echo.binaryEcho)).unaskedEnd?.code === UNACCEPTABLE) {
      await expect(echo.textEcho).toKeepKind();
      notApplicable(`binary messages are not accepted: they are refused with the close code ${UNACCEPTABLE}`);
    }
    await expect(echo.textEcho, echo.binaryEcho).toSendBack();
    await expect(echo.textEcho, echo.binaryEcho).toKeepKind();
  },
});

const echoEmpty = sendsBack('websocket.echo-empty', echo.emptyEcho, {
  what: 'an empty message',
  why: 'Empty messages serve as signals and heartbeats.',
  change: 'Handle a message of length 0 like any other.',
  ground: rfc6455('5.2', 'MUST'),
});

// §5.2: 125 octets are the last with a length of 7 bits.
const echoLengths = sendsBack('websocket.echo-lengths', echo.shortEchoes, {
  what: 'messages of 125, 126 and 127 bytes',
  why: 'From 126 bytes on the length is written in another way, so longer messages are cut or lost.',
  change:
    'Read the length from the next two bytes where it says 126, and from the next eight where it says 127.',
  ground: rfc6455('5.2', 'MUST'),
});

// §5.4: fragments are joined, empty ones too; where they are cut has no meaning.
const echoFragments = sendsBack('websocket.echo-fragments', echo.fragmentedEchoes, {
  what: 'messages that come in fragments',
  why: 'Browsers and libraries split messages as they like.',
  change: 'Join all fragments of a message, empty ones too, before you handle it.',
  ground: rfc6455('5.4', 'MUST'),
});

/** Messages (RFC 6455 §5.6), where the config names the endpoint an echo. */
export const messageChecks = [
  // websocket.messages does not show who speaks first.
  observation('websocket.first-message', {
    title: 'speaks first, or waits for the client',
    why: 'A client has to know whether to wait for a greeting.',
    grounds: [clause('websocket.messages')],
    uses: [taken],
    async observe({ probe }) {
      const { greeting, greetingEvent, dialect } = await probe(taken);
      const event = greetingEvent?.event ?? null;
      return {
        seen: greeting && { kind: greeting.kind, dialect, event },
        note: greeting ? `a ${greeting.kind} message (${dialect ?? 'of no known dialect'})` : 'nothing',
      };
    },
  }),

  check('websocket.echo-text', {
    title: 'sends back a text message',
    headline: 'A text message does not come back as it was: {got}',
    why: 'Messages are changed or lost on the way.',
    change: 'Send back the very bytes that came, or correct websocket.echo in the config.',
    grounds,
    applies: [echoes],
    uses: [echo.insteadOfEcho, echo.textEcho],
    async judge({ probe, expect, blocked }) {
      const instead = await probe(echo.insteadOfEcho);
      if (instead !== null) {
        blocked(
          `websocket.echo is set, and the endpoint does not echo: ${instead}; correct websocket.echo or its url`,
        );
      }
      await expect(echo.textEcho).toSendBack();
    },
  }),

  echoKind,

  echoEmpty,
  echoLengths,
  // §5.2: the length is written in the same way, whatever the kind. To take no binary messages is lawful.
  check('websocket.echo-binary-lengths', {
    title: 'sends back binary messages of 0 to 4096 bytes',
    headline: 'A binary message does not come back as it was: {got}',
    why: 'Binary data is cut or changed at some length, and nobody hears of it.',
    change: 'Handle binary messages of every length as they are, without a look at their content.',
    grounds: [clause('websocket.messages'), rfc6455('5.2', 'MUST')],
    applies: [echoes],
    restsOn: [echoKind, echoLengths, echoEmpty],
    uses: [echo.binaryEcho, echo.binaryLengthEchoes],
    async judge({ probe, expect, notApplicable }) {
      if ((await probe(echo.binaryEcho)).unaskedEnd?.code === UNACCEPTABLE)
        notApplicable('binary messages are not accepted');
      await expect(echo.binaryLengthEchoes).toSendBack();
    },
  }),
  // §5.4: a message may have any number of fragments; so many may be against a policy.
  check('websocket.echo-many-fragments', {
    title: 'sends back a message in 64 fragments whole',
    headline: 'A message in many fragments does not come back whole: {got}',
    why: 'Clients that send while they produce make many small fragments.',
    change: 'Join all fragments of a message, or close with 1008 or 1009 beyond your limit.',
    grounds: [clause('websocket.messages'), rfc6455('5.4', 'MUST')],
    applies: [echoes],
    restsOn: [echoFragments],
    uses: [echo.manyFragmentsEcho],
    async judge({ probe, expect, notApplicable }) {
      const { unaskedEnd } = await probe(echo.manyFragmentsEcho);
      if (unaskedEnd !== null && REFUSES_FRAGMENTS.includes(unaskedEnd.code)) {
        notApplicable(`so many fragments are refused with the close code ${unaskedEnd.code}`);
      }
      await expect().toSendBack();
    },
  }),
  echoFragments,
  echoAroundPing,
  // §5.5.3: a Pong that nobody asked for is lawful there as well.
  sendsBack('websocket.echo-around-pong', echo.echoAroundPong, {
    what: 'a message that has a Pong between its fragments',
    why: 'Some clients send Pongs to keep the connection alive, also in the middle of a long message.',
    change: 'Ignore the Pong, and keep the fragments that have come so far.',
    ground: rfc6455('5.4', 'MUST'),
    restsOn: [unsolicitedPong],
  }),
  // §5.6, §8.1: text is what was sent: U+FEFF, NUL, non-characters and all planes.
  sendsBack('websocket.echo-characters', echo.characterEchoes, {
    what: 'unusual characters unchanged',
    why: 'Emoji, other scripts and control characters are changed or lost on the way.',
    change: 'Decode and encode text as UTF-8, and neither drop nor replace characters.',
    ground: rfc6455('8.1', 'MUST'),
  }),

  // §5.2: 65,536 octets are the first with a length of 64 bits. To refuse them for their length is lawful.
  check('websocket.echo-long', {
    title: 'sends back messages of 65,535 bytes to 1 MiB whole, as far as it accepts them',
    headline: 'A long message does not come back whole: {got}',
    why: 'Long messages are cut or lost, and nobody hears of it.',
    change: 'Read lengths of 64 bits, or close with 1009 beyond your limit.',
    grounds: [clause('websocket.messages'), rfc6455('5.2', 'MUST')],
    applies: [echoes],
    uses: [echo.longEchoes],
    async judge({ probe, expect, note, notApplicable }) {
      const whole = await probe(echo.longEchoes);
      const refused = echo.refusedLength(whole);
      const longest = echo.takenEchoes(whole).at(-1)?.sent.length;
      if (refused !== null && longest === undefined)
        notApplicable(`a message of ${refused} bytes is too long for it`);
      await expect().toSendBack(echo.takenEchoes);
      if (refused !== null) note(`a message of ${refused} bytes is too long for it`);
      else if (longest !== undefined && longest < echo.LONGEST_ECHO)
        note(`messages come back so slowly that none longer than ${longest} bytes was tried`);
    },
  }),

  // §7.1.7, §7.4.1: 1009 tells the client that its message was too big. A reset may have destroyed it, unless nothing was unread.
  check('websocket.too-big-code', {
    title: 'closes with 1009 after a message that is too long for it',
    headline: 'The close code after a message that is too long is {got}',
    why: 'A client cannot know that it has to send less.',
    change: 'Close with 1009 when a message is too long.',
    grounds: [rfc6455('7.1.7', 'SHOULD')],
    applies: [echoes],
    uses: [echo.longFragmentedEcho, echo.longEchoes, longInSteps],
    async judge({ probe, expect }) {
      const inFragments = await probe(echo.longFragmentedEcho);
      const whole = await probe(echo.longEchoes);
      const inSteps = isDropped(whole) ? await probe(longInSteps) : null;
      const isAccident = inSteps !== null && endWithoutAccident(inSteps) === null;
      const all = [...(inSteps === null ? [] : [inSteps]), whole, inFragments];
      await expect(...all)
        .where((each) => each === inSteps || echo.isEndedByLength(each), 'no message was too long for it')
        .toConform('the close code 1009', (conversation) => {
          const { serverClose, closeCode, ended } = conversation;
          // It may be their number that is too large.
          const codes = conversation === inFragments ? REFUSES_FRAGMENTS : [TOO_BIG];
          if (conversation === inSteps && serverClose === null) return endWithoutAccident(inSteps);
          if (codes.includes(closeCode)) return null;
          if (serverClose === null && (isAccident || ended?.how === 'reset')) return null;
          return closeCode === null ? 'none' : String(closeCode);
        });
    },
  }),
];

import { type CheckDefinition, check, observation } from '../../harness/check/check.ts';
import { echoes, hasWebSocket } from '../../harness/check/requirement.ts';
import { clause, rfc6455 } from '../../harness/contract/ground.ts';
import type { ConversationView } from '../../harness/evidence/conversation/view.ts';
import * as echo from '../../harness/probe/websocket/echo.ts';
import { taken } from '../../harness/probe/websocket/websocket.ts';
import type { Probe } from '../../harness/session.ts';

/** A message may be refused for its length (§10.4), with 1009 (§7.4.1). */
const TOO_BIG = 1009;
/** Messages longer than this many octets meet the limits of some servers. */
const SURELY_TAKEN = 4096;

/** Messages (RFC 6455 §5.6), where the config names the endpoint an echo. */
export const messageChecks = [
  observation(
    'websocket.first-message',
    {
      title: 'speaks first, or waits for the client',
      grounds: [clause('websocket.messages')],
      applies: [hasWebSocket],
      shownBy: ['pusher-silent-start'],
    },
    async ({ probe, observe, note }) => {
      const { greeting, greetingEvent, dialect } = await probe(taken);
      const event = greetingEvent?.event ?? null;
      observe('websocket.first-message', greeting && { kind: greeting.kind, dialect, event });
      note(greeting ? `a ${greeting.kind} message (${dialect ?? 'of no known dialect'})` : 'nothing');
    },
  ),

  check(
    'websocket.echo-text',
    {
      title: 'sends back a text message',
      grounds: [clause('websocket.messages'), rfc6455('5.6', 'MUST')],
      applies: [hasWebSocket, echoes],
      provenBy: ['ws-corrupts-message'],
    },
    async ({ probe, expectConversation, notApplicable }) => {
      const conversation = await probe(echo.textEcho);
      const isLost = conversation.echoes.some(({ isSame }) => !isSame);
      if (isLost && conversation.dialect !== null) {
        return notApplicable(`the endpoint speaks ${conversation.dialect}, which does not echo`);
      }
      expectConversation(conversation).toSendBack();
    },
  ),

  // §5.6: text and binary are two kinds.
  check(
    'websocket.echo-kind',
    {
      title: 'sends back text as text and binary as binary',
      grounds: [clause('websocket.messages'), rfc6455('5.6', 'MUST')],
      applies: [hasWebSocket, echoes],
      provenBy: ['ws-binary-as-text'],
    },
    async ({ probe, expectConversation }) => {
      const conversations = [await probe(echo.textEcho), await probe(echo.binaryEcho)];
      expectConversation(...conversations).toSendBack();
      expectConversation(...conversations).toKeepKind();
    },
  ),
  // §5.2: a payload may be empty.
  sendsBack('empty', 'empty messages', '5.2', echo.emptyEcho, 'ws-swallows-empty-messages'),
  // §5.2: 125 octets are the last with a length of 7 bits.
  sendsBack(
    'lengths',
    'messages of 125, 126 and 127 octets',
    '5.2',
    echo.shortEchoes,
    'ws-misreads-16-bit-lengths',
  ),
  // §5.4: fragments are joined, empty ones too; where they are cut has no meaning.
  sendsBack(
    'fragments',
    'messages that come in fragments',
    '5.4',
    echo.fragmentedEchoes,
    'ws-loses-fragments',
  ),
  // §5.4: control frames in the middle of a fragmented message leave it as it is.
  sendsBack(
    'around-ping',
    'a message that has a Ping between its fragments',
    '5.4',
    echo.echoAroundPing,
    'ws-ping-cuts-message',
  ),
  // §5.6, §8.1: text is what was sent: U+FEFF, NUL, non-characters and all planes.
  sendsBack('characters', 'unusual characters unchanged', '8.1', echo.characterEchoes, 'ws-strips-bom'),

  // §5.2: 65,536 octets are the first with a length of 64 bits. To refuse them for their length is lawful.
  check(
    'websocket.echo-long',
    {
      title: 'sends back messages of 65,535 octets to 1 MiB whole, as far as it takes them',
      grounds: [clause('websocket.messages'), rfc6455('5.2', 'MUST')],
      applies: [hasWebSocket, echoes],
      provenBy: ['ws-truncates-long-messages'],
    },
    async ({ probe, expectConversation, note }) => {
      const conversation = await probe(echo.longEchoes);
      const refused = refusedLength(conversation);
      if (refused !== null) return note(`a message of ${refused} octets is too long for it`);
      expectConversation(conversation).toSendBack();
    },
  ),

  // §7.1.7, §7.4.1: 1009 tells the client that its message was too big. A reset may have destroyed it.
  check(
    'websocket.too-big-code',
    {
      title: 'names 1009 where it ends the connection over a long message',
      grounds: [rfc6455('7.1.7', 'SHOULD')],
      applies: [hasWebSocket, echoes],
      provenBy: ['ws-wrong-too-big-code'],
    },
    async ({ probe, expectConversation, notApplicable }) => {
      const conversation = await probe(echo.longEchoes);
      if (refusedLength(conversation) === null) return notApplicable('no message was too long for it');
      expectConversation(conversation).toConform('the close code 1009', ({ closeCode, ended }) => {
        if (closeCode === TOO_BIG || (closeCode === null && ended?.how === 'reset')) return null;
        return closeCode === null ? 'none' : String(closeCode);
      });
    },
  ),
];

function sendsBack(
  name: string,
  what: string,
  section: string,
  sent: Probe<ConversationView>,
  defect: string,
): CheckDefinition {
  return check(
    `websocket.echo-${name}`,
    {
      title: `sends back ${what}`,
      grounds: [clause('websocket.messages'), rfc6455(section, 'MUST')],
      applies: [hasWebSocket, echoes],
      provenBy: [defect],
    },
    async ({ probe, expectConversation }) => {
      expectConversation(await probe(sent)).toSendBack();
    },
  );
}

/** The length at which the service ended the connection in place of an answer; null when it did not. */
function refusedLength(conversation: ConversationView): number | null {
  const { serverClose, clientClose, ended } = conversation;
  const unasked = serverClose !== null ? serverClose.atMs < (clientClose?.atMs ?? Infinity) : ended !== null;
  const lost = conversation.echoes.find(({ back }) => back === null)?.sent.length ?? 0;
  return unasked && lost > SURELY_TAKEN ? lost : null;
}

import type { FrameRule } from '../evidence/conversation/frame-faults.ts';
import type { Echo } from '../evidence/conversation/message.ts';
import type { ConversationView } from '../evidence/conversation/view.ts';
import { closeCodeMeaning, mayBeSent } from '../evidence/frame.ts';
import { NotApplicable } from '../verdict.ts';
import { holdEach, orList } from './hold.ts';

/** Expectations of WebSocket conversations, in the words of RFC 6455. Given several, each must meet it. */
export interface ConversationExpectation {
  /** The opening handshake was answered 101. */
  toBeOpened(): void;
  /** The opening handshake was answered by HTTP, whatever the status, and not with 101. */
  toBeRefused(): void;
  /** Any answer but 101: none is as good as any. */
  toStayClosed(): void;
  /** The service took no part in the conversation: it refused the handshake, or ended it at once. */
  toBeTurnedAway(): void;
  /** The service ended the conversation, with a Close frame or by ending TCP, orderly or not. */
  toEnd(): void;
  /** The Close frame of the service, where it sent one with a code, has one of these. */
  toCloseWith(...codes: readonly number[]): void;
  /** Each Ping was answered with its payload. */
  toAnswerPings(): void;
  /** Each message sent came back with the same octets. */
  toSendBack(): void;
  /** What came back of a message is of the same kind: text as text, binary as binary. */
  toKeepKind(): void;
  /** No frame of the service breaks one of these rules. */
  toKeep(wanted: string, ...rules: readonly FrameRule[]): void;
  /** For what has no matcher of its own: `wanted` and `got` complete "expected …, got …"; `got` is null when it conforms. */
  toConform(wanted: string, got: (conversation: ConversationView) => string | null): void;
}

export type ExpectConversation = (...conversations: readonly ConversationView[]) => ConversationExpectation;

export const expectConversation: ExpectConversation = (...conversations) => {
  // A check that has looked at nothing is not green.
  if (conversations.length === 0) throw new NotApplicable('there is no such conversation to judge');
  const each = (wanted: string, got: (conversation: ConversationView) => string | null) =>
    holdEach(conversations, wanted, got);
  return {
    toBeOpened: () => each('status 101', (talk) => (talk.opened ? null : answerText(talk))),
    toBeRefused: () =>
      each('an HTTP error', (talk) => (talk.opened || talk.status === null ? answerText(talk) : null)),
    toStayClosed: () => each('anything but 101', (talk) => (talk.opened ? answerText(talk) : null)),
    toBeTurnedAway: () =>
      each('a refusal', (talk) => (talk.opened && !talk.isOver ? `status 101 and ${talk.afterwards}` : null)),
    toEnd: () => each('the connection to end', (talk) => (talk.isOver ? null : talk.afterwards)),
    toCloseWith: (...codes) =>
      each(`the close code ${orList(codes)}, or none`, ({ closeCode }) =>
        // One that must not be on the wire at all is a finding of its own.
        closeCode === null || codes.includes(closeCode) || !mayBeSent(closeCode)
          ? null
          : `${closeCode} (${closeCodeMeaning(closeCode)})`,
      ),
    toAnswerPings: () =>
      each('a Pong with the payload of the Ping', (talk) => {
        const [unanswered] = talk.unansweredPings;
        if (unanswered === undefined) return null;
        const pong = talk.serverFrames.find(
          ({ atMs, frame }) => atMs >= unanswered.atMs && frame.opcode === 0xa,
        );
        return pong ? `one with ${pong.frame.length} other octets` : endText(talk, 'no Pong');
      }),
    toSendBack: () =>
      each('each message back as it was', (talk) => {
        const lost = talk.echoes.find(({ isSame }) => !isSame);
        return lost === undefined ? null : lossText(lost, talk);
      }),
    toKeepKind: () =>
      each('a message of the same kind back', (talk) => {
        const changed = talk.echoes.find(({ sent, back }) => back !== null && back.kind !== sent.kind);
        return changed === undefined
          ? null
          : `a ${changed.back?.kind} message instead of ${messageText(changed)}`;
      }),
    toKeep: (wanted, ...rules) => each(wanted, (talk) => talk.faultOf(...rules)),
    toConform: each,
  };
};

function answerText({ status, conversation }: ConversationView): string {
  return status === null
    ? `no HTTP answer (${conversation.failure?.message ?? 'none came'})`
    : `status ${status}`;
}

function lossText(lost: Echo, talk: ConversationView): string {
  const { back } = lost;
  return back === null
    ? `${endText(talk, 'nothing')} instead of ${messageText(lost)}`
    : `other content (${back.length} octets) instead of ${messageText(lost)}`;
}

function messageText({ sent }: Echo): string {
  return `a ${sent.kind} message of ${sent.length} octets`;
}

/** What came instead, with how the conversation ended where the service ended it. */
function endText({ serverClose, clientClose, ended }: ConversationView, what: string): string {
  const unasked = serverClose !== null && (clientClose === null || serverClose.atMs < clientClose.atMs);
  if (unasked) return `${what} and the close code ${serverClose.code ?? 'none'}`;
  return ended !== null && clientClose === null ? `${what} and the end of TCP` : what;
}

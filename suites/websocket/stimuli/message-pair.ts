import type { MessagePair } from '../../../harness/config/blocks/websocket.ts';
import type { OpenConversation } from '../../../harness/engine/session/websocket/open-conversation.ts';
import { OPCODE } from '../../../harness/wire/conversation/frame.ts';
import type { Message } from '../../../harness/wire/conversation/message.ts';
import type { ConversationView } from '../../../harness/wire/conversation/view.ts';
import { EndlessSchema, SchemaBook, type SchemaJudge } from '../../../harness/wire/json/schema.ts';
import { readJsonText } from '../../../harness/wire/json/text.ts';

/** Messages whose answers the config names. */

/** An answer is JSON; any other text is a string to the schema. */
export function answerFault(
  { text: said, payload }: Message,
  judge: SchemaJudge,
  inAnyKind = false,
): string | null {
  const text = said ?? (inAnyKind ? Buffer.from(payload).toString() : null);
  if (text === null) return 'a message that is no text';
  const fault = judge(jsonOf(text));
  return fault === null ? null : (packingFault(text) ?? `one in which ${fault.message}`);
}

/** How JSON is packed in a message in another way than one text in one message; null if it is not. */
function packingFault(text: string): string | null {
  const { value, faults } = readJsonText(Buffer.from(text));
  const [fault] = faults;
  if (fault?.kind === 'trailing-content') {
    const rest = readJsonText(Buffer.from(text).subarray(fault.offset));
    const areTexts = [value, rest.value].every(isContainer);
    return areTexts ? 'several JSON texts in one message' : null;
  }
  if (fault !== undefined || typeof value !== 'string') return null;
  return isContainer(readJsonText(Buffer.from(value)).value) ? 'a JSON string that holds JSON' : null;
}

/** An object or an array. */
function isContainer(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

/** By pair, so that a pattern without an end is tried once. */
const judges = new WeakMap<MessagePair, SchemaJudge>();

function judgeOf(pair: MessagePair): SchemaJudge {
  const judge = judges.get(pair) ?? new SchemaBook().compile(pair.expect);
  judges.set(pair, judge);
  return judge;
}

/** @throws EndlessSchema */
export function fitsPair(message: Message, pair: MessagePair): boolean {
  return answerFault(message, judgeOf(pair), pair.inAnyKind) === null;
}

/** Whether a text would be an answer; false where that cannot be judged. */
export function fitsText(text: string, pair: MessagePair): boolean {
  try {
    return judgeOf(pair)(jsonOf(text)) === null;
  } catch (error) {
    if (error instanceof EndlessSchema) return false;
    throw error;
  }
}

/** The end of a wait. An answer that cannot be judged may be the right one: its judgment blocks the check later. */
export function mayFitPair(message: Message, pair: MessagePair): boolean {
  try {
    return fitsPair(message, pair);
  } catch (error) {
    if (error instanceof EndlessSchema) return true;
    throw error;
  }
}

/** How a message of the config is sent. */
export type Sending = (conversation: OpenConversation, text: string) => Promise<void>;

export const whole: Sending = (conversation, text) => conversation.text(text);

export const inFragments: Sending = async (conversation, text) => {
  const octets = Buffer.from(text);
  const half = Math.ceil(octets.length / 2);
  await conversation.text(octets.subarray(0, half), { fin: false });
  await conversation.ping('within');
  await conversation.frame(OPCODE.continuation, octets.subarray(half));
};

interface Exchange {
  readonly send: Sending;
  /** What is said before the message. */
  readonly login: MessagePair | undefined;
}

/** Logs in where the config says how, and waits for the answer. */
export async function logIn(conversation: OpenConversation, login: MessagePair | undefined): Promise<void> {
  if (login === undefined) return;
  await conversation.text(login.send);
  await conversation.message('for the answer to the login', (message) => mayFitPair(message, login));
}

/** Sends a message, waits until its answer has come, and closes. */
export async function exchange(
  conversation: OpenConversation,
  pair: MessagePair,
  { send, login }: Exchange,
): Promise<void> {
  await logIn(conversation, login);
  await send(conversation, pair.send);
  await conversation.message('for the answer', (message) => mayFitPair(message, pair));
  await conversation.close(1000);
}

/** The fault of the nearest answer to our last message, in one line; null if none. @throws EndlessSchema */
export function answerIn({ sent, messages }: ConversationView, pair: MessagePair): string | null {
  const judge = judgeOf(pair);
  const last = sent.at(-1);
  const later = messages.filter(({ atMs }) => last !== undefined && atMs >= last.atMs);
  const faults = later.map((message) => answerFault(message, judge, pair.inAnyKind));
  return faults.includes(null) ? null : (faults[0] ?? 'no message');
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

import type { MessagePair } from '../../config/blocks/websocket.ts';
import type { Message } from '../../evidence/conversation/message.ts';
import { SchemaBook, type SchemaJudge } from '../../evidence/json/schema.ts';

/** Messages whose answers the config names. */

/** An answer is JSON; a text that is none is what a schema sees as a string. */
export function answerFault({ text }: Message, judge: SchemaJudge): string | null {
  if (text === null) return 'a message that is no text';
  const fault = judge(jsonOf(text));
  return fault === null ? null : `one in which ${fault.message}`;
}

export function fitsPair(message: Message, { expect }: MessagePair): boolean {
  return answerFault(message, new SchemaBook().compile(expect)) === null;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

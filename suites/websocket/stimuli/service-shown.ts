import type { ServiceConfig } from '../../../harness/config/service.ts';
import type { OpenConversation } from '../../../harness/engine/session/websocket/open-conversation.ts';
import type { ConversationView } from '../../../harness/wire/conversation/view.ts';
import { fitsPair } from './message-pair.ts';

/** Whether a connection serves its client, and is not merely open: shown by a message whose answer the config names. */

const TRIED = 'conform: is anybody served?';

export function isKnownToAnswer({ websocket }: ServiceConfig): boolean {
  return websocket?.echo === true || (websocket?.exchange?.length ?? 0) > 0;
}

/** Where the connection is not ended, sends a message that is answered wherever clients are served. */
export async function tryService(
  conversation: OpenConversation,
  { websocket }: ServiceConfig,
): Promise<void> {
  await conversation.end();
  if (websocket?.echo) return void (await conversation.echo('text', TRIED));
  const [pair] = websocket?.exchange ?? [];
  if (pair === undefined) return;
  await conversation.text(pair.send);
  await conversation.message('for the answer', (message) => fitsPair(message, pair));
}

/** What the answer to it was; null for none. */
export function answerIn(
  { echoes, messages }: ConversationView,
  { websocket }: ServiceConfig,
): string | null {
  if (websocket?.echo) return echoes.some(({ isSame }) => isSame) ? 'the message back' : null;
  const [pair] = websocket?.exchange ?? [];
  const isAnswered = pair !== undefined && messages.some((message) => fitsPair(message, pair));
  return isAnswered ? 'the answer of the config to its message' : null;
}

import {
  type DialectEvent,
  isHeartbeat,
  loadDialect,
  type MessageDialect,
  type ShippedDialect,
} from '../../../../config/blocks/dialect.ts';
import type { WebSocketConfig } from '../../../../config/service.ts';
import { pusher } from './pusher.ts';
import { raw } from './raw.ts';

const SHIPPED: Readonly<Record<ShippedDialect, MessageDialect>> = { raw, pusher };

/** The dialect that a config names, built-in or a module. @throws NoDialect if the module changed since the config was read. */
export async function dialectOf({ dialect, adapter, heartbeat }: WebSocketConfig): Promise<MessageDialect> {
  if (dialect === 'own') return adapter === undefined ? raw : guarded(await loadDialect(adapter));
  const shipped = SHIPPED[dialect];
  if (heartbeat === undefined) return shipped;
  return {
    ...shipped,
    answerHeartbeat: (text) => (isHeartbeat(heartbeat, text) ? heartbeat.answer : null),
  };
}

/** If a user's function throws, it has read nothing. */
function guarded(own: MessageDialect): MessageDialect {
  const { answerHeartbeat } = own;
  return {
    ...own,
    ...(answerHeartbeat && {
      answerHeartbeat(text: string) {
        try {
          const answer: unknown = answerHeartbeat(text);
          return typeof answer === 'string' ? answer : null;
        } catch {
          return null;
        }
      },
    }),
    read(text): DialectEvent | null {
      try {
        return own.read(text);
      } catch {
        return null;
      }
    },
  };
}

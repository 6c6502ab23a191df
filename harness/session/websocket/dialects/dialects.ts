import { type Dialect, type DialectEvent, loadDialect } from '../../../config/blocks/dialect.ts';
import { isHeartbeat } from '../../../config/blocks/heartbeat.ts';
import type { WebSocketConfig } from '../../../config/service.ts';
import { pusher } from './pusher.ts';
import { raw } from './raw.ts';

/**
 * The dialect that a config names: one of those that come with the harness, or that of a module of the user's.
 *
 * @throws NoDialect when that module has changed since the config was read.
 */
export async function dialectOf({ dialect, adapter, heartbeat }: WebSocketConfig): Promise<Dialect> {
  if (dialect === 'own' && adapter !== undefined) return guarded(await loadDialect(adapter));
  if (dialect === 'pusher') return pusher;
  if (heartbeat === undefined) return raw;
  return { ...raw, answerHeartbeat: (text) => (isHeartbeat(heartbeat, text) ? heartbeat.answer : null) };
}

/** A user's function that throws over what a service sent has read nothing. */
function guarded(own: Dialect): Dialect {
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

import { Blocked } from '../../../harness/base/verdict.ts';
import { overRecord, type Probe, type Selected } from '../../../harness/engine/session/probe.ts';
import type { ConversationView } from '../../../harness/wire/conversation/view.ts';
import { opening } from './ordinary-client.ts';

/** Every WebSocket of the run, for rules that hold whatever the client did. */

/** Those in which the service sent a frame. */
export const everyConversation: Probe<Selected<ConversationView>> = overRecord(
  'websocket-every-conversation',
  [opening],
  ({ recorded }) => {
    const spoken = recorded.conversations.filter(({ serverFrames }) => serverFrames.length > 0);
    if (spoken.length === 0) throw new Blocked('the service sent no frame in any conversation');
    return spoken;
  },
);

/** Those whose handshake was answered. */
export const everyHandshake: Probe<Selected<ConversationView>> = overRecord(
  'websocket-every-handshake',
  [opening],
  ({ recorded }) => recorded.conversations.filter(({ status }) => status !== null),
);

/** Those whose handshake was as RFC 6455 has it, and taken. */
export const everyTaken: Probe<Selected<ConversationView>> = overRecord(
  'websocket-every-taken',
  [opening],
  ({ recorded }) => recorded.conversations.filter(({ opened, isOrdinary }) => opened && isOrdinary),
);

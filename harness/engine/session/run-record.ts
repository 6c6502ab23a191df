import { type ConversationView, viewConversation } from '../../wire/conversation/view.ts';
import type { Evidence } from '../../wire/evidence.ts';
import { Reply } from '../../wire/exchange/reply.ts';
import type { EvidenceLog } from './turn/evidence-log.ts';

type Log = Pick<EvidenceLog, 'answers' | 'find' | 'reproduce'>;

/** Every answer of the service so far, as checks read it, whichever stimulus brought it, in whichever session of the run. */
export class RunRecord {
  /** Of each session, in their order. */
  readonly #logs: Log[] = [];
  readonly #replies = new Map<string, Reply>();
  readonly #conversations = new Map<string, ConversationView>();

  /** Takes in what a session has recorded and will record. */
  add(log: Log): void {
    this.#logs.push(log);
  }

  /** In the order of recording; those that got no response are among them. */
  get exchanges(): readonly Reply[] {
    for (const each of this.#logs.flatMap((log) => log.answers())) {
      if (each.kind === 'exchange' && !this.#replies.has(each.id))
        this.#replies.set(each.id, new Reply(each));
    }
    return [...this.#replies.values()];
  }

  get conversations(): readonly ConversationView[] {
    for (const each of this.#logs.flatMap((log) => log.answers())) {
      if (each.kind === 'conversation' && !this.#conversations.has(each.id))
        this.#conversations.set(each.id, viewConversation(each));
    }
    return [...this.#conversations.values()];
  }

  /** Null for an unknown id. */
  find(id: string): Evidence | null {
    return this.#logOf(id)?.find(id) ?? null;
  }

  /** As that of the log of the session that recorded it. */
  reproduce(id: string, all: readonly string[]): string | null {
    return this.#logOf(id)?.reproduce(id, all) ?? null;
  }

  #logOf(id: string): Log | undefined {
    return this.#logs.find((log) => log.find(id) !== null);
  }
}

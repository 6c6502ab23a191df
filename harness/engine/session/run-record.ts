import { type ConversationView, viewConversation } from '../../wire/conversation/view.ts';
import { Reply } from '../../wire/exchange/reply.ts';
import type { EvidenceLog } from './turn/evidence-log.ts';

/** Every answer of the service so far, as checks read it, whichever stimulus brought it. */
export class RunRecord {
  readonly #log: Pick<EvidenceLog, 'answers'>;
  readonly #replies = new Map<string, Reply>();
  readonly #conversations = new Map<string, ConversationView>();

  constructor(log: Pick<EvidenceLog, 'answers'>) {
    this.#log = log;
  }

  /** In the order of recording; those that got no response are among them. */
  get exchanges(): readonly Reply[] {
    for (const each of this.#log.answers()) {
      if (each.kind === 'exchange' && !this.#replies.has(each.id))
        this.#replies.set(each.id, new Reply(each));
    }
    return [...this.#replies.values()];
  }

  get conversations(): readonly ConversationView[] {
    for (const each of this.#log.answers()) {
      if (each.kind === 'conversation' && !this.#conversations.has(each.id))
        this.#conversations.set(each.id, viewConversation(each));
    }
    return [...this.#conversations.values()];
  }
}

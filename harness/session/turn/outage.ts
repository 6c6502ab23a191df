import { Blocked } from '../../base/verdict.ts';
import type { Exchange, ExchangeFailureKind } from '../../evidence/exchange.ts';

/** Nothing of the service was reached at all. */
const UNREACHABLE: ReadonlySet<ExchangeFailureKind> = new Set([
  'refused',
  'unresolved',
  'tls',
  'proxy',
  'connect-timeout',
]);
/** Reached, and no octet of an answer. */
const SILENT: ReadonlySet<ExchangeFailureKind> = new Set(['response-timeout', 'reset', 'closed']);
/** So many silent or unfinished answers in a row mean that the service is gone, not that one request upset it. */
const SILENT_IN_A_ROW = 4;

/** A request of ours, as messages name it. */
interface Asked {
  /** `GET with malformed percent-encoding in the path`. */
  readonly to: string;
  /** Id of its evidence. */
  readonly id: string;
}

/**
 * Notices that there is nobody to judge any more. What is unreachable is not known to break its contract, so
 * the remaining checks are blocked at once instead of each waiting for its own deadline.
 */
export class OutageWatch {
  #reason: string | null = null;
  #silent = 0;
  /** What was answered last. */
  #answered: Asked | null = null;
  /** What was the first to get no answer, of those in a row. */
  #unanswered: Asked | null = null;

  /** Why the service cannot be exercised any more; null while it can. */
  get reason(): string | null {
    return this.#reason;
  }

  /** @throws Blocked when nobody is there any more. */
  requireReachable(): void {
    if (this.#reason !== null) throw new Blocked(this.#reason);
  }

  /** For a reason that no single answer shows. */
  giveUp(reason: string): void {
    this.#reason ??= reason;
  }

  saw(asked: Asked, { response, failure }: Pick<Exchange, 'response' | 'failure'>): void {
    // What answered may have been a proxy in its place.
    if (failure !== null && UNREACHABLE.has(failure.kind)) {
      this.#reason ??= `the provider cannot be reached: ${failure.message}${this.#since()}`;
      return;
    }
    if (response !== null) this.#answered = asked;
    // One that begins and never ends has cost a whole deadline, like one that never begins.
    if (failure === null || (response !== null && failure.kind !== 'response-timeout')) {
      this.#silent = 0;
      this.#unanswered = null;
      return;
    }
    if (this.#reason !== null) return;
    if (!SILENT.has(failure.kind)) return;
    this.#silent += 1;
    this.#unanswered ??= asked;
    const enough = this.#answered === null ? 1 : SILENT_IN_A_ROW;
    if (this.#silent >= enough)
      this.#reason = `the provider does not answer: ${failure.message}${this.#since()}`;
  }

  /** Upon which request of ours a service fell silent that had answered: it may have died of it. */
  #since(): string {
    const last = this.#unanswered ?? this.#answered;
    return this.#answered === null || last === null
      ? ''
      : `; it stopped answering after ${last.to} (${last.id})`;
  }
}

import { Blocked } from '../../../base/verdict.ts';
import type { Exchange, ExchangeFailureKind } from '../../../wire/exchange.ts';

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
interface OutageRequest {
  /** `GET with malformed percent-encoding in the path`. */
  readonly to: string;
  /** Id of its evidence. */
  readonly id: string;
}

/** What came of it. `onPurpose`: that it is not answered may well be in order, for it was wrong on purpose. */
type Answer = Pick<Exchange, 'response' | 'failure'> & { readonly onPurpose?: boolean };

/**
 * Notices that there is nobody to judge any more. What is unreachable is not known to break its contract, so
 * the remaining checks are blocked at once instead of each waiting for its own deadline.
 */
export class OutageWatch {
  #reason: string | null = null;
  #since: string | null = null;
  #silent = 0;
  /** What was answered last. */
  #answered: OutageRequest | null = null;
  /** What got no answer since then, in its order. */
  #unanswered: OutageRequest[] = [];

  /** Why the service cannot be exercised any more; null while it can. */
  get reason(): string | null {
    return this.#reason;
  }

  /** Id of the evidence of the request upon which a service fell silent that had answered: it may have died of it. */
  get since(): string | null {
    return this.#since;
  }

  /** @throws Blocked when nobody is there any more. */
  requireReachable(): void {
    if (this.#reason !== null) throw this.blocked();
  }

  blocked(): Blocked {
    return new Blocked(this.#reason ?? 'the service is there');
  }

  /** Whether some of this evidence shows nothing but that nobody was there any more. */
  hides(evidence: readonly string[]): boolean {
    if (this.#reason === null) return false;
    return this.#unanswered.some(({ id }) => id !== this.#since && evidence.includes(id));
  }

  /** For a reason that no single answer shows. */
  giveUp(reason: string): void {
    this.#reason ??= reason;
  }

  /** For a service that has sent its documented request elsewhere: there it has to be judged, and its config says so. */
  moved({ id, request }: Pick<Exchange, 'id' | 'request'>, origin: string): void {
    if (this.#reason !== null) return;
    this.#unanswered.push({ to: request.method, id });
    const here = new URL(request.url).origin;
    this.#reason = `${here} redirects to ${origin}: write that address into the config of the service (provider: { url })`;
  }

  /** For a service that answers as it did to this one, whatever it is asked. */
  broke({ id, request, purpose, response }: Exchange): void {
    if (this.#reason !== null) return;
    this.#since = id;
    const to = `${request.method} ${purpose}`;
    this.#reason = `the provider answers ${response?.status} to whatever it is asked; it does since ${to} (${id})`;
  }

  saw(asked: OutageRequest, { response, failure, onPurpose = false }: Answer): void {
    if (this.#reason !== null) return;
    // What answered may have been a proxy in its place.
    const isOutOfReach = failure !== null && UNREACHABLE.has(failure.kind);
    if (response !== null && !isOutOfReach) this.#answered = asked;
    // One that begins and never ends has cost a whole deadline, like one that never begins.
    if (failure === null || (!isOutOfReach && response !== null && failure.kind !== 'response-timeout')) {
      this.#silent = 0;
      this.#unanswered = [];
      return;
    }
    if (!isOutOfReach && !SILENT.has(failure.kind)) return;
    this.#unanswered.push(asked);
    if (!onPurpose) this.#silent += 1;
    const enough = this.#answered === null ? 1 : SILENT_IN_A_ROW;
    if (isOutOfReach) this.#end(`cannot be reached: ${failure.message}`, asked);
    else if (this.#silent >= enough) this.#end(`does not answer: ${failure.message}`, asked);
  }

  #end(how: string, asked: OutageRequest): void {
    const last = this.#unanswered.find(({ id }) => id !== asked.id) ?? this.#answered;
    const upon = this.#answered === null ? null : last;
    this.#since = upon?.id ?? null;
    const after = upon === null ? '' : `; it stopped answering after ${upon.to} (${upon.id})`;
    this.#reason = `the provider ${how}${after}`;
  }
}

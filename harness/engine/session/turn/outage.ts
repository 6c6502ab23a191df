import type { FaultSide } from '../../../base/finding.ts';
import { Blocked } from '../../../base/verdict.ts';
import type { Exchange, ExchangeFailureKind } from '../../../wire/exchange.ts';

/** The service was not reached. */
const UNREACHABLE: ReadonlySet<ExchangeFailureKind> = new Set([
  'refused',
  'unresolved',
  'tls',
  'proxy',
  'connect-timeout',
]);
/** It was reached, and sent no octet. */
const SILENT: ReadonlySet<ExchangeFailureKind> = new Set(['response-timeout', 'reset', 'closed']);
/** Number of silent or unfinished responses in a row after which the service is gone. */
const SILENT_IN_A_ROW = 4;

const WRITE_HTTPS = 'write https:// in the URL';

/** A request, as messages name it. */
interface OutageRequest {
  /** `GET with malformed percent-encoding in the path`. */
  readonly to: string;
  readonly id: string;
  /** Sent without TLS. Default: false. */
  readonly plain?: boolean;
}

/** `onPurpose`: a malformed request may lawfully get no response. */
type Answer = Pick<Exchange, 'response' | 'failure'> & { readonly onPurpose?: boolean };

/**
 * Notices that the service is gone. It is not known to break its contract, so the remaining checks are blocked at
 * once instead of waiting for deadlines.
 */
export class OutageWatch {
  #reason: string | null = null;
  #side: FaultSide | null = null;
  #since: string | null = null;
  #silent = 0;
  /** The last request with a response. */
  #answered: OutageRequest | null = null;
  /** Later requests without a response. */
  #unanswered: OutageRequest[] = [];

  /** null if the service can be exercised. */
  get reason(): string | null {
    return this.#reason;
  }

  /** The side that the outage is mended on; null if it is not known. */
  get side(): FaultSide | null {
    return this.#side;
  }

  /** Id of the request after which a responding service fell silent. */
  get since(): string | null {
    return this.#since;
  }

  /** Some request was answered. */
  get wasAnswered(): boolean {
    return this.#answered !== null;
  }

  /** @throws Blocked in an outage. */
  requireReachable(): void {
    if (this.#reason !== null) throw this.blocked();
  }

  blocked(): Blocked {
    return new Blocked(this.#reason ?? 'the service is there');
  }

  /** Whether some of this evidence shows only the outage. */
  hides(evidence: readonly string[]): boolean {
    if (this.#reason === null) return false;
    return this.#unanswered.some(({ id }) => id !== this.#since && evidence.includes(id));
  }

  /** For a reason that no single response shows. */
  giveUp(reason: string, side: FaultSide | null): void {
    if (this.#reason !== null) return;
    this.#reason = reason;
    this.#side = side;
  }

  /** The service redirects its documented request: its config should name the new address. */
  moved({ id, request }: Pick<Exchange, 'id' | 'request'>, origin: string): void {
    if (this.#reason !== null) return;
    this.#unanswered.push({ to: request.method, id });
    const here = new URL(request.url).origin;
    this.#side = 'config';
    this.#reason = `${here} redirects to ${origin}: write that address into the config of the service (provider: { url })`;
  }

  /** The URL names plain HTTP, and its port speaks HTTPS. */
  expectsTls({ id, request }: Pick<Exchange, 'id' | 'request'>): void {
    if (this.#reason !== null) return;
    this.#unanswered.push({ to: request.method, id });
    this.#side = 'config';
    this.#reason = `${new URL(request.url).host} expects HTTPS: ${WRITE_HTTPS}`;
  }

  /** The service gives the same response to every request since this one. */
  broke({ id, request, purpose, response }: Exchange): void {
    if (this.#reason !== null) return;
    this.#since = id;
    this.#side = 'service';
    const to = `${request.method} ${purpose}`;
    this.#reason = `the provider answers ${response?.status} to whatever it is asked; it does since ${to} (${id})`;
  }

  saw(asked: OutageRequest, { response, failure, onPurpose = false }: Answer): void {
    if (this.#reason !== null) return;
    // A proxy may have responded instead.
    const isOutOfReach = failure !== null && UNREACHABLE.has(failure.kind);
    if (response !== null && !isOutOfReach) this.#answered = asked;
    // A response that never ends costs a whole deadline, like one that never begins.
    if (failure === null || (!isOutOfReach && response !== null && failure.kind !== 'response-timeout')) {
      this.#silent = 0;
      this.#unanswered = [];
      return;
    }
    if (!isOutOfReach && !SILENT.has(failure.kind)) return;
    this.#unanswered.push(asked);
    const isOfAddress = failure.kind === 'unresolved' || failure.kind === 'proxy';
    const wasAnswered = this.#answered !== null;
    // A service that was never there may be down, or elsewhere.
    this.#side = wasAnswered === isOfAddress ? null : wasAnswered ? 'service' : 'config';
    if (!onPurpose) this.#silent += 1;
    const enough = this.#answered === null ? 1 : SILENT_IN_A_ROW;
    if (isOutOfReach) this.#end(`cannot be reached: ${failure.message}`, asked);
    else if (this.#silent >= enough)
      this.#end(`does not answer: ${failure.message}`, asked, failure.kind !== 'response-timeout');
  }

  #end(how: string, asked: OutageRequest, isClosed = false): void {
    const last = this.#unanswered.find(({ id }) => id !== asked.id) ?? this.#answered;
    const upon = this.#answered === null ? null : last;
    this.#since = upon?.id ?? null;
    // Many servers close a connection of HTTP to a port of HTTPS.
    const never = isClosed && asked.plain ? `; if this is a port of HTTPS, ${WRITE_HTTPS}` : '';
    const after = upon === null ? never : `; it stopped answering after ${upon.to} (${upon.id})`;
    this.#reason = `the provider ${how}${after}`;
  }
}

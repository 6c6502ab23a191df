import { type Evidence, evidenceToJson } from '../../evidence/evidence.ts';
import type { EvidenceId } from '../../evidence/exchange.ts';
import { curlCommand, type TlsSetup } from '../../evidence/forms/curl.ts';
import type { JournalEvent } from '../../report/results/events.ts';

interface LogOptions {
  readonly service: string;
  readonly record: (event: JournalEvent) => void;
  /** What evidence is for may be said in words of the config, which hold what a reference stands for. */
  readonly redact: (text: string) => string;
  /** How TLS is set up, for commands that repeat a request. */
  readonly tls?: TlsSetup | undefined;
  /** Number of the last piece of evidence that is in the journal already. Default: 0. */
  readonly after?: number | undefined;
}

type RequestKind = Extract<JournalEvent, { type: 'evidence' }>['kind'];

function kindOf({ kind }: Evidence): RequestKind {
  return kind === 'conversation' ? 'handshake' : undefined;
}

/** All evidence of a session, redacted when it comes here: numbered, kept, and journaled as it falls. */
export class EvidenceLog {
  readonly #options: LogOptions;
  readonly #kept = new Map<string, Evidence>();
  #last: number;

  constructor(options: LogOptions) {
    this.#options = options;
    this.#last = options.after ?? 0;
  }

  nextId(): EvidenceId {
    this.#last += 1;
    return `e${this.#last}` as EvidenceId;
  }

  /** `requests`: how many requests to the service it counts as, and of which kind where they are no plain ones. */
  keep<E extends Evidence>(evidence: E, requests: number, kind = kindOf(evidence)): E {
    const { service, record, redact } = this.#options;
    const { id } = evidence;
    const kept = { ...evidence, purpose: redact(evidence.purpose) };
    this.#kept.set(id, kept);
    const { purpose } = kept;
    const value = evidenceToJson(kept);
    record({ type: 'evidence', service, id, purpose, requests, ...(kind && { kind }), value });
    return kept;
  }

  get size(): number {
    return this.#kept.size;
  }

  /** In the order of recording. */
  all(): readonly Evidence[] {
    return [...this.#kept.values()];
  }

  /** A command line that repeats a piece of evidence; null where there is none. */
  reproduce(id: string | null): string | null {
    const evidence = id === null ? undefined : this.#kept.get(id);
    return evidence === undefined || evidence.kind === 'burst'
      ? null
      : curlCommand(evidence, this.#options.tls);
  }
}

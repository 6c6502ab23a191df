import { AsyncLocalStorage } from 'node:async_hooks';
import { documentedSample } from '../../../base/clause.ts';
import { pathValues } from '../../../config/operation/call/call.ts';
import type { ServiceConfig } from '../../../config/service.ts';
import type { JournalEvent } from '../../../report/results/fold/events.ts';
import { type ConversationView, viewConversation } from '../../../wire/conversation/view.ts';
import type { Conversation } from '../../../wire/conversation.ts';
import { type Evidence, evidenceToJson } from '../../../wire/evidence.ts';
import { Reply } from '../../../wire/exchange/reply.ts';
import type { EvidenceId, Exchange } from '../../../wire/exchange.ts';
import { repeatCommand, type TlsSetup } from '../../../wire/forms/curl.ts';
import { wholeOf } from '../../../wire/limit/observed/observing.ts';

interface LogOptions {
  readonly service: string;
  readonly record: (event: JournalEvent) => void;
  /** What evidence is for may be said in words of the config, which hold what a reference stands for. */
  readonly redact: (text: string) => string;
  /** How a command that repeats a request sets up TLS; null if none can repeat one: each is signed anew. */
  readonly repeats: { readonly tls: TlsSetup | undefined } | null;
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
  /** Ids of what is no request of its own to the service: what it sent to us, one of a burst, what others were asked. */
  readonly #beside = new Set<string>();
  /** Ids of requests for tokens, which are none of the API. */
  readonly #tokens = new Set<string>();
  /** By the id of what they send once more: many checks are decided by the same. */
  readonly #commands = new Map<string, string | null>();
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
    if (requests === 0 || evidence.kind === 'burst') this.#beside.add(id);
    if (kind === 'token') this.#tokens.add(id);
    const { purpose } = kept;
    const value = evidenceToJson(kept);
    const probe = askingProbe();
    record({
      type: 'evidence',
      service,
      id,
      purpose,
      requests,
      ...(kind && { kind }),
      ...(probe !== null && { probe }),
      value,
    });
    return kept;
  }

  /** Null for an unknown id. */
  find(id: string): Evidence | null {
    return this.#kept.get(id) ?? null;
  }

  get size(): number {
    return this.#kept.size;
  }

  /** In the order of recording. */
  all(): readonly Evidence[] {
    return [...this.#kept.values()];
  }

  /** The service's answers, in the order of recording: exchanges and conversations, those kept of bursts included. */
  answers(): readonly (Exchange | Conversation)[] {
    const all = this.all();
    const ofBursts = new Set(all.flatMap((each) => (each.kind === 'burst' ? wholeOf(each) : [])));
    return all.flatMap((each) => {
      if (each.kind === 'burst' || this.#tokens.has(each.id)) return [];
      return ofBursts.has(each.id) || !this.#beside.has(each.id) ? [each] : [];
    });
  }

  /** A command line that sends a piece of evidence once more; null where that does not repeat what all of it shows. */
  reproduce(id: string, all: readonly string[]): string | null {
    const evidence = this.#kept.get(id);
    const { repeats } = this.#options;
    if (evidence === undefined || evidence.kind === 'burst' || repeats === null) return null;
    if (all.some((each) => this.#beside.has(each))) return null;
    const before = this.#commands.get(id);
    if (before !== undefined) return before;
    const command = repeatCommand(evidence, repeats.tls);
    this.#commands.set(id, command);
    return command;
  }
}

/**
 * The subject that a piece of evidence is about; the service for any that no document names. `basePath`: begins each
 * target, from the provider's address.
 */
export function subjectOf(evidence: Evidence | null, config: ServiceConfig, basePath: string): string {
  const { service, operations, contract, websocket } = config;
  if (evidence?.kind === 'conversation') {
    return websocket === null ? service : `WebSocket ${pathOf(websocket.url)}`;
  }
  if (evidence?.kind !== 'exchange') return service;
  const { method, target } = evidence.request;
  const path = pathOf(target);
  const below = path.startsWith(basePath) ? path.slice(basePath.length) : path;
  const sample = documentedSample(contract);
  const templates = [
    ...operations.filter((each) => each.method === method).map(({ template }) => template),
    ...(sample?.method === method ? [pathOf(sample.path)] : []),
  ];
  const template =
    templates.find((each) => each === below) ?? templates.find((each) => pathValues(each, below) !== null);
  return template === undefined ? service : `${method} ${template}`;
}

/** The path of a target or an address, without its query. */
function pathOf(target: string): string {
  const [path = ''] = (URL.canParse(target) ? new URL(target).pathname : target).split(/[?#]/, 1);
  return path;
}

const asking = new AsyncLocalStorage<string>();

/** Does what a probe of this name has to do; whatever is sent meanwhile is sent for it. */
export function onBehalfOf<T>(probe: string, send: () => Promise<T>): Promise<T> {
  return asking.run(probe, send);
}

/** Name of the probe for which something is sent here and now; null outside of all. */
export function askingProbe(): string | null {
  return asking.getStore() ?? null;
}

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

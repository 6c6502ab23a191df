import { AsyncLocalStorage } from 'node:async_hooks';
import { documentedSample } from '../../../base/clause.ts';
import { derivedOnce } from '../../../config/derived.ts';
import { pathValues, placeholdersOf } from '../../../config/operation/call/call.ts';
import type { Operation, ServiceConfig } from '../../../config/service.ts';
import type { JournalEvent } from '../../../report/results/fold/events.ts';
import { type ConversationView, viewConversation } from '../../../wire/conversation/view.ts';
import type { Conversation } from '../../../wire/conversation.ts';
import { type Evidence, evidenceToJson } from '../../../wire/evidence.ts';
import { Reply, unreadMessageIn } from '../../../wire/exchange/reply.ts';
import type { EvidenceId, Exchange, RecordedRequest } from '../../../wire/exchange.ts';
import { repeatCommand, type TlsSetup } from '../../../wire/forms/curl.ts';
import { wholeOf } from '../../../wire/limit/observed/observing.ts';

interface LogOptions {
  readonly service: string;
  readonly record: (event: JournalEvent) => void;
  /** Purposes may quote the config, which may contain secrets. */
  readonly redact: (text: string) => string;
  /** TLS setup of commands that repeat a request; null if no command repeats one. */
  readonly repeats: { readonly tls: TlsSetup | undefined } | null;
  /** Number of the last piece of evidence in the journal. Default: 0. */
  readonly after?: number | undefined;
}

type RequestKind = Extract<JournalEvent, { type: 'evidence' }>['kind'];

function kindOf({ kind }: Evidence): RequestKind {
  return kind === 'conversation' ? 'handshake' : undefined;
}

/** The evidence of a session: redacted, numbered, kept and journaled. */
export class EvidenceLog {
  readonly #options: LogOptions;
  readonly #kept = new Map<string, Evidence>();
  /** Ids of evidence that is no single request to the service. */
  readonly #beside = new Set<string>();
  /** Ids of requests for tokens, which are not part of the API. */
  readonly #tokens = new Set<string>();
  /** Names of the probes that brought evidence, by its id. */
  readonly #probes = new Map<string, string>();
  /** By id of the evidence: many checks are decided by the same piece. */
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

  /** `requests`: number of requests to the service. */
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
    if (probe !== null) this.#probes.set(id, probe);
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

  /** null for an unknown id. */
  find(id: string): Evidence | null {
    return this.#kept.get(id) ?? null;
  }

  /** Name of the probe that brought it; null for none, or an unknown id. */
  probeOf(id: string): string | null {
    return this.#probes.get(id) ?? null;
  }

  get size(): number {
    return this.#kept.size;
  }

  /** In the order of recording. */
  all(): readonly Evidence[] {
    return [...this.#kept.values()];
  }

  /** Exchanges and conversations in the order of recording, with those kept of bursts. */
  answers(): readonly (Exchange | Conversation)[] {
    const all = this.all();
    const ofBursts = new Set(all.flatMap((each) => (each.kind === 'burst' ? wholeOf(each) : [])));
    return all.flatMap((each) => {
      if (each.kind === 'burst' || this.#tokens.has(each.id)) return [];
      return ofBursts.has(each.id) || !this.#beside.has(each.id) ? [each] : [];
    });
  }

  /** Answers to requests for keys, in the order of recording. */
  tokens(): readonly Exchange[] {
    return this.all().filter((each) => each.kind === 'exchange' && this.#tokens.has(each.id)) as Exchange[];
  }

  /** A command line that repeats a piece of evidence; null if that would not show all of it. */
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
 * The subject of a piece of evidence: a documented operation or endpoint, else the service. `basePath`: the prefix of
 * each target.
 */
export function subjectOf(evidence: Evidence | null, config: ServiceConfig, basePath: string): string {
  const { service, contract, websocket } = config;
  if (evidence?.kind === 'conversation') {
    return websocket === null ? service : `WebSocket ${pathOf(websocket.url)}`;
  }
  if (evidence?.kind !== 'exchange') return service;
  const { method, target } = evidence.request;
  const path = pathBelow(basePath, target);
  const sample = documentedSample(contract);
  const operation = operationOf(evidence.request, config, basePath);
  if (operation?.template === path) return `${method} ${path}`;
  if (sample?.method === method && pathOf(sample.path) === path) return `${method} ${path}`;
  return operation === null ? service : `${method} ${operation.template}`;
}

/** By config, then by method and path: a document may describe thousands, and each answer is judged many times. */
const found = new WeakMap<ServiceConfig, Map<string, readonly Operation[]>>();

/**
 * The documented operation that a request is for; of several that fit, the one with the fewest parameters, then the one
 * with the most of the query: some documents have `/orders` and `/orders?expand=true`.
 */
export function operationOf(
  { method, target }: Pick<RecordedRequest, 'method' | 'target'>,
  config: ServiceConfig,
  basePath: string,
): Operation | null {
  const path = pathBelow(basePath, target);
  const known = found.get(config) ?? new Map<string, readonly Operation[]>();
  found.set(config, known);
  const key = `${method} ${path}`;
  const fitting = known.get(key) ?? fittingOperations(config, method, path);
  known.set(key, fitting);
  const query = queryOf(target);
  return fitting.find(({ template }) => queryOf(template).every((piece) => query.includes(piece))) ?? null;
}

function fittingOperations(config: ServiceConfig, method: string, path: string): readonly Operation[] {
  const { plain, templated } = operationsByPath(config);
  const fitting = templated.filter((each) => each.method === method && fitsTemplate(each, path));
  return [...(plain.get(`${method} ${path}`) ?? []), ...fitting].sort(
    (a, b) =>
      placeholdersOf(a.template).length - placeholdersOf(b.template).length ||
      queryOf(b.template).length - queryOf(a.template).length ||
      config.operations.indexOf(a) - config.operations.indexOf(b),
  );
}

/** A document may describe thousands, most of them in one path each. */
const operationsByPath = derivedOnce(
  ({ operations }) => [operations],
  ({ operations }) => ({
    /** By method and the path of their template. */
    plain: Map.groupBy(operations, ({ method, template }) => `${method} ${templatePath(template)}`),
    /** With parameters in their path. */
    templated: operations.filter(({ template }) => templatePath(template).includes('{')),
  }),
);

/** A path that is the template itself is one of `plain`. */
function fitsTemplate({ template }: Operation, path: string): boolean {
  const own = templatePath(template);
  return own !== path && pathValues(own, path) !== null;
}

function templatePath(template: string): string {
  const [path = ''] = template.split('?', 1);
  return path;
}

/** Its pieces: `expand=true`. */
function queryOf(target: string): readonly string[] {
  const [, query = ''] = target.split('?', 2);
  return query === '' ? [] : query.split('&');
}

function pathBelow(basePath: string, target: string): string {
  const path = pathOf(target);
  return path.startsWith(basePath) ? path.slice(basePath.length) : path;
}

/** Without the query. */
function pathOf(target: string): string {
  const [path = ''] = (URL.canParse(target) ? new URL(target).pathname : target).split(/[?#]/, 1);
  return path;
}

const asking = new AsyncLocalStorage<string>();

/** Runs the sending of a probe; its evidence gets this name. */
export function onBehalfOf<T>(probe: string, send: () => Promise<T>): Promise<T> {
  return asking.run(probe, send);
}

/** Name of the probe that is being sent; null for none. */
export function askingProbe(): string | null {
  return asking.getStore() ?? null;
}

type Log = Pick<EvidenceLog, 'answers' | 'tokens' | 'find' | 'probeOf' | 'reproduce' | 'size'>;

/** Every answer of the service so far, of all sessions and stimuli, as checks read it. */
export class AnswerRecord {
  readonly #logs: Log[] = [];
  readonly #replies = new Map<string, Reply>();
  readonly #conversations = new Map<string, ConversationView>();
  #exchangesRead: readonly Reply[] = [];
  #conversationsRead: readonly ConversationView[] = [];
  /** Pieces of evidence of all logs that were read. */
  #read = 0;

  add(log: Log): void {
    this.#logs.push(log);
  }

  /** In the order of recording, including those without a response. */
  get exchanges(): readonly Reply[] {
    this.#readLogs();
    return this.#exchangesRead;
  }

  /** Answers to requests for keys, which are not part of the API. */
  get tokens(): readonly Reply[] {
    return this.#logs.flatMap((log) => log.tokens().map((each) => new Reply(each)));
  }

  get conversations(): readonly ConversationView[] {
    this.#readLogs();
    return this.#conversationsRead;
  }

  /** Each check reads the record, which has grown since the one before it at most by a few pieces. */
  #readLogs(): void {
    const size = this.#logs.reduce((sum, log) => sum + log.size, 0);
    if (size === this.#read) return;
    this.#read = size;
    for (const each of this.#logs.flatMap((log) => log.answers())) {
      if (each.kind === 'exchange') {
        if (!this.#replies.has(each.id)) this.#replies.set(each.id, new Reply(each));
      } else if (!this.#conversations.has(each.id)) {
        this.#conversations.set(each.id, viewConversation(each));
      }
    }
    this.#exchangesRead = [...this.#replies.values()];
    this.#conversationsRead = [...this.#conversations.values()];
  }

  /** Names the first answer that is no HTTP response, though its request was ordinary; null for none. */
  unreadMessage(ids?: readonly string[]): string | null {
    const { exchanges } = this;
    if (ids === undefined) return unreadMessageIn(exchanges);
    const wanted = new Set(ids);
    return unreadMessageIn(exchanges.filter(({ evidence }) => wanted.has(evidence)));
  }

  find(id: string): Evidence | null {
    return this.#logOf(id)?.find(id) ?? null;
  }

  probeOf(id: string): string | null {
    return this.#logOf(id)?.probeOf(id) ?? null;
  }

  reproduce(id: string, all: readonly string[]): string | null {
    return this.#logOf(id)?.reproduce(id, all) ?? null;
  }

  #logOf(id: string): Log | undefined {
    return this.#logs.find((log) => log.find(id) !== null);
  }
}

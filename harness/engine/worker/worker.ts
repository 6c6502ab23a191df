import { isJsonObject } from '../../base/json-text.ts';
import { unpackRunSecrets, unpackService } from '../../config/secrets.ts';
import type { ServiceConfig } from '../../config/service.ts';
import { openVerifier, type PactVerifier } from '../../providers/pact/verifier.ts';
import type { JournalEvent } from '../../report/results/fold/events.ts';
import { announcement } from '../../report/terminal/estimate.ts';
import { systemClock } from '../../wire/pace/clock.ts';
import { openJournal } from '../../wire/record/journal.ts';
import { createRedaction, type Redaction, SoughtSecrets } from '../../wire/redaction/redaction.ts';
import { type CheckDefinition, type Suite, suitesFor } from '../check/check.ts';
import type { Judgment } from '../check/judge.ts';
import { judgeInSessions, startsFresh } from '../check/plan.ts';
import { estimate } from '../estimate.ts';
import { loadSuites, selectById } from '../selection/selection.ts';
import { type LiveSessionOptions, openLiveSession, type Session } from '../session/session.ts';
import type { AnswerRecord } from '../session/turn/evidence-log.ts';
import { type Simulation, simulate } from '../simulation/simulation.ts';
import type { QuotaTurn } from '../turns/turns.ts';
import {
  askFor,
  hearSecrets,
  isSimulated,
  learnedElsewhere,
  type RunInput,
  type ServiceInput,
  type ServiceMessage,
  type ServiceNews,
  type WorkerInput,
  type WorkerMessage,
} from './channel.ts';

/** The main process ends a worker after a much longer silence. */
const ALIVE_EVERY_MS = 500;

/** Milliseconds between two requests that the progress names. */
const SHOWN_EVERY_MS = 250;

/** Milliseconds: the next service needs Pact soon after the last, and a restart is slow. */
const PACT_IDLE_MS = 10_000;

export interface Worker {
  readonly services: readonly {
    readonly service: string;
    /** Aborted, it ends before the next check. */
    run(signal: AbortSignal): Promise<void>;
  }[];
  /** Also ends services that were cut short. */
  finish(): Promise<void>;
}

/** Shared by the services of a worker. */
interface WorkerMeans {
  readonly run: RunInput;
  readonly suites: readonly Suite[];
  readonly sought: SoughtSecrets;
  readonly verifier: PactVerifier;
  readonly record: (event: JournalEvent) => void;
  readonly tell: (message: WorkerMessage) => void;
}

/** The worker's side of a run: sessions, journal and signs of life. */
export async function openWorker({ run, services }: WorkerInput): Promise<Worker> {
  const redactions = new Map<string, Redaction>();
  const send = inBatches((messages) => process.send?.(messages));
  const tell = (message: WorkerMessage) => {
    send(message);
    if (message.type !== 'secret') return;
    const { secretName, secretValue } = learnedElsewhere(message);
    for (const [service, redaction] of redactions) {
      if (service !== message.service) redaction.add(secretName, secretValue);
    }
  };
  tell({ conform: 1, type: 'hello', pid: process.pid });
  const pulse = setInterval(() => tell({ conform: 1, type: 'alive' }), ALIVE_EVERY_MS);
  pulse.unref();
  hearSecrets(({ secretName, secretValue }) => {
    for (const redaction of redactions.values()) redaction.add(secretName, secretValue);
  });

  const journal = openJournal(run.journalPath, (line, why) =>
    tell({ conform: 1, type: 'unwritten', line, why }),
  );
  const unpacked = services.map((input) => ({ input, config: unpackService(input.config) }));
  const means: WorkerMeans = {
    run,
    suites: await loadSuites(
      run.suitesUrl,
      unpacked.map(({ config }) => config),
    ),
    sought: new SoughtSecrets(),
    verifier: openVerifier(services.length > 1 ? { idleMs: PACT_IDLE_MS } : {}),
    record: (event) => journal.append(event),
    tell,
  };
  const open = unpacked.map(({ input, config }) => {
    const redaction = createRedaction(unpackRunSecrets(run.secrets, input.service), means.sought);
    redactions.set(input.service, redaction);
    return new ServiceRun(input, config, redaction, means);
  });
  for (const each of open) each.announce();
  return {
    services: open,
    async finish() {
      clearInterval(pulse);
      await Promise.all(open.map((each) => each.finish()));
      await means.verifier.close();
    },
  };
}

/**
 * Sends outcomes of one service in batches, since a message takes as long as many a check. Messages that others wait
 * for, and those of another service, go at once, so that the current service is always known.
 */
function inBatches(send: (messages: readonly WorkerMessage[]) => void): (message: WorkerMessage) => void {
  let held: WorkerMessage[] = [];
  let lastOf: string | null = null;
  const release = () => {
    if (held.length > 0) send(held);
    held = [];
  };
  return (message) => {
    const service = 'service' in message ? message.service : lastOf;
    // The current service is known.
    const tellsNothing = message.type === 'evidence' && message.request === null;
    if (tellsNothing && service === lastOf && held.length === 0) return;
    const canWait = message.type === 'outcome' && message.outcome !== 'fail' && service === lastOf;
    lastOf = service;
    if (held.length === 0 && canWait) setImmediate(release);
    held.push(message);
    if (!canWait) release();
  };
}

class ServiceRun {
  readonly service: string;
  readonly #isSimulated: boolean;
  readonly #input: ServiceInput;
  readonly #means: WorkerMeans;
  readonly #redaction: Redaction;
  readonly #config: ServiceConfig;
  readonly #suites: readonly Suite[];
  readonly #selected: ReadonlySet<string>;
  readonly #closed = { requestsSent: 0, durationMs: 0 };
  #session: Session | null = null;
  #lastEvidence: number;
  #pieces = 0;
  #begun = false;
  #shownMs = Number.NEGATIVE_INFINITY;
  #outageReported = false;
  #simulation: Simulation | null = null;
  #firstUrl: string | null = null;
  #finished: Promise<void> | null = null;

  constructor(input: ServiceInput, config: ServiceConfig, redaction: Redaction, means: WorkerMeans) {
    this.service = input.service;
    this.#isSimulated = isSimulated(input);
    this.#input = input;
    this.#means = means;
    this.#redaction = redaction;
    this.#config = config;
    this.#selected = new Set(input.selected);
    const judged = new Set(input.left?.judged);
    const rest = input.selected.filter((id) => !judged.has(id));
    this.#suites = selectById(suitesFor(means.suites, this.#config), rest);
    this.#lastEvidence = input.left?.lastEvidence ?? 0;
  }

  announce(): void {
    const cost = this.#isSimulated
      ? 'in simulated time'
      : announcement(estimate(this.#config, { suites: this.#suites, catalogue: 0 }));
    this.#tell({ type: 'estimate', cost });
  }

  /** A field, so that it can be passed on. */
  readonly run = async (signal: AbortSignal): Promise<void> => {
    this.#begun = true;
    if (this.#isSimulated) this.#simulation = await simulate(this.#config);
    const { strict, checkLimitMs } = this.#means.run;
    const judged = judgeInSessions(this.#suites, this.#config, {
      open: (recorded) => this.#open(recorded, signal),
      asked: () => this.#pieces,
      strict,
      signal,
      selected: this.#selected,
      ...(checkLimitMs === null ? {} : { limitMs: checkLimitMs }),
    });
    try {
      for await (const { suite, check, judgment } of judged) {
        this.#conclude(suite, check, judgment);
        signal.throwIfAborted();
      }
    } catch (error) {
      // The canceller reports the rest.
      if (!signal.aborted) throw error;
    } finally {
      await this.finish();
    }
  };

  async finish(): Promise<void> {
    if (!this.#begun) return;
    this.#finished ??= this.#finish();
    await this.#finished;
  }

  async #finish(): Promise<void> {
    await this.#close();
    await this.#simulation?.stop();
    this.#means.record({ type: 'service-finished', service: this.service, ...this.#closed });
    this.#tell({ type: 'finished' });
  }

  #conclude(suite: Suite, { id }: CheckDefinition, judgment: Judgment): void {
    this.#means.record({ type: 'outcome', service: this.service, id, ...judgment });
    this.#tell({ type: 'outcome', suite: suite.name, id, outcome: judgment.outcome });
    this.#reportOutage();
  }

  #reportOutage(): void {
    const reason = this.#session?.outage ?? null;
    if (reason === null || this.#outageReported) return;
    this.#outageReported = true;
    const fault = this.#session?.outageSide ?? null;
    const side = fault === null ? {} : { fault };
    this.#means.record({ type: 'service-trouble', service: this.service, reason, ...side });
    this.#tell({ type: 'outage', reason });
  }

  /** After the service got its quota or its provider restarted; otherwise nothing is sent. */
  async #open(recorded: AnswerRecord, signal: AbortSignal): Promise<Session> {
    await this.#close();
    const isFirst = this.#firstUrl === null;
    const reply = isFirst
      ? await this.#turn()
      : await askFor('renewed', this.service, () => this.#tell({ type: 'renew' }));
    this.#firstUrl ??= this.#input.providerUrl ?? this.#simulation?.providerUrl ?? '';
    const { runId, userAgent } = this.#means.run;
    const session = openLiveSession({
      config: this.#config,
      clock: systemClock,
      verifier: this.#means.verifier,
      ...this.#simulation,
      providerUrl: 'url' in reply ? reply.url : this.#firstUrl,
      runId,
      userAgent,
      redaction: this.#redaction,
      record: (event) => this.#record(event),
      learned: (secret) => this.#tell({ type: 'secret', name: secret.name, value: secret.reveal() }),
      evidenceBefore: this.#lastEvidence,
      recorded,
      ...(isFirst && this.#spentBefore('usedAgoMs' in reply ? reply.usedAgoMs : null)),
      runAlone: this.#input.runAlone,
    });
    this.#outageReported = false;
    this.#session = 'reason' in reply ? { ...session, outage: reply.reason } : session;
    signal.throwIfAborted();
    return this.#session;
  }

  /** A provider in this process has no other clients. */
  async #turn(): Promise<QuotaTurn> {
    if (this.#isSimulated) return { usedAgoMs: null };
    return askFor('turn', this.service, () => this.#tell({ type: 'turn' }));
  }

  #spentBefore(usedAgoMs: number | null): Pick<LiveSessionOptions, 'quotaSpentMs' | 'requestsBefore'> {
    const { left } = this.#input;
    const leftAgoMs = left === null || left.lastEvidence === 0 ? null : Date.now() - left.endedMs;
    // With a provider for each suite, counts start again.
    const requestsBefore = startsFresh(this.#config) ? 0 : left?.requestsSent;
    return { quotaSpentMs: leftAgoMs ?? usedAgoMs, requestsBefore };
  }

  async #close(): Promise<void> {
    const closed = await this.#session?.close();
    // Frees its memory: others of this worker may continue for long.
    this.#session = null;
    this.#closed.requestsSent += closed?.requestsSent ?? 0;
    this.#closed.durationMs += closed?.durationMs ?? 0;
  }

  #record(event: JournalEvent): void {
    this.#means.record(event);
    if (event.type === 'evidence') {
      this.#pieces += 1;
      this.#lastEvidence = Math.max(this.#lastEvidence, Number(event.id.slice(1)));
      this.#tell({ type: 'evidence', request: this.#requestShown(event.value) });
    }
    if (event.type === 'waiting' && this.#simulation === null)
      this.#tell({ type: 'waiting', reason: event.reason, untilMs: event.untilMs });
  }

  /** Its method and path, if that of another one was not sent just before. */
  #requestShown(evidence: unknown): string | null {
    const now = performance.now();
    if (now - this.#shownMs < SHOWN_EVERY_MS || !isJsonObject(evidence) || !isJsonObject(evidence.request))
      return null;
    const { method, url } = evidence.request;
    if (typeof method !== 'string' || typeof url !== 'string') return null;
    this.#shownMs = now;
    return `${method} ${URL.parse(url)?.pathname ?? ''}`;
  }

  #tell(news: ServiceNews): void {
    this.#means.tell({ ...news, conform: 1, service: this.service } as ServiceMessage);
  }
}

import { AsyncLocalStorage } from 'node:async_hooks';
import pLimit from 'p-limit';
import { documentedSample, type Sample } from '../../../base/clause.ts';
import { Blocked } from '../../../base/verdict.ts';
import type { ReadyCredentials } from '../../../config/credential/ready-credentials.ts';
import { serviceSecrets } from '../../../config/secrets.ts';
import type { ServiceConfig } from '../../../config/service.ts';
import type { JournalEvent } from '../../../report/results/fold/events.ts';
import type { Conversation } from '../../../wire/conversation.ts';
import type { Exchange } from '../../../wire/exchange.ts';
import { faceOf, isLimitersRefusal, type RefusalFace } from '../../../wire/limit/observed/observation.ts';
import { type Budget, BudgetExhausted, openBudget } from '../../../wire/pace/budget.ts';
import type { Clock } from '../../../wire/pace/clock.ts';
import { createRedaction, type Redaction } from '../../../wire/redaction/redaction.ts';
import { holdSecrets } from '../../../wire/socket/address.ts';
import { networkOf, type TransportOptions } from '../../../wire/socket/options.ts';
import type { Wire } from '../../../wire/wire.ts';
import { EvidenceLog } from './evidence-log.ts';
import { KeyTrial } from './key-trial.ts';
import { OutageWatch } from './outage.ts';
import { AnswerTimes, Pauses } from './run-time.ts';

/**
 * How many WebSocket connections are open at the same time: one, for a service may keep no more of one client, until
 * it is known to keep several.
 */
export class Places {
  readonly #limit = pLimit(1);
  readonly #taken = new AsyncLocalStorage<true>();

  /** So many are kept, as was found out. */
  widen(count: number): void {
    this.#limit.concurrency = Math.max(1, count);
  }

  /** What is opened in the course of a conversation belongs to it, and takes no place of its own. */
  take<T>(conversing: () => Promise<T>): Promise<T> {
    if (this.#taken.getStore()) return conversing();
    return this.#limit(() => this.#taken.run(true, conversing));
  }
}

/** What a service was given all the time for, and did not do: on the next connections it is waited for less long. */
export interface InVain {
  /** It has not ended a connection that it must end, be it for a Close of ours. */
  end: boolean;
}

/** What the parts of a session share: whatever goes out is budgeted, redacted, recorded, and stops when nobody is there. */
export interface SessionContext {
  readonly config: ServiceConfig;
  /** The request that the contract documents. */
  readonly documented: Sample;
  readonly transport: TransportOptions;
  readonly wire: Wire;
  readonly budget: Budget;
  readonly outage: OutageWatch;
  readonly answerTimes: AnswerTimes;
  /** Of WebSocket connections. */
  readonly places: Places;
  readonly inVain: InVain;
  readonly limiter: LimiterRefusal;
  readonly log: EvidenceLog;
  readonly pauses: Pauses;
  readonly credentials: ReadyCredentials;
  readonly key: KeyTrial;
  readonly record: (event: JournalEvent) => void;
  /** Puts a sentence on record of how the run went: about the service's surroundings, and no verdict on it. */
  readonly remark: (text: string) => void;
  /** Uniform in [0, 1); what waits are spread by. */
  readonly random: () => number;
}

export interface ContextOptions {
  readonly config: ServiceConfig;
  readonly providerUrl: string;
  readonly runId: string;
  /** `conform/1.2.3`. */
  readonly userAgent: string;
  readonly clock: Clock;
  readonly wire: Wire;
  readonly record: (event: JournalEvent) => void;
  /** Knows the secrets of the run; those of the service alone when left out. */
  readonly redaction?: Redaction;
  /** So long ago, in ms, an earlier session may have spent the quota; null where none has. */
  readonly quotaSpentMs?: number | null;
  /** Number of the last piece of evidence that an earlier session has put into the same journal. Default: 0. */
  readonly evidenceBefore?: number;
  /** So many requests of the run an earlier session has sent, where it was cut short. Default: 0. */
  readonly requestsBefore?: number | undefined;
  /** Uniform in [0, 1); what waits are spread by. `Math.random` when left out. */
  readonly random?: () => number;
  /** A command line that runs this service by itself, without its secrets; `conform run SERVICE` when left out. */
  readonly runAlone?: string;
}

export function openSessionContext(options: ContextOptions): Omit<SessionContext, 'credentials'> {
  const { config, clock, record } = options;
  const { service } = config;
  const pauses = new Pauses(clock, service, record);
  const transport = transportOf(options);
  const budget = openBudget({
    plan: config.plan,
    ...(config.plan?.further && { further: config.plan.further }),
    maxRequests: config.safety.maxRequests,
    before: options.requestsBefore,
    clock,
    concurrency: 4,
    waiting: (wait) => pauses.announce(wait),
  });
  const leftMs = (config.plan?.windowMs ?? 0) - (options.quotaSpentMs ?? Number.POSITIVE_INFINITY);
  if (config.plan && leftMs > 0) budget.setAside(config.plan.requests, leftMs);
  const outage = new OutageWatch();
  const remark = (text: string) => record({ type: 'remark', service, text: transport.redaction.sink(text) });
  return {
    config,
    documented: documentedSample(config.contract) ?? PLAINEST,
    transport,
    wire: options.wire,
    budget,
    outage,
    key: new KeyTrial({ config, outage, remark }),
    answerTimes: new AnswerTimes(config.timeouts.responseMs),
    places: new Places(),
    inVain: { end: false },
    limiter: new LimiterRefusal(),
    log: new EvidenceLog({
      service,
      record,
      redact: (text) => transport.redaction.sink(text),
      // What is signed holds for one moment only.
      repeats: config.credentials.carrier?.in === 'signature' ? null : { tls: config.tls },
      after: options.evidenceBefore,
    }),
    pauses,
    record,
    remark,
    random: options.random ?? Math.random,
  };
}

function transportOf({
  config,
  providerUrl,
  clock,
  userAgent,
  runId,
  redaction,
}: ContextOptions): TransportOptions {
  const { headers = [] } = config;
  return {
    baseUrl: providerUrl,
    timeouts: config.timeouts,
    redaction: redaction ?? createRedaction(serviceSecrets(config)),
    clock,
    userAgent,
    runId,
    // Where anybody may call, nothing that is sent needs to be hidden.
    plainHttp: config.safety.plainHttp || (config.credentials.carrier === null && !holdSecrets(headers)),
    headers,
    ...networkOf(config),
  };
}

/** Stands for the service where the contract documents no request: GET of its base address. */
const PLAINEST: Sample = { method: 'GET', path: '/', fields: {}, body: null };

/** Why a request that was refused for its rate shows nothing of what it was for. */
export function rateLimited(
  { config: { plan }, budget }: Pick<SessionContext, 'config' | 'budget'>,
  { response }: Pick<Exchange, 'response'>,
): string {
  const allowed =
    plan === null ? 'no plan is known' : `the plan allows ${plan.requests} in ${plan.windowMs / 1000} s`;
  const because = budget.isSpent()
    ? 'this run itself may have spent the quota'
    : 'others spend this quota, or it is smaller than that';
  const how = response === null ? 'refused by an end of the connection' : `answered ${response.status}`;
  return `${how} after ${budget.spent()} requests of this run (${allowed}): ${because}`;
}

/** For what was to be sent within the budget. @throws Blocked where it is spent. */
export function blockedByBudget(error: unknown): never {
  if (error instanceof BudgetExhausted) throw new Blocked(error.message);
  throw error;
}

/** How the limiter of the service refuses: 429, and whatever was met when the limit was exceeded on purpose. */
export class LimiterRefusal {
  #face: RefusalFace | null = null;

  /** What was met; null while nothing was. */
  get face(): RefusalFace | null {
    return this.#face;
  }

  /** The first one that is met is what it looks like. */
  met(refusal: Pick<Exchange, 'response'>): void {
    this.#face ??= faceOf(refusal);
  }

  isIn(answer: Pick<Exchange, 'response' | 'failure'>): boolean {
    return isLimitersRefusal(answer, this.#face);
  }
}

/** A probe being sent: what it records is what its answer rests on. */
export interface Turn {
  /** Ends when the check that asked is given up. */
  readonly signal: AbortSignal;
  /** Ids of the evidence so far. */
  readonly trail: Set<string>;
  /** Puts what was done on record; it counts as so many requests to the service. @throws Blocked where it shows nothing of what it was for. */
  keep<E extends Exchange | Conversation>(done: E, requests?: number): E;
}

export function openTurn(log: EvidenceLog, outage: OutageWatch, signal: AbortSignal): Turn {
  const trail = new Set<string>();
  return {
    signal,
    trail,
    keep(done, requests = 1) {
      trail.add(log.keep(done, requests).id);
      outage.requireReachable();
      if (done.failure?.kind === 'not-sent') throw new Blocked(done.failure.message);
      return done;
    },
  };
}

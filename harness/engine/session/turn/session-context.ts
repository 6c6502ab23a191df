import { AsyncLocalStorage } from 'node:async_hooks';
import pLimit from 'p-limit';
import { documentedSample, type Sample } from '../../../base/clause.ts';
import type { Secret } from '../../../base/secret.ts';
import { Blocked } from '../../../base/verdict.ts';
import { derivedSecrets } from '../../../config/credential/placing.ts';
import { ReadyCredentials } from '../../../config/credential/ready-credentials.ts';
import type { ObtainingPort } from '../../../config/credential/scheme.ts';
import { formOf } from '../../../config/credential/stand-in.ts';
import { serviceSecrets } from '../../../config/secrets.ts';
import type { ServiceConfig } from '../../../config/service.ts';
import type { JournalEvent } from '../../../report/results/fold/events.ts';
import type { Conversation } from '../../../wire/conversation.ts';
import type { Exchange } from '../../../wire/exchange.ts';
import { faceOf, isLimitersRefusal, type RefusalFace } from '../../../wire/limit/observed/observation.ts';
import { type Budget, BudgetExhausted, openBudget } from '../../../wire/pace/budget.ts';
import type { Clock } from '../../../wire/pace/clock.ts';
import { createRedaction, type Redaction } from '../../../wire/redaction/redaction.ts';
import { addressOf } from '../../../wire/socket/address.ts';
import { HttpVersions } from '../../../wire/socket/http-versions.ts';
import { networkOf, type TransportOptions, transportTo } from '../../../wire/socket/options.ts';
import type { Wire } from '../../../wire/wire.ts';
import { EvidenceLog } from './evidence-log.ts';
import { type KeyTrial, keyTrial } from './key-trial.ts';
import { OutageWatch } from './outage.ts';
import { AnswerTimes, openPauses, type Pauses } from './run-time.ts';

/**
 * Limits the WebSocket connections that are open at the same time: to one, since a service may keep only one of a
 * client, until it is known to keep more.
 */
export class Places {
  readonly #limit = pLimit(1);
  readonly #taken = new AsyncLocalStorage<true>();

  /** The service keeps this many. */
  widen(count: number): void {
    this.#limit.concurrency = Math.max(1, count);
  }

  /** Connections opened within a conversation take no place of their own. */
  take<T>(conversing: () => Promise<T>): Promise<T> {
    if (this.#taken.getStore()) return conversing();
    return this.#limit(() => this.#taken.run(true, conversing));
  }
}

/** Timeouts so far: later waits for the same are shorter. */
export interface CloseTimeout {
  /** A connection was not ended when it had to be, perhaps after our Close. */
  timedOut: boolean;
}

/** Shared by the parts of a session: everything sent is budgeted, redacted and recorded, and stops in an outage. */
export interface SessionContext {
  readonly config: ServiceConfig;
  readonly documented: Sample;
  readonly transport: TransportOptions;
  /** Of HTTP, in which the service is asked. */
  readonly versions: HttpVersions;
  readonly wire: Wire;
  readonly budget: Budget;
  readonly outage: OutageWatch;
  readonly answerTimes: AnswerTimes;
  /** Of WebSocket connections. */
  readonly places: Places;
  readonly closing: CloseTimeout;
  readonly limiter: LimiterRefusal;
  readonly log: EvidenceLog;
  readonly pauses: Pauses;
  readonly credentials: ReadyCredentials;
  /** Where credentials that are obtained come from. */
  readonly issuer: ObtainingPort;
  readonly key: KeyTrial;
  readonly record: (event: JournalEvent) => void;
  /** Records a sentence about the surroundings of the run; no verdict. */
  readonly remark: (text: string) => void;
  /** Uniform in [0, 1), for spreading waits. */
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
  /** Called with each secret that arrives, before it is used. */
  readonly learned?: ((secret: Secret) => void) | undefined;
  /** Knows the secrets of the run. Default: those of the service. */
  readonly redaction?: Redaction;
  /** Milliseconds since an earlier session may have spent the quota; null if none has. */
  readonly quotaSpentMs?: number | null;
  /** Number of the last evidence of an earlier session in the journal. Default: 0. */
  readonly evidenceBefore?: number;
  /** Requests already sent by an earlier session. Default: 0. */
  readonly requestsBefore?: number | undefined;
  /** Default: `Math.random`. */
  readonly random?: () => number;
  /** A command line that runs this service alone, without secrets. Default: `conform run SERVICE`. */
  readonly runAlone?: string;
}

export function openSessionContext(options: ContextOptions): SessionContext {
  const { config, clock, record } = options;
  const { service } = config;
  const pauses = openPauses(clock, service, record);
  const versions = new HttpVersions(config.http2 === true);
  const transport = transportOf({ ...options, versions });
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
  const context = {
    config,
    documented: documentedSample(config.contract) ?? PLAINEST,
    transport,
    versions,
    wire: options.wire,
    budget,
    outage,
    key: keyTrial({ config, outage, remark }),
    answerTimes: new AnswerTimes(config.timeouts.responseMs),
    places: new Places(),
    closing: { timedOut: false },
    limiter: limiterRefusal(),
    log: new EvidenceLog({
      service,
      record,
      redact: (text) => transport.redaction.sink(text),
      repeats: canRepeat(config) ? { tls: config.tls } : null,
      after: options.evidenceBefore,
    }),
    pauses,
    record,
    remark,
    random: options.random ?? Math.random,
  };
  const issuer = openIssuer(context, options.learned);
  // An issuer that gives no key may be down, or refuse what the config sends.
  const credentials = new ReadyCredentials(config.credentials, issuer, transport.clock, (reason) =>
    context.outage.giveUp(reason, null),
  );
  return { ...context, issuer, credentials };
}

/** A signature holds for one moment, and what a run starts is gone afterwards. */
function canRepeat({ credentials, provider }: ServiceConfig): boolean {
  return (
    credentials.carrier?.in !== 'signature' && provider.kind !== 'container' && provider.kind !== 'command'
  );
}

function transportOf({
  config,
  versions,
  providerUrl,
  clock,
  userAgent,
  runId,
  redaction,
}: ContextOptions & Pick<SessionContext, 'versions'>): TransportOptions {
  const { headers = [] } = config;
  return {
    baseUrl: providerUrl,
    timeouts: config.timeouts,
    redaction: redaction ?? createRedaction(serviceSecrets(config)),
    clock,
    userAgent,
    runId,
    plainHttp: config.safety.plainHttp,
    // A service without credentials needs no TLS.
    bare: config.credentials.carrier === null,
    versions,
    headers,
    ...networkOf(config),
  };
}

/** For a contract without a documented request. */
const PLAINEST: Sample = { method: 'GET', path: '/', fields: {}, body: null };

/** Why a request that was refused for its rate shows nothing. */
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

/** @throws Blocked if the budget is spent. */
export function blockedByBudget(error: unknown): never {
  if (error instanceof BudgetExhausted) throw new Blocked(error.message);
  throw error;
}

export type LimiterRefusal = ReturnType<typeof limiterRefusal>;

/** The form of the limiter's refusals: 429, and the one met when the limit was exceeded on purpose. */
export function limiterRefusal() {
  let face: RefusalFace | null = null;
  return {
    get face() {
      return face;
    },
    /** The first one counts. */
    met(refusal: Pick<Exchange, 'response'>): void {
      face ??= faceOf(refusal);
    },
    isIn: (answer: Pick<Exchange, 'response' | 'failure'>): boolean => isLimitersRefusal(answer, face),
  };
}

/** The sending of a probe; its result rests on the evidence recorded meanwhile. */
export interface Turn {
  /** Aborted if the check that asked is given up. */
  readonly signal: AbortSignal;
  /** Ids of the evidence so far. */
  readonly trail: Set<string>;
  /** Records evidence that counts as a number of requests. @throws Blocked if it shows nothing. */
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

/** Largest token response in octets. */
const MOST_OCTETS = 64 * 1024;

/** Credentials that are obtained are requested over the same transport. */
function openIssuer(
  context: Omit<SessionContext, 'credentials' | 'issuer'>,
  learned: (secret: Secret) => void = () => undefined,
): ObtainingPort {
  const { config, transport, wire, budget, log, record } = context;
  return {
    async post({ method = 'POST', url, fields, body, purpose }, secretsIn) {
      const isPath = url.startsWith('/');
      const { origin, pathname, search } = new URL(url, transport.baseUrl);
      const isOwn = origin === new URL(transport.baseUrl).origin;
      const request = {
        method,
        target: isPath ? `${addressOf(transport.baseUrl).prefix}${url}` : `${pathname}${search}`,
        fields,
        body: method === 'GET' ? null : Buffer.from(body),
      };
      if (isOwn) {
        try {
          budget.count();
        } catch (error) {
          blockedByBudget(error);
        }
      }
      const limits = { ...transport.limits, bodyBytes: MOST_OCTETS };
      const http = wire.openHttp({ ...transportTo(origin, transport), limits });
      try {
        // It is secret like a key of the service, but costs no quota.
        const done = await http.send(request, {
          id: log.nextId(),
          purpose,
          credential: 'right',
          secretsIn(content, fields) {
            const found = secretsIn(content, fields);
            if (found) record({ type: 'secrets', service: config.service, forms: found.map(formOf) });
            const secrets = found?.flatMap((secret) => [secret, ...derivedSecrets(secret)]) ?? null;
            secrets?.forEach(learned);
            return secrets;
          },
        });
        return log.keep({ ...done, credential: 'none' }, isOwn ? 1 : 0, 'token');
      } finally {
        await http.close();
      }
    },
  };
}

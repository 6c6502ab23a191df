import { serviceSecrets } from './config/secrets.ts';
import type { ServiceConfig } from './config/service.ts';
import { documentedSample, type Sample } from './contract/clause.ts';
import type { Secret } from './credential/secret.ts';
import { createRedaction } from './evidence/redaction/redaction.ts';
import { openVerifier, type PactVerifier } from './pact/verifier.ts';
import type { JournalEvent } from './report/results/events.ts';
import { openCredentials } from './session/credentials.ts';
import { quotaPort } from './session/http/burst.ts';
import { ServiceHttp } from './session/http/service-http.ts';
import { pactPort } from './session/pact/verification.ts';
import { type Port, type Probe, ProbeMemory, type Remembered } from './session/probe.ts';
import { EvidenceLog } from './session/turn/evidence-log.ts';
import type { SessionMeans } from './session/turn/means.ts';
import { OutageWatch } from './session/turn/outage.ts';
import { Pauses } from './session/turn/pause.ts';
import { openTurn, type Turn } from './session/turn/turn.ts';
import { webhookPort } from './session/webhooks.ts';
import { webSocketPort } from './session/websocket/conversation.ts';
import { openBudget } from './transport/pace/budget.ts';
import { type Clock, startDeadline } from './transport/pace/clock.ts';
import type { TransportOptions } from './transport/socket/options.ts';
import { Blocked } from './verdict.ts';

export { type Port, type Probe, probe } from './session/probe.ts';

export interface SessionOptions {
  readonly config: ServiceConfig;
  readonly providerUrl: string;
  readonly runId: string;
  /** `conform/1.2.3`. */
  readonly userAgent: string;
  readonly clock: Clock;
  readonly record: (event: JournalEvent) => void;
  /** Told of each secret that arrives, before it is used. */
  readonly learned?: (secret: Secret) => void;
  /** Number of the last piece of evidence that an earlier session has put into the same journal. Default: 0. */
  readonly evidenceBefore?: number;
  /** Uniform in [0, 1); what waits are spread by. `Math.random` when left out. */
  readonly random?: () => number;
  /** One that several sessions share; the session has one of its own when left out. */
  readonly verifier?: PactVerifier;
}

/** One service under test: its transports, its request budget, the memory of its probes, its line to the journal. */
export interface Session {
  readonly config: ServiceConfig;
  readonly clock: Clock;
  /** Why nothing more can be asked of the service; null while it can. */
  readonly outage: string | null;
  /** How long the session has waited on purpose so far, in ms. */
  readonly waitedMs: number;
  ask<E>(probe: Probe<E>, signal: AbortSignal): Promise<Remembered<E>>;
  observe(observation: { readonly key: string; readonly value: unknown; readonly check: string }): void;
  /** A command line that repeats a piece of evidence; null where there is none. */
  reproduce(evidenceId: string | null): string | null;
  redact(text: string): string;
  close(): Promise<{ readonly requestsSent: number; readonly durationMs: number }>;
}

export function openSession(options: SessionOptions): Session {
  const { config, clock, record } = options;
  const { service } = config;
  const pauses = new Pauses(clock, service, record);
  const budget = openBudget({
    plan: config.plan,
    maxRequests: config.safety.maxRequests,
    clock,
    concurrency: 4,
    waiting: (wait) => pauses.announce(wait),
  });
  const shared = {
    config,
    documented: documentedSample(config.contract) ?? PLAINEST,
    transport: transportOf(options),
    budget,
    outage: new OutageWatch(),
    log: new EvidenceLog({ service, record, after: options.evidenceBefore }),
    pauses,
    random: options.random ?? Math.random,
  };
  const means: SessionMeans = { ...shared, credentials: openCredentials(shared, options.learned) };
  const { transport, outage, log } = means;
  const http = new ServiceHttp(means);
  const verifier = options.verifier ?? openVerifier();
  const memory = new ProbeMemory();
  const openedMs = clock.now();
  const over = new AbortController();
  const { runMs } = config.timeouts;
  const endDeadline = runMs === undefined ? null : startDeadline(clock, runMs, () => over.abort(OVERTIME));

  function portFor(turn: Turn): Port {
    return {
      config,
      documented: means.documented,
      clock,
      signal: turn.signal,
      pause: pauses.portFor(turn.signal),
      async ask(other) {
        const answer = await ask(other, turn.signal);
        for (const id of answer.evidence) turn.trail.add(id);
        if ('failed' in answer) throw answer.failed;
        return answer.value;
      },
      http: http.portFor(turn),
      websocket: webSocketPort(means, turn),
      quota: quotaPort(means, http, turn),
      webhooks: webhookPort(means, turn),
      pact: pactPort(means, http, verifier, turn),
    };
  }

  function ask<E>(asked: Probe<E>, signal: AbortSignal): Promise<Remembered<E>> {
    return memory.recall(asked, async (): Promise<Remembered<E>> => {
      const turn = openTurn(log, outage, AbortSignal.any([signal, over.signal]));
      try {
        const value = await asked.send(portFor(turn));
        return { evidence: [...turn.trail], value };
      } catch (failed) {
        return { evidence: [...turn.trail], failed };
      }
    });
  }

  return {
    config,
    clock,
    get outage() {
      return over.signal.aborted ? OVERTIME.message : outage.reason;
    },
    get waitedMs() {
      return pauses.totalMs;
    },
    ask,
    observe: (observation) => record({ type: 'observation', service, ...observation }),
    reproduce: (id) => log.reproduce(id),
    redact: (text) => transport.redaction.sink(text),
    async close() {
      endDeadline?.();
      await http.close();
      if (verifier !== options.verifier) await verifier.close();
      return { requestsSent: budget.spent(), durationMs: clock.now() - openedMs };
    },
  };
}

const OVERTIME = new Blocked('the run of this service took longer than timeouts.run');

function transportOf({ config, providerUrl, clock, userAgent, runId }: SessionOptions): TransportOptions {
  return {
    baseUrl: providerUrl,
    timeouts: config.timeouts,
    redaction: createRedaction(serviceSecrets(config)),
    clock,
    userAgent,
    runId,
    plainHttp: config.safety.plainHttp,
    ...(config.tls && { tls: { ca: config.tls.ca } }),
  };
}

/** Stands for the service where the contract documents no request: GET of its base address. */
const PLAINEST: Sample = { method: 'GET', path: '/', fields: {} };

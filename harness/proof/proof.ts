import { createHash } from 'node:crypto';
import pLimit from 'p-limit';
import type { Finding } from '../base/finding.ts';
import { isJsonObject } from '../base/json-text.ts';
import { withPlan } from '../config/blocks/facts.ts';
import type { Plan, ServiceConfig } from '../config/service.ts';
import { type Suite, suitesFor } from '../engine/check/check.ts';
import { applicabilityOf, type JudgeOptions, type Judgment } from '../engine/check/judge.ts';
import { judgeInOrder } from '../engine/check/plan.ts';
import { startProvider } from '../engine/provider/start.ts';
import {
  type LiveSessionOptions,
  openLiveSession,
  type RepeatableSession,
  type Session,
} from '../engine/session/session.ts';
import { simulatedClock } from '../engine/simulation/clock.ts';
import { openVerifier, type PactVerifier } from '../providers/pact/verifier.ts';
import type { JournalEvent } from '../report/results/fold/events.ts';
import { type Configs, configOf, type ProofCase } from './cases.ts';
import { selfSigned, trusting } from './certificate.ts';
import { settingNamed } from './settings.ts';

export interface CaseFinding {
  readonly id: string;
  /** `blocked`: could not be exercised, although nothing is missing in the config. */
  readonly outcome: 'fail' | 'warning' | 'error' | 'blocked';
  readonly message: string;
  readonly finding?: Finding;
  readonly explainedBy?: string;
}

export interface ProvenCase extends ProofCase {
  /** Of checks that neither conform nor make no sense here, in the order in which they were judged. */
  readonly findings: readonly CaseFinding[];
  /** Ids of the checks that were judged and passed. */
  readonly passed: readonly string[];
  /** What checks have observed, by their id: each key with its value. */
  readonly observed: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Requests by suite, of those whose outcomes count. */
  readonly requests: Readonly<Record<string, number>>;
  /** Digests of what the service did, as evidence shows it; of variants and their counterparts alone. */
  readonly traces: readonly string[];
}

/** Most of a case is waiting: for a window, for octets that should not come. */
const AT_ONCE = 8;

/** The suites that are judged together, over one provider and one session. */
export interface Round {
  readonly suites: readonly Suite[];
  /** Of these alone the outcomes count; the others' requests come before theirs. */
  readonly counts: (suite: Suite) => boolean;
  readonly plan: Plan;
  /** How long a response may take; as the config says if left out. */
  readonly patienceMs?: number;
}

/** Sends few requests of several kinds before the limit is met. */
const BEFORE_THE_LIMIT = 'versioning';
/** Never met by accident, nor waited for. */
const WIDE: Plan = { name: 'proof', requests: 1_000, windowMs: 60_000 };
/** As long as those of the documents, and soon spent. */
const NARROW: Plan = { name: 'proof', requests: 20, windowMs: 60_000 };
/** Always the same, so that texts with times can be compared. */
const MINUTE = Date.UTC(2026, 0, 1, 12);
/** A limiter may delay requests beyond its limit for most of a window. */
const PATIENT_MS = 10 * 60_000;
/** Longer than a busy machine takes for any check, in real ms: the proof itself does not hang. */
const HUNG_MS = 15 * 60_000;

/** Judges each case; all in one process, each over its own reference provider on a real socket. */
export async function prove(
  suites: readonly Suite[],
  cases: readonly ProofCase[],
  configs: Configs,
  onCase: (done: ProvenCase) => void = () => {},
): Promise<readonly ProvenCase[]> {
  const limit = pLimit(AT_ONCE);
  // One process of Pact's for all of them.
  const verifier = openVerifier({ quietMs: HUNG_MS, idleMs: HUNG_MS });
  try {
    return await Promise.all(
      cases.map((each) =>
        limit(async () => {
          const done = await runCase(each, suites, configs, verifier);
          onCase(done);
          return done;
        }),
      ),
    );
  } finally {
    await verifier.close();
  }
}

async function runCase(
  each: ProofCase,
  suites: readonly Suite[],
  configs: Configs,
  verifier: PactVerifier,
): Promise<ProvenCase> {
  const log = new CaseLog(each.traced || each.kind === 'counterpart');
  for (const round of roundsFor(each, suites)) {
    const { session, end } = await openRound(each, round, configs, {
      record: (event) => log.record(event),
      verifier,
    });
    try {
      await judgeRound(session, round, log);
    } finally {
      await end();
    }
  }
  return { ...each, ...log };
}

function providedConfig(each: ProofCase, { plan, patienceMs }: Round, configs: Configs): ServiceConfig {
  const { service, kind, name } = each;
  const provided: ServiceConfig = {
    ...configOf(each, configs),
    provider: {
      kind: 'reference',
      name: service,
      defects: kind === 'defect' ? name.split('+') : [],
      variant: kind === 'variant' ? name : null,
    },
  };
  const planned = provided.plan === null ? provided : withPlan(provided, plan, 'the proof');
  const responseMs = patienceMs ?? planned.timeouts.responseMs;
  return { ...planned, timeouts: { ...planned.timeouts, responseMs } };
}

/** All but the limit first; the limit is met apart, with a plan that is soon spent. */
export function roundsFor({ preceded }: ProofCase, suites: readonly Suite[]): readonly Round[] {
  const isLimit = ({ exhausts }: Suite) => exhausts === true;
  return [
    { suites: suites.filter((suite) => !isLimit(suite)), counts: () => true, plan: WIDE },
    {
      suites: suites.filter((suite) => isLimit(suite) || (preceded && suite.name === BEFORE_THE_LIMIT)),
      counts: isLimit,
      plan: NARROW,
      patienceMs: PATIENT_MS,
    },
  ];
}

interface OpenRound {
  readonly session: RepeatableSession;
  /** Ends the session, its provider and its clock. */
  end(): Promise<void>;
}

/** Starts the provider of a case and opens a session with it. */
export async function openRound(
  each: ProofCase,
  round: Round,
  configs: Configs,
  { record, verifier }: Pick<LiveSessionOptions, 'record'> & { readonly verifier: PactVerifier },
): Promise<OpenRound> {
  const provided = providedConfig(each, round, configs);
  const clock = simulatedClock({ minute: MINUTE });
  const { adapt, mount = '', overTls = false } = settingNamed(each.setting);
  const adapted = adapt(provided);
  const identity = overTls ? selfSigned('localhost') : null;
  const config = identity === null ? adapted : { ...adapted, tls: trusting(identity.cert) };
  // A variant that takes the key elsewhere as well is configured as it is shipped, and called elsewhere.
  // Where keys are issued, it has to issue them.
  const isIssuer = config.credentials.lender !== null;
  const isVariant = each.kind === 'variant' || each.kind === 'counterpart';
  const { websocket } = provided;
  const subprotocols = config.websocket?.subprotocols ?? [];
  const asShipped = {
    ...provided,
    plan: config.plan,
    websocket: websocket && { ...websocket, subprotocols },
  };
  const provider = await startProvider(isVariant && !isIssuer ? asShipped : config, {
    clock,
    ...(identity && { identity }),
  });
  const session = openLiveSession({
    config,
    providerUrl: `${provider.url}${mount}`,
    runId: 'proof',
    userAgent: 'conform/proof',
    clock,
    record,
    verifier: {
      verify: (order) => clock.outside(() => verifier.verify(order)),
      close: () => verifier.close(),
    },
  });
  return {
    session,
    async end() {
      await session.close();
      await provider.stop();
      clock.stop();
    },
  };
}

/** Options of each judgment of the proof. */
function proofOptions(): JudgeOptions {
  return { strict: false, signal: AbortSignal.timeout(HUNG_MS) };
}

async function judgeRound(session: Session, round: Round, log: CaseLog): Promise<void> {
  const { config } = session;
  const entering = (suite: Suite) => log.enter(round.counts(suite) ? suite.name : null);
  const judged = judgeInOrder(suitesFor(round.suites, config), session, { options: proofOptions, entering });
  for await (const { suite, check, judgment } of judged) {
    if (!round.counts(suite)) continue;
    const { outcome, message, finding, explainedBy } = judgment;
    if (outcome === 'pass') log.passed.push(check.id);
    const isMissing = applicabilityOf(check, config).missing !== null;
    if (isFinding(outcome) && !(outcome === 'blocked' && isMissing)) {
      const whole = { ...(finding && { finding }), ...(explainedBy !== undefined && { explainedBy }) };
      log.findings.push({ id: check.id, outcome, message, ...whole });
    }
  }
}

function isFinding(outcome: Judgment['outcome']): outcome is CaseFinding['outcome'] {
  return outcome === 'fail' || outcome === 'warning' || outcome === 'error' || outcome === 'blocked';
}

/** The findings of one case, gathered over its rounds. */
class CaseLog {
  readonly findings: CaseFinding[] = [];
  readonly passed: string[] = [];
  readonly observed: Record<string, Readonly<Record<string, unknown>>> = {};
  readonly requests: Record<string, number> = {};
  readonly traces: string[] = [];
  readonly #tracing: boolean;
  #suite: string | null = null;

  constructor(tracing: boolean) {
    this.#tracing = tracing;
  }

  /** `suite`: the requests that follow are counted as its own; null if they are not counted. */
  enter(suite: string | null): void {
    this.#suite = suite;
  }

  record(event: JournalEvent): void {
    if (event.type === 'evidence') {
      if (this.#tracing) this.traces.push(traceOf(event.value));
      // Requests without a probe, which remove created resources, do not count.
      if (this.#suite !== null && event.probe !== undefined)
        this.requests[this.#suite] = (this.requests[this.#suite] ?? 0) + event.requests;
    }
    if (event.type === 'observation') {
      // A value that may change each day tells nothing here.
      if (this.#tracing && event.varies === undefined) this.traces.push(traceOf([event.key, event.value]));
      this.observed[event.check] = { ...this.observed[event.check], [event.key]: event.value };
    }
  }
}

/** Members of evidence that tell when and in which order it was recorded, not how the service behaves. */
const OF_THE_MOMENT: ReadonlySet<string> = new Set(['id', 'timing', 'atMs', 'forMs', 'before', 'length']);

/** It may be drawn by chance, as keys of handshakes and ids are; a name or a path has no digit, nor `aA`. */
const LONG_WORD = /[\w+/=-]{16,}/g;
const DRAWN = /\d|[a-z][A-Z]/;

/** How many of the members of an entry of a burst tell when it was sent. */
const TIMES_OF_ENTRY = 3;

/**
 * Digest of a piece of evidence (in its stored form) or of an observation: the same for the same behavior, whatever
 * the time, the port and the random values.
 */
export function traceOf(evidence: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(settled(evidence)))
    .digest('base64');
}

function settled(evidence: unknown): unknown {
  if (typeof evidence === 'string') {
    return evidence.replaceAll(LONG_WORD, (word) => (DRAWN.test(word) ? '…' : word)).replaceAll(/\d+/g, '0');
  }
  if (Array.isArray(evidence)) return evidence.filter((each) => Object(each).from !== 'client').map(settled);
  if (!isJsonObject(evidence)) return evidence;
  return Object.fromEntries(
    Object.entries(evidence)
      .filter(([name]) => !OF_THE_MOMENT.has(name))
      .map(([name, value]) => [name, name === 'entries' ? answersOf(value) : settled(value)]),
  );
}

/** Each kind of answer of a burst, once: their number depends on earlier requests. */
function answersOf(entries: unknown): readonly string[] {
  const rows = Array.isArray(entries) ? entries : [];
  return [...new Set(rows.map((row) => JSON.stringify(settled(row.slice(TIMES_OF_ENTRY)))))].sort();
}

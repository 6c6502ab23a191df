import { HarnessError } from '../../base/exit.ts';
import type { FaultSide } from '../../base/finding.ts';
import { withTexts } from '../../base/json-text.ts';
import { Blocked, NotApplicable, type Variation } from '../../base/verdict.ts';
import { issuedSecrets } from '../../config/credential/issued-secrets.ts';
import type { ServiceConfig } from '../../config/service.ts';
import type { PactVerifier } from '../../providers/pact/verifier.ts';
import type { LeftBehind } from '../../report/results/fold/events.ts';
import { Reply } from '../../wire/exchange/reply.ts';
import { shellWord } from '../../wire/forms/shell-word.ts';
import type { Clock } from '../../wire/pace/clock.ts';
import { liveWire } from '../../wire/wire.ts';
import { quotaPort } from './http/burst.ts';
import { ServiceHttp } from './http/service-http.ts';
import { type PactJudge, pactJudge } from './pact/verification.ts';
import {
  closureOf,
  costOf,
  neededIn,
  type Port,
  type Probe,
  type Remembered,
  requireDeclared,
} from './probe.ts';
import { Cleanup } from './remains.ts';
import { AnswerRecord, onBehalfOf, operationOf, subjectOf } from './turn/evidence-log.ts';
import { openRunTime } from './turn/run-time.ts';
import { type ContextOptions, openSessionContext, openTurn, type Turn } from './turn/session-context.ts';
import { webhookPort } from './webhooks.ts';
import { handshakeOccasions, webSocketPort } from './websocket/conversation.ts';

export interface SessionOptions extends ContextOptions {
  readonly pacts: PactJudge;
  /** Resources of an earlier session to remove at the end. */
  readonly leftBehind?: readonly LeftBehind[];
  /** The record of all sessions with the service. Default: one of its own. */
  readonly recorded?: AnswerRecord;
}

/** One service under test: its transports, budget, probes and journal. */
export interface Session {
  /** With `http2` from the moment on at which the service turns out to speak nothing else. */
  readonly config: ServiceConfig;
  readonly clock: Clock;
  /** Why the service cannot be asked any more; null if it can. */
  readonly outage: string | null;
  /** The side that it is mended on; null if it is not known. */
  readonly outageSide: FaultSide | null;
  /** Id of the evidence after which the service fell silent; null if it did not. */
  readonly silentSince: string | null;
  /** Milliseconds of deliberate waits so far. */
  readonly waitedMs: number;
  /** Whether a wait for an act of the service timed out. */
  readonly closeTimedOut: boolean;
  /** Grows with each request and each piece of evidence, as long as the session is not stuck. */
  readonly progress: number;
  ask<E>(probe: Probe<E>, signal: AbortSignal): Promise<Remembered<E>>;
  /** Whether these and their needs can be sent without a long wait for quota. */
  hasRoomFor(probes: readonly Probe<unknown>[], signal: AbortSignal): Promise<boolean>;
  observe(observation: {
    readonly key: string;
    readonly value: unknown;
    readonly check: string;
    readonly varies?: Variation;
  }): void;
  /** Name of the probe that brought this evidence; null for none. */
  probeOf(id: string): string | null;
  /** A command line that repeats the decisive evidence, or else these checks; null without evidence. */
  reproduce(checks: readonly string[], decisive: string | null, all: readonly string[]): string | null;
  /** The subject of that evidence: `GET /v1/orders`. */
  subjectOf(id: string): string;
  /** Names the first of these answers that is no HTTP response, though its request was ordinary; null for none. */
  unreadMessage(ids: readonly string[]): string | null;
  redact(text: string): string;
  /** Later calls return the same promise. */
  close(): Promise<{ readonly requestsSent: number; readonly durationMs: number }>;
}

/** A session whose evidence can be judged again. */
export interface RepeatableSession extends Session {
  /** Stimuli keep their evidence, also for probes of the same names; evidence derived from it is derived again. */
  forgetDerived(): void;
}

export function openSession(options: SessionOptions): RepeatableSession {
  const { clock, record, pacts } = options;
  const closed = new AbortController();
  const context = openSessionContext(options);
  const { config, documented, budget, pauses, transport, outage, log, versions } = context;
  const { service } = config;
  const redact = (text: string) => transport.redaction.sink(text);
  const basePath = new URL(options.providerUrl).pathname.replace(/\/$/, '');
  const http = new ServiceHttp(context);
  const remains = new Cleanup(context, options.leftBehind ?? []);
  const recorded = options.recorded ?? new AnswerRecord();
  recorded.add(log);
  const time = openRunTime(context);
  budget.findCostsBy(({ forMs, signal = time.signal }) => http.costs(forMs, signal));
  context.key.triesAt(() => [...http.occasions(), ...handshakeOccasions(context)]);
  const covered = new Set<string>();
  /** Judged again, perhaps by checks that were loaded anew. */
  let again = false;
  /** By id of the evidence: many checks judge the same piece. */
  const subjects = new Map<string, string>();
  /** By name. */
  const answers = new Map<string, { readonly probe: Probe<unknown>; readonly answer: Promise<unknown> }>();

  async function ask<E>(probe: Probe<E>, signal: AbortSignal): Promise<Remembered<E>> {
    time.endIfTooSlow();
    const known = answers.get(probe.name);
    // Two probes of one name would answer for each other.
    if (known && known.probe !== probe && !again)
      throw new HarnessError(`two probes are called ${probe.name}`);
    if (known === undefined) {
      if (time.signal.aborted) return { evidence: [], failed: time.signal.reason };
      if (outage.reason !== null && !probe.evenInOutage) return { evidence: [], failed: outage.blocked() };
    }
    // An answer was stored by the same probe.
    const answer = (known?.answer as Promise<Remembered<E>> | undefined) ?? send(probe, signal);
    // The record grows, so it is read each time.
    if (probe.place !== 'record') answers.set(probe.name, { probe, answer });
    const { evidence } = await answer;
    return probe.evenInOutage || !outage.hides(evidence) ? answer : { evidence, failed: outage.blocked() };
  }

  async function send<E>(probe: Probe<E>, signal: AbortSignal): Promise<Remembered<E>> {
    const turn = openTurn(log, outage, AbortSignal.any([signal, time.signal, closed.signal]));
    try {
      const value = await onBehalfOf(probe.name, () => probe.send(portFor(probe, turn)));
      // It may still gather evidence.
      return {
        get evidence() {
          return [...turn.trail];
        },
        value,
      };
    } catch (failed) {
      return { evidence: [...turn.trail], failed };
    } finally {
      // Before the limit is exceeded by another probe.
      await remains.remove(http, probe.name);
    }
  }

  function portFor(asker: Probe<unknown>, turn: Turn): Port {
    const { signal, trail } = turn;
    const needed = [asker.needs, asker.mayNeed].flatMap((needs) => neededIn(needs, config));
    return {
      async ask(other) {
        requireDeclared(asker.name, needed, other);
        const answer = await ask(other, signal);
        for (const id of answer.evidence) trail.add(id);
        if ('failed' in answer) throw answer.failed;
        return answer.value;
      },
      async borrow(other, restsOn) {
        if (!answers.has(other.name)) return null;
        const answer = await ask(other, signal);
        if ('failed' in answer) return null;
        for (const id of restsOn(answer.value)) trail.add(id);
        return answer.value;
      },
      config,
      documented,
      clock: transport.clock,
      signal,
      pause: pauses.portFor(signal),
      http: http.portFor(turn),
      websocket: webSocketPort(context, turn),
      quota: quotaPort(context, http, turn),
      webhooks: webhookPort(context, turn),
      pact: pacts.portFor(context, http, turn),
      remains: remains.portFor(asker.name),
      async askIssuer(trial) {
        const request = config.credentials.trials?.()[trial];
        if (!request) throw new NotApplicable('no key is issued at a token endpoint');
        const reply = new Reply(await context.issuer.post(request, issuedSecrets));
        trail.add(reply.evidence);
        return reply;
      },
      recorded,
      operationOf: ({ exchange }) => operationOf(exchange.request, config, basePath),
      remark: context.remark,
      cover: (coverage) => {
        if (coverage.capped > 0 || coverage.trials) record({ type: 'coverage', service, ...coverage });
      },
      coverOperations(operations) {
        const redacted = withTexts(operations, redact) as typeof operations;
        const text = JSON.stringify(redacted);
        // The record is read for each check, and seldom has more to show.
        if (!covered.has(text)) record({ type: 'operations', service, operations: redacted });
        covered.add(text);
      },
    };
  }

  let ended: ReturnType<Session['close']> | null = null;
  /** As the service showed itself. */
  let overHttp2: ServiceConfig | null = null;
  async function end() {
    time.stop();
    closed.abort(new Blocked('the session is closed'));
    await remains.remove(http);
    await http.close();
    await pacts.close();
    return { requestsSent: budget.spent(), durationMs: time.tookMs() };
  }

  return {
    get config() {
      if (!versions.isHttp2 || config.http2) return config;
      overHttp2 ??= { ...config, http2: true };
      return overHttp2;
    },
    clock,
    get outage() {
      return time.overtime() ?? outage.reason;
    },
    get outageSide() {
      return time.overtime() === null ? outage.side : null;
    },
    get silentSince() {
      return time.overtime() === null ? outage.since : null;
    },
    get waitedMs() {
      return pauses.totalMs();
    },
    get closeTimedOut() {
      return context.closing.timedOut;
    },
    get progress() {
      return budget.spent() + log.size;
    },
    ask,
    hasRoomFor(probes, signal) {
      const unsent = [...closureOf(probes, config)].filter(({ name }) => !answers.has(name));
      const requests = unsent.reduce((sum, each) => sum + costOf(each, config), 0);
      return budget.hasRoomFor(requests, signal);
    },
    observe: ({ value, ...observation }) =>
      record({ type: 'observation', service, ...observation, value: withTexts(value, redact) }),
    probeOf: (id) => recorded.probeOf(id),
    reproduce(checks, decisive, all) {
      if (decisive === null) return null;
      const again = options.runAlone ?? `conform run ${shellWord(service)}`;
      return (
        recorded.reproduce(decisive, all) ?? `${again} --check ${checks.map(shellWord).join(' ')} --verbose`
      );
    },
    subjectOf(id) {
      const known = subjects.get(id);
      if (known !== undefined) return known;
      const subject = subjectOf(recorded.find(id), config, basePath);
      subjects.set(id, subject);
      return subject;
    },
    unreadMessage: (ids) => recorded.unreadMessage(ids),
    redact,
    forgetDerived() {
      again = true;
      for (const [name, { probe }] of answers) if (probe.derives) answers.delete(name);
    },
    close() {
      ended ??= end();
      return ended;
    },
  };
}

export interface LiveSessionOptions extends Omit<SessionOptions, 'wire' | 'pacts'> {
  /** Shared by several sessions. Default: one of its own. */
  readonly verifier?: PactVerifier;
}

/** A session over sockets with a running service. */
export function openLiveSession({ verifier, ...options }: LiveSessionOptions): RepeatableSession {
  return openSession({ ...options, wire: liveWire, pacts: pactJudge(verifier) });
}

import { withTexts } from '../base/json-text.ts';
import { Blocked } from '../base/verdict.ts';
import type { ServiceConfig } from '../config/service.ts';
import type { Variation } from '../contract/variation.ts';
import type { Secret } from '../credential/secret.ts';
import { shellWord } from '../evidence/forms/shell-word.ts';
import type { LeftBehind } from '../report/results/fold/left-behind.ts';
import { NoRoomYet } from '../transport/pace/budget.ts';
import { type Clock, startDeadline } from '../transport/pace/clock.ts';
import { openCredentials } from './credentials.ts';
import { quotaPort } from './http/burst.ts';
import { ServiceHttp } from './http/service-http.ts';
import type { PactJudge } from './pact/verification.ts';
import {
  isPutOff,
  type Port,
  type Probe,
  ProbeMemory,
  PutOff,
  type PutsOff,
  type Remembered,
} from './probe.ts';
import { Remains } from './remains.ts';
import { onBehalfOf } from './turn/asking.ts';
import { KeyTrial } from './turn/key-trial.ts';
import { type MeansOptions, openMeans, type SessionMeans } from './turn/means.ts';
import { mostRunMs } from './turn/run-time.ts';
import { openTurn, type Turn } from './turn/turn.ts';
import { webhookPort } from './webhooks.ts';
import { handshakeOccasions, webSocketPort } from './websocket/conversation.ts';

export interface SessionOptions extends MeansOptions {
  /** Told of each secret that arrives, before it is used. */
  readonly learned?: (secret: Secret) => void;
  readonly pacts: PactJudge;
  /** What an earlier session has created and not removed; it is removed when this one closes. */
  readonly leftBehind?: readonly LeftBehind[];
}

/** One service under test: its transports, its request budget, the memory of its probes, its line to the journal. */
export interface Session {
  readonly config: ServiceConfig;
  readonly clock: Clock;
  /** Why nothing more can be asked of the service; null while it can. */
  readonly outage: string | null;
  /** Id of the evidence upon which a service fell silent that had answered; null where none did. */
  readonly silentSince: string | null;
  /** How long the session has waited on purpose so far, in ms. */
  readonly waitedMs: number;
  /** Whether the service has not done what it must, though it was given all the time for it. */
  readonly waitsInVain: boolean;
  /** Grows with each request that is sent and each piece of evidence: while it does, nobody is stuck. */
  readonly progress: number;
  /**
   * What the probe yields. Where it needs something that is put off, it ends with `PutOff`, and can be asked for again.
   * Nothing is put off when left out.
   */
  ask<E>(probe: Probe<E>, signal: AbortSignal, putsOff?: PutsOff): Promise<Remembered<E>>;
  observe(observation: {
    readonly key: string;
    readonly value: unknown;
    readonly check: string;
    readonly varies?: Variation;
  }): void;
  /**
   * A command line that shows what a check has found, whose decisive piece of evidence is `decisive` among `all`: it sends
   * that once more, or runs the check. Null where there is no evidence.
   */
  reproduce(check: string, decisive: string | null, all: readonly string[]): string | null;
  redact(text: string): string;
  /** Whoever asks for it again waits for the same. */
  close(): Promise<Closed>;
}

interface Closed {
  readonly requestsSent: number;
  readonly durationMs: number;
}

export function openSession(options: SessionOptions): Session {
  const over = new AbortController();
  const closed = new AbortController();
  const shared = openMeans(options, ({ forMs, signal = over.signal }) => http.costs(forMs, signal));
  const means: SessionMeans = {
    ...shared,
    credentials: openCredentials(shared, options.learned),
    key: new KeyTrial(shared, () => [...http.occasions(), ...handshakeOccasions(means)]),
  };
  const { config, budget, pauses, transport, outage, log } = means;
  const { clock, record } = options;
  const http = new ServiceHttp(means);
  const memory = new ProbeMemory();
  const remains = new Remains(means, options.leftBehind ?? []);
  const openedMs = clock.now();
  const { runMs } = config.timeouts;
  const endDeadline =
    runMs === undefined || runMs === Number.POSITIVE_INFINITY
      ? null
      : startDeadline(clock, runMs, () => over.abort(new Blocked(`${TOOK_LONGER} timeouts.run`)));

  /** Where nobody has said how long it may take, it ends once that is much more than it takes as a rule. */
  function endIfTooSlow(): void {
    if (runMs !== undefined || over.signal.aborted) return;
    const mostMs = mostRunMs(budget, config.safety.maxRequests, means.answerTimes.usualMs);
    if (clock.now() - openedMs <= mostMs) return;
    const most = `${Math.round(mostMs / 60_000)} min`;
    over.abort(new Blocked(`${TOOK_LONGER} ${most}: it is too slow to be judged in that (timeouts.run)`));
  }

  function portFor(turn: Turn, putsOff: PutsOff): Port {
    return {
      config,
      documented: means.documented,
      clock,
      signal: turn.signal,
      pause: pauses.portFor(turn.signal),
      async ask(other) {
        const answer = await ask(other, turn.signal, putsOff);
        for (const id of answer.evidence) turn.trail.add(id);
        if ('failed' in answer) throw answer.failed;
        return answer.value;
      },
      async borrow(other, restsOn) {
        if (!memory.knows(other)) return null;
        const answer = await ask(other, turn.signal, putsOff);
        if ('failed' in answer) return null;
        for (const id of restsOn(answer.value)) turn.trail.add(id);
        return answer.value;
      },
      http: http.portFor(turn),
      websocket: webSocketPort(means, turn),
      quota: quotaPort(means, http, turn),
      webhooks: webhookPort(means, turn),
      pact: options.pacts.portFor(means, http, turn),
      remains,
      cover: (coverage) => {
        if (coverage.capped > 0) record({ type: 'coverage', service: config.service, ...coverage });
      },
    };
  }

  async function ask<E>(
    asked: Probe<E>,
    signal: AbortSignal,
    putsOff: PutsOff = 'nothing',
  ): Promise<Remembered<E>> {
    endIfTooSlow();
    if (!memory.knows(asked)) {
      if (over.signal.aborted) return { evidence: [], failed: over.signal.reason };
      if (outage.reason !== null && !asked.evenInOutage) return { evidence: [], failed: outage.blocked() };
      if (isPutOff(asked, putsOff)) {
        if (asked.begunBy !== undefined) await ask(asked.begunBy, signal, putsOff);
        return { evidence: [], failed: new PutOff(asked.name, 'last') };
      }
    }
    const answer = await memory.recall(asked, async (): Promise<Remembered<E>> => {
      const turn = openTurn(
        log,
        outage,
        AbortSignal.any([signal, over.signal, closed.signal]),
        putsOff === 'waiting',
      );
      try {
        const value = await onBehalfOf(asked.name, () => asked.send(portFor(turn, putsOff)));
        // It may go on to gather evidence.
        return {
          get evidence() {
            return [...turn.trail];
          },
          value,
        };
      } catch (thrown) {
        const failed = thrown instanceof NoRoomYet ? new PutOff(asked.name, 'waiting') : thrown;
        return { evidence: [...turn.trail], failed };
      }
    });
    if ('failed' in answer && answer.failed instanceof PutOff) memory.forget(asked);
    if (asked.evenInOutage || !outage.hides(answer.evidence)) return answer;
    return { evidence: answer.evidence, failed: outage.blocked() };
  }

  let ended: Promise<Closed> | null = null;
  async function end(): Promise<Closed> {
    endDeadline?.();
    closed.abort(new Blocked('the session is closed'));
    await remains.remove(http);
    await http.close();
    await options.pacts.close();
    return { requestsSent: budget.spent(), durationMs: clock.now() - openedMs };
  }

  return {
    config,
    clock,
    get outage() {
      return over.signal.aborted ? over.signal.reason.message : outage.reason;
    },
    get silentSince() {
      return over.signal.aborted ? null : outage.since;
    },
    get waitedMs() {
      return pauses.totalMs;
    },
    get waitsInVain() {
      return means.inVain.end;
    },
    get progress() {
      return budget.spent() + log.size;
    },
    ask,
    observe: ({ value, ...observation }) =>
      record({
        type: 'observation',
        service: config.service,
        ...observation,
        value: withTexts(value, (text) => transport.redaction.sink(text)),
      }),
    reproduce(check, decisive, all) {
      if (decisive === null) return null;
      const again = options.runAlone ?? `conform run ${shellWord(config.service)}`;
      return log.reproduce(decisive, all) ?? `${again} --check ${shellWord(check)} --verbose`;
    },
    redact: (text) => transport.redaction.sink(text),
    close() {
      ended ??= end();
      return ended;
    },
  };
}

const TOOK_LONGER = 'the run of this service took longer than';

import * as tls from 'node:tls';
import type { ExpectedInteraction } from './config/pact/interaction.ts';
import { serviceSecrets } from './config/secret/secrets-of.ts';
import type { ServiceConfig } from './config/service.ts';
import { documentedSample, type Sample } from './contract/clause.ts';
import { viewConversation } from './evidence/conversation/view.ts';
import type { Conversation } from './evidence/conversation.ts';
import type { Evidence } from './evidence/evidence.ts';
import { evidenceToJson } from './evidence/evidence.ts';
import { Reply } from './evidence/exchange/reply.ts';
import type { EvidenceId, Exchange } from './evidence/exchange.ts';
import { curlCommand } from './evidence/forms/curl.ts';
import { createRedaction } from './evidence/redaction/redaction.ts';
import { openVerifier, type PactVerifier } from './pact/verifier.ts';
import type { JournalEvent } from './report/results/events.ts';
import { sendBurst } from './session/burst.ts';
import { converse } from './session/conversation.ts';
import { credentialUse, placeChoice } from './session/credential.ts';
import { type HandshakeStimulus, isOrdinary, type Talking } from './session/handshake.ts';
import { ProbeMemory, type Remembered } from './session/memory.ts';
import type { Probe, Stimuli } from './session/probe.ts';
import { openWithin, QuotaAsFound } from './session/quota-opening.ts';
import { requestOf, type Stimulus } from './session/stimulus.ts';
import { TroubleWatch } from './session/trouble.ts';
import { verifyInteraction } from './session/verification.ts';
import { Waiting } from './session/waiting.ts';
import { receiveWebhooks } from './session/webhooks.ts';
import { addressOf } from './transport/address.ts';
import { type HttpTransport, openHttp } from './transport/http/http.ts';
import { composeRaw, sendRaw } from './transport/http/raw.ts';
import { BudgetExhausted, type BudgetWait, openBudget } from './transport/pace/budget.ts';
import type { Clock } from './transport/pace/clock.ts';
import type { TransportOptions } from './transport/transport.ts';
import { Blocked, NotApplicable } from './verdict.ts';

export { type Probe, probe, type Stimuli } from './session/probe.ts';

export interface SessionOptions {
  readonly config: ServiceConfig;
  readonly providerUrl: string;
  readonly runId: string;
  /** `conform/1.2.3`. */
  readonly userAgent: string;
  readonly clock: Clock;
  readonly record: (event: JournalEvent) => void;
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
  readonly trouble: string | null;
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
  const { config, clock, record, random = Math.random } = options;
  const { service } = config;
  const sample = documentedSample(config.contract) ?? PLAINEST;
  const redaction = createRedaction(serviceSecrets(config));
  const transport: TransportOptions = {
    baseUrl: options.providerUrl,
    timeouts: config.timeouts,
    redaction,
    clock,
    userAgent: options.userAgent,
    runId: options.runId,
    plainHttp: config.safety.plainHttp,
    ...(config.tls && { tls: { ca: [...usualAuthorities(), config.tls.ca] } }),
  };
  const pathPrefix = addressOf(options.providerUrl).prefix;
  const http = openHttp(transport);
  const verifier = options.verifier ?? openVerifier();
  const waiting = new Waiting(clock, ({ reason, until }) =>
    record({
      type: 'waiting',
      service,
      reason,
      fromMs: clock.wallNow().getTime(),
      untilMs: until.getTime(),
    }),
  );
  const budget = openBudget({
    plan: config.plan,
    maxRequests: config.safety.maxRequests,
    clock,
    concurrency: 4,
    waiting: (wait) => waiting.announce(wait),
  });
  const trouble = new TroubleWatch();
  const quotaAsFound = new QuotaAsFound(clock, budget);
  const memory = new ProbeMemory<Probe<unknown>>();
  const recorded = new Map<string, Evidence>();
  const openedMs = clock.now();
  let lastId = options.evidenceBefore ?? 0;
  const nextId = () => `e${++lastId}` as EvidenceId;

  function keep<E extends Evidence>(evidence: E, requests = 1): E {
    recorded.set(evidence.id, evidence);
    record({
      type: 'evidence',
      service,
      id: evidence.id,
      purpose: evidence.purpose,
      requests,
      value: evidenceToJson(evidence),
    });
    return evidence;
  }

  /** Sends one request within the budget; the exchange is not yet kept as evidence. */
  async function exchange(
    stimulus: Stimulus,
    signal: AbortSignal,
    bare = requestOf(stimulus, sample),
    via: HttpTransport = http,
  ): Promise<Exchange> {
    if (trouble.reason !== null) throw new Blocked(trouble.reason);
    const choice = stimulus.credential ?? 'right';
    const credential = credentialUse(choice);
    const request = placeChoice(bare, choice, config.credentials, redaction, {
      at: clock.wallNow(),
      pathPrefix,
    });
    const about = { id: nextId(), purpose: stimulus.purpose, credential, signal };
    const rawForm = typeof stimulus.raw === 'object' ? stimulus.raw : {};
    const send = () =>
      stimulus.raw
        ? sendRaw(
            transport,
            { octets: composeRaw(transport, request, rawForm).octets, graceMs: RAW_GRACE_MS },
            about,
          )
        : via.send(request, via === http ? about : { ...about, freshConnection: true });
    const done = await budget.run(send, signal).catch(blockedByBudget);
    signal.throwIfAborted();
    trouble.saw(done);
    quotaAsFound.saw(done);
    return done;
  }

  let opening: Promise<unknown> | null = null;

  /** The first request of all meets the quota as it was left; the others wait until it is known how that is. */
  async function opened(
    { credential = 'right' }: Stimulus,
    send: () => Promise<Reply>,
    signal: AbortSignal,
  ): Promise<Reply> {
    if (credentialUse(credential) !== 'right') return send();
    if (opening !== null) {
      await opening;
      return send();
    }
    const announce = (wait: BudgetWait) => waiting.announce(wait);
    const first = openWithin({ clock, budget, random, signal, waiting: announce, send });
    opening = first.catch(() => undefined);
    return first;
  }

  function stimuliFor(signal: AbortSignal, trail: Set<string>): Stimuli {
    /** What was done, as evidence. @throws Blocked where it shows nothing of what it was for. */
    const kept = <E extends Exchange | Conversation>(done: E, requests = 1): E => {
      trail.add(keep(done, requests).id);
      if (trouble.reason !== null) throw new Blocked(trouble.reason);
      if (done.failure?.kind === 'not-sent') throw new Blocked(done.failure.message);
      return done;
    };
    const replyTo = async (stimulus: Stimulus) => new Reply(kept(await exchange(stimulus, signal)));
    const conversation = async (stimulus: HandshakeStimulus, talking: Talking) => {
      if (trouble.reason !== null) throw new Blocked(trouble.reason);
      const means = { config, transport, budget };
      const done = await converse(means, stimulus, talking, { id: nextId(), signal }).catch(blockedByBudget);
      signal.throwIfAborted();
      const { response } = done.handshake;
      // Silence after a handshake that is wrong on purpose says nothing of whether the service is there.
      if (response !== null || isOrdinary(stimulus)) trouble.saw({ response, failure: done.failure });
      kept(done);
      if (response?.status === 429) throw new Blocked(rateLimited(config, budget.spent()));
      return viewConversation(done);
    };
    const verification = (interaction: ExpectedInteraction) =>
      verifyInteraction(interaction, {
        config,
        verifier,
        signal,
        redact: (text) => redaction.sink(text),
        rateLimited: () => rateLimited(config, budget.spent()),
        send: async (request, about) => kept(await exchange(about, signal, request)),
        async sendElsewhere(url, request, purpose) {
          const elsewhere = openHttp({ ...transport, baseUrl: url.origin });
          const about = { id: nextId(), purpose, credential: 'none', signal } as const;
          try {
            // No request to the service, so it counts as none.
            return kept(await elsewhere.send(request, about), 0);
          } finally {
            await elsewhere.close();
          }
        },
      });
    return {
      config,
      clock,
      sample,
      async ask(other) {
        const answer = await ask(other, signal);
        for (const id of answer.evidence) trail.add(id);
        if ('failed' in answer) throw answer.failed;
        return answer.value;
      },
      async reply(stimulus) {
        const reply = await opened(stimulus, () => replyTo(stimulus), signal);
        if (reply.exchange.response?.status === 429) throw new Blocked(rateLimited(config, budget.spent()));
        return reply;
      },
      converse: (stimulus, talking = async () => {}) => conversation(stimulus, talking),
      verify: verification,
      replyWhileSpent: (stimulus) => budget.exceed(() => replyTo(stimulus)),
      async burst(order) {
        if (!config.safety.exceedRateLimit) throw new NotApplicable('safety.exceedRateLimit is not set');
        const send = (via: HttpTransport) => exchange({ purpose: order.purpose }, signal, undefined, via);
        const met = await sendBurst(order, { budget, clock, transport, http, nextId, keep, send });
        for (const id of [met.burst.id, met.refusal?.id]) if (id !== undefined) trail.add(id);
        return met;
      },
      async receive(answers, act) {
        const { webhooks } = config;
        if (webhooks === undefined) throw new NotApplicable('no webhooks are configured (webhooks)');
        const keepDelivery = (exchange: Exchange) => void trail.add(keep(exchange, 0).id);
        return receiveWebhooks(answers, act, { webhooks, clock, redaction, nextId, keep: keepDelivery });
      },
      waiting: (wait) => waiting.announce(wait),
      signal,
      evidenceSoFar: () => [...recorded.values()],
    };
  }

  function ask<E>(asked: Probe<E>, signal: AbortSignal): Promise<Remembered<E>> {
    return memory.recall(asked, async (): Promise<Remembered<E>> => {
      const trail = new Set<string>();
      try {
        const value = await asked.send(stimuliFor(signal, trail));
        return { evidence: [...trail], value };
      } catch (failed) {
        return { evidence: [...trail], failed };
      }
    });
  }

  return {
    config,
    clock,
    get trouble() {
      return trouble.reason;
    },
    get waitedMs() {
      return waiting.totalMs;
    },
    ask,
    observe: (observation) => record({ type: 'observation', service, ...observation }),
    reproduce(id) {
      const evidence = id === null ? undefined : recorded.get(id);
      return evidence === undefined || evidence.kind === 'burst' ? null : curlCommand(evidence);
    },
    redact: (text) => redaction.sink(text),
    async close() {
      await http.close();
      if (verifier !== options.verifier) await verifier.close();
      return { requestsSent: budget.spent(), durationMs: clock.now() - openedMs };
    },
  };
}

/** Those that Node trusts by itself; before Node 22.15 there are those that it ships alone. */
function usualAuthorities(): readonly string[] {
  return tls.getCACertificates?.('default') ?? tls.rootCertificates;
}

/** Stands for the service where the contract documents no request: GET of its base address. */
const PLAINEST: Sample = { method: 'GET', path: '/', fields: {} };
/** After a whole response on a raw socket, how long octets that should not be there are waited for, in ms. */
const RAW_GRACE_MS = 50;

function rateLimited({ plan }: ServiceConfig, spent: number): string {
  const allowed =
    plan === null ? 'no plan is known' : `the plan allows ${plan.requests} in ${plan.windowMs / 1000} s`;
  return `answered 429 after ${spent} requests of this run (${allowed}): others spend this quota, or it is smaller than that`;
}

function blockedByBudget(error: unknown): never {
  if (error instanceof BudgetExhausted) throw new Blocked(error.message);
  throw error;
}

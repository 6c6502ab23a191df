import { NotApplicable } from '../../../base/verdict.ts';
import type { ConversationView } from '../../../wire/conversation/view.ts';
import type { Burst, BurstEntry, Evidence } from '../../../wire/evidence.ts';
import { Reply } from '../../../wire/exchange/reply.ts';
import type { Exchange, FieldLine } from '../../../wire/exchange.ts';
import type { HttpTransport } from '../../../wire/http/transport.ts';
import { isDropped, isFailure, type RefusalFace } from '../../../wire/limit/observed/observation.ts';
import { wholeOf } from '../../../wire/limit/observed/observing.ts';
import { isQuotaField } from '../../../wire/quota/quota.ts';
import type { LimiterRefusal, SessionContext, Turn } from '../turn/session-context.ts';
import { webSocketPort } from '../websocket/conversation.ts';
import type { ServiceHttp } from './service-http.ts';
import type { Stimulus } from './stimulus.ts';

/** Exceeding the rate limit on purpose. */
export interface QuotaPort {
  /** Equal requests past the plan's rate. @throws NotApplicable if the config forbids it. */
  burst(order: BurstOrder): Promise<MetLimit>;
  /** One request while the quota is spent on purpose: a refusal is a response like any other. */
  sendWhileSpent(stimulus: Stimulus): Promise<Reply>;
  /** One ordinary handshake likewise. @throws Blocked if it is refused. */
  shakeWhileSpent(purpose: string): Promise<ConversationView>;
  /** The service counts by windows, each of which starts anew. */
  forgets(): void;
  /** Others wait for the costs of requests that show here. */
  readonly isAwaited: boolean;
  /** The form of the limiter's refusal; null if unknown. */
  readonly refusal: RefusalFace | null;
  /** In the order of recording. */
  evidenceSoFar(): readonly Evidence[];
}

export function quotaPort(context: SessionContext, http: ServiceHttp, turn: Turn): QuotaPort {
  const { config, budget, log } = context;
  return {
    async burst(order) {
      if (!config.safety.exceedRateLimit) throw new NotApplicable('safety.exceedRateLimit is not set');
      const met = await sendBurst(order, context, http, turn.signal);
      for (const id of [met.burst.id, ...wholeOf(met.burst)]) turn.trail.add(id);
      return met;
    },
    sendWhileSpent: (stimulus) => budget.exceed(() => http.reply(stimulus, turn)),
    shakeWhileSpent: (purpose) =>
      budget.exceed(() =>
        webSocketPort(context, turn).converse({ purpose }, (conversation) => conversation.close(1000)),
      ),
    forgets: () => budget.forgets(),
    get isAwaited() {
      return budget.isAwaited;
    },
    get refusal() {
      return context.limiter.face;
    },
    evidenceSoFar: () => log.all(),
  };
}

export interface BurstOrder {
  readonly purpose: string;
  /** Requests that count as its first part. */
  readonly before: number;
  /** Number of requests at most, except a few after a fault; it ends at the first refusal. */
  readonly upTo: number;
  /** All at the same time, each on a connection of its own. */
  readonly together?: boolean;
  /** Number of those sent together that are answered before the others are sent. */
  readonly firstWave?: number;
  /** Number of those sent together that are under way at the same time, at most. */
  readonly atATime?: number;
}

/** Connections for requests sent together: enough for a race, few enough for any machine. */
const TOGETHER = 48;
/** Connections opened ahead for requests in turn: TCP and TLS take about three times as long as a request. */
const AHEAD = 3;

export interface MetLimit {
  readonly burst: Burst;
  /** The first response that was neither 2xx nor a passing fault; null for none. */
  readonly refusal: Exchange | null;
}

/** Fields about the quota; others of a served response are not kept. */
function tells([name]: FieldLine): boolean {
  return isQuotaField(name) || /^(?:date|retry-after)$/i.test(name);
}

function burstEntry(index: number, { response, failure, timing }: Exchange): BurstEntry {
  return {
    index,
    sentMs: timing.startedMs,
    durationMs: timing.durationMs,
    status: response?.status ?? null,
    fields: (response?.fields ?? []).filter(tells),
    failure: failure?.message ?? null,
  };
}

/** The limiter let the request through. */
function isServed({ response }: Exchange): boolean {
  return response !== null && response.status >= 200 && response.status < 300;
}

/** Sends a burst past the plan's rate and records it as one piece of evidence, its first refusal also as a whole. */
function sendBurst(
  order: BurstOrder,
  context: SessionContext,
  http: ServiceHttp,
  signal: AbortSignal,
): Promise<MetLimit> {
  const { budget, log, transport, wire } = context;
  const { clock } = transport;
  const send = (via: HttpTransport) => http.exchange({ purpose: order.purpose }, signal, { via });
  return budget.exceed(async () => {
    const id = wire.idOfBurst(order.purpose, log.nextId());
    const startedMs = clock.now();
    const startedAt = clock.wallNow().toISOString();
    const sent = await (order.together
      ? together(order, context, send)
      : inTurn(order.upTo, context, http, send));
    const { done, refusal, faults, behind } = sent;
    for (const fault of faults) log.keep(fault, 0);
    if (refusal !== null) {
      log.keep(refusal, 0);
      for (const each of behind) log.keep(each, 1);
      await learn(refusal, done.length > 1, context, () => send(http.transport));
    }
    const entries = done.map((each, at) => burstEntry(at + 1, each));
    const burst: Burst = {
      kind: 'burst',
      id,
      purpose: order.purpose,
      credential: 'right',
      mode: order.together ? 'parallel' : 'serial',
      before: order.before,
      entries,
      refusal: refusal?.id ?? null,
      ...(faults.length > 0 && { faults: faults.map((fault) => fault.id) }),
      timing: {
        startedAt,
        startedMs,
        connectMs: null,
        responseMs: null,
        durationMs: clock.now() - startedMs,
      },
    };
    return { burst: log.keep(burst, entries.length), refusal };
  });
}

/** Learns the form of the limiter's refusals. The end of a connection is one only if the next connection ends too. */
async function learn(
  refusal: Exchange,
  afterService: boolean,
  { limiter, log }: SessionContext,
  again: () => Promise<Exchange>,
): Promise<void> {
  if (refusal.response !== null) {
    if (afterService) limiter.met(refusal);
  } else if (isDropped(refusal) && limiter.face === null) {
    const next = log.keep(await again(), 1);
    if (isDropped(next)) limiter.met(next);
  }
}

interface BurstResult {
  readonly done: readonly Exchange[];
  readonly refusal: Exchange | null;
  /** Failures that were no refusals. */
  readonly faults: readonly Exchange[];
  /** BurstResult after the refusal to confirm it. */
  readonly behind: readonly Exchange[];
}

async function inTurn(
  upTo: number,
  { config: { plan }, limiter, transport, versions, wire }: SessionContext,
  { transport: shared }: Pick<ServiceHttp, 'transport'>,
  send: (via: HttpTransport) => Promise<Exchange>,
): Promise<BurstResult> {
  // In HTTP/2 all requests in turn share a connection.
  const own = versions.isHttp2 ? null : wire.openHttp({ ...transport, ahead: AHEAD });
  const connections = own ?? shared;
  const slotMs = plan === null ? 0 : plan.windowMs / plan.requests;
  const done: Exchange[] = [];
  const faults: Exchange[] = [];
  const isOver = (answer: Exchange) => !isServed(answer) && !mayPass(answer, limiter);
  try {
    while (done.length < upTo) {
      const answer = await send(connections);
      done.push(answer);
      if (isServed(answer)) continue;
      if (isOver(answer) || faults.length === MOST_FAULTS)
        return { done, refusal: answer, faults, behind: [] };
      const behind: Exchange[] = [];
      while (behind.length < SERVED_BEHIND && behind.every(isServed)) behind.push(await send(connections));
      const last = behind.at(-1) ?? answer;
      const isBack = isServed(last) && endOf(last) - answer.timing.startedMs < slotMs;
      // The limiter may refuse right after a fault.
      const isRefused = isOver(last);
      if (!isBack && !isRefused) return { done, refusal: answer, faults, behind };
      faults.push(answer);
      done.push(...behind);
      if (isRefused) return { done, refusal: last, faults, behind: [] };
    }
  } finally {
    await own?.close();
  }
  return { done, refusal: null, faults, behind: [] };
}

/** If this many requests after a failure are served at once, it was no refusal. */
const SERVED_BEHIND = 2;
const UNAVAILABLE = 503;
/** The next failure counts as a refusal. */
const MOST_FAULTS = 20;

function endOf({ timing }: Exchange): number {
  return timing.startedMs + timing.durationMs;
}

/** A server error without a sign of a spent quota. */
function mayPass(answer: Exchange, limiter: Pick<LimiterRefusal, 'isIn'>): boolean {
  if (!isFailure(answer.response?.status ?? null) || limiter.isIn(answer)) return false;
  const { quota, retryAfterMs } = new Reply(answer).response;
  const spent = [quota, ...quota.policies].some(({ remaining }) => remaining === 0);
  return retryAfterMs === null && !spent;
}

async function together(
  { upTo, firstWave = 0, atATime = TOGETHER }: BurstOrder,
  { budget, limiter, transport, wire }: SessionContext,
  send: (via: HttpTransport) => Promise<Exchange>,
): Promise<BurstResult> {
  const connections = wire.openHttp({ ...transport, connections: Math.min(atATime, TOGETHER) });
  try {
    const wave = (length: number) => Promise.all(Array.from({ length }, () => send(connections)));
    const all = async () => [...(await wave(firstWave)), ...(await wave(upTo - firstWave))];
    const done = await budget.exceed(all, TOGETHER);
    const inOrder = done.toSorted((a, b) => a.timing.startedMs - b.timing.startedMs);
    const refusal = refusalAmong(inOrder, limiter);
    return { done: inOrder, refusal, faults: faultsAmong(inOrder, refusal, limiter), behind: [] };
  } finally {
    await connections.close();
  }
}

/** Failures that differ from refusals. 503 may be lawful for many requests at once (RFC 9110 §15.6.4). */
function faultsAmong(
  done: readonly Exchange[],
  refusal: Exchange | null,
  limiter: LimiterRefusal,
): readonly Exchange[] {
  if (refusal === null && limiter.face === null) return [];
  const refused = limiter.face === null ? refusal?.response?.status : limiter.face.status;
  const failed = done.filter(({ response }) => {
    const status = response?.status ?? null;
    return isFailure(status) && status !== UNAVAILABLE && status !== refused;
  });
  return failed.slice(0, MOST_FAULTS);
}

/** The first certain one, else the first that is no failure; if no refusal is known yet, any. */
function refusalAmong(done: readonly Exchange[], limiter: LimiterRefusal): Exchange | null {
  const failed = done.filter((each) => !isServed(each));
  const first =
    failed.find((each) => limiter.isIn(each)) ??
    failed.find(({ response }) => !isFailure(response?.status ?? null));
  return first ?? (limiter.face === null ? (failed[0] ?? null) : null);
}

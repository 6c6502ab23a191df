import { NotApplicable } from '../../base/verdict.ts';
import type { Burst, BurstEntry } from '../../evidence/burst.ts';
import type { ConversationView } from '../../evidence/conversation/view.ts';
import type { Evidence } from '../../evidence/evidence.ts';
import type { Reply } from '../../evidence/exchange/reply.ts';
import type { Exchange, FieldLine } from '../../evidence/exchange.ts';
import { isDropped, type RefusalFace } from '../../evidence/limit/refusal-face.ts';
import { isQuotaField } from '../../evidence/quota/quota.ts';
import type { HttpTransport } from '../../transport/http/http-client.ts';
import type { SessionMeans } from '../turn/means.ts';
import type { Turn } from '../turn/turn.ts';
import { webSocketPort } from '../websocket/conversation.ts';
import type { ServiceHttp } from './service-http.ts';
import type { Stimulus } from './stimulus.ts';

/** Meeting the rate limit on purpose. */
export interface QuotaPort {
  /** Many equal requests, past the plan's rate. @throws NotApplicable where the config does not allow that. */
  burst(order: BurstOrder): Promise<MetLimit>;
  /** One request while the quota is spent on purpose: a refusal is an answer like any other. */
  sendWhileSpent(stimulus: Stimulus): Promise<Reply>;
  /** One ordinary handshake likewise. @throws Blocked where it is refused. */
  shakeWhileSpent(purpose: string): Promise<ConversationView>;
  /** What the limiter's refusal looks like; null while none was met. */
  readonly refusal: RefusalFace | null;
  /** Everything recorded so far, in the order of recording. */
  evidenceSoFar(): readonly Evidence[];
}

export function quotaPort(means: SessionMeans, http: ServiceHttp, turn: Turn): QuotaPort {
  const { config, budget, log } = means;
  return {
    async burst(order) {
      if (!config.safety.exceedRateLimit) throw new NotApplicable('safety.exceedRateLimit is not set');
      const met = await sendBurst(order, means, http, turn.signal);
      for (const id of [met.burst.id, met.refusal?.id]) if (id !== undefined) turn.trail.add(id);
      return met;
    },
    sendWhileSpent: (stimulus) => budget.exceed(() => http.reply(stimulus, turn)),
    shakeWhileSpent: (purpose) =>
      budget.exceed(() =>
        webSocketPort(means, turn).converse({ purpose }, (conversation) => conversation.close(1000)),
      ),
    get refusal() {
      return means.limiter.face;
    },
    evidenceSoFar: () => log.all(),
  };
}

export interface BurstOrder {
  readonly purpose: string;
  /** Requests that count as the first part of it. */
  readonly before: number;
  /** Requests at the most; it ends at the first one that is not served. */
  readonly upTo: number;
  /** All at once, each on a connection of its own; none waits to see whether the one before it is served. */
  readonly together?: boolean;
}

/** Connections at the same time for requests sent together: enough for a race, few enough for any machine. */
const TOGETHER = 48;
/** Connections that stand ready for requests one after the other: TCP and TLS take about three times as long as one. */
const AHEAD = 3;

export interface MetLimit {
  readonly burst: Burst;
  /** The first answer that was not 2xx, whole; null when all were served. */
  readonly refusal: Exchange | null;
}

/** Fields of an answer that tell of the quota; the rest of a served answer is not kept. */
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

/** Whatever became of its content: the limiter has let the request through. */
function isServed({ response }: Exchange): boolean {
  return response !== null && response.status >= 200 && response.status < 300;
}

/** Sends a burst past the plan's rate and keeps it as one piece of evidence, its first refusal whole beside it. */
function sendBurst(
  order: BurstOrder,
  means: SessionMeans,
  http: ServiceHttp,
  signal: AbortSignal,
): Promise<MetLimit> {
  const { budget, log, transport, wire } = means;
  const { clock } = transport;
  const send = (via: HttpTransport) => http.exchange({ purpose: order.purpose }, signal, { via });
  return budget.exceed(async () => {
    const id = wire.idOfBurst(order.purpose, log.nextId());
    const startedMs = clock.now();
    const startedAt = clock.wallNow().toISOString();
    const done = await (order.together ? together(order.upTo, means, send) : inTurn(order.upTo, means, send));
    const refusal = done.find((each) => !isServed(each)) ?? null;
    if (refusal !== null) {
      log.keep(refusal, 0);
      await learn(refusal, done.length > 1, means, () => send(http.transport));
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

/**
 * What a burst meets is how the limiter refuses. A connection that ends may as well be an accident: it is a refusal
 * where the next one, right behind it, ends as well.
 */
async function learn(
  refusal: Exchange,
  afterService: boolean,
  { limiter, log }: SessionMeans,
  again: () => Promise<Exchange>,
): Promise<void> {
  if (refusal.response !== null) {
    if (afterService) limiter.met(refusal);
  } else if (isDropped(refusal) && limiter.face === null) {
    const next = log.keep(await again(), 1);
    if (isDropped(next)) limiter.met(next);
  }
}

async function inTurn(
  upTo: number,
  { transport, wire }: SessionMeans,
  send: (via: HttpTransport) => Promise<Exchange>,
): Promise<readonly Exchange[]> {
  const connections = wire.openHttp({ ...transport, ahead: AHEAD });
  const done: Exchange[] = [];
  try {
    while (done.length < upTo && done.every(isServed)) done.push(await send(connections));
  } finally {
    await connections.close();
  }
  return done;
}

async function together(
  upTo: number,
  { budget, transport, wire }: SessionMeans,
  send: (via: HttpTransport) => Promise<Exchange>,
): Promise<readonly Exchange[]> {
  const connections = wire.openHttp({ ...transport, connections: TOGETHER });
  try {
    const all = () => Promise.all(Array.from({ length: upTo }, () => send(connections)));
    const done = await budget.exceed(all, TOGETHER);
    return done.toSorted((a, b) => a.timing.startedMs - b.timing.startedMs);
  } finally {
    await connections.close();
  }
}

import type { Burst, BurstEntry } from '../evidence/burst.ts';
import type { Evidence } from '../evidence/evidence.ts';
import type { EvidenceId, Exchange, FieldLine } from '../evidence/exchange.ts';
import { type HttpTransport, openHttp } from '../transport/http/http.ts';
import type { Budget } from '../transport/pace/budget.ts';
import type { Clock } from '../transport/pace/clock.ts';
import type { TransportOptions } from '../transport/transport.ts';

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

export interface MetLimit {
  readonly burst: Burst;
  /** The first answer that was not 2xx, whole; null when all were served. */
  readonly refusal: Exchange | null;
}

/** Fields of an answer that tell of the quota; the rest of a served answer is not kept. */
const TELLING = /^(?:date|retry-after|x-?rate-?limit.*|ratelimit.*)$/i;

function burstEntry(index: number, { response, failure, timing }: Exchange): BurstEntry {
  return {
    index,
    sentMs: timing.startedMs,
    durationMs: timing.durationMs,
    status: response?.status ?? null,
    fields: (response?.fields ?? []).filter(([name]: FieldLine) => TELLING.test(name)),
    failure: failure?.message ?? null,
  };
}

/** Whatever became of its content: the limiter has let the request through. */
function isServed({ response }: Exchange): boolean {
  return response !== null && response.status >= 200 && response.status < 300;
}

interface Means {
  readonly budget: Budget;
  readonly clock: Clock;
  readonly transport: TransportOptions;
  /** The connection that the session has anyway. */
  readonly http: HttpTransport;
  nextId(): EvidenceId;
  keep<E extends Evidence>(evidence: E, requests: number): E;
  /** One request of the burst, budgeted and redacted. */
  send(via: HttpTransport): Promise<Exchange>;
}

/** Sends a burst past the plan's rate and keeps it as one piece of evidence, its first refusal whole beside it. */
export function sendBurst(order: BurstOrder, means: Means): Promise<MetLimit> {
  const { budget, clock, keep, nextId } = means;
  return budget.exceed(async () => {
    const id = nextId();
    const startedMs = clock.now();
    const startedAt = clock.wallNow().toISOString();
    const done = await (order.together ? together(order, means) : inTurn(order, means));
    const refusal = done.find((each) => !isServed(each)) ?? null;
    if (refusal !== null) keep(refusal, 0);
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
    return { burst: keep(burst, entries.length), refusal };
  });
}

async function inTurn({ upTo }: BurstOrder, { send, http }: Means): Promise<readonly Exchange[]> {
  const done: Exchange[] = [];
  while (done.length < upTo && done.every(isServed)) done.push(await send(http));
  return done;
}

async function together(
  { upTo }: BurstOrder,
  { budget, transport, send }: Means,
): Promise<readonly Exchange[]> {
  const connections = openHttp({ ...transport, connections: TOGETHER });
  try {
    const all = () => Promise.all(Array.from({ length: upTo }, () => send(connections)));
    const done = await budget.exceed(all, TOGETHER);
    return done.toSorted((a, b) => a.timing.startedMs - b.timing.startedMs);
  } finally {
    await connections.close();
  }
}

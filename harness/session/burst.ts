import type { Burst, BurstEntry } from '../evidence/burst.ts';
import type { Exchange, FieldLine } from '../evidence/exchange.ts';

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
export const TOGETHER = 48;

export interface MetLimit {
  readonly burst: Burst;
  /** The first answer that was not 2xx, whole; null when all were served. */
  readonly refusal: Exchange | null;
}

/** Fields of an answer that tell of the quota; the rest of a served answer is not kept. */
const TELLING = /^(?:date|retry-after|x-?rate-?limit.*|ratelimit.*)$/i;

export function burstEntry(index: number, { response, failure, timing }: Exchange): BurstEntry {
  return {
    index,
    sentMs: timing.startedMs,
    durationMs: timing.durationMs,
    status: response?.status ?? null,
    fields: (response?.fields ?? []).filter(([name]: FieldLine) => TELLING.test(name)),
    failure: failure?.message ?? null,
  };
}

export function isServed({ response, failure }: Exchange): boolean {
  return failure === null && response !== null && response.status >= 200 && response.status < 300;
}

import type { ServiceConfig } from '../config/service.ts';
import type { Sample } from '../contract/clause.ts';
import type { Clock } from '../transport/pace/clock.ts';
import type { QuotaPort } from './http/burst.ts';
import type { HttpPort } from './http/http.ts';
import type { PactPort } from './pact/verification.ts';
import type { Named } from './turn/memory.ts';
import type { PausePort } from './turn/pause.ts';
import type { WebhookPort } from './webhooks.ts';
import type { WebSocketPort } from './websocket/conversation.ts';

/** A named stimulus and what it yields. Sent once per session; every check that asks shares what came of it. */
export interface Probe<E> extends Named {
  readonly send: (port: Port) => Promise<E>;
}

/** `name` is unique: a session refuses a second probe that is called the same. */
export function probe<E>(name: string, send: Probe<E>['send']): Probe<E> {
  return { name, send };
}

/**
 * The service as probes reach it; each names in its signature the parts that it takes. Everything is budgeted,
 * recorded, redacted and journaled on the way.
 */
export interface Port {
  readonly config: ServiceConfig;
  /** The request that the contract documents. */
  readonly documented: Sample;
  readonly clock: Clock;
  /** Ends when the check that asked is given up. */
  readonly signal: AbortSignal;
  readonly pause: PausePort;
  /** The evidence of another probe. */
  readonly ask: Ask;
  readonly http: HttpPort;
  readonly websocket: WebSocketPort;
  readonly quota: QuotaPort;
  readonly webhooks: WebhookPort;
  readonly pact: PactPort;
}

export type Ask = <E>(other: Probe<E>) => Promise<E>;

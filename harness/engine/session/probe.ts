import type { Sample } from '../../base/clause.ts';
import type { ServiceConfig } from '../../config/service.ts';
import type { Coverage } from '../../report/results/results.ts';
import type { Clock } from '../../wire/pace/clock.ts';
import type { QuotaPort } from './http/burst.ts';
import type { HttpPort } from './http/service-http.ts';
import type { PactPort } from './pact/verification.ts';
import type { RemainsPort } from './remains.ts';
import type { PausePort } from './turn/pause.ts';
import type { WebhookPort } from './webhooks.ts';
import type { WebSocketPort } from './websocket/conversation.ts';

/** A named stimulus and what it yields. Sent once per session; every check that asks shares what came of it. */
export interface Probe<E> {
  /** Unique: a session refuses a second probe that is called the same. */
  readonly name: string;
  readonly send: (port: Port) => Promise<E>;
  /**
   * It comes after everything else: what it sends is malformed or larger than usual, so that a service may fall over it, or
   * it looks back on what the others met. `of all`: even after what uses up the quota.
   */
  readonly comesLast?: true | 'of all';
  /** What it is the end of: that is asked as soon as this one is, and goes on until its time has come. */
  readonly begunBy?: Probe<unknown>;
  /** It looks at what came of others, so that it can be asked for even where nobody answers any more. */
  readonly evenInOutage?: true;
}

export function probe<E>(name: string, send: Probe<E>['send']): Probe<E> {
  return { name, send };
}

/** The same stimulus, declared to be one that a service may fall over. */
export function risky<E>(calm: Probe<E>): Probe<E> {
  return { ...calm, comesLast: true };
}

/** The same stimulus, declared to be one that looks back on what the others met: it comes after them, too. */
export function lookingBack<E>(early: Probe<E>): Probe<E> {
  return { ...early, comesLast: true };
}

/** The same stimulus, declared to be the end of one that goes on for as long as anything else does. */
export function lastOfAll<E>(begunBy: Probe<unknown>, early: Probe<E>): Probe<E> {
  return { ...early, begunBy, comesLast: 'of all' };
}

/**
 * What is not asked for before its time: nothing, what comes last of all, whatever comes last, or besides that what would
 * have to wait for quota before it is known what requests cost.
 */
export type PutsOff = 'nothing' | 'last of all' | 'last' | 'waiting';

export function isPutOff({ comesLast }: Probe<unknown>, putsOff: PutsOff): boolean {
  if (comesLast === undefined || putsOff === 'nothing') return false;
  return putsOff !== 'last of all' || comesLast === 'of all';
}

/** The same ones, in the order in which they may be asked together. */
export function riskyLast<P extends Probe<unknown>>(probes: readonly P[]): readonly P[] {
  return [...probes.filter(({ comesLast }) => !comesLast), ...probes.filter(({ comesLast }) => comesLast)];
}

/** Whoever asks for a probe before its time has to come back. */
export class PutOff extends Error {
  readonly because: PutsOff;

  constructor(asked: string, because: 'last' | 'waiting') {
    super(`${asked} comes after ${because === 'last' ? 'everything else' : 'what tells what requests cost'}`);
    this.name = 'PutOff';
    this.because = because;
  }
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
  /**
   * The same where it was asked for already, and something came of it; null otherwise. `restsOn`: which pieces of its
   * evidence the borrower's rests on.
   */
  readonly borrow: Borrow;
  readonly http: HttpPort;
  readonly websocket: WebSocketPort;
  readonly quota: QuotaPort;
  readonly webhooks: WebhookPort;
  readonly pact: PactPort;
  readonly remains: RemainsPort;
  /** Puts on record how many requests of a kind the operations got, and how many a cap kept back. */
  readonly cover: (coverage: Coverage) => void;
}

export type Ask = <E>(other: Probe<E>) => Promise<E>;

type Borrow = <E>(other: Probe<E>, restsOn: (yielded: E) => readonly string[]) => Promise<E | null>;

/** What a probe yielded, or threw, with the ids of the evidence it rests on. */
export type Remembered<E> =
  | { readonly evidence: readonly string[]; readonly value: E }
  | { readonly evidence: readonly string[]; readonly failed: unknown };

import type { Sample } from '../../base/clause.ts';
import { HarnessError } from '../../base/exit.ts';

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
  /** The probes that it may ask for. */
  readonly needs: Needs;
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

/** Probes that may be asked for; a function where they depend on the config, or are declared further down. */
export type Needs = readonly Probe<unknown>[] | ((config: ServiceConfig) => readonly Probe<unknown>[]);

export function neededIn(needs: Needs, config: ServiceConfig): readonly Probe<unknown>[] {
  return typeof needs === 'function' ? needs(config) : needs;
}

/** @throws HarnessError where the asker has not declared that it may ask for it: its cost and its place would be wrong. */
export function requireDeclared(
  asker: string,
  declared: readonly Probe<unknown>[],
  asked: Probe<unknown>,
): void {
  if (declared.includes(asked)) return;
  throw new HarnessError(`${asker} asks for ${asked.name}, which it does not declare`);
}

type Send<E> = Probe<E>['send'];
type Declared = Partial<Pick<Probe<unknown>, 'needs'>>;

export function probe<E>(name: string, send: Send<E>): Probe<E>;
export function probe<E>(name: string, declared: Declared, send: Send<E>): Probe<E>;
export function probe<E>(name: string, ...[first, last]: [Send<E>] | [Declared, Send<E>]): Probe<E> {
  return last === undefined
    ? { name, needs: [], send: first as Send<E> }
    : { name, needs: [], ...(first as Declared), send: last };
}

/** What follows from the evidence of others: nothing is sent for it. */
export function derived<E>(
  name: string,
  needs: Needs,
  read: (
    port: Pick<Port, 'ask' | 'borrow' | 'config' | 'documented' | 'clock' | 'signal' | 'cover' | 'remains'>,
  ) => Promise<E>,
): Probe<E> {
  return { name, needs, send: read };
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

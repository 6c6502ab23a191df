import type { Sample } from '../../base/clause.ts';
import { HarnessError } from '../../base/exit.ts';
import { Blocked, NotApplicable } from '../../base/verdict.ts';
import type { ServiceConfig } from '../../config/service.ts';
import type { Coverage } from '../../report/results/results.ts';
import type { CredentialUse } from '../../wire/exchange.ts';
import type { Clock } from '../../wire/pace/clock.ts';
import type { QuotaPort } from './http/burst.ts';
import type { HttpPort } from './http/service-http.ts';
import type { PactPort } from './pact/verification.ts';
import type { RemainsPort } from './remains.ts';
import type { RunRecord } from './turn/evidence-log.ts';
import type { PausePort } from './turn/run-time.ts';
import type { WebhookPort } from './webhooks.ts';
import type { WebSocketPort } from './websocket/conversation.ts';

/** When it is sent: in its turn, after everything that is, or last of all; or it sends nothing, and looks at what all others met. */
export type Place = 'ordinary' | 'late' | 'last' | 'record';

/** What a request may do: change something, be too long for a server, hold a connection, spend the quota. */
export type Risk = 'change' | 'long-head' | 'connection' | 'burst';

/** Number of requests at most; a function where it depends on the config. */
export type Cost = number | ((config: ServiceConfig) => number);

/** A named stimulus and what it yields. Sent once per session; every check that asks shares what came of it. */
export interface Probe<E> {
  /** Unique: a session refuses a second probe that is called the same. */
  readonly name: string;
  /** The probes that it asks for, as far as nothing stands against it. */
  readonly needs: Needs;
  /** The probes that it may ask for, depending on what came of others. */
  readonly mayNeed: Needs;
  /** What it sends by itself. */
  readonly cost: Cost;
  /** What it sends as a rule, if an answer has to give reason for more. */
  readonly usualCost?: number;
  /** It rests on the documented sample: a service without one is hardly sent what needs it. */
  readonly wantsSample?: true;
  /** With which credential; that of most of it. */
  readonly credential: CredentialUse;
  /** Requests of a kind to operations, with those that a cap keeps back; absent if it sends none. */
  readonly covers?: (config: ServiceConfig) => Coverage;
  /** What of that may do harm, or alarm somebody. */
  readonly risks: readonly Risk[];
  /** Its own; what it needs may come later. */
  readonly place: Place;
  readonly send: (port: Port) => Promise<E>;
  /** What it is the end of: that is sent in its turn, and goes on until this one is asked for. */
  readonly begunBy?: Probe<unknown>;
  /** It looks at what came of others, so that it can be asked for even where nobody answers any more. */
  readonly evenInOutage?: true;
}

/** Probes that may be asked for; a function where they depend on the config, or are declared further down. */
export type Needs = readonly Probe<unknown>[] | ((config: ServiceConfig) => readonly Probe<unknown>[]);

export function neededIn(needs: Needs, config: ServiceConfig): readonly Probe<unknown>[] {
  return typeof needs === 'function' ? needs(config) : needs;
}

export function costOf({ cost }: Probe<unknown>, config: ServiceConfig): number {
  return typeof cost === 'function' ? cost(config) : cost;
}

/** The probes without which these send nothing, themselves included. */
export function neededBy(
  probes: readonly Probe<unknown>[],
  config: ServiceConfig,
  all = new Set<Probe<unknown>>(),
): ReadonlySet<Probe<unknown>> {
  for (const each of probes) {
    if (all.has(each)) continue;
    all.add(each);
    neededBy(neededIn(each.needs, config), config, all);
  }
  return all;
}

/** These and everything that they may ask for. */
export function closureOf(
  probes: readonly Probe<unknown>[],
  config: ServiceConfig,
  all = new Set<Probe<unknown>>(),
): ReadonlySet<Probe<unknown>> {
  for (const each of probes) {
    if (all.has(each)) continue;
    all.add(each);
    for (const needs of [each.needs, each.mayNeed]) closureOf(neededIn(needs, config), config, all);
  }
  return all;
}

/** @throws HarnessError if the asker has not declared that it may ask for it: its cost and its place would be wrong. */
export function requireDeclared(
  asker: string,
  declared: readonly Probe<unknown>[],
  asked: Probe<unknown>,
): void {
  if (!declared.includes(asked)) {
    throw new HarnessError(`${asker} asks for ${asked.name}, which it does not declare`);
  }
}

type Send<E> = Probe<E>['send'];
type Declared = Partial<
  Pick<Probe<unknown>, 'needs' | 'mayNeed' | 'cost' | 'usualCost' | 'credential' | 'risks'>
>;

const PLAIN = { needs: [], mayNeed: [], cost: 1, credential: 'right', risks: [], place: 'ordinary' } as const;

/** One request that needs nothing, unless it is declared otherwise. */
export function probe<E>(name: string, send: Send<E>): Probe<E>;
export function probe<E>(name: string, declared: Declared, send: Send<E>): Probe<E>;
export function probe<E>(name: string, ...[first, last]: [Send<E>] | [Declared, Send<E>]): Probe<E> {
  const [declared, send] = last === undefined ? [{}, first as Send<E>] : [first as Declared, last];
  return { ...PLAIN, name, ...declared, send };
}

/** The same over WebSocket: each request that it costs is a connection. */
export function connecting<E>(name: string, send: Send<E>): Probe<E>;
export function connecting<E>(name: string, declared: Declared, send: Send<E>): Probe<E>;
export function connecting<E>(name: string, ...[first, last]: [Send<E>] | [Declared, Send<E>]): Probe<E> {
  const [declared, send] = last === undefined ? [{}, first as Send<E>] : [first as Declared, last];
  return { ...PLAIN, name, ...declared, risks: ['connection', ...(declared.risks ?? [])], send };
}

/** What follows from the evidence of others: nothing is sent for it. */
export function derived<E>(
  name: string,
  needs: Needs,
  read: (
    port: Pick<
      Port,
      'ask' | 'borrow' | 'config' | 'documented' | 'clock' | 'signal' | 'cover' | 'remains' | 'recorded'
    >,
  ) => Promise<E>,
): Probe<E> {
  return { ...PLAIN, name, needs, cost: 0, send: read };
}

/** The same stimulus, declared to be one that a service may fall over: it comes after everything ordinary. */
export function risky<E>(calm: Probe<E>): Probe<E> {
  return { ...calm, place: 'late' };
}

/** The same stimulus, declared to be one that looks back on what the others met: it comes after them, too. */
export function lookingBack<E>(early: Probe<E>): Probe<E> {
  return { ...early, place: 'late' };
}

/** The same stimulus, declared to be the end of one that goes on for as long as anything else does. */
export function lastOfAll<E>(begunBy: Probe<unknown>, early: Probe<E>): Probe<E> {
  return { ...early, begunBy, place: 'last' };
}

/**
 * What `select` takes of everything that the run has recorded so far; a check that uses it comes after everything else was
 * sent. `least`: what has to be there for it to judge anything; if that cannot be had, the rest is judged all the same.
 */
export function overRecord<S>(
  name: string,
  least: readonly Probe<unknown>[],
  select: (
    port: Pick<Port, 'ask' | 'config' | 'documented' | 'recorded'>,
  ) => readonly S[] | Promise<readonly S[]>,
): Probe<Selected<S>> {
  const begin = evenInOutage(
    derived(`${name}-least`, least, async ({ ask }) => {
      let missing: string | null = null;
      for (const each of least) {
        try {
          await ask(each);
        } catch (thrown) {
          if (thrown instanceof Blocked) missing ??= thrown.message;
          else if (!(thrown instanceof NotApplicable)) throw thrown;
        }
      }
      return missing;
    }),
  );
  const selected = derived(name, [begin, ...least], async (port): Promise<Selected<S>> => {
    const missing = await port.ask(begin);
    const all = await select(port);
    return { all, shortfall: missing === null ? null : { end: 'blocked', reason: missing } };
  });
  return { ...evenInOutage(selected), begunBy: begin, place: 'record' };
}

function evenInOutage<E>(probe: Probe<E>): Probe<E> {
  return { ...probe, evenInOutage: true };
}

/** Evidence of the record, with the reason if the least could not be had. */
export interface Selected<S> {
  readonly all: readonly S[];
  readonly shortfall: { readonly end: 'blocked'; readonly reason: string } | null;
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
  /** Every answer of the service so far. */
  readonly recorded: Pick<RunRecord, 'exchanges' | 'conversations'>;
  /** Puts on record how many requests of a kind the operations got, and how many a cap kept back. */
  readonly cover: (coverage: Coverage) => void;
}

export type Ask = <E>(other: Probe<E>) => Promise<E>;

type Borrow = <E>(other: Probe<E>, restsOn: (yielded: E) => readonly string[]) => Promise<E | null>;

/** What a probe yielded, or threw, with the ids of the evidence it rests on. */
export type Remembered<E> =
  | { readonly evidence: readonly string[]; readonly value: E }
  | { readonly evidence: readonly string[]; readonly failed: unknown };

import type { Sample } from '../../base/clause.ts';
import { HarnessError } from '../../base/exit.ts';
import { Blocked, NotApplicable } from '../../base/verdict.ts';
import type { KeyTrialName } from '../../config/credential/scheme.ts';
import type { Operation, ServiceConfig } from '../../config/service.ts';
import type { Coverage, OperationCoverage } from '../../report/results/results.ts';
import type { Reply } from '../../wire/exchange/reply.ts';
import type { CredentialUse } from '../../wire/exchange.ts';
import type { Clock } from '../../wire/pace/clock.ts';
import type { QuotaPort } from './http/burst.ts';
import type { HttpPort } from './http/service-http.ts';
import type { PactPort } from './pact/verification.ts';
import type { CleanupPort } from './remains.ts';
import type { AnswerRecord } from './turn/evidence-log.ts';
import type { PausePort } from './turn/run-time.ts';
import type { WebhookPort } from './webhooks.ts';
import type { WebSocketPort } from './websocket/conversation.ts';

/** In turn, after everything in turn, or last; or it sends nothing and reads the record. */
export type SendingPlace = 'ordinary' | 'late' | 'last' | 'record';

/** It may change something, be too long for a server, hold a connection, or spend the quota. */
export type Risk = 'change' | 'long-head' | 'connection' | 'burst';

/** Number of requests at most. */
export type Cost = number | ((config: ServiceConfig) => number);

/** A named stimulus and its evidence. Sent once per session and shared by all checks. */
export interface Probe<E> {
  /** Unique in a session. */
  readonly name: string;
  /** The probes that it asks for unless something prevents it. */
  readonly needs: Needs;
  /** The probes that it may ask for, depending on the results of others. */
  readonly mayNeed: Needs;
  /** Without its needs. */
  readonly cost: Cost;
  /** If no response is a reason for more. */
  readonly usualCost?: Cost;
  /** It needs the documented sample: without one, little of it is sent. */
  readonly wantsSample?: true;
  /** Of most of its requests. */
  readonly credential: CredentialUse;
  /** Requests of a kind to operations, including those above a cap. */
  readonly covers?: (config: ServiceConfig) => Coverage;
  readonly risks: readonly Risk[];
  /** Its own; its needs may be later. */
  readonly place: SendingPlace;
  readonly send: (port: Port) => Promise<E>;
  /** Its beginning, which is sent in turn and goes on until this one is asked for. */
  readonly begunBy?: Probe<unknown>;
  /** It reads other evidence, so it can be asked for in an outage. */
  readonly evenInOutage?: true;
  /** It sends nothing: its evidence is derived from that of others. */
  readonly derives?: true;
}

/** A function if they depend on the config or are declared further down. */
export type Needs = readonly Probe<unknown>[] | ((config: ServiceConfig) => readonly Probe<unknown>[]);

export function neededIn(needs: Needs, config: ServiceConfig): readonly Probe<unknown>[] {
  return typeof needs === 'function' ? needs(config) : needs;
}

export function costOf({ cost }: Probe<unknown>, config: ServiceConfig): number {
  return requestsFor(cost, config);
}

/** If no response is a reason for more. */
export function usualCostOf({ cost, usualCost = cost }: Probe<unknown>, config: ServiceConfig): number {
  return requestsFor(usualCost, config);
}

function requestsFor(cost: Cost, config: ServiceConfig): number {
  return typeof cost === 'function' ? cost(config) : cost;
}

/** The probes without which these send nothing, including these. */
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

/** @throws HarnessError for an undeclared probe: cost and place would be wrong. */
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

/** One request without needs, unless declared otherwise. */
export function probe<E>(name: string, send: Send<E>): Probe<E>;
export function probe<E>(name: string, declared: Declared, send: Send<E>): Probe<E>;
export function probe<E>(name: string, ...[first, last]: [Send<E>] | [Declared, Send<E>]): Probe<E> {
  const [declared, send] = last === undefined ? [{}, first as Send<E>] : [first as Declared, last];
  return { ...PLAIN, name, ...declared, send };
}

/** The same over WebSocket: each request that it costs is a connection. */
export const connecting: typeof probe = <E>(name: string, ...rest: [Send<E>] | [Declared, Send<E>]) => {
  const plain = rest.length === 1 ? probe(name, rest[0]) : probe(name, ...rest);
  return { ...plain, risks: ['connection', ...plain.risks] };
};

/** Derived from other evidence; sends nothing. */
export function derived<E>(
  name: string,
  needs: Needs,
  read: (
    port: Pick<
      Port,
      | 'ask'
      | 'borrow'
      | 'config'
      | 'documented'
      | 'clock'
      | 'signal'
      | 'cover'
      | 'remains'
      | 'recorded'
      | 'operationOf'
      | 'coverOperations'
    >,
  ) => Promise<E>,
): Probe<E> {
  return { ...PLAIN, name, needs, cost: 0, derives: true, send: read };
}

/** The same stimulus after all ordinary ones, since the service may fall over it. */
export function risky<E>(calm: Probe<E>): Probe<E> {
  return { ...calm, place: 'late' };
}

/** The same stimulus after all ordinary ones, since it looks back on them. */
export function lookingBack<E>(early: Probe<E>): Probe<E> {
  return { ...early, place: 'late' };
}

/** The same stimulus as the end of one that accompanies all others. */
export function lastOfAll<E>(begunBy: Probe<unknown>, early: Probe<E>): Probe<E> {
  return { ...early, begunBy, place: 'last' };
}

/**
 * Selects from the whole record; a check that uses it comes after all stimuli. `least`: stimuli that give it
 * evidence; if they fail, the rest is judged.
 */
export function overRecord<S>(
  name: string,
  least: readonly Probe<unknown>[],
  select: (
    port: Pick<Port, 'ask' | 'config' | 'documented' | 'recorded' | 'operationOf' | 'coverOperations'>,
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
    const all = await select(port);
    const missing = (await port.ask(begin)) ?? port.recorded.unreadMessage();
    return { all, shortfall: missing === null ? null : { end: 'blocked', reason: missing } };
  });
  return { ...evenInOutage(selected), begunBy: begin, place: 'record' };
}

function evenInOutage<E>(probe: Probe<E>): Probe<E> {
  return { ...probe, evenInOutage: true };
}

/** The reason if the least was not available. */
export interface Selected<S> {
  readonly all: readonly S[];
  readonly shortfall: { readonly end: 'blocked'; readonly reason: string } | null;
}

/**
 * The service for a probe; each names in its signature the parts that it takes. Everything is budgeted, recorded,
 * redacted and journaled.
 */
export interface Port {
  readonly config: ServiceConfig;
  /** The documented request. */
  readonly documented: Sample;
  readonly clock: Clock;
  /** Aborted if the check that asked is given up. */
  readonly signal: AbortSignal;
  readonly pause: PausePort;
  readonly ask: Ask;
  /**
   * The evidence of a probe that was sent before and succeeded; null otherwise. `restsOn`: the ids that the borrower
   * rests on.
   */
  readonly borrow: Borrow;
  readonly http: HttpPort;
  readonly websocket: WebSocketPort;
  readonly quota: QuotaPort;
  readonly webhooks: WebhookPort;
  readonly pact: PactPort;
  readonly remains: CleanupPort;
  /** Sends one of the requests for a key that are wrong in this. @throws NotApplicable if there is none. */
  readonly askIssuer: (trial: KeyTrialName) => Promise<Reply>;
  readonly recorded: Pick<AnswerRecord, 'exchanges' | 'tokens' | 'conversations' | 'unreadMessage'>;
  /** The documented operation that a request was for; null for none. */
  readonly operationOf: (reply: Reply) => Operation | null;
  /** Records a sentence about how the run went; no verdict. */
  readonly remark: (text: string) => void;
  /** Records the number of requests of a kind to operations, and of those above a cap. */
  readonly cover: (coverage: Coverage) => void;
  /** Records what the record shows of each documented operation. */
  readonly coverOperations: (operations: readonly OperationCoverage[]) => void;
}

export type Ask = <E>(other: Probe<E>) => Promise<E>;

type Borrow = <E>(other: Probe<E>, restsOn: (yielded: E) => readonly string[]) => Promise<E | null>;

/** The result or the error of a probe, with the ids of its evidence. */
export type Remembered<E> =
  | { readonly evidence: readonly string[]; readonly value: E }
  | { readonly evidence: readonly string[]; readonly failed: unknown };

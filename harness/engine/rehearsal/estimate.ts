import { operationPlan } from '../../../suites/operations/stimuli/operation.ts';
import { withPlan } from '../../config/blocks/facts.ts';
import { addressOf, isBuiltIn } from '../../config/provider/provider.ts';
import type { Operation, ServiceConfig } from '../../config/service.ts';
import { exercisedOf } from '../../report/results/run-verdict.ts';
import type { Estimate } from '../../report/terminal/estimate.ts';
import { fieldValues } from '../../wire/fields/grammar/field-grammar.ts';
import { keptRate } from '../../wire/pace/weighing.ts';
import type { Suite } from '../check/check.ts';
import { applicabilityOf } from '../check/judge.ts';
import { type Rehearsal, type Rehearsed, rehearse } from './rehearse.ts';
import { risksIn } from './risks.ts';

/** What an answer is taken to last, in ms: nobody knows before it is asked. */
const ANSWER_MS = 20;
/** Plans up to this size are met for real in a rehearsal. What goes past larger ones grows evenly with them. */
const LARGEST_MET = 150;
/** So far apart lie the two plans from which it is seen how it grows. */
const APART = 50;

/** A rehearsal that takes longer hangs, in ms. */
const LONGEST_MS = 5 * 60_000;

interface Selected {
  /** With the selected checks only. */
  readonly suites: readonly Suite[];
  readonly catalogue: number;
}

interface EstimateOptions {
  /** In ms. */
  readonly limitMs?: number;
  /** Many operations are rehearsed by some of them: sooner, and less exactly. */
  readonly roughly?: boolean;
}

/** What was rehearsed, and the requests of the whole run by suite. */
interface Found {
  readonly rehearsal: Rehearsal;
  readonly requestsOf: (suite: string) => number;
}

/**
 * What a run of these checks would do to the service, found out by rehearsing it for no longer than `limitMs`. Nothing
 * is sent to the service. Rejects where that is too short.
 */
export async function estimate(
  config: ServiceConfig,
  { suites, catalogue }: Selected,
  { limitMs = LONGEST_MS, roughly = false }: EstimateOptions = {},
): Promise<Estimate> {
  const { service, provider, pacts } = config;
  const signal = AbortSignal.timeout(limitMs);
  const { rehearsal, requestsOf } = await (roughly ? sampled : rehearsed)(config, suites, signal);
  let left = config.safety.maxRequests;
  const bySuite = suites.map(({ name, checks }) => {
    const requests = Math.min(requestsOf(name), left);
    left -= requests;
    const applying = checks.filter((check) => applicabilityOf(check, config).reasonNot === null).length;
    return { name, checks: checks.length, applying, requests };
  });
  const requests = config.safety.maxRequests - left;
  const durationMs = timeOf(rehearsal, requests);
  return {
    service,
    at: `to ${addressOf(provider) ?? `a ${provider.kind} that is started for it`}`,
    requests,
    fewest: requests - (await forCompression(config, suites, rehearsal, signal)),
    durationMs,
    longestMs: Math.max(durationMs, await timeUntold(config, suites, rehearsal, signal)),
    suites: bySuite,
    catalogue,
    exercised: exercisedOf(rehearsal.coverage, 'would be'),
    risks: risksIn(rehearsal.sent),
    gaps: pacts === undefined ? [] : pacts.unread,
  };
}

function timeOf({ waitedMs, pausedMs }: Rehearsal, requests: number): number {
  return waitedMs - pausedMs + Math.max(pausedMs, requests * ANSWER_MS);
}

/**
 * How long it takes, in ms, where no answer tells what remains of the quota: what each request may have spent is waited
 * for then. 0 where that is no question: nothing waits, or the service is a built-in one, of which it is known.
 */
async function timeUntold(
  config: ServiceConfig,
  suites: readonly Suite[],
  rehearsal: Rehearsal,
  signal: AbortSignal,
): Promise<number> {
  const ordinary = rehearsal.sent.filter(({ evidence }) => evidence.kind !== 'burst');
  const fitsInWindow = requestsIn(ordinary) <= keptRate(config.plan).requests;
  if (config.plan === null || isBuiltIn(config.provider) || fitsInWindow) return 0;
  const untold = await rehearse(config, suites, { signal, tellsQuota: false });
  return timeOf(untold, requestsIn(untold.sent));
}

function requestsIn(sent: readonly Rehearsed[]): number {
  return sent.reduce((sum, { requests }) => sum + requests, 0);
}

/** How many connections a service is spared that does not compress its messages: that shows only when it is asked. */
async function forCompression(
  config: ServiceConfig,
  suites: readonly Suite[],
  { sent }: Rehearsal,
  signal: AbortSignal,
): Promise<number> {
  const agreeing = new Set(sent.filter(isCompressed).map(({ suite }) => suite));
  if (agreeing.size === 0) return 0;
  const those = suites.filter(({ name }) => agreeing.has(name));
  const plain = await rehearse(config, those, { signal, compresses: false });
  return connectionsIn(sent.filter(({ suite }) => agreeing.has(suite))) - connectionsIn(plain.sent);
}

function connectionsIn(sent: readonly Rehearsed[]): number {
  return sent.filter(({ evidence }) => evidence.kind === 'conversation').length;
}

function isCompressed({ evidence }: Rehearsed): boolean {
  if (evidence.kind !== 'conversation') return false;
  return fieldValues(evidence.handshake.response?.fields ?? [], 'sec-websocket-extensions').length > 0;
}

/** As `rehearsed`, of many operations by some of them: where nothing has to wait for quota. */
async function sampled(config: ServiceConfig, suites: readonly Suite[], signal: AbortSignal): Promise<Found> {
  const sample = operationSample(config);
  if (sample === null) return rehearsed(config, suites, signal);
  const of = async (some: ServiceConfig) => ({
    found: await rehearsed(some, suites, signal),
    size: some.operations.length,
  });
  const found = grown(await of(sample.fewer), await of(sample.more), config.operations.length);
  const below = suites.reduce((sum, { name, exhausts }) => sum + (exhausts ? 0 : found.requestsOf(name)), 0);
  return below <= keptRate(config.plan).requests ? found : rehearsed(config, suites, signal);
}

async function rehearsed(
  config: ServiceConfig,
  suites: readonly Suite[],
  signal: AbortSignal,
): Promise<Found> {
  const { plan, safety } = config;
  const asIs = async (some: ServiceConfig): Promise<Found> => {
    const rehearsal = await rehearse(some, suites, { signal });
    const requestsOf = (suite: string) => requestsIn(rehearsal.sent.filter((each) => each.suite === suite));
    return { rehearsal, requestsOf };
  };
  const meetsLimit = safety.exceedRateLimit && suites.some(({ exhausts }) => exhausts);
  if (plan === null || !meetsLimit || plan.requests <= LARGEST_MET) return asIs(config);
  // Below the limit nothing depends on how large it is, but for the time.
  const polite = await asIs({ ...config, safety: { ...safety, exceedRateLimit: false } });
  const small = Math.max(LARGEST_MET, 2 * requestsIn(polite.rehearsal.sent));
  if (plan.requests <= small + APART) return asIs(config);
  const of = async (requests: number) => ({
    found: await asIs(withPlan(config, { ...plan, requests }, 'the rehearsal')),
    size: requests,
  });
  const less = await of(small);
  if (!less.found.rehearsal.sent.some(({ evidence }) => evidence.kind === 'burst')) return polite;
  return grown(less, await of(small + APART), plan.requests);
}

interface Sized {
  readonly found: Found;
  readonly size: number;
}

/** What was found at two sizes, at another: as if it grew evenly. */
function grown(less: Sized, more: Sized, size: number): Found {
  const share = (size - less.size) / (more.size - less.size);
  return {
    rehearsal: more.found.rehearsal,
    requestsOf(suite) {
      const [first, second] = [less.found.requestsOf(suite), more.found.requestsOf(suite)];
      return Math.round(first + share * (second - first));
    },
  };
}

/** Of fewer collections than this, each is rehearsed. */
const MANY = 100;
/** Of more, about so many. */
const SAMPLED = 30;

/** Two configs with some of the operations each: as a run grows from one to the other, it goes on to grow. */
export interface OperationSample {
  readonly fewer: ServiceConfig;
  readonly more: ServiceConfig;
}

/**
 * Operations that stand for all, of each sort as many as its share; null where all are to be rehearsed: there are few,
 * or they are too many to be asked without waiting, or at all. What belongs to one collection stays together.
 */
export function operationSample(config: ServiceConfig): OperationSample | null {
  const collections = [...Map.groupBy(config.operations, collectionOf).values()];
  if (collections.length < MANY) return null;
  const { orders, unexercised } = operationPlan(config);
  const isCut = unexercised.some(({ why }) => why === 'capped');
  if (isCut || orders.length > keptRate(config.plan).requests) return null;
  const alike = [...Map.groupBy(collections, sortOf).values()].flat();
  const step = Math.floor(alike.length / SAMPLED);
  const each = (nth: number) => ({
    ...config,
    operations: alike.filter((_, at) => at % nth === 0).flat(),
  });
  return { fewer: each(2 * step), more: each(step) };
}

/** `/v1/orders` of `/v1/orders/{id}/lines`. */
function collectionOf({ template }: Operation): string {
  return template.replace(/\/?(?:\{.*)?$/s, '');
}

/** What decides how many requests a collection gets. */
function sortOf(operations: readonly Operation[]): string {
  return operations
    .map(({ method, auth, uncallable, call }) =>
      [method, auth, uncallable === null, call.body !== null, call.inputs.length].join(' '),
    )
    .sort()
    .join(', ');
}

import type { QuotaReading } from '../../quota/quota.ts';
import { explainingKinds } from '../infer.ts';
import {
  type DocumentedLimit,
  type LimitObservation,
  type Span,
  TOLERANCE,
} from '../observed/observation.ts';

/** The rest of one of several limits by an answer, known by its number and its window. */
export interface RemainingReport {
  readonly sentMs: number;
  readonly finishedMs: number;
  readonly remaining: number;
}

/** The rest of that limit; null if unknown, or for two limits that look alike. */
export function remainingOf(quota: QuotaReading | null, limit: DocumentedLimit): number | null {
  return policyOf(quota, limit)?.remaining ?? null;
}

/** The reports of these answers on it. */
export function remainingReports(
  observations: readonly LimitObservation[],
  limit: DocumentedLimit,
): readonly RemainingReport[] {
  return observations.flatMap(({ sentMs, finishedMs, quota }) => {
    const remaining = remainingOf(quota, limit);
    return remaining === null ? [] : [{ sentMs, finishedMs, remaining }];
  });
}

/** Seconds until more of it is there; null if unknown. */
export function resetOf(quota: QuotaReading | null, limit: DocumentedLimit): number | null {
  return policyOf(quota, limit)?.resetSeconds ?? null;
}

function policyOf(quota: QuotaReading | null, { requests, windowMs }: DocumentedLimit) {
  const its = (quota?.policies ?? []).filter(
    (policy) =>
      policy.quota === requests && policy.windowSeconds === windowMs / 1000 && policy.unit === 'requests',
  );
  return its.length === 1 ? its[0] : undefined;
}

/** What a limit of that rate may give back in that time, in requests. */
export function flowedIn({ requests, windowMs }: DocumentedLimit, forMs: number): number {
  return Math.floor(((forMs + 2 * TOLERANCE.limiterClock) * requests) / windowMs);
}

/** Answers that have to tell of it before anything is concluded. */
const FEWEST = 5;

/**
 * The course of the remaining quota of a limit while requests were served, completing "expected it to fall …, got …"; null where it fell by as many, undefined where nothing shows that. Others may spend of it, so that it may fall
 * further; but not by as many with each request of ours.
 */
export function fallFault(
  observations: readonly LimitObservation[],
  limit: DocumentedLimit,
): string | null | undefined {
  // A handshake may count for one limit and not for another.
  const admitted = observations.filter(
    ({ fate, counted, status }) => fate === 'admitted' && counted === 'surely' && status !== 101,
  );
  const inTurn = admitted.filter(({ part }) => part !== 'parallel');
  const reports = remainingReports(inTurn, limit);
  // Where it rises, a window has ended.
  const from = reports.findLastIndex(
    ({ remaining }, at) => remaining > (reports[at - 1]?.remaining ?? remaining),
  );
  const since = reports.slice(Math.max(0, from));
  const [first, last] = [since[0], since.at(-1)];
  if (first === undefined || last === undefined || since.length < FEWEST) return undefined;
  const served = admitted.filter(({ sentMs }) => sentMs > first.sentMs && sentMs <= last.sentMs).length;
  const fell = first.remaining - last.remaining;
  if (fell + 1 + flowedIn(limit, last.finishedMs - first.sentMs) < served)
    return `${fell} fewer after ${served} requests`;
  const by = stepOf(inTurn, limit);
  return by !== null && by > 1 ? `${by} fewer after each request` : null;
}

/** By how much it falls with each request of a burst; null where not always by as much. */
function stepOf(inTurn: readonly LimitObservation[], limit: DocumentedLimit): number | null {
  const serial = inTurn.filter(({ part }) => part === 'serial').map(({ quota }) => remainingOf(quota, limit));
  const steps = serial.slice(1).flatMap((remaining, at) => {
    const before = serial[at] ?? null;
    return remaining === null || before === null ? [] : [before - remaining];
  });
  const [step] = steps;
  return step !== undefined && steps.length >= FEWEST && steps.every((each) => each === step) ? step : null;
}

/** Moments that are looked at, evenly apart. */
const MOMENTS = 12;

/**
 * The first moment within the span at which one request alone tells the most kinds of limiter apart, whether it is
 * served or refused; null where none tells any apart. In ms on the observations' clock.
 */
export function tellingMoment(
  observations: readonly LimitObservation[],
  documented: DocumentedLimit,
  ownOffsetMs: number,
  { fromMs, toMs }: Span,
): number | null {
  const left = (more: readonly LimitObservation[]) =>
    explainingKinds([...observations, ...more], documented, ownOffsetMs).length;
  let fewest = left([]);
  let moment: number | null = null;
  for (let at = 0; at < MOMENTS && fewest > 1; at += 1) {
    const atMs = fromMs + (at * (toMs - fromMs)) / MOMENTS;
    const most = Math.max(...(['admitted', 'refused'] as const).map((fate) => left([alone(atMs, fate)])));
    if (most < fewest) [fewest, moment] = [most, atMs];
  }
  return moment;
}

function alone(atMs: number, fate: LimitObservation['fate']): LimitObservation {
  return {
    sentMs: atMs,
    finishedMs: atMs,
    fate,
    counted: 'surely',
    part: 'probe',
    status: null,
    quota: null,
    retryAfterMs: null,
    retryAfterIsDate: false,
    dateMs: null,
  };
}

/**
 * Requests of others are counted with ours: a colleague's on the same staging key, or those of an earlier run. How many of
 * the quota were gone before the first of these was sent, as far as its fields tell; 0 where they tell
 * nothing, or of another quota than the documented one. Where requests of ours take none, or more than one each, the
 * fields count something else than requests (the free places of a queue), and nothing is concluded.
 */
export function spentBefore(
  observations: readonly LimitObservation[],
  { requests }: Pick<DocumentedLimit, 'requests'>,
): number {
  const telling = observations.flatMap(({ fate, finishedMs, quota }) => {
    const { limit = null, remaining = null } = quota ?? {};
    const isReport = fate === 'admitted' && limit === requests && remaining !== null && remaining <= requests;
    return isReport ? [{ finishedMs, remaining }] : [];
  });
  const [first] = telling;
  if (first === undefined) return 0;
  const last = telling.at(-1) ?? first;
  const ours = (untilMs: number) => observations.filter(({ sentMs }) => sentMs < untilMs).length;
  const fall = first.remaining - last.remaining;
  if (fall === 0 || fall > ours(last.finishedMs) - 1) return 0;
  return Math.max(0, requests - ours(first.finishedMs) - first.remaining);
}

/**
 * By the remaining quota within a burst: it falls by one for each of ours, and now and then by more. A service
 * that counts each request twice lets it fall by two each time.
 */
export function requestsOfOthers(observations: readonly LimitObservation[]): number {
  const serial = observations.filter(({ part, fate }) => part === 'serial' && fate === 'admitted');
  const drops: number[] = [];
  for (const [at, each] of serial.entries()) {
    const [before, after] = [serial[at - 1]?.quota?.remaining ?? null, each.quota?.remaining ?? null];
    if (before === null || after === null) continue;
    if (after < before) drops.push(before - after);
  }
  const ordinary = drops.filter((drop) => drop === 1).length;
  if (ordinary <= drops.length / 2) return 0;
  return drops.reduce((sum, drop) => sum + drop - 1, 0);
}

import type { DocumentedLimit, LimitObservation } from './observed/observation.ts';
import { TOLERANCE } from './observed/observation.ts';

/** Requests of others that are counted with ours: a colleague's on the same staging key, or those of an earlier run. */

/**
 * How many of the quota were gone before the first of these was sent, as far as its fields tell; 0 where they tell
 * nothing, or of another quota than the documented one. Where requests of ours take none, or more than one each, the
 * fields count something else than requests (the free places of a queue), and nothing is concluded.
 */
export function spentBefore(
  observations: readonly LimitObservation[],
  { requests }: Pick<DocumentedLimit, 'requests'>,
): number {
  const telling = observations.flatMap(({ fate, finishedMs, quota }) => {
    const { limit = null, remaining = null } = quota ?? {};
    const isTold = fate === 'admitted' && limit === requests && remaining !== null && remaining <= requests;
    return isTold ? [{ finishedMs, remaining }] : [];
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
 * Told by the remaining quota within a burst: it falls by one for each of ours, and now and then by more. A service
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

/** When a limiter has surely forgotten all of these, if nobody else asks: on the observations' clock, in ms. */
export function forgottenMs(observations: readonly LimitObservation[], windowMs: number): number {
  const latest = observations.reduce((so, { finishedMs }) => Math.max(so, finishedMs), 0);
  return latest + windowMs + TOLERANCE.afterPromise + TOLERANCE.limiterClock;
}

/**
 * What can still count when the first burst is sent: a refusal before it, and what lies before a whole window without a
 * request, tells of the requests of others alone.
 */
export function countingOnly(
  observations: readonly LimitObservation[],
  windowMs: number,
): readonly LimitObservation[] {
  const begins = observations.findIndex(({ part }) => part === 'serial' || part === 'parallel');
  const before = begins === -1 ? observations.length : begins;
  const ours = observations.filter(({ fate }, at) => at >= before || fate !== 'refused');
  const burst = ours.findIndex(({ part }) => part === 'serial' || part === 'parallel');
  let from = 0;
  for (let at = from + 1; at < ours.length && (burst === -1 || at <= burst); at += 1) {
    const sentMs = ours[at]?.sentMs ?? 0;
    if (sentMs >= forgottenMs(ours.slice(from, at), windowMs)) from = at;
  }
  return ours.slice(from);
}

import type { Mismatch } from '../../../base/finding.ts';
import type { FirstRefusedBounds, LimitInference } from '../infer.ts';
import { countBelow } from '../model/fit.ts';
import { GRADUAL } from '../model/models.ts';
import { type DocumentedLimit, type LimitObservation, oneByOne, TOLERANCE } from '../observed/observation.ts';
import { lawfullyBackMs, sinceServed } from '../pacing.ts';
import { isOfAnother } from './longer-limit.ts';
import { requestsOfOthers } from './remaining.ts';

/** Kinds whose quota comes back whole at one moment: only there can a reset be too late. */
const AT_ONE_MOMENT: ReadonlySet<LimitInference['algorithm']> = new Set([
  'fixed-window',
  'fixed-window-aligned',
  'penalty',
]);

/** What an answer tells of when the quota is back. */
interface ReportedReset {
  /** As the field is called. */
  readonly field: string;
  /** From the receipt of the answer, in ms; null where it tells nothing. */
  readonly ofMs: (answer: LimitObservation) => number | null;
  /** By how much it may be rounded, in ms. */
  readonly roundingMs: (answer: LimitObservation) => number;
  /** By how much it may be later than service, in ms. */
  readonly latestMs: (windowMs: number) => number;
}

const RETRY_AFTER: ReportedReset = {
  field: 'Retry-After',
  ofMs: ({ retryAfterMs }) => retryAfterMs,
  roundingMs: ({ retryAfterIsDate }) => TOLERANCE.wholeSeconds + (retryAfterIsDate ? TOLERANCE.dateField : 0),
  // To ask for more than is needed is lawful (RFC 9110 §10.2.3), and spreads those who come back.
  latestMs: (windowMs) => Math.max(TOLERANCE.generousWindows * windowMs, TOLERANCE.generous),
};

const RESET: ReportedReset = {
  field: 'the reset',
  ofMs: ({ quota }) => (quota === null || quota.resetSeconds === null ? null : quota.resetSeconds * 1000),
  // An epoch is held against the Date of its answer, which is cut to the second.
  roundingMs: () => TOLERANCE.wholeSeconds + TOLERANCE.dateField,
  latestMs: () => TOLERANCE.afterPromise,
};

/**
 * The fault of Retry-After, held against when requests were in fact served; null when it was honest. `shorterMs`: the window of
 * a limit beside the documented one, whose refusals ask for no longer wait.
 */
export function retryAfterFault(
  observations: readonly LimitObservation[],
  windowMs: number,
  shorterMs = 0,
): Mismatch | null {
  return promiseFault(RETRY_AFTER, observations, windowMs, shorterMs);
}

/** Whether a reset of the quota fields can be held against the real wait; elsewhere drafts and services differ in its meaning. */
export function meaningOfReset({
  algorithm,
}: Pick<LimitInference, 'algorithm'>): 'known' | 'open' | 'unknown' {
  if (AT_ONE_MOMENT.has(algorithm)) return 'known';
  return algorithm === 'unknown' ? 'unknown' : 'open';
}

/** The same for the reset of the quota fields on refusals. */
export function resetFault(
  observations: readonly LimitObservation[],
  windowMs: number,
  inference: Pick<LimitInference, 'algorithm'>,
): Mismatch | null {
  // Elsewhere the quota comes back bit by bit, and drafts and services differ in what the reset then means.
  return AT_ONE_MOMENT.has(inference.algorithm) ? promiseFault(RESET, observations, windowMs) : null;
}

/** Kinds whose windows end when they end, whatever was refused in them. */
const WINDOWS: ReadonlySet<LimitInference['algorithm']> = new Set(['fixed-window', 'fixed-window-aligned']);

/** The fault of the reset in served answers, held against when requests were refused and served; undefined if none can be. */
export function servedResetFault(
  observations: readonly LimitObservation[],
  { requests }: DocumentedLimit,
  { algorithm }: Pick<LimitInference, 'algorithm'>,
): string | null | undefined {
  if (!WINDOWS.has(algorithm)) return undefined;
  const inOrder = oneByOne(observations);
  const refusals = inOrder.filter(({ fate }) => fate === 'refused');
  const spentMs = refusals[0]?.sentMs ?? 0;
  const back = inOrder.find(
    ({ fate, counted, sentMs }) => fate === 'admitted' && counted === 'surely' && sentMs > spentMs,
  );
  if (back === undefined) return undefined;
  const lastRefusalMs = Math.max(
    ...refusals.filter(({ sentMs }) => sentMs < back.sentMs).map(({ sentMs }) => sentMs),
  );
  // The burst may have gone on into the next window, and have spent that as well.
  const servedAfter = ({ sentMs }: LimitObservation) =>
    observations.filter((each) => {
      return each.fate !== 'refused' && each.sentMs > sentMs && each.sentMs <= lastRefusalMs;
    }).length;
  let isCompared = false;
  // Later answers are of another window.
  for (const answer of inOrder.slice(0, inOrder.indexOf(back))) {
    const { part, fate, finishedMs, quota } = answer;
    const waitMs = RESET.ofMs(answer);
    if (part !== 'serial' || fate !== 'admitted' || waitMs === null || quota?.limit !== requests) continue;
    isCompared = true;
    const endMs = finishedMs + waitMs;
    const reset = `a reset ${seconds(waitMs)} after an answer`;
    if (lastRefusalMs >= endMs + TOLERANCE.wholeSeconds && servedAfter(answer) < requests)
      return `${reset}, and a refusal ${seconds(lastRefusalMs - finishedMs)} after it`;
    if (endMs - back.sentMs > RESET.roundingMs(answer) + TOLERANCE.afterPromise)
      return `${reset}, and service ${seconds(back.sentMs - finishedMs)} after it`;
  }
  return isCompared ? null : undefined;
}

function promiseFault(
  { field, ofMs, roundingMs, latestMs }: ReportedReset,
  observations: readonly LimitObservation[],
  windowMs: number,
  shorterMs = 0,
): Mismatch | null {
  const inOrder = oneByOne(observations);
  for (const [at, refusal] of inOrder.entries()) {
    const waitMs = ofMs(refusal);
    if (refusal.fate !== 'refused' || waitMs === null) continue;
    const { finishedMs } = refusal;
    const promisedMs = finishedMs + waitMs;
    const next = inOrder[at + 1];
    // The documented quota was spent with the one of the shorter limit, which asked for its own wait.
    const nextMs = next && (ofMs(next) ?? Number.POSITIVE_INFINITY);
    const isOfShorter = shorterMs > 0 && waitMs <= shorterMs + TOLERANCE.wholeSeconds;
    if (isOfShorter && next?.fate === 'refused' && nextMs !== undefined && nextMs > waitMs) continue;
    if (next?.fate === 'refused' && next.sentMs >= promisedMs + TOLERANCE.limiterClock) {
      const expected = `service after ${field} (${seconds(waitMs)})`;
      return { expected, got: `a refusal ${seconds(next.sentMs - finishedMs)} after it` };
    }
    const served = inOrder
      .slice(at + 1)
      .find((each) => each.fate === 'admitted' && each.counted === 'surely');
    if (served === undefined) continue;
    // A refusal that is held back may have been written at once.
    const lateMs = refusal.sentMs + waitMs - served.sentMs;
    if (lateMs > roundingMs(refusal) + latestMs(windowMs)) {
      const servedAfter = seconds(served.sentMs - finishedMs);
      return {
        expected: `${field} to tell the time left`,
        got: `${seconds(waitMs)}, and service ${servedAfter} after the refusal`,
      };
    }
  }
  return null;
}

/** Tenths matter only where they are a good part of it. */
function seconds(ms: number): string {
  const value = ms / 1000;
  return `${value < 10 && !Number.isInteger(value) ? value.toFixed(1) : Math.round(value)} s`;
}

/** The index of the first refused request of a window. */
export interface FirstRefused {
  /** 1-based. */
  readonly at: number;
  /** How well that is known, in words; null when exactly. */
  readonly uncertainty: string | null;
}

/**
 * The documented number, where the bounds leave no other; null where they do. A window that may have ended meanwhile
 * leaves others; of what flows back, so much may stay open as no count can tell.
 */
export function documentedWithin(
  { least, most, whole }: FirstRefusedBounds,
  { requests }: Pick<DocumentedLimit, 'requests'>,
): FirstRefused | null {
  const at = requests + 1;
  const isOpen = whole !== null && (whole.least !== at || whole.most !== at);
  const isWide = most - least > Math.max(TOLERANCE.tellingLeast, requests * TOLERANCE.tellingShare);
  if (at < least || at > most || isOpen || isWide) return null;
  return { at, uncertainty: least === most ? null : `between ${least} and ${most}` };
}

/**
 * The remaining quota of an answer and the requests that were then served, completing "expected a remaining quota that is
 * true, got …"; null where it was true, undefined where nothing shows it. By the requests that were sent one after the other.
 */
export function remainingFault(
  observations: readonly LimitObservation[],
  { requests, windowMs }: DocumentedLimit,
  { compatible }: Pick<LimitInference, 'compatible'>,
): string | null | undefined {
  const serial = observations.filter(({ part }) => part === 'serial');
  const refusedAt = serial.findIndex(({ fate }) => fate === 'refused');
  const refusal = serial[refusedAt];
  if (refusal && isOfAnother(refusal, { requests, windowMs })) return undefined;
  const admitted = serial.slice(0, Math.max(0, refusedAt));
  const endMs = admitted.at(-1)?.finishedMs ?? 0;
  const telling = admitted.flatMap(({ quota, sentMs }, at) =>
    quota?.limit === requests && quota.remaining !== null
      ? [
          {
            reported: quota.remaining,
            left: admitted.length - 1 - at,
            unsure: unsureBehind(admitted, at),
            sentMs,
          },
        ]
      : [],
  );
  // Where it rises, a window has ended meanwhile.
  const isRenewed = telling.some(({ reported }, at) => reported > (telling[at - 1]?.reported ?? requests));
  if (telling.length === 0 || isRenewed || requestsOfOthers(observations) > 0) return undefined;
  // Requests that flow back are reported as whole ones.
  const spare = compatible.length === 0 || compatible.some((each) => GRADUAL.has(each)) ? 1 : 0;
  const wrong = telling.findLast(({ reported, left, unsure, sentMs }) => {
    const flowed = 1 + Math.floor(((endMs - sentMs) * requests) / windowMs);
    return reported > left + spare || reported < left - unsure - flowed;
  });
  return wrong === undefined ? null : `${wrong.reported} told, and ${wrong.left} more served`;
}

/** Number of requests behind it that may have taken of the quota. */
function unsureBehind(admitted: readonly LimitObservation[], at: number): number {
  return admitted.slice(at + 1).filter(({ counted }) => counted === 'maybe').length;
}

/**
 * How the window of a limit differs from the documented one, completing "expected windows of 60 s, got …"; null where
 * nothing shows that it does. Only what the service says itself and then does counts: others may spend of the quota, and
 * windows may lie anywhere on a clock.
 */
export function windowFault(
  observations: readonly LimitObservation[],
  documented: DocumentedLimit,
  isResetHonest: boolean,
): string | null {
  return (
    tooLong(observations, documented) ??
    renewedTwice(observations, documented) ??
    servedTwice(observations, documented) ??
    (isResetHonest ? tooShort(observations, documented) : null)
  );
}

/** Of the documented window: the longest of the shorter ones that are looked for. */
const SHORTER_SHARE = 0.5;

/** Whether the requests in turn took longer than a window that is looked for: one may have ended among them. */
export function isSlowInTurn(
  observations: readonly LimitObservation[],
  { windowMs }: Pick<DocumentedLimit, 'windowMs'>,
): boolean {
  const inTurn = observations.filter(({ part }) => part === 'serial');
  const last = inTurn.find(({ fate }) => fate === 'refused') ?? inTurn.at(-1);
  return last !== undefined && last.finishedMs - (inTurn[0] ?? last).sentMs > SHORTER_SHARE * windowMs;
}

/**
 * Whether windows of half the length are ruled out: a request was refused although fewer than the documented number had been
 * served in that time, or since one that was served behind a refusal, as by no window at all.
 */
export function isWindowShown(
  observations: readonly LimitObservation[],
  { requests, windowMs }: DocumentedLimit,
): boolean {
  const served = observations.filter(({ fate }) => fate === 'admitted');
  const refused = observations.filter(({ fate }) => fate === 'refused');
  const spanMs = SHORTER_SHARE * windowMs + TOLERANCE.limiterClock;
  return refused.some(({ sentMs, finishedMs }) => {
    const before = served.filter((each) => each.sentMs < finishedMs);
    const latestMs = Math.max(...before.flatMap((each) => (each.finishedMs <= sentMs ? [each.sentMs] : [])));
    const endedMs = Math.max(
      ...refused.flatMap((each) => (each.finishedMs <= latestMs ? [each.sentMs] : [])),
    );
    const sinceMs = Math.max(sentMs - spanMs, endedMs);
    return before.filter((each) => each.finishedMs > sinceMs).length < requests;
  });
}

/** More than two windows admit was served in less than the time of one. */
function servedTwice(observations: readonly LimitObservation[], documented: DocumentedLimit): string | null {
  const { requests, windowMs } = documented;
  const served = observations
    .filter(({ fate, counted }) => fate === 'admitted' && counted === 'surely')
    .toSorted((a, b) => a.sentMs - b.sentMs);
  for (const [at, last] of served.entries()) {
    const first = served[at - 2 * requests];
    if (first === undefined) continue;
    const spanMs = last.finishedMs - first.sentMs;
    const flowed = requests + Math.ceil((spanMs * requests) / windowMs) + 1;
    if (spanMs < windowMs - TOLERANCE.limiterClock && flowed <= 2 * requests)
      return `one in which ${2 * requests + 1} were served within ${seconds(spanMs)}`;
  }
  return null;
}

/**
 * Less than a window after a refusal, when the quota was spent, it was spent anew, and a request was served all the same. No
 * limiter of such windows serves more than the documented number in that time, nor does one whose quota flows back.
 */
export function renewedTwice(
  observations: readonly LimitObservation[],
  documented: DocumentedLimit,
): string | null {
  const { requests, windowMs } = documented;
  const ours = observations.filter(({ part }) => part !== 'before');
  const refusals = ours.filter((each) => each.fate === 'refused' && !isOfAnother(each, documented));
  const served = ours
    .filter(({ fate, counted }) => fate === 'admitted' && counted === 'surely')
    .toSorted((a, b) => a.sentMs - b.sentMs);
  for (const again of served.filter(({ part }) => part === 'probe')) {
    const sentMs = served.flatMap((each) => (each.finishedMs <= again.finishedMs ? [each.sentMs] : []));
    for (const spent of refusals) {
      const forMs = again.finishedMs - spent.sentMs;
      if (spent.finishedMs > again.sentMs || forMs >= windowMs - TOLERANCE.limiterClock) continue;
      const since = sentMs.slice(countBelow(sentMs, spent.finishedMs));
      const flowed = Math.ceil((forMs * requests) / windowMs) + 1;
      if (since.length <= Math.max(requests, flowed)) continue;
      const wholeMs = since[requests - 1] ?? Number.POSITIVE_INFINITY;
      const isSpentAnew = refusals.some(
        ({ sentMs, finishedMs }) =>
          finishedMs <= again.sentMs && finishedMs >= wholeMs && sentMs > spent.sentMs,
      );
      if (isSpentAnew) return `one that ends at most ${seconds(forMs)} after it began`;
    }
  }
  return null;
}

/** It asks for a wait that is longer than any lawful limiter needs, and refuses after that. */
function tooLong(observations: readonly LimitObservation[], documented: DocumentedLimit): string | null {
  for (const { each, since } of sinceServed(observations)) {
    const first = since.find(({ fate }) => fate === 'refused');
    if (each.fate !== 'refused' || first === undefined || isOfAnother(first, documented)) continue;
    const backMs = lawfullyBackMs(since, documented);
    const untilMs = statedEndMs(first, documented) ?? 0;
    if (backMs !== null && each.sentMs >= backMs && untilMs >= each.sentMs)
      return `a refusal ${wholeSeconds(each.sentMs - first.sentMs)} after the first one`;
  }
  return null;
}

/** Of the documented quota: so much at once comes from no even flow, and from no sliding window. */
const WHOLE_SHARE = 0.9;
/** Of the window: the burst follows the first served request. */
const AT_ONCE_SHARE = 0.05;

/** The whole quota is back at one moment, and the window that begins then ends sooner than it may. */
function tooShort(observations: readonly LimitObservation[], documented: DocumentedLimit): string | null {
  const { requests, windowMs } = documented;
  const inOrder = oneByOne(observations);
  const backAt = inOrder.findIndex(({ fate, part }, at) => {
    return part === 'probe' && fate === 'admitted' && inOrder[at - 1]?.fate === 'refused';
  });
  const [last, back] = [inOrder[backAt - 1], inOrder[backAt]];
  if (last === undefined || back === undefined) return null;
  const behind = observations.filter(({ part, sentMs }) => part === 'parallel' && sentMs >= back.sentMs);
  const served = behind.filter(({ fate }) => fate === 'admitted').length;
  const begunMs = Math.min(...behind.map(({ sentMs }) => sentMs));
  if (served < WHOLE_SHARE * requests || begunMs - back.finishedMs > AT_ONCE_SHARE * windowMs) return null;
  const rounding = TOLERANCE.wholeSeconds + TOLERANCE.dateField;
  const ends = behind.flatMap((each) => resetMs(each, documented) ?? []);
  if (ends.length === 0) return null;
  // Between the last refusal and the first service; the refusal may have said when.
  const saidMs = Math.min(resetMs(last, documented) ?? 0, back.finishedMs) - rounding;
  const earliestMs = Math.max(last.sentMs, saidMs);
  const lengthMs = Math.max(...ends) - earliestMs;
  if (lengthMs >= windowMs - rounding) return null;
  return `one that ends at most ${wholeSeconds(lengthMs)} after it began`;
}

/** When the quota fields of an answer say that the documented quota is back, in ms; null where they do not. */
function resetMs({ quota, finishedMs }: LimitObservation, { requests }: DocumentedLimit): number | null {
  if (quota === null || quota.limit !== requests || quota.resetSeconds === null) return null;
  return finishedMs + quota.resetSeconds * 1000;
}

function statedEndMs(refusal: LimitObservation, documented: DocumentedLimit): number | null {
  const { finishedMs, retryAfterMs } = refusal;
  return retryAfterMs === null ? resetMs(refusal, documented) : finishedMs + retryAfterMs;
}

function wholeSeconds(ms: number): string {
  return `${Math.round(ms / 1000)} s`;
}

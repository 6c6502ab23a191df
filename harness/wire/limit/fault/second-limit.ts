import type { DocumentedLimit, LimitObservation } from '../observed/observation.ts';
import { TOLERANCE } from '../tolerances.ts';

/**
 * A limit beside the documented one, of a shorter window: it refuses whoever sends fast, and serves again long before
 * the documented quota can have come back. Its refusals say nothing of the documented limit.
 */
export interface SecondLimit {
  /** So many were admitted at once, at the most. */
  readonly requests: number;
  /** After so long it served again, in ms. */
  readonly backMs: number;
}

/** Requests sent one after the other until one of them was refused, or none was left to send. */
export interface Group {
  /** When the first was sent and the last one answered, in ms. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly admitted: number;
  /** So many of them were faults of the moment, of which nobody knows whether the limit was asked. */
  readonly unsure: number;
  readonly refusal: {
    /** In ms; null where it does not say when to come back. */
    readonly waitMs: number | null;
  } | null;
}

/** Limits are of a second, a minute, an hour: where a refusal does not say more, it is one of a second. In ms. */
const SHORTEST_WINDOW_MS = 1_000;
/** Of the window: a limit that keeps a client waiting for longer is no shorter one. */
const MOST_WAIT_SHARE = 0.25;
/** Of the window: so long after the first request it cannot have ended, whatever kind of window it is. */
const MOST_TIME_SHARE = 0.5;
/** The same where the documents say that there is a second limit. */
const MOST_TIME_STATED = 0.9;
/** So much more than flows back at the documented rate shows that the refusal was not of the documented limit. */
const TIMES_THE_FLOW = 2;
/** Without end there is no knowing which limit it was. */
const MOST_GROUPS = 100;

/**
 * How long to wait to see whether the last refusal was of a second limit, in ms; null where it was not, or that is seen.
 * `stated`: a shorter limit that the documents state.
 */
export function waitForMore(
  groups: readonly Group[],
  before: number,
  documented: DocumentedLimit,
  stated: DocumentedLimit | null = null,
): number | null {
  const [first, last] = [groups[0], groups.at(-1)];
  if (first === undefined || last === undefined || last.refusal === null) return null;
  const { requests, windowMs } = documented;
  const admitted = before + total(groups);
  const isAlone = groups.length === 1;
  if (isAlone && (admitted >= requests || last.admitted < TIMES_THE_FLOW)) return null;
  if (!isAlone && !isBack(groups, groups.length - 1, documented)) return null;
  const waitMs = Math.max(
    TOLERANCE.limiterClock,
    last.refusal.waitMs ?? stated?.windowMs ?? SHORTEST_WINDOW_MS,
  );
  const isLong = waitMs > Math.min(MOST_WAIT_SHARE * windowMs, (last.admitted * windowMs) / requests);
  const isLate = last.toMs + waitMs - first.fromMs > (stated ? MOST_TIME_STATED : MOST_TIME_SHARE) * windowMs;
  return isLong || isLate || groups.length >= MOST_GROUPS ? null : waitMs + TOLERANCE.afterPromise;
}

/** The second limit that these met on their way to the documented one; null where nothing shows that there are two. */
export function secondLimitOf(
  groups: readonly Group[],
  before: number,
  documented: DocumentedLimit,
): SecondLimit | null {
  const last = groups.at(-1);
  // What goes on beyond the documented number may be one limit, and a window that has ended.
  if (last === undefined || last.refusal === null || before + total(groups) > documented.requests + 1)
    return null;
  const backs = groups.flatMap((_, at) => {
    return at > 0 && isBack(groups, at, documented) ? [sinceRefusalMs(groups, at)] : [];
  });
  if (backs.length === 0) return null;
  return { requests: Math.max(...groups.map(({ admitted }) => admitted)), backMs: Math.min(...backs) };
}

/** Whether more was served again than any limiter of the documented rate gives back in that time. */
function isBack(groups: readonly Group[], at: number, { requests, windowMs }: DocumentedLimit): boolean {
  const { admitted = 0, toMs = 0 } = groups[at] ?? {};
  const flowed = 1 + ((toMs - (groups[at - 1]?.toMs ?? toMs)) * requests) / windowMs;
  return admitted >= TIMES_THE_FLOW * flowed;
}

function sinceRefusalMs(groups: readonly Group[], at: number): number {
  return (groups[at]?.fromMs ?? 0) - (groups[at - 1]?.toMs ?? 0);
}

function total(groups: readonly Group[]): number {
  return groups.reduce((sum, { admitted }) => sum + admitted, 0);
}

/** Windows of the documented limit: a refusal that asks to wait for longer is of another one. */
const LONGER_WINDOWS = 3;

/** Whether a refusal says itself that another limit than the documented one has refused. */
export function isOfAnother(
  { retryAfterMs, quota }: LimitObservation,
  { requests, windowMs }: DocumentedLimit,
): boolean {
  if (retryAfterMs !== null && retryAfterMs > LONGER_WINDOWS * windowMs) return true;
  const policies = quota?.policies ?? [];
  const remains = (isDocumented: boolean) =>
    policies.flatMap(({ quota: limit, remaining }) =>
      (limit === requests) === isDocumented && remaining !== null ? [remaining] : [],
    );
  return remains(false).includes(0) && remains(true).some((remaining) => remaining > 0);
}

/**
 * Whether requests sent together met a longer limit, which the one by one before them had not: then it can be told no more
 * how many of them the documented limit admits.
 */
export function longerLimitMet(
  observations: readonly LimitObservation[],
  documented: DocumentedLimit,
): boolean {
  const refusals = observations.filter(({ fate }) => fate === 'refused');
  const [first] = refusals;
  if (first === undefined || first.part === 'parallel' || isOfAnother(first, documented)) return false;
  return refusals.some((each) => each.part === 'parallel' && isOfAnother(each, documented));
}

import { type DocumentedLimit, type LimitObservation, TOLERANCE } from '../observed/observation.ts';
import { isApart } from './counts-apart.ts';
import { flowedIn, remainingOf, resetOf } from './remaining.ts';

/** Requests that remain right before a refusal, as it says: others have not spent as many in a moment. */
const LEFT_OVER = 3;

/**
 * How a limit is kept for which no request is sent: by all requests that were sent anyway, in the order of sending. `main`: the
 * documented limit beside which it stands.
 */
export function keptAnyway(
  observations: readonly LimitObservation[],
  limit: DocumentedLimit,
  main: DocumentedLimit,
): Exclude<LimitAdherence, { kind: 'above' }> {
  const admitted = surelyAdmitted(observations);
  const { beyond } = servedBeyond(admitted, limit);
  if (beyond !== null) {
    const { served, spanMs } = beyond;
    const within = spanMs < limit.windowMs ? '' : ` within ${(spanMs / 1_000).toFixed(1)} s`;
    return { kind: 'broken', got: `${served} served${within}` };
  }
  const refusedAt = observations.findIndex(
    (each) => each.fate === 'refused' && isOfAnother(each, main) && remainingOf(each.quota, limit) === 0,
  );
  if (refusedAt !== -1) {
    const { part } = observations[refusedAt] ?? {};
    const left = remainingOf(observations[refusedAt - 1]?.quota ?? null, limit);
    if (part === 'serial' && left !== null && left >= LEFT_OVER)
      return { kind: 'broken', got: `a refusal while ${left} were told to remain` };
    return { kind: 'kept' };
  }
  return {
    kind: 'unmet',
    reason: `${mostWithin(admitted, limit)} were served in this run, and it takes ${limit.requests + 1}`,
  };
}

/**
 * The same of a shorter limit that requests in turn are too slow for: those sent together meet it as well. It refuses some of
 * them once it has served as many as it allows, while the main limit has more left. null where nothing shows that.
 */
export function keptTogether(
  observations: readonly LimitObservation[],
  limit: DocumentedLimit,
  main: DocumentedLimit,
): Exclude<LimitAdherence, { kind: 'unmet' }> | null {
  const anyway = keptAnyway(observations, limit, main);
  if (anyway.kind !== 'unmet') return anyway;
  const admitted = observations.filter(({ fate }) => fate === 'admitted');
  const isMet = observations.some(({ fate, part, sentMs, finishedMs }) => {
    if (fate !== 'refused' || part !== 'parallel') return false;
    const servedIn = ({ windowMs }: DocumentedLimit) =>
      admitted.filter((each) => each.finishedMs > sentMs - windowMs && each.sentMs < finishedMs).length;
    return servedIn(limit) >= limit.requests && servedIn(main) < main.requests;
  });
  if (isMet) return { kind: 'kept' };
  const { once } = servedBeyond(surelyAdmitted(observations), limit);
  return once === null ? null : { kind: 'above', group: { ...once, unsure: 0, refusal: null } };
}

/** The most of them in one window. */
function mostWithin(admitted: readonly LimitObservation[], limit: DocumentedLimit): number {
  let most = 0;
  for (let from = 0; admitted.length - from > most; from += 1)
    most = Math.max(most, within(admitted, from, limit).length);
  return most;
}

/** The requests of one window that begins with this one. */
function within(
  admitted: readonly LimitObservation[],
  from: number,
  { windowMs }: DocumentedLimit,
): readonly LimitObservation[] {
  const sinceMs = admitted[from]?.sentMs ?? 0;
  return admitted.slice(from).filter(({ finishedMs }) => finishedMs - sinceMs < windowMs);
}

function surelyAdmitted(observations: readonly LimitObservation[]): readonly LimitObservation[] {
  return observations.filter(({ fate, counted }) => fate === 'admitted' && counted === 'surely');
}

/** What was served of a limit, at the most. */
interface ServedBeyond {
  /** More than any limiter of its rate lets through. */
  readonly beyond: { readonly served: number; readonly spanMs: number } | null;
  /** More than it lets through unless a window has ended meanwhile. */
  readonly once: Pick<Group, 'fromMs' | 'toMs' | 'admitted'> | null;
}

/** Of the limit: the longest stretch in which answers are counted, for those that take longer than a window. */
const MOST_WINDOWS = 3;

/**
 * How many were served in a stretch where that is more than any limiter of this rate lets through. A window may end within a stretch: that explains twice as many, but neither two stretches
 * within which no window of a clock can end both times, nor one whose window lasts longer, as it says.
 */
function servedBeyond(admitted: readonly LimitObservation[], limit: DocumentedLimit): ServedBeyond {
  const { requests, windowMs } = limit;
  let before: ServedBeyond['once'] = null;
  let from = 0;
  // With fewer left than the limit lets through, none can be beyond it.
  while (from + requests < admitted.length) {
    const first = admitted[from];
    if (first === undefined) break;
    const stretch = within(admitted, from, { requests, windowMs: MOST_WINDOWS * windowMs });
    const spansMs = stretch.map(({ finishedMs }) => finishedMs - first.sentMs).toSorted((a, b) => a - b);
    const spanMs = (to: number) => spansMs[to] ?? 0;
    const beyond = (times: number) =>
      spansMs.findIndex((forMs, at) => at + 1 > times * requests + flowedIn(limit, forMs));
    const twice = beyond(2);
    if (twice !== -1) return { beyond: { served: twice + 1, spanMs: spanMs(twice) }, once: before };
    const once = beyond(1);
    if (once === -1 || spanMs(once) >= windowMs) {
      from += 1;
      continue;
    }
    const span = { fromMs: first.sentMs, toMs: first.sentMs + spanMs(once) };
    const resetSeconds = resetOf(first.quota, limit);
    const lasts = resetSeconds !== null && resetSeconds * 1_000 - TOLERANCE.wholeSeconds > spanMs(once);
    if (lasts || (before !== null && isApart(before, span, windowMs)))
      return { beyond: { served: once + 1, spanMs: spanMs(once) }, once: before };
    before ??= { ...span, admitted: once + 1 };
    from += once + 1;
  }
  return { beyond: null, once: before };
}

/** How a limit of a shorter window is kept, by the requests that were served on the way to the main one. */
export type LimitAdherence =
  | { readonly kind: 'kept' }
  /** Completes "expected request 11 within 1 s to be the first refused, got …". */
  | { readonly kind: 'broken'; readonly got: string }
  /** More was served than it allows, unless a window of a clock has ended within these. */
  | { readonly kind: 'above'; readonly group: Group }
  | { readonly kind: 'unmet'; readonly reason: string };

/** Time without a request after which a limiter has forgotten all: a weighed counter remembers two windows. In ms. */
export function freshAfterMs({ windowMs }: DocumentedLimit): number {
  return 2 * windowMs + TOLERANCE.afterPromise + TOLERANCE.limiterClock;
}

/** `quietMs`: time without a request before the first of them; `isMet`: a second limit refused before the main one. */
export function howKept(
  groups: readonly Group[],
  limit: DocumentedLimit,
  { quietMs, isMet }: { readonly quietMs: number; readonly isMet: boolean },
): LimitAdherence {
  const [first] = groups;
  const group = groups.find((each) => isAbove(each, limit));
  if (group !== undefined) return { kind: 'above', group };
  // The last refusal is of the main limit.
  const refused = isMet ? groups.slice(0, -1).filter((each) => isWithin(each, limit)) : [];
  if (refused.length === 0) {
    return {
      kind: 'unmet',
      reason: 'requests are too slow from here to meet it, or the main limit comes first',
    };
  }
  const counts = refused.map(({ admitted }) => admitted);
  const isFresh = quietMs >= freshAfterMs(limit) - TOLERANCE.limiterClock;
  if (isFresh && refused[0] === first && counts.every((count) => count < limit.requests)) {
    return { kind: 'broken', got: `request ${Math.max(...counts) + 1}` };
  }
  return { kind: 'kept' };
}

/** Whether more was served at once than a fresh quota of it has, and what flows back meanwhile. */
export function isAbove(group: Group, limit: DocumentedLimit): boolean {
  const { fromMs, toMs, admitted, unsure } = group;
  const flowed = ((toMs - fromMs + 2 * TOLERANCE.limiterClock) * limit.requests) / limit.windowMs;
  return isWithin(group, limit) && admitted - unsure > limit.requests + Math.floor(flowed);
}

function isWithin({ fromMs, toMs }: Group, { windowMs }: DocumentedLimit): boolean {
  return toMs - fromMs < windowMs;
}

/**
 * A limit beside the documented one, of a shorter window: it refuses a client that sends fast, and serves again long before
 * the documented quota can have come back. Its refusals say nothing of the documented limit.
 */
export interface SecondLimit {
  /** The most that were admitted at once. */
  readonly requests: number;
  /** Time after which it served again, in ms. */
  readonly backMs: number;
}

/** Requests sent one after the other until one of them was refused, or none was left to send. */
export interface Group {
  /** When the first was sent and the last one answered, in ms. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly admitted: number;
  /** Number of them that were faults of the moment: the limit may not have been asked. */
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
/** Of the window: the time after the first request in which it cannot have ended, whatever kind of window it is. */
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
  if (!isAlone && !isBack(groups, groups.length - 1, documented, stated)) return null;
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
  stated: DocumentedLimit | null = null,
): SecondLimit | null {
  const last = groups.at(-1);
  // What goes on beyond the documented number may be one limit, and a window that has ended; beside a stated one it flows back.
  const { requests, windowMs } = documented;
  const flowed = stated ? (((last?.toMs ?? 0) - (groups[0]?.fromMs ?? 0)) * requests) / windowMs : 0;
  if (last === undefined || last.refusal === null || before + total(groups) > requests + 1 + flowed)
    return null;
  const backs = groups.flatMap((_, at) => {
    return at > 0 && isBack(groups, at, documented, stated) ? [sinceRefusalMs(groups, at)] : [];
  });
  if (backs.length === 0) return null;
  return { requests: Math.max(...groups.map(({ admitted }) => admitted)), backMs: Math.min(...backs) };
}

/**
 * Whether more was served again than any limiter of the documented rate gives back in that time: by far, unless the
 * documents say that there is a second limit.
 */
function isBack(
  groups: readonly Group[],
  at: number,
  { requests, windowMs }: DocumentedLimit,
  stated: DocumentedLimit | null,
): boolean {
  const { admitted = 0, toMs = 0 } = groups[at] ?? {};
  const flowed = 1 + ((toMs - (groups[at - 1]?.toMs ?? toMs)) * requests) / windowMs;
  return admitted >= (stated === null ? TIMES_THE_FLOW : 1) * flowed;
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
 * Whether requests sent together met a longer limit, which the one by one before them had not: then it is unknown
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

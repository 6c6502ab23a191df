import { type DocumentedLimit, type LimitObservation, oneByOne, type Span } from '../observed/observation.ts';
import { flowedIn, type RemainingReport, remainingReports } from './remaining.ts';

/** Answers of one count before it is taken for one, and how often counts take turns before there are several. */
const ANSWERS = 3;
const TURNS = 4;
/** In seconds: resets of one window are rounded. */
const SAME_RESET = 2;

interface ReportedCount {
  readonly sentMs: number;
  readonly limit: number;
  readonly remaining: number;
  readonly reset: number | null;
}

/**
 * What shows that several instances limit one client, each in its own way, completing "expected one limit and one count,
 * got …"; null where nothing shows it, undefined for too few reports. By the quota fields of requests in turn.
 */
export function countsApart(
  observations: readonly LimitObservation[],
  { requests, windowMs }: DocumentedLimit,
): string | null | undefined {
  const admitted = oneByOne(observations).filter(
    ({ fate, part, counted }) => fate === 'admitted' && part !== 'probe' && counted === 'surely',
  );
  const burst = admitted.find(({ part }) => part === 'serial');
  if (burst === undefined) return undefined;
  const untilMs = burst.sentMs + windowMs;
  const reports = admitted.flatMap(({ part, sentMs, quota }): ReportedCount[] =>
    part === 'serial' && sentMs < untilMs && quota?.limit != null && quota.remaining !== null
      ? [{ sentMs, limit: quota.limit, remaining: quota.remaining, reset: quota.resetSeconds }]
      : [],
  );
  const [first, last] = [reports[0], reports.at(-1)];
  if (first === undefined || last === undefined || reports.length < ANSWERS) return undefined;
  if (new Set(reports.map(({ limit }) => limit)).size > 1) return otherLimits(reports);
  const flowed = ((last.sentMs - first.sentMs) * requests) / windowMs;
  const served = admitted.filter(({ sentMs }) => sentMs > last.sentMs - windowMs && sentMs <= last.sentMs);
  // What flows back, or a limit that is kept, needs no second count.
  if (flowed >= 1 || served.length <= requests) return null;
  const counts = countsIn(reports);
  const long = [...Map.groupBy(counts, (count) => count).values()].filter(({ length }) => length >= ANSWERS);
  return long.length > 1 && returnsIn(counts) >= TURNS
    ? `at least ${long.length} counts that go down by turns`
    : null;
}

/** Two limits of one window; of limits for several windows a service may tell now this one, now that one. */
function otherLimits(reports: readonly ReportedCount[]): string | null {
  const turns = reports.slice(1).flatMap((after, at) => {
    const before = reports[at];
    return before && before.limit !== after.limit ? [{ before, after }] : [];
  });
  const isOneWindow = turns.every(({ before, after }) => {
    if (before.reset === null || after.reset === null) return false;
    const passed = (after.sentMs - before.sentMs) / 1000;
    return Math.abs(before.reset - passed - after.reset) <= SAME_RESET;
  });
  if (turns.length < TURNS || !isOneWindow) return null;
  const limits = [...new Set(reports.map(({ limit }) => limit))].sort((a, b) => b - a);
  return `limits of ${limits.join(' and ')} by turns`;
}

/** Which count each answer is of: one that stood one higher, or else a new one. */
function countsIn(reports: readonly ReportedCount[]): readonly number[] {
  const latest: number[] = [];
  return reports.map(({ remaining }) => {
    const known = latest.indexOf(remaining + 1);
    const at = known === -1 ? latest.length : known;
    latest[at] = remaining;
    return at;
  });
}

/** How often a count goes on that another one has come between. */
function returnsIn(counts: readonly number[]): number {
  return counts.filter((count, at) => at > 0 && counts[at - 1] !== count && counts.indexOf(count) < at)
    .length;
}

/** Requests that have to be gone for the first key, before more for the second one says anything. */
const FEWEST = 5;

/**
 * Whether the requests of two keys are counted together, or apart, as the documents say. `second`: reports for the second
 * key when it was served. Completes "expected one count for each key, got …"; null where they are, undefined where nothing shows it.
 */
export function sharingFault(
  observations: readonly LimitObservation[],
  second: readonly RemainingReport[],
  limit: DocumentedLimit,
  areTogether: boolean,
): string | null | undefined {
  const first = remainingReports(observations, limit);
  const beside = second.flatMap((report) => {
    const before = first.findLast(({ finishedMs }) => finishedMs <= report.sentMs);
    const after = first.find(({ sentMs }) => sentMs >= report.finishedMs);
    // Where it rises, a window has ended.
    return before && after && after.remaining <= before.remaining ? [{ report, before, after }] : [];
  });
  if (areTogether) return apartFault(beside, limit);
  return togetherFault(beside, observations);
}

/** A report for the second key, and those for the first right before and behind it. */
interface CountBeside {
  readonly report: RemainingReport;
  readonly before: RemainingReport;
  readonly after: RemainingReport;
}

/** What shows that there are two counts. */
function apartFault(beside: readonly CountBeside[], limit: DocumentedLimit): string | null | undefined {
  const telling = beside.filter(({ before }) => limit.requests - before.remaining >= FEWEST);
  const other = telling.find(
    ({ report, before }) =>
      report.remaining > before.remaining + 1 + flowedIn(limit, report.finishedMs - before.sentMs),
  );
  if (other === undefined) return telling.length === 0 ? undefined : null;
  return `${other.report.remaining} left for the second key behind ${other.before.remaining} for the first`;
}

/**
 * What shows that there is one count: the second key gets the report that the first would get next, and then the first finds
 * that one more is gone than it has sent.
 */
function togetherFault(
  beside: readonly CountBeside[],
  observations: readonly LimitObservation[],
): string | null | undefined {
  const telling = beside.flatMap(({ report, before, after }) => {
    const between = observations.filter(
      ({ sentMs, fate }) => sentMs > before.sentMs && sentMs <= after.sentMs && fate === 'admitted',
    );
    if (between.some(({ counted }) => counted === 'maybe')) return [];
    const ofOthers = before.remaining - after.remaining - between.length;
    return [{ report, before, isShared: ofOthers === 1 && report.remaining === before.remaining - 1 }];
  });
  const shared = telling.find(({ isShared }) => isShared);
  if (shared === undefined) return telling.length === 0 ? undefined : null;
  return `${shared.report.remaining} left for the second key right behind ${shared.before.remaining} for the first`;
}

/** Whether no window of a clock, of that length, can end within both. */
export function isApart(a: Span, b: Span, windowMs: number): boolean {
  const intoMs = intoWindow(a, b, windowMs);
  return intoMs > a.toMs - a.fromMs && windowMs - intoMs > b.toMs - b.fromMs;
}

/** How far the second begins into a window that begins with the first, in ms. */
function intoWindow(a: Span, b: Span, windowMs: number): number {
  return (((b.fromMs - a.fromMs) % windowMs) + windowMs) % windowMs;
}

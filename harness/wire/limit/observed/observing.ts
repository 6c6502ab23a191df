import type { Conversation } from '../../conversation.ts';
import type { Burst, BurstEntry, Evidence } from '../../evidence.ts';
import type { Exchange, FieldLine } from '../../exchange.ts';
import { fieldValue } from '../../fields/grammar/field-grammar.ts';
import { readHttpDate, readRetryAfter, retryAfterMs } from '../../fields/grammar/http-date.ts';
import { readQuota } from '../../quota/quota.ts';
import { forgottenMs } from '../pacing.ts';
import {
  type Bounds,
  type DocumentedLimit,
  isFailure,
  isLimitersRefusal,
  type LimitObservation,
  type LimitPart,
  type RefusalFace,
  TOLERANCE,
} from './observation.ts';
import { type Spendings, spendingKind, spendingsOf } from './spending.ts';

/** How evidence is read as observations of a limiter. */
interface Reading extends DocumentedLimit {
  /** What the wall clock is ahead of the session's monotonic clock, in ms. */
  readonly ownOffsetMs: number;
  /** What the limiter's refusal looks like; null where none was met yet. */
  readonly refusal: RefusalFace | null;
}

/** How the purpose of a request begins that is sent alone, to see whether the quota is back. */
export const ALONE = 'alone: ';

/** RFC 9110 §15.5.4: some limiters refuse with it a client that goes on asking. */
const FORBIDDEN = 403;
/** Answers that are given before the client is known, and so whose quota it would spend. */
const BEFORE_THE_QUOTA: ReadonlySet<number> = new Set([401, 403, 414, 431]);

/** Evidence with the service's own credential, as a limiter has seen it, in the order of sending. */
export function observationsOf(evidence: readonly Evidence[], reading: Reading): readonly LimitObservation[] {
  const hasHandshakes = evidence.some(({ kind }) => kind === 'conversation');
  const handshakes: Spendings = hasHandshakes ? spendingsOf(evidence, reading) : new Map();
  // What a burst met is kept once more, whole.
  const met = new Set(evidence.flatMap((each) => (each.kind === 'burst' ? wholeOf(each) : [])));
  const inOrder = evidence
    .filter(({ credential, id }) => (credential === 'right' || credential === 'other') && !met.has(id))
    .flatMap((each) => (each.kind === 'burst' ? ofBurst(each, reading) : ofAnswer(each, reading, handshakes)))
    .toSorted((a, b) => a.sentMs - b.sentMs);
  // A request that is served while the quota is spent may well have a quota of its own.
  let spentUntilMs = Number.NEGATIVE_INFINITY;
  return inOrder.map((each) => {
    const { part, fate, sentMs } = each;
    if (fate === 'refused') spentUntilMs = Math.max(spentUntilMs, backAfterMs(each, reading));
    const mayBeApart = part === 'before' && fate === 'admitted' && sentMs < spentUntilMs;
    return mayBeApart ? { ...each, counted: 'maybe' } : each;
  });
}

/** When the quota is back that was spent at this refusal: a window later, or when the refusal says, whichever is later. */
function backAfterMs(refusal: LimitObservation, { windowMs }: DocumentedLimit): number {
  return forgottenMs([refusal], Math.max(windowMs, refusal.retryAfterMs ?? 0));
}

/** Ids of the answers of a burst that are recorded as exchanges as well. */
export function wholeOf({ refusal, faults = [] }: Burst): readonly string[] {
  return refusal === null ? faults : [...faults, refusal];
}

function ofBurst(burst: Burst, reading: Reading): readonly LimitObservation[] {
  const { entries, mode } = burst;
  const unanswered = reading.refusal?.status === null ? 'refused' : 'lost';
  const all = entries.map((entry): LimitObservation => {
    const { sentMs, durationMs, status, fields } = entry;
    const isFault = isPassingFault(entry, burst, reading);
    const isServed = status !== null && status >= 200 && status < 300;
    const finishedMs = sentMs + durationMs;
    return {
      sentMs,
      finishedMs,
      fate: status === null ? unanswered : isServed || isFault ? 'admitted' : 'refused',
      counted: isFault ? 'maybe' : 'surely',
      part: mode,
      status,
      ...reportIn(fields, finishedMs, reading),
    };
  });
  return mode === 'serial' ? countedByReports(all) : all;
}

/** The server failed, and the limiter did not refuse: one by one, a request behind a refusal belongs to no burst. */
function isPassingFault(
  { index, status }: BurstEntry,
  { entries, mode }: Burst,
  { refusal }: Reading,
): boolean {
  if (!isFailure(status)) return false;
  return mode === 'serial' ? index < entries.length : refusal !== null && refusal.status !== status;
}

/** Whether those that may count took of the quota, where what remains before and behind them tells it. */
function countedByReports(serial: readonly LimitObservation[]): readonly LimitObservation[] {
  const remaining = ({ counted, quota }: LimitObservation) =>
    counted === 'surely' ? (quota?.remaining ?? null) : null;
  return serial.flatMap((each, at) => {
    if (each.counted === 'surely') return [each];
    const before = serial.findLastIndex((other, place) => place < at && remaining(other) !== null);
    const behind = serial.findIndex((other, place) => place > at && remaining(other) !== null);
    const [first, last] = [serial[before], serial[behind]];
    if (first === undefined || last === undefined) return [each];
    const fell = (remaining(first) ?? 0) - (remaining(last) ?? 0);
    const faults = serial.slice(before, behind).filter(({ counted }) => counted === 'maybe').length;
    if (fell === behind - before) return [{ ...each, counted: 'surely' }];
    return fell === behind - before - faults ? [] : [each];
  });
}

/** Of an answered request. A handshake is a request like others, if the limiter stands before the upgrade. */
function ofAnswer(
  evidence: Exchange | Conversation,
  reading: Reading,
  spendings: Spendings,
): readonly LimitObservation[] {
  const isExchange = evidence.kind === 'exchange';
  const { timing, purpose } = evidence;
  const { request, response } = isExchange ? evidence : evidence.handshake;
  const failure = isExchange ? evidence.failure : null;
  if (failure?.kind === 'not-sent') return [];
  const part: LimitPart = isExchange && purpose.startsWith(ALONE) ? 'probe' : 'before';
  // The same request was served before: a client that goes on asking is banned.
  const isBanned = part === 'probe' && response?.status === FORBIDDEN && reading.refusal !== null;
  const isRefused = isBanned || isLimitersRefusal({ response, failure }, reading.refusal);
  const fate = isRefused ? 'refused' : response === null ? 'lost' : 'admitted';
  // Nothing tells whether the quota was asked; a probe of the quota itself must be known.
  if (fate === 'lost' && part === 'before') return [];
  const kind = isExchange ? null : spendingKind(evidence);
  const spending = kind === null ? undefined : spendings.get(kind);
  const status = response?.status ?? null;
  if (fate === 'admitted' && (BEFORE_THE_QUOTA.has(status ?? 0) || spending === 'free')) return [];
  const isPlain = request.method === 'GET' && status !== null && status >= 200 && status < 300;
  const isOwn = evidence.credential === 'right';
  // Another kind of credential may have a quota of its own.
  if (isRefused && !isOwn) return [];
  const isCounted = isOwn && (isExchange ? isPlain || isRefused : spending === 'counted');
  const answeredMs = isExchange ? timing.durationMs : (timing.responseMs ?? timing.durationMs);
  const finishedMs = timing.startedMs + answeredMs;
  return [
    {
      sentMs: timing.startedMs,
      finishedMs,
      fate,
      counted: isCounted ? 'surely' : 'maybe',
      part,
      status,
      ...reportIn(response?.fields ?? [], finishedMs, reading),
      ...(!isOwn && { quota: null }),
    },
  ];
}

type ReportedPolicies = Pick<LimitObservation, 'quota' | 'retryAfterMs' | 'retryAfterIsDate' | 'dateMs'>;

interface Reread {
  readonly receivedMs: number;
  readonly windowMs: number;
  readonly report: ReportedPolicies;
}

/** Milliseconds within which the offset of two clocks varies, as one of them tells whole milliseconds alone. */
const OFFSET_VARIES_MS = 1;

/** Evidence is read again with each question: the reading of its fields is kept as long as they are. */
const reread = new WeakMap<readonly FieldLine[], Reread>();

function reportIn(
  fields: readonly FieldLine[],
  finishedMs: number,
  { windowMs, ownOffsetMs }: Reading,
): ReportedPolicies {
  const receivedMs = finishedMs + ownOffsetMs;
  const before = reread.get(fields);
  if (before?.windowMs === windowMs && Math.abs(before.receivedMs - receivedMs) <= OFFSET_VARIES_MS)
    return before.report;
  const receivedAt = new Date(receivedMs);
  const date = readHttpDate(fieldValue(fields, 'date') ?? '', receivedAt);
  const at = date.kind === 'date' ? date.at : null;
  const value = fieldValue(fields, 'retry-after');
  const asked = value === undefined ? null : readRetryAfter(value, receivedAt);
  const now = {
    quota: readQuota(fields, { receivedAt, windowMs }),
    retryAfterMs: asked && retryAfterMs(asked, { receivedAt, date: at }),
    retryAfterIsDate: asked?.kind === 'date',
    dateMs: at?.getTime() ?? null,
  };
  reread.set(fields, { receivedMs, windowMs, report: now });
  return now;
}

/**
 * The time to add to the observations' clock for the service's Unix time, in ms. Each Date bounds it; where ours
 * lies within all the bounds, the two clocks are taken for one.
 */
export function serverClock(observations: readonly LimitObservation[], ownOffsetMs: number): Bounds {
  let least = Number.NEGATIVE_INFINITY;
  let most = Number.POSITIVE_INFINITY;
  for (const { dateMs, sentMs, finishedMs } of observations) {
    if (dateMs === null) continue;
    least = Math.max(least, dateMs - finishedMs);
    most = Math.min(most, dateMs + 1_000 + TOLERANCE.dateField - sentMs);
  }
  const own = { least: ownOffsetMs - TOLERANCE.limiterClock, most: ownOffsetMs + TOLERANCE.limiterClock };
  // Without any Date, or with Dates that contradict each other, nothing better than our own clock is known.
  if (least > most || !Number.isFinite(least)) return own;
  return own.most >= least && own.least <= most ? own : { least, most };
}

/**
 * What a second limit refused may count against the documented one all the same, as where each of two limiters is asked.
 * The rest before and behind it tells; without a report it counted if the documented number comes out just so.
 * `refusedAtMs`: when the requests were sent that the second limit refused.
 */
export function withRefusedBeside(
  observations: readonly LimitObservation[],
  refusedAtMs: ReadonlySet<number>,
  { requests }: Pick<DocumentedLimit, 'requests'>,
): readonly LimitObservation[] {
  if (refusedAtMs.size === 0) return observations;
  const isBeside = ({ sentMs }: LimitObservation) => refusedAtMs.has(sentMs);
  const taken = observations.map(
    (each): LimitObservation =>
      isBeside(each)
        ? { ...each, fate: 'admitted', counted: 'maybe', quota: null, retryAfterMs: null }
        : each,
  );
  const isSerial = ({ part }: LimitObservation) => part === 'serial';
  const known = [
    ...taken.filter((each) => !isSerial(each)),
    ...countedByReports(taken.filter((each) => isSerial(each))),
  ].toSorted((a, b) => a.sentMs - b.sentMs);
  const fits = known.findIndex(({ fate }) => fate === 'refused') === requests;
  return known.flatMap((each) => {
    if (!isBeside(each) || each.counted === 'surely') return [each];
    return fits ? [{ ...each, counted: 'surely' }] : [];
  });
}

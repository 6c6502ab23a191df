import { type DocumentedLimit, type LimitObservation, oneByOne, TOLERANCE } from './observed/observation.ts';

/** Shorter slots than this, in ms, are as short as an ordinary answer's time. */
const TELLABLE_SLOT_MS = 10;
/** The fewest answers in a row that have to be held back. */
const IN_A_ROW = 5;
/** Of all that were sent one after another. */
const LASTING_SHARE = 0.25;
/** Of the time per request at the documented rate. */
const AROUND_RATE = 0.2;
/** The same for many requests sent together, whose pace is known well: a service that is only slow has another. */
const JUST_AT_RATE = 0.05;
const MANY_TOGETHER = 200;
/** Of them, the share at either end that may be late for other reasons. */
const LATECOMERS = 0.1;
/** How many times as long as the quickest answer those take that are held back, of requests sent together. */
const HELD_TIMES = 4;

/**
 * Whether requests sent one after another are held back so that they keep to the documented rate; says so in words,
 * or null. A service that is slow from the first request on holds nothing back.
 */
export function pacing(
  observations: readonly LimitObservation[],
  { requests, windowMs }: DocumentedLimit,
): string | null {
  const slotMs = windowMs / requests;
  if (slotMs < TELLABLE_SLOT_MS) return pacingTogether(observations, { requests, windowMs });
  const served = observations.filter(({ fate, part }) => fate === 'admitted' && part !== 'parallel');
  const serial = served.filter(({ part }) => part === 'serial');
  const tookMs = ({ sentMs, finishedMs }: LimitObservation) => finishedMs - sentMs;
  const heldMs = TOLERANCE.pacedShare * slotMs;
  // An answer that was late takes of the next one's wait: the two together were held back.
  const isHeld = (each: LimitObservation, at: number) =>
    Math.max(tookMs(each), (tookMs(serial[at - 1] ?? each) + tookMs(each)) / 2) >= heldMs;
  // The first ones may have found room: from some request on all are held back.
  const free = serial.findLastIndex((each, at) => !isHeld(each, at));
  const held = serial.slice(free + 1);
  const quickest = Math.min(...served.map(tookMs));
  if (held.length < IN_A_ROW || held.length < serial.length * LASTING_SHARE) return null;
  const [first, last] = [held[0], held.at(-1)];
  if (first === undefined || last === undefined) return null;
  const perRequestMs = (last.finishedMs - first.finishedMs) / (held.length - 1);
  if (perRequestMs < slotMs * 0.8) return null;
  // A service that is as slow from its first answer on holds nothing back, unless it answers requests sent together by turns.
  // Some of those in turn were held up besides: the pace of those sent together has to be known well.
  const share = isAtRate(perRequestMs, slotMs) ? AROUND_RATE : JUST_AT_RATE;
  if (quickest >= heldMs / 2 && !isByTurns(observations, { requests, windowMs }, share)) return null;
  return `answers came every ${Math.round(perRequestMs)} ms, at the documented rate (${Math.round(slotMs)} ms each), the quickest of all took ${Math.round(quickest)} ms`;
}

/** Around the documented rate. */
function isAtRate(perRequestMs: number, slotMs: number, share = AROUND_RATE): boolean {
  return Math.abs(perRequestMs - slotMs) <= slotMs * share;
}

/**
 * Whether requests sent together are held back to the documented rate, from the first to the last; says so in words, or
 * null. Slots too short for requests in turn show there: each request waits for those before it.
 */
function pacingTogether(
  observations: readonly LimitObservation[],
  { requests, windowMs }: DocumentedLimit,
): string | null {
  const slotMs = windowMs / requests;
  const [first = []] = burstsOf(observations, windowMs);
  const together = first.toSorted((a, b) => a.finishedMs - b.finishedMs);
  if (together.length < MANY_TOGETHER || observations.some(({ fate }) => fate !== 'admitted')) return null;
  const tookMs = ({ sentMs, finishedMs }: LimitObservation) => finishedMs - sentMs;
  const cut = Math.ceil(together.length * LATECOMERS);
  const most = together.slice(cut, -cut);
  const halves = [most.slice(0, most.length / 2), most.slice(most.length / 2)];
  const paces = halves.map(
    (half) => ((half.at(-1)?.finishedMs ?? 0) - (half[0]?.finishedMs ?? 0)) / (half.length - 1),
  );
  const quickestMs = Math.min(...observations.map(tookMs));
  const heldMs = Math.min(...most.map(tookMs));
  const isHeld = heldMs >= Math.max(TELLABLE_SLOT_MS, HELD_TIMES * quickestMs);
  return isHeld && paces.every((each) => isAtRate(each, slotMs, JUST_AT_RATE))
    ? `requests sent together were answered by turns, at the documented rate (${slotMs} ms each)`
    : null;
}

/** Whether requests sent together were answered one by one at the documented rate. */
function isByTurns(
  observations: readonly LimitObservation[],
  { requests, windowMs }: DocumentedLimit,
  share: number,
): boolean {
  const slotMs = windowMs / requests;
  const bursts = burstsOf(observations, windowMs);
  return (
    bursts.length > 0 &&
    bursts.every((burst) => {
      const ends = burst
        .flatMap(({ fate, finishedMs }) => (fate === 'admitted' ? [finishedMs] : []))
        .toSorted((a, b) => a - b);
      const [first, last] = [ends[0] ?? 0, ends.at(-1) ?? 0];
      return ends.length >= IN_A_ROW && isAtRate((last - first) / (ends.length - 1), slotMs, share);
    })
  );
}

/** Requests that were sent together, in the order of sending; more than a window lies between one such burst and the next. */
function burstsOf(
  observations: readonly LimitObservation[],
  windowMs: number,
): readonly (readonly LimitObservation[])[] {
  const together = observations.filter(({ part }) => part === 'parallel');
  const bursts: LimitObservation[][] = [];
  let endMs = Number.NEGATIVE_INFINITY;
  for (const each of together.toSorted((a, b) => a.sentMs - b.sentMs)) {
    const last = bursts.at(-1);
    if (last === undefined || each.sentMs > endMs + windowMs) bursts.push([each]);
    else last.push(each);
    endMs = Math.max(endMs, each.finishedMs);
  }
  return bursts;
}

/**
 * Whether refused requests put the end of the wait off, by refusals and services and no model of a limiter;
 * null where that does not tell. They do not where a request is served less than a window after one that was refused.
 * They do where a request is refused at a moment at which every limiter that does not mind them serves again, and one is
 * served after a window of silence.
 */
export function putOff(
  observations: readonly LimitObservation[],
  documented: DocumentedLimit,
): boolean | null {
  let isLate = false;
  for (const { each, since } of sinceServed(observations)) {
    const [first, ...others] = since.filter(({ fate }) => fate === 'refused');
    if (first === undefined) continue;
    if (each.fate === 'refused') {
      const backMs = lawfullyBackMs(since, documented);
      const promisedMs = first.finishedMs + (first.retryAfterMs ?? 0);
      if (backMs !== null && each.sentMs >= Math.max(backMs, promisedMs)) isLate = true;
    } else if (each.counted === 'surely') {
      const last = others.at(-1) ?? first;
      if (each.finishedMs < last.sentMs + documented.windowMs - TOLERANCE.limiterClock) return false;
      if (isLate) return true;
    }
  }
  return null;
}

/** Requests in the order of sending, each with those before it, back to the last one that was surely served. */
export function* sinceServed(
  observations: readonly LimitObservation[],
): Iterable<{ readonly each: LimitObservation; readonly since: readonly LimitObservation[] }> {
  let since: LimitObservation[] = [];
  for (const each of oneByOne(observations)) {
    yield { each, since };
    if (each.fate !== 'refused' && each.counted === 'surely') since = [];
    since.push(each);
  }
}

/**
 * When every limiter that minds no refused requests serves again, whatever its windows begin with: one window after the
 * quota was spent, and the time in which one request flows back. null while nothing was refused.
 */
export function lawfullyBackMs(
  observations: readonly LimitObservation[],
  { requests, windowMs }: DocumentedLimit,
): number | null {
  const inOrder = oneByOne(observations);
  const first = inOrder.find(({ fate }) => fate === 'refused');
  if (first === undefined) return null;
  const spentMs = inOrder
    .filter(({ fate }) => fate === 'admitted')
    .reduce((latest, { finishedMs }) => Math.max(latest, finishedMs), first.finishedMs);
  return spentMs + windowMs + (TOLERANCE.slotsToRefill * windowMs) / requests + expiryMs(windowMs);
}

/**
 * Whether the quota may flow back at the documented rate. It does not where one request alone is refused at a moment at which
 * as much has flowed back since the last one that was served.
 */
export function mayFlowBack(
  observations: readonly LimitObservation[],
  { requests, windowMs }: DocumentedLimit,
): boolean {
  const slotMs = windowMs / requests;
  let servedMs = Number.NEGATIVE_INFINITY;
  for (const { fate, sentMs, finishedMs, part } of observations.toSorted((a, b) => a.sentMs - b.sentMs)) {
    if (fate === 'admitted') servedMs = Math.max(servedMs, finishedMs);
    const sinceMs = sentMs - servedMs - 2 * TOLERANCE.limiterClock;
    if (fate === 'refused' && part !== 'parallel' && sinceMs > TOLERANCE.slotsToRefill * slotMs) return false;
  }
  return true;
}

/** By how much a counter may outlive its window: many a store keeps time in whole seconds. */
export function expiryMs(windowMs: number): number {
  const clocks = TOLERANCE.afterPromise + TOLERANCE.limiterClock;
  return Math.max(clocks, Math.min(TOLERANCE.wholeSeconds, windowMs * TOLERANCE.expiryShare));
}

/** When a limiter has surely forgotten all of these, without other requests: on the observations' clock, in ms. */
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

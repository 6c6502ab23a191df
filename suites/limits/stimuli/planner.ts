import { numberOf } from '../../../harness/base/text.ts';
import {
  documentedWithin,
  isSlowInTurn,
  isWindowShown,
  windowFault,
} from '../../../harness/wire/limit/fault/honesty.ts';
import { tellingMoment } from '../../../harness/wire/limit/fault/remaining.ts';
import { inferLimit } from '../../../harness/wire/limit/infer.ts';
import { GRADUAL } from '../../../harness/wire/limit/model/models.ts';
import { type LimitObservation, TOLERANCE } from '../../../harness/wire/limit/observed/observation.ts';
import { serverClock } from '../../../harness/wire/limit/observed/observing.ts';
import { expiryMs, forgottenMs, lawfullyBackMs, pacing } from '../../../harness/wire/limit/pacing.ts';
import {
  firstWave,
  MANY,
  MANY_OVERSHOOT,
  PARALLEL_OVERSHOOT,
  serialBurst,
  togetherBurst,
} from './burst-size.ts';
import { isBackAgain, LATE_SHARE, renewalBurst, renewalProbe } from './renewal.ts';
import { type LimitKnowledge, type LimitStep, surelyOpened, wait, windowStart } from './step.ts';

/** Of the limit: the second burst that tells a sliding log from a counter. */
const SLIDING_SHARE = 0.4;
/** Of the window: promises closer together than this are tried once. */
const PROMISES_APART = 0.1;
/** Refused probes after which the quota is called lost. */
const MOST_PROBES = 12;
/** Requests alone after a parallel burst that met the first refusal: served ones show a limit of concurrency. */
const ALONE_PROBES = 3;
/** Probes that show a gradual refill, the first one included: one at once, which is refused, then one after each slot. */
const GRADUAL_PROBES = 5;
/** The same, if none is refused: beside a stall of the machine more flow back, and a renewed quota serves still more. */
const AT_ONCE_PROBES = 10;

/** Chooses the next step. A fixed window is spent once, serially; the parallel burst goes into the beginning of the next. */
export function nextLimitStep(known: LimitKnowledge): LimitStep {
  const { anewMs = Number.NEGATIVE_INFINITY } = known;
  return stepFrom({ ...known, observations: known.observations.filter(({ sentMs }) => sentMs >= anewMs) });
}

function stepFrom(known: LimitKnowledge): LimitStep {
  const { documented, observations, nowMs } = known;
  const { requests, windowMs } = documented;
  const slotMs = windowMs / requests;
  const has = (part: LimitObservation['part']) => observations.some((each) => each.part === part);
  const refusals = observations.filter(({ fate }) => fate === 'refused');
  const { fromMs: firstMs } = surelyOpened(observations, windowMs) ?? { fromMs: nowMs };
  const serialRefused = observations.some(({ part, fate }) => part === 'serial' && fate === 'refused');
  const overshoot = requests > MANY ? MANY_OVERSHOOT : PARALLEL_OVERSHOOT;
  const parallelBurst: LimitStep = known.isHasteRefused
    ? { kind: 'stop', reason: 'a second limit refuses requests that are sent together' }
    : serialRefused
      ? { kind: 'parallel', count: requests + overshoot, firstWave: firstWave(documented) }
      : { kind: 'parallel', count: togetherBurst(documented) };

  if (!has('serial') && known.anewMs === undefined) {
    const fromMs = firstMs + TOLERANCE.spreadShare * windowMs;
    if (observations.length > 0 && nowMs < fromMs)
      return wait(
        fromMs,
        'the requests of the window have to lie apart, to tell a sliding window from a fixed one',
      );
    return { kind: 'serial', upTo: serialBurst(documented) };
  }
  if (observations.some(({ fate }) => fate === 'lost'))
    return { kind: 'stop', reason: 'a request got no answer' };

  const isSlow = isSlowInTurn(observations, documented);
  if (refusals.length === 0)
    return has('parallel')
      ? ((isSlow ? anew(known) : null) ?? { kind: 'stop', reason: 'nothing is refused' })
      : parallelBurst;
  const probes = observations.filter(({ part }) => part === 'probe');
  if (!serialRefused && probes.length < ALONE_PROBES)
    return { kind: 'probe', reason: 'is one request alone served after the parallel ones?' };
  const spent = serialRefused || probes.some(({ fate }) => fate === 'refused');
  if (spent && !known.spentAsked) return { kind: 'while-spent' };

  const served = probes.filter(({ fate }) => fate === 'admitted');
  const [back] = served;
  const spentMs = spentAgainMs(observations, back?.sentMs) ?? nowMs;
  if (back === undefined) return recoveryProbe(known, refusals, probes, spentMs);
  if (!spent)
    return (
      renewalBurst(known) ?? (isSlow ? anew(known) : null) ?? { kind: 'stop', reason: 'the quota is back' }
    );
  if (observations.some(({ part, sentMs }) => part === 'parallel' && sentMs >= back.sentMs))
    return afterParallel(known);

  // Back within a few slots of the refusal: it flows back, and the parallel burst needs it whole.
  const gradual = back.sentMs - spentMs < 2 * TOLERANCE.slotsToRefill * slotMs && slotMs < windowMs / 4;
  if (!gradual) return parallelBurst;
  const since = probes.filter(({ sentMs }) => sentMs >= back.sentMs);
  const isRefusedAgain = since.some(({ fate }) => fate === 'refused');
  if (!isRefusedAgain) {
    const flowed = 1 + ((nowMs - spentMs) * requests) / windowMs;
    if (since.length > flowed) return parallelBurst;
    if (since.length < AT_ONCE_PROBES)
      return { kind: 'probe', reason: 'does the quota come back one by one?' };
    // It may flow back as fast as requests alone are sent: only requests sent together tell.
    return parallelBurst;
  }
  if (since.length < GRADUAL_PROBES) {
    const untilMs = (since.at(-1)?.finishedMs ?? nowMs) + TOLERANCE.slotsToRefill * slotMs;
    return nowMs < untilMs
      ? wait(untilMs, 'the time in which one more request flows back')
      : { kind: 'probe', reason: 'does the quota come back one by one?' };
  }
  const wholeMs = (observations.at(-1)?.finishedMs ?? nowMs) + windowMs;
  return nowMs < wholeMs ? wait(wholeMs, 'the quota flows back until it is whole') : parallelBurst;
}

/**
 * Requests in turn took so long that windows ended among them, and those sent together were spent across the end of one: after
 * two windows without a request all is as at first. null where those tell enough, or after that.
 */
function anew({ documented, observations, anewMs, isHasteRefused }: LimitKnowledge): LimitStep | null {
  const { windowMs } = documented;
  if (isHasteRefused || anewMs !== undefined || pacing(observations, documented) !== null) return null;
  if (windowFault(observations, documented, false) !== null) return null;
  return {
    kind: 'anew',
    count: togetherBurst(documented),
    fromMs: forgottenMs(observations, windowMs) + windowMs,
  };
}

/** Whether windows may be shorter than documented, or refusals count, and nothing shows it. */
function isDoubtful(known: LimitKnowledge): boolean {
  const { documented, observations, ownOffsetMs } = known;
  if (isBackAgain(known)) return windowFault(observations, documented, false) === null;
  if (!isSlowInTurn(observations, documented)) return false;
  const { compatible, refusalsExtend } = inferLimit(observations, documented, ownOffsetMs);
  const mayCount = refusalsExtend === null && compatible.includes('sliding-log');
  return mayCount || !isWindowShown(observations, documented);
}

/** When the quota was spent, or what of it flowed back was, by requests of other checks; null where none was refused. */
function spentAgainMs(observations: readonly LimitObservation[], untilMs = Infinity): number | null {
  const spent = observations.find(({ fate }) => fate === 'refused');
  if (spent === undefined) return null;
  const again = observations.flatMap(({ part, fate, sentMs, finishedMs }) =>
    part === 'before' && fate === 'admitted' && sentMs < untilMs ? [finishedMs] : [],
  );
  return Math.max(spent.finishedMs, ...again);
}

/** If hardly any quota was back, the window slides. A log and a weighed counter differ once all requests are a window old. */
function afterParallel(known: LimitKnowledge): LimitStep {
  const { documented, observations, nowMs } = known;
  const { requests, windowMs } = documented;
  const together = observations.filter(({ part }) => part === 'parallel');
  const admitted = together.filter(({ fate }) => fate === 'admitted').length;
  const share = Math.ceil(requests * SLIDING_SHARE);
  const settled = admitted > requests / 2 || together.length > togetherBurst(documented);
  const serial = observations.findLast(({ part, fate }) => part === 'serial' && fate === 'admitted');
  if (settled || serial === undefined)
    return (
      renewalProbe(known) ??
      tellingStep(known) ??
      (isDoubtful(known) ? anew(known) : null) ?? {
        kind: 'stop',
        reason: 'the quota is back',
      }
    );
  const untilMs = serial.finishedMs + windowMs + TOLERANCE.afterPromise + TOLERANCE.limiterClock;
  return nowMs < untilMs
    ? wait(untilMs, 'a log has forgotten all requests, a weighed counter has not')
    : { kind: 'parallel', count: share };
}

/**
 * Where a kind whose quota flows back explains all as well as one whose quota does not, the limit would have to be
 * counted anew, for several windows: within one, a request alone may tell them apart. null where it cannot, or need not.
 */
function tellingStep({ documented, observations, nowMs, ownOffsetMs }: LimitKnowledge): LimitStep | null {
  const together = observations.findLast(({ part }) => part === 'parallel');
  if (together === undefined || observations.at(-1)?.part === 'probe') return null;
  const { firstRefused, compatible } = inferLimit(observations, documented, ownOffsetMs);
  const flows = compatible.filter((each) => GRADUAL.has(each)).length;
  if (firstRefused === null || flows === 0 || flows === compatible.length) return null;
  if (documentedWithin(firstRefused, documented) !== null) return null;
  const span = { fromMs: nowMs, toMs: together.finishedMs + documented.windowMs };
  const atMs = tellingMoment(observations, documented, ownOffsetMs, span);
  if (atMs === null) return null;
  const reason = 'do requests flow back one by one, or all at once?';
  return nowMs < atMs ? wait(atMs, reason) : { kind: 'tell', reason };
}

interface Occasion {
  readonly atMs: number;
  readonly reason: string;
  readonly isFurther?: boolean;
}

/** The next moment at which one request tells something of how the quota comes back. */
function recoveryProbe(
  known: LimitKnowledge,
  refusals: readonly LimitObservation[],
  probes: readonly LimitObservation[],
  spentMs: number,
): LimitStep {
  const { documented, observations, nowMs } = known;
  const { windowMs, requests } = documented;
  const unseen = { fromMs: nowMs, toMs: nowMs };
  const lastRefusal = refusals.at(-1);
  if (probes.length >= MOST_PROBES || lastRefusal === undefined)
    return { kind: 'stop', reason: `${numberOf(probes.length, 'request')} over the time were refused` };
  const { fromMs: firstMs, toMs: begunMs } = windowStart(observations, windowMs) ?? unseen;
  const { toMs: surelyMs } = surelyOpened(observations, windowMs) ?? unseen;
  const certainlyMs = TOLERANCE.afterPromise + TOLERANCE.limiterClock;
  const silentMs = lastRefusal.finishedMs + windowMs + expiryMs(windowMs);
  const backMs = lawfullyBackMs(observations, documented) ?? silentMs;
  const overMs = begunMs + windowMs + certainlyMs;
  // One that was sent sooner tried no promise.
  const tried = probes.findLast(({ sentMs }) => sentMs >= spentMs + TOLERANCE.afterPromise);
  const promises = promised(lastRefusal, overMs, windowMs, tried?.sentMs ?? null);
  const isMetInTurn = refusals.some(({ part }) => part === 'serial');
  const lateMs = firstMs + LATE_SHARE * windowMs - certainlyMs;
  const isAfterPromise = (atMs: number) => promises.every((each) => each.atMs <= atMs || each.atMs > overMs);
  const withinWindow: Occasion[] = [
    { atMs: begunMs + windowMs / 4 + certainlyMs, isKept: true },
    // A promise right before the end of the window is tried in place of it.
    { atMs: lateMs, isKept: isAfterPromise(lateMs) },
    // The window began at no request that is known.
    ...[1 / 4, 1 / 2].map((share) => ({
      atMs: spentMs + share * windowMs + certainlyMs,
      isKept: !isMetInTurn,
    })),
  ].flatMap(({ atMs, isKept }) =>
    isKept ? [{ atMs, reason: 'is the window shorter than documented?', isFurther: true }] : [],
  );
  // Two moments so close tell the same; the later one tells it more surely.
  const close = Math.max(TOLERANCE.limiterClock, Math.min(windowMs / requests, windowMs / 100));
  const occasions: Occasion[] = [
    {
      // Right behind the refusal, it would be left out.
      atMs: spentMs + Math.max((TOLERANCE.slotsToRefill * windowMs) / requests, close + 1),
      reason: 'a bucket has refilled one request',
    },
    { atMs: boundaryAfter(known, spentMs) + certainlyMs, reason: 'a window of the clock is over' },
    ...promises,
    { atMs: begunMs + windowMs / 2 + certainlyMs, reason: 'does a refused request make the wait longer?' },
    ...(known.isFurtherLeftOut ? [] : withinWindow),
    { atMs: begunMs + windowMs + certainlyMs, reason: 'the window that the first request opened is over' },
    { atMs: backMs, reason: 'one window after the refusal, and the time in which one request flows back' },
    { atMs: silentMs, reason: 'one window of silence' },
  ];
  if (surelyMs > begunMs) {
    const reason = 'the window is over that the first request opened that surely counts';
    occasions.push({ atMs: surelyMs + windowMs + certainlyMs, reason });
  }
  const lastProbeMs = probes.at(-1)?.sentMs ?? spentMs;
  const ahead = occasions
    .filter(({ atMs }) => atMs > lastProbeMs + close)
    .toSorted((a, b) => a.atMs - b.atMs);
  const [soonest] = ahead;
  if (soonest === undefined) return { kind: 'stop', reason: 'refused after a window of silence' };
  const chosen = ahead.findLast(({ atMs }) => atMs - soonest.atMs <= close) ?? soonest;
  if (nowMs < chosen.atMs) return wait(chosen.atMs, chosen.reason);
  const { reason, isFurther = false } = chosen;
  return { kind: 'probe', reason, isFurther };
}

/** When a refusal asks to come back, if that is not anyway tried within the second by which it is rounded. */
function promised(
  { finishedMs, retryAfterMs, quota }: LimitObservation,
  windowOverMs: number,
  windowMs: number,
  lastProbeMs: number | null,
): readonly Occasion[] {
  const resetSeconds = quota?.resetSeconds ?? null;
  const told = [
    { forMs: retryAfterMs, reason: 'Retry-After says that it is served again' },
    {
      forMs: resetSeconds === null ? null : resetSeconds * 1000,
      reason: 'the quota headers say that it is served again',
    },
  ];
  return told.flatMap(({ forMs, reason }) => {
    if (forMs === null || forMs > windowMs + TOLERANCE.wholeSeconds) return [];
    const atMs = finishedMs + forMs + TOLERANCE.afterPromise;
    const rounding = atMs >= windowOverMs && atMs <= windowOverMs + TOLERANCE.wholeSeconds;
    // Who says `0` each time is not asked each time.
    const again = lastProbeMs !== null && atMs < lastProbeMs + PROMISES_APART * windowMs;
    return rounding || again ? [] : [{ atMs, reason }];
  });
}

/** When the next window of the service's own clock begins, at the latest. */
function boundaryAfter({ observations, ownOffsetMs, documented }: LimitKnowledge, momentMs: number): number {
  const { windowMs } = documented;
  const { least } = serverClock(observations, ownOffsetMs);
  // The slower the service's clock may be, the later its window begins on ours.
  return Math.ceil((momentMs + least) / windowMs) * windowMs - least;
}

import { around, decisionsOf } from './model/fit.ts';
import { GRADUAL, type LimitAlgorithm, MODELS, type ModeledLimit } from './model/models.ts';
import {
  type Bounds,
  type DocumentedLimit,
  type LimitObservation,
  type Span,
  TOLERANCE,
} from './observed/observation.ts';
import { serverClock } from './observed/observing.ts';
import { pacing, putOff } from './pacing.ts';

/** Bounds of the index of a window's first refused request. */
export interface FirstRefusedBounds extends Bounds {
  /** By the kinds alone whose quota does not flow back while it is counted; null where none of them is left. */
  readonly whole: Bounds | null;
}

export interface LimitInference {
  /** `unknown` unless the observations leave one kind alone. */
  readonly algorithm: LimitAlgorithm;
  /** Kinds that explain all observations. */
  readonly compatible: readonly LimitAlgorithm[];
  /** What speaks for it, one line each. */
  readonly because: readonly string[];
  /** The index of a window's first refused request, as far as it is known; null when none was refused. */
  readonly firstRefused: FirstRefusedBounds | null;
  /** Whether a refused request makes the wait longer; null when the observations do not tell. */
  readonly refusalsExtend: boolean | null;
  /** Where the windows lie, as far as there are any. */
  readonly windows: readonly Span[];
  /** The last refusal and the first admission after it: the quota came back between the two. */
  readonly returned: Span | null;
}

type Decisions = readonly LimitObservation[];

/**
 * The limiter that explains the observations. Every kind is held against every observation; one that contradicts a
 * single one is out. `ownOffsetMs`: what our wall clock is ahead of the observations' clock, in ms.
 */
export function inferLimit(
  observations: readonly LimitObservation[],
  documented: DocumentedLimit,
  ownOffsetMs: number,
): LimitInference {
  const decisions = decisionsOf(observations);
  const returned = returnOf(decisions);
  const rest = {
    firstRefused: null,
    refusalsExtend: putOff(observations, documented),
    windows: [],
    returned,
  };
  const paced = pacing(observations, documented);
  const serial = decisions.filter(({ part }) => part !== 'parallel');
  const refused = decisions.filter(({ fate }) => fate === 'refused').length;
  const isSerialRefused = serial.some(({ fate }) => fate === 'refused');
  const isParallelSeen = serial.length < decisions.length;

  if (paced !== null && !isSerialRefused) {
    if (!isParallelSeen) return { ...rest, ...unsettled(['queue', 'delay'], [paced]) };
    if (refused === 0) return { ...rest, ...settled('delay', [paced]) };
    return { ...rest, ...settled('queue', [paced, `${refused} of those sent together were refused`]) };
  }
  if (refused === 0) return { ...rest, ...unrefused(decisions, documented) };

  const limit = modeled(observations, documented, ownOffsetMs);
  const all = explanations(decisions, limit);
  if (!isSerialRefused && returned !== null) return { ...rest, ...refusedTogether(all) };
  if (all.fitting.length > 0 || !isParallelSeen || !isSerialRefused) {
    const refusalsExtend = extending(all, documented, returned, rest.refusalsExtend);
    return { ...rest, refusalsExtend, ...conclusion(all, returned !== null) };
  }
  const beside = refusedBeside(decisions, limit);
  if (beside !== null) return { ...rest, ...beside };
  // What requests sent together did may be no algorithm at all but a race: the serial ones alone tell the limit.
  const together = decisions.findIndex(({ part }) => part === 'parallel');
  const { fitting } = explanations(decisions.slice(0, together), limit);
  return { ...rest, ...unsettled(kindsOf(fitting), all.contradicted), firstRefused: boundsOf(fitting) };
}

/** Of the limit: as many together that are all served show no limit of concurrent requests. */
const SERVED_LATER = 0.25;

/** One limiter of the documented number explains all but refusals of requests sent together; null where none does. */
function refusedBeside(decisions: Decisions, limit: ModeledLimit): LimitConclusion | null {
  const isBeside = ({ part, fate }: LimitObservation) => part === 'parallel' && fate === 'refused';
  const { fitting } = explanations(
    decisions.filter((each) => !isBeside(each)),
    limit,
  );
  const { requests } = limit;
  const documented = fitting.filter((each) => each.limit.least <= requests && each.limit.most >= requests);
  const [only, ...others] = kindsOf(documented);
  const beside = decisions.filter(isBeside);
  const lastMs = Math.max(...beside.map(({ finishedMs }) => finishedMs));
  const later = decisions.filter(({ part, sentMs }) => part === 'parallel' && sentMs > lastMs).length;
  if (only === undefined || others.length > 0 || later > SERVED_LATER * requests) return null;
  const refused = beside.length;
  const because = [
    `${refused} requests sent together were refused while quota was left, as by a limit of concurrent requests`,
    `${only} explains every other answer`,
  ];
  return {
    ...settled(only, because),
    firstRefused: boundsOf(documented),
    windows: documented[0]?.windows ?? [],
  };
}

/** Requests of which it may be unknown whether they counted. */
const UNSURE = 2;

/** Kinds that can count each refused request like a served one. */
const COUNTING: ReadonlySet<LimitAlgorithm> = new Set(['sliding-log', 'sliding-counter']);

/**
 * Whether refused requests make the wait longer: `seen`, unless all limiters of the documented number that explain everything
 * count refusals. null where one that counts them explains everything as well, and nothing shows a longer wait.
 */
function extending(
  { fitting }: Explanations,
  { requests }: DocumentedLimit,
  returned: Span | null,
  seen: boolean | null,
): boolean | null {
  if (returned === null) return seen;
  const documented = fitting.filter(({ limit }) => limit.least <= requests && limit.most >= requests);
  const counting = documented.filter((each) => each.refusalsExtend && COUNTING.has(each.algorithm));
  const isLog = counting.some(
    ({ algorithm, limit: { least, most } }) => algorithm === 'sliding-log' && most - least <= UNSURE,
  );
  if (isLog && counting.length === documented.length) return true;
  const mayCount = counting.some(({ algorithm }) => algorithm === 'sliding-log');
  return seen === false && mayCount ? null : seen;
}

type LimitConclusion = Pick<LimitInference, 'algorithm' | 'compatible' | 'because'> &
  Partial<Pick<LimitInference, 'firstRefused' | 'windows'>>;

/** Every other kind contradicts the observations. */
function settled(algorithm: LimitAlgorithm, because: readonly string[]): LimitConclusion {
  return { algorithm, compatible: [algorithm], because };
}

function unsettled(compatible: readonly LimitAlgorithm[], because: readonly string[]): LimitConclusion {
  return { algorithm: 'unknown', compatible, because };
}

/** The kinds that explain all of this. */
export function explainingKinds(
  observations: readonly LimitObservation[],
  documented: DocumentedLimit,
  ownOffsetMs: number,
): readonly LimitAlgorithm[] {
  const limit = modeled(observations, documented, ownOffsetMs);
  return kindsOf(explanations(decisionsOf(observations), limit).fitting);
}

/** Whether a limiter of this kind and the documented number explains all of this. */
export function isExplainedBy(
  kind: LimitAlgorithm,
  observations: readonly LimitObservation[],
  documented: DocumentedLimit,
  ownOffsetMs: number,
): boolean {
  const limit = modeled(observations, documented, ownOffsetMs);
  const { requests } = documented;
  return explanations(decisionsOf(observations), limit).fitting.some(
    (each) => each.algorithm === kind && each.limit.least <= requests && each.limit.most >= requests,
  );
}

/** What limiters of these kinds make of a fresh quota that was spent; those of any kind where none of them is left. */
export function firstRefusedOf(
  observations: readonly LimitObservation[],
  documented: DocumentedLimit,
  ownOffsetMs: number,
  kinds: readonly LimitAlgorithm[],
): FirstRefusedBounds | null {
  const limit = modeled(observations, documented, ownOffsetMs);
  const { fitting } = explanations(decisionsOf(observations), limit);
  const left = fitting.filter(({ algorithm }) => kinds.includes(algorithm));
  return boundsOf(left.length === 0 ? fitting : left);
}

function modeled(
  observations: readonly LimitObservation[],
  documented: DocumentedLimit,
  ownOffsetMs: number,
): ModeledLimit {
  const { least, most } = serverClock(observations, ownOffsetMs);
  return { ...documented, clock: { phaseMs: -(least + most) / 2, toleranceMs: (most - least) / 2 } };
}

function explanations(decisions: Decisions, limit: ModeledLimit) {
  const isLong = isLongBlock(decisions, limit);
  const held = MODELS.filter((each) =>
    each.isLongBlock === true ? isLong : !isLong || !each.refusalsExtend,
  );
  const fits = held.map((model) => ({ ...model, ...model.fit(decisions, limit) }));
  return {
    fitting: fits.filter((each) => each.explains),
    // Two models of one name may have the same reason.
    contradicted: [
      ...new Set(
        fits.flatMap((each) =>
          each.explains
            ? []
            : [`no ${each.algorithm}${each.refusalsExtend ? ' that refusals extend' : ''}: ${each.reason}`],
        ),
      ),
    ],
  };
}

/** Refusals that promise one end, later than a window after the first of them: none of them puts it off. */
function isLongBlock(decisions: Decisions, { windowMs }: ModeledLimit): boolean {
  const refusals = decisions.filter(({ fate }) => fate === 'refused');
  const [first] = refusals;
  if (first === undefined || (first.retryAfterMs ?? 0) <= windowMs + TOLERANCE.wholeSeconds) return false;
  const endMs = ({ finishedMs, retryAfterMs }: LimitObservation) => finishedMs + (retryAfterMs ?? 0);
  const unsureMs = ({ sentMs, finishedMs }: LimitObservation) => TOLERANCE.wholeSeconds + finishedMs - sentMs;
  const later = refusals.filter(
    ({ sentMs }) => sentMs > first.finishedMs && sentMs < endMs(first) - TOLERANCE.wholeSeconds,
  );
  const isOneEnd = later.every((each) => {
    return Math.abs(endMs(each) - endMs(first)) <= Math.max(unsureMs(each), unsureMs(first));
  });
  return isOneEnd && later.some(({ sentMs }) => sentMs > first.finishedMs + 2 * TOLERANCE.wholeSeconds);
}

type Explanations = ReturnType<typeof explanations>;

function kindsOf(fitting: Explanations['fitting']): readonly LimitAlgorithm[] {
  return [...new Set(fitting.map(({ algorithm }) => algorithm))];
}

function conclusion({ fitting, contradicted }: Explanations, isReturned: boolean): LimitConclusion {
  const compatible = kindsOf(fitting);
  const [only, ...others] = compatible;
  const firstRefused = boundsOf(fitting);
  if (only === undefined || others.length > 0 || !isReturned) {
    const because = compatible.map((each) => `${each} explains every answer`);
    return { ...unsettled(compatible, because), firstRefused };
  }
  return { ...settled(only, contradicted), firstRefused, windows: fitting[0]?.windows ?? [] };
}

function boundsOf(fitting: Explanations['fitting']): FirstRefusedBounds | null {
  const all = indexWithin(fitting);
  return all && { ...all, whole: indexWithin(fitting.filter(({ algorithm }) => !GRADUAL.has(algorithm))) };
}

/** One behind the limit, whichever of these it is. */
function indexWithin(fitting: Explanations['fitting']): Bounds | null {
  if (fitting.length === 0) return null;
  const { least, most } = around(fitting.map(({ limit }) => limit));
  return { least: least + 1, most: most + 1 };
}

/** Nothing was refused: there is no limit as low as that, if enough was sent within one window. */
function unrefused(decisions: Decisions, { requests, windowMs }: DocumentedLimit): LimitConclusion {
  const most = mostWithin(decisions, windowMs);
  // Twice the limit fits around the end of a window.
  const isEnough = most > 2 * requests;
  const because = [`none of ${most} requests within one window was refused`];
  return isEnough ? settled('none', because) : unsettled([], because);
}

function returnOf(decisions: Decisions): Span | null {
  for (const [at, { fate, sentMs, finishedMs }] of decisions.entries()) {
    const before = decisions[at - 1];
    if (before?.fate === 'refused' && fate === 'admitted' && sentMs >= before.finishedMs)
      return { fromMs: before.finishedMs, toMs: finishedMs };
  }
  return null;
}

/** Only requests sent together were refused, and one alone was served at once after them. */
function refusedTogether({ fitting }: Explanations): LimitConclusion {
  const others = kindsOf(fitting);
  const because = ['only requests sent together were refused, and one alone was served at once after them'];
  const verdict =
    others.length === 0 ? settled('concurrency', because) : unsettled([...others, 'concurrency'], because);
  // Whatever else it may be, it has that limit.
  return { ...verdict, firstRefused: boundsOf(fitting) };
}

/** Of these, the most that counted within one window's length. */
export function mostWithin(observations: readonly LimitObservation[], windowMs: number): number {
  const surely = observations.filter(({ counted }) => counted === 'surely');
  let most = 0;
  let from = 0;
  for (const [at, { finishedMs }] of surely.entries()) {
    while (from < at && (surely[from]?.sentMs ?? 0) <= finishedMs - windowMs) from += 1;
    most = Math.max(most, at - from + 1);
  }
  return most;
}

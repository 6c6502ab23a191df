import { fitSlidingCounter, fitSlidingLog } from './model/sliding.ts';
import {
  around,
  type Decision,
  decisionsOf,
  type Extension,
  type Fit,
  fitAnchored,
  fitPhase,
  fitTokenBucket,
} from './model/window.ts';
import type { Bounds, DocumentedLimit, LimitObservation, Span } from './observed/observation.ts';
import { TOLERANCE } from './observed/observation.ts';
import { serverClock } from './observed/observing.ts';
import { pacing, putOff } from './pacing.ts';

/** Stable names, observed as `limits.algorithm`. */
export type LimitAlgorithm =
  | 'fixed-window'
  | 'fixed-window-aligned'
  | 'sliding-log'
  | 'sliding-counter'
  | 'token-bucket'
  | 'queue'
  | 'delay'
  | 'concurrency'
  | 'penalty'
  | 'none'
  | 'unknown';

/** Kinds whose quota flows back while it is counted. */
export const GRADUAL: ReadonlySet<LimitAlgorithm> = new Set(['token-bucket', 'sliding-counter']);

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

interface Model {
  readonly algorithm: LimitAlgorithm;
  readonly refusalsExtend: boolean;
  readonly fit: (decisions: readonly Decision[], context: InferenceContext) => Fit;
}

interface InferenceContext {
  readonly documented: DocumentedLimit;
  /** A moment at which a window of the service's clock begins, and how well it is known, in ms. */
  readonly epochPhase: { readonly ms: number; readonly toleranceMs: number };
}

const MODELS: readonly Model[] = [
  { algorithm: 'fixed-window', refusalsExtend: false, fit: anchored('nothing') },
  { algorithm: 'fixed-window', refusalsExtend: true, fit: anchored('refusals') },
  { algorithm: 'fixed-window', refusalsExtend: true, fit: anchored('every-request') },
  { algorithm: 'penalty', refusalsExtend: false, fit: anchored('first-refusal') },
  {
    algorithm: 'fixed-window-aligned',
    refusalsExtend: false,
    fit: (decisions, { documented, epochPhase }) =>
      fitPhase(decisions, documented.windowMs, epochPhase.ms, epochPhase.toleranceMs),
  },
  { algorithm: 'sliding-log', refusalsExtend: false, fit: slidingLog(false) },
  { algorithm: 'sliding-log', refusalsExtend: true, fit: slidingLog(true) },
  { algorithm: 'sliding-counter', refusalsExtend: false, fit: anySlidingCounter(false) },
  { algorithm: 'sliding-counter', refusalsExtend: true, fit: anySlidingCounter(true) },
  {
    algorithm: 'token-bucket',
    refusalsExtend: false,
    fit: (decisions, { documented }) => fitTokenBucket(decisions, documented),
  },
];

function anchored(extension: Extension): Model['fit'] {
  return (decisions, { documented }) => fitAnchored(decisions, documented.windowMs, extension);
}

function slidingLog(refusalsCount: boolean): Model['fit'] {
  return (decisions, { documented }) => fitSlidingLog(decisions, documented.windowMs, refusalsCount);
}

/** Its windows begin with the first request that counts, or on the clock. */
function anySlidingCounter(refusalsCount: boolean): Model['fit'] {
  return (decisions, { documented, epochPhase }) => {
    const { windowMs } = documented;
    const firstSure = decisions.findIndex(({ sure }) => sure);
    const firstPhases = decisions.slice(0, firstSure + 1).map(({ earliestMs, latestMs }) => ({
      ms: (earliestMs + latestMs) / 2,
      toleranceMs: (latestMs - earliestMs) / 2 + TOLERANCE.limiterClock,
    }));
    const fits = [...firstPhases, epochPhase].flatMap(({ ms: phaseMs, toleranceMs }) =>
      [false, true].map((whole) =>
        fitSlidingCounter(decisions, windowMs, { phaseMs, toleranceMs, refusalsCount, whole }),
      ),
    );
    const explaining = fits.filter((fit) => fit.explains);
    const [one] = fits;
    if (explaining.length === 0) return one ?? { explains: false, reason: 'nothing was observed' };
    return { explains: true, limit: around(explaining.map(({ limit }) => limit)), windows: [] };
  };
}

/**
 * Which limiter explains what was observed. Every kind is held against every observation; one that contradicts a
 * single one is out. `ownOffsetMs`: what our wall clock is ahead of the observations' clock, in ms.
 */
export function inferLimit(
  observations: readonly LimitObservation[],
  documented: DocumentedLimit,
  ownOffsetMs: number,
): LimitInference {
  const decisions = decisionsOf(observations);
  const context = contextOf(observations, documented, ownOffsetMs);
  const returned = returnOf(decisions);
  const refusalsExtend = putOff(observations, documented);
  const nothing = { refusalsExtend, windows: [], returned, firstRefused: null };

  const paced = pacing(observations, documented);
  const serial = decisions.filter(({ source }) => source.part !== 'parallel');
  const refused = decisions.filter(({ fate }) => fate === 'refused');
  const serialRefused = serial.some(({ fate }) => fate === 'refused');
  const parallelSeen = serial.length < decisions.length;

  if (paced !== null && !serialRefused) {
    if (!parallelSeen) return { ...nothing, ...unsettled(['queue', 'delay'], [paced]) };
    if (refused.length === 0) return { ...nothing, ...settled('delay', [paced]) };
    const full = `${refused.length} of those sent together were refused`;
    return { ...nothing, ...settled('queue', [paced, full]) };
  }
  if (refused.length === 0) return unrefused(decisions, documented, nothing);

  const all = holdAgainst(decisions, context);
  if (!serialRefused && returned !== null) return refusedTogether(all, nothing);
  if (all.fitting.length > 0 || !parallelSeen || !serialRefused) return conclude(all, nothing);
  // What requests sent together did may be no algorithm at all but a race: the serial ones alone tell the limit.
  const alone = holdAgainst(beforeParallel(decisions), context);
  const { firstRefused, compatible } = conclude(alone, nothing);
  return { ...nothing, ...unsettled(compatible, all.contradicted), firstRefused };
}

type LimitVerdict = Pick<LimitInference, 'algorithm' | 'compatible' | 'because'>;

/** Every other kind contradicts the observations. */
function settled(algorithm: LimitAlgorithm, because: readonly string[]): LimitVerdict {
  return { algorithm, compatible: [algorithm], because };
}

function unsettled(compatible: readonly LimitAlgorithm[], because: readonly string[]): LimitVerdict {
  return { algorithm: 'unknown', compatible, because };
}

/** The kinds that explain all of this. */
export function explainingKinds(
  observations: readonly LimitObservation[],
  documented: DocumentedLimit,
  ownOffsetMs: number,
): readonly LimitAlgorithm[] {
  return kindsOf(
    holdAgainst(decisionsOf(observations), contextOf(observations, documented, ownOffsetMs)).fitting,
  );
}

function kindsOf(fitting: Candidate['fitting']): readonly LimitAlgorithm[] {
  return [...new Set(fitting.map(({ model }) => model.algorithm))];
}

/** What limiters of these kinds make of a fresh quota that was spent; those of any kind where none of them is left. */
export function firstRefusedOf(
  observations: readonly LimitObservation[],
  documented: DocumentedLimit,
  ownOffsetMs: number,
  kinds: readonly LimitAlgorithm[],
): FirstRefusedBounds | null {
  const context = contextOf(observations, documented, ownOffsetMs);
  const { fitting } = holdAgainst(decisionsOf(observations), context);
  const left = fitting.filter(({ model }) => kinds.includes(model.algorithm));
  return boundsOf(left.length === 0 ? fitting : left);
}

function contextOf(
  observations: readonly LimitObservation[],
  documented: DocumentedLimit,
  ownOffsetMs: number,
): InferenceContext {
  const { least, most } = serverClock(observations, ownOffsetMs);
  return { documented, epochPhase: { ms: -(least + most) / 2, toleranceMs: (most - least) / 2 } };
}

interface Candidate {
  readonly fitting: readonly {
    readonly model: Model;
    readonly limit: Bounds;
    readonly windows: readonly Span[];
  }[];
  readonly contradicted: readonly string[];
}

function holdAgainst(decisions: readonly Decision[], context: InferenceContext): Candidate {
  const fits = MODELS.map((model) => ({ model, fit: model.fit(decisions, context) }));
  return {
    fitting: fits.flatMap(({ model, fit }) =>
      fit.explains ? [{ model, limit: fit.limit, windows: fit.windows }] : [],
    ),
    contradicted: fits.flatMap(({ model, fit }) =>
      fit.explains
        ? []
        : [`no ${model.algorithm}${model.refusalsExtend ? ' that refusals extend' : ''}: ${fit.reason}`],
    ),
  };
}

function conclude({ fitting, contradicted }: Candidate, rest: Rest): LimitInference {
  const { returned } = rest;
  const compatible = kindsOf(fitting);
  const [only, ...others] = compatible;
  const firstRefused = boundsOf(fitting);
  if (only === undefined || others.length > 0 || returned === null) {
    const because = compatible.map((each) => `${each} explains every answer`);
    return { ...rest, ...unsettled(compatible, because), firstRefused, windows: [] };
  }
  return { ...rest, ...settled(only, contradicted), firstRefused, windows: fitting[0]?.windows ?? [] };
}

function boundsOf(fitting: Candidate['fitting']): FirstRefusedBounds | null {
  const whole = fitting.filter(({ model }) => !GRADUAL.has(model.algorithm));
  const all = indexWithin(fitting);
  return all && { ...all, whole: indexWithin(whole) };
}

/** One behind the limit, whichever of these it is. */
function indexWithin(fitting: Candidate['fitting']): Bounds | null {
  if (fitting.length === 0) return null;
  const { least, most } = around(fitting.map(({ limit }) => limit));
  return { least: least + 1, most: most + 1 };
}

type Rest = Pick<LimitInference, 'refusalsExtend' | 'windows' | 'returned' | 'firstRefused'>;

/** Nothing was refused: there is no limit as low as that, if enough was sent within one window. */
function unrefused(
  decisions: readonly Decision[],
  { requests, windowMs }: DocumentedLimit,
  rest: Rest,
): LimitInference {
  const surely = decisions.filter(({ sure }) => sure);
  let most = 0;
  let from = 0;
  for (const [at, decision] of surely.entries()) {
    while (from < at && (surely[from]?.earliestMs ?? 0) <= decision.latestMs - windowMs) from += 1;
    most = Math.max(most, at - from + 1);
  }
  // Twice the limit fits around the end of a window.
  const enough = most > 2 * requests;
  const because = [`none of ${most} requests within one window was refused`];
  return { ...rest, ...(enough ? settled('none', because) : unsettled([], because)) };
}

function returnOf(decisions: readonly Decision[]): Span | null {
  const refusedAt = decisions.findIndex(({ fate }) => fate === 'refused');
  if (refusedAt === -1) return null;
  for (let at = refusedAt + 1; at < decisions.length; at += 1) {
    const [before, decision] = [decisions[at - 1], decisions[at]];
    if (
      before?.fate === 'refused' &&
      decision?.fate === 'admitted' &&
      decision.earliestMs >= before.latestMs
    ) {
      return { fromMs: before.latestMs, toMs: decision.latestMs };
    }
  }
  return null;
}

/** Only requests sent together were refused, and one alone was served at once after them. */
function refusedTogether(held: Candidate, rest: Rest): LimitInference {
  const others = kindsOf(held.fitting);
  const because = ['only requests sent together were refused, and one alone was served at once after them'];
  const verdict =
    others.length === 0 ? settled('concurrency', because) : unsettled([...others, 'concurrency'], because);
  // Whatever else it may be, it has that limit.
  return { ...rest, ...verdict, firstRefused: boundsOf(held.fitting) };
}

/** What came before the first burst of requests sent together. */
function beforeParallel(decisions: readonly Decision[]): readonly Decision[] {
  const first = decisions.findIndex(({ source }) => source.part === 'parallel');
  return first === -1 ? decisions : decisions.slice(0, first);
}

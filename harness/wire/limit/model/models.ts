import {
  type Bounds,
  type DocumentedLimit,
  type LimitObservation,
  type Span,
  TOLERANCE,
} from '../observed/observation.ts';
import { around, countBelow, type Fit, fitEach, NO_BOUNDS, narrowed } from './fit.ts';

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

/** A moment at which a window begins, known to `toleranceMs` either way. */
interface Phase {
  readonly phaseMs: number;
  readonly toleranceMs: number;
}

export interface ModeledLimit extends DocumentedLimit {
  /** The beginning of a window of the service's clock. */
  readonly clock: Phase;
}

type Model = (decisions: readonly LimitObservation[], documented: ModeledLimit) => Fit;

export const MODELS: readonly {
  readonly algorithm: LimitAlgorithm;
  readonly refusalsExtend: boolean;
  readonly fit: Model;
  /** Held against what refusals with one promised end show, and no others. */
  readonly isLongBlock?: true;
}[] = [
  { algorithm: 'fixed-window', refusalsExtend: false, fit: anchored('nothing') },
  { algorithm: 'fixed-window', refusalsExtend: true, fit: anchored('refusals') },
  { algorithm: 'fixed-window', refusalsExtend: true, fit: anchored('every-request') },
  { algorithm: 'penalty', refusalsExtend: false, fit: anchored('first-refusal') },
  { algorithm: 'penalty', refusalsExtend: false, fit: anchored('first-refusal', 2), isLongBlock: true },
  { algorithm: 'fixed-window-aligned', refusalsExtend: false, fit: aligned },
  { algorithm: 'sliding-log', refusalsExtend: false, fit: slidingLog(false) },
  { algorithm: 'sliding-log', refusalsExtend: true, fit: slidingLog(true) },
  { algorithm: 'sliding-counter', refusalsExtend: false, fit: slidingCounter(false) },
  { algorithm: 'sliding-counter', refusalsExtend: true, fit: slidingCounter(true) },
  { algorithm: 'token-bucket', refusalsExtend: false, fit: tokenBucket },
];

const isSure = ({ counted }: LimitObservation): boolean => counted === 'surely';
/** A request that takes nothing of the quota opens no window either. */
const mayBeFree = ({ fate, counted }: LimitObservation) => fate === 'admitted' && counted === 'maybe';

/** One of the ways in which the windows of a counter can lie. */
interface State {
  /** The beginning of the window, or of the block in its place. */
  readonly start: Bounds;
  readonly used: Bounds;
  readonly limit: Bounds;
  /** It has refused a request, and so serves none that counts until it is over. */
  readonly spent: boolean;
  /** The windows before this one. */
  readonly past: readonly Span[];
}

/** No request has opened a window yet. */
const NEVER = Number.NEGATIVE_INFINITY;
const UNOPENED: State = {
  start: { least: NEVER, most: NEVER },
  used: { least: 0, most: 0 },
  limit: NO_BOUNDS,
  spent: false,
  past: [],
};

/** With more ways than this to draw the windows nothing is known of them. */
const MOST_STATES = 256;

/**
 * A counter that runs from a key's first request for one window, which `extension` makes longer: the first refusal starts
 * a block of one window, or every refusal starts the window anew, or every request does. All the ways are followed in
 * which the windows can lie, for a request near a window's end may belong to either. `blockWindows`: length of the block.
 */
function anchored(
  extension: 'nothing' | 'first-refusal' | 'refusals' | 'every-request',
  blockWindows = 1,
): Model {
  return (decisions, { windowMs }) => {
    const blockMs = (blockWindows - 1) * windowMs;
    let states: readonly State[] = [UNOPENED];
    const narrow = (decision: LimitObservation) => {
      if (states.length > MOST_STATES) return NO_BOUNDS;
      const next = states.flatMap((state) => following(state, decision));
      states = next.length > states.length ? distinct(next) : next;
      if (states.length > MOST_STATES) return NO_BOUNDS;
      return states.length === 0 ? null : around(states.map(({ limit }) => limit));
    };
    return fitEach(decisions, narrow, () => {
      const [shown = UNOPENED] = states;
      return shown === UNOPENED || states.length > MOST_STATES ? [] : spansOf(shown);
    });

    function following(state: State, decision: LimitObservation): readonly State[] {
      const lengthMs = windowMs + (state.spent ? blockMs : 0);
      const mayBeWithin = decision.sentMs < state.start.most + lengthMs + TOLERANCE.limiterClock;
      const mayBeAfter = decision.finishedMs >= state.start.least + lengthMs - TOLERANCE.limiterClock;
      return [
        ...(mayBeWithin ? within(state, decision) : []),
        ...(mayBeAfter && decision.fate === 'admitted' ? [opened(decision, state)] : []),
        ...(mayBeAfter && mayBeFree(decision) ? [state] : []),
      ];
    }

    function within(state: State, decision: LimitObservation): readonly State[] {
      const moment = { least: decision.sentMs, most: decision.finishedMs };
      if (decision.fate === 'admitted') {
        if (state.spent) return isSure(decision) ? [] : [state];
        const used = { least: state.used.least + Number(isSure(decision)), most: state.used.most + 1 };
        const limit = narrowed(state.limit, { least: used.least });
        const start = extension === 'every-request' ? moment : state.start;
        return limit === null ? [] : [{ ...state, start, used, limit }];
      }
      const limit = state.spent ? state.limit : narrowed(state.limit, { most: state.used.most });
      const restarts = extension === 'first-refusal' ? !state.spent : extension !== 'nothing';
      return limit === null ? [] : [{ ...state, start: restarts ? moment : state.start, limit, spent: true }];
    }

    function opened(decision: LimitObservation, before: State): State {
      const lengthMs = windowMs + (before.spent ? blockMs : 0);
      const soonestMs = before.start.least + lengthMs - TOLERANCE.limiterClock;
      return {
        start: { least: Math.max(decision.sentMs, soonestMs), most: decision.finishedMs },
        used: { least: Number(isSure(decision)), most: 1 },
        limit: before.limit,
        spent: false,
        past: before === UNOPENED ? [] : spansOf(before),
      };
    }

    function spansOf({ start, past }: State): readonly Span[] {
      return [...past, { fromMs: start.least, toMs: start.least + windowMs }];
    }
  };
}

function distinct(states: readonly State[]): readonly State[] {
  const byStart = new Map<number, State[]>();
  return states.filter((state) => {
    const alike = byStart.get(state.start.least) ?? [];
    if (alike.some((each) => isAlike(each, state))) return false;
    byStart.set(state.start.least, [...alike, state]);
    return true;
  });
}

function isAlike(a: State, b: State): boolean {
  const isSame = (one: Bounds, other: Bounds) => one.least === other.least && one.most === other.most;
  return (
    a.spent === b.spent && isSame(a.start, b.start) && isSame(a.used, b.used) && isSame(a.limit, b.limit)
  );
}

/** Windows that lie fixed on the service's clock. */
function aligned(
  decisions: readonly LimitObservation[],
  { windowMs, clock: { phaseMs, toleranceMs } }: ModeledLimit,
): Fit {
  const used = new Map<number, Bounds>();
  const usedIn = (window: number) => used.get(window) ?? { least: 0, most: 0 };
  const narrow = (decision: LimitObservation, limit: Bounds) => {
    const first = Math.floor((decision.sentMs - toleranceMs - phaseMs) / windowMs);
    const last = Math.floor((decision.finishedMs + toleranceMs - phaseMs) / windowMs);
    const windows = Array.from({ length: last - first + 1 }, (_, index) => first + index);
    if (decision.fate === 'refused') {
      return narrowed(limit, { most: Math.max(...windows.map((window) => usedIn(window).most)) });
    }
    const isCounted = first === last && isSure(decision);
    for (const window of windows) {
      const { least, most } = usedIn(window);
      used.set(window, { least: least + Number(isCounted), most: most + 1 });
    }
    return narrowed(limit, { least: Math.max(...windows.map((window) => usedIn(window).least)) });
  };
  return fitEach(decisions, narrow, () =>
    [...used.keys()]
      .sort((a, b) => a - b)
      .map((window) => ({ fromMs: phaseMs + window * windowMs, toMs: phaseMs + (window + 1) * windowMs })),
  );
}

const ascending = (moments: readonly number[]) => moments.toSorted((a, b) => a - b);

/** A log of one window's length: at any moment it holds at most the limit. `refusalsCount`: refused requests, too. */
function slidingLog(refusalsCount: boolean): Model {
  return (decisions, { windowMs }) => {
    const isLogged = ({ fate }: LimitObservation) => refusalsCount || fate === 'admitted';
    const logged = decisions.filter(isLogged);
    const admitted = decisions.filter(({ fate }) => fate === 'admitted');
    const admittedMs = ascending(admitted.map(({ sentMs }) => sentMs));
    const latestMs = ascending(logged.map(({ finishedMs }) => finishedMs));
    const surelyMs = ascending(logged.filter(isSure).map(({ sentMs }) => sentMs));
    let surelyLogged = 0;
    let refused = 0;
    return fitEach(decisions, (decision, limit) => {
      const logged = surelyLogged;
      if (isSure(decision) && isLogged(decision)) surelyLogged += 1;
      if (decision.fate === 'refused') {
        // Of refusals under way together one was the first, with none of the others before it.
        const expired = countBelow(latestMs, decision.sentMs - windowMs - TOLERANCE.limiterClock);
        const before = countBelow(admittedMs, decision.finishedMs) + (refusalsCount ? refused : 0);
        refused += 1;
        return narrowed(limit, { most: before - expired });
      }
      if (!isSure(decision)) return limit;
      // Of those decided so far one was the last, no later than this: all before it were in the log with it.
      const expired = countBelow(surelyMs, decision.finishedMs - windowMs + TOLERANCE.limiterClock);
      return narrowed(limit, { least: Math.max(0, logged - expired) + 1 });
    });
  };
}

/** Two counters: their windows begin with the first request that counts, or on the clock. */
function slidingCounter(refusalsCount: boolean): Model {
  return (decisions, { windowMs, clock }) => {
    const phases = decisions.slice(0, decisions.findIndex(isSure) + 1).map(({ sentMs, finishedMs }) => ({
      phaseMs: (sentMs + finishedMs) / 2,
      toleranceMs: (finishedMs - sentMs) / 2 + TOLERANCE.limiterClock,
    }));
    const fits = [...phases, clock].flatMap((phase) =>
      [false, true].map((isWhole) => counterFrom(phase, decisions, { windowMs, refusalsCount, isWhole })),
    );
    const explaining = fits.filter((fit) => fit.explains);
    const [first] = fits;
    if (first && explaining.length === 0) return first;
    return { explains: true, limit: around(explaining.map(({ limit }) => limit)), windows: [] };
  };
}

/** Number of requests in each window. */
type Counters = Map<number, number>;

interface CounterRules {
  readonly windowMs: number;
  readonly refusalsCount: boolean;
  /** The older counter's share is cut to a whole number. */
  readonly isWhole: boolean;
}

/**
 * Counters of one window each, the older one weighed by the part of it that still lies within the last window's length. A
 * request near a window's end may be in either counter: each estimate is held between its bounds.
 */
function counterFrom(
  { phaseMs, toleranceMs }: Phase,
  decisions: readonly LimitObservation[],
  { windowMs, refusalsCount, isWhole }: CounterRules,
): Fit {
  const latest: Counters = new Map();
  const surelyEarliest: Counters = new Map();
  // The estimate when one more was admitted, and when it was not.
  let least = 0;
  let most = Number.POSITIVE_INFINITY;
  return fitEach(decisions, (decision) => {
    const earliestMs = decision.sentMs - toleranceMs;
    const latestMs = decision.finishedMs + toleranceMs;
    if (decision.fate === 'refused') most = Math.min(most, heaviest(earliestMs, latestMs));
    else if (isSure(decision)) least = Math.max(least, weighed(surelyEarliest, latestMs));
    if (decision.fate === 'admitted' || refusalsCount) {
      add(latest, windowOf(latestMs));
      if (isSure(decision)) add(surelyEarliest, windowOf(earliestMs));
    }
    // One more is admitted if the estimate lies below the limit, or with that request does not exceed it.
    return narrowed(NO_BOUNDS, { least: Math.floor(least) + 1, most: Math.ceil(most) });
  });

  function windowOf(atMs: number): number {
    return Math.floor((atMs - phaseMs) / windowMs);
  }

  /** Within a window the estimate falls with time; at its beginning the window before weighs whole. */
  function heaviest(earliestMs: number, latestMs: number): number {
    const first = windowOf(earliestMs);
    const atBegin = windowOf(latestMs) > first ? since(latest, first) : 0;
    return Math.max(weighed(latest, earliestMs), atBegin);
  }

  function weighed(counters: Counters, atMs: number): number {
    const window = windowOf(atMs);
    const share = 1 - ((atMs - phaseMs) / windowMs - window);
    const older = (counters.get(window - 1) ?? 0) * share;
    return (isWhole ? Math.floor(older) : older) + since(counters, window);
  }
}

function add(counters: Counters, window: number): void {
  counters.set(window, (counters.get(window) ?? 0) + 1);
}

function since(counters: Counters, window: number): number {
  let sum = 0;
  for (const [each, count] of counters) if (each >= window) sum += count;
  return sum;
}

/**
 * A bucket that is refilled evenly at the documented rate; the limit found is its size, which need not be the
 * documented number (1 for a limiter that allows no burst). A leaky bucket as a meter (GCRA) is the same from outside.
 */
function tokenBucket(decisions: readonly LimitObservation[], { requests, windowMs }: ModeledLimit): Fit {
  const perMs = requests / windowMs;
  // How much is missing from the full bucket, if every request came early, or late.
  let missing: Bounds = { least: 0, most: 0 };
  let previousMs: number | null = null;
  // Since the bucket was last full, the widest stretch in which a request was decided.
  let widestMs = 0;
  const fit = fitEach(decisions, ({ fate, counted, sentMs, finishedMs }, size) => {
    const middleMs = (sentMs + finishedMs) / 2;
    const halfMs = (finishedMs - sentMs) / 2;
    const flowed = previousMs === null ? 0 : Math.max(0, middleMs - previousMs) * perMs;
    const { least, most } = {
      least: Math.max(0, missing.least - flowed),
      most: Math.max(0, missing.most - flowed),
    };
    missing = { least, most };
    previousMs = Math.max(previousMs ?? middleMs, middleMs);
    widestMs = most === 0 ? halfMs : Math.max(widestMs, halfMs);
    const unsure = (halfMs + widestMs + TOLERANCE.limiterClock) * perMs;
    if (fate === 'refused') return narrowed(size, { most: most + unsure + 1 });
    missing = { least: least + Number(counted === 'surely'), most: most + 1 };
    return counted === 'surely' ? narrowed(size, { least: least - unsure + 1 }) : size;
  });
  if (!fit.explains) return fit;
  const most = Math.floor(fit.limit.most + 1e-9);
  // Its size may lie between two whole numbers: then it serves as many at once as the smaller one.
  return { ...fit, limit: { least: Math.min(most, Math.ceil(fit.limit.least - 1e-9)), most } };
}

import type { Bounds, DocumentedLimit, LimitObservation, Span } from '../observed/observation.ts';
import { TOLERANCE } from '../observed/observation.ts';

/** What makes a window that runs from a request run longer. */
export type Extension =
  | 'nothing'
  /** The first refusal starts a block of one window; refusals within it change nothing. */
  | 'first-refusal'
  /** Every refusal starts the window anew. */
  | 'refusals'
  /** Every request does, a served one as well. */
  | 'every-request';

interface State {
  /** When the window began, or the block that stands for it. */
  readonly start: Bounds;
  readonly used: Bounds;
  readonly limit: Bounds;
  /** It has refused a request, and so serves none that counts until it is over. */
  readonly spent: boolean;
  /** The windows before this one, newest first. */
  readonly past: Past | null;
}

interface Past {
  readonly span: Span;
  readonly before: Past | null;
}

export const NO_BOUNDS: Bounds = { least: 1, most: Number.POSITIVE_INFINITY };

/** No request has opened a window yet. */
const NEVER = Number.NEGATIVE_INFINITY;
const UNOPENED: State = {
  start: { least: NEVER, most: NEVER },
  used: { least: 0, most: 0 },
  limit: NO_BOUNDS,
  spent: false,
  past: null,
};

/** More ways than this to draw the windows, and nothing is known of them. */
const MOST_STATES = 256;

/**
 * A counter that runs from a key's first request for one window. All the ways are followed in which the windows can
 * lie, for a request near a window's end may belong to either.
 */
export function fitAnchored(decisions: readonly Decision[], windowMs: number, extension: Extension): Fit {
  let states: readonly State[] = [];
  for (const [at, decision] of decisions.entries()) {
    const next = at === 0 ? first(decision) : states.flatMap((state) => following(state, decision));
    if (next.length === 0) {
      return { explains: false, reason: `${decision.fate} ${describe(decision, decisions)}` };
    }
    states = distinct(next);
    if (states.length > MOST_STATES) return { explains: true, limit: NO_BOUNDS, windows: [] };
  }
  const [shown = UNOPENED] = states;
  if (shown === UNOPENED) return { explains: true, limit: NO_BOUNDS, windows: [] };
  const limit = around(states.map((state) => state.limit));
  return { explains: true, limit, windows: spansOf(shown, windowMs) };

  function first(decision: Decision): readonly State[] {
    return [...opened(decision, null, NO_BOUNDS), ...(mayBeFree(decision) ? [UNOPENED] : [])];
  }

  function following(state: State, decision: Decision): readonly State[] {
    const { earliestMs, latestMs } = decision;
    const slack = TOLERANCE.limiterClock;
    const mayBeWithin = earliestMs < state.start.most + windowMs + slack;
    const mayBeAfter = latestMs >= state.start.least + windowMs - slack;
    return [
      ...(mayBeWithin ? within(state, decision) : []),
      ...(mayBeAfter ? opened(decision, state, state.limit) : []),
      ...(mayBeAfter && mayBeFree(decision) ? [state] : []),
    ];
  }

  function within(state: State, decision: Decision): readonly State[] {
    const moment = { least: decision.earliestMs, most: decision.latestMs };
    if (decision.fate === 'admitted') {
      if (state.spent) return decision.sure ? [] : [state];
      const used = { least: state.used.least + (decision.sure ? 1 : 0), most: state.used.most + 1 };
      const limit = atLeast(state.limit, used.least);
      const start = extension === 'every-request' ? moment : state.start;
      return limit === null ? [] : [{ ...state, start, used, limit }];
    }
    const limit = state.spent ? state.limit : atMost(state.limit, state.used.most);
    if (limit === null) return [];
    const restarts =
      extension === 'refusals' ||
      extension === 'every-request' ||
      (extension === 'first-refusal' && !state.spent);
    const start = restarts ? moment : state.start;
    return [{ ...state, start, limit, spent: true }];
  }

  function opened(decision: Decision, before: State | null, limit: Bounds): readonly State[] {
    const soonest =
      before === null ? decision.earliestMs : before.start.least + windowMs - TOLERANCE.limiterClock;
    const start = { least: Math.max(decision.earliestMs, soonest), most: decision.latestMs };
    const past =
      before === null || before === UNOPENED ? null : { span: spanOf(before, windowMs), before: before.past };
    const fresh = { start, spent: false, past };
    if (decision.fate === 'refused') {
      const bounded = atMost(limit, 0);
      return bounded === null ? [] : [{ ...fresh, used: { least: 0, most: 0 }, limit: bounded }];
    }
    return [{ ...fresh, used: { least: decision.sure ? 1 : 0, most: 1 }, limit }];
  }
}

function spanOf({ start }: State, windowMs: number): Span {
  return { fromMs: start.least, toMs: start.least + windowMs };
}

function spansOf(state: State, windowMs: number): readonly Span[] {
  const spans: Span[] = [spanOf(state, windowMs)];
  for (let past = state.past; past !== null; past = past.before) spans.unshift(past.span);
  return spans;
}

function distinct(states: readonly State[]): readonly State[] {
  if (states.length < 2) return states;
  const byKey = new Map<string, State>();
  for (const state of states) {
    const { start, used, limit, spent } = state;
    const key = [start.least, start.most, used.least, used.most, limit.least, limit.most, spent].join();
    if (!byKey.has(key)) byKey.set(key, state);
  }
  return [...byKey.values()];
}

/** A request that takes nothing of the quota opens no window either. */
function mayBeFree({ fate, sure }: Decision): boolean {
  return fate === 'admitted' && !sure;
}

/** When a decision fell, from the first of all. */
export function describe(decision: Decision, decisions: readonly Decision[]): string {
  const sinceMs = decision.earliestMs - (decisions[0]?.earliestMs ?? 0);
  return `${(sinceMs / 1000).toFixed(2)} s after the first request`;
}

/**
 * Windows that lie fixed on some clock. `phaseMs` is a moment at which one begins, known to `toleranceMs` either way.
 */
export function fitPhase(
  decisions: readonly Decision[],
  windowMs: number,
  phaseMs: number,
  toleranceMs: number = TOLERANCE.limiterClock,
): Fit {
  const used = new Map<number, { least: number; most: number }>();
  let limit: Bounds | null = NO_BOUNDS;
  for (const decision of decisions) {
    const first = Math.floor((decision.earliestMs - toleranceMs - phaseMs) / windowMs);
    const last = Math.floor((decision.latestMs + toleranceMs - phaseMs) / windowMs);
    if (decision.fate === 'admitted') {
      for (let window = first; window <= last; window += 1) {
        const sofar = used.get(window) ?? { least: 0, most: 0 };
        sofar.most += 1;
        if (first === last && decision.sure) sofar.least += 1;
        used.set(window, sofar);
        limit = atLeast(limit, sofar.least);
        if (limit === null) return { explains: false, reason: `admitted ${describe(decision, decisions)}` };
      }
    } else {
      const most = Math.max(...range(first, last).map((window) => used.get(window)?.most ?? 0));
      limit = atMost(limit, most);
      if (limit === null) return { explains: false, reason: `refused ${describe(decision, decisions)}` };
    }
  }
  const windows = [...used.keys()]
    .sort((a, b) => a - b)
    .map((window) => ({ fromMs: phaseMs + window * windowMs, toMs: phaseMs + (window + 1) * windowMs }));
  return { explains: true, limit, windows };
}

function range(first: number, last: number): readonly number[] {
  return Array.from({ length: Math.max(1, last - first + 1) }, (_, index) => first + index);
}

/** An answered observation in the order of the limiter's decisions, as far as that is known. */
export interface Decision {
  readonly fate: 'admitted' | 'refused';
  readonly sure: boolean;
  /** The limiter decided between these, in ms. */
  readonly earliestMs: number;
  readonly latestMs: number;
  readonly source: LimitObservation;
}

/**
 * Answers come in about the order of the decisions. Where requests were under way together, a refusal is put behind
 * every admission that it may have followed: within one quota the admitted ones come first.
 */
export function decisionsOf(observations: readonly LimitObservation[]): readonly Decision[] {
  const answered = observations.filter(({ fate }) => fate !== 'lost');
  const admitted = answered.filter(({ fate }) => fate === 'admitted').toSorted((a, b) => a.sentMs - b.sentMs);
  const sentMs = admitted.map((each) => each.sentMs);
  const lastEnds: number[] = [];
  for (const { finishedMs } of admitted) lastEnds.push(Math.max(finishedMs, lastEnds.at(-1) ?? finishedMs));
  const place = (each: LimitObservation): number => {
    if (each.fate === 'admitted') return each.finishedMs;
    const before = countBelow(sentMs, each.finishedMs);
    return Math.max(each.finishedMs, lastEnds[before - 1] ?? each.finishedMs);
  };
  return answered
    .map((source) => ({ source, at: place(source) }))
    .toSorted(
      (a, b) => a.at - b.at || Number(a.source.fate === 'refused') - Number(b.source.fate === 'refused'),
    )
    .map(({ source }) => ({
      fate: source.fate === 'refused' ? 'refused' : 'admitted',
      sure: source.counted === 'surely',
      earliestMs: source.sentMs,
      latestMs: source.finishedMs,
      source,
    }));
}

/** What comes of holding a model of a limiter against the decisions: which limits explain all of them. */
export type Fit =
  | { readonly explains: true; readonly limit: Bounds; readonly windows: readonly Span[] }
  | { readonly explains: false; readonly reason: string };

/** The narrowest ones in which all of these lie. */
export function around(all: readonly Bounds[]): Bounds {
  return {
    least: Math.min(...all.map(({ least }) => least)),
    most: Math.max(...all.map(({ most }) => most)),
  };
}

/** The limit is at least that much; null when it cannot be. */
export function atLeast(bounds: Bounds, least: number): Bounds | null {
  const narrowed = { least: Math.max(bounds.least, least), most: bounds.most };
  return narrowed.least > narrowed.most ? null : narrowed;
}

export function atMost(bounds: Bounds, most: number): Bounds | null {
  const narrowed = { least: bounds.least, most: Math.min(bounds.most, most) };
  return narrowed.least > narrowed.most ? null : narrowed;
}

/** Number of the ascending numbers below the bound. */
export function countBelow(ascending: readonly number[], bound: number): number {
  let [low, high] = [0, ascending.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ascending[middle] ?? 0) < bound) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * A bucket that is refilled evenly at the documented rate; the limit found is its size, which need not be the
 * documented number (1 for a limiter that allows no burst). A leaky bucket as a meter (GCRA) is the same from outside.
 */
export function fitTokenBucket(decisions: readonly Decision[], documented: DocumentedLimit): Fit {
  const perMs = documented.requests / documented.windowMs;
  const slack = TOLERANCE.limiterClock;
  // How much is missing from the full bucket, when every request could have come early, or late.
  let missing: Bounds = { least: 0, most: 0 };
  let previousMs: number | null = null;
  // Since the bucket was last full, the widest stretch in which a request was decided.
  let widestMs = 0;
  let size: Bounds = NO_BOUNDS;
  for (const decision of decisions) {
    const middleMs = (decision.earliestMs + decision.latestMs) / 2;
    const halfMs = (decision.latestMs - decision.earliestMs) / 2;
    const flowed = previousMs === null ? 0 : Math.max(0, middleMs - previousMs) * perMs;
    missing = { least: Math.max(0, missing.least - flowed), most: Math.max(0, missing.most - flowed) };
    previousMs = Math.max(previousMs ?? middleMs, middleMs);
    widestMs = missing.most === 0 ? halfMs : Math.max(widestMs, halfMs);
    const unsure = (halfMs + widestMs + slack) * perMs;
    if (decision.fate === 'admitted') {
      if (decision.sure) size = { ...size, least: Math.max(size.least, missing.least - unsure + 1) };
      missing = { least: missing.least + (decision.sure ? 1 : 0), most: missing.most + 1 };
    } else {
      size = { ...size, most: Math.min(size.most, missing.most + unsure + 1) };
    }
    if (size.least > size.most) {
      return { explains: false, reason: `${decision.fate} ${describe(decision, decisions)}` };
    }
  }
  return {
    explains: true,
    limit: { least: Math.ceil(size.least - 1e-9), most: Math.floor(size.most + 1e-9) },
    windows: [],
  };
}

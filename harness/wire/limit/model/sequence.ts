import type { Bounds, LimitObservation, Span } from '../observed/observation.ts';

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

export const NO_BOUNDS: Bounds = { least: 1, most: Number.POSITIVE_INFINITY };

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

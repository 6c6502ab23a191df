import type { Bounds, LimitObservation, Span } from '../observed/observation.ts';

/**
 * The answered observations in the order of the limiter's decisions, as far as that is known: each was decided between
 * its sending and its answer, and answers come in about that order. If requests were under way together, a refusal
 * follows every admission that it may have followed: within one quota the admitted ones come first.
 */
export function decisionsOf(observations: readonly LimitObservation[]): readonly LimitObservation[] {
  const admitted = observations
    .filter(({ fate }) => fate === 'admitted')
    .toSorted((a, b) => a.sentMs - b.sentMs);
  const sentMs = admitted.map((each) => each.sentMs);
  const lastEnds: number[] = [];
  for (const { finishedMs } of admitted) lastEnds.push(Math.max(finishedMs, lastEnds.at(-1) ?? finishedMs));
  const placeOf = ({ fate, finishedMs }: LimitObservation) => {
    const end = fate === 'refused' ? lastEnds[countBelow(sentMs, finishedMs) - 1] : undefined;
    return Math.max(finishedMs, end ?? finishedMs);
  };
  return observations
    .filter(({ fate }) => fate !== 'lost')
    .map((decision) => ({ decision, place: placeOf(decision), isLater: Number(decision.fate === 'refused') }))
    .toSorted((a, b) => a.place - b.place || a.isLater - b.isLater)
    .map(({ decision }) => decision);
}

/** Whether a model of a limiter explains all decisions: with which limits, or the decision that contradicts it. */
export type Fit =
  | { readonly explains: true; readonly limit: Bounds; readonly windows: readonly Span[] }
  | { readonly explains: false; readonly reason: string };

export const NO_BOUNDS: Bounds = { least: 1, most: Number.POSITIVE_INFINITY };

/** `narrow`: the limits that explain this decision as well, of those that explain all before it; null for none. */
export function fitEach(
  decisions: readonly LimitObservation[],
  narrow: (decision: LimitObservation, limit: Bounds) => Bounds | null,
  windows: () => readonly Span[] = () => [],
): Fit {
  let limit = NO_BOUNDS;
  for (const decision of decisions) {
    const narrowed = narrow(decision, limit);
    if (narrowed === null) {
      const sinceMs = decision.sentMs - (decisions[0]?.sentMs ?? 0);
      const reason = `${decision.fate} ${(sinceMs / 1000).toFixed(2)} s after the first request`;
      return { explains: false, reason };
    }
    limit = narrowed;
  }
  return { explains: true, limit, windows: windows() };
}

/** The bounds that both have in common; null for none. */
export function narrowed(bounds: Bounds, other: Partial<Bounds>): Bounds | null {
  const least = Math.max(bounds.least, other.least ?? bounds.least);
  const most = Math.min(bounds.most, other.most ?? bounds.most);
  return least > most ? null : { least, most };
}

/** The narrowest bounds in which all of these lie. */
export function around(all: readonly Bounds[]): Bounds {
  return {
    least: Math.min(...all.map(({ least }) => least)),
    most: Math.max(...all.map(({ most }) => most)),
  };
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

import type { Bounds, Span } from './observation.ts';

/** What comes of holding a model of a limiter against the decisions: which limits explain all of them. */
export type Fit =
  | { readonly explains: true; readonly limit: Bounds; readonly windows: readonly Span[] }
  | { readonly explains: false; readonly reason: string };

export const NO_BOUNDS: Bounds = { least: 1, most: Number.POSITIVE_INFINITY };

/** The limit is at least that much; null when it cannot be. */
export function atLeast(bounds: Bounds, least: number): Bounds | null {
  const narrowed = { least: Math.max(bounds.least, least), most: bounds.most };
  return narrowed.least > narrowed.most ? null : narrowed;
}

export function atMost(bounds: Bounds, most: number): Bounds | null {
  const narrowed = { least: bounds.least, most: Math.min(bounds.most, most) };
  return narrowed.least > narrowed.most ? null : narrowed;
}

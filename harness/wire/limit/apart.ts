import type { Span } from './observed/observation.ts';

/** Whether no window of a clock, of that length, can end within both. */
export function isApart(a: Span, b: Span, windowMs: number): boolean {
  const intoMs = intoWindow(a, b, windowMs);
  return intoMs > a.toMs - a.fromMs && windowMs - intoMs > b.toMs - b.fromMs;
}

/** How far the second begins into a window that begins with the first, in ms. */
function intoWindow(a: Span, b: Span, windowMs: number): number {
  return (((b.fromMs - a.fromMs) % windowMs) + windowMs) % windowMs;
}

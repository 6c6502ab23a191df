import { explainingKinds } from './infer.ts';
import type { DocumentedLimit, LimitObservation, Span } from './observed/observation.ts';

/** Moments that are looked at, evenly apart. */
const MOMENTS = 12;

/**
 * The first moment within the span at which one request alone tells the most kinds of limiter apart, whether it is
 * served or refused; null where none tells any apart. In ms on the observations' clock.
 */
export function tellingMoment(
  observations: readonly LimitObservation[],
  documented: DocumentedLimit,
  ownOffsetMs: number,
  { fromMs, toMs }: Span,
): number | null {
  const left = (more: readonly LimitObservation[]) =>
    explainingKinds([...observations, ...more], documented, ownOffsetMs).length;
  let fewest = left([]);
  let moment: number | null = null;
  for (let at = 0; at < MOMENTS && fewest > 1; at += 1) {
    const atMs = fromMs + (at * (toMs - fromMs)) / MOMENTS;
    const most = Math.max(...(['admitted', 'refused'] as const).map((fate) => left([alone(atMs, fate)])));
    if (most < fewest) [fewest, moment] = [most, atMs];
  }
  return moment;
}

function alone(atMs: number, fate: LimitObservation['fate']): LimitObservation {
  return {
    sentMs: atMs,
    finishedMs: atMs,
    fate,
    counted: 'surely',
    part: 'probe',
    status: null,
    quota: null,
    retryAfterMs: null,
    retryAfterIsDate: false,
    dateMs: null,
  };
}

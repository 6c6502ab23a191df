import type { LimitInference } from './infer.ts';
import type { LimitObservation } from './observation.ts';
import { TOLERANCE } from './tolerances.ts';

/** Kinds whose quota comes back whole at one moment: only there can a Retry-After be too late. */
const AT_ONE_MOMENT: ReadonlySet<LimitInference['algorithm']> = new Set([
  'fixed-window',
  'fixed-window-aligned',
  'penalty',
]);

/** What is wrong with Retry-After, held against when requests were in fact served; null when it was honest. */
export function retryAfterFault(
  observations: readonly LimitObservation[],
  windowMs: number,
  { algorithm }: Pick<LimitInference, 'algorithm'>,
): string | null {
  const inOrder = observations
    .filter(({ fate, part }) => fate !== 'lost' && part !== 'parallel')
    .toSorted((a, b) => a.sentMs - b.sentMs);
  for (const [at, refusal] of inOrder.entries()) {
    const { retryAfterMs, retryAfterIsDate, fate, finishedMs } = refusal;
    if (fate !== 'refused' || retryAfterMs === null) continue;
    const rounding = TOLERANCE.wholeSeconds + (retryAfterIsDate ? TOLERANCE.dateField : 0);
    if (retryAfterMs > windowMs + rounding) {
      return `expected Retry-After within the window of ${seconds(windowMs)}, got ${seconds(retryAfterMs)}`;
    }
    const promisedMs = finishedMs + retryAfterMs;
    const next = inOrder[at + 1];
    if (next?.fate === 'refused' && next.sentMs >= promisedMs + TOLERANCE.limiterClock) {
      return `expected service after Retry-After (${seconds(retryAfterMs)}), got a refusal ${seconds(next.sentMs - finishedMs)} after it`;
    }
    const served = inOrder
      .slice(at + 1)
      .find((each) => each.fate === 'admitted' && each.counted === 'surely');
    if (served === undefined || !AT_ONE_MOMENT.has(algorithm)) continue;
    const lateMs = promisedMs - served.sentMs;
    if (lateMs > rounding + TOLERANCE.afterPromise) {
      return `expected Retry-After to tell the time left, got ${seconds(retryAfterMs)}, and service ${seconds(served.sentMs - finishedMs)} after the refusal`;
    }
  }
  return null;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

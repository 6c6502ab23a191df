import { GRADUAL, type LimitInference } from '../infer.ts';
import type { DocumentedLimit, LimitObservation } from '../observed/observation.ts';
import { requestsOfOthers } from '../others.ts';
import { isOfAnother } from './second-limit.ts';

/**
 * What the remaining quota of an answer said and what was then served, completing "expected a remaining quota that is
 * true, got …"; null where it was true, or nothing shows it. Told by the requests that were sent one after the other.
 */
export function remainingFault(
  observations: readonly LimitObservation[],
  { requests, windowMs }: DocumentedLimit,
  { compatible }: Pick<LimitInference, 'compatible'>,
): string | null {
  const serial = observations.filter(({ part }) => part === 'serial');
  const refusedAt = serial.findIndex(({ fate }) => fate === 'refused');
  const refusal = serial[refusedAt];
  if (refusal && isOfAnother(refusal, { requests, windowMs })) return null;
  const admitted = serial.slice(0, Math.max(0, refusedAt));
  const endMs = admitted.at(-1)?.finishedMs ?? 0;
  const telling = admitted.flatMap(({ quota, sentMs }, at) =>
    quota?.limit === requests && quota.remaining !== null
      ? [
          {
            told: quota.remaining,
            left: admitted.length - 1 - at,
            unsure: unsureBehind(admitted, at),
            sentMs,
          },
        ]
      : [],
  );
  // Where it rises, a window has ended meanwhile.
  const isRenewed = telling.some(({ told }, at) => told > (telling[at - 1]?.told ?? requests));
  if (isRenewed || requestsOfOthers(observations) > 0) return null;
  // What flows back is told in whole requests.
  const spare = compatible.length === 0 || compatible.some((each) => GRADUAL.has(each)) ? 1 : 0;
  const wrong = telling.findLast(({ told, left, unsure, sentMs }) => {
    const flowed = 1 + Math.floor(((endMs - sentMs) * requests) / windowMs);
    return told > left + spare || told < left - unsure - flowed;
  });
  return wrong === undefined ? null : `${wrong.told} told, and ${wrong.left} more served`;
}

/** Of how many behind it nobody knows whether they took of the quota. */
function unsureBehind(admitted: readonly LimitObservation[], at: number): number {
  return admitted.slice(at + 1).filter(({ counted }) => counted === 'maybe').length;
}

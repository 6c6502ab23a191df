import type { DocumentedLimit, LimitObservation } from '../observed/observation.ts';
import { flowedIn, type ToldOfLimit, toldOf } from './told-of-limit.ts';

/** Requests that have to be gone for the first key, before more for the second one says anything. */
const FEWEST = 5;

/**
 * Whether the requests of two keys are counted together, or apart, as the documents say. `second`: what the second key was
 * told when it was served. Completes "expected one count for each key, got …"; null where they are, undefined where nothing shows it.
 */
export function sharingFault(
  observations: readonly LimitObservation[],
  second: readonly ToldOfLimit[],
  limit: DocumentedLimit,
  areTogether: boolean,
): string | null | undefined {
  const first = toldOf(observations, limit);
  const beside = second.flatMap((told) => {
    const before = first.findLast(({ finishedMs }) => finishedMs <= told.sentMs);
    const after = first.find(({ sentMs }) => sentMs >= told.finishedMs);
    // Where it rises, a window has ended.
    return before && after && after.remaining <= before.remaining ? [{ told, before, after }] : [];
  });
  if (areTogether) return apartFault(beside, limit);
  return togetherFault(beside, observations);
}

/** What the second key was told, and the first right before and behind it. */
interface Beside {
  readonly told: ToldOfLimit;
  readonly before: ToldOfLimit;
  readonly after: ToldOfLimit;
}

/** What shows that there are two counts. */
function apartFault(beside: readonly Beside[], limit: DocumentedLimit): string | null | undefined {
  const telling = beside.filter(({ before }) => limit.requests - before.remaining >= FEWEST);
  const other = telling.find(
    ({ told, before }) =>
      told.remaining > before.remaining + 1 + flowedIn(limit, told.finishedMs - before.sentMs),
  );
  if (other === undefined) return telling.length === 0 ? undefined : null;
  return `${other.told.remaining} left for the second key behind ${other.before.remaining} for the first`;
}

/**
 * What shows that there is one count: the second key is told what the first would be told next, and then the first finds
 * that one more is gone than it has sent.
 */
function togetherFault(
  beside: readonly Beside[],
  observations: readonly LimitObservation[],
): string | null | undefined {
  const telling = beside.flatMap(({ told, before, after }) => {
    const between = observations.filter(
      ({ sentMs, fate }) => sentMs > before.sentMs && sentMs <= after.sentMs && fate === 'admitted',
    );
    if (between.some(({ counted }) => counted === 'maybe')) return [];
    const ofOthers = before.remaining - after.remaining - between.length;
    return [{ told, before, isShared: ofOthers === 1 && told.remaining === before.remaining - 1 }];
  });
  const shared = telling.find(({ isShared }) => isShared);
  if (shared === undefined) return telling.length === 0 ? undefined : null;
  return `${shared.told.remaining} left for the second key right behind ${shared.before.remaining} for the first`;
}

import type { DocumentedLimit, LimitObservation } from './observation.ts';
import { whereTold } from './observing.ts';

/**
 * What a second limit refused may count against the documented one all the same, as where each of two limiters is asked.
 * What remained before and behind it tells; where nothing is told, it counted if the documented number comes out just so.
 * `refusedAtMs`: when the requests were sent that the second limit refused.
 */
export function withRefusedBeside(
  observations: readonly LimitObservation[],
  refusedAtMs: ReadonlySet<number>,
  { requests }: Pick<DocumentedLimit, 'requests'>,
): readonly LimitObservation[] {
  const isBeside = ({ sentMs }: LimitObservation) => refusedAtMs.has(sentMs);
  const taken = observations.map(
    (each): LimitObservation =>
      isBeside(each)
        ? { ...each, fate: 'admitted', counted: 'maybe', quota: null, retryAfterMs: null }
        : each,
  );
  const isSerial = ({ part }: LimitObservation) => part === 'serial';
  const told = [
    ...taken.filter((each) => !isSerial(each)),
    ...whereTold(taken.filter((each) => isSerial(each))),
  ].toSorted((a, b) => a.sentMs - b.sentMs);
  const fits = told.findIndex(({ fate }) => fate === 'refused') === requests;
  return told.flatMap((each) => {
    if (!isBeside(each) || each.counted === 'surely') return [each];
    return fits ? [{ ...each, counted: 'surely' }] : [];
  });
}

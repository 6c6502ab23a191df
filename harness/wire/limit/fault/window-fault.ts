import { type DocumentedLimit, type LimitObservation, oneByOne, TOLERANCE } from '../observed/observation.ts';
import { lawfullyBackMs } from '../pacing.ts';
import { isOfAnother } from './longer-limit.ts';

/**
 * How the window of a limit differs from the documented one, completing "expected windows of 60 s, got …"; null where
 * nothing shows that it does. Only what the service says itself and then does counts: others may spend of the quota, and
 * windows may lie anywhere on a clock.
 */
export function windowFault(
  observations: readonly LimitObservation[],
  documented: DocumentedLimit,
  isResetHonest: boolean,
): string | null {
  return tooLong(observations, documented) ?? (isResetHonest ? tooShort(observations, documented) : null);
}

/** It asks for a wait that is longer than any lawful limiter needs, and refuses after that. */
function tooLong(observations: readonly LimitObservation[], documented: DocumentedLimit): string | null {
  let since: LimitObservation[] = [];
  for (const each of oneByOne(observations)) {
    if (each.fate === 'refused') {
      const backMs = lawfullyBackMs(since, documented);
      const first = since.find(({ fate }) => fate === 'refused');
      const untilMs = first === undefined ? 0 : (toldEndMs(first, documented) ?? 0);
      if (
        first &&
        !isOfAnother(first, documented) &&
        backMs !== null &&
        each.sentMs >= backMs &&
        untilMs >= each.sentMs
      )
        return `a refusal ${seconds(each.sentMs - first.sentMs)} after the first one`;
    } else if (each.counted === 'surely') since = [];
    since.push(each);
  }
  return null;
}

/** Of the documented quota: so much at once comes from no even flow, and from no sliding window. */
const WHOLE_SHARE = 0.9;
/** Of the window: the burst follows the first served request. */
const AT_ONCE_SHARE = 0.05;

/** The whole quota is back at one moment, and the window that begins then ends sooner than it may. */
function tooShort(observations: readonly LimitObservation[], documented: DocumentedLimit): string | null {
  const { requests, windowMs } = documented;
  const inOrder = oneByOne(observations);
  const backAt = inOrder.findIndex(({ fate, part }, at) => {
    return part === 'probe' && fate === 'admitted' && inOrder[at - 1]?.fate === 'refused';
  });
  const [last, back] = [inOrder[backAt - 1], inOrder[backAt]];
  if (last === undefined || back === undefined) return null;
  const behind = observations.filter(({ part, sentMs }) => part === 'parallel' && sentMs >= back.sentMs);
  const served = behind.filter(({ fate }) => fate === 'admitted').length;
  const begunMs = Math.min(...behind.map(({ sentMs }) => sentMs));
  if (served < WHOLE_SHARE * requests || begunMs - back.finishedMs > AT_ONCE_SHARE * windowMs) return null;
  const rounding = TOLERANCE.wholeSeconds + TOLERANCE.dateField;
  const ends = behind.flatMap((each) => resetMs(each, documented) ?? []);
  if (ends.length === 0) return null;
  // Between the last refusal and the first service; the refusal may have told when.
  const toldMs = Math.min(resetMs(last, documented) ?? 0, back.finishedMs) - rounding;
  const earliestMs = Math.max(last.sentMs, toldMs);
  const lengthMs = Math.max(...ends) - earliestMs;
  if (lengthMs >= windowMs - rounding) return null;
  return `one that ends at most ${seconds(lengthMs)} after it began`;
}

/** When the quota fields of an answer say that the documented quota is back, in ms; null where they do not. */
function resetMs({ quota, finishedMs }: LimitObservation, { requests }: DocumentedLimit): number | null {
  if (quota === null || quota.limit !== requests || quota.resetSeconds === null) return null;
  return finishedMs + quota.resetSeconds * 1000;
}

function toldEndMs(refusal: LimitObservation, documented: DocumentedLimit): number | null {
  const { finishedMs, retryAfterMs } = refusal;
  return retryAfterMs === null ? resetMs(refusal, documented) : finishedMs + retryAfterMs;
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1000)} s`;
}

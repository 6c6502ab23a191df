import { Blocked, NotApplicable } from '../../base/verdict.ts';
import type { Plan } from '../../config/service.ts';
import type { BurstEntry } from '../../evidence/burst.ts';
import { countedBounds, type FirstRefused, firstRefusedWithin } from '../../evidence/limit/first-refused.ts';
import { GRADUAL } from '../../evidence/limit/infer.ts';
import type { LimitObservation } from '../../evidence/limit/observation.ts';
import { requestsOfOthers } from '../../evidence/limit/others.ts';
import { TOLERANCE } from '../../evidence/limit/tolerances.ts';
import type { MetLimit } from '../../session/http/burst.ts';
import { type Probe, probe } from '../../session/session.ts';
import { type LimitMeasurement, limitMeasurement, type Recount } from './measurement.ts';
import { exhaustion, flowedBack } from './quota.ts';

export interface MeasuredLimit {
  /** 1-based index of the first refused request of a window; null when none was refused. */
  readonly firstRefused: number | null;
  /** How well that is known, in words; null when exactly. */
  readonly uncertainty: string | null;
  readonly sent: number;
  readonly evidence: string;
  readonly documented: { readonly requests: number; readonly window: string };
}

/**
 * The index of the first refused request of a window, from everything that was sent and refused within it and the
 * next one: exact where one number alone explains all of it.
 */
export const measuredLimit: Probe<MeasuredLimit> = probe('measured-limit', async ({ ask }) => {
  const { plan, sent, evidence, firstRefused } = await ask(exhaustion);
  const measurement = await ask(limitMeasurement);
  const { inference, observations, recount } = measurement;
  const documented = { requests: plan.requests, window: `${plan.windowMs / 1000} s` };
  const about = { sent, evidence, documented };
  const others = requestsOfOthers(observations);
  if (others > 0) throw new Blocked(`others spend this quota: it fell by ${others} more than was sent`);
  const recounted = recount && settledBy(recount, plan, measurement);
  if (recount && recounted) {
    const { at, uncertainty } = recounted;
    return { ...about, firstRefused: at, uncertainty, evidence: recount.evidence };
  }
  switch (inference.algorithm) {
    case 'queue':
    case 'delay':
      throw new NotApplicable(`requests are held back instead of refused: ${inference.because.join('; ')}`);
    case 'none':
    case 'concurrency':
      return { ...about, firstRefused: null, uncertainty: null };
    default:
      break;
  }
  const bounds = inference.firstRefused ?? countedBounds(firstRefused, observations);
  if (bounds === null)
    throw new Blocked(`none of ${sent} requests was refused, and they were too few within one window`);
  const found = firstRefusedWithin(bounds, plan);
  if (found === null) {
    throw new Blocked(
      `the first refused request was one of ${bounds.least} to ${bounds.most}: nothing tells which`,
    );
  }
  return { ...about, firstRefused: found.at, uncertainty: found.uncertainty };
});

/**
 * What a count in a further window says; null when it says nothing more than the first one did.
 * @throws Blocked when the two cannot both be the service's own.
 */
function settledBy(
  { firstRefused: now, firstRefusedBefore: before, elapsedMs }: Recount,
  plan: Plan,
  { observations, inference }: LimitMeasurement,
): FirstRefused | null {
  const exact = plan.requests + 1;
  if (now === null && (before === null || before >= exact)) return null;
  if (now !== null && (before === null || before >= exact || now === before)) {
    const flowed = 1 + Math.floor(flowedBack(plan, elapsedMs));
    const gradual = inference.compatible.some((each) => GRADUAL.has(each));
    return gradual && now > exact && now <= exact + flowed
      ? { at: exact, uncertainty: `${now - exact} more flowed back meanwhile` }
      : { at: now, uncertainty: null };
  }
  const together = admittedAfterwards(observations);
  // A number that two windows agree on is the service's own, whatever was missing in a third.
  if (now !== null && before !== null && (now === exact || now === together + 1)) {
    return { at: now, uncertainty: `${now - before} of an earlier window were spent otherwise` };
  }
  if (now === null || Math.abs(now - (before ?? now)) > TOLERANCE.countsApart || together === plan.requests) {
    throw new Blocked(
      `others spend this quota: request ${before} was the first refused, a window later ${now ?? 'none'}`,
    );
  }
  return null;
}

/** Admitted since the quota came back: the request that found it so, and those sent together. */
function admittedAfterwards(observations: readonly LimitObservation[]): number {
  return observations.filter(
    ({ part, fate }) => fate === 'admitted' && (part === 'probe' || part === 'parallel'),
  ).length;
}

/** How many more of requests sent together were admitted than of requests sent one after the other. */
export const togetherAdmitted: Probe<{
  readonly parallelExcess: number;
  readonly parallel: MetLimit | null;
  readonly evidence: string;
}> = probe('together-admitted', async ({ ask }) => {
  const { inference, parallel, recount, evidence } = await ask(limitMeasurement);
  const { parallelExcess } = inference;
  if (recount === null || parallel === null || parallelExcess === 0)
    return { parallelExcess, parallel, evidence };
  const { firstRefused } = await ask(measuredLimit);
  const admitted = parallel.burst.entries.filter(isAdmitted).length;
  // What others spent of the first window was not missing in the one of the requests sent together.
  const excess = firstRefused === null ? 0 : Math.max(0, admitted - (firstRefused - 1));
  return { parallelExcess: excess, parallel, evidence };
});

function isAdmitted({ status }: BurstEntry): boolean {
  return status !== null && status >= 200 && status < 300;
}

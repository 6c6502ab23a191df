import type { BurstEntry } from '../evidence/burst.ts';
import type { Bounds, LimitObservation } from '../evidence/limit/observation.ts';
import { requestsOfOthers } from '../evidence/limit/others.ts';
import type { MetLimit } from '../session/burst.ts';
import { type Probe, probe } from '../session.ts';
import { Blocked, NotApplicable } from '../verdict.ts';
import { limitMeasurement } from './limit/measurement.ts';
import { exhaustion } from './quota.ts';

export interface MeasuredLimit {
  /** 1-based index of the first refused request of a window; null when none was refused. */
  readonly firstRefused: number | null;
  /** How well that is known, in words; null when exactly. */
  readonly uncertainty: string | null;
  readonly sent: number;
  readonly evidence: string;
  readonly documented: { readonly requests: number; readonly window: string };
}

/** Of the plan: bounds further apart than this do not tell the documented number from another. */
const TELLING_SHARE = 0.1;
/** The same for small plans, in requests: what flows back while a burst is under way. */
const TELLING_LEAST = 5;

/** Two counts that differ by no more than that, in requests, are one: something flows back while it is counted. */
const FLOWING = 2;

/**
 * The index of the first refused request of a window, from everything that was sent and refused within it and the
 * next one: exact where one number alone explains all of it.
 */
export const measuredLimit: Probe<MeasuredLimit> = probe('measured-limit', async (stimuli) => {
  const { plan, sent, evidence, firstRefused } = await stimuli.ask(exhaustion);
  const measurement = await stimuli.ask(limitMeasurement);
  const { inference, observations } = measurement;
  const documented = { requests: plan.requests, window: `${plan.windowMs / 1000} s` };
  const measured = (at: number | null, uncertainty: string | null = null): MeasuredLimit => ({
    firstRefused: at,
    uncertainty,
    sent,
    evidence,
    documented,
  });
  const others = requestsOfOthers(observations);
  if (others > 0) throw new Blocked(`others spend this quota: it fell by ${others} more than was sent`);
  if (measurement.recount !== null) {
    const { firstRefused: now, firstRefusedBefore: before, evidence: counted } = measurement.recount;
    const together = admittedAfterwards(observations);
    // A number that two windows agree on is the service's own, whatever was missing in a third.
    if (now === plan.requests + 1 || now === together + 1) {
      return { ...measured(now, `others had spent ${now - before} of an earlier window`), evidence: counted };
    }
    const differ = now === null || Math.abs(now - before) > FLOWING;
    if (differ || together === plan.requests) {
      throw new Blocked(
        `others spend this quota: request ${before} was the first refused, a window later ${now ?? 'none'}`,
      );
    }
  }
  switch (inference.algorithm) {
    case 'queue':
    case 'delay':
      throw new NotApplicable(`requests are held back instead of refused: ${inference.because.join('; ')}`);
    case 'none':
    case 'concurrency':
      return measured(null);
    default:
      break;
  }
  const bounds = inference.firstRefused ?? countedBounds(firstRefused, observations);
  if (bounds === null)
    throw new Blocked(`none of ${sent} requests was refused, and they were too few within one window`);
  const exact = plan.requests + 1;
  if (bounds.least === bounds.most) return measured(bounds.least);
  if (exact < bounds.least || exact > bounds.most) {
    const nearest = exact < bounds.least ? bounds.least : bounds.most;
    return measured(nearest, `between ${bounds.least} and ${bounds.most}`);
  }
  // The documented number was admitted for sure; what flowed back meanwhile came on top.
  const flowing = bounds.least === exact;
  if (!flowing && bounds.most - bounds.least > Math.max(TELLING_LEAST, plan.requests * TELLING_SHARE)) {
    throw new Blocked(
      `the first refused request was one of ${bounds.least} to ${bounds.most}: nothing tells which`,
    );
  }
  return measured(exact, `between ${bounds.least} and ${bounds.most}`);
});

/** Where no limiter explains what was seen: the requests of the first burst, with those that may not have counted. */
function countedBounds(
  firstRefused: number | null,
  observations: readonly { readonly counted: 'surely' | 'maybe' }[],
): Bounds | null {
  if (firstRefused === null) return null;
  const maybe = observations.filter(({ counted }) => counted === 'maybe').length;
  return { least: Math.max(1, firstRefused - maybe), most: firstRefused };
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
}> = probe('together-admitted', async (stimuli) => {
  const { inference, parallel, recount, evidence } = await stimuli.ask(limitMeasurement);
  const { parallelExcess } = inference;
  if (recount === null || parallel === null || parallelExcess === 0)
    return { parallelExcess, parallel, evidence };
  const { firstRefused } = await stimuli.ask(measuredLimit);
  const admitted = parallel.burst.entries.filter(isAdmitted).length;
  // What others spent of the first window was not missing in the one of the requests sent together.
  const excess = firstRefused === null ? 0 : Math.max(0, admitted - (firstRefused - 1));
  return { parallelExcess: excess, parallel, evidence };
});

function isAdmitted({ status }: BurstEntry): boolean {
  return status !== null && status >= 200 && status < 300;
}

import { requestsOfOthers } from '../evidence/limit/honesty.ts';
import type { Bounds } from '../evidence/limit/observation.ts';
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

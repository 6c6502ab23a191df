import { Blocked, NotApplicable } from '../../base/verdict.ts';
import type { Plan } from '../../config/service.ts';
import { countedBounds, type FirstRefused, firstRefusedWithin } from '../../evidence/limit/first-refused.ts';
import { GRADUAL, type LimitInference } from '../../evidence/limit/infer.ts';
import { requestsOfOthers } from '../../evidence/limit/others.ts';
import { type Ask, type Probe, probe } from '../../session/probe.ts';
import {
  type Count,
  countOf,
  firstBurst,
  isApart,
  isShifted,
  parallelCount,
  parallelRecount,
  serialCount,
  serialRecount,
} from './count.ts';
import { limitMeasurement } from './measurement.ts';
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

/**
 * The index of the first refused request of a window. The documented one where a limiter that has it explains what was
 * sent and refused so far; any other is counted, and counted twice.
 */
export const measuredLimit: Probe<MeasuredLimit> = probe('measured-limit', async ({ ask }) => {
  const { plan, sent, evidence, firstRefused } = await ask(exhaustion);
  const { inference, observations } = await ask(limitMeasurement);
  const documented = { requests: plan.requests, window: `${plan.windowMs / 1000} s` };
  const about = { sent, evidence, documented };
  const others = requestsOfOthers(observations);
  if (others > 0) throw new Blocked(`others spend this quota: it fell by ${others} more than was sent`);
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
  const found = bounds && firstRefusedWithin(bounds, plan);
  if (found?.at === plan.requests + 1) {
    return { ...about, firstRefused: found.at, uncertainty: found.uncertainty };
  }
  const { at, uncertainty, by } = await counted(ask, plan, inference);
  return { documented, sent: by.sent, evidence: by.evidence, firstRefused: at, uncertainty };
});

interface Counted extends Pick<MeasuredLimit, 'uncertainty'> {
  readonly at: FirstRefused['at'] | null;
  readonly by: Count;
}

/** Two counts of a fresh quota that agree, or one of the documented number: others can only spend of it, not add to it. */
async function counted(ask: Ask, plan: Plan, { compatible }: LimitInference): Promise<Counted> {
  const flows = compatible.length === 0 || compatible.some((each) => GRADUAL.has(each));
  const most = ({ flowed }: Count) => plan.requests + (flows ? flowed : 0);
  const isDocumented = (count: Count) =>
    count.isRefused && count.admitted >= plan.requests && count.admitted <= most(count);
  const before = await ask(firstBurst);
  const first = await ask(serialCount);
  if (isDocumented(first)) return documentedBy(first, plan);
  if (agree(before, first, plan)) return { at: indexOf(first), uncertainty: null, by: first };
  const second = await ask(serialRecount);
  if (isDocumented(second)) return documentedBy(second, plan);
  if (agree(first, second, plan) || areSame(first, second, plan)) {
    return { at: indexOf(second), uncertainty: null, by: second };
  }
  const told = [first, second].map(({ admitted }) => admitted).join(', then ');
  throw new Blocked(
    first.admitted < plan.requests || second.admitted < plan.requests
      ? `others spend this quota, or it is counted otherwise than by window: ${told} were admitted of a fresh one`
      : `${told} were admitted, and a window may have ended meanwhile`,
  );
}

function documentedBy(by: Count, { requests }: Plan): Counted {
  const more = by.admitted - requests;
  return { at: requests + 1, uncertainty: more === 0 ? null : `${more} more flowed back meanwhile`, by };
}

function indexOf({ admitted, isRefused }: Count): number | null {
  return isRefused ? admitted + 1 : null;
}

/** Whether both counts are too low by as much, or too high with no window of a clock that ended within both. */
function agree(a: Count, b: Count, { requests, windowMs }: Plan): boolean {
  if (a.admitted < requests) return a.admitted === b.admitted;
  return b.admitted > requests && isApart(a, b, windowMs);
}

/** A window of a clock that ended within both, as far from the start, would lie at the same place in both. */
function areSame(a: Count, b: Count, { windowMs }: Plan): boolean {
  return a.isRefused && a.admitted === b.admitted && isShifted(a, b, windowMs);
}

/** How many more of requests sent together were admitted than of requests sent one after the other. */
export const togetherAdmitted: Probe<{
  readonly excess: number;
  readonly sent: number;
  readonly evidence: string;
}> = probe('together-admitted', async (port) => {
  const { ask } = port;
  const { plan } = await ask(exhaustion);
  const { parallel, inference } = await ask(limitMeasurement);
  if (parallel === null) throw new NotApplicable('the quota did not come back in full while it was measured');
  const seen = countOf(parallel.burst, port);
  const about = { sent: seen.sent, evidence: seen.evidence };
  if (seen.admitted <= plan.requests || ['none', 'concurrency'].includes(inference.algorithm)) {
    return { ...about, excess: 0 };
  }
  const { firstRefused } = await ask(measuredLimit);
  const oneByOne = Math.max(plan.requests, (firstRefused ?? Number.POSITIVE_INFINITY) - 1);
  const excessOf = ({ admitted, flowed }: Count) => Math.max(0, admitted - oneByOne - flowed);
  if (excessOf(seen) === 0) return { ...about, excess: 0 };
  const [first, second] = [await ask(parallelCount), await ask(parallelRecount)];
  if (!isApart(first, second, plan.windowMs)) {
    throw new Blocked('requests sent together take so long that a window may end meanwhile');
  }
  return {
    sent: second.sent,
    evidence: second.evidence,
    excess: Math.min(excessOf(first), excessOf(second)),
  };
});

import { Blocked, NotApplicable } from '../../../harness/base/verdict.ts';
import type { Plan } from '../../../harness/config/service.ts';
import { type Port, type Probe, probe } from '../../../harness/engine/session/probe.ts';
import { isApart } from '../../../harness/wire/limit/fault/counts-apart.ts';
import { documentedWithin, type FirstRefused } from '../../../harness/wire/limit/fault/honesty.ts';
import { isOfAnother } from '../../../harness/wire/limit/fault/longer-limit.ts';
import { requestsOfOthers } from '../../../harness/wire/limit/fault/remaining.ts';
import { firstRefusedOf, type LimitInference } from '../../../harness/wire/limit/infer.ts';
import { GRADUAL } from '../../../harness/wire/limit/model/models.ts';
import { wallOffsetMs } from '../../../harness/wire/pace/clock.ts';
import {
  type Count,
  countOf,
  firstBurst,
  isSameElsewhere,
  parallelCount,
  parallelRecount,
  serialCount,
  serialRecount,
} from './count.ts';
import { shorterLimit } from './in-turn.ts';
import { limitMeasurement } from './measurement.ts';
import { exhaustion } from './quota.ts';

interface MeasuredLimit {
  /** 1-based index of the first refused request of a window; null when none was refused. */
  readonly firstRefused: number | null;
  /** How well that is known, in words; null when exactly. */
  readonly uncertainty: string | null;
  readonly sent: number;
  readonly evidence: string;
  readonly documented: { readonly requests: number; readonly window: string };
}

/**
 * The index of the first refused request of a window. The documented one where no limiter of another explains what
 * was sent and refused so far; any other, and what a window's end leaves open, is counted, and counted twice.
 */
export const measuredLimit = probe<MeasuredLimit>(
  'measured-limit',
  { needs: [exhaustion, limitMeasurement], mayNeed: [firstBurst, serialCount, serialRecount], cost: 0 },
  async (port) => {
    const { ask } = port;
    const met = await ask(exhaustion);
    const { plan, sent, evidence } = met;
    const { inference, observations } = await ask(limitMeasurement);
    const documented = { requests: plan.requests, window: `${plan.windowMs / 1000} s` };
    const about = { sent, evidence, documented };
    const first = observations.find(({ fate }) => fate === 'refused');
    if (first && (met.firstRefused ?? 0) <= plan.requests && isOfAnother(first, plan))
      throw new Blocked('another limit than the documented one refused first');
    const shorter = shorterLimit(plan);
    const spentLast = met.groups.at(-1)?.admitted ?? 0;
    if (
      shorter &&
      met.second === null &&
      (met.firstRefused ?? 0) <= plan.requests &&
      spentLast >= shorter.requests
    )
      throw new Blocked(`the further limit of ${shorter.requests} requests refused first`);
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
    const found = inference.firstRefused && documentedWithin(inference.firstRefused, plan);
    if (found?.uncertainty === null) return { ...about, firstRefused: found.at, uncertainty: null };
    const { at, uncertainty, by } = await counted(port, plan, inference);
    return { documented, sent: by.sent, evidence: by.evidence, firstRefused: at, uncertainty };
  },
);

interface Counted extends Pick<MeasuredLimit, 'uncertainty'> {
  readonly at: FirstRefused['at'] | null;
  readonly by: Count;
}

/** The result of two counts within which no window of a clock ended. Others can only lower a count: a low one is counted twice. */
async function counted(
  { ask, clock }: Pick<Port, 'ask' | 'clock'>,
  plan: Plan,
  { compatible }: LimitInference,
): Promise<Counted> {
  const { requests, windowMs } = plan;
  const ownOffsetMs = wallOffsetMs(clock);
  const flows = compatible.length === 0 || compatible.some((each) => GRADUAL.has(each));
  const most = ({ flowed }: Count) => requests + (flows ? flowed : 0);
  const isLow = (a: Count, b: Count) => a.admitted < requests && a.admitted === b.admitted;
  const isHigh = (a: Count, b: Count) =>
    [a, b].every((each) => each.surely > most(each)) && isApart(a, b, windowMs);
  const isSame = (a: Count, b: Count) => a.isRefused && isSameElsewhere(a, b, windowMs);

  const documentedBy = (by: Count, beside: Count): Counted | null => {
    if (beside.surely < requests || !(isApart(by, beside, windowMs) || isSame(by, beside))) return null;
    const bounds = firstRefusedOf(by.observations, plan, ownOffsetMs, compatible);
    const found = bounds && documentedWithin(bounds, plan);
    return found && { ...found, by };
  };
  const otherBy = (by: Count, beside: Count): Counted | null => {
    const differs = isLow(beside, by) || isHigh(beside, by) || (by.surely > most(by) && isSame(by, beside));
    return differs ? { at: by.isRefused ? by.admitted + 1 : null, uncertainty: null, by } : null;
  };

  const before = await ask(firstBurst);
  const first = await ask(serialCount);
  const once = documentedBy(first, before) ?? otherBy(first, before);
  if (once !== null) return once;
  const second = await ask(serialRecount);
  const twice = documentedBy(first, second) ?? documentedBy(second, first) ?? otherBy(second, first);
  if (twice !== null) return twice;
  const unsure = Math.max(...[first, second].map(({ admitted, surely }) => admitted - surely));
  if (unsure > 0)
    throw new Blocked(
      `the service failed ${unsure} times while it was counted: nothing tells whether that counts`,
    );
  const told = [first, second].map(({ admitted }) => admitted).join(', then ');
  throw new Blocked(
    first.admitted < requests || second.admitted < requests
      ? `others spend this quota, or it is counted otherwise than by window: ${told} were admitted of a fresh one`
      : `${told} were admitted, and a window may have ended meanwhile`,
  );
}

/** How many more of requests sent together were admitted than of requests sent one after the other. */
export const togetherAdmitted: Probe<{
  readonly excess: number;
  readonly sent: number;
  readonly evidence: string;
}> = probe(
  'together-admitted',
  {
    needs: [exhaustion, limitMeasurement],
    mayNeed: [measuredLimit, parallelCount, parallelRecount],
    cost: 0,
  },
  async (port) => {
    const { ask } = port;
    const { plan, second: beside } = await ask(exhaustion);
    const { parallel, inference } = await ask(limitMeasurement);
    if (beside !== null)
      throw new NotApplicable(
        `a second limit refuses more than ${beside.requests} requests that come together`,
      );
    if (parallel === null)
      throw new NotApplicable('the quota did not come back in full while it was measured');
    const seen = countOf([parallel], port);
    const about = { sent: seen.sent, evidence: seen.evidence };
    if (seen.surely <= plan.requests || ['none', 'concurrency'].includes(inference.algorithm))
      return { ...about, excess: 0 };
    const { firstRefused } = await ask(measuredLimit);
    const oneByOne = Math.max(plan.requests, (firstRefused ?? Number.POSITIVE_INFINITY) - 1);
    const excessOf = ({ surely, flowed }: Count) => Math.max(0, surely - oneByOne - flowed);
    if (excessOf(seen) === 0) return { ...about, excess: 0 };
    const [first, second] = [await ask(parallelCount), await ask(parallelRecount)];
    if (!isApart(first, second, plan.windowMs))
      throw new Blocked('requests sent together take so long that a window may end meanwhile');
    return {
      sent: second.sent,
      evidence: second.evidence,
      excess: Math.min(excessOf(first), excessOf(second)),
    };
  },
);

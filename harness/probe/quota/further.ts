import { NotApplicable } from '../../base/verdict.ts';
import type { FurtherLimit } from '../../config/service.ts';
import { howKept, isAbove, type Kept } from '../../evidence/limit/fault/further-limit.ts';
import type { Group } from '../../evidence/limit/fault/second-limit.ts';
import { forgottenMs } from '../../evidence/limit/others.ts';
import { type Port, type Probe, probe } from '../../session/probe.ts';
import { apartFrom, isApart } from './count.ts';
import { groupOf, shorterLimit } from './in-turn.ts';
import { serialBurst } from './planner.ts';
import { exhaustion, observedSoFar, planOf, quietFrom, quotaSample } from './quota.ts';

export interface FurtherLimitMet {
  readonly limit: FurtherLimit;
  readonly kept: Kept;
  readonly evidence: string;
}

/**
 * How the shortest further limit is kept, told by the requests that meet the main one.
 * @throws NotApplicable where each further limit is longer: to count one takes longer than a run may.
 */
export const furtherLimit: Probe<FurtherLimitMet> = probe('further-limit', async (port) => {
  const { plan, groups, second, evidence } = await port.ask(exhaustion);
  const limit = shorterLimit(plan);
  if (limit === null) {
    const [longer] = plan.further ?? [];
    const about = longer ? `${longer.requests} requests in ${longer.windowMs / 1000} s` : 'no further limit';
    throw new NotApplicable(`${about}: a limit of a longer window is not counted`);
  }
  const fromMs = groups[0]?.fromMs ?? 0;
  const quietMs = fromMs - quietFrom(port, fromMs);
  const kept = howKept(groups, limit, { quietMs, isMet: second !== null });
  return kept.kind === 'above' ? againAt(port, limit, kept.group) : { limit, kept, evidence };
});

/** Once more, at a moment at which no window of a clock that ended the first time can end again. */
async function againAt(port: Port, limit: FurtherLimit, first: Group): Promise<FurtherLimitMet> {
  const { windowMs } = planOf(port.config);
  const freshMs = forgottenMs(observedSoFar(port), windowMs) + windowMs;
  await port.pause.until(apartFrom(first, freshMs, limit.windowMs), 'no limiter remembers any request');
  const purpose = 'to count what the further limit admits';
  const met = await port.quota.burst({ purpose, before: 0, upTo: serialBurst(limit) });
  const again = groupOf(met);
  const evidence = met.burst.id;
  if (isAbove(again, limit) && isApart(first, again, limit.windowMs)) {
    const got = met.refusal === null ? `none refused of ${again.admitted}` : `request ${again.admitted + 1}`;
    return { limit, kept: { kind: 'broken', got }, evidence };
  }
  return { limit, kept: { kind: 'unmet', reason: 'a window may have ended while it was counted' }, evidence };
}

/** The further limits of which the quota fields tell, each with the numbers for windows of its length. */
export const furtherPolicies: Probe<{
  readonly told: readonly { readonly limit: FurtherLimit; readonly policies: readonly number[] }[];
  readonly evidence: string;
}> = probe('further-policies', async ({ ask, config }) => {
  const { response, evidence } = await ask(quotaSample);
  const limits = planOf(config).further ?? [];
  const told = limits.map((limit) => ({
    limit,
    policies: response.quota.policies.flatMap(({ windowSeconds, quota, unit }) =>
      windowSeconds === limit.windowMs / 1000 && quota !== null && unit === 'requests' ? [quota] : [],
    ),
  }));
  return { told: told.filter(({ policies }) => policies.length > 0), evidence };
});

import type { FurtherLimit } from '../../../harness/config/service.ts';
import type { MetLimit } from '../../../harness/engine/session/http/burst.ts';
import { derived, type Port, type Probe, probe } from '../../../harness/engine/session/probe.ts';
import { Reply } from '../../../harness/wire/exchange/reply.ts';
import { isApart, sharingFault } from '../../../harness/wire/limit/fault/counts-apart.ts';
import {
  type Group,
  howKept,
  isAbove,
  keptAnyway,
  keptTogether,
  type LimitAdherence,
} from '../../../harness/wire/limit/fault/longer-limit.ts';
import { fallFault, remainingOf } from '../../../harness/wire/limit/fault/remaining.ts';
import type { LimitObservation } from '../../../harness/wire/limit/observed/observation.ts';
import { forgottenMs } from '../../../harness/wire/limit/pacing.ts';
import { secondKeySample } from '../../auth/stimuli/credential.ts';
import { serialBurst, togetherBurst } from './burst-size.ts';
import { apartFrom, countOf } from './count.ts';
import { groupOf, shorterLimit } from './in-turn.ts';
import { limitMeasurement } from './measurement.ts';
import {
  burstCost,
  exhaustion,
  observedSoFar,
  planOf,
  type QuotaParts,
  quietFrom,
  quotaSample,
} from './quota.ts';

/** How a further limit is kept. */
export interface FurtherLimitMet {
  readonly limit: FurtherLimit;
  readonly kept: Exclude<LimitAdherence, { kind: 'above' }>;
  readonly evidence: string;
}

/** How each further limit is kept, as the requests to the main limit and all others show: none is sent for it. */
export const furtherLimits = probe<readonly FurtherLimitMet[]>(
  'further-limits',
  {
    needs: [exhaustion, limitMeasurement],
    cost: ({ plan }) => (plan?.further?.length ? burstCost({ plan }) : 0),
  },
  async (port) => {
    const { plan, groups, second, evidence } = await port.ask(exhaustion);
    const shortest = shorterLimit(plan);
    const observations = await observedByThen(port);
    const met: FurtherLimitMet[] = [];
    for (const limit of plan.further ?? []) {
      if (limit !== shortest) {
        met.push({ limit, kept: keptAnyway(observations, limit, plan), evidence });
        continue;
      }
      const fromMs = groups[0]?.fromMs ?? 0;
      const quietMs = fromMs - quietFrom(port, fromMs);
      const inTurn = howKept(groups, limit, { quietMs, isMet: second !== null });
      const kept = inTurn.kind === 'unmet' ? (keptTogether(observations, limit, plan) ?? inTurn) : inTurn;
      const isTogether = kept !== inTurn;
      met.push(
        kept.kind === 'above'
          ? await againAt(port, limit, kept.group, isTogether)
          : { limit, kept, evidence },
      );
    }
    return met;
  },
);

/** All that was sent by the time at which the main limit is measured. */
async function observedByThen(port: QuotaParts & Pick<Port, 'ask'>): Promise<readonly LimitObservation[]> {
  await port.ask(limitMeasurement);
  return observedSoFar(port);
}

/** What is wrong with what was told of further limits; of each of which something was told. */
interface FurtherTold {
  readonly limit: FurtherLimit;
  readonly fault: string | null;
  readonly evidence: string;
}

/** Whether what remains of each further limit fell by what was sent. */
export const furtherFalls = probe<readonly FurtherTold[]>(
  'further-falls',
  { needs: [exhaustion, limitMeasurement], cost: 0 },
  async (port) => {
    const { plan, evidence } = await port.ask(exhaustion);
    const observations = await observedByThen(port);
    return (plan.further ?? []).flatMap((limit) => {
      const fault = fallFault(observations, limit);
      return fault === undefined ? [] : [{ limit, fault, evidence }];
    });
  },
);

/** Whether two keys share each further limit of which the documents say whose requests are counted together. */
export const furtherShared = probe<readonly FurtherTold[]>(
  'further-shared',
  { needs: [exhaustion, limitMeasurement, secondKeySample], cost: 0 },
  async (port) => {
    const { plan } = await port.ask(exhaustion);
    const sampled = await port.ask(secondKeySample);
    const observations = await observedByThen(port);
    const served = port.quota
      .evidenceSoFar()
      .flatMap((each) => (each.kind === 'exchange' && each.credential === 'second' ? [new Reply(each)] : []))
      .filter((each) => each.served);
    return (plan.further ?? []).flatMap((limit) => {
      if (limit.per === undefined) return [];
      const second = served.flatMap(({ response, exchange: { timing } }) => {
        const remaining = remainingOf(response.quota, limit);
        const { startedMs, durationMs } = timing;
        return remaining === null
          ? []
          : [{ sentMs: startedMs, finishedMs: startedMs + durationMs, remaining }];
      });
      const fault = sharingFault(observations, second, limit, limit.per === 'address');
      const evidence = served.at(-1)?.evidence ?? sampled.evidence;
      return fault === undefined ? [] : [{ limit, fault, evidence }];
    });
  },
);

/** Once more, at a moment at which no window of a clock that ended the first time can end again. */
async function againAt(
  port: QuotaParts,
  limit: FurtherLimit,
  first: Group,
  together: boolean,
): Promise<FurtherLimitMet> {
  const { windowMs } = planOf(port.config);
  const freshMs = forgottenMs(observedSoFar(port), windowMs) + windowMs;
  await port.pause.until(apartFrom(first, freshMs, limit.windowMs), 'no limiter remembers any request');
  const purpose = 'to count what the further limit admits';
  const upTo = together ? togetherBurst(limit) : serialBurst(limit);
  const met = await port.quota.burst({ purpose, before: 0, upTo, together });
  const again = together ? groupTogether(met, port) : groupOf([met]);
  const evidence = met.burst.id;
  if (isAbove(again, limit) && isApart(first, again, limit.windowMs)) {
    const got = met.refusal === null ? `none refused of ${again.admitted}` : `request ${again.admitted + 1}`;
    return { limit, kept: { kind: 'broken', got }, evidence };
  }
  return { limit, kept: { kind: 'unmet', reason: 'a window may have ended while it was counted' }, evidence };
}

function groupTogether(met: MetLimit, port: QuotaParts): Group {
  const { fromMs, toMs, admitted, surely } = countOf([met], port);
  return { fromMs, toMs, admitted, unsure: admitted - surely, refusal: null };
}

/** The further limits of which the quota fields tell, each with the numbers for windows of its length. */
export const furtherPolicies: Probe<{
  readonly told: readonly { readonly limit: FurtherLimit; readonly policies: readonly number[] }[];
  readonly evidence: string;
}> = derived('further-policies', [quotaSample], async ({ ask, config }) => {
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

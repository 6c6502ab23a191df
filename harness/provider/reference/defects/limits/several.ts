import { type Defect, REST, tableOf } from '../../conduct/deviation.ts';
import { inQuota, type Patch } from '../../conduct/patch.ts';
import { fixedWindow } from '../../quota/fixed-window.ts';
import type { QuotaPlan } from '../../quota/limiter.ts';
import { severalLimits } from '../../quota/several-limits.ts';

/** Keeps limits of other numbers than those that it announces. */
const keeping = (
  main: (plan: QuotaPlan) => QuotaPlan,
  further: (plan: QuotaPlan) => QuotaPlan = (plan) => plan,
): Patch =>
  inQuota(() => ({
    algorithm: (plan) =>
      severalLimits([
        { plan, limiter: fixedWindow(main(plan)) },
        ...(plan.further ?? []).map((each) => ({ plan: each, limiter: fixedWindow(further(each)) })),
      ]),
  }));

const asStated = (plan: QuotaPlan): QuotaPlan => plan;
const changed =
  (by: (requests: number) => number) =>
  (plan: QuotaPlan): QuotaPlan => ({ ...plan, requests: by(plan.requests) });

/** What a service announces of its further limits, otherwise than it is. */
const announcing = (tell: (further: readonly QuotaPlan[]) => readonly QuotaPlan[]): Patch =>
  inQuota(({ fields }) => ({
    fields: (plan, admission, nowMs) => {
      const [main, ...further] = admission.states ?? [];
      if (main === undefined) return fields(plan, admission, nowMs);
      const told = tell(further.map((each) => each.plan));
      const states = further.flatMap((each, at) => {
        const announced = told[at];
        return announced ? [{ ...each, plan: announced }] : [];
      });
      return fields(plan, { ...admission, states: [main, ...states] }, nowMs);
    },
  }));

/** Faults of a service that has several limits at once. */
export const SEVERAL_LIMITS_DEFECTS = tableOf<Defect>(
  { ...REST, setting: 'two limits' },
  {
    'further-limit-ignored': {
      summary: 'keeps the main limit, and not the further one',
      cause: 'Nothing limits how fast requests follow each other, whatever the documents say',
      trips: ['limits.further'],
      patch: keeping(
        asStated,
        changed((requests) => 100 * requests),
      ),
    },
    'further-limit-one-low': {
      summary: 'keeps a further limit of one request less than documented',
      cause: 'The further limit refuses one request too early',
      trips: ['limits.further'],
      shows: ['limits.second-limit'],
      patch: keeping(
        asStated,
        changed((requests) => requests - 1),
      ),
    },
    'further-limit-too-high': {
      summary: 'keeps a further limit of half as many requests again as documented',
      cause: 'The further limit lets through more than documented',
      trips: ['limits.further'],
      patch: keeping(
        asStated,
        changed((requests) => Math.floor(1.5 * requests)),
      ),
    },
    'main-limit-one-low': {
      summary: 'keeps the further limit, and a main one of one request less than documented',
      cause: 'The main limit refuses one request too early, and a further limit hides it',
      trips: ['limits.exact'],
      patch: keeping(changed((requests) => requests - 1)),
    },
    'further-policy-differs': {
      setting: 'two limits, the further one longer',
      summary: 'announces another number for the further limit than it keeps',
      cause: 'The headers give another number for the further limit',
      trips: ['limits.further-policies'],
      patch: announcing((further) => further.map(changed((requests) => 2 * requests))),
    },
    'further-policy-untold': {
      summary: 'announces the main limit alone',
      cause: 'The headers do not tell of the further limit',
      shows: ['limits.further-told'],
      patch: announcing(() => []),
    },
  },
);

import { type Defect, tableOf, under } from '../../behavior/deviation.ts';
import { inQuota } from '../../behavior/patches/parts.ts';
import type { Patch } from '../../behavior/patches/patch.ts';
import { fixedWindow } from '../../quota/algorithms.ts';
import { type Admission, type Limiter, type QuotaPlan, saying } from '../../quota/limiter.ts';
import { furtherBy } from '../../quota/several-limits.ts';

const asStated = (plan: QuotaPlan): QuotaPlan => plan;

/** Keeps limits of other numbers than those that it announces. */
const keeping = (
  main: (plan: QuotaPlan) => QuotaPlan,
  further: (plan: QuotaPlan) => QuotaPlan = asStated,
): Patch =>
  inQuota(() => ({
    algorithm: furtherBy(
      (plan) => fixedWindow(further(plan)),
      (plan) => fixedWindow(main(plan)),
    ),
  }));

const changed =
  (by: (requests: number) => number) =>
  (plan: QuotaPlan): QuotaPlan => ({ ...plan, requests: by(plan.requests) });

/** A limiter that each further limit has in place of the documented one. */
const keptBy = (further: (limiter: Limiter, plan: QuotaPlan) => Limiter): Patch =>
  inQuota(() => ({ algorithm: furtherBy((plan) => further(fixedWindow(plan), plan)) }));

/** Refuses while so much of it remains, and says then that nothing does. */
const refusingFrom =
  (left: number) =>
  (limiter: Limiter): Limiter => {
    const cut = (admission: Admission): Admission =>
      admission.remaining <= left ? { ...admission, admitted: false, remaining: 0 } : admission;
    return {
      take: (key, nowMs) => {
        const before = cut(limiter.peek(key, nowMs));
        return before.admitted ? limiter.take(key, nowMs) : before;
      },
      peek: (key, nowMs) => cut(limiter.peek(key, nowMs)),
    };
  };

/** Announces other further limits than it keeps. */
const announcing = (announce: (further: readonly QuotaPlan[]) => readonly QuotaPlan[]): Patch =>
  inQuota(({ fields }) => ({
    fields: (plan, admission, nowMs) => {
      const [main, ...further] = admission.states ?? [];
      if (main === undefined) return fields(plan, admission, nowMs);
      const plans = announce(further.map((each) => each.plan));
      const states = further.flatMap((each, at) => {
        const announced = plans[at];
        return announced ? [{ ...each, plan: announced }] : [];
      });
      return fields(plan, { ...admission, states: [main, ...states] }, nowMs);
    },
  }));

export const SEVERAL_LIMITS_DEFECTS = tableOf<Defect>(under('two limits'), {
  'further-limit-ignored': {
    cause: 'Nothing limits how fast requests follow each other, whatever the documents say',
    fails: ['limits.further'],
    patch: keeping(
      asStated,
      changed((requests) => 100 * requests),
    ),
  },
  'further-limit-one-low': {
    cause: 'The further limit refuses one request too early',
    fails: ['limits.further'],
    changes: ['limits.second-limit'],
    patch: keeping(
      asStated,
      changed((requests) => requests - 1),
    ),
  },
  'further-limit-too-high': {
    cause: 'The further limit lets through more than documented',
    fails: ['limits.further'],
    patch: keeping(
      asStated,
      changed((requests) => Math.floor(1.5 * requests)),
    ),
  },
  'main-limit-one-low': {
    cause: 'The main limit refuses one request too early, and a further limit hides it',
    fails: ['limits.exact'],
    patch: keeping(changed((requests) => requests - 1)),
  },
  'middle-limit-ignored': {
    setting: 'three limits',
    cause: 'One of several further limits holds nobody back',
    fails: ['limits.further'],
    patch: keeping(asStated, (plan) => (plan.requests > 10 ? { ...plan, requests: 1_000 } : plan)),
  },
  'longer-limit-ignored': {
    setting: 'two limits, the further one soon spent',
    cause: 'The longer limit refuses nothing, whatever the documents say',
    fails: ['limits.further'],
    patch: keptBy((limiter) => saying(limiter, (admission) => ({ ...admission, admitted: true }))),
  },
  'longer-limit-early': {
    setting: 'two limits, the further one soon spent',
    cause: 'The longer limit refuses while it says that much remains',
    fails: ['limits.further'],
    patch: keptBy(refusingFrom(12)),
  },
  'longer-limit-by-address': {
    setting: 'two limits, the further one soon spent',
    cause: 'The longer limit counts the requests of several keys together',
    fails: ['limits.further-scope'],
    patch: keptBy((limiter) => ({
      take: (_key, nowMs) => limiter.take('address', nowMs),
      peek: (_key, nowMs) => limiter.peek('address', nowMs),
    })),
  },
  'longer-limit-by-key': {
    setting: 'two limits, the further one longer',
    cause: 'The longer limit is multiplied by using several keys',
    fails: ['limits.further-scope'],
    patch: inQuota(({ algorithm }) => ({
      algorithm: ({ further, ...plan }) =>
        algorithm({ ...plan, further: further?.map((each) => ({ ...each, per: 'key' })) ?? [] }),
    })),
  },
  'longer-remaining-stays': {
    setting: 'two limits, the further one longer',
    cause: 'What remains of the longer limit is always all of it',
    fails: ['limits.further-remaining'],
    patch: keptBy((limiter, { requests }) =>
      saying(limiter, (admission) => ({ ...admission, remaining: requests })),
    ),
  },
  'longer-limit-counts-twice': {
    setting: 'two limits, the further one longer',
    cause: 'Each request is counted twice for the longer limit',
    fails: ['limits.further-remaining'],
    patch: keptBy((limiter) => ({
      ...limiter,
      take: (key, nowMs) => {
        limiter.take(key, nowMs);
        return limiter.take(key, nowMs);
      },
    })),
  },
  'further-policy-differs': {
    setting: 'two limits, the further one longer',
    cause: 'The headers give another number for the further limit',
    fails: ['limits.further-policies'],
    patch: announcing((further) => further.map(changed((requests) => 2 * requests))),
  },
  'further-policy-untold': {
    cause: 'The headers do not tell of the further limit',
    changes: ['limits.further-told'],
    patch: announcing(() => []),
  },
});

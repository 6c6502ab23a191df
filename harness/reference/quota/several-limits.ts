import { fixedWindow } from './algorithms.ts';
import type { Admission, Limiter, LimiterAlgorithm, LimitState, QuotaPlan } from './limiter.ts';

interface One {
  readonly plan: QuotaPlan;
  readonly limiter: Limiter;
}

/**
 * Several limits at once: who has room in each of them is admitted, and counts for each. What remains is that of the
 * first; a refusal lasts until none of them refuses.
 */
export function severalLimits(limits: readonly [One, ...One[]]): Limiter {
  const statesBy =
    (how: 'take' | 'peek') =>
    (key: string, nowMs: number): readonly [LimitState, ...LimitState[]] => {
      const [first, ...further] = limits;
      const state = ({ plan, limiter }: One) => {
        const admission = limiter[how](keyFor(plan, key), nowMs);
        // The remaining quota never exceeds the limit.
        return { plan, admission: { ...admission, remaining: Math.min(plan.requests, admission.remaining) } };
      };
      return [state(first), ...further.map(state)];
    };
  const [look, count] = [statesBy('peek'), statesBy('take')];
  const stated = (states: readonly [LimitState, ...LimitState[]], admitted: boolean): Admission => {
    const [{ admission }] = states;
    const refusing = states.filter((each) => !each.admission.admitted);
    const waits = refusing.map((each) => each.admission.renewsInMs);
    return {
      ...admission,
      admitted,
      renewsInMs: admitted ? admission.renewsInMs : Math.max(...waits),
      states,
    };
  };
  const asked = (key: string, nowMs: number) => {
    const states = look(key, nowMs);
    return { states, admitted: states.every(({ admission }) => admission.admitted) };
  };
  return {
    take(key, nowMs) {
      const { states, admitted } = asked(key, nowMs);
      return stated(admitted ? count(key, nowMs) : states, admitted);
    },
    peek(key, nowMs) {
      const { states, admitted } = asked(key, nowMs);
      return stated(states, admitted);
    },
  };
}

/** A reference provider is called from one address. */
function keyFor({ per }: QuotaPlan, key: string): string {
  return per === 'address' ? 'address' : key;
}

/** The same of the limits of a plan, where what one of them refuses is counted all the same by the main one or by the others. */
export const countingRefusals =
  (by: 'main' | 'further'): LimiterAlgorithm =>
  (plan) => {
    const [main, ...further] = limitsOf(plan);
    const all = severalLimits([main, ...further]);
    const counting = by === 'main' ? [main] : further;
    return {
      ...all,
      take(key, nowMs) {
        const admission = all.take(key, nowMs);
        if (!admission.admitted)
          for (const each of counting) each.limiter.take(keyFor(each.plan, key), nowMs);
        return admission;
      },
    };
  };

/** The limits of a plan, the further ones kept in another way. */
export const furtherBy =
  (other: LimiterAlgorithm, main: LimiterAlgorithm = fixedWindow): LimiterAlgorithm =>
  (plan) =>
    severalLimits(limitsOf(plan, main, other));

/** Each counted apart, by windows unless given others. */
function limitsOf(
  plan: QuotaPlan,
  main: LimiterAlgorithm = fixedWindow,
  further: LimiterAlgorithm = fixedWindow,
): readonly [One, ...One[]] {
  const others = (plan.further ?? []).map((each) => ({ plan: each, limiter: further(each) }));
  return [{ plan, limiter: main(plan) }, ...others];
}

/** Another limit beside that of the plan: a share of its requests in a share of its window. */
export const beside =
  (other: LimiterAlgorithm, share: { readonly requests: number; readonly window: number }) =>
  (algorithm: LimiterAlgorithm): LimiterAlgorithm =>
  (plan) => {
    const shorter = { requests: plan.requests * share.requests, windowMs: plan.windowMs * share.window };
    return severalLimits([
      { plan, limiter: algorithm(plan) },
      { plan: shorter, limiter: other(shorter) },
    ]);
  };

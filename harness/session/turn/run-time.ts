import type { Budget } from '../../transport/pace/budget.ts';

/** What every run may take, in ms. */
const EVERY_RUN_MS = 30 * 60_000;
/** So many windows of the plan may be waited for until the limit is measured. */
const WINDOWS = 10;

/**
 * How long the run of a service may take where nobody has said it, in ms: for each request as long as the rate asks that is
 * kept to, and twice as long as an answer takes as a rule.
 */
export function mostRunMs({ plan, rate }: Budget, maxRequests: number, usualMs: number): number {
  const eachMs = rate.windowMs / rate.requests + 2 * usualMs;
  return EVERY_RUN_MS + WINDOWS * (plan?.windowMs ?? 0) + maxRequests * eachMs;
}

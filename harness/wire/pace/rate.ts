/** A quota: so many requests in any window of that length. */
export interface Rate {
  readonly requests: number;
  readonly windowMs: number;
}

/** What is polite where no plan is known. */
const COURTEOUS: Rate = { requests: 300, windowMs: 60_000 };
/** Of a known plan, this share is used: a limiter that counts a little differently is not met by accident. */
const SHARE_OF_PLAN = 0.9;

/** What a run keeps to, outside the bursts that meet a limit on purpose. */
export function keptRate(plan: Rate | null): Rate {
  if (plan === null) return COURTEOUS;
  return { requests: Math.max(1, Math.floor(SHARE_OF_PLAN * plan.requests)), windowMs: plan.windowMs };
}

/** How long the operations suite may take, in ms: to wait for the quota, and for answers. */
export const OPERATIONS_MS = 5 * 60_000;
/** What an answer is taken to last there, in ms. */
const ANSWER_MS = 200;
/** Of a window that is longer than that, the other half is left to the other suites. */
const SHARE_OF_WINDOW = 0.5;

/** How many requests to operations fit into that time, at the rate that is kept to. */
export function requestsToOperations(plan: Rate | null): number {
  const { requests, windowMs } = keptRate(plan);
  const admitted = Math.floor(requests * Math.max(OPERATIONS_MS / windowMs, SHARE_OF_WINDOW));
  return Math.max(1, Math.min(admitted, OPERATIONS_MS / ANSWER_MS));
}

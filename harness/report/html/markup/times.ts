import type { CheckResult, ServiceResult } from '../../results/results.ts';
import { duration } from '../../results/words/words.ts';

/** Time at work and time of waiting on purpose, ms. */
export interface Spent {
  readonly workMs: number;
  readonly waitedMs: number;
}

export function spentOn(checks: readonly CheckResult[]): Spent {
  const waitedMs = checks.reduce((sum, check) => sum + (check.waitedMs ?? 0), 0);
  const allMs = checks.reduce((sum, { durationMs }) => sum + durationMs, 0);
  return { workMs: Math.max(0, allMs - waitedMs), waitedMs };
}

/** Of a whole service: what its checks do not account for is work as well. */
export function spentBy({ durationMs, checks }: ServiceResult): Spent {
  const { waitedMs } = spentOn(checks);
  return { workMs: Math.max(0, durationMs - waitedMs), waitedMs };
}

/** Waits that are shorter are as good as none. */
const LEAST_WAIT_MS = 500;

/** `0.9 + 51 s` */
export function shortSpent({ workMs, waitedMs }: Spent): string {
  if (waitedMs < LEAST_WAIT_MS) return figure(workMs);
  const wait = figure(waitedMs);
  if (!wait.endsWith(' s') || wait.includes('min')) return `${figure(workMs)} + ${wait}`;
  return `${figure(Math.max(workMs, 50)).replace(/ s$/, '')} + ${wait}`;
}

/** `1.9 + 10 s waiting` */
export function spentInWords(spent: Spent): string {
  return spent.waitedMs < LEAST_WAIT_MS ? figure(spent.workMs) : `${shortSpent(spent)} waiting`;
}

/** `51 s waiting`, `no waits` */
export function waitInWords({ waitedMs }: Spent): string {
  return waitedMs < LEAST_WAIT_MS ? 'no waits' : `${figure(waitedMs)} waiting`;
}

/** Rounded as far as a column of figures needs: `14 ms`, `0.3 s`, `51 s`, `6 min 8 s`. */
function figure(ms: number): string {
  if (ms < 50) return `${Math.round(ms)} ms`;
  if (ms < 9_950) return `${(ms / 1_000).toFixed(1)} s`;
  return ms < 99_500 ? `${Math.round(ms / 1_000)} s` : duration(ms);
}

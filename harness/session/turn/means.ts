import type { ServiceConfig } from '../../config/service.ts';
import type { Sample } from '../../contract/clause.ts';
import type { ReadyCredentials } from '../../credential/ready-credentials.ts';
import { type Budget, BudgetExhausted } from '../../transport/pace/budget.ts';
import type { TransportOptions } from '../../transport/socket/options.ts';
import { Blocked } from '../../verdict.ts';
import type { EvidenceLog } from './evidence-log.ts';
import type { OutageWatch } from './outage.ts';
import type { Pauses } from './pause.ts';

/** What the parts of a session share: whatever goes out is budgeted, redacted, recorded, and stops when nobody is there. */
export interface SessionMeans {
  readonly config: ServiceConfig;
  /** The request that the contract documents. */
  readonly documented: Sample;
  readonly transport: TransportOptions;
  readonly budget: Budget;
  readonly outage: OutageWatch;
  readonly log: EvidenceLog;
  readonly pauses: Pauses;
  readonly credentials: ReadyCredentials;
  /** Uniform in [0, 1); what waits are spread by. */
  readonly random: () => number;
}

/** Why a request that was answered 429 shows nothing of what it was for. */
export function rateLimited({ config: { plan }, budget }: Pick<SessionMeans, 'config' | 'budget'>): string {
  const allowed =
    plan === null ? 'no plan is known' : `the plan allows ${plan.requests} in ${plan.windowMs / 1000} s`;
  return `answered 429 after ${budget.spent()} requests of this run (${allowed}): others spend this quota, or it is smaller than that`;
}

/** For what was to be sent within the budget. @throws Blocked where it is spent. */
export function blockedByBudget(error: unknown): never {
  if (error instanceof BudgetExhausted) throw new Blocked(error.message);
  throw error;
}

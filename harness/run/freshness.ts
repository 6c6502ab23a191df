import type { Suite } from '../check/check.ts';
import { applicabilityOf } from '../check/judge.ts';
import type { ServiceConfig } from '../config/service.ts';

/** Whether each suite is to meet a provider that nobody has asked anything yet. */
export function startsFresh({ provider }: ServiceConfig): boolean {
  return 'freshForEachSuite' in provider && provider.freshForEachSuite;
}

/** Whether any check of a suite applies to the service. */
export function asksAnything({ checks }: Pick<Suite, 'checks'>, config: ServiceConfig): boolean {
  return checks.some((check) => applicabilityOf(check, config).reasonNot === null);
}

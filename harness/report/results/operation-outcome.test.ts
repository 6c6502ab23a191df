import { describe, expect, it } from 'vitest';
import { operationResults } from '../fixtures/sample-results.ts';
import { operationOutcomes } from './operation-outcome.ts';
import type { ServiceResult } from './results.ts';

const [service] = operationResults().services as [ServiceResult];
const outcomes = (of: ServiceResult) =>
  operationOutcomes(of).map(({ operation, outcome, judged }) => [operation.split('<')[0], outcome, judged]);

describe('the outcome of an operation', () => {
  it('is the worst of the checks that judged it, and skipped if none did', () => {
    expect(outcomes(service).slice(0, 3)).toEqual([
      ['GET /v1/orders', 'fail', 2],
      ['GET /v1/orders/{id}', 'warning', 2],
      ['DELETE /v1/orders/{id}', 'skipped', 0],
    ]);
  });

  it('is known where the failure is listed', () => {
    const checks = service.checks.map((check) => ({ ...check, outcome: 'known' as const }));
    expect(outcomes({ ...service, checks })[0]).toEqual(['GET /v1/orders', 'known', 2]);
  });

  it('is no pass where each of its checks is blocked', () => {
    const checks = service.checks.map(({ subjects = [], ...check }) => ({
      ...check,
      subjects: subjects.map((each) => ({ ...each, outcome: 'blocked' as const })),
    }));
    expect(outcomes({ ...service, checks })[0]).toEqual(['GET /v1/orders', 'skipped', 0]);
  });
});

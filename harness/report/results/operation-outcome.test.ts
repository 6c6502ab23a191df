import { describe, expect, it } from 'vitest';
import { operationResults, resultsOf } from '../fixtures/sample-results.ts';
import { renderMarkdown } from '../formats/markdown.ts';
import { renderPage } from '../html/page.ts';
import { verdictText } from '../terminal/terminal.ts';
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

describe('the operations that fail', () => {
  it('are named before all else in terminal, page and summary', () => {
    const results = operationResults();
    const sentence = '1 of 4 operations fails: GET /v1/orders';
    const terminal = verdictText(results, { color: false, width: 100, verbosity: 'normal' });
    expect(terminal).toContain(`\n  ${sentence}.\n  It rests on`);
    expect(renderPage(results)).toContain(`<p class="lede"><strong>${sentence}. 1 failure.</strong>`);
    expect(renderMarkdown(results)).toContain(`**${sentence}**`);
  });

  it('are those with warnings as well in a strict run', () => {
    const { services } = operationResults();
    expect(renderMarkdown(resultsOf(services, { strict: true }))).toContain(
      '2 of 4 operations fail: GET /v1/orders, GET /v1/orders/{id}',
    );
  });
});

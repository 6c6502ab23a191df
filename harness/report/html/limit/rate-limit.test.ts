import { describe, expect, it } from 'vitest';
import { conformingService, failingService, resultsOf } from '../../fixtures/sample-results.ts';
import { loadOf, rateLimits } from './rate-limit.ts';

describe('the picture of a rate limit', () => {
  const search = failingService();

  it('says in words what it shows, and what is wrong', () => {
    const told = loadOf(search);
    expect(told?.words).toEqual(['100 in 60 s', '7 refused']);
    expect(told?.problem).toContain(
      'expected the 101st request of the window to be the first refused, got 104th',
    );
  });

  it('counts what was admitted in each window, and marks when it went wrong', () => {
    const load = loadOf(search)?.load;
    expect(load?.plan).toBe(100);
    expect(load?.admitted.filter(({ takes }) => takes === 1)).toHaveLength(106);
    expect(load?.refused).toHaveLength(7);
    expect(load?.windows[0]).toMatchObject({ fromMs: Date.parse('2026-11-21T06:38:14.120Z') });
    expect(load?.wrongAtMs).toBe(Date.parse('2026-11-21T06:38:14.120Z') + 1_200);
  });

  it('draws the plan, refusals, waits and the wrong moment', () => {
    const page = String(rateLimits(resultsOf([search])));
    for (const part of [
      'class="plan"',
      'class="load"',
      'class="refused"',
      'fill="url(#rate-search)"',
      '<line class="wrong"',
    ]) {
      expect(page).toContain(part);
    }
  });

  it('tells the time of its axis, which is not that of the run where it is simulated', () => {
    const { run, ...results } = resultsOf([search]);
    const page = String(rateLimits({ ...results, run: { ...run, finishedAt: run.startedAt } }));
    expect(page).toBe(String(rateLimits(resultsOf([search]))));
  });

  it('is left out where no limit is stated and none was met', () => {
    expect(rateLimits(resultsOf([conformingService()]))).toBeNull();
  });

  it('has no line for the plan where there is none, and survives evidence that cannot be read', () => {
    const evidence = { ...search.evidence, bad: { kind: 'burst', id: 'bad' } };
    const page = String(rateLimits(resultsOf([{ ...search, plan: null, evidence }])));
    expect(page).toContain('class="load"');
    expect(page).not.toContain('<line class="plan"');
  });
});

import { describe, expect, it } from 'vitest';
import { conformingService, resultsOf } from '../fixtures/sample-results.ts';
import { verdictOf } from './verdict.ts';
import { verdictSentence } from './words.ts';

describe('the sentence of a verdict', () => {
  const said = (service: Partial<ReturnType<typeof conformingService>>) => {
    const results = resultsOf([{ ...conformingService('search'), ...service }]);
    return verdictSentence(verdictOf(results), results);
  };

  it('leaves the name of a service as it is', () => {
    expect(said({ trouble: 'it is gone', checks: [] })).toBe('search: it is gone; search: no check ran.');
  });

  it('begins with a capital otherwise', () => {
    const results = resultsOf([], { interrupted: true, interruption: 'SIGINT' });
    expect(verdictSentence(verdictOf(results), results)).toMatch(/^The run was cut short: SIGINT/);
  });
});

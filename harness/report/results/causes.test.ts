import { describe, expect, it } from 'vitest';
import { conformingService, diagnosedResults, resultsOf, sampleResults } from '../fixtures/sample-results.ts';
import { causeEntries, causesHeadline } from './causes.ts';
import type { Results } from './results.ts';

/** Of which the causes explain everything, each in one sentence. */
function explained(...sentences: readonly string[]): Results {
  const results = diagnosedResults();
  const [cause] = results.causes ?? [];
  const findings = [...(cause?.findings ?? []), ...(results.unexplained ?? [])];
  return {
    ...results,
    causes: sentences.map((sentence) => ({ ...cause, sentence, findings }) as NonNullable<typeof cause>),
    unexplained: [],
  };
}

describe('what is wrong, in one line', () => {
  it.each([
    ['is the only cause', explained('A wrong key is served'), '1 cause, 5 findings: a wrong key is served'],
    ['keeps the capital of a name', explained('HEAD has a body'), '1 cause, 5 findings: HEAD has a body'],
    ['counts a finding of two causes once', explained('One', 'Another'), '2 causes explain 5 of 5 findings'],
    ['says how much is explained', diagnosedResults(), '1 cause explains 2 of 5 findings'],
    [
      'says that nothing is',
      { ...explained(), unexplained: diagnosedResults().unexplained ?? [] },
      '3 findings',
    ],
    ['is nothing where nobody looked', sampleResults(), null],
    [
      'is nothing where nothing is',
      { ...resultsOf([conformingService()]), causes: [], unexplained: [] },
      null,
    ],
  ])('%s', (_, results, line) => {
    expect(causesHeadline(results)).toBe(line);
  });
});

describe('what is told', () => {
  it('are the causes and then each finding without one, by what came', () => {
    expect(
      causeEntries(diagnosedResults()).map(({ sentence, outcome, findings }) => [
        sentence.slice(0, 60),
        outcome,
        findings.length,
      ]),
    ).toEqual([
      ['A request without a credential is answered 200', 'fail', 2],
      ['expected the 101st request of the window to be the first ref', 'fail', 1],
      [expect.stringMatching(/^expected a title, got /), 'fail', 1],
      [expect.stringMatching(/^got /), 'warning', 1],
    ]);
  });

  it('leaves out what the results do not have', () => {
    const [, ...others] = diagnosedResults().services;
    expect(causeEntries({ ...diagnosedResults(), services: others }).map(({ cause }) => cause)).toEqual([
      null,
      null,
    ]);
  });
});

import { describe, expect, it } from 'vitest';
import { manyResults } from '../../fixtures/many-results.ts';
import { HOSTILE } from '../../fixtures/sample-evidence.ts';
import {
  conformingService,
  diagnosedResults,
  resultsOf,
  sampleResults,
} from '../../fixtures/sample-results.ts';
import { headlineOf } from './headline.ts';

const right = conformingService();
const blocked = (name: string) => ({ ...conformingService(name), trouble: 'nobody answers' });

describe('the verdict as people are told it', () => {
  it.each([
    ['one service that conforms', resultsOf([right]), 'pass', 'realtime conforms', '10 checks passed.'],
    [
      'several',
      resultsOf([right, conformingService('chat'), conformingService('mail')]),
      'pass',
      'realtime, chat and mail conform',
      '30 checks passed.',
    ],
    ['more than are named', manyOf(5), 'pass', 'All 5 services conform', '50 checks passed.'],
    [
      'causes',
      diagnosedResults(),
      'fail',
      'search and messaging do not conform',
      '1 cause explains 1 of 3 failures.',
    ],
    [
      'failures whose causes nobody looked for',
      sampleResults(),
      'fail',
      'search and messaging do not conform',
      '3 failures.',
    ],
    [
      'a fleet',
      manyResults(20, 100),
      'fail',
      'All 20 services do not conform',
      '1 cause explains 17 of 20 failures.',
    ],
    [
      'what could not be judged',
      resultsOf([right, blocked('chat')]),
      'blocked',
      'chat could not be judged',
      'chat: nobody answers.',
    ],
    ['no service', resultsOf([]), 'blocked', 'Nothing could be judged', 'No service ran.'],
    [
      'an interruption',
      resultsOf([right], { interrupted: true, interruption: 'SIGINT' }),
      'partial',
      'Interrupted after 1 min 2 s: 13 of 14 checks judged',
      'The run was cut short: SIGINT.',
    ],
    [
      'a selection',
      resultsOf([right], { selection: { suites: ['auth'], checks: [], partial: false } }),
      'partial',
      '13 of 14 checks ran: no verdict',
      'None of them failed.',
    ],
    [
      'our own fault',
      resultsOf([right], { faults: ['it broke'] }),
      'error',
      'conform itself failed',
      'it broke',
    ],
  ] as const)('%s', (_, results, sign, sentence, lead) => {
    expect(headlineOf(results)).toMatchObject({ sign, sentence, lead });
  });

  it('names services and counts in the title of a page', () => {
    expect(headlineOf(diagnosedResults()).title).toBe('search, messaging: 1 cause, 3 failures');
    expect(headlineOf(resultsOf([right])).title).toBe('realtime conforms');
  });

  it('is safe to show whatever broke', () => {
    const { lead } = headlineOf(resultsOf([right], { faults: [HOSTILE] }));
    for (const hidden of ['\n', '\u001b', '\u202e']) expect(lead).not.toContain(hidden);
  });
});

function manyOf(n: number) {
  return resultsOf(Array.from({ length: n }, (_, at) => conformingService(`service-${at}`)));
}

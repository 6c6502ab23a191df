import { expect, it } from 'vitest';
import { resultsOf, sampleResults } from '../../fixtures/sample-results.ts';
import { notApplying } from './not-applying.ts';

it('tells suites that do not apply at all apart from single checks', () => {
  const { suites, single } = notApplying(sampleResults());
  expect(suites.map(({ suite, reason, judged }) => [suite, reason, judged.length])).toEqual([
    ['websocket', 'the service config names no websocket', 3],
  ]);
  expect(single).toEqual([]);
});

it('takes the reason that most checks of a suite give, and keeps single ones by theirs', () => {
  const [search] = sampleResults().services;
  if (search === undefined) throw new Error('no sample');
  const [first, ...others] = search.checks;
  if (first === undefined) throw new Error('no check');
  const odd = {
    ...first,
    id: 'websocket.odd',
    suite: 'websocket',
    outcome: 'skipped' as const,
    message: 'another',
  };
  const lone = { ...first, outcome: 'skipped' as const, message: 'not here' };
  const { suites, single } = notApplying(resultsOf([{ ...search, checks: [lone, ...others, odd] }]));
  expect(suites.map(({ reason, judged }) => [reason, judged.length])).toEqual([
    ['the service config names no websocket', 3],
  ]);
  expect(single.map(({ suite, reason }) => [suite, reason])).toEqual([['auth', 'not here']]);
});

import { expect, it } from 'vitest';
import { failingService, resultsOf, sampleCheck, sampleResults } from '../fixtures/sample-results.ts';
import { notApplying } from './tally.ts';

it('tells suites that do not apply at all apart from single checks', () => {
  const { suites, single } = notApplying(sampleResults());
  expect(suites.map(({ suite, reason, judged }) => [suite, reason, judged.length])).toEqual([
    ['websocket', 'the service config names no websocket', 3],
  ]);
  expect(single).toEqual([]);
});

it('takes the reason that most checks of a suite give, and keeps single ones by theirs', () => {
  const odd = sampleCheck('skipped', { id: 'websocket.odd', message: 'another' });
  const lone = sampleCheck('skipped', { id: 'auth.lone', suite: 'auth', message: 'not here' });
  const search = failingService();
  const { suites, single } = notApplying(resultsOf([{ ...search, checks: [lone, ...search.checks, odd] }]));
  expect(suites.map(({ reason, judged }) => [reason, judged.length])).toEqual([
    ['the service config names no websocket', 3],
  ]);
  expect(single.map(({ suite, reason }) => [suite, reason])).toEqual([['auth', 'not here']]);
});

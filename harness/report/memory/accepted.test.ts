import { describe, expect, it } from 'vitest';
import { conformingService, resultsOf, sampleCheck } from '../fixtures/sample-results.ts';
import type { ListedObservation, Observation } from '../results/results.ts';
import { verdictOf } from '../results/run-verdict.ts';
import { withDrift } from './drift.ts';

const PLACE = 'accepted/search.yaml:3';

interface Case {
  readonly key?: string;
  readonly seen?: Partial<Observation>;
  /** What the checks of the service observe. */
  readonly keys?: readonly string[];
  readonly selected?: boolean;
  readonly state: ListedObservation['state'];
  readonly note?: string;
}

function run({ key = 'limits.algorithm', seen, keys = ['limits.algorithm'], selected }: Case) {
  const sample = conformingService('search');
  const observation = { key, value: 'none', check: key, accepted: 'none', acceptedAt: PLACE, ...seen };
  const service = {
    ...sample,
    checks: [...sample.checks, ...keys.map((records) => sampleCheck('pass', { id: records, records }))],
    accepted: [{ key, place: PLACE, state: 'not observed' as const, note: null }],
    observations: seen === undefined ? [] : [observation],
  };
  const selection = selected ? { selection: { suites: ['auth'], checks: [], partial: true } } : {};
  return withDrift(resultsOf([service], selection));
}

const CASES: Readonly<Record<string, Case>> = {
  'is seen again': { seen: {}, state: 'held' },
  'is another now': { seen: { value: 'queue' }, state: 'drifted' },
  'is not seen today': { state: 'not observed' },
  'nothing observes': {
    key: 'limits.algoritm',
    state: 'unmatched',
    note: 'nothing is observed under this key: did you mean limits.algorithm?',
  },
  'nothing observes, nor anything like it': {
    key: 'x',
    state: 'unmatched',
    note: 'nothing is observed under this key',
  },
  'may be among what was not selected': { key: 'limits.algoritm', selected: true, state: 'not observed' },
  'may be, by a record that does not tell': { key: 'limits.algoritm', keys: [], state: 'not observed' },
};

describe('an accepted observation', () => {
  it.for(Object.entries(CASES))('that %s', ([_name, each]) => {
    const { state, note = null } = each;
    const results = run(each);
    expect(results.services[0]?.accepted).toEqual([
      { key: each.key ?? 'limits.algorithm', place: PLACE, state, note },
    ]);
    expect(results.run.exitCode).toBe(state === 'drifted' || state === 'unmatched' ? 1 : 0);
  });

  it('that nothing observes makes the run fail in its own words', () => {
    expect(verdictOf(run({ key: 'limits.algoritm', state: 'unmatched' }))).toMatchObject({
      word: 'accepted list out of date',
      reasons: [
        `${PLACE}: limits.algoritm is unmatched: nothing is observed under this key: did you mean limits.algorithm?`,
      ],
    });
  });
});

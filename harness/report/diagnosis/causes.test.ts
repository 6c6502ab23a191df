import { describe, expect, it } from 'vitest';
import { failingService, resultsOf, sampleCheck, sampleResults } from '../fixtures/sample-results.ts';
import { validateResults } from '../results/read-results.ts';
import type { Results } from '../results/results.ts';
import { withCauses } from './causes.ts';
import { dictionary, type Entry } from './diagnose.ts';

const KNOWN: readonly Entry[] = [
  {
    defect: 'no-key-needed',
    sentence: 'A request without a credential is answered {status:200}',
    services: ['realtime', 'search'],
    under: ['search, bearer'],
    own: ['auth.missing-credential'],
    certain: {
      'auth.missing-credential': [['N with a JSON body of N resources']],
      'limits.exact': [['104th']],
    },
  },
  {
    defect: 'silent-429',
    sentence: 'The 429 has no Retry-After header',
    services: ['realtime'],
    under: ['realtime, bearer'],
    own: ['limits.retry-after'],
    certain: {
      'limits.retry-after': [['expected Retry-After with a N, found none']],
      'limits.refusal-json': [['expected Retry-After with a N, found none']],
    },
  },
];

/** Two services with the same faults. */
function twice(): Results {
  const [, ...others] = sampleResults().services;
  const failing = failingService();
  const same = sampleCheck('warning', { id: 'limits.refusal-json' });
  const first = { ...failing, checks: [...failing.checks, same] };
  return resultsOf([first, { ...first, service: 'second' }, ...others]);
}

const inBoth = (...checks: readonly string[]) =>
  ['search', 'second'].flatMap((service) => checks.map((check) => ({ service, check })));

describe('results with their causes', () => {
  const results = withCauses(twice(), KNOWN);

  it('have one for the same fault of several services, failures before warnings', () => {
    expect(results.causes).toEqual([
      {
        sentence: 'A request without a credential is answered 200',
        alternatives: [],
        confidence: 'high',
        findings: inBoth('auth.missing-credential', 'limits.exact'),
        evidence: 'e4',
        command: 'conform serve search --defect no-key-needed',
      },
      {
        sentence: 'The 429 has no Retry-After header',
        alternatives: [],
        confidence: 'high',
        findings: inBoth('limits.retry-after', 'limits.refusal-json'),
        evidence: 'b1',
        command: 'conform serve realtime --defect silent-429',
      },
    ]);
  });

  it('say of which findings the cause is not known, and hide none', () => {
    const found = results.services.flatMap(({ service, checks }) =>
      checks
        .filter(({ outcome }) => outcome === 'fail' || outcome === 'warning')
        .map(({ id }) => `${service} ${id}`),
    );
    const told = [
      ...(results.causes ?? []).flatMap(({ findings }) => findings),
      ...(results.unexplained ?? []),
    ];
    expect(told.map(({ service, check }) => `${service} ${check}`).sort()).toEqual(found.sort());
    expect(results.services).toEqual(twice().services);
  });

  it('are of the shape that is shipped', () => {
    expect(validateResults(structuredClone(results))).toEqual(results);
  });

  it('keep the causes that they have', () => {
    expect(withCauses(results, [])).toBe(results);
  });

  it('say that there are none where nothing failed', () => {
    expect(withCauses(resultsOf([]), KNOWN)).toMatchObject({ causes: [], unexplained: [] });
  });
});

describe('the fault dictionary', () => {
  it('names each fault once, by checks that notice it', () => {
    const names = dictionary().map(({ defect }) => defect);
    expect(new Set(names).size).toBe(names.length);
    for (const { defect, certain, possible = {}, services, under } of dictionary()) {
      expect([defect, services.length > 0, under.length > 0]).toEqual([defect, true, true]);
      expect(
        Object.keys(certain).filter((id) => id in possible),
        defect,
      ).toEqual([]);
    }
  });
});

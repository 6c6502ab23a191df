import { describe, expect, it } from 'vitest';
import type { Level, Outcome } from '../../contract/outcome.ts';
import { conformingService, resultsOf } from '../fixtures/sample-results.ts';
import type { CheckResult, Results, ServiceResult } from './results.ts';
import { exitCodeOf, serviceVerdict, verdictOf } from './run-verdict.ts';
import { verdictSentence } from './words.ts';

function having(...outcomes: readonly (readonly [Outcome, Level])[]): ServiceResult {
  const template = conformingService().checks[0];
  if (!template) throw new Error('the sample has no check');
  const checks = outcomes.map(
    ([outcome, level], index): CheckResult => ({ ...template, id: `x.${index}`, outcome, level }),
  );
  return { ...conformingService('search'), checks };
}

const PASS = ['pass', 'MUST'] as const;
const FAIL = ['fail', 'MUST'] as const;
const WARNING = ['warning', 'SHOULD'] as const;
const CUT: Partial<Results['run']> = { interrupted: true, interruption: 'SIGINT' };

const CASES: readonly {
  readonly name: string;
  readonly services: readonly ServiceResult[];
  readonly run?: Partial<Results['run']>;
  readonly exitCode: number;
}[] = [
  {
    name: 'all pass',
    services: [having(PASS, ['observed', 'NONE'], ['skipped', 'MUST'], ['known', 'MUST'])],
    exitCode: 0,
  },
  { name: 'a warning', services: [having(PASS, WARNING)], exitCode: 0 },
  {
    name: 'a warning in a strict run',
    services: [having(PASS, WARNING)],
    run: { strict: true },
    exitCode: 1,
  },
  { name: 'a failure', services: [having(PASS, FAIL)], exitCode: 1 },
  { name: 'a blocked MUST check', services: [having(PASS, ['blocked', 'MUST'])], exitCode: 3 },
  { name: 'a blocked SHOULD check', services: [having(PASS, ['blocked', 'SHOULD'])], exitCode: 0 },
  { name: 'a blocked check without authority', services: [having(PASS, ['blocked', 'NONE'])], exitCode: 0 },
  {
    name: 'a failure beside a blocked MUST check',
    services: [having(FAIL, ['blocked', 'MUST'])],
    exitCode: 1,
  },
  {
    name: 'a failure in a service that then broke down',
    services: [{ ...having(FAIL), trouble: 'gone' }],
    exitCode: 1,
  },
  {
    name: 'a service in trouble',
    services: [having(PASS), { ...having(PASS), trouble: 'unreachable' }],
    exitCode: 3,
  },
  {
    name: 'a service in which all is skipped',
    services: [having(PASS), having(['skipped', 'MUST'])],
    exitCode: 3,
  },
  { name: 'a service in which all is blocked', services: [having(['blocked', 'SHOULD'])], exitCode: 3 },
  { name: 'a service without checks', services: [having()], exitCode: 3 },
  { name: 'no service', services: [], exitCode: 3 },
  { name: 'an interrupted run', services: [having(PASS)], run: CUT, exitCode: 3 },
  { name: 'an interrupted run with a failure', services: [having(FAIL)], run: CUT, exitCode: 3 },
  { name: 'a harness error beside a failure', services: [having(FAIL, ['error', 'MUST'])], exitCode: 70 },
  { name: 'a fault of the harness', services: [having(PASS)], run: { faults: ['it broke'] }, exitCode: 70 },
  {
    name: 'a fault in an interrupted run',
    services: [having(PASS)],
    run: { ...CUT, faults: ['it broke'] },
    exitCode: 70,
  },
];

describe('the exit code', () => {
  it.each(CASES)('of $name is $exitCode', ({ services, run, exitCode }) => {
    expect(exitCodeOf(resultsOf(services, run))).toBe(exitCode);
  });
});

describe('the verdict', () => {
  it('gives its reasons, and what else was found beside them', () => {
    const verdict = verdictOf(resultsOf([having(FAIL, FAIL, ['blocked', 'MUST'])], CUT));
    expect(verdict).toEqual({
      exitCode: 3,
      word: 'inconclusive',
      reasons: ['the run was cut short: SIGINT'],
      besides: ['2 checks failed in search', '1 MUST check blocked in search'],
    });
  });

  it('on a service leaves out what befell the others', () => {
    const [fine, bad] = [having(PASS), { ...having(FAIL), service: 'messaging' }];
    expect(serviceVerdict(fine, { strict: false }).word).toBe('conforms');
    expect(serviceVerdict(bad, { strict: false }).word).toBe('does not conform');
  });
});

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

describe('a selection', () => {
  const selection = { suites: ['auth'], checks: [], partial: false };
  const part = (service: ServiceResult): ServiceResult => ({ ...service, catalogue: 303 });

  it('never conforms: what was not asked is not known', () => {
    const results = resultsOf([part(having(PASS, PASS))], { selection });
    const verdict = verdictOf(results);
    expect([verdict.exitCode, verdict.word]).toEqual([0, 'no verdict']);
    expect(verdictSentence(verdict, results)).toBe(
      'Only 2 of 303 checks were selected; none of them failed.',
    );
  });

  it('is inconclusive in a strict run, unless that is allowed', () => {
    const strict = (partial: boolean) =>
      verdictOf(resultsOf([part(having(PASS))], { strict: true, selection: { ...selection, partial } }));
    expect([strict(false).exitCode, strict(false).reasons]).toEqual([
      3,
      ['a strict run is about all checks, and only 1 of 303 checks were selected (--partial allows that)'],
    ]);
    expect([strict(true).exitCode, strict(true).word]).toEqual([0, 'no verdict']);
  });

  it('that fails does not conform, and says what it looked at', () => {
    const verdict = verdictOf(resultsOf([part(having(PASS, FAIL))], { selection }));
    expect([verdict.exitCode, verdict.word]).toEqual([1, 'does not conform']);
    expect(verdict.besides).toEqual(['only 2 of 303 checks were selected']);
  });
});

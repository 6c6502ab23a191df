import { describe, expect, it } from 'vitest';
import type { Level } from '../../base/authority.ts';
import type { Outcome } from '../../base/verdict.ts';
import { conformingService, resultsOf, sampleCheck } from '../fixtures/sample-results.ts';
import type { Results, ServiceResult } from './results.ts';
import { exitCodeOf, serviceVerdict, verdictOf } from './run-verdict.ts';
import { verdictSentence } from './words/words.ts';

function having(...outcomes: readonly (readonly [Outcome, Level])[]): ServiceResult {
  const checks = outcomes.map(([outcome, level], index) =>
    sampleCheck('pass', { id: `x.${index}`, outcome, level }),
  );
  return { ...conformingService('search'), checks };
}

const PASS = ['pass', 'MUST'] as const;
const FAIL = ['fail', 'MUST'] as const;
const WARNING = ['warning', 'SHOULD'] as const;
const CUT: Partial<Results['run']> = { interrupted: true, interruption: 'SIGINT' };

const MUST_BLOCKED = ['blocked', 'MUST'] as const;
const IDLE = [['observed', 'NONE'] as const, ['skipped', 'MUST'] as const, ['known', 'MUST'] as const];
const FAULT = { faults: ['it broke'] };

const CASES: readonly (readonly [
  name: string,
  exitCode: number,
  services: readonly ServiceResult[],
  run?: Partial<Results['run']>,
])[] = [
  ['all pass', 0, [having(PASS, ...IDLE)]],
  ['a warning', 0, [having(PASS, WARNING)]],
  ['a warning in a strict run', 1, [having(PASS, WARNING)], { strict: true }],
  ['a failure', 1, [having(PASS, FAIL)]],
  ['a blocked MUST check', 3, [having(PASS, MUST_BLOCKED)]],
  ['a blocked SHOULD check', 0, [having(PASS, ['blocked', 'SHOULD'])]],
  ['a blocked check without authority', 0, [having(PASS, ['blocked', 'NONE'])]],
  ['a failure beside a blocked MUST check', 1, [having(FAIL, MUST_BLOCKED)]],
  ['a failure in a service that then broke down', 1, [{ ...having(FAIL), trouble: 'gone' }]],
  ['a service in trouble', 3, [having(PASS), { ...having(PASS), trouble: 'unreachable' }]],
  ['a service in which all is skipped', 3, [having(PASS), having(['skipped', 'MUST'])]],
  ['a service in which all is blocked', 3, [having(['blocked', 'SHOULD'])]],
  ['a service without checks', 3, [having()]],
  ['no service', 3, []],
  ['an interrupted run', 3, [having(PASS)], CUT],
  ['an interrupted run with a failure', 3, [having(FAIL)], CUT],
  ['a harness error beside a failure', 70, [having(FAIL, ['error', 'MUST'])]],
  ['a fault of the harness', 70, [having(PASS)], FAULT],
  ['a fault in an interrupted run', 70, [having(PASS)], { ...CUT, ...FAULT }],
];

describe('the exit code', () => {
  it.for(CASES)('of %s is %d', ([_name, exitCode, services, run]) => {
    expect(exitCodeOf(resultsOf(services, run))).toBe(exitCode);
  });
});

describe('the verdict', () => {
  it('tells an outage before an untidy list, and a failure before both', () => {
    const entry = {
      check: 'x.0',
      got: [],
      reason: 'r',
      owner: 'o',
      until: '2026-11-01',
      place: 'known/search.yaml:2',
    };
    const known = [{ ...entry, state: 'expired' as const, note: 'it is over' }];
    const verdictOn = (service: ServiceResult) => verdictOf(resultsOf([{ ...service, known }]));
    expect(verdictOn({ ...having(PASS), trouble: 'the key is refused' })).toEqual({
      exitCode: 3,
      word: 'inconclusive',
      reasons: ['search: the key is refused'],
      besides: ['known/search.yaml:2: x.0 is expired: it is over'],
    });
    const side = { trouble: 'the key is refused', troubleBy: 'config' } as const;
    expect(verdictOn({ ...having(PASS), ...side }).reasons).toEqual([
      "search: the key is refused (fault of conform's config)",
    ]);
    expect(verdictOn({ ...having(FAIL), trouble: 'it is gone' }).word).toBe('does not conform');
    expect(verdictOn(having(PASS)).word).toBe('known list out of date');
  });

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
    expect(said({ trouble: 'it is gone', checks: [] })).toBe('search: it is gone.');
    expect(said({ checks: [] })).toBe('search: no check ran.');
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
    expect(verdictSentence(verdict, results)).toBe('Only 2 of 303 checks were selected; nothing failed.');
  });

  it('is inconclusive in a strict run, unless that is allowed', () => {
    const strict = (partial: boolean) =>
      verdictOf(resultsOf([part(having(PASS))], { strict: true, selection: { ...selection, partial } }));
    expect([strict(false).exitCode, strict(false).reasons]).toEqual([
      3,
      ['a strict run leaves nothing out, and only 1 of 303 checks were selected (--partial allows that)'],
    ]);
    expect([strict(true).exitCode, strict(true).word]).toEqual([0, 'no verdict']);
  });

  it('that fails does not conform, and says what it looked at', () => {
    const verdict = verdictOf(resultsOf([part(having(PASS, FAIL))], { selection }));
    expect([verdict.exitCode, verdict.word]).toEqual([1, 'does not conform']);
    expect(verdict.besides).toEqual(['2 of 303 checks were selected']);
  });
});

describe('a run whose operations were capped', () => {
  const coverage = (calls: readonly [number, number], further: readonly [number, number] = [9, 0]) => [
    { request: 'call', sent: calls[0], capped: calls[1] },
    { request: 'missing', sent: further[0], capped: further[1] },
    { request: 'extra', sent: 1, capped: 0 },
  ];
  const capped: ServiceResult = { ...having(PASS, PASS), coverage: coverage([120, 380]) };
  const CALLED = '120 of 500 operations were exercised';

  it.each([
    ['operations', coverage([120, 380], [9, 40]), 0, `Only ${CALLED}; nothing failed.`],
    [
      'what is tried beside the calls',
      coverage([12, 0], [9, 40]),
      0,
      'Only 10 of 50 further requests to operations were sent; nothing failed.',
    ],
    ['nothing', coverage([12, 0]), 0, '1 check judged over 1 service.'],
  ])('says how much that is: %s left out', (_, found, exitCode, sentence) => {
    const results = resultsOf([{ ...having(PASS), coverage: found }]);
    const verdict = verdictOf(results);
    expect([verdict.exitCode, verdictSentence(verdict, results)]).toEqual([exitCode, sentence]);
  });

  it('is inconclusive in a strict run, unless that is allowed', () => {
    const strict = (partial: boolean) => verdictOf(resultsOf([capped], { strict: true, partial }));
    expect([strict(false).exitCode, strict(false).reasons]).toEqual([
      3,
      [`a strict run leaves nothing out, and only ${CALLED} (--partial allows that)`],
    ]);
    expect([strict(true).exitCode, strict(true).word]).toEqual([0, 'no verdict']);
  });

  it('says which service it is about, and that it is a selection as well', () => {
    const selection = { suites: ['operations'], checks: [], partial: false };
    const other: ServiceResult = { ...having(PASS), service: 'stock', catalogue: 3 };
    const { reasons } = verdictOf(resultsOf([{ ...capped, catalogue: 303 }, other], { selection }));
    expect(reasons).toEqual(['3 of 306 checks were selected', `${CALLED} in search`]);
  });

  it('does not conform where something failed, and is not the whole of it', () => {
    const verdict = verdictOf(resultsOf([{ ...capped, checks: having(PASS, FAIL).checks }]));
    expect([verdict.word, verdict.besides]).toEqual(['does not conform', [CALLED]]);
  });
});

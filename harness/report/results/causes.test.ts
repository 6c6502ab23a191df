import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../base/verdict.ts';
import {
  conformingService,
  diagnosedResults,
  failingService,
  resultsOf,
  sampleCheck,
  sampleResults,
} from '../fixtures/sample-results.ts';
import { causeEntries, problemOf, wrongInBrief } from './causes.ts';
import type { Change, Results } from './results.ts';

/** After a night on which these checks of search were so. */
function following(
  changes: Readonly<Record<string, Change['state']>>,
  results = diagnosedResults(),
): Results {
  const since = '2026-11-14T03:00:00.000Z';
  return {
    ...results,
    history: {
      runs: [{ id: 'before', startedAt: since, exitCode: 1, failed: 1 }],
      changes: Object.entries(changes).map(([check, state]) => ({
        service: 'search',
        check,
        state,
        runs: state === 'still failing' ? 9 : 1,
        since,
      })),
      flaky: [],
      notes: [],
    },
  };
}

const ONE = resultsOf([
  { ...failingService(), checks: failingService().checks.filter(({ id }) => id === 'limits.exact') },
]);

describe('what is wrong, in one line', () => {
  it.each([
    ['counts failures and warnings', diagnosedResults(), '3 failures and 2 warnings'],
    [
      'counts what is new and what is back',
      following({ 'limits.exact': 'new', 'limits.retry-after': 'new', 'auth.missing-credential': 'back' }),
      '3 failures and 2 warnings, 2 of them new, 1 of them back',
    ],
    ['says of one that it is new', following({ 'limits.exact': 'new' }, ONE), '1 failure, new'],
    ['is empty where nothing is', resultsOf([conformingService()]), ''],
  ])('%s', (_, results, line) => {
    expect(wrongInBrief(results)).toBe(line);
  });
});

describe('what is told', () => {
  const told = (results: Results) =>
    causeEntries(results).map(({ sentence, outcome, findings }) => [
      sentence.slice(0, 60),
      outcome,
      findings.length,
    ]);
  const CAUSE = ['A request without a credential is answered 200', 'fail', 2];
  const FIRST_REFUSED = ['expected the 101st request of the window to be the first ref', 'fail', 1];
  const TITLE = [expect.stringMatching(/^expected a title, got /), 'fail', 1];
  const WARNING = [expect.stringMatching(/^got /), 'warning', 1];

  it('are the causes and then each finding without one, by what came', () => {
    expect(told(diagnosedResults())).toEqual([CAUSE, FIRST_REFUSED, TITLE, WARNING]);
  });

  it('has what is new first, and then what is back', () => {
    const changes = { 'auth.missing-credential': 'still failing', 'limits.exact': 'new' } as const;
    expect(told(following(changes))).toEqual([FIRST_REFUSED, CAUSE, TITLE, WARNING]);
    expect(told(following({ ...changes, 'limits.exact': 'back' }))[0]).toEqual(FIRST_REFUSED);
  });

  it('has first what lets a caller in without the right credential', () => {
    const finding = (id: string, decisive: string) => ({
      ...sampleCheck('fail', { id, suite: 'auth' }),
      id,
      evidence: [decisive],
      decisive,
    });
    const shown = (credential: string, status: number) => ({
      kind: 'exchange',
      credential,
      response: { status },
    });
    const results = resultsOf([
      {
        ...conformingService(),
        checks: [finding('auth.scheme-case', 'e1'), finding('auth.trailing-slash', 'e2')],
        evidence: { e1: shown('right', 401), e2: shown('none', 200) },
      },
    ]);
    const unexplained = results.services.flatMap(({ service, checks }) =>
      checks.map(({ id }) => ({ service, check: id })),
    );
    const entries = causeEntries({ ...results, causes: [], unexplained });
    expect(entries.map(({ findings: [first] }) => first?.check.id)).toEqual([
      'auth.trailing-slash',
      'auth.scheme-case',
    ]);
  });

  it('leaves out what the results do not have', () => {
    const [, ...others] = diagnosedResults().services;
    expect(causeEntries({ ...diagnosedResults(), services: others }).map(({ cause }) => cause)).toEqual([
      null,
      null,
    ]);
    expect(causeEntries(sampleResults())).toEqual([]);
  });
});

/** A finding of operations that had these outcomes. */
function inOperations(outcomes: Readonly<Record<string, Outcome>>, suite = 'operations') {
  const subjects = Object.entries(outcomes).map(([subject, outcome]) => ({ subject, outcome, evidence: [] }));
  return { ...sampleCheck('fail', { suite }), headline: 'A body lacks "data"', subjects };
}

describe('the operations of a finding', () => {
  it.each([
    [
      'one of them',
      { 'GET /a': 'fail', 'GET /b': 'pass' },
      'GET /a (1 of 2 operations): a body lacks "data"',
    ],
    ['the only one', { 'GET /a': 'fail' }, 'GET /a: a body lacks "data"'],
    ['both', { 'GET /a': 'fail', 'POST /a': 'fail' }, 'GET /a, POST /a: a body lacks "data"'],
    [
      'all of many',
      { 'GET /a': 'fail', 'GET /b': 'fail', 'GET /c': 'fail', 'GET /d': 'fail' },
      'GET /a, GET /b and 2 more (all 4 operations): a body lacks "data"',
    ],
    [
      'those that could be judged',
      { 'GET /a': 'fail', 'GET /b': 'pass', 'GET /c': 'blocked' },
      'GET /a (1 of 2 operations): a body lacks "data"',
    ],
    [
      'none where the service is at fault as well',
      { 'GET /a': 'fail', search: 'fail' },
      'A body lacks "data"',
    ],
  ] as const)('stand first: %s', (_, outcomes, sentence) => {
    expect(problemOf(inOperations(outcomes))).toBe(sentence);
  });

  it('are not named by a check of another suite that tried one of them', () => {
    expect(problemOf(inOperations({ 'GET /a': 'fail' }, 'auth'))).toBe('A body lacks "data"');
  });

  it('are not named for a cause in several services, which may have operations of one name', () => {
    const check = inOperations({ 'GET /a': 'fail', 'GET /b': 'pass' });
    const [cause] = diagnosedResults().causes ?? [];
    if (cause === undefined) throw new Error('the sample has a cause');
    const services = ['search', 'orders'].map((service) => ({
      ...failingService(),
      service,
      checks: [check],
    }));
    const findings = services.map(({ service }) => ({ service, check: check.id }));
    const [entry] = causeEntries({
      ...resultsOf(services),
      causes: [{ ...cause, findings }],
      unexplained: [],
    });
    expect(entry?.sentence).toBe(cause.sentence);
  });

  it('stand in place of a cause that says less', () => {
    const check = { ...inOperations({ 'GET /a': 'warning', 'GET /b': 'pass' }), outcome: 'warning' as const };
    const [cause] = diagnosedResults().causes ?? [];
    if (cause === undefined) throw new Error('the sample has a cause');
    const service = { ...failingService(), checks: [check] };
    const findings = [{ service: 'search', check: check.id }];
    const [entry] = causeEntries({
      ...resultsOf([service]),
      causes: [{ ...cause, findings }],
      unexplained: [],
    });
    expect(entry?.sentence).toBe('GET /a (1 of 2 operations): a body lacks "data"');
  });
});

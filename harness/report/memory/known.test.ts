import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../base/verdict.ts';
import { conformingService, resultsOf, sampleCheck } from '../fixtures/sample-results.ts';
import type { CheckResult } from '../results/check-result.ts';
import type { ListedFailure, Results, ServiceResult } from '../results/results.ts';
import { verdictOf } from '../results/run-verdict.ts';
import { fits, withKnown } from './known.ts';

const TODAY = '2026-11-22';
const FAILED = 'expected status 401, got status 500 for GET with a wrong key [auth.scheme: search.yaml:3]';

const ENTRY: ListedFailure = {
  check: 'auth.wrong-credential',
  got: ['status 500 for GET with a wrong key'],
  reason: 'mended in 3.2',
  owner: 'search-team',
  until: '2027-01-31',
  place: 'known/search.yaml:3',
  state: 'not judged',
  note: null,
};

type Sketch = Partial<Pick<CheckResult, 'id' | 'suite' | 'outcome' | 'message' | 'level'>>;

const checkOf = (sketch: Sketch) =>
  sampleCheck('pass', { id: 'auth.wrong-credential', level: 'MUST', ...sketch });

function run(
  checks: readonly Sketch[],
  entries: readonly Partial<ListedFailure>[],
  { selection, coverage, operations }: Partial<Results['run'] & ServiceResult> = {},
): Results {
  const service = {
    ...conformingService('search'),
    checks: [checkOf({ id: 'status.sample', outcome: 'pass', message: '' }), ...checks.map(checkOf)],
    known: entries.map((entry) => ({ ...ENTRY, ...entry })),
    ...(coverage ? { coverage } : {}),
    ...(operations ? { operations } : {}),
  };
  return withKnown(resultsOf([service], { asOf: TODAY, ...(selection ? { selection } : {}) }));
}

interface Case {
  readonly check: Sketch;
  readonly entry?: Partial<ListedFailure>;
  readonly selected?: boolean;
  readonly capped?: boolean;
  readonly operations?: readonly string[];
  readonly state: ListedFailure['state'];
  /** Where it is not what follows from the state. */
  readonly comesTo?: readonly [outcome: Outcome, exitCode: number];
  /** In the note on the entry. */
  readonly note?: RegExp;
}

const fails = { outcome: 'fail', message: FAILED } as const;
const passes = { outcome: 'pass', message: '' } as const;
const many = 'expected a field, got none for GET as documented, for GET with a wrong key and for 6 more';

/** Outcome of the check and exit code of the run, by the state of the entry. */
const COMES_TO: Readonly<Record<ListedFailure['state'], readonly [Outcome, number]>> = {
  known: ['known', 0],
  changed: ['fail', 1],
  expired: ['fail', 1],
  stale: ['pass', 1],
  unmatched: ['pass', 1],
  'not judged': ['pass', 0],
};

const CASES: Readonly<Record<string, Case>> = {
  'fails as listed': { check: fails, state: 'known' },
  'fails as listed, by a pattern of ids': { check: fails, entry: { check: 'auth.*' }, state: 'known' },
  'only warns, as listed': { check: { ...fails, outcome: 'warning', level: 'SHOULD' }, state: 'known' },
  'fails on its last day': {
    check: fails,
    entry: { until: TODAY },
    state: 'known',
    note: /^it ends today, on 2026-11-22/,
  },
  'fails seven days before its end': {
    check: fails,
    entry: { until: '2026-11-29' },
    state: 'known',
    note: /^it ends in 7 days/,
  },
  'fails with another status': {
    check: { ...fails, message: FAILED.replace('500', '200') },
    state: 'changed',
    note: /fails in another way now: status 200 for GET with a wrong key/,
  },
  'fails for something else that was sent': {
    check: { ...fails, message: FAILED.replace('a wrong key', 'an empty key') },
    state: 'changed',
  },
  'fails for more than is listed': {
    check: { outcome: 'fail', message: many },
    entry: { got: ['none for GET as documented', 'none for GET with a wrong key'] },
    state: 'changed',
  },
  'fails for many, as listed': {
    check: { outcome: 'fail', message: many },
    entry: { got: ['none for *'] },
    state: 'known',
  },
  'fails for less than is listed': {
    check: fails,
    entry: { got: [...ENTRY.got, 'status 500 for GET with an empty key'] },
    state: 'known',
  },
  'fails after its last day': {
    check: fails,
    entry: { until: '2026-11-21' },
    state: 'expired',
    note: /^it was known until 2026-11-21/,
  },
  'passes now': { check: passes, state: 'stale', note: /passes now/ },
  'passes, and was selected': { check: passes, selected: true, state: 'stale' },
  'passes, as what is selected of a pattern': {
    check: passes,
    entry: { check: 'auth.*' },
    selected: true,
    state: 'not judged',
  },
  'passes, as far as operations were not left out': {
    check: { ...passes, id: 'operations.status', suite: 'operations' },
    entry: { check: 'operations.status' },
    capped: true,
    state: 'not judged',
  },
  'passes, whatever operations were left out': { check: passes, capped: true, state: 'stale' },
  'is skipped': {
    check: { outcome: 'skipped', message: 'no key' },
    state: 'not judged',
    comesTo: ['skipped', 0],
  },
  'is blocked': {
    check: { outcome: 'blocked', message: 'no answer' },
    state: 'not judged',
    comesTo: ['blocked', 3],
  },
  'was not selected': {
    check: passes,
    entry: { check: 'headers.date' },
    selected: true,
    state: 'not judged',
  },
  'fails for another operation': {
    check: { ...fails, message: FAILED.replace('GET with a wrong key', 'GET /v1/b as documented') },
    entry: { got: ['status 500 for GET /v1/a as documented'] },
    state: 'changed',
    note: /fails in another way now: status 500 for GET \/v1\/b as documented/,
  },
  'fails for an operation, as an older list has it': {
    check: { ...fails, message: FAILED.replace('GET with a wrong key', 'GET /v1/b as documented') },
    entry: { got: ['status 500 for GET PATH as documented'] },
    state: 'known',
  },
  'is of an operation that is documented no more': {
    check: passes,
    entry: { got: ['status 500 for GET /v1/item as documented'] },
    operations: ['/v1/items', '/v1/others'],
    state: 'unmatched',
    note: /^this service has no operation \/v1\/item: did you mean \/v1\/items\?/,
  },
  'is of an operation whose path holds a number': {
    check: { ...fails, message: FAILED.replace('GET with a wrong key', 'GET /v1/2/b as documented') },
    entry: { got: ['status 500 for GET /v1/N/b as documented'] },
    operations: ['/v1/2/b'],
    state: 'known',
  },
  'is of an operation that may be any': {
    check: fails,
    entry: { got: ['status 500 for *', 'status 500 for GET /v1/item as documented'] },
    operations: ['/v1/items'],
    state: 'known',
  },
  'may belong to what could not be fetched': {
    check: { id: 'pact.interaction', outcome: 'blocked', message: 'the broker does not answer' },
    entry: { check: 'pact.interaction.web-1' },
    state: 'not judged',
    comesTo: ['blocked', 3],
  },
  'is no check': {
    check: passes,
    entry: { check: 'auth.wrong-credentials' },
    state: 'unmatched',
    note: /did you mean auth\.wrong-credential\?/,
  },
};

describe('a listed failure', () => {
  it.for(Object.entries(CASES))(
    'that %s',
    ([_name, { check, entry = {}, selected, capped, operations, state, comesTo, note }]) => {
      const results = run([check], [entry], {
        ...(selected ? { selection: { suites: [], checks: ['auth.*'], partial: true } } : {}),
        ...(operations ? { operations: [...operations] } : {}),
        ...(capped ? { coverage: [{ request: 'call', sent: 120, capped: 380 }] } : {}),
      });
      const [service] = results.services;
      const [listed] = service?.known ?? [];
      const [outcome, exitCode] = comesTo ?? COMES_TO[state];
      expect([listed?.state, service?.checks[1]?.outcome, results.run.exitCode]).toEqual([
        state,
        outcome,
        exitCode,
      ]);
      expect(listed?.note ?? '').toMatch(note ?? /^/);
      expect(results.totals[outcome]).toBeGreaterThan(0);
    },
  );

  it('says in its message until when, whose and why, and what came', () => {
    const known = run([fails], [{}]).services[0]?.checks[1];
    expect(known?.message).toBe(`known until 2027-01-31 (search-team): mended in 3.2; ${FAILED}`);
  });

  it('is known with all that it explains', () => {
    const echo = {
      id: 'auth.refusal-class',
      outcome: 'blocked',
      message: 'auth.wrong-credential fails, which explains this: nothing more can be said',
    } as const;
    expect(run([fails, echo], [{}]).run.exitCode).toBe(0);
    expect(run([fails, echo], []).run.exitCode).toBe(1);
  });

  it('that makes the run fail is told with the line to change, as no failure of the service', () => {
    const verdict = verdictOf(run([passes], [{}]));
    expect(verdict).toMatchObject({
      word: 'known list out of date',
      reasons: ['known/search.yaml:3: auth.wrong-credential is stale: it passes now: remove the entry'],
    });
  });
});

describe('a pattern', () => {
  it.for([
    ['status 500', 'status 500', true],
    ['status 500', 'status 5000', false],
    ['status 5*', 'status 500 for GET', true],
    ['*500*', 'status 500 for GET', true],
    ['* for *', 'status 500 for GET', true],
    ['a*a', 'a', false],
    ['a*b*a', 'aba', true],
    ['', '', true],
  ] as const)('%s and the text %s: %s', ([pattern, text, does]) => {
    expect(fits(pattern, text)).toBe(does);
  });
});

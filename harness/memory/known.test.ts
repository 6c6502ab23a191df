import { describe, expect, it } from 'vitest';
import type { Outcome } from '../contract/outcome.ts';
import { conformingService, resultsOf } from '../report/fixtures/sample-results.ts';
import type { CheckResult, ListedFailure, Results, ServiceResult } from '../report/results/results.ts';
import { verdictOf } from '../report/results/run-verdict.ts';
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

function checkOf(sketch: Sketch): CheckResult {
  const [template] = conformingService().checks;
  if (!template) throw new Error('the sample has no check');
  return { ...template, id: 'auth.wrong-credential', level: 'MUST', ...sketch };
}

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
  readonly outcome: Outcome;
  readonly exitCode: number;
  /** In the note on the entry. */
  readonly note?: RegExp;
}

const fails = { outcome: 'fail', message: FAILED } as const;
const passes = { outcome: 'pass', message: '' } as const;
const many = 'expected a field, got none for GET as documented, for GET with a wrong key and for 6 more';

const CASES: Readonly<Record<string, Case>> = {
  'fails as listed': { check: fails, state: 'known', outcome: 'known', exitCode: 0 },
  'fails as listed, by a pattern of ids': {
    check: fails,
    entry: { check: 'auth.*' },
    state: 'known',
    outcome: 'known',
    exitCode: 0,
  },
  'only warns, as listed': {
    check: { ...fails, outcome: 'warning', level: 'SHOULD' },
    state: 'known',
    outcome: 'known',
    exitCode: 0,
  },
  'fails on its last day': {
    check: fails,
    entry: { until: TODAY },
    state: 'known',
    outcome: 'known',
    exitCode: 0,
    note: /^it ends today, on 2026-11-22/,
  },
  'fails seven days before its end': {
    check: fails,
    entry: { until: '2026-11-29' },
    state: 'known',
    outcome: 'known',
    exitCode: 0,
    note: /^it ends in 7 days/,
  },
  'fails with another status': {
    check: { ...fails, message: FAILED.replace('500', '200') },
    state: 'changed',
    outcome: 'fail',
    exitCode: 1,
    note: /fails in another way now: status 200 for GET with a wrong key/,
  },
  'fails for something else that was sent': {
    check: { ...fails, message: FAILED.replace('a wrong key', 'an empty key') },
    state: 'changed',
    outcome: 'fail',
    exitCode: 1,
  },
  'fails for more than is listed': {
    check: { outcome: 'fail', message: many },
    entry: { got: ['none for GET as documented', 'none for GET with a wrong key'] },
    state: 'changed',
    outcome: 'fail',
    exitCode: 1,
  },
  'fails for many, as listed': {
    check: { outcome: 'fail', message: many },
    entry: { got: ['none for *'] },
    state: 'known',
    outcome: 'known',
    exitCode: 0,
  },
  'fails for less than is listed': {
    check: fails,
    entry: { got: [...ENTRY.got, 'status 500 for GET with an empty key'] },
    state: 'known',
    outcome: 'known',
    exitCode: 0,
  },
  'fails after its last day': {
    check: fails,
    entry: { until: '2026-11-21' },
    state: 'expired',
    outcome: 'fail',
    exitCode: 1,
    note: /^it was known until 2026-11-21/,
  },
  'passes now': { check: passes, state: 'stale', outcome: 'pass', exitCode: 1, note: /passes now/ },
  'passes, and was selected': {
    check: passes,
    selected: true,
    state: 'stale',
    outcome: 'pass',
    exitCode: 1,
  },
  'passes, as what is selected of a pattern': {
    check: passes,
    entry: { check: 'auth.*' },
    selected: true,
    state: 'not judged',
    outcome: 'pass',
    exitCode: 0,
  },
  'passes, as far as operations were not left out': {
    check: { ...passes, id: 'operations.status', suite: 'operations' },
    entry: { check: 'operations.status' },
    capped: true,
    state: 'not judged',
    outcome: 'pass',
    exitCode: 0,
  },
  'passes, whatever operations were left out': {
    check: passes,
    capped: true,
    state: 'stale',
    outcome: 'pass',
    exitCode: 1,
  },
  'is skipped': {
    check: { outcome: 'skipped', message: 'no key' },
    state: 'not judged',
    outcome: 'skipped',
    exitCode: 0,
  },
  'is blocked': {
    check: { outcome: 'blocked', message: 'no answer' },
    state: 'not judged',
    outcome: 'blocked',
    exitCode: 3,
  },
  'was not selected': {
    check: passes,
    entry: { check: 'headers.date' },
    selected: true,
    state: 'not judged',
    outcome: 'pass',
    exitCode: 0,
  },
  'fails for another operation': {
    check: { ...fails, message: FAILED.replace('GET with a wrong key', 'GET /v1/b as documented') },
    entry: { got: ['status 500 for GET /v1/a as documented'] },
    state: 'changed',
    outcome: 'fail',
    exitCode: 1,
    note: /fails in another way now: status 500 for GET \/v1\/b as documented/,
  },
  'fails for an operation, as an older list has it': {
    check: { ...fails, message: FAILED.replace('GET with a wrong key', 'GET /v1/b as documented') },
    entry: { got: ['status 500 for GET PATH as documented'] },
    state: 'known',
    outcome: 'known',
    exitCode: 0,
  },
  'is of an operation that is documented no more': {
    check: passes,
    entry: { got: ['status 500 for GET /v1/item as documented'] },
    operations: ['/v1/items', '/v1/others'],
    state: 'unmatched',
    outcome: 'pass',
    exitCode: 1,
    note: /^this service has no operation \/v1\/item: did you mean \/v1\/items\?/,
  },
  'is of an operation whose path holds a number': {
    check: { ...fails, message: FAILED.replace('GET with a wrong key', 'GET /v1/2/b as documented') },
    entry: { got: ['status 500 for GET /v1/N/b as documented'] },
    operations: ['/v1/2/b'],
    state: 'known',
    outcome: 'known',
    exitCode: 0,
  },
  'is of an operation that may be any': {
    check: fails,
    entry: { got: ['status 500 for *', 'status 500 for GET /v1/item as documented'] },
    operations: ['/v1/items'],
    state: 'known',
    outcome: 'known',
    exitCode: 0,
  },
  'may belong to what could not be fetched': {
    check: { id: 'pact.interaction', outcome: 'blocked', message: 'the broker does not answer' },
    entry: { check: 'pact.interaction.web-1' },
    state: 'not judged',
    outcome: 'blocked',
    exitCode: 3,
  },
  'is no check': {
    check: passes,
    entry: { check: 'auth.wrong-credentials' },
    state: 'unmatched',
    outcome: 'pass',
    exitCode: 1,
    note: /did you mean auth\.wrong-credential\?/,
  },
};

describe('a listed failure', () => {
  it.for(Object.entries(CASES))(
    'that %s',
    ([_name, { check, entry = {}, selected, capped, operations, note, ...expected }]) => {
      const results = run([check], [entry], {
        ...(selected ? { selection: { suites: [], checks: ['auth.*'], partial: true } } : {}),
        ...(operations ? { operations: [...operations] } : {}),
        ...(capped ? { coverage: [{ request: 'call', sent: 120, capped: 380 }] } : {}),
      });
      const [service] = results.services;
      const [listed] = service?.known ?? [];
      expect({
        state: listed?.state,
        outcome: service?.checks[1]?.outcome,
        exitCode: results.run.exitCode,
      }).toEqual(expected);
      expect(listed?.note ?? '').toMatch(note ?? /^/);
      expect(results.totals[expected.outcome]).toBeGreaterThan(0);
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

import { describe, expect, it } from 'vitest';
import type { JournalEvent } from './events.ts';
import { type FoldContext, foldEvents } from './fold.ts';
import { validateResults } from './read-results.ts';
import type { PlannedCheck } from './results.ts';

const RUN = {
  id: 'r1',
  startedAt: '2026-11-21T06:00:00.000Z',
  harness: { name: 'conform', version: '0.1.0', node: 'v24' },
  strict: false,
};
const CONTEXT: FoldContext = { run: RUN, finishedAt: '2026-11-21T06:01:00.000Z', interruption: null };
const FINISHED_AT = '2026-11-21T06:00:30.000Z';

const planned = (id: string, level: PlannedCheck['level'] = 'MUST'): PlannedCheck => ({
  id,
  suite: id.split('.')[0] ?? '',
  title: `title of ${id}`,
  level,
  grounds: [{ kind: 'practice', ref: 'OWASP', standing: 'practice', place: '' }],
});
const started = (...ids: readonly string[]): JournalEvent => ({
  type: 'service-started',
  service: 'search',
  contract: 'search',
  environment: null,
  provider: { kind: 'reference', url: 'http://127.0.0.1:1' },
  plan: { requests: 100, windowSeconds: 60 },
  planned: ids.map((id) => planned(id)),
});
const outcome = (id: string, was: 'pass' | 'fail' | 'error', message = ''): JournalEvent => ({
  type: 'outcome',
  service: 'search',
  id,
  outcome: was,
  message,
  durationMs: 3,
  evidence: ['e1'],
  reproduce: null,
});
const evidence = (id: string, requests = 1): JournalEvent => ({
  type: 'evidence',
  service: 'search',
  id,
  purpose: `purpose of ${id}`,
  requests,
  value: { kind: 'exchange', id },
});
const RUN_STARTED: JournalEvent = { type: 'run-started', run: RUN, services: ['search'] };
const SERVICE_FINISHED: JournalEvent = {
  type: 'service-finished',
  service: 'search',
  requestsSent: 7,
  durationMs: 55,
};
const RUN_FINISHED: JournalEvent = {
  type: 'run-finished',
  finishedAt: FINISHED_AT,
  interrupted: false,
  reason: null,
};
const END = [SERVICE_FINISHED, RUN_FINISHED];

describe('folding a journal into results', () => {
  it('gathers a whole run', () => {
    const observation: JournalEvent = {
      type: 'observation',
      service: 'search',
      key: 'auth.location',
      value: 'header',
      check: 'a.one',
    };
    const results = foldEvents(
      [
        RUN_STARTED,
        started('a.one', 'a.two'),
        evidence('e1'),
        evidence('b1', 110),
        observation,
        outcome('a.one', 'pass'),
        outcome('a.two', 'fail', 'no'),
        ...END,
      ],
      CONTEXT,
    );
    expect(() => validateResults(results)).not.toThrow();
    expect(results.run).toMatchObject({
      finishedAt: FINISHED_AT,
      interrupted: false,
      interruption: null,
      exitCode: 1,
    });
    expect(results.totals).toMatchObject({ pass: 1, fail: 1, blocked: 0 });
    expect(results.services[0]).toMatchObject({
      service: 'search',
      requestsSent: 7,
      durationMs: 55,
      observations: [{ key: 'auth.location', value: 'header', check: 'a.one', accepted: null }],
      ledger: [
        { evidence: 'e1', purpose: 'purpose of e1', requests: 1 },
        { evidence: 'b1', purpose: 'purpose of b1', requests: 110 },
      ],
      checks: [
        { id: 'a.one', suite: 'a', outcome: 'pass', evidence: ['e1'] },
        { id: 'a.two', suite: 'a', outcome: 'fail', message: 'no' },
      ],
    });
  });

  it('is interrupted when a line of the journal is lost, whatever else it says', () => {
    const whole = [RUN_STARTED, started('a.one'), outcome('a.one', 'pass'), ...END];
    const { run } = foldEvents(whole, { ...CONTEXT, badLines: [4, 7] });
    expect(run).toMatchObject({
      interrupted: true,
      interruption: 'what the journal says in line 4, 7 is lost',
      exitCode: 3,
    });
    expect(foldEvents([RUN_STARTED], { ...CONTEXT, badLines: [2] }).run.interruption).toBe(
      'search did not finish; what the journal says in line 2 is lost',
    );
  });

  it('takes the last of repeated outcomes', () => {
    const results = foldEvents(
      [RUN_STARTED, started('a.one'), outcome('a.one', 'fail'), outcome('a.one', 'pass'), ...END],
      CONTEXT,
    );
    expect(results.services[0]?.checks.map((check) => check.outcome)).toEqual(['pass']);
    expect(results.run.exitCode).toBe(0);
  });

  it('blocks what never ran because the run was cut short, and says so', () => {
    const results = foldEvents([RUN_STARTED, started('a.one', 'a.two'), outcome('a.one', 'pass')], {
      ...CONTEXT,
      interruption: 'SIGINT',
    });
    expect(results.run).toMatchObject({
      interrupted: true,
      interruption: 'SIGINT',
      exitCode: 3,
      finishedAt: CONTEXT.finishedAt,
    });
    expect(results.services[0]?.checks[1]).toMatchObject({
      outcome: 'blocked',
      message: 'the run was cut short: SIGINT',
    });
  });

  it('blocks what never ran because the service was in trouble', () => {
    const trouble: JournalEvent = {
      type: 'service-trouble',
      service: 'search',
      reason: 'connection refused',
    };
    const results = foldEvents([RUN_STARTED, started('a.one'), trouble, ...END], CONTEXT);
    expect(results.run).toMatchObject({ interrupted: false, exitCode: 3 });
    expect(results.services[0]).toMatchObject({
      trouble: 'connection refused',
      checks: [{ outcome: 'blocked', message: 'search could not be exercised: connection refused' }],
    });
  });

  it('is interrupted when a service did not finish, whatever the end of the run says', () => {
    const results = foldEvents(
      [RUN_STARTED, started('a.one'), outcome('a.one', 'pass'), RUN_FINISHED],
      CONTEXT,
    );
    expect(results.run).toMatchObject({
      interrupted: true,
      interruption: 'search did not finish',
      exitCode: 3,
    });
  });

  it('is interrupted when the journal ends before the run', () => {
    const results = foldEvents(
      [RUN_STARTED, started('a.one'), outcome('a.one', 'pass'), SERVICE_FINISHED],
      CONTEXT,
    );
    expect(results.run).toMatchObject({
      interrupted: true,
      interruption: 'the journal ends before the run does',
      exitCode: 3,
    });
  });

  it('is not interrupted when it was ended on purpose; what did not run is blocked with that reason', () => {
    const reason = 'stopped at the first failure (--bail)';
    const end: JournalEvent = { type: 'run-finished', interrupted: false, reason };
    const results = foldEvents(
      [RUN_STARTED, started('a.one', 'a.two'), outcome('a.one', 'fail'), end],
      CONTEXT,
    );
    expect(results.run).toMatchObject({ interrupted: false, exitCode: 1 });
    expect(results.services[0]?.checks[1]).toMatchObject({ outcome: 'blocked', message: reason });
  });

  it('calls a check that was lost without any reason an error', () => {
    const results = foldEvents(
      [RUN_STARTED, started('a.one', 'a.two'), outcome('a.one', 'pass'), ...END],
      CONTEXT,
    );
    expect(results.services[0]?.checks[1]).toMatchObject({ outcome: 'error' });
    expect(results.run.exitCode).toBe(70);
  });

  it('shows an announced service that never started', () => {
    const results = foldEvents([RUN_STARTED, RUN_FINISHED], CONTEXT);
    expect(results.services).toMatchObject([{ service: 'search', trouble: 'it was never started' }]);
    expect(results.run.exitCode).toBe(3);
    expect(() => validateResults(results)).not.toThrow();
  });

  it('never drops an outcome, even one that nobody planned', () => {
    const results = foldEvents(
      [RUN_STARTED, started('a.one'), outcome('a.one', 'pass'), outcome('z.lost', 'fail'), ...END],
      CONTEXT,
    );
    expect(results.services[0]?.checks.map(({ id }) => id)).toEqual(['a.one', 'z.lost']);
    expect(results.run).toMatchObject({
      exitCode: 70,
      faults: ['search: outcome of z.lost, which was not planned'],
    });
  });

  it('leaves unknown entries alone and takes malformed ones for a fault', () => {
    const whole = [RUN_STARTED, started('a.one'), outcome('a.one', 'pass'), ...END];
    expect(foldEvents([...whole, { type: 'from-the-future', x: 1 }], CONTEXT).run.exitCode).toBe(0);
    const malformed = [
      { type: 'outcome', service: 'search', id: 'a.one', outcome: 'green' },
      'text',
      null,
      { no: 'type' },
    ];
    for (const entry of malformed) {
      const { run } = foldEvents([...whole, entry], CONTEXT);
      expect(run.exitCode).toBe(70);
      expect(run.faults[0]).toMatch(/^journal entry 6 is malformed: /);
    }
  });

  it('names what is wrong with a malformed entry', () => {
    const { run } = foldEvents([{ ...outcome('a.one', 'pass'), outcome: 'green' }], CONTEXT);
    expect(run.faults[0]).toContain(
      'outcome: outcome must be equal to one of the allowed values (pass, fail,',
    );
  });

  it('is green for no prefix of a journal', () => {
    const whole = [
      RUN_STARTED,
      started('a.one', 'a.two'),
      evidence('e1'),
      outcome('a.one', 'pass'),
      outcome('a.two', 'pass'),
      ...END,
    ];
    expect(foldEvents(whole, CONTEXT).run.exitCode).toBe(0);
    for (const length of whole.keys()) {
      const results = foldEvents(whole.slice(0, length), CONTEXT);
      expect(results.run.exitCode, `after ${length} entries`).toBe(3);
      expect(() => validateResults(results)).not.toThrow();
    }
  });

  it('puts faults of a service under its name', () => {
    const fault: JournalEvent = { type: 'fault', service: 'search', message: 'a promise was rejected' };
    expect(foldEvents([RUN_STARTED, started(), fault, ...END], CONTEXT).run.faults).toEqual([
      'search: a promise was rejected',
    ]);
  });

  it('is not fooled by names that objects have of their own', () => {
    const results = foldEvents(
      [
        RUN_STARTED,
        started('__proto__'),
        evidence('__proto__'),
        evidence('constructor'),
        outcome('__proto__', 'pass'),
        ...END,
      ],
      CONTEXT,
    );
    expect(Object.keys(results.services[0]?.evidence ?? {})).toEqual(['__proto__', 'constructor']);
    expect(foldEvents([{ type: 'constructor' }, { type: '__proto__' }], CONTEXT).run.faults).toEqual([]);
  });
});

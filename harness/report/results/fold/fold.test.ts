import { describe, expect, it } from 'vitest';
import type { PlannedCheck } from '../check-result.ts';
import { validateResults } from '../read-results.ts';
import type { JournalEvent } from './events.ts';
import { type FoldContext, foldEvents } from './fold.ts';

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
const evidence = (id: string, requests = 1, value: object = { kind: 'exchange', id }): JournalEvent => ({
  type: 'evidence',
  service: 'search',
  id,
  purpose: `purpose of ${id}`,
  requests,
  value,
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

/** The results of a journal, which are always of their schema. */
function folded(entries: readonly unknown[], context: Partial<FoldContext> = {}) {
  const results = foldEvents(entries, { ...CONTEXT, ...context });
  expect(() => validateResults(results)).not.toThrow();
  const [service] = results.services;
  return { ...results, service, checks: service?.checks ?? [] };
}

/** A run of two checks in which that happened. */
const ran = (...events: readonly unknown[]) => [RUN_STARTED, started('a.one', 'a.two'), ...events];
const PASSED = [outcome('a.one', 'pass'), outcome('a.two', 'pass')];
const WHOLE = ran(...PASSED, ...END);

describe('folding a journal into results', () => {
  it('gathers a whole run', () => {
    const observation: JournalEvent = {
      type: 'observation',
      service: 'search',
      key: 'auth.location',
      value: 'header',
      check: 'a.one',
    };
    const judged = [outcome('a.one', 'pass'), outcome('a.two', 'fail', 'no')];
    const { run, totals, service } = folded(
      ran(evidence('e1'), evidence('b1', 110), observation, ...judged, ...END),
    );
    expect(run).toMatchObject({
      finishedAt: FINISHED_AT,
      interrupted: false,
      interruption: null,
      exitCode: 1,
    });
    expect(totals).toMatchObject({ pass: 1, fail: 1, blocked: 0 });
    expect(service).toMatchObject({
      service: 'search',
      // As many as the ledger has: there is one count.
      requestsSent: 111,
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

  it('counts requests by the version of HTTP of their answers, if some are in HTTP/2', () => {
    const answered = (id: string, httpVersion: string, requests = 1): JournalEvent =>
      evidence(id, requests, { kind: 'exchange', id, response: { httpVersion } });
    const handshake = { response: { httpVersion: '1.1' } };
    const shaken = evidence('c1', 1, { kind: 'conversation', id: 'c1', handshake });
    const burst = evidence('b1', 110, { kind: 'burst', id: 'b1', refusal: 'e3' });
    const mixed = [answered('e1', '2'), answered('e2', '1.1', 2), evidence('e4'), shaken, burst];
    const { service } = folded(ran(...mixed, answered('e3', '2', 0), ...PASSED, ...END));
    expect(service?.httpVersions).toEqual({ '1.1': 3, '2': 111 });
    const { service: older } = folded(ran(answered('e1', '1.1'), ...PASSED, ...END));
    expect(older?.httpVersions).toBeUndefined();
  });

  it.each<[what: string, entries: readonly unknown[], context: Partial<FoldContext>, interruption: string]>([
    ['a signal', ran(PASSED[0]), { interruption: 'SIGINT' }, 'SIGINT'],
    ['a service that did not finish', ran(...PASSED, RUN_FINISHED), {}, 'search did not finish'],
    [
      'a journal that ends before the run',
      ran(...PASSED, SERVICE_FINISHED),
      {},
      'the journal ends before the run does',
    ],
    ['lost lines', WHOLE, { badLines: [4, 7] }, 'what the journal says in line 4, 7 is lost'],
    [
      'a lost line and a service that did not finish',
      [RUN_STARTED],
      { badLines: [2] },
      'search did not finish; what the journal says in line 2 is lost',
    ],
  ])('is interrupted by %s, whatever else it says', (_what, entries, context, interruption) => {
    const { run } = folded(entries, context);
    expect(run).toMatchObject({ interrupted: true, interruption, exitCode: 3 });
  });

  it('blocks what never ran because the run was cut short, and says so', () => {
    const { run, checks } = folded(ran(PASSED[0]), { interruption: 'SIGINT' });
    expect(run.finishedAt).toBe(CONTEXT.finishedAt);
    expect(checks[1]).toMatchObject({ outcome: 'blocked', message: 'the run was cut short: SIGINT' });
  });

  it('blocks what never ran because the service was in trouble', () => {
    const reason = 'connection refused';
    const { run, service, checks } = folded(
      ran({ type: 'service-trouble', service: 'search', reason, fault: 'config' }, ...END),
    );
    expect(run).toMatchObject({ interrupted: false, exitCode: 3 });
    expect(service).toMatchObject({ trouble: reason, troubleBy: 'config' });
    const message = `search could not be exercised: ${reason}`;
    expect(checks[0]).toMatchObject({ outcome: 'blocked', message });
  });

  it('is not interrupted when it was ended on purpose; what did not run is blocked with that reason', () => {
    const reason = 'stopped at the first failure (--bail)';
    const end: JournalEvent = { type: 'run-finished', interrupted: false, reason };
    const { run, checks } = folded(ran(outcome('a.one', 'fail'), end));
    expect(run).toMatchObject({ interrupted: false, exitCode: 1 });
    expect(checks[1]).toMatchObject({ outcome: 'blocked', message: reason });
  });

  it('keeps what a check says of itself and of its violation', () => {
    const notes = { why: 'It matters.', change: 'Do it.' };
    const start = { ...started(), planned: [{ ...planned('a.one'), ...notes }] };
    const violated = { ...outcome('a.one', 'fail', 'no'), headline: 'It is not done' };
    const { checks } = folded([RUN_STARTED, start, violated, ...END]);
    expect(checks[0]).toMatchObject({ ...notes, headline: 'It is not done', message: 'no' });
  });

  it('takes the last of repeated outcomes', () => {
    const { run, checks } = folded(ran(outcome('a.one', 'fail'), ...PASSED, ...END));
    expect(checks.map((check) => check.outcome)).toEqual(['pass', 'pass']);
    expect(run.exitCode).toBe(0);
  });

  it('calls a check that was lost without any reason an error', () => {
    const { run, checks } = folded(ran(PASSED[0], ...END));
    expect(checks[1]).toMatchObject({ outcome: 'error' });
    expect(run.exitCode).toBe(70);
  });

  it('shows an announced service that never started', () => {
    const { run, services } = folded([RUN_STARTED, RUN_FINISHED]);
    expect(services).toMatchObject([{ service: 'search', trouble: 'it was never started' }]);
    expect(run.exitCode).toBe(3);
  });

  it('never drops an outcome, even one that nobody planned', () => {
    const { run, checks } = folded(ran(...PASSED, outcome('z.lost', 'fail'), ...END));
    expect(checks.map(({ id }) => id)).toEqual(['a.one', 'a.two', 'z.lost']);
    const faults = ['search: outcome of z.lost, which was not planned'];
    expect(run).toMatchObject({ exitCode: 70, faults });
  });

  it.each([
    { type: 'outcome', service: 'search', id: 'a.one', outcome: 'green' },
    'text',
    null,
    { no: 'type' },
  ])('takes a malformed entry for a fault: %j', (entry) => {
    const { run } = folded([...WHOLE, entry]);
    expect(run.exitCode).toBe(70);
    expect(run.faults[0]).toMatch(/^journal entry 7 is malformed: /);
  });

  it('names what is wrong with a malformed entry, and leaves unknown ones alone', () => {
    const { run } = folded([{ ...outcome('a.one', 'pass'), outcome: 'green' }]);
    expect(run.faults[0]).toContain(
      'outcome: outcome must be equal to one of the allowed values (pass, fail,',
    );
    for (const type of ['from-the-future', 'constructor', '__proto__']) {
      expect(folded([...WHOLE, { type, x: 1 }]).run.exitCode).toBe(0);
    }
  });

  it('is green for no prefix of a journal', () => {
    expect(folded(WHOLE).run.exitCode).toBe(0);
    for (const length of WHOLE.keys()) {
      expect(folded(WHOLE.slice(0, length)).run.exitCode, `after ${length} entries`).toBe(3);
    }
  });

  it('puts faults of a service under its name', () => {
    const fault: JournalEvent = { type: 'fault', service: 'search', message: 'a promise was rejected' };
    expect(folded([...WHOLE, fault]).run.faults).toEqual(['search: a promise was rejected']);
  });

  it('is not fooled by names that objects have of their own', () => {
    const names = ['__proto__', 'constructor'];
    const events = names.flatMap((name) => [evidence(name), outcome(name, 'pass')]);
    const { service, checks } = folded([RUN_STARTED, started(...names), ...events, ...END]);
    expect(Object.keys(service?.evidence ?? {})).toEqual(names);
    expect(checks.map((check) => check.outcome)).toEqual(['pass', 'pass']);
  });
});

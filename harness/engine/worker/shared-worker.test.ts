import { appendFileSync, cpSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../base/fixtures/folder.ts';
import { eventsIn, type JournalEvent } from '../../report/results/fold/events.ts';
import { readJournal } from '../../wire/record/journal.ts';
import { conformRun, lastReports, type RunOrder, resultsIn } from '../fixtures/conform-process.ts';

const SERVICES = ['search', 'messaging', 'realtime'];
const SHIPPED = fileURLToPath(new URL('../../../config', import.meta.url));
const ONE_WORKER = { capacity: { services: 3, workers: 1, alone: 2 } };

/** The shipped config with short windows: who goes on after a worker that is lost waits for one to pass. */
function config(): string {
  const folder = temporaryFolder();
  cpSync(SHIPPED, folder, { recursive: true });
  for (const service of ['search', 'messaging'])
    appendFileSync(join(folder, 'services', `${service}.yaml`), '\nplan: { requests: 100, window: 2s }\n');
  return folder;
}

/** A run of these three services in one worker. */
async function runOf(suite: string, { setting, ...order }: RunOrder = {}) {
  const reports = join(temporaryFolder(), 'reports');
  const { ended } = conformRun(reports, {
    ...order,
    services: SERVICES,
    options: { config: config(), suite: [suite] },
    setting: { ...ONE_WORKER, ...setting },
  });
  const { code, stderr } = await ended;
  const { entries } = readJournal(join(lastReports(reports), 'journal.ndjson'));
  return { code, stderr, events: eventsIn(entries), results: resultsIn(reports) };
}

/** What each service says of a check or a piece of evidence, in the order of the journal. */
function told(events: readonly JournalEvent[], type: 'outcome' | 'evidence'): readonly string[] {
  return events.flatMap((event) =>
    (event.type === 'outcome' || event.type === 'evidence') && event.type === type
      ? [`${event.service} ${event.id}`]
      : [],
  );
}

/** Longer than a machine that is busy keeps a worker from a sign of life. */
const STALLS = { setting: { stallMs: 10_000 } };

const PASSES = (suite: string) =>
  ['before', 'ending', 'after'].map((check) => ({ id: `${suite}.${check}`, outcome: 'pass' }));

describe.concurrent('services that share a worker', () => {
  it('are judged side by side, each with evidence of its own', async () => {
    const { code, events, results } = await runOf('meets-others');
    expect(code).toBe(0);
    for (const { service, checks, evidence } of results.services) {
      expect(checks).toMatchObject(PASSES('meets-others'));
      const hosts = Object.values(evidence).map((each) => JSON.stringify(each).match(/127\.0\.0\.1:\d+/g));
      const { port } = new URL(results.services.find((each) => each.service === service)?.provider.url ?? '');
      expect(new Set(hosts.flat())).toEqual(new Set([`127.0.0.1:${port}`]));
    }
    expect(new Set(told(events, 'outcome')).size).toBe(9);
  });

  it.for<[what: string, suite: string, RunOrder, reason: RegExp]>([
    ['is killed', 'killed', {}, /ended by SIGKILL before the checks were done/],
    ['loops', 'busy', STALLS, /gave no sign of life for 10000 ms/],
    [
      'loops after another one was heard of',
      'busy-behind-another',
      STALLS,
      /gave no sign of life for 10000 ms/,
    ],
    [
      'takes all memory',
      'out-of-memory',
      { env: { NODE_OPTIONS: '--max-old-space-size=120' } },
      /ended by SIGABRT .*heap out of memory/,
    ],
  ])('lose nothing where one of them %s', async ([_what, suite, order, reason]) => {
    const { code, stderr, events, results } = await runOf(suite, order);
    const [search, ...others] = results.services;
    expect(code).toBe(3);
    expect(results.run.interruption).toMatch(reason);
    expect(results.run.interruption).toMatch(/^search: its worker/);
    expect(search).toMatchObject({
      service: 'search',
      trouble: expect.stringMatching(reason),
      checks: [{ outcome: 'pass' }, { outcome: 'blocked' }, { outcome: 'blocked' }],
    });
    expect(others).toHaveLength(2);
    for (const { trouble, checks } of others) {
      expect(trouble).toBeNull();
      expect(checks).toMatchObject(PASSES(suite));
    }
    // Nothing is told twice, by whichever worker.
    for (const kind of ['outcome', 'evidence'] as const) {
      expect(told(events, kind).toSorted()).toEqual([...new Set(told(events, kind))].toSorted());
    }
    const finished = events.flatMap((event) => (event.type === 'service-finished' ? [event.service] : []));
    expect(finished.toSorted()).toEqual(['messaging', 'realtime']);
    expect(stderr).toMatch(/another one goes on/);
    expect(stderr).not.toContain('FATAL ERROR');
    expect(search?.remarks).toEqual([expect.stringMatching(reason)]);
  });
});

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../base/fixtures/folder.ts';
import { manyResults } from '../fixtures/many-results.ts';
import { pastNights } from '../fixtures/past-nights.ts';
import { conformingService, failingService, resultsOf } from '../fixtures/sample-results.ts';
import { pastRun, withHistory } from '../memory/history.ts';
import { readHistory, remember } from '../memory/history-file.ts';
import { validateResults } from '../results/read-results.ts';
import type { PastFigures, Results } from '../results/results.ts';
import { overRuns, sinceBefore } from './history.ts';
import { renderPage } from './page.ts';

function withPast(results: Results, runs: readonly PastFigures[]): Results {
  const services = results.services.map(({ service }) => ({ service, runs: [...runs] }));
  return { ...results, history: { runs: [], changes: [], flaky: [], notes: [], services } };
}

const one = resultsOf([conformingService()]);
const chart = (runs: readonly PastFigures[]) => String(overRuns(withPast(one, runs)) ?? '');
/** Class, and how tall, of each bar but those of the key, in their order. */
const barsOf = (text: string) =>
  [...text.slice(0, text.indexOf('strips-key')).matchAll(/<rect class="(\w+)"[^>]* height="(\d+)"/g)].map(
    ([, kind, tall]) => [kind, Number(tall)] as const,
  );

describe('the chart of the last runs', () => {
  it('is not there before there are any', () => {
    expect(overRuns(one)).toBeNull();
    expect(chart([])).toBe('');
  });

  it('shows what was found, what was asked and how long it took, and says the same in words', () => {
    const text = chart(pastNights(5));
    expect(barsOf(text).map(([kind]) => kind)).toEqual([
      ...['pass', 'fail', 'warning', 'known', 'blocked', 'nothing', 'blocked'],
      ...['then', 'then', 'then', 'then', 'then', 'now'],
      ...['then', 'then', 'then', 'then', 'then', 'now'],
    ]);
    const words = /aria-label="realtime by run\. ([^"]+)"/.exec(text)?.[1]?.split('. ') ?? [];
    expect(words.slice(0, -1)).toEqual([
      '20 Oct: 40 passed, 120 requests, 1 min 1 s',
      '21 Oct: 2 failed, 38 passed, 121 requests, 1 min 0 s',
      '22 Oct: 4 warnings, 1 known, 35 passed, 122 requests, 59.0 s',
      '23 Oct: 30 blocked, 10 passed, 123 requests, 58.0 s',
      '24 Oct: 124 requests, 57.0 s',
    ]);
    expect(text).toContain('<span>6 runs since 20 Oct</span>');
    expect(text).toMatch(/<span>\d+ requests, usually 122<\/span>/);
  });

  it('draws no night without a verdict as one that passed', () => {
    const [passed] = pastNights(1);
    if (passed === undefined) throw new Error('there is no night');
    const text = chart([{ ...passed, noVerdict: true }, passed]);
    expect(
      barsOf(text)
        .slice(0, 2)
        .map(([kind]) => kind),
    ).toEqual(['nothing', 'pass']);
    expect(text).toContain('20 Oct: no verdict, 40 passed,');
  });

  it('draws 30 runs of a longer history', () => {
    const text = chart(pastNights(90));
    expect(barsOf(text).filter(([kind]) => kind === 'then')).toHaveLength(2 * 29);
    expect(text).toContain('<span>30 runs since');
  });

  it('stays within its strip, whatever the figures', () => {
    const [night] = pastNights(1);
    if (night === undefined) throw new Error('there is no night');
    const huge = Number.MAX_SAFE_INTEGER;
    const outcomes = { ...night.outcomes, fail: huge, warning: huge, blocked: huge, known: huge };
    const text = chart([{ ...night, outcomes, requests: huge, durationMs: Number.MAX_VALUE }]);
    for (const [, tall] of barsOf(text)) expect(tall).toBeLessThanOrEqual(30);
    expect(text).not.toMatch(/NaN|Infinity|="-/);
  });

  it('of a fleet is drawn for those that fail and the slowest, and a page stays a page', () => {
    const many = manyResults(100, 300);
    const page = renderPage(withPast(many, pastNights(30)));
    expect(Buffer.byteLength(page)).toBeLessThan(8_000_000);
    const green = many.services.map((service) => ({
      ...service,
      checks: service.checks.filter(({ outcome }) => outcome === 'pass'),
    }));
    const few = String(overRuns(withPast({ ...many, services: green }, pastNights(3))));
    expect(few.match(/role="img"/g)).toHaveLength(3);
  });
});

describe('the failures of the last runs', () => {
  const selection = { suites: ['auth'], checks: [], partial: false };
  const page = (run: Partial<Results['run']>) => {
    const runs = [
      { id: 'a', startedAt: '2026-11-16T03:00:00Z', exitCode: 0, failed: 0 },
      { id: 'b', startedAt: '2026-11-17T03:00:00Z', exitCode: 0, failed: 0, noVerdict: true },
      { id: 'c', startedAt: '2026-11-18T03:00:00Z', exitCode: 1, failed: 0 },
      { id: 'd', startedAt: '2026-11-19T03:00:00Z', exitCode: 1, failed: 2 },
    ];
    const since = '2026-11-19T03:00:00Z';
    const changes = [
      { service: 'search', check: 'auth.missing-credential', state: 'new' as const, runs: 1, since },
      { service: 'search', check: 'limits.retry-after', state: 'new' as const, runs: 1, since },
      { service: 'search', check: 'auth.challenge', state: 'fixed' as const, runs: 1, since, warned: true },
      { service: 'search', check: 'status.head', state: 'fixed' as const, runs: 1, since },
    ];
    const history = { runs, changes, flaky: [], notes: [] };
    return String(sinceBefore({ ...resultsOf([failingService()], run), history }));
  };

  it('are bars, of which only those of a run that conforms are low and green', () => {
    const kinds = (text: string) => [...text.matchAll(/<rect class="(\w+)"/g)].map(([, kind]) => kind);
    expect(kinds(page({}))).toEqual(['none', 'nothing', 'some', 'some', 'today']);
    expect(kinds(page({ selection })).at(-1)).toBe('today');
    expect(kinds(page({ interrupted: true })).at(-1)).toBe('nothing');
    expect(page({})).toContain('16 Nov: 0, 17 Nov: no verdict, 18 Nov: 0, 19 Nov: 2, 21 Nov: 2');
  });

  it('are not counted after an outage', () => {
    const down = { ...conformingService(), checks: [], trouble: 'connection refused' };
    const runs = [{ id: 'a', startedAt: '2026-11-16T03:00:00Z', exitCode: 0, failed: 0 }];
    const text = String(
      sinceBefore({ ...resultsOf([down]), history: { runs, changes: [], flaky: [], notes: [] } }),
    );
    expect(text).toContain('No verdict, so nothing to compare.');
    expect(text).not.toContain(' new</span>');
  });

  it('are counted without warnings', () => {
    expect(page({})).toContain('<b class="fail">1</b> new</span><span><b class="pass">1</b> fixed');
  });
});

describe('a history that somebody has tampered with', () => {
  const hostile = '"><script>globalThis.pwned = true</script>';

  it('is no way into the page', () => {
    const folder = temporaryFolder();
    const night = pastRun(
      resultsOf([conformingService()], { id: 'before', startedAt: '2026-11-01T03:00:00Z' }),
    );
    remember(folder, night);
    const {
      runs: [read],
    } = readHistory(folder);
    const line = (over: object) => JSON.stringify({ ...over });
    const service = {
      service: 'realtime',
      environment: null,
      checks: 'x',
      outcomes: hostile,
      requests: 1,
      ms: 1,
    };
    const at = '2026-11-02T03:00:00Z';
    const lines = [
      line({ run: hostile, at, exit: 1, services: [{ ...service, version: hostile }] }),
      line({ run: 'a', at: `2026-11-02T${hostile}`, exit: 1, services: [{ ...service, version: null }] }),
      line({ run: 'b', at, exit: 1, services: [{ ...service, version: null, requests: -1 }] }),
      line({ run: 'c', at, exit: 1, services: [{ ...service, version: null, ms: -1 }] }),
      line({ run: 'd', at, exit: 1, services: [{ ...service, version: null }] }).replace(
        '"ms":1',
        '"ms":1e999',
      ),
      line({ checks: 'x', ids: [hostile] }),
    ];
    writeFileSync(join(folder, 'history.ndjson'), `${lines.join('\n')}\n`);
    remember(folder, { ...night, ...read });
    const { runs, notes } = readHistory(folder);
    expect(notes.join()).toContain('4 lines');
    const today = withHistory(resultsOf([conformingService()]), runs, notes);
    expect(validateResults(JSON.parse(JSON.stringify(today)))).toMatchObject({ history: today.history });
    const page = renderPage(today);
    expect(page).toContain('id="over-runs"');
    expect(page).not.toContain(hostile);
    expect(page.match(/<script>/g)).toHaveLength(1);
  });
});

import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import {
  conformingService,
  diagnosedResults,
  resultsOf,
  sampleCheck,
  sampleResults,
} from '../fixtures/sample-results.ts';
import { withFault } from '../results/fold/fold.ts';
import { type VerdictTextOptions, verdictText } from './terminal.ts';

const PLAIN: VerdictTextOptions = { color: false, width: 90, verbosity: 'normal' };

describe('the verdict on a terminal', () => {
  const text = verdictText(sampleResults(), PLAIN);

  it('tells of each service its verdict, its counts and its time, on a line', () => {
    expect(text).toMatch(/^✕ search +2 failed, 2 blocked, 1 warning, 7 passed · 1 min 1 s$/m);
    expect(text).toMatch(/^✓ realtime \(staging\) +\S.* · 1 min 1 s$/m);
  });

  it('tells waits apart from work', () => {
    const service = conformingService('search');
    const checks = service.checks.map((check) => ({ ...check, waitedMs: 4_100 }));
    expect(verdictText(resultsOf([{ ...service, checks }]), PLAIN)).toMatch(
      /· 1 min 1 s, \d+\.\d s of it waiting$/m,
    );
  });

  it('tells of many services only those of which there is something to say', () => {
    const many = Array.from({ length: 40 }, (_, index) => ({
      ...conformingService(`s${index}`),
      ...(index === 7 ? { trouble: 'connection refused', checks: [] } : {}),
    }));
    const lines = verdictText(resultsOf(many), PLAIN).split('\n');
    expect(lines[0]).toMatch(/^⊘ s7 \(staging\) +inconclusive: connection refused: no check/);
    expect(lines[1]).toBe('✓ 39 services that conform');
  });

  it('leads with the causes: what each explains, what to change, how to see it', () => {
    const told = verdictText(diagnosedResults(), PLAIN);
    expect(told).toContain(`What is wrong: 3 failures and 2 warnings
  ✕ 2  A request without a credential is answered 200
       or      Nobody is asked for a key
       search  auth.missing-credential, limits.retry-after
       repeat  curl --include `);
    expect(told).toMatch(/^ {2}✕ 1 {2}expected the 101st request/m);
    expect(told).toMatch(/^ {2}△ 1 {2}got x<y>/m);
    expect(told).toMatch(/^ {2}⊘ 4 {2}no second key is configured/m);
  });

  it.each(['normal', 'verbose'] as const)('keeps each blank of a command, %s', (verbosity) => {
    const spaced = `curl -H 'Authorization: Bearer   '"$KEY"`;
    const results = diagnosedResults();
    const services = results.services.map((service) => ({
      ...service,
      checks: service.checks.map((check) => ({ ...check, reproduce: check.reproduce && spaced })),
    }));
    const told = verdictText({ ...results, services }, { ...PLAIN, verbosity });
    expect(told).toContain(`repeat  ${spaced}`);
    expect(told).not.toContain(`Bearer '"$KEY"`);
  });

  it('says how long something has been wrong, and what is not any more', () => {
    const results = diagnosedResults();
    const change = (check: string, state: 'still failing' | 'new' | 'fixed', runs: number) => ({
      service: 'search',
      check,
      state,
      runs,
      since: '2026-11-14T06:00:00.000Z',
    });
    const told = verdictText(
      {
        ...results,
        history: {
          runs: [{ id: 'r0', startedAt: '2026-11-20T06:00:00.000Z', exitCode: 1, failed: 2 }],
          changes: [
            change('auth.missing-credential', 'still failing', 9),
            change('limits.exact', 'new', 1),
            change('headers.date', 'fixed', 3),
          ],
          flaky: [],
          notes: [],
        },
      },
      PLAIN,
    );
    expect(told).toMatch(/^ {2}✕ 2 {2}A request without .* {2,}9 runs, since 14 Nov$/m);
    expect(told).toMatch(/^ {2}✕ 1 {2}expected .* {2,}new$/m);
    expect(told).toContain('\nFixed since 20 Nov: headers.date (search)\n');
    expect(text).not.toMatch(/Fixed since|since \d/);
  });

  it('ends with the verdict, what helps on, and where the reports are', () => {
    const end = verdictText(diagnosedResults(), { ...PLAIN, reportsAt: 'reports/latest/index.html' });
    expect(end).toMatch(
      /\n\n✕ search and messaging do not conform\. realtime does\.\n {2}\d+ requests, 1 min 2 s, run r4x9k2, exit code 1\n {2}Next: conform explain auth\.missing-credential {5}Report: reports\/latest\/index\.html\n$/,
    );
  });

  it('tells a fault of the harness, such as a full disk, even when it is to be quiet', () => {
    const results = withFault(sampleResults(), 'cannot write reports/1/junit.xml: no space is left');
    expect(verdictText(results, { ...PLAIN, verbosity: 'quiet' })).toContain(
      '  cannot write reports/1/junit.xml: no space is left\n',
    );
  });

  it.each([70, 80, 100, 300])('keeps within %d columns, but for commands that are to be copied', (width) => {
    const widest = Math.min(width, 100);
    for (const results of [sampleResults(), diagnosedResults()]) {
      const lines = verdictText(results, { ...PLAIN, width }).split('\n');
      const long = lines.filter((line) => line.length > widest && !/^ {7}repeat {2}/.test(line));
      expect(long).toEqual([]);
    }
  });

  it('shows no long value whole', () => {
    const message = `expected 401, got 200 for "${'k'.repeat(9_216)}"`;
    const service = {
      ...conformingService('search'),
      checks: [sampleCheck('fail', { message, headline: message })],
    };
    for (const verbosity of ['quiet', 'normal', 'verbose'] as const) {
      const shown = verdictText(resultsOf([service]), { ...PLAIN, verbosity });
      expect(shown).toContain('…9,218 characters…');
      expect(shown).not.toMatch(/k{60}/);
    }
  });

  it('passes no control or bidirectional character of a provider on', () => {
    for (const verbosity of ['quiet', 'normal', 'verbose'] as const) {
      const shown = verdictText(sampleResults({ faults: ['\u001b[2J'] }), { ...PLAIN, verbosity });
      expect(shown.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u);
    }
  });

  it('colours on demand, and says the same', () => {
    const colored = verdictText(sampleResults(), { ...PLAIN, color: true });
    expect(colored).not.toBe(text);
    expect(stripVTControlCharacters(colored)).toBe(text);
  });

  it('is brief when quiet', () => {
    const quiet = verdictText(resultsOf([conformingService()]), { ...PLAIN, verbosity: 'quiet' });
    expect(quiet).toMatch(/^✓ realtime conforms\.\n {2}\d+ requests?, .*exit code 0\n$/);
    const failed = verdictText(diagnosedResults(), { ...PLAIN, verbosity: 'quiet' });
    expect(failed).toMatch(/^2 failed: A request without a credential is answered 200\n/);
  });

  it('lists every check, every finding and every observation when verbose', () => {
    const verbose = verdictText(sampleResults(), { ...PLAIN, verbosity: 'verbose' });
    expect(verbose).toContain(
      'realtime (staging) · websocket\n  pass      websocket.handshake · opens a connection\n',
    );
    expect(verbose).toContain('  search · limits.first-refused = 104\n');
    expect(verdictText(diagnosedResults(), { ...PLAIN, verbosity: 'verbose' })).toContain(
      '       compare conform serve search --defect accepts-missing-key\n',
    );
    expect(verbose).toContain('  fail  auth.missing-credential  search  MUST\n');
    expect(verbose).toContain('    → expected status 401, got 200 with a JSON body of 2 resources\n');
    expect(verbose).toContain('    because RFC 9110 §15.5.2 (MUST)\n');
    expect(verbose).toMatch(
      /^ {2}skipped\s+3 {2}the service config names no websocket \(search 2, messaging 1\)$/m,
    );
  });
});

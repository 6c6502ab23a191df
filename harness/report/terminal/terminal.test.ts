import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { conformingService, diagnosedResults, resultsOf, sampleResults } from '../fixtures/sample-results.ts';
import { withFault } from '../results/fold.ts';
import { type VerdictTextOptions, verdictText } from './terminal.ts';

const PLAIN: VerdictTextOptions = { color: false, width: 90, verbosity: 'normal' };

describe('the verdict on a terminal', () => {
  const text = verdictText(sampleResults(), PLAIN);

  it('tells each service, its counts, its requests and its time', () => {
    expect(text).toMatch(
      /^search\s+does not conform\n {2}2 failed, 2 blocked, 1 warning, 7 passed, 2 observed, 2 skipped\n {2}115 requests, 1 min 1 s$/m,
    );
  });

  it('tells a failure with its message, its grounds and how to see it again', () => {
    expect(text).toContain('  fail  auth.missing-credential  search  MUST\n');
    expect(text).toContain('    → expected status 401, got 200 with a JSON body of 2 resources\n');
    expect(text).toContain('    because RFC 9110 §15.5.2 (MUST)\n');
    expect(text).toContain('    repeat  curl --include ');
  });

  it('leads with the causes, and tells in full only what none explains', () => {
    const told = verdictText(diagnosedResults(), PLAIN);
    expect(told).toContain(`What is wrong: 1 cause explains 2 of 5 findings
  ✕ 2  A request without a credential is answered 200
       or  Nobody is asked for a key
       search  auth.missing-credential, limits.retry-after
`);
    expect(told).toContain('compare  conform serve search --defect accepts-missing-key\n');
    expect(told).toMatch(/^ {2}✕ 1 {2}No cause found: expected the 101st request/m);
    expect(told).toMatch(/^ {2}△ 1 {2}No cause found: got x<y>/m);
    expect(told).not.toContain('fail  auth.missing-credential');
    expect(told).toContain('fail  limits.exact');
    const verbose = verdictText(diagnosedResults(), { ...PLAIN, verbosity: 'verbose' });
    expect(verbose).toContain('fail  auth.missing-credential');
    const quiet = verdictText(diagnosedResults(), { ...PLAIN, verbosity: 'quiet' });
    expect(quiet).toMatch(/^1 cause explains 2 of 5 findings\n/);
  });

  it('groups what did not run by its reason', () => {
    expect(text).toMatch(/^ {2}blocked\s+4 {2}no second key is configured .*$/m);
    expect(text).toMatch(
      /^ {2}skipped\s+3 {2}the service config names no websocket \(search 2, messaging 1\)$/m,
    );
  });

  it('ends with the verdict, the exit code and where the reports are', () => {
    const end = verdictText(sampleResults(), { ...PLAIN, reportsAt: 'reports/latest' })
      .trimEnd()
      .split('\n');
    expect(end.at(-1)).toBe('Reports  reports/latest');
    expect(end.join('\n')).toContain('Does not conform  1 min 2 s, exit code 1');
  });

  it('tells a fault of the harness, such as a full disk, even when it is to be quiet', () => {
    const results = withFault(sampleResults(), 'cannot write reports/1/junit.xml: no space is left');
    expect(verdictText(results, { ...PLAIN, verbosity: 'quiet' })).toContain(
      '  cannot write reports/1/junit.xml: no space is left\n',
    );
  });

  it.each([70, 80, 100, 300])('keeps within %d columns, but for what has no blanks', (width) => {
    const lines = verdictText(sampleResults(), { ...PLAIN, width, verbosity: 'verbose' }).split('\n');
    const widest = Math.min(width, 100);
    const broken = lines.filter(
      (line) => !/^ +repeat {2}/.test(line) && !/^ {2}(fail|warning|error) /.test(line),
    );
    for (const line of broken.filter((candidate) => candidate.length > widest)) {
      const longestWord = Math.max(...line.split(' ').map((word) => word.length));
      expect(line.trim().split(' ').length === 1 || longestWord + 26 > widest, line).toBe(true);
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
    expect(quiet).toMatch(
      /^Conforms {2}.*exit code 0\n10 checks judged over 1 service, with 1 check blocked\.\n$/,
    );
  });

  it('lists every check and every observation when verbose', () => {
    const verbose = verdictText(sampleResults(), { ...PLAIN, verbosity: 'verbose' });
    expect(verbose).toContain(
      'realtime (staging) · websocket\n  pass      websocket.handshake · opens a connection\n',
    );
    expect(verbose).toContain('  search · limits.first-refused = 104\n');
  });
});

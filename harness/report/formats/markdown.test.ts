import { describe, expect, it } from 'vitest';
import { HOSTILE } from '../fixtures/sample-evidence.ts';
import {
  diagnosedResults,
  failingService,
  resultsOf,
  sampleCheck,
  sampleResults,
} from '../fixtures/sample-results.ts';
import { renderMarkdown, SUMMARY_LIMIT } from './markdown.ts';

/** What is outside of fenced blocks. */
function outsideFences(markdown: string): string {
  const kept: string[] = [];
  let fence: string | null = null;
  for (const line of markdown.split('\n')) {
    const [run] = /^`{3,}/.exec(line) ?? [];
    if (fence === null && run) fence = run;
    else if (fence !== null && line === fence) fence = null;
    else if (fence === null) kept.push(line);
  }
  expect(fence, 'every fence is closed').toBeNull();
  return kept.join('\n');
}

describe('the summary for a CI page', () => {
  const summary = renderMarkdown(sampleResults());

  it('begins with the verdict and why', () => {
    expect(summary).toMatch(
      /^## ❌ Does not conform\n\n2 checks failed in search; 1 check failed in messaging\.\n/,
    );
  });

  it('has a row per service', () => {
    expect(summary).toContain(
      '| service | verdict | pass | fail | warning | observed | known | skipped | blocked | requests |',
    );
    expect(summary).toMatch(/^\| realtime \(staging\) \| conforms \| 10 \|/m);
  });

  it('leads with a table of the causes, in which no text of a provider is markup', () => {
    const told = renderMarkdown(diagnosedResults());
    expect(told.indexOf('### What is wrong')).toBeLessThan(told.indexOf('| service | verdict |'));
    expect(told).toContain(
      '3 failures and 2 warnings.\n\n| finding | how long | where | what to change |\n| :-- | :-- | :-- | :-- |\n',
    );
    expect(told).toContain(
      '| ✕ A request without a credential is answered 200 |  | search: auth.missing-credential, limits.retry-after |  |\n',
    );
    const rows = told.split('\n').filter((line) => /^\| [✕△] (?:expected|got) /.test(line));
    expect(rows).toHaveLength(3);
    for (const line of rows) expect(line.split('|')).toHaveLength(6);
  });

  it('tells each failure with how to repeat it', () => {
    expect(summary).toContain('**auth.missing-credential** · search · fail · MUST');
    expect(summary).toMatch(/```sh\ncurl --include .*\n```/);
  });

  it('says what could not be judged, and which suites do not apply, a line each', () => {
    expect(summary).toContain(
      '- **blocked**, 4 checks (search, messaging, realtime): no second key is configured',
    );
    expect(summary).toContain(
      '- **websocket** does not apply (search, messaging): the service config names no websocket\n',
    );
    expect(summary).not.toContain('skipped**');
  });

  it('shows no long value whole', () => {
    const message = `expected 401, got 200 for "${'k'.repeat(9_216)}"`;
    const told = renderMarkdown(
      resultsOf([{ ...failingService(), checks: [sampleCheck('fail', { message })] }]),
    );
    expect(told).toContain('…9,218 characters…');
    expect(told).not.toMatch(/k{200}/);
  });

  it('lets no text of a provider become markup', () => {
    const prose = outsideFences(summary).replace(/&#\d+;/g, '');
    expect(prose).not.toMatch(/<(?!\/?(details|summary)>)/);
    expect(prose).not.toMatch(/@someone|\]\(|#1|\$x|```|\| pipes/);
  });

  it('closes its fences whatever backticks they hold', () => {
    expect(renderMarkdown(sampleResults())).toContain('```````text\n');
  });

  it('stays within its room, and says what it left out', () => {
    const checks = Array.from({ length: 500 }, (_, index) =>
      sampleCheck('fail', { id: `x.${index}`, message: HOSTILE.repeat(20) }),
    );
    const long = renderMarkdown(resultsOf([{ ...failingService(), checks }]));
    expect(Buffer.byteLength(long)).toBeLessThanOrEqual(SUMMARY_LIMIT);
    expect(long).toMatch(/\*… \d+ more failures: see the full report\.\*/);
    outsideFences(long);
  });

  it('tells a run that was cut short from one that conforms', () => {
    expect(renderMarkdown(sampleResults({ interrupted: true, interruption: 'SIGINT' }))).toMatch(
      /^## ⚠️ Inconclusive\n\nThe run was cut short: SIGINT\. Also: /,
    );
  });
});

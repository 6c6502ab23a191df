import { describe, expect, it } from 'vitest';
import { diagnosedResults } from '../../fixtures/sample-results.ts';
import { renderJunit } from '../../formats/junit.ts';
import { renderMarkdown } from '../../formats/markdown.ts';
import { verdictText } from '../../terminal/terminal.ts';
import type { Results } from '../results.ts';
import { newsInWords } from './news.ts';

const SINCE = '2026-11-14T03:00:00.000Z';
const FAILED = { service: 'search', check: 'auth.missing-credential' };

/** A night whose failure is like this, after one that failed in something else. */
function night(state: 'new' | 'back' | 'still failing'): Results {
  return {
    ...diagnosedResults(),
    history: {
      runs: [{ id: 'before', startedAt: '2026-11-20T03:00:00.000Z', exitCode: 1, failed: 1 }],
      changes: [
        { ...FAILED, state, runs: state === 'still failing' ? 9 : 1, since: SINCE },
        { service: 'messaging', check: 'status.unknown-path', state: 'fixed', runs: 2, since: SINCE },
      ],
      flaky: [{ service: 'messaging', check: 'status.unknown-path' }],
      notes: [],
    },
  };
}

describe('what differs from the night before', () => {
  it('is a line for each kind of change', () => {
    expect(newsInWords(night('new'))).toEqual([
      'New: auth.missing-credential (search)',
      'Fixed since 20 Nov: status.unknown-path (messaging)',
      'Flaky, with no known change of the provider: status.unknown-path (messaging)',
    ]);
    expect(newsInWords(night('back'))[0]).toBe('Back: auth.missing-credential (search)');
    expect(newsInWords({ ...night('new'), history: undefined } as never)).toEqual([]);
  });

  it.each([
    ['new', 'new'],
    ['back', 'back'],
    ['still failing', '9 runs, since 14 Nov'],
  ] as const)('stands with a failure that is %s in the brief verdict and in JUnit', (state, words) => {
    const results = night(state);
    const quiet = verdictText(results, { color: false, width: 100, verbosity: 'quiet' });
    expect(quiet).toMatch(new RegExp(`^2 failed: A request without .* \\(${words}\\)$`, 'm'));
    expect(quiet).toContain('Fixed since 20 Nov: status.unknown-path (messaging)\n');
    const suite = renderJunit(results).suites.get('search.auth') ?? '';
    expect(suite).toMatch(new RegExp(`<failure [^>]*>${words}\n`));
  });

  it('stands in the summary of a CI job', () => {
    const summary = renderMarkdown(night('new'));
    expect(summary).toContain('### Since the run before\n\n- New: auth.missing-credential (search)\n');
  });
});

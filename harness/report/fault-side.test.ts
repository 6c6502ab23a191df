import { expect, it } from 'vitest';
import { conformingService, resultsOf, sampleCheck } from './fixtures/sample-results.ts';
import { wholeText } from './fixtures/whole-text.ts';
import { DEFAULT_CHOICES } from './format.ts';
import { ctrf } from './formats/ctrf.ts';
import { renderJunit } from './formats/junit.ts';
import { renderMarkdown } from './formats/markdown.ts';
import { renderPage } from './html/page.ts';
import { verdictText } from './terminal/terminal.ts';

it.each([
  ['document', 'the document'],
  ['config', "conform's config"],
] as const)('says in every report that a finding is the fault of the %s', (fault, words) => {
  const failed = sampleCheck('fail');
  if (failed.finding === undefined) throw new Error('the sample has no finding');
  const check = { ...failed, finding: { ...failed.finding, fault } };
  const results = {
    ...resultsOf([{ ...conformingService('search'), checks: [check] }]),
    causes: [],
    unexplained: [{ service: 'search', check: check.id }],
  };
  const shown = (verbosity: 'normal' | 'verbose') =>
    verdictText(results, { color: false, width: 80, verbosity });
  expect(shown('normal')).toContain(`\n       fault   of ${words}\n`);
  expect(shown('verbose')).toContain(`\n    fault   of ${words}\n`);
  expect(renderJunit(results).merged).toContain(`\nfault of ${words}\n`);
  const pieces = ctrf.render(results, DEFAULT_CHOICES)['ctrf.json'];
  const test = JSON.parse(typeof pieces === 'function' ? wholeText(pieces) : '').results.tests[0];
  expect(test).toMatchObject({ extra: { fault }, trace: expect.stringContaining(`\nfault of ${words}\n`) });
  expect(renderMarkdown(results)).toContain(` · fault of ${words}\n`);
  expect(renderPage(results)).toContain(`<h3>Whose fault</h3><p>That of ${words.replace("'", '&#39;')}.</p>`);
});

it('says on the page whom an operation that was not exercised is up to', () => {
  const left = {
    operation: 'GET /toys/{id}',
    id: 'toy',
    place: 'toys.yaml:1:1',
    notExercised: { reason: 'its id has no example', why: 'unfit', fault: 'document' },
    answers: [{ code: '200', seen: 0 }],
    undocumented: [],
  } as const;
  const results = resultsOf([{ ...conformingService('search'), operationCoverage: [left] }]);
  expect(renderPage(results)).toContain('not exercised: its id has no example, which is up to the document');
});

import { expect, it } from 'vitest';
import { conformingService, resultsOf } from './fixtures/sample-results.ts';
import { renderMarkdown } from './formats/markdown.ts';
import { renderPage } from './html/page.ts';
import { verdictText } from './terminal/terminal.ts';

it('tells the faults of a document in every report, each with its place', () => {
  const documentRemarks = ['kye', 'none'].map((text, at) => ({ place: `api.yaml:${at + 7}:3`, text }));
  const results = resultsOf([{ ...conformingService('orders'), documentRemarks }]);
  const terminal = verdictText(results, { color: false, width: 80, verbosity: 'normal' });
  expect(terminal).toContain('2 faults of the document (orders): api.yaml:7:3: kye\n');
  const summary = renderMarkdown(results);
  const page = renderPage(results);
  for (const { place, text } of documentRemarks) {
    expect(summary).toContain(`- **the document** (orders): ${place}: ${text}`);
    expect(page).toContain(`<b>${place}</b><span class="grow">${text}</span>`);
  }
});

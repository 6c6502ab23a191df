import { grouped } from '../../../base/text.ts';
import type { Results } from '../../results/results.ts';
import { NOUNS, WORST_FIRST } from '../../results/tally.ts';
import { icon } from './icons.ts';
import { html, type Markup } from './markup.ts';

/** Reports that lie beside the page. */
const FILES = ['results.json', 'junit.xml', 'journal.ndjson'];

/** What stays on top: the filter, which the script shows, and the other files of the run. */
export function bar(): Markup {
  return html`<div class="bar"><div class="wrap">
<a class="brand" href="#main">${icon('mark')}conform</a>
<search class="scripted"><form id="filter">${icon('search')}<label for="query" class="unseen">Filter checks</label>
<input id="query" type="search" autocomplete="off" spellcheck="false" placeholder="Filter: words, is:fail, service:orders, suite:auth …" aria-describedby="query-help">
<kbd aria-hidden="true">/</kbd>
<p id="query-help" class="unseen">Words are looked for in headlines, ids and what came. is: service: suite: id: and level: narrow it down; a comma means or, a blank and, a leading minus not; quotes hold a phrase together.</p></form></search>
<nav aria-label="Files of this run">${FILES.map((file) => html`<a href="${file}">${file}</a>`)}</nav>
<button type="button" class="square scripted" id="theme" aria-label="Light or dark">${icon('theme')}</button>
</div></div>`;
}

/** How many checks ended how: a toggle for each outcome that occurs. */
export function chips({ totals }: Results): Markup {
  return html`<div class="chips" role="group" aria-label="Filter by outcome" tabindex="-1">${WORST_FIRST.filter(
    (outcome) => totals[outcome] > 0,
  ).map((outcome) => {
    const n = totals[outcome];
    const said = outcome === 'skipped' ? 'do not apply' : NOUNS[outcome](n);
    return html`<button type="button" class="chip" data-chip="${outcome}" aria-pressed="false">${icon(outcome)}<b>${grouped(n)}</b> ${said}</button>`;
  })}</div>`;
}

/** What the filter has left; told as it changes. */
export function filterNotes(): Markup {
  return html`<div class="notes scripted"><output id="shown" for="query" aria-live="polite"></output> <button type="button" id="clear" hidden>Clear the filter</button></div>`;
}

const KEYS: readonly (readonly [readonly string[], string])[] = [
  [['j', 'k'], 'next, previous row'],
  [['Enter', 'o'], 'open or close'],
  [['x'], 'close all'],
  [['/'], 'filter'],
  [['Esc'], 'clear the filter, then close, then leave'],
  [['c'], 'copy the command of the open finding'],
  [['t'], 'light or dark'],
  [['?'], 'this list'],
];

/** Keys that work everywhere, the first few at the foot of the page and all of them behind `?`. */
export function footer({ run: { harness, id } }: Results): Markup {
  const keys = (names: readonly string[]) => names.map((key) => html`<kbd>${key}</kbd> `);
  const few: readonly (readonly [readonly string[], string])[] = [
    [['j', 'k'], 'next, previous'],
    [['Enter'], 'open'],
    [['/'], 'filter'],
    [['Esc'], 'clear'],
    [['?'], 'all keys'],
  ];
  return html`<footer class="wrap"><p class="keys scripted">${few.map(([names, does]) => html`<span>${keys(names)}${does}</span>`)}</p>
<p>${harness.name} ${harness.version}, Node ${harness.node.replace(/^v/, '')}, run ${id}</p></footer>
<dialog id="keys" aria-labelledby="keys-title"><h2 id="keys-title">Keys</h2><dl>${KEYS.map(
    ([names, does]) => html`<div><dt>${keys(names)}</dt><dd>${does}</dd></div>`,
  )}</dl><form method="dialog"><button>Close</button></form></dialog>`;
}

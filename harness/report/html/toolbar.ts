import { OUTCOMES } from '../../contract/outcome.ts';
import type { Results } from '../results/results.ts';
import { WORST_FIRST } from '../results/tally.ts';
import { html, type Markup } from './markup.ts';

/** Search and filters; hidden until the script runs, since they are of no use without it. */
export function toolbar(results: Results): Markup {
  const present = WORST_FIRST.filter((outcome) => OUTCOMES.includes(outcome) && results.totals[outcome] > 0);
  return html`<search class="toolbar" aria-label="Filter checks"><form>
<label for="query" class="unseen">Filter checks</label>
<input id="query" type="search" autocomplete="off" spellcheck="false" placeholder="Filter: text, s:fail, suite:json, service:search" aria-describedby="query-help">
<div class="chips" role="group" aria-label="Outcomes">${present.map(
    (outcome) =>
      html`<button type="button" class="chip ${outcome}" data-chip="${outcome}" aria-pressed="false">${outcome} <span>${results.totals[outcome]}</span></button>`,
  )}</div>
<output for="query" aria-live="polite" id="shown"></output>
<p id="query-help" class="unseen">Words are looked for in ids, titles and messages. s: outcome, suite:, service:, level: and id: narrow it down; a comma means or, a leading minus means not.</p>
</form></search>`;
}

import type { Results } from '../results/results.ts';
import { counted, notRun, type SameReason } from '../results/tally.ts';
import { checkAnchor } from './anchor.ts';
import { badge } from './badge.ts';
import { html, type Markup } from './markup.ts';

/** What did not run, by reason: blocked is never green, skipped does not apply. */
export function didNotRun(results: Results): Markup | null {
  const groups = notRun(results);
  if (groups.length === 0) return null;
  const n = groups.reduce((sum, { judged }) => sum + judged.length, 0);
  return html`<section id="not-run" aria-labelledby="not-run-title"><h2 id="not-run-title">Did not run, and why <span class="n">${n}</span></h2>
<p class="lead"><strong>Blocked</strong>: applies, but could not be exercised. <strong>Skipped</strong>: does not apply to this service.</p>
<ul class="reasons">${groups.map(group)}</ul></section>`;
}

function group({ outcome, reason, judged }: SameReason): Markup {
  const byService = Map.groupBy(judged, ({ service }) => service.service);
  return html`<li><details><summary>${badge(outcome)}<span class="reason">${reason}</span><span class="muted">${counted(judged.length, 'check')}</span></summary>
<dl>${[...byService].map(
    ([service, of]) =>
      html`<div><dt>${service}</dt><dd>${of.map(
        ({ service: of, check }) => html`<a href="#${checkAnchor(of, check)}">${check.id}</a> `,
      )}</dd></div>`,
  )}</dl></details></li>`;
}

import { causesHeadline, type Told, toldIn } from '../results/causes.ts';
import type { Results } from '../results/results.ts';
import { badge, checkAnchor } from './check-detail.ts';
import { html, type Markup } from './markup.ts';

/** What is wrong, a row for each cause; what no cause explains stands by itself. Null where there is nothing to tell. */
export function causes(results: Results): Markup | null {
  const headline = causesHeadline(results);
  if (headline === null) return null;
  return html`<section id="causes" aria-labelledby="causes-title"><h2 id="causes-title">What is wrong</h2>
<p class="lead">${headline}.</p>
<ul class="reasons">${toldIn(results).map(row)}</ul></section>`;
}

function row({ sentence, cause, findings, outcome }: Told): Markup {
  const byService = Map.groupBy(findings, ({ service }) => service.service);
  return html`<li><details><summary>${badge(outcome)}<strong class="reason">${sentence}</strong><span class="muted">${[...byService.keys()].join(', ')} · ${findings.length}</span></summary>
<dl>${[...byService].map(
    ([service, judged]) =>
      html`<div><dt>${service}</dt><dd>${judged.map(
        (each) => html`<a href="#${checkAnchor(each.service, each.check)}">${each.check.id}</a> `,
      )}</dd></div>`,
  )}${
    cause !== null &&
    html`${cause.alternatives.length > 0 && html`<div><dt>Or</dt><dd>${cause.alternatives.join('; ')}</dd></div>`}<div><dt>The same fault to compare with</dt><dd><code>${cause.command}</code></dd></div>`
  }</dl></details></li>`;
}

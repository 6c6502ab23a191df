import type { Results } from '../results/results.ts';
import { counted, notRun, type SameReason } from '../results/tally.ts';
import { valueInWords } from '../results/words.ts';
import { badge, checkAnchor } from './check-detail.ts';
import { html, type Markup } from './markup.ts';

/** What the documents leave open and the services answered, the same key of several services side by side. */
export function observations(results: Results): Markup | null {
  const rows = results.services
    .flatMap((service) => service.observations.map((seen) => ({ service, seen })))
    .sort((a, b) => compare(a.seen.key, b.seen.key) || compare(a.service.service, b.service.service));
  if (rows.length === 0) return null;
  const body = rows.map(({ service, seen }) => {
    const check = service.checks.find(({ id }) => id === seen.check);
    const source = check
      ? html`<a href="#${checkAnchor(service, check)}">${seen.check}</a>`
      : html`${seen.check}`;
    return html`<tr data-row data-s="observed" data-suite="${check?.suite ?? ''}" data-service="${service.service}" data-level="NONE"><th scope="row"><code>${seen.key}</code></th><td class="value">${valueInWords(seen.value, 1_000)}</td><td>${service.service}</td><td>${source}</td></tr>`;
  });
  return html`<section id="observations" aria-labelledby="observations-title" data-filtered><h2 id="observations-title">Observed <span class="n">${rows.length}</span></h2>
<p class="lead">What the documents leave open. Nothing here is a failure.</p>
<div class="scroll" tabindex="0" role="group" aria-label="Table of observations"><table class="observed-facts"><caption>Observations by key</caption>
<thead><tr><th scope="col">Key</th><th scope="col">Value</th><th scope="col">Service</th><th scope="col">Check</th></tr></thead><tbody>${body}</tbody></table></div></section>`;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

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

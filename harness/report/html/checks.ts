import type { Outcome } from '../../contract/outcome.ts';
import type { Results, ServiceResult } from '../results/results.ts';
import { type Judged, judgedWith, suitesOf, tallyOf, tallyWords } from '../results/tally.ts';
import { duration } from '../results/words.ts';
import { badge, checkAnchor, checkDetail, filterable, suiteAnchor } from './check-detail.ts';
import { html, type Markup } from './markup.ts';

/** Outcomes told as cards with their whole evidence, in this order. */
const FINDINGS: readonly {
  readonly outcomes: readonly Outcome[];
  readonly id: string;
  readonly title: string;
}[] = [
  { outcomes: ['error'], id: 'errors', title: 'Harness errors' },
  { outcomes: ['fail'], id: 'failures', title: 'Failures' },
  { outcomes: ['warning'], id: 'warnings', title: 'Warnings' },
];

/** Transcripts that stand in the page itself, so that they can be read without script; the rest is packed. */
const INLINE_CARDS = 60;

function isFinding(outcome: Outcome): boolean {
  return FINDINGS.some(({ outcomes }) => outcomes.includes(outcome));
}

export function findings(
  results: Results,
): readonly { readonly id: string; readonly title: string; readonly n: number; readonly section: Markup }[] {
  let inline = INLINE_CARDS;
  return FINDINGS.flatMap(({ outcomes, id, title }) => {
    const found = judgedWith(results, ...outcomes);
    if (found.length === 0) return [];
    const cards = found.map((judged) => {
      inline -= 1;
      return card(judged, inline >= 0);
    });
    const section = html`<section id="${id}" class="findings" aria-labelledby="${id}-title" data-filtered>
<h2 id="${id}-title">${title} <span class="n">${found.length}</span></h2>
${cards}</section>`;
    return [{ id, title, n: found.length, section }];
  });
}

function card(judged: Judged, inline: boolean): Markup {
  const { service, check } = judged;
  const anchor = checkAnchor(service, check);
  return html`<details open class="card ${check.outcome}" id="${anchor}" ${filterable(judged)}><summary>${badge(check.outcome)}
<h3>${check.title}</h3><span class="meta"><code>${check.id}</code><span>${service.service}</span><span>${check.suite}</span><span>${
    check.level === 'NONE' ? 'not judged' : check.level
  }</span></span></summary>
${checkDetail(judged, { inline })}
<p class="permalink"><a href="#${anchor}">Link to this check<span class="unseen"> ${check.id} of ${service.service}</span></a></p></details>`;
}

/** Above so many rows a printed page leaves the list out. */
const PRINTED_ROWS = 2_000;

/** Every check of every service by suite; the evidence of rows is unpacked when one is opened. */
export function allChecks(results: Results): Markup {
  const n = results.services.reduce((sum, { checks }) => sum + checks.length, 0);
  const groups = suitesOf(results).flatMap((suite) =>
    results.services.map((service) => group(service, suite)),
  );
  return html`<section id="checks" class="${n > PRINTED_ROWS ? 'long' : ''}" aria-labelledby="checks-title" data-filtered><h2 id="checks-title">All checks <span class="n">${n}</span></h2>
${groups}</section>`;
}

function group(service: ServiceResult, suite: string): Markup | null {
  const checks = service.checks.filter((check) => check.suite === suite);
  if (checks.length === 0) return null;
  const words = tallyWords(tallyOf(checks)).map((part) => part.words.replaceAll(' ', '\u00a0'));
  return html`<section class="group" data-filtered><h3 id="${suiteAnchor(service, suite)}">${suite} <span class="of">${service.service}</span> <span class="tally">${words.join(', ')}</span></h3>
<ul class="rows">${checks.map((check) => row({ service, check }))}</ul></section>`;
}

function row(judged: Judged): Markup {
  const { service, check } = judged;
  const anchor = checkAnchor(service, check);
  const line = html`${badge(check.outcome)}<span class="what"><span class="title">${check.title}</span> <code>${check.id}</code></span><span class="level">${
    check.level === 'NONE' ? '' : check.level
  }</span><span class="time">${check.durationMs > 0 ? duration(check.durationMs) : ''}</span>`;
  if (isFinding(check.outcome)) {
    return html`<li ${filterable(judged)}><a class="row" href="#${anchor}">${line}</a></li>`;
  }
  return html`<li ${filterable(judged)}><details id="${anchor}"><summary class="row">${line}</summary>${checkDetail(judged, { inline: false })}</details></li>`;
}

import type { Results, ServiceResult } from '../results/results.ts';
import { type Judged, suitesOf, tallyOf, tallyWords } from '../results/tally.ts';
import { duration } from '../results/words.ts';
import { checkAnchor, suiteAnchor } from './anchor.ts';
import { badge } from './badge.ts';
import { checkDetail, filterable } from './check-detail.ts';
import { isFinding } from './findings.ts';
import { html, type Markup } from './markup.ts';

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

import { grouped } from '../../../base/text.ts';
import type { Outcome } from '../../../base/verdict.ts';
import type { Results, RunResult, ServiceResult } from '../../results/results.ts';
import { serviceVerdict } from '../../results/run-verdict.ts';
import {
  counted,
  NOUNS,
  outcomeWords,
  suitesOf,
  tallyOf,
  troubleInWords,
  WORST_FIRST,
} from '../../results/tally.ts';
import { duration, SIMULATED_TIME, VERDICTS } from '../../results/words/words.ts';
import { html, icon, type Markup, signIcon } from '../markup/markup.ts';
import {
  chips,
  shortSpent,
  spentBy,
  spentInWords,
  spentOn,
  suiteAnchor,
  waitInWords,
} from '../markup/row.ts';

/** Number of services with a line for their time. */
const SLOWEST = 3;
/** Columns of services that a wide page has at most: each has the names of the suites above it. */
const MOST_COLUMNS = 5;

const LEGEND: readonly (readonly [string, string])[] = [
  ['fail', 'fails'],
  ['blocked', 'blocked'],
  ['warning', 'warning'],
  ['pass', 'passes'],
  ['none', 'does not apply'],
];

/** The matrix of many services: a square for each suite of each of them, the worst first. */
export function heatGrid(results: Results, withChips: boolean): Markup {
  const suites = appliedSuites(results);
  const rows = results.services
    .map((service) => ({ service, squares: suites.map((suite) => worstIn(service, suite)) }))
    .sort((a, b) => badness(a.squares) - badness(b.squares) || compare(a.service.service, b.service.service));
  const n = results.services.length;
  const names = html`<span class="suites">${suites.map((suite) => html`<span>${suite}</span>`)}</span>`;
  return html`<section id="matrix" class="fleet" aria-labelledby="matrix-title"><div class="heading"><h2 id="matrix-title">Services and suites <span class="n">${n} services, ${suites.length} suites</span></h2>${withChips ? chips(results) : html`<p class="hint">a square leads to its checks</p>`}</div>
<form class="find scripted" id="find">${icon('search')}<label class="unseen" for="find-service">Find a service</label><input id="find-service" type="search" autocomplete="off" placeholder="Find a service"><output for="find-service">${n}</output>
<span role="group" aria-label="Sort"><button type="button" data-sort="worst" aria-pressed="true">Worst first</button><button type="button" data-sort="name" aria-pressed="false">by name</button><button type="button" data-sort="slowest" aria-pressed="false">slowest first</button></span></form>
<div class="columns" aria-hidden="true">${Array.from({ length: MOST_COLUMNS }, () => names)}</div>
<table class="heat" role="table"><caption class="unseen">Worst outcome by service and suite</caption>
<thead class="unseen" role="rowgroup"><tr role="row"><th scope="col" role="columnheader">Service</th>${suites.map((suite) => html`<th scope="col" role="columnheader">${suite}</th>`)}</tr></thead>
<tbody role="rowgroup">${rows.map((each, at) => line(each, suites, at))}</tbody></table>
<p class="legend">${LEGEND.map(([kind, word]) => html`<span>${mark(kind)}${word}</span>`)}</p>
</section>${slowest(results.services)}`;
}

/** The worst outcome of a service in each suite. */
interface HeatRow {
  readonly service: ServiceResult;
  readonly squares: readonly (Outcome | null)[];
}

function line({ service, squares }: HeatRow, suites: readonly string[], at: number): Markup {
  const worst = WORST_FIRST.find((outcome) => squares.includes(outcome)) ?? 'skipped';
  const { service: name } = service;
  return html`<tr role="row" data-name="${name}" data-ms="${Math.round(service.durationMs)}" data-at="${at}"><th scope="row" role="rowheader" class="${worst}">${name}</th>${suites.map((suite, column) => square(service, suite, squares[column] ?? null))}</tr>`;
}

function square(service: ServiceResult, suite: string, worst: Outcome | null): Markup {
  if (worst === null)
    return html`<td role="cell"><span class="sq none"></span><span class="unseen">does not apply</span></td>`;
  const tally = tallyOf(service.checks.filter((check) => check.suite === suite));
  const said = `${service.service}, ${suite}, ${outcomeWords(worst, tally[worst])}`;
  return html`<td role="cell"><a class="sq ${worst}" href="#${suiteAnchor(suite)}" data-query="service:${service.service} suite:${suite}" aria-label="${said}"></a></td>`;
}

function mark(kind: string): Markup {
  return html`<span class="sq ${kind}" aria-hidden="true"></span>`;
}

/** Fails before blocked, warns, passes; an error of ours before all. */
function badness(squares: readonly (Outcome | null)[]): number {
  return WORST_FIRST.findIndex((outcome) => squares.includes(outcome));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

export function slowestOf(services: readonly ServiceResult[]): readonly ServiceResult[] {
  return [...services].sort((a, b) => b.durationMs - a.durationMs).slice(0, SLOWEST);
}

function slowest(services: readonly ServiceResult[]): Markup {
  return html`<section id="slowest" aria-labelledby="slowest-title"><div class="heading"><h2 id="slowest-title">Slowest <span class="n">${SLOWEST} of ${services.length}</span></h2></div>
<ul class="lines">${slowestOf(services).map(
    (service) =>
      html`<li><b>${service.service}</b><span>${duration(service.durationMs)}</span><span class="grow">${spentInWords(spentBy(service))}</span><span>plan: ${planInWords(service)}</span></li>`,
  )}</ul></section>`;
}

/** Outcomes in cells; observed comes after all that was judged. */
const IN_CELLS = WORST_FIRST.filter((outcome) => outcome !== 'observed' && outcome !== 'skipped');

export function appliedSuites(results: Results): readonly string[] {
  return suitesOf(results).filter((suite) =>
    results.services.some(({ checks }) =>
      checks.some((check) => check.suite === suite && check.outcome !== 'skipped'),
    ),
  );
}

/** Services are rows, suites columns; a cell tells its worst outcome and filters the page to its checks. */
export function matrix(results: Results, withChips: boolean): Markup | null {
  const { services, run } = results;
  if (services.length === 0) return null;
  const suites = appliedSuites(results);
  const beside = withChips ? chips(results) : html`<p class="hint">checks, time at work + time waiting</p>`;
  return html`<section id="matrix" aria-labelledby="matrix-title"><div class="heading"><h2 id="matrix-title">Services and suites</h2>${beside}</div>
<table class="matrix"><caption class="unseen">Checks by service and suite</caption>
<thead><tr><th scope="col">Service</th>${suites.map((suite) => html`<th scope="col">${suite}</th>`)}<th scope="col" class="took">Took</th></tr></thead>
<tbody>${services.map((service) => row(service, suites, run))}</tbody></table>
${places(services)}</section>`;
}

function row(service: ServiceResult, suites: readonly string[], run: RunResult): Markup {
  const { word } = serviceVerdict(service, run);
  const spent = spentBy(service);
  const passing = suites.filter((suite) => worstIn(service, suite) === 'pass').length;
  return html`<tr><th scope="row"><span class="name">${signIcon(VERDICTS[word].sign)}${service.service}<span class="unseen"> ${word}</span></span><span class="plan">${planInWords(service)}</span></th>${suites.map((suite) => cell(service, suite))}<td class="took">${duration(service.durationMs)}<span>${waitInWords(spent)}</span></td>${
    passing > 0 &&
    html`<td class="passing" aria-hidden="true">${icon('pass')}${counted(passing, 'suite')} ${passing === 1 ? 'passes' : 'pass'}</td>`
  }</tr>`;
}

export function planInWords({ plan }: ServiceResult): string {
  return plan === null ? 'rate not stated' : `${grouped(plan.requests)} in ${plan.windowSeconds} s`;
}

/** The worst outcome of a suite of a service, as far as cells tell it; null where it does not apply. */
export function worstIn(service: ServiceResult, suite: string): Outcome | null {
  const checks = service.checks.filter((check) => check.suite === suite && check.outcome !== 'skipped');
  if (checks.length === 0) return null;
  const tally = tallyOf(checks);
  return IN_CELLS.find((outcome) => tally[outcome] > 0) ?? 'observed';
}

function cell(service: ServiceResult, suite: string): Markup {
  const worst = worstIn(service, suite);
  if (worst === null) return html`<td class="none">–<span class="unseen"> does not apply</span></td>`;
  const checks = service.checks.filter((check) => check.suite === suite);
  const tally = tallyOf(checks);
  const second = IN_CELLS.find((outcome) => outcome !== worst && outcome !== 'pass' && tally[outcome] > 0);
  const count = (outcome: Outcome) =>
    html`<b class="${outcome}">${icon(outcome)}${grouped(tally[outcome])}<span class="unseen"> ${NOUNS[outcome](tally[outcome])}</span></b>`;
  return html`<td class="${worst}"><a href="#${suiteAnchor(suite)}" data-query="service:${service.service} suite:${suite}"><span class="counts"><span class="suite">${suite} </span>${count(worst)}${second && count(second)}</span><span class="spent">${shortSpent(spentOn(checks))}</span></a></td>`;
}

/** `260 requests answered in HTTP/2` */
function versionsInWords(versions: ServiceResult['httpVersions'] = {}): readonly string[] {
  return Object.entries(versions).map(
    ([version, count]) => `${counted(count, 'request')} answered in HTTP/${version}`,
  );
}

/** Where the services were, and notes on their runs. */
function places(services: readonly ServiceResult[]): Markup {
  return html`<details class="places"><summary>${icon('chevron')}Where they ran</summary><ul>${services.map(
    (service) => {
      const { provider, simulatedTime, httpVersions, cautions = [], remarks = [] } = service;
      const trouble = troubleInWords(service);
      const { kind, url, image, proxy, log } = provider;
      const parts = [
        kind,
        url,
        image ?? '',
        proxy === undefined ? '' : `through ${proxy}`,
        ...versionsInWords(httpVersions),
      ];
      const notes = [
        ...(trouble === null ? [] : [trouble]),
        ...(simulatedTime ? [SIMULATED_TIME] : []),
        ...cautions,
        ...remarks,
      ];
      return html`<li><b>${service.service}</b> ${parts.filter((part) => part !== '').join(', ')}${log !== undefined && html`, <a href="${log}">what it wrote</a>`}${notes.map((note) => html`<span class="note">${note}</span>`)}</li>`;
    },
  )}</ul></details>`;
}

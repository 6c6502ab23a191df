import { grouped } from '../../../base/text.ts';
import type { Outcome } from '../../../base/verdict.ts';
import type { Results, RunResult, ServiceResult } from '../../results/results.ts';
import { serviceVerdict } from '../../results/run-verdict.ts';
import { counted, NOUNS, suitesOf, tallyOf, WORST_FIRST } from '../../results/tally.ts';
import { duration, SIMULATED_TIME, VERDICTS } from '../../results/words/words.ts';
import { chips } from '../markup/bar.ts';
import { icon, signIcon } from '../markup/icons.ts';
import { html, type Markup } from '../markup/markup.ts';
import { suiteAnchor } from '../markup/row.ts';
import { shortSpent, spentBy, spentOn, waitInWords } from '../markup/times.ts';

/** Outcomes in cells; what was only observed stands behind what was judged. */
const IN_CELLS = WORST_FIRST.filter((outcome) => outcome !== 'observed' && outcome !== 'skipped');

/** Suites that apply to a service at least. */
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

/** Where the services were, and what is to be known of how their runs went. */
function places(services: readonly ServiceResult[]): Markup {
  return html`<details class="places"><summary>${icon('chevron')}Where they ran</summary><ul>${services.map(
    ({ service, provider, trouble, simulatedTime, cautions = [], remarks = [] }) => {
      const { kind, url, image, proxy, log } = provider;
      const parts = [kind, url, image ?? '', proxy === undefined ? '' : `through ${proxy}`];
      const notes = [
        ...(trouble === null ? [] : [trouble]),
        ...(simulatedTime ? [SIMULATED_TIME] : []),
        ...cautions,
        ...remarks,
      ];
      return html`<li><b>${service}</b> ${parts.filter((part) => part !== '').join(', ')}${log !== undefined && html`, <a href="${log}">what it wrote</a>`}${notes.map((note) => html`<span class="note">${note}</span>`)}</li>`;
    },
  )}</ul></details>`;
}

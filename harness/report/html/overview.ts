import { OUTCOMES } from '../../contract/outcome.ts';
import type { Results, RunResult, ServiceResult } from '../results/results.ts';
import { serviceVerdict, verdictOf } from '../results/run-verdict.ts';
import { suitesOf, tallyOf, tallyWords, WORST_FIRST } from '../results/tally.ts';
import {
  duration,
  HEADLINES,
  instant,
  requestsInWords,
  serviceVerdictInWords,
  toneOf,
  verdictSentence,
  wallTime,
} from '../results/words.ts';
import { suiteAnchor } from './check-detail.ts';
import { html, type Markup } from './markup.ts';

/** The verdict at a glance and the facts of the run. */
export function pageHeader(results: Results): Markup {
  const { run, services } = results;
  const verdict = verdictOf(results);
  const facts: readonly (readonly [string, string])[] = [
    ['Started', instant(run.startedAt)],
    ['Took', duration(wallTime(run))],
    ['Sent', requestsInWords(services)],
    ['Exit code', String(verdict.exitCode)],
    ['Run', run.id],
    ['By', `${run.harness.name} ${run.harness.version}, Node ${run.harness.node.replace(/^v/, '')}`],
    ...(run.strict ? ([['Strict', 'warnings count as failures']] as const) : []),
  ];
  return html`<header class="verdict v${toneOf(verdict)}">
<p class="brand">conform<span> · conformance report</span></p>
<h1>${HEADLINES[verdict.word]}</h1>
<p class="sentence">${verdictSentence(verdict, results)}</p>
${
  run.faults.length === 0
    ? null
    : html`<ul class="faults">${run.faults.slice(0, 50).map((fault) => html`<li>${fault}</li>`)}</ul>`
}
<dl class="facts">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
</header>`;
}

/** Services against suites: every cell tells its worst outcome first and leads to its checks. */
export function matrix(results: Results): Markup {
  const suites = suitesOf(results);
  return html`<section id="matrix" aria-labelledby="matrix-title"><h2 id="matrix-title">Services and suites</h2>
<div class="scroll" tabindex="0" role="group" aria-label="Table of services and suites"><table class="matrix">
<caption>Checks by service and suite; a cell leads to its checks</caption>
<thead><tr><th scope="col">Service</th>${suites.map((suite) => html`<th scope="col">${suite}</th>`)}</tr></thead>
<tbody>${results.services.map((service) => row(service, suites, results.run))}</tbody>
</table></div></section>`;
}

function row(service: ServiceResult, suites: readonly string[], run: RunResult): Markup {
  const verdict = serviceVerdict(service, run);
  const { kind, url, image, proxy, log } = service.provider;
  const host = url.replace(/^https?:\/\//, '');
  const where = kind === 'url' ? url : `${kind}${host === '' ? '' : `, ${host}`}`;
  const plan = service.plan === null ? '' : `${service.plan.requests} per ${service.plan.windowSeconds} s, `;
  return html`<tr><th scope="row"><span class="name">${service.service}</span>${
    service.environment === null ? null : html` <span class="muted">${service.environment}</span>`
  }<span class="word v${toneOf(verdict)}">${serviceVerdictInWords(verdict)}</span><span class="where">${where}</span>${
    image === undefined ? null : html`<span class="where">${image}</span>`
  }${
    proxy === undefined ? null : html`<span class="where">through ${proxy}</span>`
  }${(service.cautions ?? []).map((caution) => html`<span class="trouble">${caution}</span>`)}<span class="where">${plan}${requestsInWords([service])}</span>${
    service.trouble === null ? null : html`<span class="trouble">${service.trouble}</span>`
  }${(service.remarks ?? []).map((remark) => html`<span class="where">${remark}</span>`)}${
    log === undefined ? null : html`<span class="where"><a href="${log}">what it wrote</a></span>`
  }</th>${suites.map((suite) => cell(service, suite))}</tr>`;
}

function cell(service: ServiceResult, suite: string): Markup {
  const checks = service.checks.filter((check) => check.suite === suite);
  const [worst, ...others] = tallyWords(tallyOf(checks));
  if (!worst) return html`<td class="empty"><span class="muted">none</span></td>`;
  const query = `service:${service.service} suite:${suite}`;
  return html`<td><a class="cell ${worst.outcome}" href="#${suiteAnchor(service, suite)}" data-query="${query}"><span class="most">${worst.words}</span>${
    others.length === 0
      ? null
      : html`<span class="rest">${others.map(({ words }) => words.replaceAll(' ', '\u00a0')).join(', ')}</span>`
  }</a></td>`;
}

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

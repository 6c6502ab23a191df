import type { Results, ServiceResult } from '../results/results.ts';
import { counted, suitesOf, tallyOf, tallyWords } from '../results/tally.ts';
import { serviceVerdict } from '../results/verdict.ts';
import { suiteAnchor } from './anchor.ts';
import { html, type Markup } from './markup.ts';

/** Services against suites: every cell tells its worst outcome first and leads to its checks. */
export function matrix(results: Results): Markup {
  const suites = suitesOf(results);
  return html`<section id="matrix" aria-labelledby="matrix-title"><h2 id="matrix-title">Services and suites</h2>
<div class="scroll" tabindex="0" role="group" aria-label="Table of services and suites"><table class="matrix">
<caption>Checks by service and suite; a cell leads to its checks</caption>
<thead><tr><th scope="col">Service</th>${suites.map((suite) => html`<th scope="col">${suite}</th>`)}</tr></thead>
<tbody>${results.services.map((service) => row(service, suites, results.run.strict))}</tbody>
</table></div></section>`;
}

function row(service: ServiceResult, suites: readonly string[], strict: boolean): Markup {
  const verdict = serviceVerdict(service, strict);
  const { kind, url, image, log } = service.provider;
  const host = url.replace(/^https?:\/\//, '');
  const where = kind === 'url' ? url : `${kind}${host === '' ? '' : `, ${host}`}`;
  const plan = service.plan === null ? '' : `${service.plan.requests} per ${service.plan.windowSeconds} s, `;
  return html`<tr><th scope="row"><span class="name">${service.service}</span>${
    service.environment === null ? null : html` <span class="muted">${service.environment}</span>`
  }<span class="word v${verdict.exitCode}">${verdict.word}</span><span class="where">${where}</span>${
    image === undefined ? null : html`<span class="where">${image}</span>`
  }<span class="where">${plan}${counted(service.requestsSent, 'request')}</span>${
    service.trouble === null ? null : html`<span class="trouble">${service.trouble}</span>`
  }${
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

import type { Results } from '../results/results.ts';
import { counted } from '../results/tally.ts';
import { verdictOf } from '../results/verdict.ts';
import { duration, HEADLINES, instant, verdictSentence, wallTime } from '../results/words.ts';
import { html, type Markup } from './markup.ts';

/** The verdict at a glance and the facts of the run. */
export function pageHeader(results: Results): Markup {
  const { run, services } = results;
  const verdict = verdictOf(results);
  const requests = services.reduce((sum, { requestsSent }) => sum + requestsSent, 0);
  const facts: readonly (readonly [string, string])[] = [
    ['Started', instant(run.startedAt)],
    ['Took', duration(wallTime(run))],
    ['Sent', counted(requests, 'request')],
    ['Exit code', String(verdict.exitCode)],
    ['Run', run.id],
    ['By', `${run.harness.name} ${run.harness.version}, Node ${run.harness.node.replace(/^v/, '')}`],
    ...(run.strict ? ([['Strict', 'warnings count as failures']] as const) : []),
  ];
  return html`<header class="verdict v${verdict.exitCode}">
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

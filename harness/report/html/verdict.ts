import { grouped } from '../../base/text.ts';
import type { Results } from '../results/results.ts';
import type { Headline } from '../results/words/headline.ts';
import { duration, instantInWords, simulatedInWords, wallTime } from '../results/words/words.ts';
import { signIcon } from './markup/icons.ts';
import { html, type Markup } from './markup/markup.ts';

/** Faults of the harness that are told; the others are in the results. */
const MOST_FAULTS = 20;

/** The verdict in one sentence, and the facts of the run in one line. */
export function verdict(results: Results, { sign, sentence, lead, rest }: Headline): Markup {
  const { run, services } = results;
  const simulated = simulatedInWords(results);
  const environments = new Set(services.flatMap(({ environment }) => environment ?? []));
  const sent = services.reduce((sum, { requestsSent }) => sum + requestsSent, 0);
  const facts: readonly (readonly [string, string])[] = [
    ...(environments.size > 0 ? ([['Environment', [...environments].join(', ')]] as const) : []),
    ['Started', instantInWords(run.startedAt)],
    ['Took', duration(wallTime(run))],
    ...(simulated === null ? [] : ([['Time', simulated]] as const)),
    ['Requests', grouped(sent)],
    ['Run', run.id],
    ['Exit code', String(run.exitCode)],
    ...(run.strict ? ([['Strict', 'warnings count as failures']] as const) : []),
  ];
  const others = [...run.faults.slice(1, MOST_FAULTS), ...(run.remarks ?? [])];
  return html`<header class="verdict"><h1>${signIcon(sign)}<span>${sentence}</span></h1>
<p class="lede"><strong>${lead}</strong> ${rest}</p>
${others.length > 0 && html`<ul class="faults">${others.map((fault) => html`<li>${fault}</li>`)}</ul>`}
<dl class="facts">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
</header>`;
}

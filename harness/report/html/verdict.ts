import { grouped } from '../../base/text.ts';
import type { Change, Results } from '../results/results.ts';
import { counted } from '../results/tally.ts';
import type { Headline } from '../results/words/headline.ts';
import { dayInWords, duration, instantInWords, simulatedInWords, wallTime } from '../results/words/words.ts';
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

/** Runs that are drawn, this one included. */
const BARS = 14;
const BAR_HEIGHT = 26;
/** What was fixed, by name; of more there is the number. */
const NAMED = 6;

const COUNTS: readonly (readonly [Change['state'], string])[] = [
  ['new', 'fail'],
  ['back', 'fail'],
  ['still failing', ''],
  ['fixed', 'pass'],
];

/** Whether this run differs from those before: counts, what was fixed, and a bar for each run. */
export function sinceBefore(results: Results): Markup | null {
  const { history, totals } = results;
  if (history === undefined) return null;
  const last = history.runs.at(-1);
  if (last === undefined) {
    return html`<p class="first-run">First run here, nothing to compare with.</p>`;
  }
  const of = (state: Change['state']) => history.changes.filter((each) => each.state === state);
  const isGreen = totals.fail === 0;
  const counts = COUNTS.map(([state, tone]) => ({ word: state as string, tone, n: of(state).length }));
  const known = { word: 'known', tone: '', n: totals.known };
  const told = [...counts.slice(0, 3), known, ...counts.slice(3)].filter(
    ({ n, word }) => n > 0 || (isGreen && (word === 'new' || word === 'still failing')),
  );
  const fixed = Map.groupBy(of('fixed'), ({ check }) => check);
  return html`<section class="since" aria-label="Since the run before"><div><p class="label">Since the run before, ${instantInWords(last.startedAt)}, ${last.id}</p>
<p class="counts-of">${told.map(({ word, tone, n }) => html`<span><b class="${tone}">${grouped(n)}</b> ${word}</span>`)}${told.length === 0 && 'Nothing has changed.'}</p></div>
${
  fixed.size > 0 &&
  html`<div class="grow"><p class="label">Fixed</p><p>${[...fixed].slice(0, NAMED).map(([check, all], at) => html`${at > 0 && ', '}<code>${check}</code> in ${all.length > 3 ? counted(all.length, 'service') : all.map(({ service }) => service).join(', ')}`)}${fixed.size > NAMED && ` and ${fixed.size - NAMED} more`}</p></div>`
}
<div class="trend"><p class="label">Failures in the last ${Math.min(BARS, history.runs.length + 1)} runs</p>${bars(results, history)}</div>
${history.flaky.length > 0 && html`<div class="wide"><p>Flaky, though the provider is the same: ${history.flaky.slice(0, NAMED).map(({ service, check }, at) => html`${at > 0 && ', '}<code>${check}</code> in ${service}`)}${history.flaky.length > NAMED && ` and ${history.flaky.length - NAMED} more`}</p></div>`}
${history.notes.length > 0 && html`<div class="wide"><p>${history.notes.join('; ')}</p></div>`}</section>`;
}

/** No result: neither conforms nor does not. */
const JUDGED: readonly number[] = [0, 1];

function bars({ run, totals }: Results, history: NonNullable<Results['history']>): Markup {
  const runs = [
    ...history.runs.slice(1 - BARS),
    { startedAt: run.startedAt, exitCode: run.exitCode, failed: totals.fail },
  ];
  const most = Math.max(1, ...runs.map(({ failed }) => failed));
  const words = runs.map(({ startedAt, failed }) => `${dayInWords(startedAt)}: ${failed}`).join(', ');
  return html`<svg class="bars" viewBox="0 0 ${BARS * 14} ${BAR_HEIGHT}" role="img" aria-label="Failures by run: ${words}">${runs.map(
    ({ exitCode, failed }, at) => {
      const x = at * 14;
      if (!JUDGED.includes(exitCode))
        return html`<rect class="nothing" x="${x + 0.5}" y="13" width="9" height="12"/>`;
      const tall = failed === 0 ? 3 : Math.max(5, Math.round((failed / most) * BAR_HEIGHT));
      const kind = failed === 0 ? 'none' : at === runs.length - 1 ? 'today' : 'some';
      return html`<rect class="${kind}" x="${x}" y="${BAR_HEIGHT - tall}" width="10" height="${tall}" rx="1.5"/>`;
    },
  )}</svg>`;
}

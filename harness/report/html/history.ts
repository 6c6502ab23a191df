import { EXIT } from '../../base/exit.ts';
import { grouped } from '../../base/text.ts';
import type { Outcome } from '../../base/verdict.ts';
import { changesOf, NEWEST_FIRST } from '../results/age.ts';
import type { Change, PastFigures, Results, ServiceResult } from '../results/results.ts';
import { hasNoVerdict, isWithoutVerdict } from '../results/run-verdict.ts';
import { counted, judgedWith, NOUNS, tallyOf, tallyWords } from '../results/tally.ts';
import { dayInWords, duration, instantInWords } from '../results/words/words.ts';
import { slowestOf } from './fleet/fleet.ts';
import { html, type Markup } from './markup/markup.ts';
import { isFleet } from './markup/row.ts';

/** Runs that are drawn, this one included. */
const BARS = 14;
const BAR_HEIGHT = 26;
/** Most fixed checks that are named; of more there is the number. */
const NAMED = 6;

const TONES: Readonly<Record<Change['state'], string>> = {
  new: 'fail',
  back: 'fail',
  'still failing': '',
  fixed: 'pass',
};

/** Number of failures in each state: a warning or a known failure is none. */
function failuresByState(results: Results): Readonly<Record<Change['state'], number>> {
  const changes = changesOf(results);
  const failing = judgedWith(results, 'fail').flatMap((each) => changes(each)?.state ?? []);
  const now = (state: Change['state']) => failing.filter((each) => each === state).length;
  const fixed = results.history?.changes.filter(({ state, warned }) => state === 'fixed' && !warned) ?? [];
  return { new: now('new'), back: now('back'), 'still failing': now('still failing'), fixed: fixed.length };
}

/** Whether this run differs from those before: counts, fixed checks, and a bar for each run. */
export function sinceBefore(results: Results): Markup | null {
  const { history, totals } = results;
  if (history === undefined) return null;
  const last = history.runs.at(-1);
  if (last === undefined) return html`<p class="first-run">First run here, nothing to compare with.</p>`;
  const of = (state: Change['state']) => history.changes.filter((each) => each.state === state);
  const isOpen = hasNoVerdict(results);
  const isGreen = totals.fail === 0 && !isOpen;
  const byState = failuresByState(results);
  const counts = NEWEST_FIRST.map((state) => ({
    word: state as string,
    tone: TONES[state],
    n: byState[state],
  }));
  const known = { word: 'known', tone: '', n: totals.known };
  const shown = [...counts, known, { word: 'fixed', tone: TONES.fixed, n: byState.fixed }].filter(
    ({ n, word }) => n > 0 || (isGreen && (word === 'new' || word === 'still failing')),
  );
  const fixed = Map.groupBy(of('fixed'), ({ check }) => check);
  return html`<section class="since" aria-label="Since the run before"><div><p class="label">Since the run before, ${instantInWords(last.startedAt)}, ${last.id}</p>
<p class="counts-of">${shown.map(({ word, tone, n }) => html`<span><b class="${tone}">${grouped(n)}</b> ${word}</span>`)}${shown.length === 0 && (isOpen ? 'No verdict, so nothing to compare.' : 'Nothing has changed.')}</p></div>
${
  fixed.size > 0 &&
  html`<div class="grow"><p class="label">Fixed</p><p>${[...fixed].slice(0, NAMED).map(([check, all], at) => html`${at > 0 && ', '}<code>${check}</code> in ${all.length > 3 ? counted(all.length, 'service') : all.map(({ service }) => service).join(', ')}`)}${fixed.size > NAMED && ` and ${fixed.size - NAMED} more`}</p></div>`
}
<div class="trend"><p class="label">Failures in the last ${Math.min(BARS, history.runs.length + 1)} runs</p>${bars(results, history)}</div>
${history.flaky.length > 0 && html`<div class="wide"><p>Flaky, with no known change of the provider: ${history.flaky.slice(0, NAMED).map(({ service, check }, at) => html`${at > 0 && ', '}<code>${check}</code> in ${service}`)}${history.flaky.length > NAMED && ` and ${history.flaky.length - NAMED} more`}</p></div>`}
${history.notes.length > 0 && html`<div class="wide"><p>${history.notes.join('; ')}</p></div>`}</section>`;
}

/** Exit codes of runs that conform or do not: results of an older version say it in no other way. */
const VERDICTS: readonly number[] = [EXIT.conforms, EXIT.doesNotConform];

function bars(results: Results, history: NonNullable<Results['history']>): Markup {
  const { run, totals } = results;
  const now = { ...run, failed: totals.fail, noVerdict: hasNoVerdict(results) };
  const runs = [...history.runs.slice(1 - BARS), now].map((each) => ({
    ...each,
    noVerdict: each.noVerdict || !VERDICTS.includes(each.exitCode),
  }));
  const most = Math.max(1, ...runs.map(({ failed }) => failed));
  const words = runs
    .map(
      ({ startedAt, failed, noVerdict }) => `${dayInWords(startedAt)}: ${noVerdict ? 'no verdict' : failed}`,
    )
    .join(', ');
  return html`<svg class="bars" viewBox="0 0 ${BARS * 14} ${BAR_HEIGHT}" role="img" aria-label="Failures by run: ${words}">${runs.map(
    ({ exitCode, failed, noVerdict }, at) => {
      const x = at * 14;
      if (noVerdict) return html`<rect class="nothing" x="${x + 0.5}" y="13" width="9" height="12"/>`;
      // A run may not conform without a failure: a list is out of date, or an observation drifted.
      const tall = exitCode === 0 ? 3 : Math.max(5, Math.round((failed / most) * BAR_HEIGHT));
      const kind = exitCode === 0 ? 'none' : at === runs.length - 1 ? 'today' : 'some';
      return html`<rect class="${kind}" x="${x}" y="${BAR_HEIGHT - tall}" width="10" height="${tall}" rx="1.5"/>`;
    },
  )}</svg>`;
}

/** Runs that are drawn, this one included. */
const MOST = 30;
/** From one run to the next, and the width of a bar. */
const STEP = 10;
const BAR = 8;
const WIDTH = MOST * STEP;
/** Beside the bars stands what they are. */
const LABELLED = WIDTH + 70;

/** The strips from above, each in its own scale. */
const STRIPS = {
  findings: { top: 0, height: 30 },
  requests: { top: 36, height: 16 },
  duration: { top: 58, height: 16 },
} as const;
const HEIGHT = 74;

/** The outcomes of a run that are stacked, from below: each has a width of its own. */
const WIDTHS = { fail: BAR, blocked: 6, warning: 4, known: 2 } satisfies Partial<Record<Outcome, number>>;
const STACK = Object.keys(WIDTHS) as readonly (keyof typeof WIDTHS)[];
const DASH = 3;
/** One failure beside a night in which all was blocked is seen. */
const LEAST = 4;

/** How each service fared over its last runs; of a fleet those that fail, and the slowest. */
export function overRuns(results: Results): Markup | null {
  const { history, services, run } = results;
  const chosen = services.filter((service) => isDrawn(service, services));
  const rows = chosen.flatMap((service) => {
    const past = history?.services?.find((each) => each.service === service.service)?.runs ?? [];
    return past.length === 0 ? [] : [row(service, past, run)];
  });
  if (rows.length === 0) return null;
  return html`<section id="over-runs" aria-labelledby="over-runs-title"><div class="heading"><h2 id="over-runs-title">Over the last runs</h2><p class="hint">the newest at the right</p></div>
${rows}<p class="strips-key">${STACK.map((outcome) => html`<span class="${outcome}"><svg aria-hidden="true" viewBox="0 0 ${BAR} 12">${piece(outcome, 0, 12, 12)}</svg> ${NOUNS[outcome](2)}</span>`)}</p></section>`;
}

function isDrawn(service: ServiceResult, all: readonly ServiceResult[]): boolean {
  if (!isFleet(all)) return true;
  return slowestOf(all).includes(service) || service.checks.some(({ outcome }) => outcome === 'fail');
}

function row(service: ServiceResult, past: readonly PastFigures[], run: Results['run']): Markup {
  const { requestsSent: requests, durationMs, checks } = service;
  const { startedAt } = run;
  const noVerdict = isWithoutVerdict(service, run);
  const now = { startedAt, outcomes: tallyOf(checks), requests, durationMs, noVerdict };
  const runs = [...past.slice(1 - MOST), now];
  const before = runs.slice(0, -1);
  const usual = (of: (run: PastFigures) => number) => median(before.map(of));
  const words = [
    `${counted(runs.length, 'run')} since ${dayInWords(runs[0]?.startedAt ?? startedAt)}`,
    `${counted(requests, 'request')}, usually ${grouped(usual((run) => run.requests))}`,
    `${duration(durationMs)}, usually ${duration(usual((run) => run.durationMs))}`,
  ];
  return html`<div class="over"><div class="text"><b>${service.service}</b>${words.map((each) => html`<span>${each}</span>`)}</div>
<svg class="strips" viewBox="0 0 ${LABELLED} ${HEIGHT}" role="img" aria-label="${`${service.service} by run. ${runs.map(inWords).join('. ')}`}">${findings(runs)}${strip('requests', runs, (run) => run.requests)}${strip('duration', runs, (run) => run.durationMs)}</svg></div>`;
}

/** `14 Nov: 2 failed, 120 passed, 128 requests, 1 min 1 s` */
function inWords({ startedAt, outcomes, requests, durationMs, noVerdict }: PastFigures): string {
  const tallied = tallyWords(outcomes).filter(({ outcome }) => outcome !== 'skipped');
  const open = noVerdict ? ['no verdict'] : [];
  const parts = [
    ...open,
    ...tallied.map(({ words }) => words),
    counted(requests, 'request'),
    duration(durationMs),
  ];
  return `${dayInWords(startedAt)}: ${parts.join(', ')}`;
}

type Figures = readonly PastFigures[];

function findings(runs: Figures): Markup {
  const { top, height } = STRIPS.findings;
  const most = Math.max(1, ...runs.map(({ outcomes }) => foundIn(outcomes)));
  const bars = runs.map(({ outcomes, noVerdict }, index) => {
    const x = placeOf(index, runs.length);
    const total = Object.values(outcomes).reduce((sum, count) => sum + count, 0);
    if (total === 0 || (noVerdict && foundIn(outcomes) === 0))
      return html`<rect class="nothing" x="${x + 0.5}" y="${height - 12.5}" width="${BAR - 1}" height="12"/>`;
    if (foundIn(outcomes) === 0)
      return html`<rect class="pass" x="${x}" y="${height - DASH}" width="${BAR}" height="${DASH}"/>`;
    let foot = top + height;
    return STACK.filter((outcome) => outcomes[outcome] > 0).map((outcome) => {
      const tall = scaled(outcomes[outcome], most, height - STACK.length * LEAST);
      const bar = piece(outcome, x, foot, tall);
      foot -= tall;
      return bar;
    });
  });
  return html`${bars}${label('findings')}`;
}

function foundIn(outcomes: PastFigures['outcomes']): number {
  return STACK.reduce((sum, outcome) => sum + outcomes[outcome], 0);
}

/** `foot`: where it stands. */
function piece(outcome: keyof typeof WIDTHS, x: number, foot: number, tall: number): Markup {
  const width = WIDTHS[outcome];
  return html`<rect class="${outcome}" x="${x + (BAR - width) / 2}" y="${foot - tall}" width="${width}" height="${tall}"/>`;
}

function strip(name: 'requests' | 'duration', runs: Figures, of: (run: PastFigures) => number): Markup {
  const { top, height } = STRIPS[name];
  const most = Math.max(1, ...runs.map(of));
  const bars = runs.map((run, index) => {
    const tall = scaled(of(run), most, height);
    const kind = index === runs.length - 1 ? 'now' : 'then';
    return html`<rect class="${kind}" x="${placeOf(index, runs.length)}" y="${top + height - tall}" width="${BAR}" height="${tall}"/>`;
  });
  return html`${bars}${label(name)}`;
}

function label(name: keyof typeof STRIPS): Markup {
  const { top, height } = STRIPS[name];
  return html`<text x="${WIDTH + STEP}" y="${top + height - 2}">${name}</text>`;
}

/** The newest is always at the right. */
function placeOf(index: number, runs: number): number {
  return (MOST - runs + index) * STEP;
}

function scaled(value: number, most: number, height: number): number {
  return Math.max(LEAST, Math.round((value / most) * height));
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

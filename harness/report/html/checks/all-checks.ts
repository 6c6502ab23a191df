import { isDeepStrictEqual } from 'node:util';
import { capitalized, grouped, shortened, withShortValues } from '../../../base/text.ts';
import type { Outcome } from '../../../base/verdict.ts';
import type { CheckResult } from '../../results/check-result.ts';
import type { Observation, Results, ServiceResult } from '../../results/results.ts';
import {
  counted,
  type JudgedCheck,
  judgedWords,
  NOUNS,
  type NotApplying,
  notApplying,
  notLookedAtIn,
  servicesOf,
  suitesOf,
  tallyOf,
  WORST_FIRST,
} from '../../results/tally.ts';
import { plainLine } from '../../results/words/plain.ts';
import { duration, factInWords, groundInWords, valueInWords } from '../../results/words/words.ts';
import { chevron, html, icon, type Markup, outcomeIcon } from '../markup/markup.ts';
import {
  type Ages,
  checkAnchor,
  filterable,
  isFleet,
  levelOf,
  linkRow,
  servicesInWords,
  spentInWords,
  spentOn,
  suiteAnchor,
} from '../markup/row.ts';

/** Findings stand further up; here a line leads to them. */
const FINDINGS: readonly Outcome[] = ['fail', 'warning', 'known'];
/** Rows up to which each opens; of more each is one line, so that a browser is done with them soon. */
const OPENING_ROWS = 3_000;
const LONGEST_MESSAGE = 2_000;
const LONGEST_VALUE = 200;

/** Whether a row of all checks opens into its message and grounds. */
export function rowsOpen({ services }: Results): boolean {
  return !isFleet(services) && checksIn(services) <= OPENING_ROWS;
}

function checksIn(services: Results['services']): number {
  return services.reduce((sum, { checks }) => sum + checks.length, 0);
}

/** Every check of every service: a closed row for each suite, and in it a line for each check and service. */
export function allChecks(results: Results, ages: Ages): Markup | null {
  const n = checksIn(results.services);
  const opens = rowsOpen(results);
  if (n === 0) return null;
  return html`<section id="checks" aria-labelledby="checks-title" data-filtered><details class="part" open data-fold><summary>${chevron()}<h2 id="checks-title">All checks <span class="n">${counted(n, 'check')}</span></h2><span class="hint">by suite, by service</span></summary>
${suitesOf(results).map((suite) => group(results, suite, opens, ages))}</details></section>`;
}

function group(results: Results, suite: string, opens: boolean, ages: Ages): Markup {
  const judged = results.services.flatMap((service) =>
    service.checks.filter((check) => check.suite === suite).map((check) => ({ service, check })),
  );
  const checks = judged.map(({ check }) => check);
  const tally = tallyOf(checks);
  const present = WORST_FIRST.filter((outcome) => tally[outcome] > 0);
  const rows = isFleet(results.services) ? fleetRows(judged) : judged.map((each) => row(each, opens, ages));
  return html`<details class="suite" id="${suiteAnchor(suite)}" data-suite="${suite}" data-group><summary>${chevron()}<b>${suite}</b><span>${counted(checks.length, 'result')}</span><span class="tally grow">${present.map(
    (outcome) =>
      html`<span>${icon(outcome)}${grouped(tally[outcome])}<span class="unseen"> ${NOUNS[outcome](tally[outcome])}</span></span>`,
  )}</span><span class="who">${spentInWords(spentOn(checks))}</span></summary>
<div class="rows">${rows}</div></details>`;
}

function row(judged: JudgedCheck, opens: boolean, ages: Ages): Markup {
  const { service, check } = judged;
  const isFinding = FINDINGS.includes(check.outcome);
  if (!opens && !isFinding) return brief(judged);
  const line = html`${outcomeIcon(check.outcome)}<span class="headline">${check.title}</span><code>${check.id}</code><span class="svc">${service.service}</span>${levelOf(check)}<span class="time">${[judgedWords(check), check.durationMs >= 1 ? duration(check.durationMs) : ''].filter((part) => part !== '').join(', ')}</span>`;
  if (isFinding) return linkRow(judged, line, ages(judged));
  return html`<details class="check" id="${checkAnchor(service, check)}" ${filterable(check.outcome, [service.service])}><summary class="row">${line}</summary>${behind(check)}</details>`;
}

/** With as few elements as can be. */
function brief({ service, check }: JudgedCheck): Markup {
  const level = check.level === 'NONE' ? '' : check.level;
  return html`<p class="brief" id="${checkAnchor(service, check)}" ${filterable(check.outcome, [service.service])} data-l="${level}"><b class="${check.outcome}">${check.outcome}</b>${check.title}<code>${check.id}</code><i>${service.service}</i></p>`;
}

function behind(check: CheckResult): Markup {
  const { grounds } = check;
  return html`<div class="behind">${check.message !== '' && html`<p>${withShortValues(check.message, LONGEST_VALUE).slice(0, LONGEST_MESSAGE)}</p>`}${
    grounds.length > 0 && html`<p class="muted">${grounds.map(groundInWords).join('; ')}</p>`
  }</div>`;
}

/** Outcomes of which each service is named, and can be led to. */
const NAMED: readonly Outcome[] = ['error', 'blocked', 'fail', 'warning', 'known'];

/** Of many services: a line for each check, with the services by outcome. */
function fleetRows(judged: readonly JudgedCheck[]): readonly Markup[] {
  return [...Map.groupBy(judged, ({ check }) => check.id).values()].map((of) => {
    const [{ check }] = of as [JudgedCheck];
    const byOutcome = Map.groupBy(of, ({ check: { outcome } }) => outcome);
    const present = WORST_FIRST.filter((outcome) => byOutcome.has(outcome));
    const services = of
      .filter((each) => each.check.outcome !== 'skipped')
      .map(({ service }) => service.service);
    return html`<div class="row many" ${filterable(present.join(' '), services)}><span class="headline">${check.title}</span><code>${check.id}</code>${levelOf(check)}<span class="tally">${present.map((outcome) => outcomeOf(outcome, byOutcome.get(outcome) ?? []))}</span></div>`;
  });
}

function outcomeOf(outcome: Outcome, of: readonly JudgedCheck[]): Markup {
  const names = of.map(({ service, check }, at) => {
    const anchor = checkAnchor(service, check);
    const name = FINDINGS.includes(outcome)
      ? html`<a href="#${anchor}">${service.service}</a>`
      : html`<span id="${anchor}">${service.service}</span>`;
    return html`${at > 0 && ', '}${name}`;
  });
  return html`<span>${icon(outcome)}${grouped(of.length)}<span class="unseen"> ${NOUNS[outcome](of.length)}</span>${NAMED.includes(outcome) && html` ${names}`}</span>`;
}

const LONGEST_REASON = 200;

/** What the run could not tell of each service, and the line that turns it on. */
export function notLookedAt(results: Results): Markup | null {
  const lines = results.services.flatMap((result) =>
    notLookedAtIn(result).map((each) => ({ service: result.service, ...each })),
  );
  if (lines.length === 0 || results.run.selection !== undefined) return null;
  return html`<section id="not-looked-at" aria-labelledby="not-looked-at-title"><details class="part" open data-fold><summary>${chevron()}<h2 id="not-looked-at-title">Not looked at <span class="n">${counted(lines.length, 'thing')}</span></h2><span class="hint">and what turns it on</span></summary>
<ul class="lines">${lines.map(
    ({ service, what, why, turnOn, checks }) =>
      html`<li>${icon('skipped')}<b>${plainLine(what)}</b><span>${counted(checks, 'check')}</span><span class="grow">${plainLine(why)}: <code>${plainLine(turnOn)}</code></span><span class="who">${service}</span></li>`,
  )}</ul></details></section>`;
}

/** Faults of the documents themselves, which say nothing about the services. */
export function documentRemarks({ services }: Results): Markup | null {
  const lines = services.flatMap(({ service, documentRemarks: all = [] }) =>
    all.map((each) => ({ service, ...each })),
  );
  if (lines.length === 0) return null;
  return html`<section id="document-remarks" aria-labelledby="document-remarks-title"><details class="part" open data-fold><summary>${chevron()}<h2 id="document-remarks-title">Remarks on the document <span class="n">${counted(lines.length, 'fault')}</span></h2><span class="hint">its own, not the service's</span></summary>
<ul class="lines">${lines.map(
    ({ service, place, text }) =>
      html`<li>${icon('skipped')}<b>${plainLine(place)}</b><span class="grow">${shortened(plainLine(text), LONGEST_REASON)}</span><span class="who">${service}</span></li>`,
  )}</ul></details></section>`;
}

/** What does not apply: a line for each suite and reason, and one line for all single checks, which opens. */
export function doesNotApply(results: Results): Markup | null {
  const { suites, single, checks } = notApplying(results);
  const n = results.totals.skipped;
  if (n === 0) return null;
  const all = results.services.length;
  const [first] = single;
  return html`<section id="not-applying" aria-labelledby="not-applying-title" data-filtered><details class="part" open data-fold><summary>${chevron()}<h2 id="not-applying-title">Does not apply <span class="n">${counted(n, 'check')}</span></h2></summary>
<ul class="lines">${suites.map((group) => line(group, all))}</ul>
${
  first !== undefined &&
  html`<details class="cause slim single" data-group><summary>${chevron()}<b>single checks</b><span>${counted(checks.length, 'check')}</span><span class="grow">${single.length === 1 ? first.reason : `${counted(single.length, 'reason')}, such as: ${shortened(plainLine(first.reason), LONGEST_REASON)}`}</span><span class="who">${servicesInWords(servicesOf(checks), all)}</span></summary>
<ul class="lines">${single.map((group) => line(group, all))}</ul></details>`
}</details></section>`;
}

function line({ suite, reason, judged }: NotApplying, all: number): Markup {
  const services = servicesOf(judged);
  return html`<li ${filterable('skipped', services)} data-suite="${suite}">${icon('skipped')}<b>${suite}</b><span>${counted(judged.length, 'check')}</span><span class="grow">${shortened(plainLine(reason), LONGEST_REASON)}</span><span class="who">${servicesInWords(services, all)}</span></li>`;
}

interface ObservedFact {
  readonly service: ServiceResult;
  readonly seen: Observation;
  readonly check: CheckResult | undefined;
}

/** Areas are the first words of keys; those that are no plain words have names. */
const AREAS: ReadonlyMap<string, string> = new Map([
  ['auth', 'Authentication'],
  ['json', 'JSON'],
  ['websocket', 'WebSocket'],
]);

/** What the documents leave open and the services showed: a row for each key, a line for each distinct value. */
export function observed(results: Results): Markup | null {
  const all = results.services.flatMap((service) =>
    service.observations.map((seen): ObservedFact => {
      return { service, seen, check: service.checks.find(({ id }) => id === seen.check) };
    }),
  );
  if (all.length === 0) return null;
  const facts = [...Map.groupBy(all, ({ seen }) => seen.key)];
  const byKey = facts.map(([key, of]) => ({ key, of, values: distinct(of) }));
  const differing = byKey.filter(({ values }) => values.length > 1).length;
  const areas = Map.groupBy(byKey, ({ key }) => key.split('.')[0] ?? key);
  const pins = all.some(({ seen }) => isPinned(seen));
  const drifts = all.filter(({ seen }) => seen.drift !== undefined).length;
  return html`<section id="observed" aria-labelledby="observed-title" data-filtered><details class="part" open data-fold><summary>${chevron()}<h2 id="observed-title">Observed contract <span class="n">${counted(byKey.length, 'fact')}</span></h2><span class="hint">${[
    ...(differing > 0 ? [`${differing} ${differing === 1 ? 'differs' : 'differ'} between services`] : []),
    ...(drifts > 0 ? [`${drifts} drifted`] : []),
  ].join(', ')}</span></summary>
<p class="lead">What the documents leave open. One row for each fact; a bar marks services that differ.</p>
${[...areas]
  .sort(([a], [b]) => (a < b ? -1 : 1))
  .map(([area, facts]) => {
    const name = AREAS.get(area) ?? capitalized(area);
    return html`<h3>${name}</h3><div class="facts-of">${facts.map(({ key, of, values }) => fact(key, of, values, results.services.length, pins))}</div>`;
  })}</details></section>`;
}

/** Those with the same value together, in the order of services. */
function distinct(of: readonly ObservedFact[]): readonly (readonly ObservedFact[])[] {
  const values: ObservedFact[][] = [];
  for (const each of of) {
    const same = values.find(([first]) => isDeepStrictEqual(first?.seen.value, each.seen.value));
    if (same) same.push(each);
    else values.push([each]);
  }
  return values;
}

function fact(
  key: string,
  of: readonly ObservedFact[],
  values: readonly (readonly ObservedFact[])[],
  services: number,
  pins: boolean,
): Markup {
  const check = of.find((each) => each.check !== undefined)?.check;
  const title = check?.title ?? key;
  const names = of.map(({ service }) => service.service);
  return html`<div class="fact" ${filterable(of.some(({ seen }) => seen.drift !== undefined) ? 'observed drifted' : 'observed', names)} data-suite="${check?.suite ?? ''}"><p class="name">${capitalized(title)} <code>${key}</code></p>
<ul class="${values.length > 1 && 'differ'}">${values.map((same) => value(same, services))}</ul>${pins && html`<p class="pin">${pinOf(of)}</p>`}</div>`;
}

function value(same: readonly ObservedFact[], services: number): Markup {
  const [{ seen }] = same as [ObservedFact];
  const isPlain = typeof seen.value !== 'object' || seen.value === null;
  return html`<li><span class="value">${factInWords(seen.value)}${!isPlain && html`<details class="raw"><summary>raw</summary><code>${valueInWords(seen.value, 1_000)}</code></details>`}</span><span class="who">${servicesInWords(
    same.map(({ service }) => service.service),
    services,
  )}</span></li>`;
}

/** Whether the values are those that were accepted; only for results that hold accepted ones. */
function pinOf(of: readonly ObservedFact[]): Markup {
  const drifted = of.filter(({ seen }) => seen.drift !== undefined);
  if (drifted.length === 0) return html`${of.every(({ seen }) => isPinned(seen)) ? 'pinned' : 'not pinned'}`;
  return html`<details class="raw drifted"><summary>drifted, ${drifted.map(({ service }) => service.service).join(', ')}</summary>${drifted.map(
    ({ service, seen }) =>
      html`<span>${service.service}: ${withShortValues(seen.drift ?? '', LONGEST_VALUE)}${seen.acceptedAt !== undefined && ` (${seen.acceptedAt})`}</span>`,
  )}</details>`;
}

function isPinned({ accepted, acceptedAt }: Observation): boolean {
  return accepted !== null || acceptedAt !== undefined;
}

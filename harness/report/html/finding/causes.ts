import { grouped, shortened } from '../../../base/text.ts';
import {
  type CauseEntry,
  causeEntries,
  firstOf,
  letsIn,
  problemAlone,
  problemOf,
} from '../../results/causes.ts';
import type { Results } from '../../results/results.ts';
import { driftedIn } from '../../results/run-verdict.ts';
import { counted, type JudgedCheck, judgedWith, notRun, servicesOf } from '../../results/tally.ts';
import { plainLine } from '../../results/words/plain.ts';
import { dayInWords } from '../../results/words/words.ts';
import { chevron, html, icon, type Markup, outcomeIcon } from '../markup/markup.ts';
import { type Ages, ageTerm, chips, linkRow, newestOf, rankOf } from '../markup/row.ts';
import { checkLine, copyable, finding, type PageFindings } from './finding.ts';

const LONGEST_SENTENCE = 300;
const IDS = 3;
/** Services by name beside how many there are. */
const SERVICES = 4;

/** A row for each cause, then findings without a cause, checks that could not be judged, and known failures. */
export function whatIsWrong(results: Results, shared: PageFindings): Markup | null {
  const rows = [
    ...errors(results),
    ...inOrder(causesIn(results, 'fail'), shared.ages).map((each) => cause(each, shared)),
    ...inOrder(unexplained(results, 'fail'), shared.ages).map((each) => cause(each, shared)),
    ...drifted(results),
    ...blocked(results),
    ...known(results, shared),
  ];
  if (rows.length === 0) return null;
  return html`<section id="wrong" aria-labelledby="wrong-title" data-filtered><div class="heading"><h2 id="wrong-title">What is wrong</h2>${chips(results)}</div>
${rows}</section>`;
}

/** Warnings, grouped as causes are, in lighter rows: they never stand among failures. */
export function advice(results: Results, shared: PageFindings): Markup | null {
  const rows = [
    ...inOrder(causesIn(results, 'warning'), shared.ages),
    ...inOrder(unexplained(results, 'warning'), shared.ages),
  ];
  if (rows.length === 0) return null;
  const n = rows.reduce((sum, { findings }) => sum + findings.length, 0);
  return html`<section id="advice" aria-labelledby="advice-title" data-filtered><div class="heading"><h2 id="advice-title">Advice <span class="n">${counted(n, 'warning')}</span></h2><p class="hint">count as failures with --strict</p></div>
${rows.map((each) => cause(each, shared))}</section>`;
}

function causesIn(results: Results, outcome: CauseEntry['outcome']): readonly CauseEntry[] {
  return causeEntries(results).filter((each) => each.cause !== null && each.outcome === outcome);
}

/** Findings without a cause: those of one check together, whichever services they are of. */
function unexplained(results: Results, outcome: CauseEntry['outcome']): readonly CauseEntry[] {
  const explained = new Set(
    causeEntries(results).flatMap(({ cause, findings }) =>
      cause === null ? [] : findings.map(({ check }) => check),
    ),
  );
  const left = judgedWith(results, outcome).filter(({ check }) => !explained.has(check));
  return [...Map.groupBy(left, ({ check }) => check.id).values()].map((findings) => {
    return { sentence: problemIn(findings), cause: null, findings, outcome };
  });
}

/** The sentence of one check, of one service or of several. */
function problemIn(findings: readonly JudgedCheck[]): string {
  const [{ check }] = findings as [JudgedCheck];
  return findings.length === 1 ? problemOf(check) : problemAlone(check);
}

/** Those that let a caller in, then the newest first; of the same age, most findings first. */
function inOrder(entries: readonly CauseEntry[], ages: Ages): readonly CauseEntry[] {
  const rank = ({ findings }: CauseEntry) =>
    (findings.some(letsIn) ? 0 : 100) + rankOf(newestOf(findings.map(ages)));
  return entries.toSorted((a, b) => rank(a) - rank(b) || b.findings.length - a.findings.length);
}

function cause({ sentence, cause: found, findings, outcome }: CauseEntry, shared: PageFindings): Markup {
  const services = servicesOf(findings);
  const namesService = services.length > 1;
  const around = { ...shared, namesService, together: findings.length };
  const age = newestOf(findings.map(shared.ages));
  return html`<details class="cause ${outcome}" data-group><summary>${chevron()}<span class="n">${icon(outcome)}${grouped(findings.length)}<span class="unseen"> ${outcome}</span></span><span class="what"><span class="sentence">${shortened(plainLine(sentence), LONGEST_SENTENCE)}</span>
<span class="sub">${where(services)}${namesService && ','} <span class="count">${counted(findings.length, 'finding')}</span> <code>${firstOf([...new Set(findings.map(({ check }) => check.id))], IDS)}</code></span></span>${age !== null && aside(age.state, ageTerm(age), age.words)}</summary>
<div class="findings">${findings.map((each) => finding(each, around))}
${
  found !== null &&
  html`<div class="compare">${found.alternatives.length > 0 && html`<p>It may also be: ${found.alternatives.join('; ')}.</p>`}<p>The same fault to compare with:</p>${copyable(found.command)}</div>`
}</div></details>`;
}

function aside(tag: string, kind: string, words: string): Markup {
  return html`<span class="state"><span class="tag ${kind}">${tag}</span>${words}</span>`;
}

/** `orders`, or `4 services baskets, carts, coupons, gifts`. */
function where(services: readonly string[]): Markup {
  if (services.length === 1) return html`<b>${services[0]}</b>`;
  return html`<b>${counted(services.length, 'service')}</b> ${firstOf(services, SERVICES)}`;
}

/** What conform itself got wrong. */
function errors(results: Results): readonly Markup[] {
  return judgedWith(results, 'error').map((judged) => {
    const trace = html`<pre class="trace" tabindex="0">${judged.check.message}</pre>`;
    return slim('error', `conform failed in ${judged.check.id}`, [judged], trace);
  });
}

/** Observations that are not as accepted; each value of them stands in the observed contract. */
function drifted({ services }: Results): readonly Markup[] {
  return services.flatMap((result) =>
    driftedIn(result).map(({ key, drift }) => {
      const { service } = result;
      return html`<a class="cause slim fail drift" href="#observed" data-o="drifted" data-s="${service}">${icon('observed', 'fail')}<span class="what"><span class="sentence">${key} drifted: ${shortened(plainLine(drift), LONGEST_SENTENCE)}</span> <span class="sub">${where([service])}</span></span>${aside('drifted', 'still', '')}</a>`;
    }),
  );
}

function blocked(results: Results): readonly Markup[] {
  return notRun(results)
    .filter(({ outcome }) => outcome === 'blocked')
    .map(({ reason, judged }) =>
      slim('blocked', `${counted(judged.length, 'check')} could not be judged: ${reason}`, judged),
    );
}

function known(results: Results, shared: PageFindings): readonly Markup[] {
  const byCheck = Map.groupBy(judgedWith(results, 'known'), ({ check }) => check.id);
  return [...byCheck.values()].map((judged) => {
    const [first] = judged as [JudgedCheck];
    const around = { ...shared, namesService: servicesOf(judged).length > 1, together: 1 };
    const inside = html`${judged.map((each) => finding(each, around))}`;
    return slim('known', problemIn(judged), judged, inside, listed(first, results.run));
  });
}

/** Days before the end of an entry from which on it is shown with more weight. */
const SOON_DAYS = 7;
const DAY_MS = 24 * 60 * 60_000;

/** Until when it is known, whose it is, and how long that is still; null where no list says so. */
function listed({ service, check }: JudgedCheck, { asOf }: Results['run']): Markup | undefined {
  const entry = service.known?.find((each) => each.check === check.id);
  if (entry === undefined) return undefined;
  const days =
    asOf === undefined ? Number.NaN : Math.round((Date.parse(entry.until) - Date.parse(asOf)) / DAY_MS);
  const left = Number.isNaN(days) ? '' : `, ${counted(days, 'day')} left`;
  const tag = `known until ${dayInWords(entry.until)}`;
  return aside(tag, days <= SOON_DAYS ? 'soon' : '', `${entry.owner}${left}`);
}

function slim(
  outcome: 'blocked' | 'known' | 'error',
  sentence: string,
  judged: readonly JudgedCheck[],
  inside?: Markup,
  beside?: Markup,
): Markup {
  const services = servicesOf(judged);
  return html`<details class="cause slim ${outcome}" data-group><summary>${chevron()}<span class="n">${outcomeIcon(outcome)}</span><span class="what"><span class="sentence">${shortened(plainLine(sentence), LONGEST_SENTENCE)}</span> <span class="sub">${where(services)}</span></span>${beside ?? aside(outcome, '', '')}</summary>
<div class="findings">${inside}${outcome !== 'known' && judged.map((each) => linkRow(each, checkLine(each, services.length > 1)))}</div></details>`;
}

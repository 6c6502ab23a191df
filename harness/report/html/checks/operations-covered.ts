import { FAULT_WORDS } from '../../../base/finding.ts';
import { grouped } from '../../../base/text.ts';
import {
  type ConstraintCoverage,
  constraintCoverage,
  constraintsInWords,
  triedInWords,
} from '../../results/constraint-coverage.ts';
import { basisInWords } from '../../results/operation-coverage.ts';
import { type OperationOutcome, operationOutcomes } from '../../results/operation-outcome.ts';
import type { OperationCoverage, Results, ServiceResult } from '../../results/results.ts';
import { counted, WORST_FIRST } from '../../results/tally.ts';
import { plainLine } from '../../results/words/plain.ts';
import { chevron, html, icon, type Markup, outcomeIcon } from '../markup/markup.ts';
import { checkAnchor, filterable } from '../markup/row.ts';

/** Rows of the matrix; the results have all. */
const MOST_ROWS = 500;
/** Columns for statuses; the others share one. */
const MOST_CODES = 10;
/** Findings of one operation that its row leads to. */
const MOST_LINKS = 6;
/** Constraints of one operation that its row lists. */
const MOST_CONSTRAINTS = 60;

interface CoveredRow {
  readonly service: ServiceResult;
  readonly operation: OperationOutcome;
  readonly constraints: ConstraintCoverage;
}

/** A matrix: each documented operation, the worst first, by the statuses of its answers and its constraints. */
export function operationsCovered({ services }: Results): Markup | null {
  const rows = services
    .flatMap((service) => {
      const constraintsOf = constraintCoverage(service);
      return operationOutcomes(service).map(
        (operation): CoveredRow => ({ service, operation, constraints: constraintsOf(operation) }),
      );
    })
    .toSorted((one, other) => placeOf(one.operation) - placeOf(other.operation));
  const basis = basisInWords(services);
  if (basis === null) return null;
  const shown = rows.slice(0, MOST_ROWS);
  const all = codesOf(shown.map(({ operation }) => operation));
  const codes = { own: all.slice(0, MOST_CODES).toSorted(byCode), others: all.slice(MOST_CODES) };
  const more = rows.length - shown.length;
  const isOpen = rows.some(({ operation }) => operation.outcome === 'fail');
  const namesServices = services.length > 1;
  return html`<section id="operations" aria-labelledby="operations-title" data-filtered><details class="part" ${isOpen && 'open'} data-fold><summary>${chevron()}<h2 id="operations-title">Operations <span class="n">${basis}</span></h2><span class="hint">answers seen by status; △ is not documented</span></summary>
<table class="covered"><thead><tr><th scope="col">Operation</th>${codes.own.map((code) => html`<th scope="col">${code}</th>`)}${codes.others.length > 0 && html`<th scope="col" class="wide">others</th>`}<th scope="col" class="tries">Constraints</th></tr></thead>
${shown.map((row) => operationRows(row, codes, namesServices))}</table>${more > 0 && html`<p class="lead">and ${grouped(more)} more in results.json</p>`}</details></section>`;
}

interface StatusColumns {
  readonly own: readonly string[];
  readonly others: readonly string[];
}

/** Each status once, the most frequent first. */
function codesOf(operations: readonly OperationCoverage[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const { answers, undocumented } of operations)
    for (const code of [
      ...answers.map((each) => each.code),
      ...undocumented.map(({ status }) => `${status}`),
    ])
      counts.set(code, (counts.get(code) ?? 0) + 1);
  return [...counts].toSorted(([, one], [, other]) => other - one).map(([code]) => code);
}

/** Statuses, then the ranges of their class, then `default`. */
function byCode(one: string, other: string): number {
  const rank = (code: string) => code.replace('XX', '~~');
  return rank(one) < rank(other) ? -1 : 1;
}

function placeOf({ outcome }: OperationOutcome): number {
  return WORST_FIRST.indexOf(outcome);
}

function operationRows(
  { service, operation, constraints }: CoveredRow,
  codes: StatusColumns,
  namesServices: boolean,
): Markup {
  const name = plainLine(operation.operation);
  const { findings, outcome, notExercised } = operation;
  const links = findings
    .slice(0, MOST_LINKS)
    .map(({ check }) => html` <a href="#${checkAnchor(service, check)}">${check.id}</a>`);
  const more = findings.length - MOST_LINKS;
  const columns = codes.own.length + (codes.others.length > 0 ? 3 : 2);
  const words = constraintsInWords(constraints);
  const notes = [
    notExercised &&
      html`<span>not exercised: ${plainLine(notExercised.reason)}${notExercised.fault && `, which is up to ${FAULT_WORDS[notExercised.fault]}`}</span>`,
    links.length > 0 && html`<span class="found">${links}${more > 0 && ` and ${more} more`}</span>`,
    constraints.tried.length > 0 && triedList(constraints, words),
  ];
  return html`<tbody ${filterable(outcome, [service.service], [name])}><tr><th scope="row">${outcomeIcon(outcome)}<a class="name" href="#operations" data-query="operation:&quot;${name}&quot;"><b>${name}</b></a>${namesServices && html` <span class="who">${service.service}</span>`}</th>${codes.own.map((code) => answerCell(operation, code))}${codes.others.length > 0 && otherCells(operation, codes.others)}<td class="tries">${constraints.tried.length > 0 && constraints.tried.length}${constraints.notSent > 0 && html`<span>${constraints.notSent} not sent</span>`}</td></tr>${notes.some(Boolean) && html`<tr><td colspan="${columns}" class="more">${notes}</td></tr>`}</tbody>
`;
}

/** `12` seen; `never`; `3 not documented`; empty where it is neither documented nor seen. */
function answerCell({ answers, undocumented }: OperationCoverage, code: string): Markup {
  const seen = answers.find((each) => each.code === code)?.seen;
  const surplus = undocumented.find(({ status }) => `${status}` === code)?.seen;
  const label = html`<i>${code}</i>`;
  if (surplus !== undefined)
    return html`<td class="surplus">${label}${icon('warning')}${grouped(surplus)}<span class="unseen"> not documented</span></td>`;
  if (seen === undefined) return html`<td class="none"></td>`;
  return seen > 0
    ? html`<td class="seen">${label}${grouped(seen)}</td>`
    : html`<td class="never">${label}never</td>`;
}

/** Those without a column of their own: `418 (3, not documented), never 451` */
function otherCells({ answers, undocumented }: OperationCoverage, codes: readonly string[]): Markup {
  const own = answers.filter(({ code }) => codes.includes(code));
  const seen = own.filter((each) => each.seen > 0).map(({ code, seen: n }) => `${code} (${grouped(n)})`);
  const never = own.filter((each) => each.seen === 0).map(({ code }) => code);
  const surplus = undocumented
    .filter(({ status }) => codes.includes(`${status}`))
    .map(({ status, seen: n }) => `${status} (${grouped(n)}, not documented)`);
  const all = [...seen, ...surplus, ...(never.length > 0 ? [`never ${never.join(', ')}`] : [])];
  return html`<td class="wide">${all.join(', ')}</td>`;
}

function triedList({ tried, sent }: ConstraintCoverage, words: string): Markup {
  const more = tried.length - MOST_CONSTRAINTS;
  return html`<details class="tried"><summary>${chevron()} ${words} in ${counted(sent, 'request')}</summary><ul>${tried
    .slice(0, MOST_CONSTRAINTS)
    .map(
      (each) => html`<li><b>${plainLine(each.input)}</b> ${plainLine(triedInWords(each))}</li>`,
    )}${more > 0 && html`<li>and ${more} more</li>`}</ul></details>`;
}

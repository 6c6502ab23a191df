import { grouped } from '../../../base/text.ts';
import { basisInWords, isExercised } from '../../results/operation-coverage.ts';
import type { OperationCoverage, Results } from '../../results/results.ts';
import { plainLine } from '../../results/words/plain.ts';
import { chevron, html, icon, type Markup } from '../markup/markup.ts';

/** Rows of the list; the results have all. */
const MOST_ROWS = 500;

/** Each documented operation by documented answer: what the run saw, never saw, and saw without a document. */
export function operationsCovered({ services }: Results): Markup | null {
  const lines = services.flatMap(({ service, operationCoverage = [] }) =>
    operationCoverage.map((each) => ({ service, each })),
  );
  const basis = basisInWords(services);
  if (basis === null) return null;
  const more = lines.length - MOST_ROWS;
  return html`<section id="operations" aria-labelledby="operations-title"><details class="part" data-fold><summary>${chevron()}<h2 id="operations-title">Operations <span class="n">${basis}</span></h2><span class="hint">each documented answer, and how often it was seen</span></summary>
<ul class="lines">${lines
    .slice(0, MOST_ROWS)
    .map(
      ({ service, each }) =>
        html`<li>${icon(isExercised(each) ? 'pass' : 'skipped')}<b>${plainLine(each.operation)}</b><span class="grow">${plainLine(answersInWords(each))}</span><span class="who">${service}</span></li>`,
    )}${more > 0 && html`<li>and ${grouped(more)} more</li>`}</ul></details></section>`;
}

/** `200 (12), 404 (1); never 429; not documented 418 (3)` */
function answersInWords({ answers, undocumented, notExercised }: OperationCoverage): string {
  const seen = answers.filter((each) => each.seen > 0).map(({ code, seen: n }) => `${code} (${grouped(n)})`);
  const never = answers.filter((each) => each.seen === 0).map(({ code }) => code);
  const others = undocumented.map(({ status, seen: n }) => `${status} (${grouped(n)})`);
  return [
    ...(notExercised === undefined ? [] : [`not exercised: ${notExercised.reason}`]),
    ...(seen.length > 0 ? [seen.join(', ')] : []),
    ...(never.length > 0 ? [`never ${never.join(', ')}`] : []),
    ...(others.length > 0 ? [`not documented ${others.join(', ')}`] : []),
  ].join('; ');
}

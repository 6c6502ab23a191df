import { shortened } from '../../../base/text.ts';
import { type NotApplying, notApplying } from '../../results/evidence/not-applying.ts';
import type { Results } from '../../results/results.ts';
import { counted } from '../../results/tally.ts';
import { plainLine } from '../../results/words/plain.ts';
import { chevron, icon } from '../markup/icons.ts';
import { html, type Markup } from '../markup/markup.ts';
import { filterable, servicesInWords } from '../markup/row.ts';

const LONGEST_REASON = 200;

/** What does not apply: a line for each suite and reason, and one line for all single checks, which opens. */
export function doesNotApply(results: Results): Markup | null {
  const { suites, single } = notApplying(results);
  const n = results.totals.skipped;
  if (n === 0) return null;
  const all = results.services.length;
  const checks = single.flatMap(({ judged }) => judged);
  const [first] = single;
  return html`<section id="not-applying" aria-labelledby="not-applying-title" data-filtered><details class="part" open data-fold><summary>${chevron()}<h2 id="not-applying-title">Does not apply <span class="n">${counted(n, 'check')}</span></h2></summary>
<ul class="lines">${suites.map((group) => line(group, all))}</ul>
${
  first !== undefined &&
  html`<details class="cause slim single" data-group><summary>${chevron()}<b>single checks</b><span>${counted(checks.length, 'check')}</span><span class="grow">${single.length === 1 ? first.reason : `${counted(single.length, 'reason')}, such as: ${shortened(plainLine(first.reason), LONGEST_REASON)}`}</span><span class="who">${servicesInWords([...new Set(checks.map(({ service }) => service.service))], all)}</span></summary>
<ul class="lines">${single.map((group) => line(group, all))}</ul></details>`
}</details></section>`;
}

function line({ suite, reason, judged }: NotApplying, all: number): Markup {
  const services = [...new Set(judged.map(({ service }) => service.service))];
  return html`<li ${filterable('skipped', services)} data-suite="${suite}">${icon('skipped')}<b>${suite}</b><span>${counted(judged.length, 'check')}</span><span class="grow">${shortened(plainLine(reason), LONGEST_REASON)}</span><span class="who">${servicesInWords(services, all)}</span></li>`;
}

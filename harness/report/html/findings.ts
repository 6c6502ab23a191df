import type { Outcome } from '../../contract/outcome.ts';
import type { Results } from '../results/results.ts';
import { type Judged, judgedWith } from '../results/tally.ts';
import { checkAnchor } from './anchor.ts';
import { badge } from './badge.ts';
import { checkDetail, filterable } from './check-detail.ts';
import { html, type Markup } from './markup.ts';

/** Outcomes told as cards with their whole evidence, in this order. */
const FINDINGS: readonly {
  readonly outcomes: readonly Outcome[];
  readonly id: string;
  readonly title: string;
}[] = [
  { outcomes: ['error'], id: 'errors', title: 'Harness errors' },
  { outcomes: ['fail'], id: 'failures', title: 'Failures' },
  { outcomes: ['warning'], id: 'warnings', title: 'Warnings' },
];

/** Transcripts that stand in the page itself, so that they can be read without script; the rest is packed. */
const INLINE_CARDS = 60;

export function isFinding(outcome: Outcome): boolean {
  return FINDINGS.some(({ outcomes }) => outcomes.includes(outcome));
}

export function findings(
  results: Results,
): readonly { readonly id: string; readonly title: string; readonly n: number; readonly section: Markup }[] {
  let inline = INLINE_CARDS;
  return FINDINGS.flatMap(({ outcomes, id, title }) => {
    const found = judgedWith(results, ...outcomes);
    if (found.length === 0) return [];
    const cards = found.map((judged) => {
      inline -= 1;
      return card(judged, inline >= 0);
    });
    const section = html`<section id="${id}" class="findings" aria-labelledby="${id}-title" data-filtered>
<h2 id="${id}-title">${title} <span class="n">${found.length}</span></h2>
${cards}</section>`;
    return [{ id, title, n: found.length, section }];
  });
}

function card(judged: Judged, inline: boolean): Markup {
  const { service, check } = judged;
  const anchor = checkAnchor(service, check);
  return html`<details open class="card ${check.outcome}" id="${anchor}" ${filterable(judged)}><summary>${badge(check.outcome)}
<h3>${check.title}</h3><span class="meta"><code>${check.id}</code><span>${service.service}</span><span>${check.suite}</span><span>${
    check.level === 'NONE' ? 'not judged' : check.level
  }</span></span></summary>
${checkDetail(judged, { inline })}
<p class="permalink"><a href="#${anchor}">Link to this check<span class="unseen"> ${check.id} of ${service.service}</span></a></p></details>`;
}

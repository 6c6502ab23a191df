import type { ResolvedGround } from '../../contract/outcome.ts';
import { viewsOf } from '../results/evidence-view.ts';
import { groundAddress, groundInWords, valueInWords } from '../results/grounds.ts';
import type { Judged } from '../results/tally.ts';
import { evidenceKey } from './anchor.ts';
import { copyable } from './badge.ts';
import { evidenceBlock } from './evidence.ts';
import { html, type Markup } from './markup.ts';

interface DetailOptions {
  /** The transcripts stand in the page; otherwise the script fetches them from the pack when opened. */
  readonly inline: boolean;
}

/** What is behind one judgment: the message, why it is demanded, how to see it again, what was exchanged. */
export function checkDetail(judged: Judged, options: DetailOptions): Markup {
  const { check, service } = judged;
  const observed = service.observations.filter((observation) => observation.check === check.id);
  return html`<div class="detail">
${messageOf(check.message)}
${observed.length === 0 ? null : html`<p class="label">Observed</p>`}${observed.map(({ key, value }) => html`<p class="fact"><code>${key}</code> <span class="value">${valueInWords(value, 1_000)}</span></p>`)}
${
  check.grounds.length === 0
    ? html`<p class="label">No document or standard speaks of it: recorded, never judged.</p>`
    : html`<p class="label">Because</p><ul class="grounds">${check.grounds.map(groundLine)}</ul>`
}
${check.reproduce === null ? null : html`<p class="label">Repeat it</p>${copyable(check.reproduce)}`}
${check.evidence.length === 0 ? null : html`<p class="label">What was exchanged</p>${evidence(judged, options)}`}
</div>`;
}

/** UTF-16 units past which a message may need to be scrolled. */
const LONG_MESSAGE = 500;

function messageOf(message: string): Markup | null {
  if (message === '') return null;
  if (message.length <= LONG_MESSAGE && !message.includes('\n'))
    return html`<p class="message">${message}</p>`;
  return html`<div class="message long" tabindex="0" role="group" aria-label="Message">${message}</div>`;
}

function groundLine(ground: ResolvedGround): Markup {
  const address = groundAddress(ground);
  const words = groundInWords(ground);
  return html`<li>${address === null ? words : html`<a href="${address}" rel="noreferrer">${words}</a>`}</li>`;
}

/** More than this many transcripts start closed, but for the last. */
const OPEN_TOGETHER = 2;

function evidence({ service, check }: Judged, { inline }: DetailOptions): Markup {
  if (!inline) {
    const keys = check.evidence.map((id) => evidenceKey(service, id)).join(' ');
    return html`<div class="packed" data-evidence="${keys}"><p class="muted">Evidence ${check.evidence.join(', ')}: see results.json, or allow this page its script.</p></div>`;
  }
  const views = viewsOf(service, check);
  return html`${views.map((view, index) => evidenceBlock(view, views.length <= OPEN_TOGETHER || index === views.length - 1))}`;
}

/** Attributes by which the script filters a row. */
export function filterable({ service, check }: Judged): Markup {
  return html`data-row data-s="${check.outcome}" data-suite="${check.suite}" data-service="${service.service}" data-level="${check.level}"`;
}

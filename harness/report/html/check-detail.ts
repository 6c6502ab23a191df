import { gzipSync } from 'node:zlib';
import type { Outcome, ResolvedGround } from '../../contract/outcome.ts';
import { type EvidenceView, viewEvidence, viewsOf } from '../results/evidence-view.ts';
import type { CheckResult, Results, ServiceResult } from '../results/results.ts';
import type { Judged } from '../results/tally.ts';
import { groundAddress, groundInWords, valueInWords } from '../results/words.ts';
import { html, type Markup, trusted } from './markup.ts';

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

/** The permalink of a check: `search/auth.missing-credential`. White space cannot stand in an id. */
export function checkAnchor(service: ServiceResult, check: CheckResult): string {
  return safe(`${service.service}/${check.id}`);
}

/** The anchor of a service's suite, where a cell of the matrix leads. */
export function suiteAnchor(service: ServiceResult, suite: string): string {
  return safe(`suite/${service.service}/${suite}`);
}

function evidenceKey(service: ServiceResult, id: string): string {
  return safe(`${service.service}/${id}`);
}

function safe(text: string): string {
  return text.replace(/[^A-Za-z0-9./_-]/g, '_');
}

/** An outcome as word and colour. */
export function badge(outcome: Outcome): Markup {
  return html`<span class="badge ${outcome}">${outcome}</span>`;
}

/** Text to copy, with room for the button that the script adds. */
function copyable(text: string): Markup {
  return html`<div class="copyable"><pre class="code" tabindex="0">${text}</pre></div>`;
}

const KINDS = { '>': 'sent', '<': 'received', '*': 'noted' } as const;

/** One piece of evidence as a transcript. `in-browser.js` builds the same from packed evidence: change both. */
function evidenceBlock(view: EvidenceView, open: boolean): Markup {
  return html`<details class="evidence"${open ? html` open` : null}><summary><code>${view.id}</code> ${view.purpose}</summary>
<div class="transcript" role="group" aria-label="Transcript of ${view.id}" tabindex="0">${lines(view)}</div></details>`;
}

function lines(view: EvidenceView): readonly Markup[] {
  const rows = view.lines.map(({ atMs, direction, text }, index) => {
    const time = `${Math.round(atMs)} ms`;
    const before = view.lines[index - 1];
    const repeated = before !== undefined && Math.round(before.atMs) === Math.round(atMs);
    return html`<div class="line ${KINDS[direction]}"><span class="at">${repeated ? '' : time}</span><span class="dir">${direction}</span><span class="said">${text}</span></div>`;
  });
  if (view.omitted === 0) return rows;
  const rest = html`<div class="line noted"><span class="at"></span><span class="dir">*</span><span class="said">… ${view.omitted} more lines in results.json</span></div>`;
  return [...rows, rest];
}

/** UTF-16 units of transcript that a page carries in its pack; what is past it is in `results.json`. */
const PACK_LIMIT = 24_000_000;

/** As `in-browser.js` reads it: `[purpose, omitted, [[atMs, direction, text] …]]` by `service/evidence`. */
type PackedView = readonly [
  purpose: string,
  omitted: number,
  lines: readonly (readonly [number, string, string])[],
];

/** The transcripts of all evidence, gzip and base64: rows of passed checks show theirs from here when opened. */
export function packedEvidence(results: Results): Markup {
  const pack: Record<string, PackedView> = {};
  let room = PACK_LIMIT;
  for (const service of results.services) {
    for (const id of Object.keys(service.evidence)) {
      if (room <= 0) break;
      const { purpose, omitted, lines } = viewEvidence(service, id);
      const packed = lines.map(({ atMs, direction, text }) => [Math.round(atMs), direction, text] as const);
      room -= packed.reduce((sum, [, , text]) => sum + text.length + 12, purpose.length + 40);
      pack[evidenceKey(service, id)] = [purpose, omitted, packed];
    }
  }
  const bytes = gzipSync(JSON.stringify(pack));
  // Base64 has no character that could end the element.
  return html`<script type="text/plain" id="evidence-pack">${trusted(bytes.toString('base64'))}</script>`;
}

import type { EvidenceView } from '../results/evidence-view.ts';
import { html, type Markup } from './markup.ts';

const KINDS = { '>': 'sent', '<': 'received', '*': 'noted' } as const;

/** One piece of evidence as a transcript. `in-browser.js` builds the same from packed evidence: change both. */
export function evidenceBlock(view: EvidenceView, open: boolean): Markup {
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

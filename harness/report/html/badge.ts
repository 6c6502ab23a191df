import type { Outcome } from '../../contract/outcome.ts';
import { html, type Markup } from './markup.ts';

/** An outcome as word and colour. */
export function badge(outcome: Outcome): Markup {
  return html`<span class="badge ${outcome}">${outcome}</span>`;
}

/** Text to copy, with room for the button that the script adds. */
export function copyable(text: string): Markup {
  return html`<div class="copyable"><pre class="code" tabindex="0">${text}</pre></div>`;
}

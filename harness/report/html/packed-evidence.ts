import { gzipSync } from 'node:zlib';
import { viewEvidence } from '../results/evidence-view.ts';
import type { Results } from '../results/results.ts';
import { evidenceKey } from './anchor.ts';
import { html, type Markup, trusted } from './markup.ts';

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

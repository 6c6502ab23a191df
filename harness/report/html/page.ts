import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { ReportFormat } from '../format.ts';
import type { Results } from '../results/results.ts';
import { headlineOf } from '../results/words/headline.ts';
import { SIGNS } from '../results/words/words.ts';
import { allChecks, doesNotApply, rowsOpen } from './checks/all-checks.ts';
import { observed } from './checks/observed.ts';
import { advice, whatIsWrong } from './finding/causes.ts';
import { packedEvidence, TranscriptRoom } from './finding/exchange.ts';
import type { PageFindings } from './finding/finding.ts';
import { heatGrid, matrix } from './fleet/fleet.ts';
import { overRuns } from './fleet/over-runs.ts';
import { rateLimits } from './limit/rate-limit.ts';
import { bar, filterNotes, footer } from './markup/bar.ts';
import { sprite, tabIcon } from './markup/icons.ts';
import { html, type Markup, SCRIPT_END, trusted } from './markup/markup.ts';
import { agesOf, isFleet } from './markup/row.ts';
import { sinceBefore, verdict } from './verdict.ts';

/** Files of `style/`, in the order in which they are to apply. */
const STYLE = [
  'tokens',
  'base',
  'bar',
  'verdict',
  'change',
  'causes',
  'finding',
  'exchange',
  'matrix',
  'fleet',
  'rate',
  'over-runs',
  'observed',
  'lists',
  'phone',
  'print',
];

/** Files of `script/`, in the order in which they run; they tell each other by events. */
const SCRIPT = ['page', 'evidence', 'copy', 'filter', 'fleet', 'links', 'keys'];

export const htmlPage: ReportFormat = {
  name: 'html',
  files: [
    {
      path: 'index.html',
      holds:
        'the report as one self-contained page: verdict, causes with their findings and exchanges, matrix, rate limits over time, the observed contract, what does not apply, every check; works offline and without script',
      readers: 'people',
    },
  ],
  render: (results) => ({ 'index.html': renderPage(results) }),
};

/**
 * The report as one self-contained page. All that matters stands in it as plain HTML: without script one can
 * still read the verdict, every row, and the findings with their exchanges. The policy in its head allows our
 * one style and our one script, by hash, and nothing else.
 */
export function renderPage(results: Results): string {
  const sheets = STYLE.map((part) => ownFile(new URL(`./style/${part}.css`, import.meta.url)));
  const style = [...sheets, pageFoot(results.run.id)].join('\n');
  const parts = SCRIPT.map((part) => ownFile(new URL(`./script/${part}.js`, import.meta.url)));
  const script = parts.join('\n');
  const policy = [
    "default-src 'none'",
    `style-src '${hashOf(style)}'`,
    `script-src '${hashOf(script)}'`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  const headline = headlineOf(results);
  const title = `${SIGNS[headline.sign]} ${headline.title} · conform`;
  return `<!doctype html>\n${html`<html lang="en" class="no-script">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<link rel="icon" href="${tabIcon(headline.sign)}">
<style>${trusted(style)}</style>
</head>
<body>
${body(results)}
<script>${trusted(script)}${SCRIPT_END}
</body>
</html>`}\n`;
}

function body(results: Results): Markup {
  const shared: PageFindings = { room: new TranscriptRoom(), placed: new Set(), ages: agesOf(results) };
  const wrong = whatIsWrong(results, shared);
  const fleet = isFleet(results.services);
  return html`${sprite()}<a class="skip" href="#main">Skip to the results</a>
${bar()}
<main id="main" class="wrap" tabindex="-1">
${verdict(results, headlineOf(results))}
${sinceBefore(results)}
${filterNotes()}
${wrong}
${fleet ? heatGrid(results, wrong === null) : matrix(results, wrong === null)}
${advice(results, shared)}
${rateLimits(results)}
${overRuns(results)}
${observed(results)}
${doesNotApply(results)}
${allChecks(results, shared.ages)}
</main>
${footer(results)}
${rowsOpen(results) && packedEvidence(results)}`;
}

/** Each printed page says which run it is of. An id may be any text: what could end the string is left out. */
function pageFoot(run: string): string {
  const plain = run.replace(/[^A-Za-z0-9._-]/g, '');
  return `@page { @bottom-left { font: 8pt sans-serif; content: "run ${plain}"; } }\n`;
}

function ownFile(place: URL): string {
  // A browser turns CR LF into LF before it hashes.
  return readFileSync(place, 'utf8').replaceAll('\r\n', '\n');
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}

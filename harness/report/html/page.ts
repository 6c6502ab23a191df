import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { grouped } from '../../base/text.ts';
import type { ReportFormat } from '../format.ts';
import { basisInWords } from '../results/operation-coverage.ts';
import type { Results } from '../results/results.ts';
import { type Headline, headlineOf } from '../results/words/headline.ts';
import {
  duration,
  instantInWords,
  requestsInHttp2,
  SIGNS,
  simulatedInWords,
  wallTime,
} from '../results/words/words.ts';
import {
  allChecks,
  documentRemarks,
  doesNotApply,
  notLookedAt,
  observed,
  rowsOpen,
} from './checks/all-checks.ts';
import { operationsCovered } from './checks/operations-covered.ts';
import { advice, whatIsWrong } from './finding/causes.ts';
import { packedEvidence, TranscriptRoom } from './finding/exchange.ts';
import type { PageFindings } from './finding/finding.ts';
import { heatGrid, matrix } from './fleet/fleet.ts';
import { overRuns, sinceBefore } from './history.ts';
import { rateLimits } from './limit/rate-limit.ts';
import { html, icon, type Markup, SCRIPT_END, signIcon, sprite, tabIcon, trusted } from './markup/markup.ts';
import { agesOf, isFleet } from './markup/row.ts';

/** Files of `style/`, in the order in which they are to apply. */
const STYLE =
  'tokens base bar verdict change causes finding exchange matrix fleet rate over-runs observed lists covered phone print'.split(
    ' ',
  );

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

/** One self-contained page, readable without script; its policy allows our style and script by hash. */
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
${documentRemarks(results)}
${wrong}
${fleet ? heatGrid(results, wrong === null) : matrix(results, wrong === null)}
${advice(results, shared)}
${operationsCovered(results)}
${rateLimits(results)}
${notLookedAt(results)}
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

/** Most faults of the harness that are shown; the others are in the results. */
const MOST_FAULTS = 20;

/** The verdict in one sentence, and the facts of the run in one line. */
function verdict(results: Results, { sign, sentence, lead, rest }: Headline): Markup {
  const { run, services } = results;
  const simulated = simulatedInWords(results);
  const environments = new Set(services.flatMap(({ environment }) => environment ?? []));
  const basis = basisInWords(services);
  const sent = services.reduce((sum, { requestsSent }) => sum + requestsSent, 0);
  const inHttp2 = requestsInHttp2(services);
  const facts: readonly (readonly [string, string])[] = [
    ...(environments.size > 0 ? ([['Environment', [...environments].join(', ')]] as const) : []),
    ['Started', instantInWords(run.startedAt)],
    ['Took', duration(wallTime(run))],
    ...(simulated === null ? [] : ([['Time', simulated]] as const)),
    ['Requests', grouped(sent)],
    ...(inHttp2 === 0 ? [] : ([['Answered in HTTP/2', grouped(inHttp2)]] as const)),
    ...(basis === null ? [] : ([['Rests on', basis]] as const)),
    ['Run', run.id],
    ['Exit code', String(run.exitCode)],
    ...(run.strict ? ([['Strict', 'warnings count as failures']] as const) : []),
  ];
  const others = [...run.faults.slice(1, MOST_FAULTS), ...(run.remarks ?? [])];
  return html`<header class="verdict"><h1>${signIcon(sign)}<span>${sentence}</span></h1>
<p class="lede"><strong>${lead}</strong> ${rest}</p>
${others.length > 0 && html`<ul class="faults">${others.map((fault) => html`<li>${fault}</li>`)}</ul>`}
<dl class="facts">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
</header>`;
}

/** Reports that lie beside the page. */
const FILES = ['results.json', 'junit.xml', 'journal.ndjson'];

/** What stays on top: the filter, which the script shows, and the other files of the run. */
function bar(): Markup {
  return html`<div class="bar"><div class="wrap">
<a class="brand" href="#main">${icon('mark')}conform</a>
<search class="scripted"><form id="filter">${icon('search')}<label for="query" class="unseen">Filter checks</label>
<input id="query" type="search" autocomplete="off" spellcheck="false" placeholder="Filter: words, is:fail, service:orders, suite:auth …" aria-describedby="query-help">
<kbd aria-hidden="true">/</kbd>
<p id="query-help" class="unseen">Words are looked for in headlines, ids and what came. is: service: suite: operation: id: and level: narrow it down; a comma means or, a blank and, a leading minus not; quotes hold a phrase together.</p></form></search>
<nav aria-label="Files of this run">${FILES.map((file) => html`<a href="${file}">${file}</a>`)}</nav>
<button type="button" class="square scripted" id="theme" aria-label="Light or dark">${icon('theme')}</button>
</div></div>`;
}

/** The number of checks that the filter leaves; announced as it changes. */
function filterNotes(): Markup {
  return html`<div class="notes scripted"><output id="shown" for="query" aria-live="polite"></output> <button type="button" id="clear" hidden>Clear the filter</button></div>`;
}

type KeyHelp = readonly (readonly [keys: readonly string[], does: string])[];

const FEW_KEYS: KeyHelp = [
  [['j', 'k'], 'next, previous'],
  [['Enter'], 'open'],
  [['/'], 'filter'],
  [['Esc'], 'clear'],
  [['?'], 'all keys'],
];
const KEYS: KeyHelp = [
  [['j', 'k'], 'next, previous row'],
  [['Enter', 'o'], 'open or close'],
  [['x'], 'close all'],
  [['/'], 'filter'],
  [['Esc'], 'clear the filter, then close, then leave'],
  [['c'], 'copy the command of the open finding'],
  [['t'], 'light or dark'],
  [['?'], 'this list'],
];

/** Keys that work everywhere, the first few at the foot of the page and all of them behind `?`. */
function footer({ run: { harness, id } }: Results): Markup {
  const keys = (names: readonly string[]) => names.map((key) => html`<kbd>${key}</kbd> `);
  return html`<footer class="wrap"><p class="keys scripted">${FEW_KEYS.map(([names, does]) => html`<span>${keys(names)}${does}</span>`)}</p>
<p>${harness.name} ${harness.version}, Node ${harness.node.replace(/^v/, '')}, run ${id}</p></footer>
<dialog id="keys" aria-labelledby="keys-title"><h2 id="keys-title">Keys</h2><dl>${KEYS.map(
    ([names, does]) => html`<div><dt>${keys(names)}</dt><dd>${does}</dd></div>`,
  )}</dl><form method="dialog"><button>Close</button></form></dialog>`;
}

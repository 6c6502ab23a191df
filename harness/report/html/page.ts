import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { ReportFormat } from '../format.ts';
import type { Results } from '../results/results.ts';
import { verdictOf } from '../results/run-verdict.ts';
import { HEADLINES, toneOf } from '../results/words.ts';
import { causes } from './causes.ts';
import { packedEvidence } from './check-detail.ts';
import { allChecks, findings } from './checks.ts';
import { html, type Markup, trusted } from './markup.ts';
import { matrix, pageHeader, toolbar } from './overview.ts';
import { requests } from './requests.ts';
import { didNotRun, observations } from './unjudged.ts';

/** Files of `style/`, in the order in which they are to apply. */
const STYLE = [
  'base',
  'verdict',
  'tables',
  'toolbar',
  'findings',
  'transcript',
  'lists',
  'requests',
  'narrow',
  'print',
];

export const htmlPage: ReportFormat = {
  name: 'html',
  files: [
    {
      path: 'index.html',
      holds:
        'the report as one self-contained page: verdict, matrix, failures with their exchanges, observations, what did not run and why, every request; works offline and without script',
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
  const style = STYLE.map((part) => ownFile(new URL(`./style/${part}.css`, import.meta.url))).join('\n');
  const script = ownFile(new URL('./in-browser.js', import.meta.url));
  const policy = [
    "default-src 'none'",
    `style-src '${hashOf(style)}'`,
    `script-src '${hashOf(script)}'`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  const verdict = verdictOf(results);
  return `<!doctype html>\n${html`<html lang="en" class="no-script">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${HEADLINES[verdict.word]} · conform</title>
<link rel="icon" href="${icon(toneOf(verdict))}">
<style>${trusted(style)}</style>
</head>
<body>
${body(results)}
${packedEvidence(results)}
<script>${trusted(script)}</script>
</body>
</html>`}\n`;
}

function body(results: Results): Markup {
  const wrong = causes(results);
  const found = findings(results);
  const observed = observations(results);
  const missing = didNotRun(results);
  const sent = requests(results);
  const contents: readonly (readonly [string, string])[] = [
    ...(wrong ? ([['causes', 'What is wrong']] as const) : []),
    ['matrix', 'Overview'],
    ...found.map(({ id, title, n }) => [id, `${title} ${n}`] as const),
    ...(observed ? ([['observations', 'Observed']] as const) : []),
    ...(missing ? ([['not-run', 'Did not run']] as const) : []),
    ...(sent ? ([['requests', 'Requests']] as const) : []),
    ['checks', 'All checks'],
  ];
  return html`<a class="skip" href="#main">Skip to the results</a>
${pageHeader(results)}
<nav aria-label="Contents"><ul>${contents.map(([id, title]) => html`<li><a href="#${id}">${title}</a></li>`)}</ul></nav>
<main id="main" tabindex="-1">
${wrong}
${matrix(results)}
${toolbar(results)}
<p class="nothing" id="nothing" hidden>No check matches the filter. <button type="button" id="clear">Clear it</button></p>
${found.map(({ section }) => section)}
${observed}
${missing}
${sent}
${allChecks(results)}
</main>
<footer><p>Rendered from <code>results.json</code>, which holds everything that this page shows and more.</p></footer>`;
}

/** A coloured dot, so that the verdict is seen in a row of tabs. */
function icon(exitCode: number): string {
  const colors: Readonly<Record<number, string>> = {
    0: '#1a7f37',
    1: '#c0362c',
    3: '#b7791f',
    70: '#a40e6a',
  };
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><circle cx="8" cy="8" r="7" fill="${colors[exitCode] ?? '#59636e'}"/></svg>`;
  return `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`;
}

function ownFile(place: URL): string {
  // A browser turns CR LF into LF before it hashes.
  return readFileSync(place, 'utf8').replaceAll('\r\n', '\n');
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}

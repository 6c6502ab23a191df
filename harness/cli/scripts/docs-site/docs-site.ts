import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Marked, type Token, type Tokens } from 'marked';

/**
 * Renders the README, the pages of `docs/` and the two pages for contributors to a static site with a search. It loads
 * nothing from elsewhere, and works as files. `npm run docs:site` writes it to `docs-site/`.
 */
const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));
const ASSETS = ['style.css', 'search.js'];
/** UTF-16 units of the text of a section that are searched. */
const SEARCHED = 4_000;

/** A part of a page, as the search finds it. */
interface Section {
  readonly page: string;
  readonly anchor: string;
  readonly title: string;
  readonly heading: string;
  readonly text: string;
}

interface SourcePage {
  readonly source: string;
  readonly target: string;
  readonly title: string;
  readonly text: string;
}

/** @param folder is emptied first. */
export function renderSite(folder: string): readonly string[] {
  const pages = sourcePages();
  rmSync(folder, { recursive: true, force: true });
  const sections: Section[] = [];
  const files = new Set<string>();
  for (const page of pages) {
    const { html, found, linked } = rendered(page, pages);
    sections.push(...found);
    for (const file of linked) files.add(file);
    write(folder, page.target, around(page, pages, html));
  }
  for (const file of files) cpSync(join(ROOT, file), join(folder, file));
  for (const name of ASSETS) cpSync(fileURLToPath(new URL(name, import.meta.url)), join(folder, name));
  write(folder, 'sections.js', `globalThis.SECTIONS = ${JSON.stringify(sections)};\n`);
  return pages.map(({ target }) => target);
}

/** The README first, then by title. */
function sourcePages(): readonly SourcePage[] {
  const docs = globSync('docs/*.md', { cwd: ROOT }).map((source) => source.replaceAll('\\', '/'));
  const pages = ['README.md', ...docs, 'CONTRIBUTING.md', 'CHANGELOG.md'].map((source) => {
    const text = readFileSync(join(ROOT, source), 'utf8');
    return { source, target: targetOf(source), title: /^# (.*)$/m.exec(text)?.[1] ?? source, text };
  });
  const [first, ...rest] = pages;
  return [
    ...(first === undefined ? [] : [first]),
    ...rest.toSorted((a, b) => a.title.localeCompare(b.title)),
  ];
}

function targetOf(source: string): string {
  return source === 'README.md' ? 'index.html' : source.replace(/\.md$/, '.html');
}

interface Rendered {
  readonly html: string;
  readonly found: readonly Section[];
  /** Files of the repository that the page links to, other than pages. */
  readonly linked: readonly string[];
}

function rendered(page: SourcePage, pages: readonly SourcePage[]): Rendered {
  const linked: string[] = [];
  const anchors = new Map<string, number>();
  const found: Section[] = [];
  const marked = new Marked({
    gfm: true,
    walkTokens(token) {
      if (token.type === 'link' || token.type === 'image') token.href = placeOf(token.href);
    },
    renderer: {
      heading({ tokens, depth, text }) {
        return `<h${depth} id="${anchorOf(text, anchors)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      // The pages have no markup of their own: text such as `<id>` is text.
      html: ({ text }: Tokens.HTML | Tokens.Tag) => escaped(text),
    },
  });
  /** The target of a link, relative to the site. */
  function placeOf(href: string): string {
    if (/^(?:\w+:|#)/.test(href)) return href;
    const [path = '', anchor] = href.split('#');
    const file = posix.join(posix.dirname(page.source), path);
    if (pages.some(({ source }) => source === file))
      return relativeTo(page, targetOf(file)) + (anchor === undefined ? '' : `#${anchor}`);
    linked.push(file);
    return relativeTo(page, file);
  }
  const tokens = marked.lexer(page.text);
  const ids = new Map<string, number>();
  for (const part of sectionsIn(tokens)) {
    const anchor = anchorOf(part.heading, ids);
    found.push({ page: page.target, anchor, title: page.title, ...part });
  }
  return { html: marked.parse(page.text, { async: false }), found, linked };
}

/** The text below each heading. */
function sectionsIn(tokens: readonly Token[]): readonly Pick<Section, 'heading' | 'text'>[] {
  const sections: { heading: string; text: string }[] = [];
  for (const token of tokens) {
    if (token.type === 'heading') sections.push({ heading: token.text, text: '' });
    const last = sections.at(-1);
    if (last !== undefined && token.type !== 'heading')
      last.text = (last.text + token.raw).slice(0, SEARCHED);
  }
  return sections.map(({ heading, text }) => ({ heading: plain(heading), text: plain(text) }));
}

/** Without the signs of Markdown that a reader does not see. */
function plain(markdown: string): string {
  return markdown
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[`*|#>]|^ *:?-{2,}:?/gm, ' ')
    .replace(/\s+/g, ' ')
    .trim();
}

/** As GitHub names a heading; a second one of the same name gets a number. */
function anchorOf(heading: string, used: Map<string, number>): string {
  const name = plain(heading)
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
  const before = used.get(name) ?? 0;
  used.set(name, before + 1);
  return before === 0 ? name : `${name}-${before}`;
}

function relativeTo({ target }: SourcePage, path: string): string {
  return posix.relative(posix.dirname(target), path);
}

function around(page: SourcePage, pages: readonly SourcePage[], html: string): string {
  const at = (path: string) => escaped(relativeTo(page, path));
  const links = pages.map(({ target, title }) => {
    const current = target === page.target ? ' aria-current="page"' : '';
    return `<li><a href="${at(target)}"${current}>${escaped(title)}</a></li>`;
  });
  const base = posix.relative(posix.dirname(page.target), '.') || '.';
  return `<!doctype html>
<html lang="en" data-base="${base}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'self' file:; script-src 'self' file:; img-src 'self' file:">
<title>${escaped(page.title)}${page.target === 'index.html' ? '' : ' · conform'}</title>
<link rel="stylesheet" href="${at('style.css')}">
<script defer src="${at('sections.js')}"></script>
<script defer src="${at('search.js')}"></script>
</head>
<body>
<nav aria-label="Pages">
<label for="search">Search</label>
<input id="search" type="search" autocomplete="off" placeholder="known failures">
<ul id="results" aria-live="polite" hidden></ul>
<ul id="pages">
${links.join('\n')}
</ul>
</nav>
<main>
${html}</main>
</body>
</html>
`;
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

function write(folder: string, path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

if (import.meta.main) {
  const folder = join(ROOT, 'docs-site');
  process.stdout.write(`${renderSite(folder).length} pages in ${join(folder, 'index.html')}\n`);
}

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const PACK = ['pack', '--dry-run', '--json', '--ignore-scripts'];

interface Packed {
  readonly files: readonly { readonly path: string }[];
}

/** The anchors that GitHub gives to the headings of a page. */
function anchorsOf(text: string): readonly string[] {
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

it('carries every file that a page of it links to', () => {
  const [{ files }] = JSON.parse(execFileSync('npm', PACK, { cwd: ROOT, encoding: 'utf8' })) as [Packed];
  const packed = files.map(({ path }) => path);
  const pages = packed.filter((path) => path.endsWith('.md') && !path.startsWith('dist/'));
  expect(pages).toEqual(expect.arrayContaining(['README.md', 'CONTRIBUTING.md', 'docs/clauses.md']));
  const textOf = (path: string) => readFileSync(join(ROOT, path), 'utf8');
  const broken = pages.flatMap((page) =>
    [...textOf(page).matchAll(/\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]*))?\)/g)].flatMap(
      ([link, path = '', anchor]) => {
        const target = path === '' ? page : posix.join(posix.dirname(page), path);
        const isThere =
          packed.includes(target) && (anchor === undefined || anchorsOf(textOf(target)).includes(anchor));
        return isThere ? [] : [`${page}: ${link}`];
      },
    ),
  );
  expect(broken).toEqual([]);
});

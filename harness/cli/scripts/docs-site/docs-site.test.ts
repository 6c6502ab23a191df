import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../base/fixtures/folder.ts';
import { mayUse } from '../../../engine/fixtures/system-tools.ts';
import { CHROMIUM, CHROMIUM_ARGUMENTS } from '../../../report/fixtures/chromium.ts';
import { renderSite } from './docs-site.ts';

const site = join(temporaryFolder(), 'site');
const pages = renderSite(site);
const textOf = (path: string) => readFileSync(join(site, path), 'utf8');

describe('the site of the documentation', () => {
  it('has a page for each source', () => {
    const sources = globSync('docs/*.md', { cwd: join(import.meta.dirname, '../../../..') });
    expect(pages).toHaveLength(sources.length + 3);
    expect(textOf('index.html')).toContain('<h2 id="start-in-your-own-repository">');
    expect(textOf('docs/clauses.html')).toContain('<table>');
  });

  it('has no link that leads nowhere, and loads nothing from elsewhere', () => {
    const broken = pages.flatMap((page) =>
      [...textOf(page).matchAll(/ (href|src)="([^"#]*)(?:#([^"]*))?"/g)].flatMap(
        ([all, kind, path = '', anchor]) => {
          if (/^https?:/.test(path)) return kind === 'href' ? [] : [`${page}: ${all}`];
          const target = path === '' ? page : join(dirname(page), path);
          const isThere =
            existsSync(join(site, target)) &&
            (anchor === undefined || textOf(target).includes(` id="${anchor}"`));
          return isThere ? [] : [`${page}: ${all}`];
        },
      ),
    );
    expect(broken).toEqual([]);
  });

  it('takes markup in a page as text', () => {
    for (const page of pages) expect(textOf(page).match(/<script/g), page).toHaveLength(2);
  });

  it.skipIf(!mayUse(CHROMIUM))('is searched without a server', async () => {
    const browser = await chromium.launch({ executablePath: CHROMIUM, args: CHROMIUM_ARGUMENTS });
    try {
      const page = await browser.newPage();
      const complaints: string[] = [];
      page.on('console', (message) => complaints.push(message.text()));
      page.on('pageerror', (error) => complaints.push(error.message));
      await page.goto(pathToFileURL(join(site, 'docs/judge.html')).href);
      await page.keyboard.press('/');
      await page.keyboard.type('proxies tunnel');
      const [first] = await page.locator('#results a').all();
      expect(await first?.textContent()).toBe('Credentials and networks: Proxies');
      await first?.click();
      await page.waitForURL(/docs\/access\.html#proxies$/);
      expect(await page.locator('#proxies').isVisible()).toBe(true);
      await page.locator('#search').fill('nothing-has-this-word');
      expect(await page.locator('#results').textContent()).toBe('Nothing has these words.');
      expect(complaints).toEqual([]);
    } finally {
      await browser.close();
    }
  });
});

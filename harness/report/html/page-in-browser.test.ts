import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import axe from 'axe-core';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../base/fixtures/folder.ts';
import { mayUse } from '../../engine/fixtures/system-tools.ts';
import { CHROMIUM, CHROMIUM_ARGUMENTS } from '../fixtures/chromium.ts';
import { manyResults } from '../fixtures/many-results.ts';
import { rememberedResults } from '../fixtures/past-nights.ts';
import { conformingService, operationResults, resultsOf, sampleResults } from '../fixtures/sample-results.ts';
import type { Results } from '../results/results.ts';
import { checkAnchor } from './markup/row.ts';
import { renderPage } from './page.ts';

const present = mayUse(CHROMIUM);

/** In the dark the same page has other colours, and nothing else is another. */
const RULES: Readonly<Record<'light' | 'dark', axe.RunOnly>> = {
  light: { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] },
  dark: { type: 'rule', values: ['color-contrast', 'link-in-text-block'] },
};

describe.skipIf(!present)(
  `the page in a browser${present ? '' : ` (${CHROMIUM} is missing: install chromium)`}`,
  () => {
    let browser: Browser;
    let shared: Page;
    let address: string;
    /** What a page may never do: complain, run what a service said, or load anything. */
    const complaints: string[] = [];

    beforeAll(async () => {
      address = write('index.html', renderPage(rememberedResults()));
      browser = await chromium.launch({ executablePath: CHROMIUM, args: CHROMIUM_ARGUMENTS });
      shared = await blank();
    });
    afterAll(() => browser.close());
    afterEach(() => {
      expect(complaints.splice(0)).toEqual([]);
    });

    function write(name: string, content: string): string {
      return pathToFileURL(join(temporaryFolder({ [name]: content }), name)).href;
    }

    async function blank(options: BrowserContextOptions = {}): Promise<Page> {
      const page = await browser.newPage(options);
      page.on('console', (message) => complaints.push(`${message.type()}: ${message.text()}`));
      page.on('pageerror', (error) => complaints.push(error.message));
      page.on('dialog', (dialog) => complaints.push(`dialog: ${dialog.message()}`));
      page.on('request', (request) => {
        if (!/^(file|data):/.test(request.url())) complaints.push(`loads ${request.url()}`);
      });
      return page;
    }

    interface Looked {
      readonly colorScheme?: 'light' | 'dark';
      readonly width?: number;
      readonly height?: number;
    }

    /** One tab for all of them, as a new one takes longer than what is looked at in it. */
    async function open(at = address, { colorScheme = 'light', width = 1280, height = 900 }: Looked = {}) {
      if (shared.url() !== 'about:blank') await shared.evaluate('localStorage.clear()');
      // Where the address differs in its fragment alone, nothing would be loaded.
      await shared.goto('about:blank');
      await shared.emulateMedia({ colorScheme, media: null });
      await shared.setViewportSize({ width, height });
      await shared.goto(at);
      return shared;
    }

    const anchorOf = (serviceName: string, id: string) => {
      const service = sampleResults().services.find((one) => one.service === serviceName);
      const check = service?.checks.find((one) => one.id === id);
      if (!service || !check) throw new Error(`the sample has no ${id} of ${serviceName}`);
      return checkAnchor(service, check);
    };
    const row = (page: Page, service: string, id: string) => page.locator(`[id="${anchorOf(service, id)}"]`);

    const everything = 'for (const details of document.querySelectorAll("details")) details.open = true';

    it('finds an operation and its findings by its name, with or without the method', async () => {
      const page = await open(write('operations.html', renderPage(operationResults())));
      const left = () => page.locator('#operations tbody:visible, .finding:not([hidden])').count();
      expect(await left()).toBe(6);
      await page.locator('#operations .name', { hasText: /^GET \/v1\/orders$/ }).click();
      expect(await page.locator('#query').inputValue()).toBe('operation:"GET /v1/orders"');
      expect(await left()).toBe(3);
      await page.locator('#query').fill('operation:/v1/orders/{id}');
      expect(await left()).toBe(3);
      await page.locator('#query').fill('operation:/v1/*');
      expect(await left()).toBe(5);
      await page.locator('#operations .found a', { hasText: 'operations.schema' }).first().click();
      expect(await page.locator('.finding[id="orders/operations.schema"]').getAttribute('open')).toBe('');
    });

    it('runs nothing that a service said, however it is looked at', async () => {
      const page = await open();
      await page.evaluate(everything);
      await expect.poll(() => page.locator('.behind .transcript').count()).toBeGreaterThan(30);
      expect(await page.evaluate('"pwned" in globalThis')).toBe(false);
      expect(await page.locator('img, script[src], iframe, object').count()).toBe(0);
      expect(await page.locator('main').textContent()).toContain('<script>globalThis.pwned = true</script>');
    });

    it.each([
      ['light', 390],
      ['dark', 1280],
    ] as const)('has no barrier that axe-core knows of (%s, %d wide)', async (colorScheme, width) => {
      const page = await open(address, { colorScheme, width });
      await page.evaluate(everything);
      await expect.poll(() => page.locator('.behind .transcript').count()).toBeGreaterThan(30);
      await page.locator('[data-chip="warning"]').click();
      await page.locator('[data-chip="warning"]').click();
      expect(await barriers(page, RULES[colorScheme])).toEqual([]);
    });

    it('has none for a fleet either', async () => {
      const page = await open(write('fleet.html', renderPage(manyResults(14, 100))));
      await page.evaluate(everything);
      expect(await barriers(page, RULES.light)).toEqual([]);
    });

    async function barriers(page: Page, runOnly: axe.RunOnly): Promise<readonly string[]> {
      await page.evaluate(axe.source);
      const { violations } = await page.evaluate<axe.AxeResults>(
        `axe.run(document, ${JSON.stringify({ runOnly, resultTypes: ['violations'] })})`,
      );
      // A square may be small: the filter does the same (WCAG 2.5.8, Equivalent).
      const isSquare = (rule: string, html: string) =>
        rule === 'target-size' && html.startsWith('<a class="sq ');
      return violations.flatMap(({ id, nodes }) =>
        nodes
          .filter(({ html }) => !isSquare(id, html))
          .map(({ html, failureSummary }) => `${id}: ${html.slice(0, 300)} ${failureSummary}`),
      );
    }

    it.each([
      ['everything', sampleResults()],
      ['operations', operationResults()],
      ['300 operations', manyOperations()],
    ])('does not scroll sideways at any width: %s', async (name, results) => {
      const page = await open(write(`${name}.html`, renderPage(results)));
      await page.evaluate(everything);
      for (const width of [320, 390, 768, 1280, 1920]) {
        await page.setViewportSize({ width, height: 800 });
        expect(
          await page.evaluate('document.documentElement.scrollWidth'),
          `${width} pixels`,
        ).toBeLessThanOrEqual(width);
      }
    });

    it('shows verdict, causes and the matrix on the first screen, every cause closed', async () => {
      const page = await open(address, { height: 980 });
      expect(await page.locator('.cause[open], .finding[open]').count()).toBe(0);
      const box = await page.locator('.matrix').boundingBox();
      expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThan(980);
    });

    it('opens the exchange that decided, marks the line that is wrong, and folds the others', async () => {
      const page = await open(`${address}#${anchorOf('search', 'auth.missing-credential')}`);
      const finding = row(page, 'search', 'auth.missing-credential');
      expect(await finding.locator('.exchange .head').textContent()).toContain('GET no credential e4');
      expect(await finding.locator('.line.marked:visible').allTextContents()).toEqual([
        expect.stringContaining('HTTP/1.1 200 OKexpected status 401'),
      ]);
      expect(await finding.locator('.other').allTextContents()).toEqual([
        expect.stringContaining('e1 GET the documented sample request, answered 200'),
      ]);
      expect(await finding.locator('.other .transcript').isVisible()).toBe(false);
    });

    it('unpacks evidence when a row is opened', async () => {
      const page = await open();
      await page.locator('[id="suite/auth"] > summary').click();
      const passed = row(page, 'search', 'auth.wrong-credential');
      await passed.locator('summary').first().click();
      await expect.poll(() => passed.locator('.transcript').textContent()).toContain('GET /v1/resources');
      expect(await passed.locator('.other summary').textContent()).toContain('a wrong credential');
    });

    it('filters by words and by terms, says how many are left, and clears', async () => {
      const page = await open();
      const query = page.getByRole('searchbox');
      const shown = () => page.locator('#shown').textContent();
      await query.fill('is:fail service:search');
      expect(await shown()).toBe('2 of 45 checks');
      expect(await page.locator('.cause:visible').count()).toBe(2);
      expect(await page.locator('.cause:visible .count').first().textContent()).toBe('1 of 2 findings');
      expect(await page.locator('#observed').isVisible()).toBe(false);
      for (const [terms, left] of [
        ['id:auth.chal*', '3 of 45 checks'],
        ['suite:json -service:messaging is:pass,observed level:must', '2 of 45 checks'],
        ['is:new', '1 of 45 checks'],
        ['"names how" -service:search', '2 of 45 checks'],
        ['nothing has this', 'Nothing matches the filter.'],
      ] as const) {
        await query.fill(terms);
        expect(await shown()).toBe(left);
      }
      await page.getByRole('button', { name: 'Clear the filter' }).click();
      expect(await page.locator('.cause:visible').count()).toBe(await page.locator('.cause').count());
    });

    it.each([
      ['is:fial', 'is:fial is not known; did you mean is:fail?'],
      ['constructor:it', 'constructor: is not known'],
      ['servise:search', 'did you mean service:?'],
    ])('says of the term %s what is wrong with it', async (term, told) => {
      const page = await open();
      await page.getByRole('searchbox').fill(term);
      expect(await page.locator('#shown').textContent()).toContain(told);
    });

    it('filters by chips and keeps the filter in the address', async () => {
      const page = await open();
      await page.getByRole('button', { name: '3 failed' }).click();
      await page.getByRole('button', { name: '2 warnings' }).click();
      expect(await page.getByRole('searchbox').inputValue()).toBe('is:fail,warning');
      expect(await page.locator('[aria-pressed="true"]').allTextContents()).toEqual([
        '3 failed',
        '2 warnings',
      ]);
      const again = await open(page.url());
      expect(await again.locator('#shown').textContent()).toBe('5 of 45 checks');
      await again.getByRole('button', { name: '3 failed' }).click();
      await again.getByRole('button', { name: '2 warnings' }).click();
      expect(await again.locator('#checks [data-o]:not([hidden])').count()).toBe(45);
    });

    it('filters by a cell of the matrix', async () => {
      const page = await open();
      await page.locator('[data-query="service:realtime suite:websocket"]').click();
      expect(await page.locator('#shown').textContent()).toBe('3 of 45 checks');
    });

    it('filters the one-line rows of a large run as well', async () => {
      const page = await open(write('large.html', renderPage(manyResults(4, 800))));
      await page.getByRole('searchbox').fill('level:must is:pass service:service-002 suite:auth');
      const rows = page.locator('#checks .brief:not([hidden])');
      const left = await rows.count();
      expect(left).toBeGreaterThan(10);
      expect(await page.locator('#shown').textContent()).toBe(`${left} of 3,200 checks`);
      expect(await rows.first().textContent()).toMatch(/^passanswers .*auth\..*service-002$/);
    });

    it('finds and sorts the services of a fleet', async () => {
      const page = await open(write('fleet.html', renderPage(manyResults(14, 100))));
      const names = () => page.locator('.heat tbody tr:visible th').allTextContents();
      await page.getByRole('button', { name: 'slowest first' }).click();
      expect((await names())[0]).toBe('service-014');
      await page.getByRole('searchbox', { name: 'Find a service' }).fill('-003');
      expect(await names()).toEqual(['service-003']);
      await page.locator('.heat tr:visible a.sq.fail').first().click();
      expect(await page.getByRole('searchbox').first().inputValue()).toMatch(/^service:service-003 suite:/);
    });

    it.each(['realtime/websocket.close', 'websocket.close'])(
      'opens the check that the link #%s names, even one that a filter hides',
      async (link) => {
        const page = await open(`${address}#${link}`);
        const named = row(page, 'realtime', 'websocket.close');
        expect(await named.getAttribute('open')).not.toBeNull();
        await expect.poll(() => named.locator('.transcript').count()).toBe(1);
        await page.getByRole('searchbox').fill('is:fail');
        await page.evaluate(`location.hash = ''; location.hash = ${JSON.stringify(link)}`);
        await named.locator('summary').first().waitFor();
        expect(await page.getByRole('searchbox').inputValue()).toBe('');
      },
    );

    it('offers to copy what repeats a request', async () => {
      const page = await open(`${address}#auth.missing-credential`);
      const button = page.locator('.finding[open] .copy');
      await button.click();
      await expect.poll(() => button.textContent()).toMatch(/^(Copied|Selected)$/);
    });

    it('can be used with the keyboard alone', async () => {
      const page = await open();
      const press = async (...keys: readonly string[]) => {
        for (const key of keys) await page.keyboard.press(key);
      };
      await press('j', 'Enter', 'j', 'o');
      expect(await page.locator('.finding[open] > summary code').allTextContents()).toEqual([
        'auth.missing-credential',
      ]);
      await press('Escape');
      expect(await page.locator('.finding[open], .cause[open]').count()).toBe(0);
      await press('/');
      await page.keyboard.type('is:warning jkxt');
      expect(await page.getByRole('searchbox').inputValue()).toBe('is:warning jkxt');
      await press('Escape');
      expect(await page.getByRole('searchbox').inputValue()).toBe('');
      await press('Escape', '?');
      expect(await page.locator('#keys').isVisible()).toBe(true);
      await press('Escape', 't');
      expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('dark');
    });

    it('shows verdict, causes, findings and their exchanges without script', async () => {
      const page = await blank({ javaScriptEnabled: false });
      await page.goto(address);
      expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe(
        'search and messaging do not conform',
      );
      await page.locator('.cause > summary').first().click();
      const missing = row(page, 'search', 'auth.missing-credential');
      await missing.locator('summary').first().click();
      expect(await missing.locator('.line.marked').isVisible()).toBe(true);
      expect(await missing.textContent()).toContain('status 401');
      expect(await missing.locator('.transcript').first().textContent()).toContain('GET /v1/resources');
      expect(await missing.textContent()).toContain('curl --include');
      expect(await page.locator('.scripted:visible').count()).toBe(0);
    });

    it('opens causes and their rows for print, and leaves out what is of no use on paper', async () => {
      const page = await open();
      await page.evaluate('dispatchEvent(new Event("beforeprint"))');
      await page.emulateMedia({ media: 'print' });
      expect(await page.locator('#wrong > .cause:not(.slim, [open])').count()).toBe(0);
      expect(await page.locator('.bar, .chips, .copy').filter({ visible: true }).count()).toBe(0);
    });

    it.each([
      ['✓ realtime conforms', [conformingService()], {}],
      [
        '◐ Interrupted after 1 min 2 s: 13 of 14 checks judged',
        [conformingService()],
        { interrupted: true, interruption: 'SIGINT' },
      ],
      ['⊘ Nothing could be judged', [], {}],
      ['! conform itself failed', [conformingService()], { faults: ['<b>it</b> broke'] }],
      [
        '◐ 13 of 14 checks ran: no verdict',
        [conformingService()],
        { selection: { suites: ['auth'], checks: [], partial: false } },
      ],
    ] as const)('says %s when that is the verdict', async (title, services, run) => {
      const page = await open(
        write('other.html', renderPage(resultsOf(services, run as Partial<Results['run']>))),
      );
      expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe(title.slice(2));
      expect(await page.title()).toBe(`${title} · conform`);
    });
  },
);

/** A document of 300 operations, some with long paths. */
function manyOperations(): Results {
  const { services, ...results } = operationResults();
  const [service = conformingService('orders')] = services;
  const [sample] = service.operationCoverage ?? [];
  const operationCoverage = Array.from({ length: 300 }, (_, at) => {
    const operation = `GET /v1/${'areas/'.repeat(at % 12)}{area${at}}`;
    return sample === undefined ? [] : [{ ...sample, operation, id: operation }];
  }).flat();
  return { ...results, services: [{ ...service, operationCoverage }] };
}

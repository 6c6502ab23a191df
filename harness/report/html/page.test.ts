import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import axe from 'axe-core';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../base/fixtures/folder.ts';
import { mayUse } from '../../run/fixtures/system-tools.ts';
import { conformingService, diagnosedResults, resultsOf, sampleResults } from '../fixtures/sample-results.ts';
import { checkAnchor } from './check-detail.ts';
import { renderPage } from './page.ts';

const CHROMIUM = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';
const present = mayUse(CHROMIUM);
const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

describe('the page as text', () => {
  const page = renderPage(diagnosedResults());

  it('loads nothing and allows only its own style and script', () => {
    expect(page).toMatch(
      /content="default-src &#39;none&#39;; style-src &#39;sha256-[^;]+&#39;; script-src &#39;sha256-[^;]+&#39;; img-src data:;/,
    );
    expect(page).not.toMatch(/<(link|img|script|iframe)[^>]+(src|href)="(?!data:)/);
    expect(page).not.toMatch(/ style="| on\w+="/);
  });

  it('says on top what is wrong, and with what each cause can be compared', () => {
    const top = page.slice(0, page.indexOf('id="matrix"'));
    expect(top).toContain('<p class="lead">1 cause explains 2 of 5 findings.</p>');
    expect(top).toContain('A request without a credential is answered 200');
    expect(top).toContain('<code>conform serve search --defect accepts-missing-key</code>');
    expect(top.match(/No cause found: /g)).toHaveLength(3);
    expect(renderPage(sampleResults())).not.toContain('id="causes"');
  });

  it('has every id once', () => {
    const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  });

  it('leads only to what is there', () => {
    const ids = new Set([...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
    const targets = [...page.matchAll(/ href="#([^"]+)"/g)].map(([, target]) => target);
    expect(targets.length).toBeGreaterThan(50);
    expect(targets.filter((target) => !ids.has(target ?? ''))).toEqual([]);
  });

  it('bounds what it carries of a flood of evidence', () => {
    const [service] = sampleResults().services;
    const huge = service?.evidence.e1;
    if (!service) throw new Error('the sample has no service');
    const evidence = Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`x${index}`, huge]));
    expect(renderPage(resultsOf([{ ...service, evidence }])).length).toBeLessThan(1_000_000);
  });
});

describe.skipIf(!present)(
  `the page in a browser${present ? '' : ` (${CHROMIUM} is missing: install chromium)`}`,
  () => {
    let browser: Browser;
    let address: string;
    const opened: { close(): Promise<void> }[] = [];
    /** What a page may never do: complain, run what a service said, or load anything. */
    const complaints: string[] = [];

    beforeAll(async () => {
      address = write('index.html', renderPage(sampleResults()));
      browser = await chromium.launch({ executablePath: CHROMIUM, args: ARGUMENTS });
    });
    afterAll(() => browser.close());
    afterEach(async () => {
      await Promise.all(opened.splice(0).map((context) => context.close()));
      expect(complaints.splice(0)).toEqual([]);
    });

    function write(name: string, content: string): string {
      return pathToFileURL(join(temporaryFolder({ [name]: content }), name)).href;
    }

    async function open(options: BrowserContextOptions = {}, at = address): Promise<Page> {
      const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
      opened.push(context);
      const page = await context.newPage();
      page.on('console', (message) => complaints.push(`${message.type()}: ${message.text()}`));
      page.on('pageerror', (error) => complaints.push(error.message));
      page.on('dialog', (dialog) => complaints.push(`dialog: ${dialog.message()}`));
      page.on('request', (request) => {
        if (!/^(file|data):/.test(request.url())) complaints.push(`loads ${request.url()}`);
      });
      await page.goto(at);
      return page;
    }

    const anchorOf = (serviceName: string, id: string) => {
      const service = sampleResults().services.find((one) => one.service === serviceName);
      const check = service?.checks.find((one) => one.id === id);
      if (!service || !check) throw new Error(`the sample has no ${id} of ${serviceName}`);
      return checkAnchor(service, check);
    };
    const row = (page: Page, service: string, id: string) => page.locator(`[id="${anchorOf(service, id)}"]`);

    it('runs nothing that a service said, however it is looked at', async () => {
      const page = await open();
      await page.evaluate('for (const details of document.querySelectorAll("details")) details.open = true');
      await expect.poll(() => page.locator('[data-evidence]').count()).toBe(0);
      await expect.poll(() => page.locator('.packed .transcript').count()).toBeGreaterThan(30);
      expect(await page.evaluate('"pwned" in globalThis')).toBe(false);
      expect(await page.locator('img, script[src], iframe, object').count()).toBe(0);
      expect(await page.locator('main').textContent()).toContain('<script>globalThis.pwned = true</script>');
    });

    it.each([
      ['light', 1280],
      ['dark', 1280],
      ['light', 390],
    ] as const)('has no barrier that axe-core knows of (%s, %d wide)', async (colorScheme, width) => {
      const page = await open({ colorScheme, viewport: { width, height: 900 } });
      await row(page, 'search', 'auth.valid-credential').locator('summary').first().click();
      await page.locator('#not-run summary').first().click();
      await page.locator('.ledger summary').first().click();
      await page.locator('[data-chip="warning"]').click();
      await page.locator('[data-chip="warning"]').click();
      await page.evaluate(axe.source);
      const { violations } = await page.evaluate<axe.AxeResults>(
        'axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] })',
      );
      const barriers = violations.flatMap(({ id, nodes }) =>
        nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
      );
      expect(barriers).toEqual([]);
    });

    it.each([320, 390, 768, 1280])('does not scroll sideways at %d pixels', async (width) => {
      const page = await open({ viewport: { width, height: 800 } });
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
    });

    it('unpacks evidence when a row is opened', async () => {
      const page = await open();
      const passed = row(page, 'search', 'auth.wrong-credential');
      await passed.locator('summary').first().click();
      await expect.poll(() => passed.locator('.transcript').textContent()).toContain('GET /v1/resources');
      expect(await passed.locator('.evidence summary').textContent()).toContain('a wrong credential');
    });

    it('filters by words and by fields, says how many are left, and clears', async () => {
      const page = await open();
      const query = page.getByRole('searchbox');
      const shown = () => page.locator('#shown').textContent();
      await query.fill('s:fail service:search');
      expect(await shown()).toBe('2 of 45 checks');
      expect(await page.locator('.card:visible').count()).toBe(2);
      expect(await page.locator('#warnings').isVisible()).toBe(false);
      await query.fill('challenge');
      expect(await shown()).toBe('3 of 45 checks');
      await query.fill('suite:json -service:messaging s:pass,observed level:must');
      expect(await shown()).toBe('2 of 45 checks');
      await query.fill('nothing has this');
      expect(await shown()).toBe('0 of 45 checks');
      await page.getByRole('button', { name: 'Clear it' }).click();
      expect(await page.locator('.card:visible').count()).toBe(5);
    });

    it('filters by chips and keeps the filter in the address', async () => {
      const page = await open();
      await page.getByRole('button', { name: 'fail 3' }).click();
      await page.getByRole('button', { name: 'warning 2' }).click();
      expect(await page.getByRole('searchbox').inputValue()).toBe('s:fail,warning');
      expect(await page.locator('[aria-pressed="true"]').allTextContents()).toEqual(['fail 3', 'warning 2']);
      const again = await open({}, page.url());
      expect(await again.locator('#shown').textContent()).toBe('5 of 45 checks');
      await again.getByRole('button', { name: 'fail 3' }).click();
      await again.getByRole('button', { name: 'warning 2' }).click();
      expect(await again.locator('li[data-row]:not([hidden])').count()).toBe(45);
    });

    it('filters by a cell of the matrix', async () => {
      const page = await open();
      await page.locator('[data-query="service:realtime suite:websocket"]').click();
      expect(await page.locator('#shown').textContent()).toBe('3 of 45 checks');
    });

    it('opens the check that a permalink names, even one that a filter hides', async () => {
      const anchor = anchorOf('realtime', 'websocket.ping');
      const page = await open({}, `${address}#${anchor}`);
      expect(await row(page, 'realtime', 'websocket.ping').getAttribute('open')).not.toBeNull();
      await expect.poll(() => row(page, 'realtime', 'websocket.ping').locator('.transcript').count()).toBe(1);
      await page.getByRole('searchbox').fill('s:fail');
      await page.evaluate(`location.hash = ''; location.hash = ${JSON.stringify(anchor)}`);
      await row(page, 'realtime', 'websocket.ping').locator('summary').first().waitFor();
      expect(await page.getByRole('searchbox').inputValue()).toBe('');
    });

    it('offers to copy what repeats a request', async () => {
      const page = await open();
      const button = page.locator('.copy').first();
      await button.click();
      await expect.poll(() => button.textContent()).toMatch(/^(Copied|Selected)$/);
    });

    it('can be used with the keyboard alone', async () => {
      const page = await open();
      await page.keyboard.press('/');
      await page.keyboard.type('s:warning');
      expect(await page.locator('.card:visible').count()).toBe(2);
    });

    it('shows verdict, rows and failures with their exchanges without script', async () => {
      const page = await open({ javaScriptEnabled: false });
      expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Does not conform');
      expect(await page.locator('li[data-row]:visible').count()).toBe(45);
      const failure = row(page, 'search', 'auth.missing-credential');
      expect(await failure.textContent()).toContain('expected status 401, got 200');
      expect(await failure.locator('.transcript').first().textContent()).toContain('GET /v1/resources');
      expect(await failure.textContent()).toContain('curl --include');
      expect(await page.locator('.toolbar').isVisible()).toBe(false);
    });

    it.each([
      ['Conforms', [conformingService()], {}],
      ['Inconclusive', [conformingService()], { interrupted: true, interruption: 'SIGINT' }],
      ['Inconclusive', [], {}],
      ['Harness error', [conformingService()], { faults: ['<b>it</b> broke'] }],
    ] as const)('says %s when that is the verdict', async (headline, services, run) => {
      const page = await open({}, write('other.html', renderPage(resultsOf(services, run))));
      expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe(headline);
      expect(await page.title()).toBe(`${headline} · conform`);
    });
  },
);

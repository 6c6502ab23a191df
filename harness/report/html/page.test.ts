import { describe, expect, it } from 'vitest';
import { manyResults } from '../fixtures/many-results.ts';
import { rememberedResults } from '../fixtures/past-nights.ts';
import {
  conformingService,
  diagnosedResults,
  failingService,
  operationResults,
  resultsOf,
  sampleCheck,
  sampleResults,
} from '../fixtures/sample-results.ts';
import { renderPage } from './page.ts';

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
    expect(top).toContain('<strong>1 cause explains 1 of 3 failures.</strong>');
    expect(top).toContain('A request without a credential is answered 200');
    expect(top).toContain('conform serve search --defect accepts-missing-key');
    expect(top).not.toContain('No cause found');
    expect(renderPage(sampleResults())).not.toContain('No cause found');
  });

  it('says at the foot of each printed page which run it is, whatever that is called', () => {
    expect(page).toContain('content: "run r4x9k2"');
    const hostile = renderPage(resultsOf([conformingService()], { id: 'x"; } </style><script>' }));
    expect(hostile).toContain('content: "run xstylescript"');
  });

  it('names the operations of a finding, but of none that several services have', () => {
    const subjects = [{ subject: 'GET /a', outcome: 'fail' as const, evidence: [] }];
    const check = {
      ...sampleCheck('fail', { suite: 'operations' }),
      headline: 'A body lacks "data"',
      subjects,
    };
    const sentenceOf = (...services: readonly string[]) => {
      const all = services.map((service) => ({ ...failingService(), service, checks: [check] }));
      const [, sentence] = /<span class="sentence">(.*?)<\/span>/.exec(renderPage(resultsOf(all))) ?? [];
      return sentence;
    };
    expect(sentenceOf('orders')).toBe('GET /a: a body lacks &quot;data&quot;');
    expect(sentenceOf('orders', 'search')).toBe('A body lacks &quot;data&quot;');
  });

  it('keeps warnings apart from failures', () => {
    const advice = page.slice(page.indexOf('id="advice"'), page.indexOf('id="rate"'));
    expect(advice).toContain('json.long');
    expect(advice).not.toContain('json.hostile');
  });

  it('tells what is new, and what was fixed, where there were runs before', () => {
    const told = renderPage(rememberedResults());
    expect(told).toContain('Since the run before, 20 Nov 2026, 06:38 UTC, earlier');
    expect(told).toContain('<code>headers.date</code> in search');
    const tags = [...told.matchAll(/<span class="tag (\w+)">[^<]*<\/span>([^<]*)/g)].map(([, tag, words]) => [
      tag,
      words,
    ]);
    expect(tags).toEqual([
      ['still', '9 runs, since 14 Nov'],
      ['new', 'in none of the 2 runs before'],
    ]);
    expect(page).not.toContain('run before');
    const first = { runs: [], changes: [], flaky: [], notes: [] };
    expect(renderPage({ ...diagnosedResults(), history: first })).toContain(
      'First run here, nothing to compare with.',
    );
  });

  it('tells apart what is pinned, what is not, and what has drifted, where anything was accepted', () => {
    const service = conformingService();
    const [algorithm, ...others] = service.observations;
    if (algorithm === undefined) throw new Error('the sample has no observation');
    const drifted = {
      ...algorithm,
      accepted: 'fixed-window',
      acceptedAt: 'config/accepted/realtime.yaml:3',
      drift: 'was fixed-window, is unknown',
    };
    const told = renderPage(resultsOf([{ ...service, observations: [drifted, ...others] }]));
    expect(told).toContain('realtime drifted from what is accepted</span></h1>');
    expect(told).toContain('limits.algorithm drifted: was fixed-window, is unknown');
    expect(told).toContain('<summary>drifted, realtime</summary>');
    expect(told).toContain('<p class="pin">not pinned</p>');
    expect(page).not.toContain('pinned');
  });

  it('has a row for each operation, the worst first, that leads to its findings', () => {
    const told = renderPage(operationResults());
    const rows = [...told.matchAll(/<tbody data-o="(\w+)" data-s="orders" data-op="([A-Z]+ [^"<&]*)/g)];
    expect(rows.map(([, outcome, name]) => [name, outcome]).slice(0, 3)).toEqual([
      ['GET /v1/orders', 'fail'],
      ['GET /v1/orders/{id}', 'warning'],
      ['DELETE /v1/orders/{id}', 'skipped'],
    ]);
    expect(told).toContain('<a href="#orders/operations.schema">operations.schema</a>');
    const finding = told.match(/<details class="finding" id="orders\/operations.schema"[^>]*>/)?.[0];
    expect(finding).toContain('data-op="GET /v1/orders"');
  });

  it('has a matrix of operations by status, seen, never seen and not documented, with constraints', () => {
    const table = renderPage(operationResults()).match(/<table class="covered">.*?<\/table>/s)?.[0] ?? '';
    const heads = [...table.matchAll(/<th scope="col"[^>]*>([^<]*)/g)].map(([, text]) => text);
    expect(heads).toEqual(['Operation', '200', '418', 'Constraints']);
    const cells = [...table.matchAll(/<td class="(seen|never|surplus|none|tries)">(.*?)<\/td>/g)];
    expect(cells.map(([, kind]) => kind)).toEqual([
      ...['seen', 'surplus', 'tries'],
      ...['seen', 'surplus', 'tries'],
      ...['never', 'none', 'tries'],
      ...['never', 'none', 'tries'],
    ]);
    expect(table).toContain('1<span>1 not sent</span>');
    expect(table).toContain('maximum: outside 200, inside no response');
    expect(table).not.toMatch(/<script|[\p{Cf}\p{Cs}]/u);
  });

  it('keeps statuses beyond ten in one column', () => {
    const results = operationResults();
    const many = Array.from({ length: 12 }, (_, at) => ({ code: `${400 + at}`, seen: at % 2 }));
    const services = results.services.map(({ operationCoverage = [], ...service }) => ({
      ...service,
      operationCoverage: operationCoverage.map((each, at) => (at === 0 ? { ...each, answers: many } : each)),
    }));
    const whole = renderPage({ ...results, services });
    const table = whole.match(/<table class="covered">.*?<\/table>/s)?.[0] ?? '';
    expect(table.match(/<th scope="col"[^>]*>/g)).toHaveLength(13);
    expect(table).toMatch(/<td class="wide">409 \(1\), 411 \(1\), never 408, 410<\/td>/);
  });

  it('has every id once', () => {
    const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  });

  it.each([
    ['a few services', page],
    ['a service with operations', renderPage(operationResults())],
    ['a fleet', renderPage(manyResults(14, 100))],
  ])('leads only to what is there: %s', (_, whole) => {
    const ids = new Set([...whole.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
    const targets = [...whole.matchAll(/ href="#([^"]+)"/g)].map(([, target]) => target);
    expect(targets.length).toBeGreaterThan(5);
    expect(targets.filter((target) => !ids.has(target ?? ''))).toEqual([]);
  });

  it('bounds what it carries of a flood of evidence', () => {
    const service = failingService();
    const huge = service.evidence.e1;
    const evidence = Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`x${index}`, huge]));
    expect(renderPage(resultsOf([{ ...service, evidence }])).length).toBeLessThan(1_000_000);
  });

  it.each([
    ['10,000 outcomes', 10, 1_000, 5_000_000],
    ['a fleet of 100 services', 100, 300, 8_000_000],
  ])('is no larger than a browser is done with at once: %s', (_, services, checks, most) => {
    expect(Buffer.byteLength(renderPage(manyResults(services, checks)))).toBeLessThan(most);
  });
});

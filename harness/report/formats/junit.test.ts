import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { mayUse } from '../../engine/fixtures/system-tools.ts';
import { rememberedResults } from '../fixtures/past-nights.ts';
import {
  conformingService,
  diagnosedResults,
  operationResults,
  resultsOf,
  SAMPLE_RUNS,
  sampleCheck,
  sampleResults,
} from '../fixtures/sample-results.ts';
import { renderJunit } from './junit.ts';

/** Jenkins' and Surefire's schemas, and our own statement of the profile that lies within both. */
const SCHEMA_FOLDER = fileURLToPath(new URL('../fixtures/schemas', import.meta.url));
const SCHEMAS = readdirSync(SCHEMA_FOLDER)
  .filter((name) => name.endsWith('.xsd'))
  .map((name) => ({ name, path: join(SCHEMA_FOLDER, name) }));
const XMLLINT = process.env.XMLLINT ?? 'xmllint';
const xmllint = mayUse(XMLLINT);

function complaints(document: string, schema: string): string {
  const { status, stderr } = spawnSync(XMLLINT, ['--nonet', '--noout', '--schema', schema, '-'], {
    input: document,
    encoding: 'utf8',
  });
  return status === 0 ? '' : stderr;
}

describe.skipIf(!xmllint)(
  `JUnit against its schemas${xmllint ? '' : ' (xmllint is missing: install libxml2-utils)'}`,
  () => {
    describe.each(SCHEMAS)('$name', ({ name, path }) => {
      it.each(Object.entries({ ...SAMPLE_RUNS, 'a run with earlier ones': rememberedResults() }))(
        '%s',
        (_, results) => {
          const { merged, suites } = renderJunit(results);
          // Surefire knows no `testsuites`: there the documents of single suites are held against it.
          const documents = name.startsWith('surefire') ? [...suites.values()] : [merged, ...suites.values()];
          for (const document of documents) expect(complaints(document, path)).toBe('');
        },
      );
    });

    it('would notice a document that is not valid', () => {
      const schema = SCHEMAS[0]?.path ?? '';
      expect(existsSync(schema)).toBe(true);
      expect(complaints('<testsuite name="x"/>', schema)).not.toBe('');
    });
  },
);

/** The element of one case, from its opening to its end. */
function caseOf(document: string, name: string): string {
  const start = document.indexOf(`<testcase name="${name}"`);
  expect(start, `${name} in the document`).toBeGreaterThan(-1);
  const head = document.slice(start, document.indexOf('>', start) + 1);
  return head.endsWith('/>') ? head : document.slice(start, document.indexOf('</testcase>', start));
}

describe('JUnit', () => {
  const { merged, suites } = renderJunit(sampleResults());
  const all = (of: string) =>
    [...suites].flatMap(([name, text]) => (name.startsWith(of) ? text : [])).join('');
  const search = all('search.');
  const messaging = all('messaging.');

  it('has the same suites in the merged file as in files of their own', () => {
    const body = (document: string) =>
      document
        .slice(document.indexOf('<testcase'), document.indexOf('</testsuite>'))
        .replace(/^ +(?=<)/gm, '')
        .trim();
    for (const document of suites.values())
      expect(merged.replace(/^ +(?=<)/gm, '')).toContain(body(document));
  });

  it.each([
    ['pass', 'auth.valid-credential', /\/>$/],
    ['fail', 'auth.missing-credential', /<failure message="expected status 401, got 200[^"]*" type="MUST">/],
    ['warning', 'limits.retry-after', /^<testcase [^>]*>\s*<system-out>WARNING the service says when/],
    [
      'observed',
      'json.error-shape',
      /<system-out>OBSERVED application\/problem\+json\nOBSERVED errors\.shape = /,
    ],
    ['blocked without a MUST', 'limits.keyed-by', /<skipped message="blocked: no second key/],
  ])('tells %s as such', (_, id, expected) => {
    expect(caseOf(search, id).trim()).toMatch(expected);
  });

  it('has no case for what does not apply', () => {
    expect(search).not.toContain('websocket.handshake');
    expect(suites.has('search.websocket')).toBe(false);
  });

  it('is never green for what is known, blocked with a MUST, or an error', () => {
    expect(caseOf(messaging, 'status.known')).toContain('<skipped message="known: ');
    const checks = [
      sampleCheck('pass', { id: 'a.blocked', outcome: 'blocked', message: 'no way' }),
      sampleCheck('pass', { id: 'a.error', outcome: 'error', message: 'oh' }),
    ];
    const { merged: document } = renderJunit(resultsOf([{ ...conformingService('search'), checks }]));
    expect(caseOf(document, 'a.blocked')).toContain('<error message="no way" type="blocked">');
    expect(caseOf(document, 'a.error')).toContain('<error message="oh" type="MUST">');
  });

  it('has a case for each operation by its method and path, beside those of the checks', () => {
    const cases = renderJunit(operationResults()).suites.get('orders.by-operation') ?? '';
    expect(cases.split('<testcase ')).toHaveLength(5);
    expect(caseOf(cases, 'GET /v1/orders')).toMatch(
      /<failure message="2 findings: operations.schema: \/id is a text; headers.*documented in openapi.yaml:7:5/s,
    );
    expect(caseOf(cases, 'GET /v1/orders/{id}')).toContain('warning headers.content-language-form: en_US');
    expect(caseOf(cases, 'DELETE /v1/orders/{id}')).toContain('"skipped: not exercised: it is unsafe"');
    expect(renderJunit(operationResults()).suites.get('orders.operations')).toContain(
      '<testcase name="operations.schema"',
    );
  });

  it('leads with the causes among the properties of a suite', () => {
    const { suites: diagnosed } = renderJunit(diagnosedResults());
    const first = (document = '') =>
      /<properties>\s*<property name="([^"]*)" value="([^"]*)"/.exec(document)?.slice(1);
    expect(first(diagnosed.get('search.auth'))).toEqual([
      'cause 1',
      '1 finding: A request without a credential is answered 200: auth.missing-credential',
    ]);
    expect(first(diagnosed.get('messaging.json'))?.[1]).toMatch(/^1 finding: expected a title/);
    expect(first(diagnosed.get('realtime.websocket'))?.[0]).toBe('contract');
  });

  it('gives each suite its own time, without the waits of its checks, and says when it began', () => {
    const service = conformingService('search');
    const waiting = sampleCheck('pass', { suite: 'limits', durationMs: 61_500, waitedMs: 60_000 });
    const checks = [waiting, ...service.checks];
    const { merged: document } = renderJunit(resultsOf([{ ...service, checks }]));
    const [, head = '', waited] =
      /<testsuite (name="search.limits"[^>]*)>.*?"waited" value="([^"]*)"/s.exec(document) ?? [];
    expect(head).toMatch(/time="1\.500" timestamp="2026-11-21T06:38:14"$/);
    expect(waited).toBe('60.000');
    expect(document).toContain('classname="search.limits" time="1.500"');
  });

  it.each([
    ['skipped', /<skipped message="warning: /],
    ['failure', /<failure message="expected Retry-After/],
    ['pass', /^\s*<testcase [^>]*>\s*<system-out>WARNING/],
  ] as const)('shows a warning as %s where that is asked for', (warnings, shown) => {
    const { suites: asked } = renderJunit(sampleResults(), warnings);
    expect(caseOf(asked.get('search.limits') ?? '', 'limits.retry-after')).toMatch(shown);
  });

  it('turns warnings into failures in a strict run', () => {
    const strict = renderJunit(sampleResults({ strict: true }), 'pass').suites.get('search.limits') ?? '';
    expect(caseOf(strict, 'limits.retry-after')).toContain('<failure message="expected Retry-After');
  });

  it('counts what it holds', () => {
    for (const document of suites.values()) {
      const count = (element: string) => document.split(`<${element} `).length - 1;
      const head = document.slice(document.indexOf('<testsuite '), document.indexOf('>', 60));
      expect(head).toContain(
        ` tests="${count('testcase')}" failures="${count('failure')}" errors="${count('error')}" skipped="${count('skipped')}"`,
      );
      expect(document).toContain('<property name="started" value="2026-11-21T06:38:14');
    }
  });

  it('names every case uniquely, since some servers drop doubles', () => {
    const keys = [...merged.matchAll(/<testcase name="([^"]*)" classname="([^"]*)"/g)].map(
      ([, name, of]) => `${of} ${name}`,
    );
    expect(new Set(keys).size).toBe(keys.length);
    expect(keys).toContain('search.auth auth.missing-credential');
  });

  it('shows the exchange and how to repeat it with a failure', () => {
    const failure = caseOf(search, 'auth.missing-credential');
    expect(failure).toContain('curl --include');
    expect(failure).toContain('&gt; GET /v1/resources');
    expect(failure).toContain('because RFC 9110 §15.5.2 (MUST)');
  });

  it('is red for every service when the run was cut short, even for one that conforms', () => {
    const cut = renderJunit(sampleResults({ interrupted: true, interruption: 'SIGTERM' }));
    for (const name of ['search', 'messaging', 'realtime']) {
      const document = cut.suites.get(`${name}.run`) ?? '';
      expect(caseOf(document, 'run interrupted'), name).toContain(
        '<error message="the run was cut short: SIGTERM"',
      );
    }
  });

  it('is red for what does not agree with a list, each once, though no check failed', () => {
    const service = {
      ...conformingService('search'),
      known: [3, 8].map((line) => ({
        check: 'headers.date',
        got: ['none'],
        reason: 'r',
        owner: 'o',
        until: '2027-01-31',
        place: `known/search.yaml:${line}`,
        state: 'stale' as const,
        note: 'it passes now: remove the entry',
      })),
      accepted: [
        { key: 'a.kye', place: 'accepted/search.yaml:2', state: 'unmatched' as const, note: 'no such key' },
      ],
      observations: [
        {
          key: 'a.key',
          value: 2,
          check: 'a.b',
          accepted: 1,
          acceptedAt: 'accepted/search.yaml:4',
          drift: 'was 1, is 2',
          driftSince: '2026-11-20T03:00:00Z',
        },
      ],
    };
    const { merged: document } = renderJunit(resultsOf([service]));
    expect(document.match(/<failure message="[^"]*"/g)).toEqual([
      '<failure message="search: a.key drifted: was 1, is 2, since 2026-11-20 (accepted/search.yaml:4); to accept it: conform accept search a.key"',
      '<failure message="known/search.yaml:3: headers.date is stale: it passes now: remove the entry"',
      '<failure message="known/search.yaml:8: headers.date is stale: it passes now: remove the entry"',
      '<failure message="accepted/search.yaml:2: a.kye is unmatched: no such key"',
    ]);
    const names = [...document.matchAll(/<testcase name="([^"]*)" classname="search.run"/g)].map(
      ([, name]) => name,
    );
    expect(new Set(names).size).toBe(4);
  });

  it('is red when nothing ran', () => {
    expect(renderJunit(resultsOf([])).merged).toContain('<error message="no service ran"');
    const service = { ...conformingService('search'), trouble: 'connection refused', checks: [] };
    const { merged: document } = renderJunit(resultsOf([service]));
    expect(document).toContain('<error message="connection refused"');
    const { merged: idle } = renderJunit(resultsOf([{ ...service, trouble: null }]));
    expect(idle).toContain('<error message="no check ran"');
  });

  it('tells what befell the service once, and not in each check that is blocked for it', () => {
    const reason = 'the provider does not answer; it stopped answering after GET with a hostile query (e9)';
    const { checks, ...service } = conformingService('search');
    const blocked = checks.map((check) => ({ ...check, outcome: 'blocked' as const, message: reason }));
    const document = renderJunit(resultsOf([{ ...service, trouble: reason, checks: blocked }])).merged;
    expect(document.split('<error message="the provider does not answer')).toHaveLength(2);
    expect(document.split('<skipped message="blocked: as told in search.run"')).toHaveLength(
      checks.length + 1,
    );
  });

  it('keeps messages and texts within what CI servers take', () => {
    for (const [, value = ''] of merged.matchAll(/message="([^"]*)"/g))
      expect(value.length).toBeLessThan(2_048 * 6);
    expect(merged.length).toBeLessThan(120_000);
  });
});

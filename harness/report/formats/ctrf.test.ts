import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { default as addFormats } from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { HOSTILE } from '../fixtures/sample-evidence.ts';
import {
  conformingService,
  failingService,
  operationResults,
  resultsOf,
  SAMPLE_RUNS,
  sampleCheck,
  sampleResults,
} from '../fixtures/sample-results.ts';
import { wholeText } from '../fixtures/whole-text.ts';
import { DEFAULT_CHOICES } from '../format.ts';
import type { Results } from '../results/results.ts';
import { ctrf } from './ctrf.ts';

const schema: object = JSON.parse(
  readFileSync(new URL('../fixtures/schemas/ctrf-0.0.schema.json', import.meta.url), 'utf8'),
);
const ajv = new Ajv({ strict: false });
addFormats.default(ajv);
const isValid = ajv.compile(schema);

interface Told {
  readonly summary: Readonly<Record<string, number>>;
  readonly tests: readonly {
    readonly name: string;
    readonly status: string;
    readonly rawStatus: string;
    readonly suite: readonly string[];
    readonly message?: string;
    readonly trace?: string;
  }[];
}

function told(results: Results): Told {
  return documentOf(results).results;
}

function documentOf(results: Results) {
  const pieces = ctrf.render(results, DEFAULT_CHOICES)['ctrf.json'];
  return JSON.parse(typeof pieces === 'function' ? wholeText(pieces) : '');
}

/** Status by outcome, as far as the outcomes occur. */
const statuses = (results: Results) =>
  Object.fromEntries(told(results).tests.map(({ rawStatus, status }) => [rawStatus, status]));

describe('CTRF', () => {
  it.each(
    Object.entries({
      ...SAMPLE_RUNS,
      'a run whose instants are none': sampleResults({ startedAt: 'yesterday', finishedAt: '' }),
    }),
  )('is valid against its schema: %s', (_, results) => {
    isValid(documentOf(results));
    expect(isValid.errors).toBeNull();
  });

  it('calls every outcome what it is, and keeps its own word', () => {
    expect(statuses(sampleResults())).toMatchObject({
      pass: 'passed',
      fail: 'failed',
      warning: 'other',
      observed: 'other',
      skipped: 'skipped',
      blocked: 'pending',
    });
    expect(statuses(sampleResults({ strict: true })).warning).toBe('failed');
  });

  it('counts what it lists', () => {
    const { summary, tests } = told(sampleResults());
    const { passed = 0, failed = 0, skipped = 0, pending = 0, other = 0 } = summary;
    expect(summary.tests).toBe(tests.length);
    expect(passed + failed + skipped + pending + other).toBe(tests.length);
    expect(failed).toBe(tests.filter(({ status }) => status === 'failed').length);
  });

  it('has a test for each operation by its method and path', () => {
    const tests = told(operationResults()).tests.filter(({ suite }) => suite[1] === 'by-operation');
    expect(tests.map(({ name, status }) => [name, status]).slice(0, 3)).toEqual([
      ['GET /v1/orders', 'failed'],
      ['GET /v1/orders/{id}', 'other'],
      ['DELETE /v1/orders/{id}', 'skipped'],
    ]);
    expect(tests[0]?.message).toMatch(/^2 findings: operations.schema: \/id is a text/);
  });

  it('tells of a failure why and what was exchanged, and of what did not run the reason', () => {
    const { tests } = told(sampleResults());
    const failure = tests.find(({ name }) => name.startsWith('auth.missing-credential '));
    expect(failure?.suite).toEqual(['search', 'auth']);
    expect(failure?.message).toMatch(/401/);
    expect(failure?.trace).toMatch(/because .*repeat it:\ncurl .*> GET /s);
    const blocked = tests.find(({ status }) => status === 'pending');
    expect(blocked?.message).toMatch(/^no second key is configured/);
    expect(blocked?.trace).toBeUndefined();
  });

  it('is red by itself where there is no verdict', () => {
    for (const results of [
      resultsOf([]),
      resultsOf([conformingService()], { interrupted: true, interruption: 'SIGINT' }),
      resultsOf([{ ...conformingService(), trouble: 'it is gone', checks: [] }]),
    ]) {
      expect(told(results).tests.filter(({ status }) => status === 'failed')).toHaveLength(1);
    }
    expect(told(resultsOf([conformingService()])).summary.failed).toBe(0);
  });

  it('holds nothing that could hide or reorder text, and no more of it than can be shown', () => {
    const hostile = sampleCheck('fail', {
      title: HOSTILE,
      message: HOSTILE.repeat(1_000),
      reproduce: HOSTILE,
    });
    const [test] = told(resultsOf([{ ...failingService(), checks: [hostile] }])).tests;
    expect(`${test?.name}${test?.message}`).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u);
    expect(test?.message?.length).toBeLessThanOrEqual(2_048);
    expect(test?.trace?.length).toBeLessThanOrEqual(16_384);
  });
});

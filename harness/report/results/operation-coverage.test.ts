import { describe, expect, it } from 'vitest';
import { conformingService, resultsOf } from '../fixtures/sample-results.ts';
import { renderMarkdown } from '../formats/markdown.ts';
import { renderPage } from '../html/page.ts';
import { verdictText } from '../terminal/terminal.ts';
import { basisInWords } from './operation-coverage.ts';
import type { OperationCoverage, ServiceResult } from './results.ts';
import { verdictOf } from './run-verdict.ts';

const NO_ID = 'the required path parameter "id" has no example';

const operation = (
  name: string,
  answers: Readonly<Record<string, number>>,
  more: Partial<OperationCoverage> = {},
): OperationCoverage => ({
  operation: name,
  id: name,
  place: 'openapi.yaml:7:3',
  answers: Object.entries(answers).map(([code, seen]) => ({ code, seen })),
  undocumented: [],
  ...more,
});

const LIST = operation('GET /yards', { 200: 12, 401: 3, 404: 0 });
const left = (name: string, why: 'unfit' | 'unsafe' | 'excluded' = 'unfit', reason = NO_ID) =>
  operation(name, { 200: 0 }, { notExercised: { why, reason } });

const service = (all: readonly OperationCoverage[], more: Partial<ServiceResult> = {}): ServiceResult => ({
  ...conformingService('yards'),
  operationCoverage: all,
  ...more,
});

describe('a verdict rests on what was exercised', () => {
  it('and names it', () => {
    const results = resultsOf([service([LIST])]);
    expect(verdictOf(results).word).toBe('conforms');
    const basis = '1 of 1 operation, 2 of 3 documented answers';
    expect(basisInWords(results.services)).toBe(basis);
    const text = verdictText(results, { color: false, width: 100, verbosity: 'normal' });
    expect(text).toContain(`It rests on ${basis}.`);
    expect(renderMarkdown(results)).toContain(basis);
    expect(renderPage(results)).toContain(basis);
  });

  it('is none where operations were not called that may be, with the reason', () => {
    const results = resultsOf([service([LIST, left('GET /yards/{id}'), left('GET /yards/{id}/gates')])]);
    expect(verdictOf(results)).toMatchObject({
      word: 'no verdict',
      exitCode: 0,
      reasons: [`1 of 3 operations were exercised (GET /yards/{id} and GET /yards/{id}/gates: ${NO_ID})`],
    });
    const strict = resultsOf(results.services, { strict: true });
    expect(verdictOf(strict)).toMatchObject({ word: 'inconclusive', exitCode: 3 });
  });

  it('stands where the config itself keeps operations off', () => {
    const kept = [left('DELETE /yards/{id}', 'unsafe'), left('GET /old', 'excluded')];
    const results = resultsOf([service([LIST, ...kept])]);
    expect(verdictOf(results).word).toBe('conforms');
    expect(basisInWords(results.services)).toBe('1 of 3 operations (1 excluded), 2 of 5 documented answers');
  });
});

describe('a coverage that the config demands', () => {
  const floor = (
    coverageFloor: NonNullable<ServiceResult['coverageFloor']>,
    all = [LIST, left('POST /yards', 'unsafe')],
  ) => verdictOf(resultsOf([service(all, { coverageFloor })]));

  it('fails below it, and says what is missing', () => {
    expect(floor({ operations: 100, responses: 60 })).toMatchObject({
      word: 'too little covered',
      exitCode: 1,
      reasons: [
        'yards: 1 of 2 operations were exercised, 50 %, and coverage.operations demands 100 %: POST /yards',
        'yards: 2 of 4 documented answers were seen, 50 %, and coverage.responses demands 60 %: never GET /yards 404',
      ],
    });
  });

  it('is said once, with the operations that were not exercised', () => {
    const { besides } = floor({ operations: 100 }, [LIST, left('GET /yards/{id}')]);
    expect(besides).toEqual([]);
    const [other] = floor({ responses: 100 }, [LIST, left('GET /yards/{id}')]).besides;
    expect(other).toContain('1 of 2 operations were exercised');
  });

  it('is met by as much, and does not count what the config excludes', () => {
    expect(floor({ operations: 50, responses: 50 }).word).toBe('conforms');
    expect(floor({ operations: 100 }, [LIST, left('GET /old', 'excluded')]).word).toBe('conforms');
  });
});

it('the page and the summary list each operation by documented answer', () => {
  const odd = operation('GET /odd', { 200: 1, 404: 0 }, { undocumented: [{ status: 418, seen: 2 }] });
  const results = resultsOf([service([odd, left('GET /yards/{id}')])]);
  const cells = [...renderPage(results).matchAll(/<td class="(\w+)"><i>(\d+)/g)];
  expect(cells.map(([, kind, code]) => `${kind} ${code}`)).toEqual([
    ...['seen 200', 'never 404', 'surplus 418'],
    'never 200',
  ]);
  expect(renderMarkdown(results)).toContain('| GET /odd | 200 | 404 | 418 |  |  |');
  expect(renderMarkdown(results)).toContain('| GET /yards/{id} |  | 200 |  |  | the required path parameter');
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { UsageError } from '../../base/exit.ts';
import { temporaryFolder } from '../../base/fixtures/folder.ts';
import { resultsOf, sampleResults } from '../fixtures/sample-results.ts';
import { readResults, validateResults } from './read-results.ts';
import { RESULTS_SCHEMA } from './results.ts';

describe('reading results', () => {
  const file = (content: string) => join(temporaryFolder({ 'results.json': content }), 'results.json');
  const problemOf = (path: string) => {
    try {
      readResults(path);
    } catch (error) {
      if (error instanceof UsageError) return error.message;
      throw error;
    }
    return 'none';
  };

  it('gives back what was written', () => {
    const results = JSON.parse(JSON.stringify(sampleResults()));
    expect(readResults(file(JSON.stringify(results)))).toEqual(results);
  });

  it('keeps fields that it does not know, since the model only grows', () => {
    const grown = { ...resultsOf([]), tomorrow: { a: 1 } };
    expect(readResults(file(JSON.stringify(grown)))).toMatchObject({ tomorrow: { a: 1 } });
  });

  it.each([
    [
      'no such file',
      () => join(temporaryFolder(), 'nowhere.json'),
      /nowhere\.json: cannot be read: no such file\n {2}remedy: /,
    ],
    ['a folder', temporaryFolder, /cannot be read: it is a folder/],
    [
      'a file cut short',
      () => file(JSON.stringify(sampleResults()).slice(0, 500)),
      /results\.json: not JSON: /,
    ],
    ['other JSON', () => file('[]'), /results\.json: not a results file: must be object/],
    [
      'a later version',
      () => file('{"schemaVersion":2}'),
      /results\.json: schemaVersion: schema version 2 is newer/,
    ],
    [
      'a wrong field',
      () => file(JSON.stringify(sampleResults()).replace('"outcome":"fail"', '"outcome":"red"')),
      /results\.json: services\[0\]\.checks\[10\]\.outcome: not a results file: must be equal to one of the allowed values \(pass, /,
    ],
    [
      'a missing field',
      () => file(JSON.stringify({ ...resultsOf([]), totals: undefined })),
      /not a results file: must have required property 'totals'/,
    ],
  ])('refuses %s', (_, path, problem) => {
    expect(problemOf(path())).toMatch(problem);
  });

  it('names the source that was given', () => {
    expect(() => validateResults({}, 'shard-1')).toThrow(/^shard-1: /);
  });
});

it('the shipped schema is the one that the model makes', () => {
  const shipped = readFileSync(new URL('./results.schema.json', import.meta.url), 'utf8');
  // When it differs: node harness/report/results/results.ts > harness/report/results/results.schema.json
  expect(JSON.parse(shipped)).toEqual(RESULTS_SCHEMA);
});

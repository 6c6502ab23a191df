import { describe, expect, it } from 'vitest';
import { suites } from './catalogue.ts';

const checks = suites.flatMap((suite) => suite.checks.map((check) => ({ suite: suite.name, ...check })));

describe('the catalogue of checks', () => {
  // Ids are part of what other tools read: a changed one here is a breaking change, a changed title is not.
  it('has these ids and titles', () => {
    expect(
      suites
        .map(({ name, checks: own }) => [name, ...own.map(({ id, title }) => `  ${id}: ${title}`)].join('\n'))
        .join('\n'),
    ).toMatchSnapshot();
  });

  it('names each check once, in dotted words', () => {
    const ids = checks.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(id).toMatch(/^[a-z]+(?:\.[a-z0-9]+(?:-[a-z0-9]+)*)+$/);
  });

  it('says of each check, in one line, what the service does, and on which grounds it should', () => {
    for (const { title, grounds } of checks) {
      expect(title).toMatch(/^[a-z][^\n"“”]{5,119}[^.]$/);
      expect(grounds).not.toEqual([]);
    }
  });
});

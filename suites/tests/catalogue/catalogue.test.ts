import { describe, expect, it } from 'vitest';
import { suites } from '../../catalogue.ts';

const checks = suites.flatMap((suite) => suite.checks.map((check) => ({ suite: suite.name, ...check })));

const DOTTED = /^[a-z]+\d?(?:\.[a-z0-9]+(?:-[a-z0-9]+)*)+$/;

describe('the catalogue of checks', () => {
  /**
   * Ids of checks and keys of observations never change: results, accepted observations, known failures and the
   * scripts of users go by them. What is new is a new line here; a line that goes or becomes another breaks users.
   * Titles may change.
   */
  it('has these ids, and records under these keys', () => {
    const lines = checks.map(({ id, records }) => (records === null ? id : `${id} records ${records}`));
    expect(lines.join('\n')).toMatchSnapshot();
  });

  it('names each check once, in dotted words', () => {
    const ids = checks.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(id).toMatch(DOTTED);
  });

  it('gives each check an id that begins with the name of its suite', () => {
    expect(checks.filter(({ id, suite }) => !id.startsWith(`${suite}.`))).toEqual([]);
  });

  it('records each observation under one key, and under no key twice', () => {
    const keys = checks.flatMap(({ records }) => records ?? []);
    expect(new Set(keys).size).toBe(keys.length);
    for (const key of keys) expect(key).toMatch(DOTTED);
    expect(checks.filter(({ observes, records }) => observes && records === null)).toEqual([]);
  });

  it('says of each check, in one line, what the service does, and on which grounds it should', () => {
    for (const { title, grounds } of checks) {
      expect(title).toMatch(/^[a-z][^\n"“”]{5,119}[^.]$/);
      expect(grounds).not.toEqual([]);
    }
  });

  it('lets checks rest on others of the catalogue, and none on itself', () => {
    const ids = new Set(checks.map(({ id }) => id));
    const below = (each: (typeof checks)[number]['restsOn'][number], path: readonly string[]): void => {
      expect(path).not.toContain(each.id);
      expect(ids).toContain(each.id);
      for (const root of [...each.restsOn, ...each.repeats]) below(root, [...path, each.id]);
    };
    for (const each of checks) below(each, []);
  });
});

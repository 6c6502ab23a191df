import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { suites } from '../../catalogue.ts';

const PAGE = readFileSync(fileURLToPath(new URL('../../../docs/standards.md', import.meta.url)), 'utf8');

const rows = PAGE.split('\n')
  .filter((line) => /^\| (?!section|---)/.test(line))
  .map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );

const checks = suites.flatMap((suite) => suite.checks);

/** Ids of checks in a text, each in backticks. */
function namedIn(text: string): readonly string[] {
  const families = suites.map(({ name }) => name).join('|');
  return [...text.matchAll(new RegExp(`\`((?:${families})\\.[a-z0-9-]+)\``, 'g'))].map(([, id = '']) => id);
}

/** Suites whose every check is there for a section of a standard. */
const BY_STANDARD = ['paths', 'caching', 'negotiation', 'framing'];

/** Standards that are judged from end to end: how each is told in grounds, the title of its table, and its chapters. */
const WHOLE = [
  ['RFC 9112', 'RFC 9112, HTTP/1.1', [2, 3, 4, 5, 6, 7, 8, 9, 10, 11]],
  ['RFC 6455', 'RFC 6455, WebSocket', [3, 4, 5, 6, 7, 8, 9, 10]],
  ['RFC 7692', 'RFC 7692, compression of WebSocket messages', [5, 6, 7, 8]],
  ['Autobahn', 'Autobahn test suite, WebSocket', [1, 2, 3, 4, 5, 6, 7, 9, 10, 12, 13]],
] as const;

describe('the page of standards', () => {
  it('says of each section what it asks, and what judges it or why nothing does', () => {
    expect(rows.length).toBeGreaterThan(80);
    for (const row of rows) {
      expect(row).toHaveLength(3);
      const [section = '', asked = '', judgedBy = ''] = row;
      expect(section).toMatch(/^(?:\d+(?:\.\d+)*)(?: to \d+(?:\.\d+)*)?$|^[A-Z][a-z]+ (?:[a-z]+ ?)+$/);
      expect(asked).not.toBe('');
      expect(namedIn(judgedBy).length > 0 || /^no check: \S.{10,}/.test(judgedBy), row.join(' | ')).toBe(
        true,
      );
    }
  });

  it('names checks that there are', () => {
    const ids = new Set<string>(checks.map(({ id }) => id));
    expect(namedIn(PAGE).filter((id) => !ids.has(id))).toEqual([]);
  });

  it.each(BY_STANDARD)('has every check of the suite %s', (name) => {
    const named = new Set(namedIn(PAGE));
    const ids = checks.map(({ id }) => id).filter((id) => id.startsWith(`${name}.`));
    expect(ids.filter((id) => !named.has(id))).toEqual([]);
  });

  it.each(WHOLE)('has every chapter of %s, and every check that rests on it', (name, title, chapters) => {
    const [, table = ''] = PAGE.split(`## ${title}\n`);
    const [own = ''] = table.split('\n## ');
    const begun = [...own.matchAll(/^\| (\d+)/gm)].map(([, chapter]) => Number(chapter));
    expect([...new Set(begun)]).toEqual(chapters);
    const resting = checks.filter(({ grounds }) =>
      grounds.some((ground) => ground.kind !== 'clause' && ground.ref.includes(name)),
    );
    const named = new Set(namedIn(PAGE));
    expect(resting.map(({ id }) => id).filter((id) => !named.has(id))).toEqual([]);
  });
});

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

/**
 * Standards that are judged from end to end: how each is told in grounds, the title of its table, and its sections that
 * ask something of anybody. `13.1.1-5` stands for 13.1.1 to 13.1.5. Introductions, terms, registries and examples ask
 * nothing.
 */
const WHOLE = [
  [
    'RFC 3986',
    'RFC 3986, URIs',
    '2.1-5 3.1 3.2.1-3 3.3-5 4.1-5 5.1 5.2.1-4 5.3 6.1 6.2.1 6.2.2.1-3 6.2.3-4 7.1-6',
  ],
  [
    'RFC 9110',
    'RFC 9110, HTTP',
    `2.2-5 3.3 3.7 4.2.1-5 4.3.1-5 5.1-5 5.6.1.1-2 5.6.2-7 6.1-3 6.4.1-2 6.5.1-2 6.6.1-2 7.1-2 7.3.1-3 7.4-5 7.6.1-3 7.7-8
    8.3.1-3 8.4.1.1-3 8.5 8.6-7 8.8.1 8.8.2.1-2 8.8.3.1-3 8.8.4 9.1 9.2.1-3 9.3.1-8 10.1.1-5 10.2.1-4 11.1-5 11.6.1-3
    11.7.1-3 12.1-3 12.4.1-3 12.5.1-5 13.1.1-5 13.2.1-2 14.1.1-2 14.2-6 15.1 15.2.1-2 15.3.1-6 15.3.7.1-3 15.4.1-9
    15.5.1-22 15.6.1-6 16.1-6 17.1-16`,
  ],
  [
    'RFC 9111',
    'RFC 9111, caching',
    `1.2.2 2 3 3.1-5 4.1 4.2.1-4 4.3.1-5 4.4 5.1 5.2.1.1-7 5.2.2.1-10 5.2.3 5.3-5 6 7.1-3`,
  ],
  [
    'RFC 9112',
    'RFC 9112, HTTP/1.1',
    `2.1-3 3.1 3.2.1-4 3.3 4 5.1-2 6.1-3 7.1.1-3 7.2-4 8 9.1-2 9.3.1-2 9.4-8 10.1-2 11.1-4`,
  ],
  [
    'RFC 6455',
    'RFC 6455, WebSocket',
    `3 4.1 4.2.1-2 4.3-4 5.1-4 5.5.1-3 5.6 5.8 6.1-2 7.1.1-7 7.2.1-3 7.3 7.4.1-2 8.1 9.1-2 10.1-8`,
  ],
  [
    'RFC 7692',
    'RFC 7692, compression of WebSocket messages',
    `5 5.1-2 6.1-2 7.1.1.1-2 7.1.2.1-2 7.2.1-2 7.2.3.1-6 7.3 8`,
  ],
  ['RFC 8259', 'RFC 8259, JSON', '2-7 8.1-3 9-12'],
  ['RFC 6585', 'RFC 6585, further status codes', '3-6 7.1-4'],
  ['RFC 9457', 'RFC 9457, problem details', '3 3.1.1-5 3.2 4 5'],
  [
    'RFC 9421',
    'RFC 9421, HTTP message signatures',
    `1.4 2 2.1.1-4 2.2.1-9 2.3-5 3.1 3.2.1 3.3.1-7 4.1-3 5.1-2 7.1.1-2 7.2.1-8 7.3.1-7 7.4.1-4 7.5.1-8 8.1-4`,
  ],
  ['RFC 9530', 'RFC 9530, digest fields', '2 3.1-2 4 5 6.1-7'],
  [
    'Autobahn',
    'Autobahn test suite, WebSocket',
    '1.1-2 2.1-11 3.1-7 4.1-2 5.1-20 6.1-23 7.1 7.3 7.5 7.7 7.9 7.13 9.1-8 10.1 12.1-5 13.1-7',
  ],
] as const;

type Section = readonly number[];

const numbered = (text: string): Section => text.split('.').map(Number);

/** `7.1-3` means 7.1, 7.2 and 7.3. */
function sectionsIn(text: string): readonly Section[] {
  return text.split(/\s+/).flatMap((each) => {
    const [from = '', to] = each.split('-');
    const above = numbered(from).slice(0, -1);
    const first = numbered(from).at(-1) ?? 0;
    return Array.from({ length: to === undefined ? 1 : Number(to) - first + 1 }, (_, at) => [
      ...above,
      first + at,
    ]);
  });
}

/** Below 0 where the one comes before the other; one begins with the other: 0. */
function compared(one: Section, other: Section): number {
  const at = one.findIndex((number, index) => index < other.length && number !== other[index]);
  return at === -1 ? 0 : (one[at] ?? 0) - (other[at] ?? 0);
}

/** `3.2`, or `3.1 to 3.4`; what a row says of a section it says of those below it. */
function speaksOf(row: string, section: Section): boolean {
  const [from = '', to = from] = row.split(' to ');
  const [first, last] = [numbered(from), numbered(to)];
  const isBelow = section.length >= first.length && section.length >= last.length;
  return isBelow && compared(section, first) >= 0 && compared(section, last) <= 0;
}

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

  it.each(WHOLE)(
    'has every section of %s, in order, and every check that rests on it',
    (name, title, all) => {
      const [, table = ''] = PAGE.split(`## ${title}\n`);
      const [own = ''] = table.split('\n## ');
      const listed = [...own.matchAll(/^\| (\d[^|]*?) \|/gm)].map(([, section = '']) => section);
      const missing = sectionsIn(all).filter((section) => !listed.some((row) => speaksOf(row, section)));
      expect(missing.map((section) => section.join('.'))).toEqual([]);
      const begins = listed.map((row) => numbered(row.split(' to ')[0] ?? ''));
      expect([...begins].sort((one, other) => compared(one, other) || one.length - other.length)).toEqual(
        begins,
      );
      const resting = checks.filter(({ grounds }) =>
        grounds.some((ground) => ground.kind !== 'clause' && ground.ref.includes(name)),
      );
      const named = new Set(namedIn(PAGE));
      expect(resting.map(({ id }) => id).filter((id) => !named.has(id))).toEqual([]);
    },
  );
});

import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../base/fixtures/folder.ts';
import { KNOWN, withEntries, withoutEntries } from './baseline.ts';

const ENTRY = `  - check: headers.date
    got: ["none for *"]
    reason: mended in 3.2
    owner: search-team
    until: 2027-01-31
`;

const read = (text: string, options: { environment?: string; name?: string } = {}) => {
  const folder = temporaryFolder({
    [`known/${options.name ?? 'search'}.yaml`]: text,
    'services/search.yaml': 'environments: { staging: {}, production: {} }\n',
  });
  const files = new Map([['search', join(folder, 'services/search.yaml')]]);
  return { folder, lists: KNOWN.read(folder, { files, environment: options.environment ?? null }) };
};

const with_ = (change = (entry: string) => entry) => `known:\n${change(ENTRY)}`;

const BAD: Readonly<Record<string, readonly [text: string, said: RegExp]>> = {
  'is empty': ['', /search\.yaml:1:1: the file is empty/],
  'holds a merge conflict': [
    `known:\n<<<<<<< HEAD\n${ENTRY}=======\n>>>>>>> other\n`,
    /search\.yaml:2:\d+: .*\n {2}remedy: keep one side/,
  ],
  'has an unknown key': [with_((entry) => entry.replace('owner', 'ownr')), /ownr: unknown key[\s\S]*owner/],
  'lacks a reason': [with_((entry) => entry.replace(/ {4}reason.*\n/, '')), /known\.0\.reason: is missing/],
  'names a day that is none': [
    with_((entry) => entry.replace('2027-01-31', '2027-02-30')),
    /search\.yaml:6:\d+: known\.0\.until: is not a day of the calendar/,
  ],
  'says nothing of what came': [
    with_((entry) => entry.replace(/ {4}got.*\n/, '')),
    /known\.0\.got: is missing/,
  ],
  'is for an environment of none': [
    with_((entry) => `${entry}    environment: stagin\n`),
    /search\.yaml:7:\d+: known\.0\.environment: the service search has no environment "stagin"[\s\S]*did you mean staging/,
  ],
  'is no list': ['known: yes\n', /known/],
};

describe('a list of known failures', () => {
  it('is read with the line of each entry', async () => {
    const { folder, lists } = read(with_());
    expect((await lists).get('search')).toEqual([
      {
        check: 'headers.date',
        got: ['none for *'],
        reason: 'mended in 3.2',
        owner: 'search-team',
        until: '2027-01-31',
        place: `${join(folder, 'known', 'search.yaml')}:2`,
      },
    ]);
  });

  it('holds where it says', async () => {
    const text = with_((entry) => `${entry}    environment: staging\n${entry}`);
    expect((await read(text).lists).get('search')).toHaveLength(1);
    expect((await read(text, { environment: 'staging' }).lists).get('search')).toHaveLength(2);
    expect((await read(text, { environment: 'production' }).lists).get('search')).toHaveLength(1);
  });

  it.for(Object.entries(BAD))(
    'that %s is refused, with its line and a remedy',
    async ([_name, [text, said]]) => {
      await expect(read(text).lists).rejects.toThrow(said);
      await expect(read(text).lists).rejects.toThrow(/remedy: /);
    },
  );

  it('of no service is refused', async () => {
    await expect(read(with_(), { name: 'serach' }).lists).rejects.toThrow(
      /no service "serach" to keep known failures of[\s\S]*did you mean search\?/,
    );
  });
});

const TEXT = `# yaml-language-server: $schema=known.schema.json
known:
  # Node's parser, which takes two of them.
  - check: headers.single-fields
    got: ["Date: VALUE and VALUE for *"] # every one
    reason: 'nobody mends it'
    owner: search-team
    until: 2027-01-31
  # The second.
${ENTRY}`;
const LIST = { folder: 'known', key: 'check' };
const { check, got } = { check: 'headers.date', got: ['none for *'] };

describe('a list that is written', () => {
  it('keeps comments and order, and grows at its end', () => {
    const entry = { check: 'json.utf8', got: ['an octet'], reason: 'r', owner: 'o', until: '2027-01-31' };
    const grown = withEntries(TEXT, LIST, [entry]);
    expect(grown.startsWith(TEXT.slice(0, TEXT.indexOf('  # The second')))).toBe(true);
    expect(grown).toMatch(
      /# every one[\s\S]*# The second\.\n {2}- check: headers\.date[\s\S]*- check: json\.utf8/,
    );
    const again = withEntries(grown, LIST, [{ ...entry, reason: 'another' }]);
    expect(again.match(/json\.utf8/g)).toHaveLength(1);
    expect(again).toContain('reason: another');
  });

  it('begins as a block', () => {
    const entry = { check, got, reason: 'r', owner: 'o', until: '2027-01-31' };
    expect(withEntries('# first\nknown: []\n', LIST, [entry])).toBe(
      `# first\nknown:\n  - check: headers.date\n    got:\n      - none for *\n    reason: r\n    owner: o\n    until: 2027-01-31\n`,
    );
  });

  it('loses what is named, and nothing else', () => {
    const { text, removed } = withoutEntries(TEXT, 'known', [{ check, got }]);
    expect({ text, removed }).toEqual({ text: TEXT.slice(0, TEXT.indexOf('  # The second')), removed: 1 });
    expect(withoutEntries(TEXT, 'known', [{ check, got: ['another'] }])).toEqual({ text: TEXT, removed: 0 });
  });
});
